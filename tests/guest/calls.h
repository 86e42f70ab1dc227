/* SPDX-License-Identifier: MIT */
/*
 * The calls that libagate makes: counted, made to fail, and held open.
 *
 * A program that is linked with calls.c has its own ioctl(), mmap(), munmap(), malloc(),
 * pthread_mutex_lock() and pthread_mutex_unlock().  The dynamic linker binds the library, and
 * libdrm below it, to them.
 * They pass each call on, so the library still works on the driver.
 *
 * Counted are calls on the device's file, and unmaps of its maps; allocations and locks only
 * in a thread that asks for that, for everybody else makes them, too.
 */
#ifndef AGATE_TESTS_CALLS_H
#define AGATE_TESTS_CALLS_H

#include <stdbool.h>
#include <stddef.h>

/* "Requests" for the calls that are no ioctl. */
#define CALL_MMAP	1ul
#define CALL_MUNMAP	2ul
#define CALL_ALLOC	3ul
#define CALL_LOCK	4ul
#define CALL_UNLOCK	5ul

enum call_when { CALL_BEFORE, CALL_AFTER };

/* Forget everything, and from now on look at the calls on this file; -1: at none. */
void calls_begin(int fd);

/* Calls of a request since calls_begin(), and how many of them the kernel refused. */
unsigned int calls_made(unsigned long request);
unsigned int calls_refused(unsigned long request);
/* Calls of any request. */
unsigned int calls_all(void);
/* Maps of the device's file that were made and are still there. */
unsigned int calls_maps(void);

/* Make the nth call of a request from now on, counted from 1, fail; it reaches no kernel. */
void calls_fail(unsigned long request, unsigned int nth, int err);

/*
 * Called around each call, with the argument of an ioctl; NULL: nobody.  The hook's own
 * calls are not counted, and do not call it again.
 */
void calls_hook(void (*hook)(unsigned long request, enum call_when when, void *arg));

/* Count allocations, or locks and unlocks, of this thread, or do not; the first are remembered. */
void calls_watch_memory(bool watch);
void calls_watch_locks(bool watch);
/* The remembered allocations that nobody has freed: how many, and their bytes. */
unsigned int calls_blocks(void);
size_t calls_bytes(void);
/* Neither count nor hook any call of this thread, for calls that the test makes. */
void calls_ignore(bool ignore);

#endif /* AGATE_TESTS_CALLS_H */
