/* SPDX-License-Identifier: MIT */
/*
 * The debug kernel's fault injection by number: one of the allocations, or of the
 * copies from and to user memory, that this thread's next call makes, fails.  Allocations of the
 * kernel's own checks do not count.
 */
#ifndef AGATE_TEST_FAIL_NTH_H
#define AGATE_TEST_FAIL_NTH_H

#include <stdbool.h>

/*
 * Open it for one test, in the thread that makes the calls; fails the test if the
 * kernel has none.
 */
int fail_nth_open(void);

/* Make number n fail, counted from 1. */
void fail_nth_arm(int fail_nth, int n);

/* A call whose allocations fail one after the other. */
struct fail_nth_call {
	const char *name;
	/* What the call needs. */
	void (*before)(void);
	/* 0 or an errno. */
	int (*call)(void);
	/* Look at what it did, and undo that: nothing may be left. */
	void (*after)(void);
};

/*
 * Now and then the kernel takes a page more, because a slab is full.  Then the n-th allocation
 * is the one that was the (n - 1)-th before.  If that happens in every other call, or in two of
 * four, the calls of one number may all have it and those of the next number none, and an
 * allocation is left out.  Of three calls in a row one has it and one has not.
 */
#define FAIL_NTH_CALLS	3

/*
 * Make the first allocation of a call fail, then the second, and so on until it succeeds.  Each
 * failure has to be an errno for lack of memory.
 */
void fail_nth_each(const struct fail_nth_call *call);

/*
 * From now on only every sixth allocation fails, from this one (1 .. 6) on: six runs with a
 * turn each do what one does without.
 */
void fail_nth_take_turn(int first);

/* Disarm; true when the armed failure has happened. */
bool fail_nth_fired(int fail_nth);

#endif /* AGATE_TEST_FAIL_NTH_H */
