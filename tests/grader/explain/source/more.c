// SPDX-License-Identifier: MIT
/*
 * A second file, with a static function that has the same name as one in code.c, but
 * another size.
 */
#include "code.h"

static int same_name(int n)			/* same_name, the second */
{
	int i;

	for (i = 0; i < n; i++) {
		sink ^= sink << 3;
		sink += i * n;
		sink ^= sink >> 5;
		if (sink & 0x100)
			sink -= n;
	}
	return sink;
}

int caller_two(int n)
{
	return same_name(n) + same_name(n + 1);
}
