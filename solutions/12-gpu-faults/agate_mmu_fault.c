// SPDX-License-Identifier: GPL-2.0-only
/*
 * GPU page faults: grow the heap, or stop the chain that touched unmapped memory.
 *
 * The hardware latches one fault for each address space and stalls the access.  A
 * flush of the address space makes it retry the access, so serving a fault ends
 * with a flush, which agate_mmu_map_runs() does.  If nobody can serve a fault, the
 * driver hard-stops the chain that caused it.  Other chains go on, also those of the
 * same file in the same address space.
 *
 * The job that faulted keeps its address space, and the mappings and BOs that it lists, so
 * a reference to the job is all that the thread takes; the last one parks the job.
 *
 * Everybody who waits for a job may wait for this thread, so it waits for no memory.  SUBMIT
 * has reserved the memory that a heap needs in order to grow.
 */
#include <linux/dma-fence.h>
#include <linux/sched/mm.h>
#include <drm/drm_drv.h>

#include "agate_backing.h"
#include "agate_device.h"
#include "agate_fault.h"
#include "agate_fault_vm.h"
#include "agate_gem.h"
#include "agate_mmu.h"
#include "agate_queue.h"
#include "agate_regs.h"
#include "agate_slot.h"
#include "agate_vm.h"

/*
 * Rounds over MMU_INT before the thread returns, so that a client which faults
 * without end cannot occupy the thread forever.  Nothing is lost: if the line is
 * still high, the GPU sends a new message when the driver unmasks the interrupt.
 */
#define MAX_ROUNDS	16

/**
 * struct agate_fault - one latched fault
 * @as: hardware address space
 * @job: the job whose chain faulted, with a reference, or NULL when it has left its slot
 * @stopped: no chain faulted, but another block of the GPU: its address space is disabled
 * @bits: the pending bits of this address space in MMU_INT: page fault and bus
 *	error
 * @status: FAULTSTATUS
 * @va: FAULTADDRESS
 */
struct agate_fault {
	unsigned int as;
	struct agate_job *job;
	bool stopped;
	u32 bits;
	u32 status;
	u64 va;
};

static const char *access_name(u32 status)
{
	switch (AS_FAULTSTATUS_ACCESS(status)) {
	case AS_FAULTSTATUS_ACCESS_EX:
		return "execute";
	case AS_FAULTSTATUS_ACCESS_READ:
		return "read";
	case AS_FAULTSTATUS_ACCESS_WRITE:
		return "write";
	default:
		return "unknown access";
	}
}

static bool is_translation_fault(const struct agate_fault *fault)
{
	u32 exception = AS_FAULTSTATUS_EXCEPTION(fault->status);

	return fault->bits == MMU_INT_PAGE_FAULT(fault->as) &&
	       (exception & ~7u) == AGATE_EXC_TRANSLATION_FAULT_0;
}

/* The slot whose access faulted; other blocks of the GPU have higher numbers. */
static unsigned int fault_slot(const struct agate_fault *fault)
{
	return AS_FAULTSTATUS_SOURCE_ID(fault->status);
}

/*
 * Find who caused the fault.  Only chains on the slots can be served.  A chain of another
 * address space began after the one that faulted had left.
 */
static void fault_blame(struct agate_device *adev, struct agate_fault *fault)
{
	if (fault_slot(fault) >= AGATE_MAX_SLOTS) {
		fault->stopped = agate_mmu_disable_faulty(adev, fault->as);
		return;
	}
	fault->job = agate_slot_current(adev, fault_slot(fault));
	if (fault->job && !agate_mmu_is_at(fault->job->vm, fault->as)) {
		agate_job_put(fault->job);
		fault->job = NULL;
	}
}

/*
 * Read the fault and clear its bit before serving it: the served access may fault
 * again at once, and the new bit must stay.  mmu.lock keeps the address space in
 * its place meanwhile, and slots.lock keeps the driver from starting another chain
 * on the slot.  A stalled chain stays where it is until somebody stops it.
 */
static void fault_take(struct agate_device *adev, struct agate_fault *fault)
{
	spin_lock(&adev->slots.lock);
	spin_lock(&adev->mmu.lock);
	fault->status = gpu_read(adev, AS_FAULTSTATUS(fault->as));
	fault->va = gpu_read64(adev, AS_FAULTADDRESS_LO(fault->as));
	gpu_write(adev, MMU_INT_CLEAR, fault->bits);
	fault_blame(adev, fault);
	spin_unlock(&adev->mmu.lock);
	spin_unlock(&adev->slots.lock);
}

/* Make one chunk's entries, unless an earlier fault in the same chunk has made them. */
static int map_chunk(struct agate_mapping *mapping, u64 offset, struct agate_runs runs)
{
	struct agate_bo *bo = mapping->vm_bo->bo;
	struct agate_vm *vm = mapping->vm_bo->vm;
	u64 va = agate_mapping_va(mapping) + offset;
	int ret;

	mutex_lock(&bo->mappings_lock);
	mutex_lock(&vm->pt_lock);
	if (!agate_pgtable_translate(&vm->as.pgt, va, NULL, NULL))
		ret = agate_mmu_flush(vm, va, runs.left, AS_COMMAND_FLUSH_PT);
	else
		ret = agate_mmu_map_runs(vm, va, runs, mapping->prot, &mapping->tables);
	mutex_unlock(&vm->pt_lock);
	if (!ret)
		mapping->active = true;
	mutex_unlock(&bo->mappings_lock);
	return ret;
}

