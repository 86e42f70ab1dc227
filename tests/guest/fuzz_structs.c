// SPDX-License-Identifier: MIT
/* All calls, their fields, and what agate_drm.h says about errors. */
#include "fuzz.h"

#include <fcntl.h>

#define COUNT_OF(array)		(sizeof(array) / sizeof((array)[0]))
#define E(name)			(1ull << (name))
/* Each call may find a bad pointer to its struct, a signal, or no memory. */
#define ALWAYS			(E(EFAULT) | E(EINTR) | E(ENOMEM))
#define ABSENT			(1ull << 63)
#define WAIT_TOO_LONG		(1ull << 62)	/* ETIMEDOUT and ETIME */
#define BANNED			(1ull << 61)	/* ECANCELED */

#define FIELD(type, member, which, ...) { \
		.name = #member, .kind = which, .offset = offsetof(struct type, member), \
		.size = sizeof(((struct type *)0)->member), ##__VA_ARGS__ }
#define OF(type, member)	.count = offsetof(struct type, member)

/* ---- SUBMIT, WAIT_BO --------------------------------------------------- */

static const struct fuzz_field submit_fields[] = {
	FIELD(drm_agate_submit, vm_id, FUZZ_SPACE),
	FIELD(drm_agate_submit, jc, FUZZ_JC),
	FIELD(drm_agate_submit, in_sync_count, FUZZ_COUNT, .most = AGATE_SUBMIT_MAX_SYNCS),
	FIELD(drm_agate_submit, out_sync_count, FUZZ_COUNT, .most = AGATE_SUBMIT_MAX_SYNCS),
	FIELD(drm_agate_submit, bo_handle_count, FUZZ_COUNT, .most = AGATE_SUBMIT_MAX_BOS),
	FIELD(drm_agate_submit, requirements, FUZZ_FLAGS,
	      .most = AGATE_JD_REQ_FS | AGATE_JD_REQ_ONLY_COMPUTE),
	FIELD(drm_agate_submit, flags, FUZZ_PAD),
	FIELD(drm_agate_submit, in_syncs, FUZZ_SYNCS, OF(drm_agate_submit, in_sync_count)),
	FIELD(drm_agate_submit, out_syncs, FUZZ_SYNCS, OF(drm_agate_submit, out_sync_count)),
	FIELD(drm_agate_submit, bo_handles, FUZZ_HANDLES, OF(drm_agate_submit, bo_handle_count)),
	FIELD(drm_agate_submit, bo_flags, FUZZ_BO_FLAGS, OF(drm_agate_submit, bo_handle_count)),
};

static void fit_submit(struct fuzz_client *client, void *arg)
{
	struct drm_agate_submit *submit = arg;
	const struct fuzz_space *space = fuzz_space_of(client, submit->vm_id);
	uint32_t there = 0;

	if (submit->vm_id && space && space->endless) {
		submit->out_sync_count = 0;
		submit->requirements &= ~(uint32_t)AGATE_JD_REQ_FS;
	}

	for (int i = 0; i < FUZZ_BOS; i++)
		there += client->now->bo[i].va != 0;
	if (submit->bo_handle_count > there && submit->bo_handle_count < FUZZ_BOS)
		submit->bo_handle_count = there;
	if (submit->vm_id)
		submit->bo_handle_count = 0;
	else if (!submit->bo_handle_count)
		submit->bo_handle_count = there > 0;
}

static bool submit_forbidden(const void *arg)
{
	const struct drm_agate_submit *submit = arg;

	return !submit->jc || submit->jc % 64 || (submit->vm_id && submit->bo_handle_count);
}

static const struct fuzz_field wait_bo_fields[] = {
	FIELD(drm_agate_wait_bo, handle, FUZZ_HANDLE),
	FIELD(drm_agate_wait_bo, flags, FUZZ_FLAGS, .most = AGATE_WAIT_BO_WRITERS),
	FIELD(drm_agate_wait_bo, timeout_ns, FUZZ_TIME),
};

/* ---- BOs ---------------------------------------------------------------- */

