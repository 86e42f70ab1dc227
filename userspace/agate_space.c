// SPDX-License-Identifier: MIT
/*
 * Address spaces whose owner chooses the addresses, as Mesa's drivers have them with the kernel
 * drivers Xe, nouveau and Panthor.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agate_bo.h"
#include "agate_space.h"

static bool flags_valid(uint32_t flags)
{
	if (flags & ~(uint32_t)(AGATE_VM_LONG_RUNNING | AGATE_VM_FAULT_MODE))
		return false;
	return !(flags & AGATE_VM_FAULT_MODE) || flags & AGATE_VM_LONG_RUNNING;
}

static bool device_knows(const struct agate_device *dev, uint32_t flags)
{
	if (flags & AGATE_VM_FAULT_MODE)
		return agate_device_serves_faults(dev);
	return flags ? agate_device_runs_long(dev) : agate_device_knows_vms(dev);
}

int agate_vm_create(struct agate_device *dev, uint32_t flags, struct agate_vm **out)
{
	struct drm_agate_vm_create arg = { .flags = flags };
	struct agate_vm *vm;
	int err;

	if (!flags_valid(flags))
		return -EINVAL;
	if (!device_knows(dev, flags))
		return -EOPNOTSUPP;
	vm = calloc(1, sizeof(*vm));
	if (!vm)
		return -ENOMEM;
	err = agate_ioctl(dev, DRM_IOCTL_AGATE_VM_CREATE, &arg);
	if (err) {
		free(vm);
		return err;
	}
	vm->dev = dev;
	vm->id = arg.vm_id;
	vm->start = arg.va_start;
	vm->end = arg.va_end;
	*out = vm;
	return 0;
}

/* Ignore an error: what is left of it goes when the file is closed. */
void agate_vm_destroy(struct agate_vm *vm)
{
	struct drm_agate_vm_destroy arg = { 0 };

	if (!vm)
		return;
	arg.vm_id = vm->id;
	agate_ioctl(vm->dev, DRM_IOCTL_AGATE_VM_DESTROY, &arg);
	free(vm);
}

struct agate_device *agate_vm_device(const struct agate_vm *vm)
{
	return vm->dev;
}

uint32_t agate_vm_id(const struct agate_vm *vm)
{
	return vm->id;
}

void agate_vm_range(const struct agate_vm *vm, uint64_t *start, uint64_t *end)
{
	*start = vm->start;
	*end = vm->end;
}

/* ---- Changes ----------------------------------------------------------- */

static struct drm_agate_vm_bind bind_args(const struct agate_vm *vm,
					  const struct agate_vm_bind *bind)
{
	return (struct drm_agate_vm_bind){
		.vm_id = vm->id,
		.op = bind->bo || bind->memory ? AGATE_VM_BIND_MAP : AGATE_VM_BIND_UNMAP,
		.flags = bind->flags | (bind->memory ? AGATE_VM_BIND_USERPTR : 0u),
		.handle = bind->bo ? bind->bo->handle : 0,
		.addr = bind->address,
		.range = bind->size,
		.offset = bind->memory ? (uintptr_t)bind->memory : bind->offset,
		.in_syncs = (uintptr_t)bind->in_syncs,
		.out_syncs = (uintptr_t)bind->out_syncs,
		.in_sync_count = bind->in_sync_count,
		.out_sync_count = bind->out_sync_count,
	};
}

/* The change signals one more sync object, which is @own. */
static int change_and_wait(struct agate_device *dev, struct drm_agate_vm_bind *arg, uint32_t own)
{
	const struct drm_agate_sync *given = (const void *)(uintptr_t)arg->out_syncs;
	const uint32_t count = arg->out_sync_count;
	struct drm_syncobj_wait wait = {
		.handles = (uintptr_t)&own, .count_handles = 1, .timeout_nsec = INT64_MAX,
	};
	struct drm_agate_sync *syncs;
	int err;

	syncs = calloc((size_t)count + 1, sizeof(*syncs));
	if (!syncs)
		return -ENOMEM;
	if (count)
		memcpy(syncs, given, count * sizeof(*syncs));
	syncs[count].handle = own;
	arg->out_syncs = (uintptr_t)syncs;
	arg->out_sync_count = count + 1;
	err = agate_ioctl(dev, DRM_IOCTL_AGATE_VM_BIND, arg);
	free(syncs);
	return err ? err : agate_ioctl(dev, DRM_IOCTL_SYNCOBJ_WAIT, &wait);
}

static int change_now(struct agate_device *dev, struct drm_agate_vm_bind *arg)
{
	struct drm_syncobj_create create = { 0 };
	struct drm_syncobj_destroy destroy = { 0 };
	int err = agate_ioctl(dev, DRM_IOCTL_SYNCOBJ_CREATE, &create);

	if (err)
		return err;
	err = change_and_wait(dev, arg, create.handle);
	destroy.handle = create.handle;
	agate_ioctl(dev, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy);
	return err;
}

static int change(struct agate_vm *vm, const struct agate_vm_bind *bind)
{
	/* A wait needs one more. */
	const uint32_t max_out = AGATE_SUBMIT_MAX_SYNCS - (bind->wait ? 1u : 0u);
	struct drm_agate_vm_bind arg = bind_args(vm, bind);

	if (bind->in_sync_count > AGATE_SUBMIT_MAX_SYNCS || bind->out_sync_count > max_out)
		return -EINVAL;
	return bind->wait ? change_now(vm->dev, &arg) :
			    agate_ioctl(vm->dev, DRM_IOCTL_AGATE_VM_BIND, &arg);
}

int agate_vm_bind(struct agate_vm *vm, const struct agate_vm_bind *bind)
{
	/* An unbind by mistake would be seen late. */
	if (!bind->bo == !bind->memory || (bind->memory && bind->offset))
		return -EINVAL;
	if (bind->flags & ~(uint32_t)(AGATE_VM_BIND_READONLY | AGATE_VM_BIND_NOEXEC))
		return -EINVAL;
	/* On this device its handle would be the name of another BO, or of none. */
	if (bind->bo && bind->bo->dev != vm->dev)
		return -EINVAL;
	if (bind->memory && !agate_device_binds_memory(vm->dev))
		return -EOPNOTSUPP;
	/*
	 * Before the call: another thread may submit as soon as the kernel knows of the
	 * binding, and wait for the BO.
	 */
	if (bind->bo)
		agate_bo_mark_bound(bind->bo);
	return change(vm, bind);
}

int agate_vm_unbind(struct agate_vm *vm, const struct agate_vm_bind *bind)
{
	if (bind->bo || bind->memory || bind->offset || bind->flags)
		return -EINVAL;
	return change(vm, bind);
}

int agate_vm_submit(struct agate_vm *vm, const struct agate_submit *submit)
{
	return submit->bo_count ? -EINVAL : agate_submit_in(vm->dev, vm->id, submit);
}
