// SPDX-License-Identifier: MIT
/* What a client has: files, BOs, address spaces, sync objects, and jobs for them. */
#include "fuzz.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- BOs ---------------------------------------------------------------- */

struct fuzz_bo *fuzz_bo(struct fuzz_client *client)
{
	const unsigned int first = fuzz_any(client, FUZZ_BOS);

	for (unsigned int i = 0; i < FUZZ_BOS; i++)
		if (client->now->bo[(first + i) % FUZZ_BOS].handle)
			return &client->now->bo[(first + i) % FUZZ_BOS];
	return &client->now->bo[first];
}

struct fuzz_bo *fuzz_placed_bo(struct fuzz_client *client, uint32_t vm)
{
	const unsigned int first = fuzz_any(client, FUZZ_BOS);

	for (unsigned int i = 0; i < FUZZ_BOS; i++) {
		struct fuzz_bo *bo = &client->now->bo[(first + i) % FUZZ_BOS];

		if (bo->handle && bo->placement && (!vm || !bo->vm || bo->vm == vm))
			return bo;
	}
	return fuzz_bo(client);
}

const struct fuzz_bo *fuzz_bo_of(const struct fuzz_client *client, uint32_t handle)
{
	for (int i = 0; handle && i < FUZZ_BOS; i++)
		if (client->now->bo[i].handle == handle)
			return &client->now->bo[i];
	return NULL;
}

static void unmap_bo(struct fuzz_bo *bo)
{
	if (bo->cpu)
		munmap(bo->cpu, PAGE);
	bo->cpu = NULL;
}

void fuzz_bo_forget(struct fuzz_client *client, struct fuzz_bo *bo)
{
	(void)client;
	unmap_bo(bo);
	memset(bo, 0, sizeof(*bo));
}

/* Its first page, for chains. */
static void *map_page(int fd, uint32_t handle)
{
	struct drm_agate_mmap_bo arg = { .handle = handle };
	void *at;

	if (guest_ioctl(fd, DRM_IOCTL_AGATE_MMAP_BO, &arg))
		return NULL;
	at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)arg.offset);
	return at == MAP_FAILED ? NULL : at;
}

/* In the place of another one, which keeps its handle now and then. */
static struct fuzz_bo *replace(struct fuzz_client *client)
{
	struct fuzz_bo *bo = &client->now->bo[fuzz_any(client, FUZZ_BOS)];

	if (bo->handle && (client->now == client->file || !fuzz_once_in(client, 8)))
		guest_close_handle(client->now->fd, bo->handle);
	fuzz_bo_forget(client, bo);
	return bo;
}

void fuzz_made_bo(struct fuzz_client *client, const void *arg, const void *sent, int err)
{
	const struct drm_agate_create_bo *create = arg;
	struct fuzz_bo *bo;

	(void)sent;
	if (err)
		return;
	if (!create->handle || !create->offset != (create->vm_id || create->flags & AGATE_BO_NO_VA))
		fuzz_wrong(client, "CREATE_BO gives handle %u at %#llx", create->handle,
			   (unsigned long long)create->offset);
	/* Without pages it takes nothing, but a job would bring them all. */
	if (create->size > FUZZ_LARGE) {
		guest_close_handle(client->now->fd, create->handle);
		return;
	}
	bo = replace(client);
	*bo = (struct fuzz_bo){
		.handle = create->handle, .flags = create->flags, .placement = create->placement,
		.vm = create->vm_id, .size = (create->size + PAGE - 1) / PAGE * PAGE,
		.va = create->offset,
	};
	if (!(bo->flags & AGATE_BO_CPU_READONLY) && fuzz_any(client, 4))
		bo->cpu = map_page(client->now->fd, bo->handle);
}

void fuzz_closed_bo(struct fuzz_client *client, const void *arg, const void *sent, int err)
{
	const struct drm_gem_close *close_arg = arg;

	(void)sent;
	/* It may stay in the list, as a handle of nothing, with a map that lives on. */
	for (int i = 0; !err && i < FUZZ_BOS; i++)
		if (client->now->bo[i].handle == close_arg->handle && fuzz_any(client, 4))
			fuzz_bo_forget(client, &client->now->bo[i]);
}

void fuzz_exported(struct fuzz_client *client, const void *arg, const void *sent, int err)
{
	const struct drm_prime_handle *prime = arg;

	(void)sent;
	if (!err)
		fuzz_keep_fd(&client->dmabuf[fuzz_any(client, FUZZ_FDS)], prime->fd);
}

