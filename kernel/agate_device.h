/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device and the open file, which the frame and all topics share.
 *
 * Order of locks, outermost first:
 *   unplug_lock, vm->lock, bound.userptr_lock, mmap_lock, prime.lock, a BO's dma_resv,
 *   submit's queue lock, gem.lock, backing.lock, purge.lock, and then, on a fence's way to its
 *   signal: pm.lock, bo->mappings_lock, vm->pt_lock, hand_over_lock, mover.push_lock,
 *   toucher.lock, lng.lock, slots.lock, mmu.lock, mover.lock, irq.lock, bus.lock
 * mmap_lock comes before dma_resv because the core says so (dma_resv_lockdep()): code
 * that holds a reservation accesses no memory of userspace.  A thread that needs several
 * reservations locks them through agate_exec.h.  mmap() may put the last reference to an import,
 * which takes prime.lock.  Neither a reset nor the thread that
 * serves GPU faults takes a reservation or a vm->lock: a thread that holds one may wait
 * for a fence, and the fence for them.  Memory that may have to be reclaimed is allocated
 * under the locks up to purge.lock only.
 * reset.lock is inside of unplug_lock and outside of pm.lock.  Nobody takes it in reclaim: its
 * holder waits until a scheduler starts no job, and a job may wait for PCI's core to wake the
 * GPU, which allocates memory for that.
 * The card's other locks are inside of a BO's dma_resv: card.kmem_lock, and inside of that, but
 * none of them inside of another one, ggtt.lock, a manager's lock, ttm.bound_lock, and the
 * spinlocks ttm.lru_lock, scan.lock and those of the pool's lists.  No memory is allocated under
 * them.
 * userptr_lock is inside of submit's queue lock.  Notifiers of a process's memory take it, also in
 * reclaim, and wait for fences without it (agate_userptr.h): no memory is allocated under it.
 * The limit's lock (agate_limit.c) is inside of a BO's dma_resv, and its holder only tries those of
 * others.
 * devfreq's locks are outside of slots.lock and inside of unplug_lock; the kernel allocates
 * memory under them.
 * A BO's label_lock is taken under gem.lock or under no lock, and reset.queue_lock and
 * backing.fault_lock under any of them; the driver takes no lock under these three.  The
 * shrinker may start under any lock from vm->lock to purge.lock, so it only tries locks.
 * agate_lock_order.h tells lockdep.
 */
#ifndef AGATE_DEVICE_H
#define AGATE_DEVICE_H

#include <linux/pci.h>
#include <linux/rwsem.h>
#include <linux/xarray.h>
#include <drm/drm_device.h>
#include <drm/drm_file.h>
#include <drm/drm_ioctl.h>

#include "agate_bus.h"
#include "agate_busy.h"
#include "agate_card_device.h"
#include "agate_coherency.h"
#include "agate_devfreq.h"
#include "agate_drm.h"
#include "agate_fw.h"
#include "agate_gem.h"
#include "agate_ggtt.h"
#include "agate_long.h"
#include "agate_mmu.h"
#include "agate_mover.h"
#include "agate_pages.h"
#include "agate_park.h"
#include "agate_pci.h"
#include "agate_pm.h"
#include "agate_power.h"
#include "agate_prime.h"
#include "agate_purge.h"
#include "agate_queue.h"
#include "agate_regs.h"
#include "agate_reset.h"
#include "agate_scan.h"
#include "agate_slot.h"
#include "agate_stats.h"
#include "agate_topics.h"
#include "agate_ttm.h"
#include "agate_vm.h"

/**
 * struct agate_device - one GPU
 * @drm: the DRM device
 * @pdev: the PCI function
 * @bus: the way to the registers
 * @id: contents of the GPU's identity registers
 * @irq: the four vectors
 * @features: AGATE_FEATURE_* of the topics that initialised
 * @stats: counters of living objects
 * @unplug_lock: orders the end of probe, removal and @lost_work against each other
 * @running: between the end of probe and removal; under @unplug_lock
 * @asleep: the system sleeps, and the GPU has no power; under @unplug_lock
 * @lost_work: unplugs the device when the GPU is gone, or of no use any more
 * @busy: how long the GPU has worked
 * @card: VRAM, and what else the card has
 * @ggtt: topic "ggtt"
 * @fw: the card's firmware
 * @mover: the card's mover
 * @ttm: memory that moves
 * @pages: system memory for BOs that move
 * @park: what is freed later
 * @scan: what the card's display shows
 * @mem_dev: owns memory of the DMA API, see agate_mem_dev.h (topic "cma")
 * @hand_over_lock: one hand-over of a BO at a time, see agate_hand_over.h
 * @userptr_lock: whose memory of processes is still valid, see agate_userptr.h
 * @coherency: topic "coherency"
 * @devfreq: topic "dvfs"
 * @gem: topic "gem"
 * @pm: topic "pm"
 * @power: topic "power"
 * @prime: topic "prime"
 * @purge: topic "purge"
 * @mmu: topic "mmu"
 * @slots: topic "slot"
 * @queues: topic "submit"
 * @lng: jobs that may run for ever, see agate_long.h
 * @reset: topic "reset"
 */