static const struct fuzz_field create_bo_fields[] = {
	FIELD(drm_agate_create_bo, size, FUZZ_SIZE, .most = AGATE_BO_MAX_SIZE),
	FIELD(drm_agate_create_bo, flags, FUZZ_FLAGS, .most = 2 * AGATE_BO_NO_VA - 1),
	FIELD(drm_agate_create_bo, placement, FUZZ_FLAGS, .most = 3),
	FIELD(drm_agate_create_bo, caching, FUZZ_CHOICE, .most = AGATE_CACHING_UC + 1),
	FIELD(drm_agate_create_bo, vm_id, FUZZ_SPACE),
	FIELD(drm_agate_create_bo, pad, FUZZ_PAD),
	FIELD(drm_agate_create_bo, handle, FUZZ_OUT),
	FIELD(drm_agate_create_bo, offset, FUZZ_OUT),
};

#define NEEDS_PLACEMENT	(AGATE_BO_CPU_VISIBLE | AGATE_BO_POPULATE | AGATE_BO_NO_VA)
#define NO_PLACEMENT	(AGATE_BO_HEAP | AGATE_BO_CONTIGUOUS)
#define VRAM		(1u << DRM_AGATE_REGION_VRAM)

static void fit_create_bo(struct fuzz_client *client, void *arg)
{
	struct drm_agate_create_bo *create = arg;

	if (!client->card || !fuzz_any(client, 3))
		create->placement = 0;
	if (!create->placement) {
		create->flags &= ~NEEDS_PLACEMENT;
		create->caching = 0;
		create->vm_id = 0;
		if (fuzz_any(client, 2))
			create->flags &= ~NO_PLACEMENT;
		if (create->flags & AGATE_BO_HEAP)
			create->flags = (create->flags | AGATE_BO_NOEXEC) & ~AGATE_BO_CONTIGUOUS;
	} else {
		create->flags &= ~NO_PLACEMENT;
		if (create->placement & VRAM)
			create->caching = AGATE_CACHING_WC;
	}
	if (fuzz_any(client, 2))
		create->flags &= ~(AGATE_BO_CPU_READONLY | AGATE_BO_GPU_READONLY);
}

static bool create_bo_forbidden(const void *arg)
{
	const struct drm_agate_create_bo *create = arg;

	if (!create->size || create->size > AGATE_BO_MAX_SIZE)
		return true;
	if (create->flags & AGATE_BO_HEAP && !(create->flags & AGATE_BO_NOEXEC))
		return true;
	if (!create->placement)
		return create->caching || create->vm_id || create->flags & NEEDS_PLACEMENT ||
		       (create->flags & NO_PLACEMENT) == NO_PLACEMENT;
	return create->flags & NO_PLACEMENT ||
	       (create->placement & VRAM && create->caching != AGATE_CACHING_WC);
}

static const struct fuzz_field mmap_bo_fields[] = {
	FIELD(drm_agate_mmap_bo, handle, FUZZ_HANDLE),
	FIELD(drm_agate_mmap_bo, flags, FUZZ_PAD),
	FIELD(drm_agate_mmap_bo, offset, FUZZ_OUT),
};

static const struct fuzz_field get_param_fields[] = {
	FIELD(drm_agate_get_param, param, FUZZ_CHOICE, .most = DRM_AGATE_PARAM_FEATURES + 1),
	FIELD(drm_agate_get_param, pad, FUZZ_PAD),
	FIELD(drm_agate_get_param, value, FUZZ_OUT),
};

static const struct fuzz_field get_bo_offset_fields[] = {
	FIELD(drm_agate_get_bo_offset, handle, FUZZ_HANDLE),
	FIELD(drm_agate_get_bo_offset, pad, FUZZ_PAD),
	FIELD(drm_agate_get_bo_offset, offset, FUZZ_OUT),
};

static const struct fuzz_field madvise_fields[] = {
	FIELD(drm_agate_madvise, handle, FUZZ_HANDLE),
	FIELD(drm_agate_madvise, madv, FUZZ_CHOICE, .most = AGATE_MADV_DONTNEED + 1),
	FIELD(drm_agate_madvise, len, FUZZ_COUNT, .most = AGATE_LABEL_MAX),
	FIELD(drm_agate_madvise, label, FUZZ_TEXT, OF(drm_agate_madvise, len)),
	FIELD(drm_agate_madvise, retained, FUZZ_OUT),
	FIELD(drm_agate_madvise, pad, FUZZ_PAD),
	FIELD(drm_agate_madvise, pad2, FUZZ_PAD),
};