void fuzz_imported(struct fuzz_client *client, const void *arg, const void *sent, int err)
{
	const struct drm_prime_handle *prime = arg;
	struct drm_agate_get_bo_offset offset = { .handle = prime->handle };
	struct fuzz_bo *bo;
	off_t size;

	(void)sent;
	if (err || fuzz_bo_of(client, prime->handle))
		return;
	size = lseek(prime->fd, 0, SEEK_END);
	bo = replace(client);
	*bo = (struct fuzz_bo){
		.handle = prime->handle, .size = size > 0 ? (uint64_t)size : PAGE,
	};
	if (!guest_ioctl(client->now->fd, DRM_IOCTL_AGATE_GET_BO_OFFSET, &offset))
		bo->va = offset.offset;
}

/* ---- Address spaces ------------------------------------------------------ */

struct fuzz_space *fuzz_space_of(struct fuzz_client *client, uint32_t vm)
{
	for (int i = 0; i < FUZZ_SPACES; i++)
		if (client->now->space[i].vm == vm)
			return &client->now->space[i];
	return NULL;
}

/* Its jobs lie in a BO of its own. */
static void give_jobs(struct fuzz_client *client, struct fuzz_space *space)
{
	struct drm_agate_create_bo create = {
		.size = PAGE, .vm_id = space->vm, .placement = 1u << DRM_AGATE_REGION_SYSTEM,
	};
	struct drm_agate_vm_bind bind = {
		.vm_id = space->vm, .addr = FUZZ_JOBS_VA, .range = PAGE,
	};
	const int fd = client->now->fd;

	if (guest_ioctl(fd, DRM_IOCTL_AGATE_CREATE_BO, &create))
		return;
	space->jobs = bind.handle = create.handle;
	guest_ioctl(fd, DRM_IOCTL_AGATE_VM_BIND, &bind);
	space->cpu = map_page(fd, create.handle);
}

static void end_space(struct fuzz_client *client, struct fuzz_space *space, bool destroy)
{
	struct drm_agate_vm_destroy arg = { .vm_id = space->vm };

	if (space->vm && destroy)
		guest_ioctl(client->now->fd, DRM_IOCTL_AGATE_VM_DESTROY, &arg);
	if (space->jobs && destroy)
		guest_close_handle(client->now->fd, space->jobs);
	if (space->cpu)
		munmap(space->cpu, PAGE);
	memset(space, 0, sizeof(*space));
}

void fuzz_made_space(struct fuzz_client *client, const void *arg, const void *sent, int err)
{
	struct fuzz_space *space = &client->now->space[fuzz_any(client, FUZZ_SPACES)];

	(void)sent;
	if (err)
		return;
	end_space(client, space, true);
	space->vm = ((const struct drm_agate_vm_create *)arg)->vm_id;
	space->endless = ((const struct drm_agate_vm_create *)arg)->flags;
	if (!space->vm)
		fuzz_wrong(client, "VM_CREATE gives 0");
	give_jobs(client, space);
}

void fuzz_ended_space(struct fuzz_client *client, const void *arg, const void *sent, int err)
{
	struct fuzz_space *space;

	(void)sent;
	if (err)
		return;
	space = fuzz_space_of(client, ((const struct drm_agate_vm_destroy *)arg)->vm_id);
	if (space && fuzz_any(client, 4)) {
		guest_close_handle(client->now->fd, space->jobs);
		end_space(client, space, false);
	}
}

/* ---- Sync objects -------------------------------------------------------- */

void fuzz_made_sync(struct fuzz_client *client, const void *arg, const void *sent, int err)
{
	uint32_t *sync = &client->now->sync[fuzz_any(client, FUZZ_SYNC_SLOTS)];
	const uint32_t handle = *(const uint32_t *)arg;	/* the first field of both structs */
	struct drm_syncobj_destroy destroy = { .handle = *sync };

	(void)sent;
	for (int i = 0; i < FUZZ_SYNC_SLOTS; i++)
		if (client->now->sync[i] == handle)
			return;
	if (err || !handle)
		return;
	guest_ioctl(client->now->fd, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy);
	*sync = handle;
}

/* Its name may stay in use; else another one takes its place. */
void fuzz_destroyed_sync(struct fuzz_client *client, const void *arg, const void *sent, int err)
{
	struct drm_syncobj_create create = { .flags = DRM_SYNCOBJ_CREATE_SIGNALED };
	const uint32_t handle = ((const struct drm_syncobj_destroy *)arg)->handle;

	(void)sent;
	if (err || fuzz_once_in(client, 8))
		return;
	for (int i = 0; i < FUZZ_SYNC_SLOTS; i++)
		if (client->now->sync[i] == handle &&
		    !guest_ioctl(client->now->fd, DRM_IOCTL_SYNCOBJ_CREATE, &create))
			client->now->sync[i] = create.handle;
}

void fuzz_exported_sync(struct fuzz_client *client, const void *arg, const void *sent, int err)
{
	(void)sent;
	if (!err)
		fuzz_keep_fd(&client->sync_file[fuzz_any(client, FUZZ_FDS)],
			     ((const struct drm_syncobj_handle *)arg)->fd);
}

/* ---- Files --------------------------------------------------------------- */