struct agate_device {
	struct drm_device drm;
	struct pci_dev *pdev;
	struct agate_bus bus;
	struct agate_identity id;
	struct agate_irq irq[AGATE_NUM_VECTORS];
	u64 features;
	struct agate_stats stats;
	struct mutex unplug_lock;	/* probe, removal, loss */
	bool running;
	bool asleep;
	struct work_struct lost_work;
	struct agate_busy busy;
	struct agate_card card;
	struct agate_ggtt ggtt;
	struct agate_fw fw;
	struct agate_mover mover;
	struct agate_ttm ttm;
	struct agate_pages pages;
	struct agate_park park;
	struct agate_scan scan;
	struct device *mem_dev;
	struct mutex hand_over_lock;	/* between the CPUs and the GPU */
	struct rw_semaphore userptr_lock;	/* memory of processes */
	struct agate_coherency coherency;
	struct agate_devfreq devfreq;
	struct agate_gem gem;
	struct agate_pm pm;
	struct agate_power power;
	struct agate_prime prime;
	struct agate_purge purge;
	struct agate_mmu mmu;
	struct agate_slots slots;
	struct agate_queues queues;
	struct agate_long lng;
	struct agate_reset reset;
};

static inline struct agate_device *to_agate_device(struct drm_device *drm)
{
	return container_of(drm, struct agate_device, drm);
}

/**
 * struct agate_file - one open file
 * @adev: the device
 * @vm: its GPU address space
 * @vms: struct agate_vm: those of VM_CREATE, each with a reference, by their numbers
 * @entities: its queues and their busy time (topic "submit"), NULL without it
 * @id: drm-client-id
 */
struct agate_file {
	struct agate_device *adev;
	struct agate_vm *vm;
	struct xarray vms;
	struct agate_entities *entities;
	u64 id;
};

static inline struct agate_file *to_agate_file(struct drm_file *file)
{
	return file->driver_priv;
}

/**
 * agate_show_fdinfo - write what a client uses, in the DRM usage-stats keys
 * @m: the file to write to
 * @f: the open file
 */
void agate_show_fdinfo(struct seq_file *m, struct file *f);

/**
 * agate_debugfs_init - drm_driver.debugfs_init: the files of one minor
 * @minor: the minor
 */
void agate_debugfs_init(struct drm_minor *minor);

/**
 * agate_stat_name - a counter's name in debugfs and in the log
 * @which: the counter
 */
const char *agate_stat_name(enum agate_stat which);

/* The table of ioctls, for struct drm_driver. */
#define AGATE_NUM_IOCTLS	(DRM_AGATE_FLIP + 1)
extern const struct drm_ioctl_desc agate_ioctls[AGATE_NUM_IOCTLS];

/**
 * agate_ioctl - file_operations.unlocked_ioctl: check the gate, then call the core
 * @file: the open file
 * @cmd: request
 * @arg: pointer to its struct
 *
 * Return: 0; -ENODEV when the GPU is lost; -EOPNOTSUPP when a topic that the ioctl
 * needs is absent; the ioctl's own error.
 */
long agate_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

/* The same for 32-bit callers, whose structs are no different. */
#ifdef CONFIG_COMPAT
long agate_compat_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
#else
#define agate_compat_ioctl	NULL
#endif

/**
 * agate_device_lost - the GPU is gone, or of no use any more: unplug the device, soon
 * @adev: the device
 *
 * Wakes every waiter; every later ioctl returns -ENODEV.
 *
 * Context: any; lost_work does the work.
 */
void agate_device_lost(struct agate_device *adev);

#endif /* AGATE_DEVICE_H */
