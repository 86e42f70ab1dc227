// SPDX-License-Identifier: GPL-2.0-only
/*
 * The placed backing: see agate_placed.h.
 */
#include <linux/dma-resv.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <drm/drm_drv.h>
#include <drm/drm_gem.h>

#include "agate_backing.h"
#include "agate_card.h"
#include "agate_device.h"
#include "agate_evict.h"
#include "agate_exec.h"
#include "agate_gem.h"
#include "agate_placed.h"
#include "agate_placement.h"
#include "agate_private.h"
#include "agate_residency.h"
#include "agate_tt.h"
#include "agate_ttm.h"
#include "agate_vm.h"
#include "agate_vm_ioctl.h"

static struct agate_device *adev_of(const struct agate_bo *bo)
{
	return to_agate_device(bo->base.dev);
}

/* ---- The backing ------------------------------------------------------- */

int agate_placed_contents(struct agate_ttm_bo *bo)
{
	int status = bo->moved ? dma_fence_get_status(bo->moved) : 0;

	if (status == -ENODEV)
		return status;
	return bo->lost || status < 0 ? -EIO : 0;
}

static int placed_validate(struct agate_bo *bo, struct agate_exec *exec)
{
	struct agate_ttm_ctx ctx = { .exec = exec, .interruptible = true };
	struct agate_place places[AGATE_MAX_PLACES];
	unsigned int count;
	int ret;

	ret = agate_placed_contents(&bo->ttm);
	if (ret)
		return ret;
	/* While somebody has pinned it, jobs use it there. */
	count = agate_places(&bo->ttm, &adev_of(bo)->ttm.man[AGATE_MEM_VRAM],
			     bo->ttm.pins ? AGATE_USE_PIN_HERE : AGATE_USE_VALIDATE, places);
	agate_residency_expect(&bo->ttm, AGATE_CAUSE_VALIDATE);
	do {
		ret = agate_ttm_validate(&bo->ttm, places, count, &ctx);
		if (ret != -ENOSPC)
			break;
		ret = agate_private_make_room(&bo->ttm, &places[count - 1], &ctx);
	} while (!ret);
	if (!ret)
		agate_ttm_bump(&bo->ttm);
	return ret;
}

int agate_placed_wait(struct agate_ttm_bo *bo)
{
	int ret = bo->moved ? dma_fence_wait(bo->moved, true) : 0;

	return ret ? ret : agate_placed_contents(bo);
}

/*
 * A job that did not list the BO may run in the same address space, and would see what was in
 * the memory before: so no entry of a page table leads there until the move has ended.
 */
static int placed_populate(struct agate_bo *bo, u64 offset, u64 size, struct agate_runs *runs)
{
	const struct agate_resource *res = bo->ttm.res;
	int ret;

	dma_resv_assert_held(bo->base.resv);

	if (offset >= agate_bo_size(bo) || size > agate_bo_size(bo) - offset)
		return -EINVAL;
	ret = agate_placed_wait(&bo->ttm);
	if (ret)
		return ret;
	switch (res ? res->type : AGATE_MEM_SYSTEM) {
	case AGATE_MEM_VRAM:
		*runs = (struct agate_runs){
			.addr = AGATE_PHYS_VRAM + res->start + offset, .left = size,
		};
		return 0;
	case AGATE_MEM_TT:
		*runs = (struct agate_runs){
			.sg = bo->ttm.tt->sgt.sgl, .skip = offset, .left = size,
		};
		return 0;
	default:
		WARN_ON(1);
		return -EFAULT;
	}
}

static vm_fault_t insert_page(struct agate_bo *bo, struct vm_fault *vmf, unsigned long index)
{
	struct agate_resource *res = bo->ttm.res;
	unsigned long pfn;
	vm_fault_t ret;
	int idx;

	/* One count stands for all VMAs, until agate_placed_io_free(). */
	if (!bo->ttm.cpu_maps && agate_io_reserve(res))
		return VM_FAULT_SIGBUS;
	bo->ttm.cpu_maps = true;
	if (!res->io.iomem) {
		pfn = page_to_pfn(bo->ttm.tt->pages[index]);
		return vmf_insert_pfn(vmf->vma, vmf->address, pfn);
	}
	/* BAR2 may be somebody else's when the device is unplugged. */
	if (!drm_dev_enter(bo->base.dev, &idx))
		return VM_FAULT_SIGBUS;
	ret = vmf_insert_pfn(vmf->vma, vmf->address, PHYS_PFN(res->io.base) + index);
	drm_dev_exit(idx);
	return ret;
}