void fuzz_keep_fd(int *slot, int fd)
{
	if (*slot >= 0)
		close(*slot);
	*slot = fd;
}

static void open_syncs(struct fuzz_file *file)
{
	for (int i = 0; i < FUZZ_SYNC_SLOTS; i++) {
		struct drm_syncobj_create arg = { .flags = DRM_SYNCOBJ_CREATE_SIGNALED };

		if (!guest_ioctl(file->fd, DRM_IOCTL_SYNCOBJ_CREATE, &arg))
			file->sync[i] = arg.handle;
	}
}

bool fuzz_open(struct fuzz_client *client, struct fuzz_file *file)
{
	struct fuzz_file *now = client->now;

	memset(file, 0, sizeof(*file));
	file->fd = guest_try_open();
	if (file->fd < 0)
		return false;
	open_syncs(file);
	client->now = file;
	for (int i = 0; client->card && i < FUZZ_SPACES; i++) {
		struct drm_agate_vm_create arg = { .flags = i & 1 ? AGATE_VM_LONG_RUNNING : 0 };

		/* One in two of these makes its entries when the GPU misses them. */
		if (arg.flags && fuzz_any(client, 2))
			arg.flags |= AGATE_VM_FAULT_MODE;
		if (guest_ioctl(file->fd, DRM_IOCTL_AGATE_VM_CREATE, &arg))
			continue;
		file->space[i].vm = arg.vm_id;
		file->space[i].endless = arg.flags;
		give_jobs(client, &file->space[i]);
	}
	client->now = now;
	return true;
}

void fuzz_close(struct fuzz_client *client, struct fuzz_file *file)
{
	struct fuzz_file *now = client->now;

	client->now = file;
	for (int i = 0; i < FUZZ_BOS; i++)
		fuzz_bo_forget(client, &file->bo[i]);
	for (int i = 0; i < FUZZ_SPACES; i++)
		end_space(client, &file->space[i], false);
	close(file->fd);
	client->now = now;
}

/* ---- Jobs ---------------------------------------------------------------- */

static uint64_t any_target(struct fuzz_client *client, uint64_t va, bool space)
{
	const struct fuzz_bo *bo = fuzz_bo(client);

	switch (fuzz_any(client, 16)) {
	case 0:
		return fuzz_any64(client) >> 16 << 3;
	case 1:
	case 2:
	case 3:
		return va + 2048;
	default:
		break;
	}
	if (space)
		return FUZZ_AREA + fuzz_any(client, FUZZ_AREA_PAGES) * (uint64_t)PAGE;
	return bo->va ? bo->va + (bo->cpu ? 2048 : 0) : va + 2048;
}

static void any_compute(struct fuzz_client *client, struct bo *at, uint32_t offset, uint64_t after,
			bool space)
{
	struct agate_compute_payload payload = {
		.op = 1 + fuzz_any(client, 4), .size = 8 * fuzz_any(client, 1024),
		.dst = any_target(client, at->va, space), .value = fuzz_any64(client),
	};

	if (payload.op != AGATE_COMPUTE_FILL) {
		payload.src = any_target(client, at->va, space);
		payload.value = 0;
	}
	if (payload.op == AGATE_COMPUTE_COPY_2D) {
		payload.rows = fuzz_any(client, 8);
		payload.dst_stride = payload.src_stride = payload.size;
	}
	guest_job(at, offset, AGATE_JOB_COMPUTE, after, &payload, sizeof(payload));
}

struct chain {
	void *cpu;
	uint64_t va;
	const struct fuzz_space *space;	/* or NULL */
};

static void write_chain(struct fuzz_client *client, void *arg)
{
	const struct chain *chain = arg;
	const uint64_t va = chain->va;
	struct bo at = { .cpu = chain->cpu, .va = va };
	const unsigned int jobs = 1 + fuzz_any(client, 3);
	uint64_t *words = chain->cpu;

	for (unsigned int i = 0; i < jobs; i++) {
		const uint64_t after = i + 1 < jobs ? va + 256 * (i + 1) : 0;

		if (fuzz_any(client, 2))
			any_compute(client, &at, 256 * i, after, chain->space);
		else
			guest_job_write64(&at, 256 * i, after, any_target(client, va, chain->space),
					  fuzz_any64(client));
	}
	/* Now and then one that never ends, and one that is none. */
	if (fuzz_once_in(client, chain->space && chain->space->endless ? 3 : 1024))
		guest_job_write64(&at, 256 * (jobs - 1), va, va + 2048, 1);
	else if (fuzz_once_in(client, 32))
		words[fuzz_any(client, 64)] = fuzz_any64(client);
}

void fuzz_chain(struct fuzz_client *client, void *cpu, uint64_t va, const struct fuzz_space *space)
{
	struct chain chain = { cpu, va, space };

	fuzz_try(client, write_chain, &chain);
}
