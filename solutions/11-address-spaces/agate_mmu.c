// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hardware address spaces: lend them out, reuse them, and keep them up to date with
 * the page tables.
 *
 * An address space takes one command at a time, so before each command the driver polls
 * AS_ACTIVE, unless it has seen the end of the last one.  The registers take effect at
 * UPDATE; a changed table takes effect when its range is locked and flushed.  A GPU that
 * stays active for too long hangs: the driver schedules a reset, and frees nothing that the
 * GPU might still reach before the reset.
 */
#include <linux/bitops.h>
#include <linux/minmax.h>

#include "agate_backing.h"
#include "agate_device.h"
#include "agate_mmu.h"
#include "agate_pgtable.h"
#include "agate_regs.h"
#include "agate_reset.h"
#include "agate_table.h"
#include "agate_vm.h"

#define WHOLE_SPACE	U64_MAX

/* ---- The two formats --------------------------------------------------- */

/**
 * struct agate_as_layout - a table format, and the register values that select it
 * @format: entries
 * @transtab: TRANSTAB without the table's address
 * @memattr: MEMATTR: eight kinds of memory, one byte each; a leaf's attribute index
 *	chooses one.  AGATE_PT_ATTR_SHARED is 0x88 in both layouts: outer
 *	implementation-defined policy
 * @transcfg: TRANSCFG
 * @transcfg_unmapped: TRANSCFG of an address space that maps nothing; TRANSTAB
 *	and MEMATTR are 0 then
 */
struct agate_as_layout {
	const struct agate_pgtable_format *format;
	u64 transtab;
	u64 memattr;
	u64 transcfg;
	u64 transcfg_unmapped;
};

/* Both layouts use kbase's memory attributes. */
static const struct agate_as_layout layout_lpae = {
	.format = &agate_pgtable_lpae,
	.transtab = AS_TRANSTAB_LPAE_ADRMODE_TABLE | AS_TRANSTAB_LPAE_READ_INNER |
		    AS_TRANSTAB_LPAE_SHARE_OUTER,
	.memattr = 0x0000008d884d4f48ull,
	.transcfg = AS_TRANSCFG_MODE_LEGACY,
	/* Mode 0 in TRANSTAB means unmapped. */
	.transcfg_unmapped = AS_TRANSCFG_MODE_LEGACY,
};

static const struct agate_as_layout layout_aarch64 = {
	.format = &agate_pgtable_aarch64,
	.memattr = 0x00004c8d888d8f88ull,
	.transcfg = AS_TRANSCFG_MODE_AARCH64_4K | AS_TRANSCFG_PTW_MEMATTR_WB |
		    AS_TRANSCFG_PTW_SH_OS | AS_TRANSCFG_R_ALLOCATE,
	.transcfg_unmapped = AS_TRANSCFG_MODE_UNMAPPED,
};

/*
 * Bifrost's product numbers start at 0x6000.  All Midgard products are below that,
 * except the first one, 0x6956.
 */
static const struct agate_as_layout *layout_of(u32 gpu_id)
{
	u32 product = gpu_id >> 16;

	return product >= 0x6000 && product != 0x6956 ? &layout_aarch64 : &layout_lpae;
}

/* ---- Commands --------------------------------------------------------- */

static int as_wait(struct agate_device *adev, unsigned int n)
{
	int ret;

	lockdep_assert_held(&adev->mmu.lock);

	if (!(adev->mmu.active & BIT(n)))
		return 0;
	ret = gpu_poll(adev, AS_STATUS(n), AS_STATUS_AS_ACTIVE, 0);
	if (!ret)
		adev->mmu.active &= ~BIT(n);
	if (ret == -ETIMEDOUT) {
		dev_err_ratelimited(&adev->pdev->dev, "AS%u does not finish its command\n", n);
		agate_reset_schedule(adev);
	}
	return ret ? -EIO : 0;
}

/* Write registers of an address space; the last one is its command. */
static int as_write(struct agate_device *adev, unsigned int n,
		    const struct agate_reg_write *writes, unsigned int count)
{
	int ret = as_wait(adev, n);

	if (ret)
		return ret;
	gpu_write_list(adev, writes, count);
	adev->mmu.active |= BIT(n);
	return 0;
}

static int as_command(struct agate_device *adev, unsigned int n, u32 command)
{
	const struct agate_reg_write write = { AS_COMMAND(n), command };

	return as_write(adev, n, &write, 1);
}

/*
 * Encode the smallest naturally aligned block of 2^(width + 1) bytes that covers
 * [first, last]: the highest bit in which first and last differ determines its
 * size.
 */
static u64 lock_region(u64 first, u64 last)
{
	unsigned int width = max(fls64(first ^ last), AS_LOCK_MIN_ORDER) - 1;

	return (first & GENMASK_ULL(63, width)) | width;
}