static int grow_chunk(struct agate_device *adev, struct agate_mapping *mapping, u64 va)
{
	u64 offset = round_down(va - agate_mapping_va(mapping), AGATE_HEAP_CHUNK);
	u64 size = min_t(u64, AGATE_HEAP_CHUNK, mapping->size - offset);
	struct agate_runs runs;
	int ret;
	int idx;

	if (!drm_dev_enter(&adev->drm, &idx))
		return -ENODEV;
	ret = agate_backing_populate(mapping->vm_bo->bo, offset, size, &runs);
	if (!ret)
		ret = map_chunk(mapping, offset, runs);
	drm_dev_exit(idx);
	return ret;
}

/*
 * Only memory that a job listed may grow, and that job may end at any moment.  So
 * this function counts as one more user, which keeps the shrinker away from the
 * chunk until its entries exist.
 */
static int grow_heap(struct agate_device *adev, struct agate_mapping *mapping, u64 va)
{
	struct agate_bo *bo = mapping->vm_bo->bo;
	struct mem_cgroup *memcg;
	int ret;

	if (!agate_backing_is(bo, AGATE_BACKING_GROWS) || !atomic_inc_not_zero(&bo->gpu_users))
		return -EFAULT;
	/* The client that made the heap pays for the page tables, too. */
	memcg = set_active_memcg(bo->backing.memcg);
	ret = grow_chunk(adev, mapping, va);
	set_active_memcg(memcg);
	atomic_dec(&bo->gpu_users);
	return ret;
}

/* Find what the job listed at an address; the job keeps the mapping. */
static struct agate_mapping *find_listed(const struct agate_job *job, u64 va)
{
	unsigned int i;

	for (i = 0; i < job->bo_count; i++) {
		struct agate_mapping *mapping = job->bos[i].mapping;

		if (va - agate_mapping_va(mapping) < mapping->size)
			return mapping;
	}
	return NULL;
}

static int fault_serve(struct agate_device *adev, const struct agate_fault *fault)
{
	struct agate_mapping *mapping = NULL;

	if (is_translation_fault(fault) && agate_vm_faults(fault->job->vm)) {
		agate_fault_vm_note(fault->job, fault->va);
		return 0;
	}
	if (is_translation_fault(fault))
		mapping = find_listed(fault->job, fault->va);
	return mapping ? grow_heap(adev, mapping, fault->va) : -EFAULT;
}

/* The chain is not to blame for what the kernel does not have. */
static int fault_errno(const struct agate_fault *fault, int error)
{
	if (error == -ENOMEM)
		return error;
	return agate_exception_errno(AS_FAULTSTATUS_EXCEPTION(fault->status));
}

static void fault_report(struct agate_device *adev, const struct agate_fault *fault, int error)
{
	u32 exception = AS_FAULTSTATUS_EXCEPTION(fault->status);

	dev_err_ratelimited(&adev->pdev->dev,
			    "AS%u: %s at 0x%012llx: %s by %s, source 0x%x, code 0x%02x (%d)\n",
			    fault->as, agate_exception_name(exception), fault->va,
			    access_name(fault->status),
			    fault->status & AS_FAULTSTATUS_DECODER ? "decoder" : "slave",
			    AS_FAULTSTATUS_SOURCE_ID(fault->status), exception, error);
}

static void fault_handle(struct agate_device *adev, unsigned int as, u32 status)
{
	struct agate_fault fault = {
		.as = as,
		.bits = status & (MMU_INT_PAGE_FAULT(as) | MMU_INT_BUS_ERROR(as)),
	};
	int ret = -EFAULT;

	fault_take(adev, &fault);
	if (fault.job)
		ret = fault_serve(adev, &fault);
	if (ret && (fault.job || fault.stopped))
		fault_report(adev, &fault, ret);
	if (ret && fault.job)
		agate_slot_kill(fault.job, fault_errno(&fault, ret));
	if (fault.job)
		agate_job_put(fault.job);
}

/* Pending faults of the address spaces that are not known to be faulty. */
static u32 faults_pending(struct agate_device *adev)
{
	u32 spaces;

	spin_lock(&adev->mmu.lock);
	spaces = adev->mmu.present & ~adev->mmu.faulty;
	spin_unlock(&adev->mmu.lock);
	return gpu_read(adev, MMU_INT_RAWSTAT) & agate_as_irq_bits(spaces);
}

void agate_fault_serve(struct agate_device *adev)
{
	bool cookie = dma_fence_begin_signalling();
	unsigned int round;

	for (round = 0; round < MAX_ROUNDS; round++) {
		u32 status = faults_pending(adev);
		unsigned long spaces = (status | status >> 16) & GENMASK(AGATE_MAX_AS - 1, 0);
		unsigned int as;

		if (!spaces || agate_bus_lost(adev))
			break;
		for_each_set_bit(as, &spaces, AGATE_MAX_AS)
			fault_handle(adev, as, status);
	}
	dma_fence_end_signalling(cookie);
}

int agate_fault_topic_init(struct agate_device *adev)
{
	agate_irq_enable(adev, AGATE_VECTOR_MMU, agate_as_irq_bits(adev->mmu.present),
			 agate_fault_serve);
	return 0;
}

void agate_fault_topic_fini(struct agate_device *adev)
{
	agate_irq_enable(adev, AGATE_VECTOR_MMU, 0, NULL);
}

int agate_fault_topic_suspend(struct agate_device *adev)
{
	agate_irq_suspend(adev, AGATE_VECTOR_MMU);
	return 0;
}

int agate_fault_topic_resume(struct agate_device *adev)
{
	agate_irq_resume(adev, AGATE_VECTOR_MMU);
	return 0;
}