static bool is_present(const struct agate_ttm_bo *bo)
{
	if (!bo->res)
		return false;
	return bo->res->type == AGATE_MEM_VRAM || (bo->tt && agate_tt_has_pages(bo->tt));
}

int agate_placed_present(struct agate_bo *bo, struct agate_exec *exec)
{
	struct agate_ttm_ctx ctx = { .exec = exec, .interruptible = true };
	const struct agate_place system = { .type = AGATE_MEM_SYSTEM };
	int ret;

	if (is_present(&bo->ttm))
		return 0;
	ret = agate_placed_make_present(&bo->ttm, &ctx);
	if (ret || bo->ttm.res)
		return ret;
	ret = agate_resource_try(&adev_of(bo)->ttm, &bo->ttm, bo->ttm.size, &system, 1,
				 &bo->ttm.res);
	if (ret)
		return ret;
	agate_residency_expect(&bo->ttm, AGATE_CAUSE_FAULT);
	agate_residency_moved(&bo->ttm);
	return 0;
}

/* The mover may still be writing the BO: wait for it. */
static vm_fault_t fault_locked(struct agate_bo *bo, struct vm_fault *vmf, unsigned long index)
{
	int ret = min(dma_resv_wait_timeout(bo->base.resv, DMA_RESV_USAGE_KERNEL, true,
					    MAX_SCHEDULE_TIMEOUT), 0L);

	if (ret == -ERESTARTSYS)
		return VM_FAULT_NOPAGE;
	if (!ret)
		ret = agate_placed_contents(&bo->ttm);
	return ret ? VM_FAULT_SIGBUS : insert_page(bo, vmf, index);
}

/*
 * From here on the VMA may go, and with it the last user of a BO, and the last file of a device
 * that has gone.  The file keeps the device and this module until let_go_of_file().
 */
static struct file *let_go_of_mm(struct agate_bo *bo, struct vm_fault *vmf)
{
	struct file *file = get_file(vmf->vma->vm_file);

	drm_gem_object_get(&bo->base);
	mmap_read_unlock(vmf->vma->vm_mm);
	return file;
}

static vm_fault_t let_go_of_file(struct agate_bo *bo, struct file *file)
{
	drm_gem_object_put(&bo->base);
	fput(file);
	return VM_FAULT_RETRY;
}

/* Without mmap_lock.  Then the CPU touches the page again, and learns what went wrong. */
static vm_fault_t present_unlocked(struct agate_bo *bo, struct vm_fault *vmf)
{
	struct agate_exec exec;
	struct file *file;
	int ret;

	if (vmf->flags & FAULT_FLAG_RETRY_NOWAIT)
		return VM_FAULT_RETRY;
	file = let_go_of_mm(bo, vmf);
	agate_exec_init(&exec, AGATE_EXEC_INTERRUPTIBLE);
	do {
		ret = agate_exec_lock(&exec, &bo->base);
		if (!ret)
			ret = agate_placed_present(bo, &exec);
	} while (agate_exec_retry(&exec, &ret));
	agate_exec_fini(&exec);
	return let_go_of_file(bo, file);
}

/*
 * A BO that nobody has used yet, or that was swapped, gets pages: a fault moves nothing.  Others
 * may have to be swapped for it, and their users waited for, without mmap_lock where the core
 * allows that.  The second time the page is inserted before the BO can be swapped again.
 */
static vm_fault_t fault_present(struct agate_bo *bo, struct vm_fault *vmf, unsigned long index)
{
	vm_fault_t fault = VM_FAULT_NOPAGE;
	struct agate_exec exec;
	int ret;

	if (fault_flag_allow_retry_first(vmf->flags))
		return present_unlocked(bo, vmf);
	agate_exec_init(&exec, AGATE_EXEC_INTERRUPTIBLE);
	do {
		ret = agate_exec_lock(&exec, &bo->base);
		if (!ret)
			ret = agate_placed_present(bo, &exec);
		if (!ret)
			fault = fault_locked(bo, vmf, index);
	} while (agate_exec_retry(&exec, &ret));
	agate_exec_fini(&exec);
	return ret && ret != -EINTR && ret != -ERESTARTSYS ? VM_FAULT_SIGBUS : fault;
}

/*
 * mmap_lock is outside of reservations, but their holders may wait for this process: so wait
 * for one without mmap_lock where the core allows that.
 */
