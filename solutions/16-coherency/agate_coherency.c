// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which caches snoop which, and what the driver does where they do not.  The contract is
 * agate_coherency.h.
 */
#include <linux/align.h>
#include <linux/dma-mapping.h>
#include <linux/highmem.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/scatterlist.h>
#include <linux/string.h>

#include "agate_backing.h"
#include "agate_coherency.h"
#include "agate_device.h"
#include "agate_gem.h"
#include "agate_job.h"
#include "agate_regs.h"
#include "agate_slot.h"
#include "agate_vm.h"

/* ---- How the SoC is wired ---------------------------------------------- */

enum protocol {
	PROTOCOL_NONE,
	PROTOCOL_ACE_LITE,
	PROTOCOL_ACE,
	PROTOCOL_COUNT
};

/**
 * struct protocol_info - what a protocol is called, and what it means for chains
 * @value: GPU_COHERENCY_*
 * @feature: the bit that a GPU with this protocol has in COHERENCY_FEATURES, or 0
 * @flushes: of every chain
 */
struct protocol_info {
	u32 value;
	u32 feature;
	u32 flushes;
};

static const char * const protocol_names[PROTOCOL_COUNT] = {
	[PROTOCOL_NONE] = "none",
	[PROTOCOL_ACE_LITE] = "ace-lite",
	[PROTOCOL_ACE] = "ace",
};

/*
 * Without a protocol the end invalidates, too.  A page of the old owner may become a page table of
 * a chain that already runs, and that chain's walks must not find the old owner's bytes in
 * the L2, not even in the moment between the entry that leads there and its FLUSH_PT.
 */
static const struct protocol_info protocols[PROTOCOL_COUNT] = {
	[PROTOCOL_NONE] = {
		.value = GPU_COHERENCY_NONE,
		.flushes = JS_CONFIG_START_FLUSH_CLEAN_INVALIDATE |
			   JS_CONFIG_END_FLUSH_CLEAN_INVALIDATE,
	},
	[PROTOCOL_ACE_LITE] = {
		.value = GPU_COHERENCY_ACE_LITE,
		.feature = GPU_COHERENCY_FEATURE_ACE_LITE,
		.flushes = JS_CONFIG_END_FLUSH_CLEAN,
	},
	[PROTOCOL_ACE] = {
		.value = GPU_COHERENCY_ACE,
		.feature = GPU_COHERENCY_FEATURE_ACE,
	},
};

static enum protocol wired_by_parameter = PROTOCOL_NONE;

static int wired_set(const char *value, const struct kernel_param *param)
{
	int ret = sysfs_match_string(protocol_names, value);

	if (ret < 0)
		return ret;
	wired_by_parameter = ret;
	return 0;
}

static int wired_get(char *text, const struct kernel_param *param)
{
	return sysfs_emit(text, "%s\n", protocol_names[wired_by_parameter]);
}

static const struct kernel_param_ops wired_ops = {
	.set = wired_set,
	.get = wired_get,
};

module_param_cb(coherency, &wired_ops, NULL, 0444);
MODULE_PARM_DESC(coherency, "How the SoC is wired: none, ace-lite or ace (default none)");

static enum protocol protocol_of(u32 value)
{
	enum protocol i = PROTOCOL_NONE;

	while (i < PROTOCOL_COUNT - 1 && protocols[i].value != value)
		i++;
	return i;
}

const char *agate_coherency_name(u32 protocol)
{
	return protocol_names[protocol_of(protocol)];
}

/* ---- The GPU's side ----------------------------------------------------- */

u32 agate_coherency_protocol(const struct agate_device *adev)
{
	if (adev->coherency.protected && adev->coherency.wired == GPU_COHERENCY_ACE)
		return GPU_COHERENCY_ACE_LITE;
	return adev->coherency.wired;
}

/* The GPU gets no work until it has said that it is in protected mode. */
int agate_coherency_select(struct agate_device *adev)
{
	int ret;

	gpu_write(adev, GPU_COHERENCY_ENABLE, agate_coherency_protocol(adev));
	if (!adev->coherency.protected)
		return 0;
	gpu_write(adev, GPU_CMD, GPU_CMD_SET_PROTECTED_MODE);
	ret = gpu_poll(adev, GPU_STATUS, GPU_STATUS_PROTECTED_MODE, GPU_STATUS_PROTECTED_MODE);
	if (ret == -ETIMEDOUT)
		dev_err(&adev->pdev->dev, "the GPU does not enter protected mode\n");
	return ret;
}