static bool madvise_forbidden(const void *arg)
{
	const struct drm_agate_madvise *madvise = arg;

	return !madvise->label && madvise->len;
}

static const struct fuzz_field set_label_fields[] = {
	FIELD(drm_agate_set_label, handle, FUZZ_HANDLE),
	FIELD(drm_agate_set_label, len, FUZZ_COUNT, .most = AGATE_LABEL_MAX),
	FIELD(drm_agate_set_label, label, FUZZ_TEXT, OF(drm_agate_set_label, len)),
};

/* ---- Address spaces ------------------------------------------------------ */

static const struct fuzz_field vm_create_fields[] = {
	FIELD(drm_agate_vm_create, flags, FUZZ_FLAGS,
	      .most = AGATE_VM_LONG_RUNNING | AGATE_VM_FAULT_MODE),
	FIELD(drm_agate_vm_create, vm_id, FUZZ_OUT),
	FIELD(drm_agate_vm_create, va_start, FUZZ_OUT),
	FIELD(drm_agate_vm_create, va_end, FUZZ_OUT),
};

static const struct fuzz_field vm_destroy_fields[] = {
	FIELD(drm_agate_vm_destroy, vm_id, FUZZ_SPACE),
	FIELD(drm_agate_vm_destroy, pad, FUZZ_PAD),
};

static const struct fuzz_field vm_bind_fields[] = {
	FIELD(drm_agate_vm_bind, vm_id, FUZZ_SPACE),
	FIELD(drm_agate_vm_bind, op, FUZZ_CHOICE, .most = AGATE_VM_BIND_UNMAP + 1),
	FIELD(drm_agate_vm_bind, flags, FUZZ_FLAGS, .most = 2 * AGATE_VM_BIND_USERPTR - 1),
	FIELD(drm_agate_vm_bind, handle, FUZZ_HANDLE),
	FIELD(drm_agate_vm_bind, addr, FUZZ_ADDRESS),
	FIELD(drm_agate_vm_bind, range, FUZZ_RANGE),
	FIELD(drm_agate_vm_bind, offset, FUZZ_OFFSET),
	FIELD(drm_agate_vm_bind, in_sync_count, FUZZ_COUNT, .most = AGATE_SUBMIT_MAX_SYNCS),
	FIELD(drm_agate_vm_bind, out_sync_count, FUZZ_COUNT, .most = AGATE_SUBMIT_MAX_SYNCS),
	FIELD(drm_agate_vm_bind, in_syncs, FUZZ_SYNCS, OF(drm_agate_vm_bind, in_sync_count)),
	FIELD(drm_agate_vm_bind, out_syncs, FUZZ_SYNCS, OF(drm_agate_vm_bind, out_sync_count)),
};

/*
 * The kernel's check of DMA allows each page seven mappings.  So each address space has pages of
 * its own, and an address for each of them.  The process may have moved, protected or unmapped them.
 */
static void fit_user_memory(struct fuzz_client *client, struct drm_agate_vm_bind *bind)
{
	const struct fuzz_space *space = fuzz_space_of(client, bind->vm_id);
	const uint32_t number = (uint32_t)(client->now - client->file) * FUZZ_SPACES +
				(space ? (uint32_t)(space - client->now->space) : 0);
	const uint32_t page = number * FUZZ_USER_PART + fuzz_any(client, FUZZ_USER_PART - 2);

	bind->handle = 0;
	bind->addr = FUZZ_JOBS_VA + (16 + page) * (uint64_t)PAGE;
	bind->offset = (uintptr_t)client->user + page * (uint64_t)PAGE;
	bind->range = (1 + fuzz_any(client, 3)) * (uint64_t)PAGE;
}

static void fit_vm_bind(struct fuzz_client *client, void *arg)
{
	struct drm_agate_vm_bind *bind = arg;
	const struct fuzz_bo *bo;
	uint64_t pages;

	if (!bind->vm_id)
		bind->vm_id = client->now->space[fuzz_any(client, FUZZ_SPACES)].vm;
	if (fuzz_any(client, 8))
		bind->handle = fuzz_placed_bo(client, bind->vm_id)->handle;
	if (bind->op == AGATE_VM_BIND_UNMAP) {
		bind->flags = bind->handle = 0;
		bind->offset = 0;
	} else if (bind->flags & AGATE_VM_BIND_USERPTR && fuzz_any(client, 2)) {
		fit_user_memory(client, bind);
	} else {
		bind->flags &= ~AGATE_VM_BIND_USERPTR;
		bo = fuzz_bo_of(client, bind->handle);
		pages = bo && bo->size >= PAGE ? bo->size / PAGE : 1;
		bind->offset = 0;
		if (fuzz_any(client, 2))
			bind->offset = fuzz_any(client, (uint32_t)pages) * (uint64_t)PAGE;
		bind->range = (1 + fuzz_any(client, (uint32_t)(pages - bind->offset / PAGE))) *
			      (uint64_t)PAGE;
	}
}

