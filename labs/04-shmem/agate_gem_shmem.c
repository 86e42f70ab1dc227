// SPDX-License-Identifier: GPL-2.0-only
/*
 * A BO's pages, which the driver takes from the BO's shmem file when they are first
 * needed.
 *
 * Shmem gives zeroed pages, and keeps their contents while nobody holds them.  This
 * file counts the users that hold them.  A user that needs the pages for the GPU
 * also needs them mapped for DMA, which is possible only while the device is
 * plugged in.  The contract is agate_shmem.h.
 */
#include <linux/dma-mapping.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <drm/drm_drv.h>

#include "agate_backing.h"
#include "agate_device.h"
#include "agate_gem.h"
#include "agate_hand_over.h"
#include "agate_shmem.h"

/* Bytes that one fault maps at most: as many as the core does for a page cache. */
#define FAULT_AROUND	SZ_64K

/*
 * STEP 1: write three helpers.  One takes some pages of the shmem file, those that are
 * not present yet, and counts them; one gives all of them back, as pages that somebody
 * has written to; one takes away a use, and gives the pages back with the last one.
 */

/*
 * STEP 2: write a helper for the users that need the whole BO: it counts one more use, and
 * takes all pages.  A purged BO gets none, and a failure leaves no use behind.
 */

/*
 * STEP 3: write what makes the sg table of the whole BO, mapped for DMA, what undoes it,
 * and what makes it only once.  The table is one user of the pages, and shmem_release()
 * has to undo it, too.
 */

/* ---- Operations -------------------------------------------------------- */

static void shmem_detach(struct agate_bo *bo)
{
	/* STEP 3: the device goes, and no DMA mapping may outlast it. */
}

static void shmem_release(struct agate_bo *bo)
{
	/* STEP 1: the BO dies: give back whatever it still has. */
}

static void shmem_purge(struct agate_bo *bo)
{
	/*
	 * STEP 3: give all memory back to the system, and the contents with it.  The
	 * caller holds backing.lock, and nobody uses the BO.
	 */
}

static void shmem_open(struct agate_bo *bo)
{
	/* STEP 1: one more VMA uses the pages.  It takes none yet. */
}

static void shmem_put_pages(struct agate_bo *bo)
{
	/* STEP 1: a VMA, or an importer, uses the pages no longer. */
}

/*
 * The lock keeps the shrinker from purging a page before it is inserted.
 *
 * Return SIGBUS when memory is short: allocating the pages does not call the OOM
 * killer, so the retries that VM_FAULT_OOM causes might never end.
 */
static vm_fault_t shmem_fault(struct agate_bo *bo, struct vm_fault *vmf, unsigned long index)
{
	/*
	 * STEP 1: take the page that was touched, if it is not there, and put it into the
	 * process's page table.  No purge may come in between.
	 */
	return VM_FAULT_SIGBUS;
}

static int shmem_populate(struct agate_bo *bo, u64 offset, u64 size, struct agate_runs *runs)
{
	/*
	 * STEP 3: make the sg table if there is none, and answer with the part of it that
	 * was asked for.  Two threads may come here at the same time.
	 */
	return -EOPNOTSUPP;
}

static int shmem_pin(struct agate_bo *bo)
{
	/* STEP 2: another driver uses the whole BO.  shmem_put_pages() undoes it. */
	return -EOPNOTSUPP;
}

static struct sg_table *shmem_get_sg_table(struct agate_bo *bo, unsigned int max_segment)
{
	/*
	 * STEP 2: list the pages of a pinned BO in a new sg table, whose entries keep to
	 * max_segment.  The caller maps it for its own device, and frees it.
	 */
	return ERR_PTR(-EOPNOTSUPP);
}

static int shmem_vmap(struct agate_bo *bo, struct iosys_map *map)
{
	/*
	 * STEP 2: make the BO's pages follow one another in the kernel's address space.
	 * Several users share one mapping, which is one user of the pages.
	 */
	return -EOPNOTSUPP;
}

static void shmem_vunmap(struct agate_bo *bo, struct iosys_map *map)
{
	/* STEP 2: undo one shmem_vmap(). */
}

const struct agate_backing_ops agate_shmem_backing = {
	.flags = AGATE_BACKING_CPU_VISIBLE | AGATE_BACKING_PURGEABLE |
		 AGATE_BACKING_EXPORTABLE,
	.populate = shmem_populate,
	.open = shmem_open,
	.close = shmem_put_pages,
	.fault = shmem_fault,
	.pin = shmem_pin,
	.unpin = shmem_put_pages,
	.get_sg_table = shmem_get_sg_table,
	.vmap = shmem_vmap,
	.vunmap = shmem_vunmap,
	.purge = shmem_purge,
	.detach = shmem_detach,
	.release = shmem_release,
};

/* ---- Topic ------------------------------------------------------------- */

int agate_shmem_topic_init(struct agate_device *adev)
{
	/* STEP 1: a device needs nothing: without this line the topic is absent. */
	return -EOPNOTSUPP;
}

void agate_shmem_topic_fini(struct agate_device *adev)
{
}
