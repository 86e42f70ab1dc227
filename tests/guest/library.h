/* SPDX-License-Identifier: MIT */
/*
 * Helpers of the labs in libagate: a device on the driver, BOs, and races that are held open.
 */
#ifndef AGATE_TESTS_LIBRARY_H
#define AGATE_TESTS_LIBRARY_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

#include "calls.h"
#include "graded.h"

#include "agate_bo.h"

#define LIB_THREADS	8

/* From now on a signal that means a bug is reported, with the function that it hit. */
void lib_catch_signals(void);

/*
 * A device whose calls are counted.  Without the cache: what is released is gone, and no BO
 * is an old one.
 */
struct agate_device *lib_open(void);
/* The same, with the cache as it is after opening. */
struct agate_device *lib_open_cached(void);
/* Close it, and look at what is left: no map, no handle, no counter of the driver. */
void lib_close(struct agate_device *dev);

/* Make a BO; a failure breaks the rule that there is. */
struct agate_bo *lib_bo(struct agate_device *dev, uint64_t size, uint32_t flags);
/* Check that the BO is known to the kernel, and that size and address are the kernel's. */
void lib_check_bo(struct agate_bo *bo, uint64_t size);
/* A flag and its name; the end of a table has none. */
struct lib_bit {
	uint32_t bit;
	const char *name;
};

/* Check flags, and tell them by their names. */
void check_bits(uint32_t seen, uint32_t expected, const struct lib_bit *names, const char *what);
/* The same with agate_bo_flags(). */
void lib_check_flags(struct agate_bo *bo, uint32_t expected);
/* Handles that the driver counts. */
long lib_handles(void);
/* A call that must succeed, or end with this error. */
void check_lib(int ret, int expected, const char *what);

/* Of a BO: its line in debugfs has this text. */
bool lib_listed(const char *text);

/*
 * Submit a job that uses the BO, and that the GPU starts when the timeline is advanced; -1: now.
 * It writes to the first page of the BO, or of @jobs if it only reads the BO.
 */
void lib_submit(struct agate_bo *jobs, struct agate_bo *bo, uint32_t access, int timeline);

/* Wait for the semaphore, but not for ever: false when it took longer. */
bool lib_wait(sem_t *sem, unsigned int ms);

/*
 * As lib_wait(), for what a thread posts that has stored its gettid() in *@tid.  It may have to
 * wait for the caller: if it rests in a lock or a condition, the wait ends earlier.
 */
bool lib_wait_for(sem_t *sem, unsigned int ms, const atomic_int *tid);

/*
 * Let another thread run inside one call of this thread, the first one of that request, and
 * wait for it there; not for ever, because a right library may make the other thread wait.
 * race_end() returns whether the other one was done before this thread went on.
 */
void race_begin(unsigned long request, enum call_when when, void (*run)(void));
bool race_end(void);
/* After race_begin(): how long to wait there.  More where no right library makes it wait. */
void race_patience(unsigned int ms);

/* Wait for the end of a thread; one that never ends breaks a rule. */
void lib_join(pthread_t thread);

/* Eight threads at once. */
void crowd(void (*run)(unsigned int thread, void *arg), void *arg);

#endif /* AGATE_TESTS_LIBRARY_H */