void agate_coherency_protect(struct agate_device *adev, bool on)
{
	adev->coherency.protected = on;
}

u32 agate_coherency_flushes(const struct agate_device *adev)
{
	return protocols[protocol_of(agate_coherency_protocol(adev))].flushes;
}

/* ---- The CPUs' side ------------------------------------------------------ */

void agate_coherency_to_device(struct agate_device *adev, dma_addr_t addr, size_t size,
			       enum dma_data_direction dir)
{
	dma_sync_single_for_device(&adev->pdev->dev, addr, size, dir);
}

void agate_coherency_to_cpu(struct agate_device *adev, dma_addr_t addr, size_t size,
			    enum dma_data_direction dir)
{
	dma_sync_single_for_cpu(&adev->pdev->dev, addr, size, dir);
}

/* ---- A header between two runs -------------------------------------------- */

/**
 * struct line - the cache line that a job header begins
 * @page: its page
 * @offset: its place there
 * @addr: its DMA address
 * @bounced: the GPU sees it only when it is synced
 */
struct line {
	struct page *page;
	size_t offset;
	dma_addr_t addr;
	bool bounced;
};

/* A mapping for DMA may have fewer entries than the table has pieces of memory. */
static bool line_find(const struct agate_bo *bo, u64 offset, struct line *line)
{
	struct agate_runs runs = { .skip = offset, .left = AGATE_JOB_ALIGN };
	struct sg_table *sgt = bo->backing.sgt;
	struct scatterlist *sg;
	struct agate_run run;
	unsigned int i;

	if (!sgt)
		return false;
	runs.sg = sgt->sgl;
	agate_runs_next(&runs, &run);
	line->addr = run.addr;
	line->bounced = bo->backing.bounced;
	for_each_sgtable_sg(sgt, sg, i) {
		if (offset < sg->length)
			break;
		offset -= sg->length;
	}
	offset += sg->offset;
	line->page = nth_page(sg_page(sg), offset >> PAGE_SHIFT);
	line->offset = offset_in_page(offset);
	return true;
}

/* The line that begins at an address of the job, or false. */
static bool job_line(const struct agate_job *job, u64 va, struct line *line)
{
	unsigned int i;

	if (!IS_ALIGNED(va, AGATE_JOB_ALIGN))
		return false;
	for (i = 0; i < job->bo_count; i++) {
		const struct agate_mapping *mapping = job->bos[i].mapping;
		const struct agate_bo *bo = to_agate_bo(job->bos[i].obj);
		u64 start = agate_mapping_va(mapping);

		if (va >= start && va - start < mapping->size)
			return !(bo->flags & AGATE_BO_GPU_READONLY) &&
			       line_find(bo, mapping->offset + va - start, line);
	}
	return false;
}

/*
 * By whole cache lines: a CPU's cache cleans no less, so it has to hold what the GPU wrote to the
 * rest of the line.
 */
void agate_coherency_clear_header(struct agate_job *job)
{
	struct agate_device *adev = job->adev;
	struct agate_job_header *header;
	struct line line;
	void *page;

	if (!job_line(job, job->jc, &line))
		return;
	if (line.bounced)
		agate_coherency_to_cpu(adev, line.addr, AGATE_JOB_ALIGN, DMA_BIDIRECTIONAL);
	page = kmap_local_page(line.page);
	header = page + line.offset;
	WRITE_ONCE(header->exception_status, 0);
	WRITE_ONCE(header->first_incomplete_task, 0);
	WRITE_ONCE(header->fault_pointer, 0);
	kunmap_local(page);
	if (line.bounced)
		agate_coherency_to_device(adev, line.addr, AGATE_JOB_ALIGN, DMA_BIDIRECTIONAL);
}

/* ---- Topic ----------------------------------------------------------------- */

int agate_coherency_topic_init(struct agate_device *adev)
{
	const struct protocol_info *wired = &protocols[wired_by_parameter];

	if ((adev->id.coherency_features & wired->feature) != wired->feature) {
		dev_warn(&adev->pdev->dev, "coherency: the GPU does not have %s\n",
			 protocol_names[wired_by_parameter]);
		wired = &protocols[PROTOCOL_NONE];
	}
	adev->coherency.wired = wired->value;
	adev->coherency.protected = false;
	dev_info(&adev->pdev->dev, "coherency: %s\n", agate_coherency_name(wired->value));
	return 0;
}

void agate_coherency_topic_fini(struct agate_device *adev)
{
}
