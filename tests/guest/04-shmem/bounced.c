// SPDX-License-Identifier: MIT
/* Lab 04, step 3, profile swiotlb: the CPUs and the GPU have different memory. */
#include "shmem.h"

#include <sys/mman.h>
#include <unistd.h>

#define FULL_PAGES	1024u		/* 4 MiB */
#define FULL_MOST	64u

static void turns(void)
{
	int fd = shmem_open(), file;
	struct bo jobs, bo;

	rule("a job finds all pages of its BOs, whoever has touched them");
	jobs = guest_bo(fd, PAGE, 0);
	bo = make_bo(fd, 3);
	file = look_at_newest();
	bo.cpu = map_more(&bo, 3);
	for (unsigned int i = 0; i < 6; i++) {
		*word(bo.cpu, 0) = 100 + i;
		check_errno(gpu_copy(&jobs, &bo, 2 * PAGE, 0), 0, "a job");
		rule("where the GPU has other memory than the CPUs, backing.bounced leads to the table");
		check_equal(look(file, "bounced"), 1, "backing.bounced is the table");
		rule("where all DMA bounces, each side sees what the other wrote");
		check_equal((int64_t)*word(bo.cpu, 2), 100 + i, "what the GPU has copied");
	}
	fill(&bo, 900);
	check_errno(device_unbind(), 0, "unbinding the device");
	check_touched(bo.cpu);
	rule("undoing the mapping writes nothing to the pages: what a CPU wrote after the last job stays");
	check_filled(bo.cpu, 3, 900, "after its DMA mapping was undone");
	rule("backing.bounced is NULL again when the table goes");
	check_equal(look(file, "bounced"), 0, "backing.bounced is set");
	munmap(bo.cpu, bo.size);
	munmap(jobs.cpu, jobs.size);
	close(file);
	close(fd);
	check_errno(device_bind(), 0, "binding the device");
}

/* The memory for bouncing is finite. */
static void bounced_full(void)
{
	struct bo bo[FULL_MOST];
	int fd = shmem_open(), err = 0;
	unsigned int n = 0;

	while (n < FULL_MOST && !err) {
		bo[n] = make_bo(fd, FULL_PAGES);
		err = guest_submit(fd, bo[n].va, 0, &bo[n].handle, 1, 0);
		n++;
	}
	rule("when memory is short, the memory for bouncing too, SUBMIT gives ENOMEM");
	if (err)
		check_errno(err, ENOMEM, "SUBMIT with more BOs than can bounce");
	close(fd);
	rule("BOs that could not be mapped leave nothing behind");
	check_nothing_left();
}

/* Making the mapping: what is asked of the DMA layer, in which direction, and how often. */
static void made_once(void)
{
	int fd = shmem_open(), file;
	struct bo bo = make_bo(fd, 3);
	long syncs;

	file = look_at_newest();
	told(file, "pin");
	told(file, "watch");
	rule("populate makes the sg table");
	check_errno(tell(file, "populate 0 4096"), 0, "populate");
	syncs = look(file, "dma_syncs");
	if (look(file, "dma_maps")) {
		rule("making the mapping copies nothing by itself: DMA_ATTR_SKIP_CPU_SYNC");
		check_equal(look(file, "dma_copies"), 0, "mappings made without DMA_ATTR_SKIP_CPU_SYNC");
		rule("a mapping that fails does not fill the log: DMA_ATTR_NO_WARN");
		check_equal(look(file, "dma_warns"), 0, "mappings made without DMA_ATTR_NO_WARN");
	}
	rule("a mapping that needs syncs begins with one for the device: the GPU finds the BO's contents");
	check_at_least(syncs, 1, "calls of dma_sync_sgtable_for_device() by the first populate");
	check_equal(look(file, "dma_syncs_cpu"), 0, "syncs for the CPU by the first populate");
	rule("the GPU reads and writes: the mapping and its sync are DMA_BIDIRECTIONAL");
	check_equal(look(file, "dma_ways"), 0, "calls with another direction");
	rule("only the populate that makes the mapping syncs it: a job may be at work when others come");
	check_errno(tell(file, "populate 4096 4096"), 0, "populate");
	check_equal(look(file, "dma_syncs"), syncs, "syncs for the device after a second populate");
	check_equal(look(file, "bounced"), 1, "backing.bounced is the table");
	told(file, "unpin");
	purge(&bo, file);
	rule("backing.bounced is NULL again when the table goes, also by a purge");
	check_equal(look(file, "bounced"), 0, "backing.bounced of a purged BO is set");
	done_with(fd, file, &bo);
}

void test_bounced(void **state)
{
	(void)state;
	turns();
	made_once();
	bounced_full();
}
