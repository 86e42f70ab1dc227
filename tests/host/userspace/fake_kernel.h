/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for the driver under libagate, linked in with -Wl,--wrap.
 *
 * It keeps what matters to the library true to the kernel: the lowest free
 * handle is given out next, at once; a dma-buf that the file already knows
 * gives its old handle and no second count; a closed handle is gone for all.
 * BOs are memfds, and so are dma-bufs: real memory, real file descriptors.
 *
 * On top it counts, fails calls when told to, and lets a test step in before and
 * after any call, which is how races are held open.
 */
#ifndef FAKE_KERNEL_H
#define FAKE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agate_device.h"

/* "Requests" for the calls that are no ioctl. */
#define FAKE_MMAP	1ul
#define FAKE_MUNMAP	2ul

enum fake_when { FAKE_BEFORE, FAKE_AFTER };

/* Forget everything; to be called before each test. */
void fake_reset(void);

/* A device on the fake. */
struct agate_device *fake_open(void);

/* Fail the nth call (from 1) from now on of one request with err. */
void fake_fail(unsigned long request, unsigned int nth, int err);

/* Calls of a request since the reset, failed ones included. */
unsigned int fake_calls(unsigned long request);

/* Those of them that the fake itself refused. */
unsigned int fake_refused(unsigned long request);

/*
 * Called around each call, without the fake's lock; a call made by the hook
 * itself does not call it again.  NULL: none.
 */
void fake_hook(void (*hook)(unsigned long request, enum fake_when when));

/* What should be back to zero. */
unsigned int fake_live_handles(void);
unsigned int fake_live_maps(void);

/* A BO as the fake sees it; false when there is no such handle. */
struct fake_bo {
	uint64_t size, va;
	uint32_t flags;			/* AGATE_BO_* */
	char label[AGATE_LABEL_MAX + 1];
	bool imported;
};

bool fake_bo(uint32_t handle, struct fake_bo *bo);

/* Jobs use the BO, or do not. */
void fake_set_busy(uint32_t handle, bool busy);

/* A dma-buf of another driver. */
int fake_dma_buf(size_t size);

/*
 * What SUBMIT does once the fake has checked it: run the chain, return an errno
 * or 0.  handles are those of the BO list.  NULL: nothing.
 */
void fake_submit(int (*run)(const struct drm_agate_submit *args, const uint32_t *handles));

/*
 * The memory behind GPU address va, of a BO among handles; NULL when no listed
 * BO holds all len bytes, or one of them may not be written and write is set.
 */
void *fake_gpu_memory(const uint32_t *handles, uint32_t count, uint64_t va, size_t len,
		      bool write);

#endif /* FAKE_KERNEL_H */