static int as_lock(struct agate_device *adev, unsigned int n, u64 region)
{
	const struct agate_reg_write writes[] = {
		agate_write_lo(AS_LOCKADDR_LO(n), region),
		agate_write_hi(AS_LOCKADDR_LO(n), region),
		{ AS_COMMAND(n), AS_COMMAND_LOCK },
	};
	int ret = as_write(adev, n, writes, ARRAY_SIZE(writes));

	if (!ret)
		adev->mmu.locked |= BIT(n);
	return ret;
}

/* When this returns 0, every access to the region waits. */
static int as_lock_now(struct agate_device *adev, unsigned int n, u64 region)
{
	int ret = as_lock(adev, n, region);

	if (!ret)
		ret = as_wait(adev, n);
	if (ret)
		adev->mmu.locked &= ~BIT(n);
	return ret;
}

/* End a lock, by UNLOCK or by a flush of the locked region. */
static int as_unlock(struct agate_device *adev, unsigned int n, u32 command)
{
	int ret;

	lockdep_assert_held(&adev->mmu.lock);

	adev->mmu.locked &= ~BIT(n);
	ret = as_command(adev, n, command);
	return ret ? ret : as_wait(adev, n);
}

static int as_flush(struct agate_device *adev, unsigned int n, u64 first, u64 last, u32 command)
{
	int ret = as_lock(adev, n, lock_region(first, last));

	return ret ? ret : as_unlock(adev, n, command);
}

static int as_update(struct agate_device *adev, unsigned int n, u64 transtab, u64 memattr,
		     u64 transcfg)
{
	const struct agate_reg_write writes[] = {
		agate_write_lo(AS_TRANSTAB_LO(n), transtab),
		agate_write_hi(AS_TRANSTAB_LO(n), transtab),
		agate_write_lo(AS_MEMATTR_LO(n), memattr),
		agate_write_hi(AS_MEMATTR_LO(n), memattr),
		agate_write_lo(AS_TRANSCFG_LO(n), transcfg),
		agate_write_hi(AS_TRANSCFG_LO(n), transcfg),
		{ AS_COMMAND(n), AS_COMMAND_UPDATE },
	};
	int ret = as_write(adev, n, writes, ARRAY_SIZE(writes));

	return ret ? ret : as_wait(adev, n);
}

/*
 * Nothing has to be flushed: UPDATE drops the whole TLB, and every chain of the previous user
 * cleaned the L2 when it ended, however it ended, and invalidated it if it can hold stale
 * lines (agate_coherency.h).  UPDATE does not end the
 * previous user's lock.  The caller's chain starts after this: a region of its own table
 * whose entries change is locked by then.
 */
static int as_enable(struct agate_device *adev, unsigned int n, const struct agate_as *as)
{
	const struct agate_as_layout *layout = adev->mmu.layout;
	int ret = 0;

	if (adev->mmu.locked & BIT(n))
		ret = as_unlock(adev, n, AS_COMMAND_UNLOCK);
	if (!ret)
		ret = as_update(adev, n, as->pgt.root->phys | layout->transtab, layout->memattr,
				layout->transcfg);
	if (!ret && as->locked)
		ret = as_lock_now(adev, n, as->lockaddr);
	return ret;
}

static int as_disable(struct agate_device *adev, unsigned int n)
{
	int ret = as_flush(adev, n, 0, WHOLE_SPACE, AS_COMMAND_FLUSH_MEM);

	if (ret)
		return ret;
	return as_update(adev, n, 0, 0, adev->mmu.layout->transcfg_unmapped);
}

static void mmu_set_irq_mask(struct agate_device *adev)
{
	lockdep_assert_held(&adev->mmu.lock);

	agate_irq_set_mask(adev, AGATE_VECTOR_MMU,
			   agate_as_irq_bits(adev->mmu.present & ~adev->mmu.faulty));
}

/* ---- Lending ---------------------------------------------------------- */

/* Choose a free address space, or the one that has been idle longest. */
static int as_choose(struct agate_mmu *mmu)
{
	u32 idle = mmu->present & ~mmu->taken;
	struct agate_as *as;

	lockdep_assert_held(&mmu->lock);

	if (idle)
		return __ffs(idle);
	list_for_each_entry_reverse(as, &mmu->lru, link) {
		int number = as->number;

		if (as->users)
			continue;
		as->number = -1;
		list_del_init(&as->link);
		return number;
	}
	return -EBUSY;
}

/*
 * Put a table into a hardware address space.  A latched fault belongs to the
 * previous user, so clear it before the new user can cause one.
 */
