/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for the driver under libagate, linked in with -Wl,--wrap.
 *
 * It behaves like the kernel where the library depends on it: it reuses the lowest
 * free handle at once; a dma-buf that the file already knows gives its old handle
 * without a second count; a closed handle is gone for everybody.  BOs and dma-bufs
 * are memfds: real memory, real file descriptors.
 *
 * It also counts calls, can make them fail, and lets a test act before and after
 * any call, so that a test can hold a race open.
 */
#ifndef FAKE_KERNEL_H
#define FAKE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xf86drm.h>

#include "agate_device_priv.h"

/* "Requests" for the calls that are no ioctl. */
#define FAKE_MMAP	1ul
#define FAKE_MUNMAP	2ul

enum fake_when { FAKE_BEFORE, FAKE_AFTER };

/* Reset the fake; call this before each test. */
void fake_reset(void);

/* Make an open file one of the driver, with this major version; -1: none is. */
void fake_driver(int fd, int major);

/* Set its minor version, AGATE_DRM_MINOR after the reset: it knows no more than that. */
void fake_set_minor(int minor);

/* The devices that libdrm lists, none after the reset; and how many were freed since. */
void fake_devices(const drmDevicePtr *devices, int count);
int fake_devices_freed(void);

/* A device on the fake. */
struct agate_device *fake_open(void);

/* Make the nth call (counted from 1) of one request fail with err. */
void fake_fail(unsigned long request, unsigned int nth, int err);

/* Calls of a request since the reset, failed ones included. */
unsigned int fake_calls(unsigned long request);

/* Those of them that the fake itself refused. */
unsigned int fake_refused(unsigned long request);

/*
 * Called around each call, without the fake's lock; a call made by the hook
 * itself does not call it again.  NULL: none.  @arg is an ioctl's argument, else NULL.
 */
void fake_hook(void (*hook)(unsigned long request, enum fake_when when, void *arg));

/* Counts that must return to zero. */
unsigned int fake_live_handles(void);
unsigned int fake_live_maps(void);
unsigned int fake_live_vms(void);

/* Look up a BO in the fake; false when there is no such handle. */
struct fake_bo {
	uint64_t size, va;
	uint32_t flags;			/* AGATE_BO_* */
	char label[AGATE_LABEL_MAX + 1];
	bool imported;
	uint32_t madv;			/* AGATE_MADV_* */
	uint32_t placement, caching;
	uint32_t vm_id;
};

bool fake_bo(uint32_t handle, struct fake_bo *bo);

/*
 * Memory pressure: take the pages of BOs that are not needed and idle, the lowest handle
 * first, and of no more than most of them.  Returns of how many.
 */
unsigned int fake_purge(unsigned int most);

/* Set whether jobs write the BO, and whether other jobs only read it. */
void fake_set_busy(uint32_t handle, bool busy);
void fake_set_read(uint32_t handle, bool read);

/* FLIP's argument that succeeded last; all zero after the reset. */
struct drm_agate_flip fake_shown(void);

/* What a sync_file says of its fence: 1, 0 while it has not signalled, or an error. */
void fake_fence(int status);

/* A dma-buf of another driver. */
int fake_dma_buf(size_t size);

/*
 * Set the function that SUBMIT calls after the fake's checks: it runs the chain,
 * and returns an errno or 0.  handles are those of the BO list.  NULL: nothing.
 */
void fake_submit(int (*run)(const struct drm_agate_submit *args, const uint32_t *handles));

/*
 * The memory behind GPU address va, of a BO among handles; NULL when no listed
 * BO holds all len bytes, or one of them may not be written and write is set.
 */
void *fake_gpu_memory(const uint32_t *handles, uint32_t count, uint64_t va, size_t len,
		      bool write);

/* VM_CREATE's flags of an address space that lives. */
uint32_t fake_vm_flags(uint32_t id);

/* VM_BIND's argument that succeeded last; all zero after the reset. */
struct drm_agate_vm_bind fake_bound(void);

/* The same in an address space of VM_CREATE: NULL when not all bytes are bound to one BO. */
void *fake_vm_memory(uint32_t id, uint64_t va, size_t len, bool write);

#endif /* FAKE_KERNEL_H */