static bool vm_bind_forbidden(const void *arg)
{
	const struct drm_agate_vm_bind *bind = arg;
	const uint64_t end = bind->addr + bind->range;

	if (!bind->range || (bind->addr | bind->range | bind->offset) % PAGE)
		return true;
	/* A GPU address has 48 bits at the very most. */
	if (end < bind->addr || end > 1ull << 48 || !bind->addr || !bind->vm_id)
		return true;
	if (bind->offset + bind->range < bind->offset)
		return true;
	if (bind->op == AGATE_VM_BIND_UNMAP)
		return bind->flags || bind->handle || bind->offset;
	if (bind->flags & AGATE_VM_BIND_USERPTR)
		return bind->handle || bind->range > AGATE_BO_MAX_SIZE || !bind->offset ||
		       bind->offset >> 47;
	return !bind->handle || bind->offset + bind->range > AGATE_BO_MAX_SIZE;
}

/* ---- The card ------------------------------------------------------------- */

static const struct fuzz_field query_regions_fields[] = {
	FIELD(drm_agate_query_regions, count, FUZZ_IN_OUT, .most = 4),
	FIELD(drm_agate_query_regions, region_size, FUZZ_IN_OUT, .most = 64),
	FIELD(drm_agate_query_regions, regions, FUZZ_REGIONS),
};

static void fit_query_regions(struct fuzz_client *client, void *arg)
{
	struct drm_agate_query_regions *query = arg;

	query->region_size = 48 + 8 * fuzz_any(client, 4);
}

static bool query_regions_forbidden(const void *arg)
{
	const struct drm_agate_query_regions *query = arg;

	return query->regions && (query->region_size < 48 || query->region_size > 4096);
}

static const struct fuzz_field flip_fields[] = {
	FIELD(drm_agate_flip, handle, FUZZ_HANDLE),
	FIELD(drm_agate_flip, flags, FUZZ_FLAGS, .most = AGATE_FLIP_PHYS),
	FIELD(drm_agate_flip, offset, FUZZ_OFFSET),
	FIELD(drm_agate_flip, width, FUZZ_CHOICE, .most = 4097),
	FIELD(drm_agate_flip, height, FUZZ_CHOICE, .most = 4097),
	FIELD(drm_agate_flip, stride, FUZZ_ANY),
	FIELD(drm_agate_flip, format, FUZZ_CHOICE, .most = AGATE_FORMAT_B8G8R8A8 + 1),
};

static void fit_flip(struct fuzz_client *client, void *arg)
{
	struct drm_agate_flip *flip = arg;
	const struct fuzz_bo *bo = fuzz_placed_bo(client, 0);

	if (fuzz_once_in(client, 8)) {
		*flip = (struct drm_agate_flip){ .handle = 0 };
		return;
	}
	if (fuzz_any(client, 8))
		flip->handle = bo->handle;
	if (fuzz_any(client, 2))
		flip->flags = 0;
	flip->format = 1 + fuzz_any(client, 2);
	flip->width = 1 + fuzz_any(client, 64);
	flip->height = 1 + fuzz_any(client, 4);
	flip->stride = 256;
	flip->offset = bo->size > 2 * PAGE && fuzz_any(client, 2) ? 64 : 0;
}

static bool flip_forbidden(const void *arg)
{
	const struct drm_agate_flip *flip = arg;

	if (!flip->handle)
		return flip->offset || flip->width || flip->height || flip->stride || flip->format ||
		       flip->flags;
	return !flip->width || !flip->height || flip->offset % 64 || flip->stride % 64 ||
	       flip->stride < 4ull * flip->width || flip->offset >= AGATE_BO_MAX_SIZE;
}

/* ---- DRM's own calls -------------------------------------------------------- */

