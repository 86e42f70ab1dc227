// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's own memory on the card, as it is now: /sys/kernel/debug/agate_kmem has a line for
 * each piece that a suspend saves, and for the scratch page of the global table, which has to be
 * zero again: with its address in VRAM, its size, and its CRC-32.
 */
#include <linux/crc32.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/io.h>
#include <linux/seq_file.h>

#include "agate_device.h"
#include "agate_kmem.h"
#include "watch.h"

static struct dentry *kmem_file;

#define CHUNK	256

/* Nobody allocates memory under kmem_lock, so there is no copy of the whole. */
static u32 crc_of(const struct agate_kmem *kmem)
{
	u8 chunk[CHUNK];
	u32 crc = ~0u;
	u64 at;

	for (at = 0; at < kmem->size; at += CHUNK) {
		memcpy_fromio(chunk, kmem->vaddr + at, CHUNK);
		crc = crc32_le(crc, chunk, CHUNK);
	}
	return crc;
}

static bool is_the_same_after_suspend(const struct agate_kmem *kmem)
{
	return !(kmem->flags & AGATE_KMEM_NO_SAVE) || kmem == kmem->adev->ggtt.scratch;
}

static int kmem_show(struct seq_file *m, void *unused)
{
	struct agate_device *adev = watch_device();
	struct agate_kmem *kmem;

	if (!adev)
		return -ENODEV;
	mutex_lock(&adev->card.kmem_lock);
	list_for_each_entry(kmem, &adev->card.kmems, link) {
		if (kmem->vram && is_the_same_after_suspend(kmem))
			seq_printf(m, "%llx %llx %08x\n", kmem->addr, kmem->size,
				   crc_of(kmem));
	}
	mutex_unlock(&adev->card.kmem_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(kmem);

int kmem_init(void)
{
	kmem_file = debugfs_create_file("agate_kmem", 0400, NULL, NULL, &kmem_fops);
	return PTR_ERR_OR_ZERO(kmem_file);
}

void kmem_exit(void)
{
	debugfs_remove(kmem_file);
}
