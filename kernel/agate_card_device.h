/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The card: the part of the device that has memory of its own.
 *
 * No reset of the GPU reaches it, and its supply is not the GPU's.  A GPU without a card
 * works as well, and then topic "card" is absent.
 */
#ifndef AGATE_CARD_DEVICE_H
#define AGATE_CARD_DEVICE_H

#include <linux/atomic.h>
#include <linux/io.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "agate_card.h"

struct agate_device;

/**
 * struct agate_card - what the card said about itself, and how to reach it
 * @features: the register
 * @losses: how often it had lost its power when the driver last gave it contents
 * @vram_size: bytes of VRAM
 * @visible: of these, the first bytes, which BAR2 shows
 * @caching: AGATE_CACHING_WC or _UC: how the CPUs map @visible
 * @mapped: of these, the first bytes, which the kernel keeps mapped; its own memory is there
 * @vram: where it has them
 * @gsm: the global table, mapped write-combining; NULL on a card that has a port instead
 * @min_align: of a range of VRAM: 64 KiB on a card that translates it by groups, else 4 KiB
 * @kmem_lock: protects @kmems
 * @kmems: struct agate_kmem
 * @tables: bytes of VRAM that clients' page tables take
 * @awake_lock: for reading, the card stays awake if it is, and asleep if it is not
 * @asleep: its table is not written now; changes under @awake_lock and @removed_lock
 * @removed_lock: protects @removed
 * @removed: struct agate_ggtt_node: those that left while it slept
 * @sleepers: struct agate_ttm_bo, with references: while the system sleeps, those that were in
 *	VRAM; under unplug_lock
 */
struct agate_card {
	u32 features;
	u32 losses;
	u64 vram_size;
	u64 visible;
	u8 caching;
	u64 mapped;
	void __iomem *vram;
	void __iomem *gsm;
	u64 min_align;
	struct mutex kmem_lock;		/* @kmems */
	struct list_head kmems;
	atomic64_t tables;
	struct rw_semaphore awake_lock;	/* @asleep */
	bool asleep;
	spinlock_t removed_lock;	/* @removed */
	struct list_head removed;
	struct list_head sleepers;
};

/**
 * agate_card_topic_init - find out what the card has, and map its memory
 * @adev: the device, whose registers work; nothing is mapped for DMA yet
 *
 * Narrows the device's DMA mask to what the card reaches.
 *
 * Return: 0; -EOPNOTSUPP without a card; -ENOMEM; -EIO for DMA that the system does not have;
 * -ENODEV when the GPU is gone.
 */
int agate_card_topic_init(struct agate_device *adev);

/** agate_card_topic_fini - undo agate_card_topic_init() */
void agate_card_topic_fini(struct agate_device *adev);

/**
 * agate_engines_topic_init - start what the card works with: table, firmware, mover
 * @adev: its card is there, and its schedulers
 *
 * Return: 0; -EOPNOTSUPP without a firmware file: the card's memory is then of no use; else the
 * error of what does not start.
 */
int agate_engines_topic_init(struct agate_device *adev);

/** agate_engines_topic_fini - undo agate_engines_topic_init(); works if the GPU is gone */
void agate_engines_topic_fini(struct agate_device *adev);

/**
 * agate_card_serve - look what the card has to say, and clear that
 * @adev: the device
 *
 * Context: any thread; an interrupt may be lost, so a timeout calls this, too.
 */
void agate_card_serve(struct agate_device *adev);

/**
 * agate_card_status - has the card what the driver gave it?
 * @adev: the device, which has a card
 *
 * Return: 0; -EIO: it has no power, or has lost its power since; -ENODEV when the GPU is gone.
 */
int agate_card_status(struct agate_device *adev);

/**
 * agate_card_power_off - switch the card's supply off; it forgets everything
 * @adev: the device
 */
void agate_card_power_off(struct agate_device *adev);

/**
 * agate_card_power_on - switch the card's supply on
 * @adev: the device
 *
 * From here on agate_card_status() is about what the card is given now.
 *
 * Return: 0; -EIO: it gets none; -ENODEV when the GPU is gone.
 */
int agate_card_power_on(struct agate_device *adev);

#endif /* AGATE_CARD_DEVICE_H */