static const struct fuzz_field gem_close_fields[] = {
	FIELD(drm_gem_close, handle, FUZZ_HANDLE),
	FIELD(drm_gem_close, pad, FUZZ_ANY),
};

static const struct fuzz_field export_fields[] = {
	FIELD(drm_prime_handle, handle, FUZZ_HANDLE),
	FIELD(drm_prime_handle, flags, FUZZ_FLAGS, .most = DRM_CLOEXEC | DRM_RDWR),
	FIELD(drm_prime_handle, fd, FUZZ_OUT),
};

/* The core ignores the flags. */
static const struct fuzz_field import_fields[] = {
	FIELD(drm_prime_handle, fd, FUZZ_DMABUF),
	FIELD(drm_prime_handle, flags, FUZZ_ANY),
	FIELD(drm_prime_handle, handle, FUZZ_OUT),
};

static const struct fuzz_field sync_create_fields[] = {
	FIELD(drm_syncobj_create, flags, FUZZ_FLAGS, .most = DRM_SYNCOBJ_CREATE_SIGNALED),
	FIELD(drm_syncobj_create, handle, FUZZ_OUT),
};

static const struct fuzz_field sync_destroy_fields[] = {
	FIELD(drm_syncobj_destroy, handle, FUZZ_SYNC),
	FIELD(drm_syncobj_destroy, pad, FUZZ_PAD),
};

static const struct fuzz_field sync_export_fields[] = {
	FIELD(drm_syncobj_handle, handle, FUZZ_SYNC),
	FIELD(drm_syncobj_handle, flags, FUZZ_FLAGS, .most = 1),
	FIELD(drm_syncobj_handle, fd, FUZZ_OUT),
	FIELD(drm_syncobj_handle, pad, FUZZ_PAD),
};

static const struct fuzz_field sync_import_fields[] = {
	FIELD(drm_syncobj_handle, fd, FUZZ_SYNC_FILE),
	FIELD(drm_syncobj_handle, flags, FUZZ_FLAGS, .most = 1),
	FIELD(drm_syncobj_handle, handle, FUZZ_IN_OUT, .most = 2 * FUZZ_SYNC_SLOTS),
	FIELD(drm_syncobj_handle, pad, FUZZ_PAD),
};

/* The file of a sync object names it, and gets a handle; that of a fence goes into one. */
static void fit_sync_import(struct fuzz_client *client, void *arg)
{
	struct drm_syncobj_handle *import = arg;

	(void)client;
	if (!import->flags)
		import->handle = 0;
}

/* A wait may say by when it wants its fences since Linux 6.6. */
#ifdef DRM_SYNCOBJ_WAIT_FLAGS_WAIT_DEADLINE
#define SYNC_WAIT_FLAGS 15
#else
#define SYNC_WAIT_FLAGS 7
#endif

static const struct fuzz_field sync_wait_fields[] = {
	FIELD(drm_syncobj_timeline_wait, count_handles, FUZZ_COUNT, .most = FUZZ_MOST_WAITS),
	FIELD(drm_syncobj_timeline_wait, handles, FUZZ_SYNC_HANDLES,
	      OF(drm_syncobj_timeline_wait, count_handles)),
	FIELD(drm_syncobj_timeline_wait, points, FUZZ_POINTS,
	      OF(drm_syncobj_timeline_wait, count_handles)),
	FIELD(drm_syncobj_timeline_wait, timeout_nsec, FUZZ_TIME),
	FIELD(drm_syncobj_timeline_wait, flags, FUZZ_FLAGS, .most = SYNC_WAIT_FLAGS),
	FIELD(drm_syncobj_timeline_wait, first_signaled, FUZZ_OUT),
	FIELD(drm_syncobj_timeline_wait, pad, FUZZ_PAD),
#ifdef DRM_SYNCOBJ_WAIT_FLAGS_WAIT_DEADLINE
	FIELD(drm_syncobj_timeline_wait, deadline_nsec, FUZZ_TIME),
#endif
};

static const struct fuzz_field sync_array_fields[] = {
	FIELD(drm_syncobj_array, count_handles, FUZZ_COUNT, .most = FUZZ_MOST_WAITS),
	FIELD(drm_syncobj_array, handles, FUZZ_SYNC_HANDLES, OF(drm_syncobj_array, count_handles)),
	FIELD(drm_syncobj_array, pad, FUZZ_PAD),
};