static int as_install(struct agate_device *adev, struct agate_as *as, unsigned int n)
{
	struct agate_mmu *mmu = &adev->mmu;
	int ret;

	lockdep_assert_held(&mmu->lock);

	gpu_write(adev, MMU_INT_CLEAR, agate_as_irq_bits(BIT(n)));
	ret = as_enable(adev, n, as);
	if (ret) {
		/* Keep a place that it already had: a chain may still use it. */
		if (as->number < 0)
			mmu->taken &= ~BIT(n);
		return ret;
	}
	mmu->taken |= BIT(n);
	as->number = n;
	if (mmu->faulty & BIT(n)) {
		mmu->faulty &= ~BIT(n);
		mmu_set_irq_mask(adev);
	}
	return 0;
}

int agate_mmu_as_get(struct agate_vm *vm)
{
	struct agate_device *adev = vm->adev;
	struct agate_mmu *mmu = &adev->mmu;
	struct agate_as *as = &vm->as;
	int ret = 0;

	spin_lock(&mmu->lock);
	if (as->number < 0) {
		ret = as_choose(mmu);
		if (ret >= 0)
			ret = as_install(adev, as, ret);
	} else if (mmu->faulty & BIT(as->number)) {
		ret = as_install(adev, as, as->number);
	}
	if (!ret) {
		list_move(&as->link, &mmu->lru);
		as->users++;
		agate_stat_inc(&adev->stats, AGATE_STAT_AS_REFS);
		ret = as->number;
	}
	spin_unlock(&mmu->lock);
	return ret;
}

void agate_mmu_as_put(struct agate_vm *vm)
{
	struct agate_device *adev = vm->adev;

	spin_lock(&adev->mmu.lock);
	vm->as.users--;
	agate_stat_dec(&adev->stats, AGATE_STAT_AS_REFS);
	spin_unlock(&adev->mmu.lock);
}

bool agate_mmu_is_at(const struct agate_vm *vm, unsigned int number)
{
	lockdep_assert_held(&vm->adev->mmu.lock);

	return vm->as.number == (int)number;
}

bool agate_mmu_disable_faulty(struct agate_device *adev, unsigned int number)
{
	lockdep_assert_held(&adev->mmu.lock);

	if (!(adev->mmu.taken & BIT(number)))
		return false;
	adev->mmu.faulty |= BIT(number);
	mmu_set_irq_mask(adev);
	as_disable(adev, number);
	return true;
}

/*
 * Take mmu.lock when no reset is under way.  All others who take it run a job or serve a fault,
 * and a reset has stopped them.
 */
static void mmu_lock(struct agate_mmu *mmu)
	__acquires(&mmu->lock)
{
	spin_lock(&mmu->lock);
	while (mmu->resetting) {
		spin_unlock(&mmu->lock);
		wait_event(mmu->reset_over, !READ_ONCE(mmu->resetting));
		spin_lock(&mmu->lock);
	}
}

void agate_mmu_reset_begin(struct agate_device *adev)
{
	spin_lock(&adev->mmu.lock);
	WRITE_ONCE(adev->mmu.resetting, true);
	spin_unlock(&adev->mmu.lock);
}

void agate_mmu_reset(struct agate_device *adev)
{
	struct agate_mmu *mmu = &adev->mmu;
	struct agate_as *as;
	struct agate_as *next;

	spin_lock(&mmu->lock);
	list_for_each_entry_safe(as, next, &mmu->lru, link) {
		as->number = -1;
		list_del_init(&as->link);
	}
	mmu->taken = 0;
	mmu->active = 0;
	mmu->locked = 0;
	mmu->faulty = 0;
	mmu_set_irq_mask(adev);
	WRITE_ONCE(mmu->resetting, false);
	spin_unlock(&mmu->lock);
	wake_up_all(&mmu->reset_over);
}

/* ---- Tables ----------------------------------------------------------- */

int agate_mmu_vm_init(struct agate_vm *vm)
{
	vm->as.number = -1;
	INIT_LIST_HEAD(&vm->as.link);
	INIT_LIST_HEAD(&vm->as.limbo);
	return agate_pgtable_init(&vm->as.pgt, vm->adev->mmu.layout->format, &agate_table_mem,
				  vm);
}

int agate_mmu_vm_leave(struct agate_vm *vm)
{
	struct agate_device *adev = vm->adev;
	struct agate_as *as = &vm->as;
	int ret = 0;

	mmu_lock(&adev->mmu);
	if (as->number >= 0) {
		ret = as_disable(adev, as->number);
		adev->mmu.taken &= ~BIT(as->number);
		list_del_init(&as->link);
		as->number = -1;
	}
	spin_unlock(&adev->mmu.lock);
	return ret;
}

void agate_mmu_vm_fini(struct agate_vm *vm)
{
	agate_pgtable_free_list(&vm->as.pgt, &vm->as.limbo);
	agate_pgtable_fini(&vm->as.pgt);
}

