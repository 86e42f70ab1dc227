/* SPDX-License-Identifier: MIT */
#ifndef AGATE_TESTS_CODE_H
#define AGATE_TESTS_CODE_H

extern int sink;
int caller_two(int n);

static inline __attribute__((always_inline)) int add_inline(int n, int m)
{
	if (n > m)
		__builtin_trap();		/* inline function */
	return n + m;
}

#endif /* AGATE_TESTS_CODE_H */