static const struct fuzz_field sync_points_fields[] = {
	FIELD(drm_syncobj_timeline_array, count_handles, FUZZ_COUNT, .most = FUZZ_MOST_WAITS),
	FIELD(drm_syncobj_timeline_array, handles, FUZZ_SYNC_HANDLES,
	      OF(drm_syncobj_timeline_array, count_handles)),
	FIELD(drm_syncobj_timeline_array, points, FUZZ_POINTS,
	      OF(drm_syncobj_timeline_array, count_handles)),
	FIELD(drm_syncobj_timeline_array, flags, FUZZ_PAD),
};

static const struct fuzz_field sync_transfer_fields[] = {
	FIELD(drm_syncobj_transfer, src_handle, FUZZ_SYNC),
	FIELD(drm_syncobj_transfer, dst_handle, FUZZ_SYNC),
	FIELD(drm_syncobj_transfer, src_point, FUZZ_CHOICE, .most = 8),
	FIELD(drm_syncobj_transfer, dst_point, FUZZ_CHOICE, .most = 8),
	FIELD(drm_syncobj_transfer, flags, FUZZ_FLAGS, .most = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT),
	FIELD(drm_syncobj_transfer, pad, FUZZ_PAD),
};

/* ---- The table --------------------------------------------------------------- */

/* The core's calls: not what they promise, but that they say nothing strange. */
#define CORE	(E(EINVAL) | E(ENOENT) | E(EBADF) | E(EPERM) | E(EACCES) | WAIT_TOO_LONG)

#define CALL(request_, type, fields_, ...) { \
		.name = #request_, .request = DRM_IOCTL_ ## request_, .size = sizeof(struct type), \
		.field = fields_, .fields = COUNT_OF(fields_), ##__VA_ARGS__ }

