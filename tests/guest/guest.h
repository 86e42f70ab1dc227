/* SPDX-License-Identifier: MIT */
/*
 * Helpers for every guest test: the device, raw ioctls, jobs, counters.
 *
 * The tests use raw ioctls, not libagate, so that a bug in the library cannot fail
 * a test of the kernel.  Calls return 0 or the errno, so that a test states the
 * contract as assert_int_equal(create(&bo), EINVAL).
 */
#ifndef AGATE_TESTS_GUEST_H
#define AGATE_TESTS_GUEST_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agate_drm.h"
#include "agate_job.h"
#include "agate_regs.h"

#define PAGE		4096u
#define FOREVER		INT64_MAX

/* A BO, with everything that a test needs to know about it. */
struct bo {
	int fd;
	uint32_t handle;
	uint64_t size;
	uint64_t va;
	void *cpu;		/* NULL while not mapped */
};

/* Fail the test because its preparation failed; graded tests also explain it. */
_Noreturn void guest_broken(const char *expected, const char *seen_fmt, ...)
	__attribute__((format(printf, 2, 3)));
extern void (*guest_explain)(const char *expected, const char *seen);

/* Open the driver's render node; fails the test when there is none. */
int guest_open(void);
/* How many nodes were opened: what is known of a descriptor may be old after the next one. */
unsigned int guest_opens(void);
/* The same, or -1 with errno set. */
int guest_try_open(void);
/* Minor number of the last opened node, which names its folder in debugfs. */
int guest_minor(void);
/* From now on counters and other files in debugfs are those of this open node's GPU. */
void guest_look_at(int fd);

/* "EINVAL", "success", or "errno 5000", for which @text has room. */
const char *guest_errno_name(int err, char *text, size_t size);

/* Any ioctl: 0 or the errno.  EINTR and EAGAIN mean that it is made again, as libdrm does. */
int guest_ioctl(int fd, unsigned long request, void *arg);
int guest_ioctl_once(int fd, unsigned long request, void *arg);
/* Each of them reads its argument, so an address without memory is EFAULT. */
void guest_refuses_bad_pointers(const unsigned long *requests, size_t count);

int guest_create(int fd, uint64_t size, uint32_t flags, struct bo *bo);
/* The same, made once; @arg is what the driver leaves of it. */
int guest_create_with(int fd, struct drm_agate_create_bo *arg, struct bo *bo);
int guest_close_handle(int fd, uint32_t handle);
int guest_wait(int fd, uint32_t handle, int64_t timeout_ns);
/* Only for jobs that write the BO. */
int guest_wait_writers(int fd, uint32_t handle, int64_t timeout_ns);
/* Map the whole BO read-write; fails the test when that does not work. */
void guest_map(struct bo *bo);
/* Unmap and close. */
void guest_destroy(struct bo *bo);
/* Create and map a BO; fails the test when that does not work. */
struct bo guest_bo(int fd, uint64_t size, uint32_t flags);

/* Write a job header and its payload at offset bytes into a mapped BO. */
struct agate_job_header *guest_job(struct bo *bo, uint32_t offset, enum agate_job_type type,
				   uint64_t next, const void *payload, size_t size);
/* A WRITE_VALUE job that stores 64 bits at va. */
struct agate_job_header *guest_job_write64(struct bo *bo, uint32_t offset, uint64_t next,
					   uint64_t va, uint64_t value);

/* Submit one chain that touches n BOs; optionally signal a sync object (0: none). */
int guest_submit(int fd, uint64_t jc, uint32_t requirements, const uint32_t *handles,
		 uint32_t n, uint32_t out_sync);
/* The same, and wait for a sync object (0: none); AGATE_SUBMIT_BO_* of each BO. */
int guest_submit_bos(int fd, uint64_t jc, uint32_t requirements, const uint32_t *handles,
		     const uint32_t *flags, uint32_t n, uint32_t in_sync);

/* A timeline that the test advances: fences on it are no fences of the driver. */
int guest_timeline(void);
/* A sync object whose fence signals when the timeline is advanced the first time. */
uint32_t guest_timeline_syncobj(int fd, int timeline);
void guest_timeline_advance(int timeline);

/* Run one COMPUTE job, at the start of @jobs, on n BOs: 1 for success, or its fence's error. */
int guest_compute(struct bo *jobs, const struct agate_compute_payload *payload,
		  const uint32_t *handles, uint32_t n);

/* A new binary sync object. */
uint32_t guest_syncobj(int fd);
/* Make a sync_file with the current fence of a sync object; fails the test without one. */
int guest_sync_file(int fd, uint32_t syncobj);
/* Wait for a sync_file's fence: 1 for success, or its negative errno. */
int guest_fence_status(int sync_file);

/*
 * Wait until all of the driver's counters of living objects are zero (the last
 * steps of freeing a job are asynchronous), or for ms; @left lists those that are
 * not.
 */
bool guest_nothing_left(int64_t ms, char *left, size_t size);
/* The same; fails the test when something is left. */
void guest_assert_nothing_left(void);
/* The device's file of that name in debugfs, for reading; or NULL. */
FILE *guest_debugfs_open(const char *name);
/* One of the driver's counters in debugfs, and one of the GPU's; or -1. */
long guest_counter(const char *name);
long guest_gpu_counter(const char *name);
/* The next line "NAME NUMBER" of such a file; false at its end, and at any other line. */
bool guest_next_number(FILE *file, char name[64], long *value);
/* A number with a name in any other file of the device in debugfs; or -1. */
long guest_number(const char *debugfs_file, const char *name);
/* Does a file have this text?  The same for the device's file of that name in debugfs. */
bool guest_file_says(const char *path, const char *text);
bool guest_debugfs_says(const char *name, const char *text);
/*
 * Wait until a counter of the driver has this value, 10 s at most; fails the test when it has
 * not.  A thread of the kernel may count a job a little after its chain has started to write,
 * and the driver releases a job, and what the job refers to, a little after its fence.
 */
void guest_wait_counter(const char *name, long value);
/* The same for guest_number(). */
void guest_wait_number(const char *debugfs_file, const char *name, long value);
/* KiB of kernel memory that is not a cache, SUnreclaim: leaks of objects show here; or -1. */
long guest_slab_kb(void);

/* Submit the chain at the start of a BO; returns a sync_file with its fence. */
int guest_submit_fence(const struct bo *bo, uint32_t requirements);
/* guest_fence_status() of a sync_file, which this then closes. */
int guest_fence_end(int sync_file);

/* CLOCK_MONOTONIC now, plus ms. */
int64_t guest_deadline(int64_t ms);

/* Run only the tests that the pattern takes; with a "-" before it, only the others. */
void guest_choose(const char *pattern);

/* cmocka teardown for tests that close all they open. */
int guest_teardown(void **state);

#endif /* AGATE_TESTS_GUEST_H */
