/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel memory: the driver's own memory on the card, which the card's engines use.
 *
 * Firmware, ring, context and tables stay where they are from the first to the last day,
 * because an engine holds their addresses.  So kernel memory is in one piece, in the part of
 * VRAM that the kernel keeps mapped, never leaves, and comes back to the same place after a
 * suspend.  It is no BO: no client has a name for it.
 *
 * Page tables of clients' address spaces are kernel memory, too, but outside of the GGTT: the GPU
 * walks them by their addresses in VRAM.
 */
#ifndef AGATE_KMEM_H
#define AGATE_KMEM_H

#include <linux/list.h>
#include <linux/types.h>

struct agate_device;
struct agate_ggtt_node;
struct agate_resource;

/* The driver fills it again at resume: a suspend need not save it. */
#define AGATE_KMEM_NO_SAVE	BIT(0)
/*
 * A page table, one page at a time.  It never has a GGTT address, so it need not be aligned as
 * the card translates; and clients decide how many there are, so the part of VRAM that they
 * take is limited.
 */
#define AGATE_KMEM_TABLE	BIT(1)

/* Tables take this part of visible VRAM at most: nobody makes them leave. */
#define AGATE_KMEM_TABLES_PART	8

/**
 * struct agate_kmem - a piece of kernel memory
 * @adev: the device
 * @link: in card.kmems, under card.kmem_lock
 * @flags: AGATE_KMEM_*
 * @size: bytes, whole pages
 * @vram: it is VRAM; else system memory
 * @addr: its first byte: in VRAM counted from the beginning of VRAM, or the DMA address of
 *	system memory
 * @vaddr: where the CPUs have it
 * @res: the VRAM, or NULL
 * @page: the system memory, or NULL
 * @node: its GGTT addresses, or NULL
 * @backup: where a suspend saves it; NULL with NO_SAVE
 * @saved: the contents are in @backup alone, from a suspend to its resume.  A table may change
 *	meanwhile: under mmu.lock
 */
struct agate_kmem {
	struct agate_device *adev;
	struct list_head link;
	u32 flags;
	u64 size;
	bool vram;
	u64 addr;
	void __iomem *vaddr;
	struct agate_resource *res;
	struct page *page;
	struct agate_ggtt_node *node;
	void *backup;
	bool saved;
};

/**
 * agate_kmem_create - take kernel memory, filled with zeros
 * @adev: the device, which has a card
 * @size: bytes, rounded up to pages, and to what the card translates at once; of a table a page
 * @flags: AGATE_KMEM_*
 *
 * It has no GGTT address yet: agate_ggtt_insert() gives it one.  Nobody leaves for it.
 *
 * Return: the memory, or an ERR_PTR: -ENOMEM, -ENOSPC.
 */
struct agate_kmem *agate_kmem_create(struct agate_device *adev, u64 size, u32 flags);

/**
 * agate_kmem_create_page - one page of system memory, filled with zeros
 * @adev: the device, which has a card
 *
 * For what nobody reads or writes on purpose: it has no CPU address, and is not saved.
 *
 * Return: the memory, or an ERR_PTR: -ENOMEM.
 */
struct agate_kmem *agate_kmem_create_page(struct agate_device *adev);

/**
 * agate_kmem_destroy - give it back, and its GGTT addresses with it
 * @kmem: no engine uses it; NULL does nothing
 */
void agate_kmem_destroy(struct agate_kmem *kmem);

#endif /* AGATE_KMEM_H */