const struct fuzz_call fuzz_table[] = {
	CALL(AGATE_SUBMIT, drm_agate_submit, submit_fields, .weight = 12,
	     .errors = ALWAYS | E(EINVAL) | E(ENOENT) | E(EIO) | E(ENOSPC) | E(EPERM) | E(EAGAIN) |
		       ABSENT | BANNED, .fit = fit_submit, .forbidden = submit_forbidden),
	CALL(AGATE_WAIT_BO, drm_agate_wait_bo, wait_bo_fields, .weight = 2,
	     .errors = ALWAYS | E(EINVAL) | E(ENOENT) | E(EBUSY) | WAIT_TOO_LONG),
	CALL(AGATE_CREATE_BO, drm_agate_create_bo, create_bo_fields, .weight = 8,
	     .errors = ALWAYS | E(EINVAL) | E(ENOENT) | E(ENOSPC) | ABSENT,
	     .fit = fit_create_bo, .forbidden = create_bo_forbidden, .after = fuzz_made_bo),
	CALL(AGATE_MMAP_BO, drm_agate_mmap_bo, mmap_bo_fields, .weight = 4,
	     .errors = ALWAYS | E(EINVAL) | E(ENOENT), .after = fuzz_found_offset),
	CALL(AGATE_GET_PARAM, drm_agate_get_param, get_param_fields, .weight = 1,
	     .errors = ALWAYS | E(EINVAL)),
	CALL(AGATE_GET_BO_OFFSET, drm_agate_get_bo_offset, get_bo_offset_fields, .weight = 1,
	     .errors = ALWAYS | E(EINVAL) | E(ENOENT)),
	CALL(AGATE_MADVISE, drm_agate_madvise, madvise_fields, .weight = 3,
	     .errors = ALWAYS | E(EINVAL) | E(ENOENT), .forbidden = madvise_forbidden),
	CALL(AGATE_SET_LABEL, drm_agate_set_label, set_label_fields, .weight = 1,
	     .errors = ALWAYS | E(EINVAL) | E(ENOENT)),
	CALL(AGATE_VM_CREATE, drm_agate_vm_create, vm_create_fields, .weight = 1, .absent = true,
	     .errors = ALWAYS | E(EINVAL), .after = fuzz_made_space),
	CALL(AGATE_VM_DESTROY, drm_agate_vm_destroy, vm_destroy_fields, .weight = 1, .absent = true,
	     .errors = ALWAYS | E(EINVAL) | E(ENOENT), .after = fuzz_ended_space),
	CALL(AGATE_VM_BIND, drm_agate_vm_bind, vm_bind_fields, .weight = 12, .absent = true,
	     .errors = ALWAYS | E(EINVAL) | E(ENOENT) | E(EPERM) | E(ENOSPC) | E(EIO) | ABSENT |
		       BANNED, .fit = fit_vm_bind, .forbidden = vm_bind_forbidden),
	CALL(AGATE_QUERY_REGIONS, drm_agate_query_regions, query_regions_fields, .weight = 1,
	     .absent = true, .errors = ALWAYS | E(EINVAL), .fit = fit_query_regions,
	     .forbidden = query_regions_forbidden),
	CALL(AGATE_FLIP, drm_agate_flip, flip_fields, .weight = 2, .absent = true,
	     .errors = ALWAYS | E(EINVAL) | E(ENOENT) | E(ENOSPC) | E(EIO) | WAIT_TOO_LONG,
	     .fit = fit_flip, .forbidden = flip_forbidden),
	CALL(GEM_CLOSE, drm_gem_close, gem_close_fields, .weight = 2, .errors = ALWAYS | CORE,
	     .after = fuzz_closed_bo),
	CALL(PRIME_HANDLE_TO_FD, drm_prime_handle, export_fields, .weight = 2,
	     .errors = ALWAYS | E(EINVAL) | E(ENOENT) | E(EPERM), .after = fuzz_exported),
	CALL(PRIME_FD_TO_HANDLE, drm_prime_handle, import_fields, .weight = 3,
	     .errors = ALWAYS | E(EINVAL) | E(EBADF) | E(ENOSPC) | E(EPERM) | E(ENOENT),
	     .after = fuzz_imported),
	CALL(SYNCOBJ_CREATE, drm_syncobj_create, sync_create_fields, .weight = 1,
	     .errors = ALWAYS | CORE, .after = fuzz_made_sync),
	CALL(SYNCOBJ_DESTROY, drm_syncobj_destroy, sync_destroy_fields, .weight = 1,
	     .errors = ALWAYS | CORE, .after = fuzz_destroyed_sync),
	CALL(SYNCOBJ_HANDLE_TO_FD, drm_syncobj_handle, sync_export_fields, .weight = 1,
	     .errors = ALWAYS | CORE, .after = fuzz_exported_sync),
	CALL(SYNCOBJ_FD_TO_HANDLE, drm_syncobj_handle, sync_import_fields, .weight = 1,
	     .errors = ALWAYS | CORE, .fit = fit_sync_import, .after = fuzz_made_sync),
	CALL(SYNCOBJ_TIMELINE_WAIT, drm_syncobj_timeline_wait, sync_wait_fields, .weight = 1,
	     .errors = ALWAYS | CORE),
	CALL(SYNCOBJ_RESET, drm_syncobj_array, sync_array_fields, .weight = 1,
	     .errors = ALWAYS | CORE),
	CALL(SYNCOBJ_SIGNAL, drm_syncobj_array, sync_array_fields, .weight = 1,
	     .errors = ALWAYS | CORE),
	CALL(SYNCOBJ_TIMELINE_SIGNAL, drm_syncobj_timeline_array, sync_points_fields, .weight = 1,
	     .errors = ALWAYS | CORE),
	CALL(SYNCOBJ_QUERY, drm_syncobj_timeline_array, sync_points_fields, .weight = 1,
	     .errors = ALWAYS | CORE),
	CALL(SYNCOBJ_TRANSFER, drm_syncobj_transfer, sync_transfer_fields, .weight = 1,
	     .errors = ALWAYS | CORE),
};

const unsigned int fuzz_table_size = COUNT_OF(fuzz_table);

void fuzz_check_table(void)
{
	for (unsigned int i = 0; i < fuzz_table_size; i++) {
		const struct fuzz_call *call = &fuzz_table[i];
		uint8_t seen[FUZZ_ARG] = { 0 };

		for (unsigned int f = 0; f < call->fields; f++)
			for (unsigned int b = 0; b < call->field[f].size; b++)
				assert_int_equal(seen[call->field[f].offset + b]++, 0);
		for (unsigned int b = 0; b < call->size; b++)
			if (!seen[b])
				fail_msg("no field has byte %u of %s", b, call->name);
	}
}
