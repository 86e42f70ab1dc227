// SPDX-License-Identifier: MIT
/*
 * Code for test_decode.c, which finds lines of this file by the words at their ends.
 */
#include "code.h"

int sink;

/* This call never returns: the return address is no longer in the caller. */
_Noreturn void leave(void);

static int same_name(int n)			/* same_name, the first */
{
	return n * sink;
}

int caller_one(int n)
{
	return same_name(n) + 1;
}

void last_call(int n)
{
	sink += n;
	leave();				/* last call */
}

int after_last_call(int n)			/* after the last call */
{
	return n + sink;
}

int with_inline(int n)
{
	n += sink;
	return add_inline(n, 7);		/* call of the inline function */
}

__attribute__((section(".init.text"))) int in_init(int n)	/* in another section */
{
	return n - sink;
}
