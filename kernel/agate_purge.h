/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "purge" (lab 07): memory that its owner does not need at the moment.
 *
 * A BO that userspace advised DONTNEED waits on a list.  When memory runs short the
 * shrinker takes its pages, unless the BO is busy, shared or pinned.
 * The shrinker runs in reclaim, possibly under any lock, so it only tries locks.
 */
#ifndef AGATE_PURGE_H
#define AGATE_PURGE_H

#include <linux/list.h>
#include <linux/mutex.h>

#include "agate_compat.h"

struct agate_bo;
struct agate_device;
struct drm_device;
struct drm_file;

/**
 * struct agate_purge - BOs whose pages can be taken
 * @lock: protects @list; the frame initialises both, because a dying BO is taken off
 *	the list also while the topic is absent
 * @list: struct agate_bo, oldest advice first
 * @shrinker: registered while the topic is present
 */
struct agate_purge {
	struct mutex lock;	/* @list */
	struct list_head list;
	struct agate_shrinker shrinker;
};

int agate_purge_topic_init(struct agate_device *adev);
void agate_purge_topic_fini(struct agate_device *adev);

/**
 * agate_purge_madvise_ioctl - MADVISE
 * @dev: the device
 * @data: struct drm_agate_madvise
 * @file: whose handle it is
 *
 * Calls agate_gem_set_label_ioctl() if the client gives a label, and holds no lock meanwhile.
 * That call is the last one that can fail.
 *
 * Return: 0, or the error of the uAPI.  On failure the advice and the label stay as they were.
 */
int agate_purge_madvise_ioctl(struct drm_device *dev, void *data, struct drm_file *file);

/**
 * agate_purge_forget - take a dying BO off the list, before anything else
 * @bo: its last reference is gone
 *
 * Looks at the list under its lock only: a shrinker that has just taken the BO off may not be
 * done with it.
 */
void agate_purge_forget(struct agate_bo *bo);

#endif /* AGATE_PURGE_H */