static vm_fault_t placed_fault(struct agate_bo *bo, struct vm_fault *vmf, unsigned long index)
{
	struct dma_resv *resv = bo->base.resv;
	struct file *file;
	vm_fault_t ret;

	if (index >= agate_bo_size(bo) >> PAGE_SHIFT)
		return VM_FAULT_SIGBUS;
	if (!dma_resv_trylock(resv)) {
		if (fault_flag_allow_retry_first(vmf->flags)) {
			if (vmf->flags & FAULT_FLAG_RETRY_NOWAIT)
				return VM_FAULT_RETRY;
			file = let_go_of_mm(bo, vmf);
			if (!dma_resv_lock_interruptible(resv, NULL))
				dma_resv_unlock(resv);
			return let_go_of_file(bo, file);
		}
		if (dma_resv_lock_interruptible(resv, NULL))
			return VM_FAULT_NOPAGE;
	}
	if (!is_present(&bo->ttm)) {
		dma_resv_unlock(resv);
		return fault_present(bo, vmf, index);
	}
	ret = fault_locked(bo, vmf, index);
	dma_resv_unlock(resv);
	return ret;
}

/* The whole BO has one caching mode, wherever it is. */
static int placed_mmap(struct agate_bo *bo, struct vm_area_struct *vma)
{
	vma->vm_page_prot = agate_caching_prot(bo->ttm.caching, vma->vm_page_prot);
	return 0;
}

/* agate_tt_unbind_all() has done that, also for pages that no BO has any more. */
static void placed_detach(struct agate_bo *bo)
{
}

static void placed_release(struct agate_bo *bo)
{
	WARN_ON(bo->ttm.kmap_users);
	agate_placed_io_free(&bo->ttm);
	agate_ttm_release(&bo->ttm);
	agate_residency_gone(&bo->ttm, AGATE_NOWHERE, AGATE_CAUSE_FREE);
	dma_fence_put(bo->ttm.moved);
	/* The reservation goes with the root. */
	bo->base.resv = &bo->base._resv;
	if (bo->ttm.root)
		drm_gem_object_put(bo->ttm.root);
}

const struct agate_backing_ops agate_placed_backing = {
	.flags = AGATE_BACKING_CPU_VISIBLE | AGATE_BACKING_EXPORTABLE,
	.validate = placed_validate,
	.populate = placed_populate,
	.fault = placed_fault,
	.access = agate_placed_access,
	.mmap = placed_mmap,
	.pin = agate_placed_pin_shared,
	.unpin = agate_placed_unpin_shared,
	.get_sg_table = agate_placed_get_sg_table,
	.vmap = agate_placed_vmap,
	.vunmap = agate_placed_vunmap,
	.detach = placed_detach,
	.release = placed_release,
};

const struct agate_backing_ops agate_hidden_backing = {
	.flags = AGATE_BACKING_EXPORTABLE,
	.validate = placed_validate,
	.populate = placed_populate,
	.pin = agate_placed_pin_shared,
	.unpin = agate_placed_unpin_shared,
	.get_sg_table = agate_placed_get_sg_table,
	.vmap = agate_placed_vmap,
	.vunmap = agate_placed_vunmap,
	.detach = placed_detach,
	.release = placed_release,
};

/* ---- CREATE_BO --------------------------------------------------------- */

#define PLACED_FLAGS	(AGATE_BO_NOEXEC | AGATE_BO_CPU_READONLY | AGATE_BO_GPU_READONLY | \
			 AGATE_BO_CPU_VISIBLE | AGATE_BO_POPULATE | AGATE_BO_NO_VA)
#define REGIONS		(BIT(DRM_AGATE_REGION_SYSTEM) | BIT(DRM_AGATE_REGION_VRAM))

static bool args_valid(const struct drm_agate_create_bo *args)
{
	if (args->flags & ~PLACED_FLAGS || args->placement & ~REGIONS || args->pad)
		return false;
	if (args->caching > AGATE_CACHING_UC)
		return false;
	return !(args->placement & BIT(DRM_AGATE_REGION_VRAM)) ||
	       args->caching == AGATE_CACHING_WC;
}

/* The driver's flags for a BO: CPU_VISIBLE says whether the CPUs may map it at all. */
static u32 driver_flags(const struct drm_agate_create_bo *args)
{
	u32 flags = args->flags | AGATE_BO_PLACED;

	if (args->placement == BIT(DRM_AGATE_REGION_SYSTEM))
		flags |= AGATE_BO_CPU_VISIBLE;
	return flags;
}