int agate_mmu_flush(struct agate_vm *vm, u64 va, u64 size, u32 command)
{
	struct agate_device *adev = vm->adev;
	int ret = 0;

	mmu_lock(&adev->mmu);
	if (vm->as.number >= 0)
		ret = as_flush(adev, vm->as.number, va, va + size - 1, command);
	spin_unlock(&adev->mmu.lock);
	return ret;
}

int agate_mmu_lock_region(struct agate_vm *vm, u64 va, u64 size)
{
	struct agate_device *adev = vm->adev;
	struct agate_as *as = &vm->as;
	int ret = 0;

	mmu_lock(&adev->mmu);
	as->locked = true;
	as->lockaddr = lock_region(va, va + size - 1);
	if (as->number >= 0)
		ret = as_lock_now(adev, as->number, as->lockaddr);
	spin_unlock(&adev->mmu.lock);
	return ret;
}

/*
 * A place in which nothing is locked now did not take the LOCK, or has had an UPDATE since:
 * then it is disabled, and has forgotten everything.
 */
int agate_mmu_unlock_region(struct agate_vm *vm, u32 command)
{
	struct agate_device *adev = vm->adev;
	struct agate_as *as = &vm->as;
	int ret = 0;

	mmu_lock(&adev->mmu);
	as->locked = false;
	if (as->number >= 0 && (adev->mmu.locked & BIT(as->number)))
		ret = as_unlock(adev, as->number, command);
	spin_unlock(&adev->mmu.lock);
	return ret;
}

int agate_mmu_unmap(struct agate_vm *vm, u64 va, u64 size)
{
	LIST_HEAD(gone);
	int locked, ret;

	lockdep_assert_held(&vm->pt_lock);

	locked = agate_mmu_lock_region(vm, va, size);
	ret = agate_pgtable_unmap(&vm->as.pgt, va, size, &gone);
	if (ret) {
		agate_mmu_unlock_region(vm, AS_COMMAND_UNLOCK);
		return ret;
	}
	ret = agate_mmu_unlock_region(vm, AS_COMMAND_FLUSH_MEM);
	if (locked || ret)
		list_splice(&gone, &vm->as.limbo);
	else
		agate_pgtable_free_list(&vm->as.pgt, &gone);
	return locked ? locked : ret;
}

/* Map all runs; after a failure *@next is the end of what is mapped. */
static int map_each(struct agate_vm *vm, u64 *next, struct agate_runs *runs, u32 prot)
{
	struct agate_run run;
	int ret;

	while (agate_runs_next(runs, &run)) {
		ret = agate_pgtable_map(&vm->as.pgt, *next, run.addr, run.size, prot);
		if (ret)
			return ret;
		*next += run.size;
	}
	return 0;
}

int agate_mmu_map_runs(struct agate_vm *vm, u64 va, struct agate_runs runs, u32 prot,
		       struct agate_table_reserve *reserve)
{
	u64 next = va;
	int ret;

	lockdep_assert_held(&vm->pt_lock);

	vm->as.reserve = reserve;
	ret = map_each(vm, &next, &runs, prot);
	vm->as.reserve = NULL;
	if (ret) {
		if (next > va)
			agate_mmu_unmap(vm, va, next - va);
		return ret;
	}
	/* Ignore a GPU that does not answer: after its reset it sees the new entries. */
	agate_mmu_flush(vm, va, next - va, AS_COMMAND_FLUSH_PT);
	return 0;
}

/* ---- Topic ------------------------------------------------------------ */

int agate_mmu_topic_init(struct agate_device *adev)
{
	struct agate_mmu *mmu = &adev->mmu;

	spin_lock_init(&mmu->lock);
	mmu->resetting = false;
	init_waitqueue_head(&mmu->reset_over);
	mmu->layout = layout_of(adev->id.gpu_id);
	mmu->present = adev->id.as_present & GENMASK(AGATE_MAX_AS - 1, 0);
	mmu->taken = 0;
	mmu->active = 0;
	mmu->locked = 0;
	mmu->faulty = 0;
	INIT_LIST_HEAD(&mmu->lru);
	INIT_LIST_HEAD(&mmu->tables);
	return mmu->present ? 0 : -ENODEV;
}

void agate_mmu_topic_fini(struct agate_device *adev)
{
	struct agate_mmu *mmu = &adev->mmu;
	struct agate_as *as;

	spin_lock(&mmu->lock);
	list_for_each_entry(as, &mmu->lru, link)
		as_disable(adev, as->number);
	spin_unlock(&mmu->lock);
	agate_mmu_reset(adev);
	agate_table_unmap_all(adev);
}

int agate_mmu_topic_suspend(struct agate_device *adev)
{
	agate_mmu_reset(adev);
	return 0;
}