static u64 aligned_size(const struct agate_device *adev, const struct drm_agate_create_bo *args)
{
	bool vram = args->placement & BIT(DRM_AGATE_REGION_VRAM);

	return ALIGN(args->size, vram ? adev->card.min_align : PAGE_SIZE);
}

/* Memory now, which may make others leave. */
static int populate_now(struct agate_bo *bo)
{
	struct agate_exec exec;
	int ret;

	agate_exec_init(&exec, AGATE_EXEC_INTERRUPTIBLE);
	do {
		ret = agate_exec_lock(&exec, &bo->base);
		if (!ret)
			ret = placed_validate(bo, &exec);
	} while (agate_exec_retry(&exec, &ret));
	agate_exec_fini(&exec);
	return ret;
}

static int publish(struct agate_bo *bo, struct drm_agate_create_bo *args, struct drm_file *file)
{
	struct agate_mapping *mapping;
	int ret = drm_gem_handle_create(file, &bo->base, &args->handle);

	if (ret)
		return ret;
	args->offset = 0;
	if (bo->flags & AGATE_BO_NO_VA)
		return 0;
	mapping = agate_vm_find(to_agate_file(file)->vm, bo);
	if (!mapping)
		return -EINVAL;
	args->offset = agate_mapping_va(mapping);
	agate_mapping_put(mapping);
	return 0;
}

/* A BO that is larger than the card's memory alone never gets there, whoever leaves. */
static bool fits_when_alone(const struct agate_device *adev,
			    const struct drm_agate_create_bo *args)
{
	const struct agate_man *vram = &adev->ttm.man[AGATE_MEM_VRAM];

	if (args->placement != BIT(DRM_AGATE_REGION_VRAM))
		return true;
	return args->size <= (args->flags & AGATE_BO_CPU_VISIBLE ? vram->visible : vram->size);
}

/* Nobody else knows the BO yet. */
static void make_private(struct agate_bo *bo, struct agate_vm *vm)
{
	bo->ttm.root = vm->bound.root;
	drm_gem_object_get(bo->ttm.root);
	bo->base.resv = bo->ttm.root->resv;
}

static struct agate_bo *create(struct agate_device *adev, const struct drm_agate_create_bo *args,
			       struct agate_vm *vm)
{
	u32 flags = driver_flags(args) | (vm ? AGATE_BO_NO_VA : 0) |
		    (vm && agate_vm_is_long(vm) ? AGATE_BO_LONG : 0);
	struct agate_bo *bo;
	int ret = 0;

	bo = agate_gem_create(adev, aligned_size(adev, args), flags);
	if (IS_ERR(bo))
		return bo;
	agate_residency_begin(&bo->ttm);
	bo->ttm.size = agate_bo_size(bo);
	bo->ttm.caching = args->caching;
	bo->ttm.visible = args->flags & AGATE_BO_CPU_VISIBLE;
	bo->ttm.placement = args->placement;
	if (vm)
		make_private(bo, vm);
	if (args->flags & AGATE_BO_POPULATE)
		ret = populate_now(bo);
	if (!ret)
		return bo;
	agate_bo_put(bo);
	return ERR_PTR(ret);
}

/* Removal waits for this, and stops the mover then. */
static struct agate_bo *enter_and_create(struct agate_device *adev,
					 const struct drm_agate_create_bo *args,
					 struct agate_vm *vm)
{
	struct agate_bo *bo = ERR_PTR(-EOPNOTSUPP);
	int idx;

	if (!drm_dev_enter(&adev->drm, &idx))
		return ERR_PTR(-ENODEV);
	if (agate_topic_present(adev, AGATE_FEATURE_ENGINES))
		bo = fits_when_alone(adev, args) ? create(adev, args, vm) : ERR_PTR(-EINVAL);
	drm_dev_exit(idx);
	return bo;
}

int agate_placed_create_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct drm_agate_create_bo *args = data;
	struct agate_vm *vm = NULL;
	struct agate_bo *bo;
	int ret;

	if (!args_valid(args) || args->size > AGATE_BO_MAX_SIZE)
		return -EINVAL;
	if (args->vm_id) {
		vm = agate_vm_lookup(to_agate_file(file), args->vm_id);
		if (!vm)
			return -ENOENT;
	}
	bo = enter_and_create(to_agate_device(dev), args, vm);
	if (vm)
		agate_vm_put(vm);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	ret = publish(bo, args, file);
	agate_bo_put(bo);
	return ret;
}
