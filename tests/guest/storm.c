// SPDX-License-Identifier: MIT
/*
 * Clients that do everything at once, while the GPU loses its power, is taken from its driver
 * and given back: storm SECONDS GPUS [card].
 *
 * Each client opens the device, makes BOs, submits chains that run, fault or never end,
 * guesses handles, shares BOs with others and with vgem, closes files with jobs in them, and is
 * killed in the middle of it.  With several GPUs it has files of any, and keeps the dma-bufs of one
 * for the next.  On a card many of its BOs have a placement, and more of them than fit, and it
 * has address spaces of each kind, where it binds BOs and memory of its own, which goes and comes,
 * and runs chains.
 * Nothing is expected of a single call.  At the end nothing may be left, the GPU must
 * work, and the kernel's log must be silent.
 */
#include "gpus.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS		4
#define MOST_GPUS	2
#define BOS		6
#define DMABUFS		3
#define SPACES		2
#define SYNCS		3
#define USER_PAGES	512u
#define UNMAPPED	0xf0000000ull
#define DATA		2048u

static unsigned int seconds, gpus;
static bool card;
static uint64_t seed;

static uint32_t any(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 16) % below;
}

static void pause_ms(long ms)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

/* ---- A client --------------------------------------------------------- */

struct client {
	int fd;
	struct bo bo[BOS];
	int dmabuf[DMABUFS];
	int memory, vgem;
	uint32_t lent;		/* vgem's handle */
	uint32_t space[SPACES];
	uint32_t sync[SYNCS];
	char *user;
};

static void forget(struct bo *bo)
{
	if (bo->cpu)
		munmap(bo->cpu, bo->size);
	memset(bo, 0, sizeof(*bo));
}

/* As CREATE_BO takes them: a BO that need not be in VRAM has any caching. */
static int create_placed(struct client *c, struct bo *bo)
{
	struct drm_agate_create_bo arg = {
		.size = (1 + any(1024)) * PAGE,
		.flags = (any(2) ? AGATE_BO_CPU_VISIBLE : 0) | (any(2) ? AGATE_BO_POPULATE : 0),
		.placement = 1 + any(3), .caching = AGATE_CACHING_WC,
	};

	if (arg.placement == 1u << DRM_AGATE_REGION_SYSTEM)
		arg.caching = any(3);
	if (any(2))
		arg.vm_id = c->space[any(SPACES)];
	return guest_create_with(c->fd, &arg, bo);
}

static int create_any(struct client *c, struct bo *bo)
{
	static const uint32_t flags[] = {
		0, 0, AGATE_BO_NOEXEC, AGATE_BO_GPU_READONLY, AGATE_BO_CPU_READONLY,
		AGATE_BO_HEAP | AGATE_BO_NOEXEC, AGATE_BO_CONTIGUOUS,
	};
	const uint32_t flag = flags[any(7)];
	int err;

	if (card && any(2))
		return create_placed(c, bo);
	err = guest_create(c->fd, (1 + any(64)) * PAGE * (flag & AGATE_BO_HEAP ? 64 : 1), flag, bo);
	/* These cannot be mapped, or not for writing. */
	return err || !(flag & (AGATE_BO_HEAP | AGATE_BO_CPU_READONLY)) ? err : EACCES;
}

static void new_bo(struct client *c)
{
	struct bo *bo = &c->bo[any(BOS)];
	struct drm_agate_mmap_bo map = { 0 };

	/* The old one keeps its handle, for others to guess, unless it is closed here. */
	if (bo->handle && any(2))
		guest_close_handle(c->fd, bo->handle);
	forget(bo);
	if (create_any(c, bo))
		return;
	map.handle = bo->handle;
	if (guest_ioctl(c->fd, DRM_IOCTL_AGATE_MMAP_BO, &map))
		return;
	bo->cpu = mmap(NULL, bo->size, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd,
		       (off_t)map.offset);
	if (bo->cpu == MAP_FAILED)
		bo->cpu = NULL;
}

/* A chain that writes to itself, to another BO or to nothing, and perhaps for ever. */
static void new_job(struct client *c)
{
	struct bo *bo = &c->bo[any(BOS)];
	const struct bo *other = &c->bo[any(BOS)];
	const uint64_t targets[] = { bo->va + DATA, other->va, UNMAPPED };
	const uint32_t handles[] = { bo->handle, other->handle, 1 + any(2 * BOS) };

	if (!bo->cpu)
		return;
	guest_job_write64(bo, 0, any(4) ? 0 : bo->va, targets[any(3)], 1);
	guest_submit(c->fd, bo->va, any(2) ? AGATE_JD_REQ_FS : 0, handles, 1 + any(3), 0);
}

/* ---- Address spaces ---------------------------------------------------- */

#define SPACE_VA	0x10000000ull
#define SPACE_PAGES	2048u

/* Any part of an address space, which often overlaps with what is bound. */
static uint64_t any_page(void)
{
	return SPACE_VA + (uint64_t)any(SPACE_PAGES) * PAGE;
}

static void new_space(struct client *c)
{
	static const uint32_t flags[] = {
		0, 0, AGATE_VM_LONG_RUNNING, AGATE_VM_LONG_RUNNING | AGATE_VM_FAULT_MODE,
	};
	uint32_t *space = &c->space[any(SPACES)];
	struct drm_agate_vm_destroy end = { .vm_id = any(2) ? *space : 1 + any(2 * SPACES) };
	struct drm_agate_vm_create begin = { .flags = flags[any(4)] };

	guest_ioctl(c->fd, DRM_IOCTL_AGATE_VM_DESTROY, &end);
	if (!guest_ioctl(c->fd, DRM_IOCTL_AGATE_VM_CREATE, &begin))
		*space = begin.vm_id;
}

/* Changes and chains wait for each other, in any order, by sync objects that all of them set. */
static struct drm_agate_sync any_sync(const struct client *c)
{
	return (struct drm_agate_sync){
		.handle = any(8) ? c->sync[any(SYNCS)] : 1 + any(2 * SYNCS), .point = any(4),
	};
}

static void bind_any(struct client *c)
{
	const struct bo *bo = &c->bo[any(BOS)];
	struct drm_agate_sync in = any_sync(c), out = any_sync(c);
	struct drm_agate_vm_bind arg = {
		.vm_id = any(8) ? c->space[any(SPACES)] : 1 + any(2 * SPACES),
		.op = any(3) ? AGATE_VM_BIND_MAP : AGATE_VM_BIND_UNMAP,
		.addr = any_page(), .range = (1 + any(SPACE_PAGES)) * (uint64_t)PAGE,
		.in_syncs = (uintptr_t)&in, .in_sync_count = !any(4),
		.out_syncs = (uintptr_t)&out, .out_sync_count = !any(2),
	};

	if (arg.op == AGATE_VM_BIND_MAP) {
		arg.handle = any(8) ? bo->handle : 1 + any(3 * BOS);
		arg.flags = any(4);
		if (bo->size && any(16)) {
			arg.offset = any((uint32_t)(bo->size / PAGE)) * (uint64_t)PAGE;
			arg.range = (1 + any((uint32_t)((bo->size - arg.offset) / PAGE))) *
				    (uint64_t)PAGE;
		}
	}
	guest_ioctl(c->fd, DRM_IOCTL_AGATE_VM_BIND, &arg);
}

/* ---- Memory of its own ------------------------------------------------- */

/* A part of it: the first page, and the bytes. */
static char *any_part(const struct client *c, size_t *size)
{
	const uint32_t first = any(USER_PAGES);

	*size = (1 + any(USER_PAGES - first)) * (size_t)PAGE;
	return c->user + first * (size_t)PAGE;
}

static void new_user(struct client *c)
{
	c->user = mmap(c->user, USER_PAGES * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | (c->user ? MAP_FIXED : 0), -1, 0);
	assert_ptr_not_equal(c->user, MAP_FAILED);
}

static void bind_user(struct client *c)
{
	struct drm_agate_vm_bind arg = {
		.vm_id = c->space[any(SPACES)], .op = AGATE_VM_BIND_MAP,
		.flags = AGATE_VM_BIND_USERPTR | any(4), .addr = any_page(),
	};
	size_t size;

	arg.offset = (uintptr_t)any_part(c, &size);
	arg.range = size;
	guest_ioctl(c->fd, DRM_IOCTL_AGATE_VM_BIND, &arg);
}

/* A child shares it until somebody writes. */
static void fork_user(struct client *c)
{
	pid_t pid = fork();

	if (!pid) {
		*(volatile char *)c->user = 1;
		_exit(0);
	}
	*(volatile char *)c->user = 2;
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static void change_user(struct client *c)
{
	size_t size;
	char *part = any_part(c, &size);

	switch (any(6)) {
	case 0:
		new_user(c);
		break;
	case 1:
		munmap(part, size);
		new_user(c);
		break;
	case 2:
		mprotect(part, size, PROT_READ);
		mprotect(part, size, PROT_READ | PROT_WRITE);
		break;
	case 3:
		fork_user(c);
		break;
	default:
		madvise(part, size, MADV_DONTNEED);
		break;
	}
}

/* ---- Chains there ------------------------------------------------------ */

/* Often no job is there. */
static void run_any(struct client *c)
{
	struct bo *bo = &c->bo[any(BOS)];
	struct drm_agate_sync in = any_sync(c), out = any_sync(c);
	struct drm_agate_submit arg = {
		.jc = any_page(), .requirements = any(2) ? AGATE_JD_REQ_FS : 0,
		.vm_id = any(8) ? c->space[any(SPACES)] : 1 + any(2 * SPACES),
		.in_syncs = (uintptr_t)&in, .in_sync_count = !any(4),
		.out_syncs = (uintptr_t)&out, .out_sync_count = !any(4),
	};

	if (bo->cpu)
		guest_job_write64(bo, 0, any(4) ? 0 : arg.jc, any_page(), 1);
	guest_ioctl(c->fd, DRM_IOCTL_AGATE_SUBMIT, &arg);
}

static void use_spaces(struct client *c)
{
	const uint32_t what = any(16);

	if (!what)
		new_space(c);
	else if (what < 8)
		bind_any(c);
	else if (what < 10)
		bind_user(c);
	else if (what < 11)
		change_user(c);
	else
		run_any(c);
}

static void guess(struct client *c)
{
	const uint32_t handle = 1 + any(3 * BOS);
	struct drm_agate_madvise advice = {
		.handle = handle, .madv = any(2), .label = any(2) ? (uintptr_t)"storm" : 0,
	};
	struct drm_agate_get_bo_offset offset = { .handle = handle };

	switch (any(4)) {
	case 0:
		advice.len = advice.label ? any(6) : 0;
		guest_ioctl(c->fd, DRM_IOCTL_AGATE_MADVISE, &advice);
		break;
	case 1:
		guest_ioctl(c->fd, DRM_IOCTL_AGATE_GET_BO_OFFSET, &offset);
		break;
	case 2:
		guest_wait(c->fd, handle, guest_deadline(any(20)));
		break;
	default:
		guest_close_handle(c->fd, handle);
		break;
	}
}

static void close_dmabuf(int *dmabuf)
{
	if (*dmabuf >= 0)
		close(*dmabuf);
	*dmabuf = -1;
}

/* Export any BO, its neighbours' too, or import what was exported, or a stranger's memory. */
static void share(struct client *c)
{
	int *dmabuf = &c->dmabuf[any(DMABUFS)];
	uint32_t handle;
	void *map;

	switch (any(5)) {
	case 0:
		close_dmabuf(dmabuf);
		break;
	case 1:
		close_dmabuf(dmabuf);
		dmabuf_try_export(c->fd, 1 + any(3 * BOS), any(2) ? DRM_RDWR : 0, dmabuf);
		break;
	case 2:
		/* Under a number that others guess; and by the file that made it, or a later one. */
		dmabuf_try_import(c->fd, any(4) ? *dmabuf : c->memory, &handle);
		break;
	case 3:
		if (!dmabuf_try_import(c->vgem, *dmabuf, &handle))
			c->lent = handle;
		break;
	default:
		guest_close_handle(c->vgem, c->lent);
		map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, *dmabuf, 0);
		if (map == MAP_FAILED)
			break;
		(void)*(volatile uint8_t *)map;
		munmap(map, PAGE);
		break;
	}
}

static void reopen(struct client *c)
{
	for (int i = 0; i < BOS; i++)
		forget(&c->bo[i]);
	if (c->fd >= 0)
		close(c->fd);
	c->fd = gpus_try_open(any(gpus));
	if (c->fd < 0)
		pause_ms(10);
	for (int i = 0; card && c->fd >= 0 && i < SYNCS; i++) {
		struct drm_syncobj_create arg = { .flags = DRM_SYNCOBJ_CREATE_SIGNALED };

		if (!guest_ioctl(c->fd, DRM_IOCTL_SYNCOBJ_CREATE, &arg))
			c->sync[i] = arg.handle;
	}
	for (int i = 0; card && c->fd >= 0 && i < SPACES; i++)
		new_space(c);
}

static sigjmp_buf lost;

/* Memory of a card that was taken from its driver. */
static void on_sigbus(int number)
{
	(void)number;
	siglongjmp(lost, 1);
}

/* Until it is killed.  A file that lost its device is used for a while, too. */
static _Noreturn void client(uint64_t number)
{
	static struct client c = { .fd = -1, .dmabuf = { -1, -1, -1 } };
	void *cpu;

	seed = number;
	if (card)
		signal(SIGBUS, on_sigbus);
	c.vgem = stranger_open("vgem");
	c.memory = dmabuf_of_memory(16 * PAGE, &cpu);
	new_user(&c);
	if (sigsetjmp(lost, 1))
		reopen(&c);
	for (;;) {
		const uint32_t what = any(64);

		if (c.fd < 0 || !what)
			reopen(&c);
		else if (card && what >= 24 && any(2))
			use_spaces(&c);
		else if (what < 16)
			new_bo(&c);
		else if (what < 40)
			new_job(&c);
		else if (what < 52)
			share(&c);
		else
			guess(&c);
	}
}

/* ---- The weather ------------------------------------------------------ */

static char devices[MOST_GPUS][GPUS_NAME];

static void find_devices(void)
{
	for (unsigned int i = 0; i < gpus; i++)
		close(gpus_open_named(i, devices[i]));
}

/* Write a device's name to a file of the driver: "bind" or "unbind". */
static void tell_driver(const char *file, const char *device)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/pci/drivers/agate/%s", file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, device, strlen(device)), strlen(device));
	close(fd);
}

/* How long the GPU must be idle before it loses its power: often no time at all. */
static void change_delay(void)
{
	static const char *const delays[] = { "0", "0", "1", "5", "50", "-1" };
	const char *delay = delays[any(6)], *device = devices[any(gpus)];
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/power/autosuspend_delay_ms", device);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, delay, strlen(delay)), strlen(delay));
	close(fd);
}

static pid_t start_client(void)
{
	const uint64_t number = seed + any(1u << 30);
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		client(number);
	return pid;
}

static void end_client(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void works(unsigned int gpu)
{
	int fd = gpus_open(gpu);
	struct bo bo = guest_bo(fd, PAGE, 0);

	guest_job_write64(&bo, 0, 0, bo.va + DATA, 0x600d);
	assert_int_equal(guest_submit(fd, bo.va, 0, &bo.handle, 1, 0), 0);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	assert_int_equal(*(volatile uint64_t *)((char *)bo.cpu + DATA), 0x600d);
	guest_destroy(&bo);
	close(fd);
	guest_assert_nothing_left();
}

static void storm(void **state)
{
	const int64_t end = guest_deadline(1000 * (int64_t)seconds);
	unsigned int killed = 0, unbound = 0;
	const char *device;
	pid_t pid[CLIENTS];

	(void)state;
	find_devices();
	/* Before the clients race for it. */
	close(stranger_open("vgem"));
	for (int i = 0; i < CLIENTS; i++)
		pid[i] = start_client();
	while (guest_deadline(0) < end) {
		const uint32_t which = any(CLIENTS);

		pause_ms(50 + any(200));
		/* A card keeps its power: it would lose its memory. */
		if (!card)
			change_delay();
		if (any(4)) {
			end_client(pid[which]);
			pid[which] = start_client();
			killed++;
		} else {
			device = devices[any(gpus)];
			tell_driver("unbind", device);
			pause_ms(any(50));
			tell_driver("bind", device);
			unbound++;
		}
	}
	for (int i = 0; i < CLIENTS; i++)
		end_client(pid[i]);
	stranger_unload("vgem");
	printf("# %u clients were killed, the GPU was taken %u times\n", killed, unbound);

	for (unsigned int i = 0; i < gpus; i++)
		works(i);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(storm),
	};

	card = argc == 4 && !strcmp(argv[3], "card");
	seconds = argc == 3 || card ? (unsigned int)atoi(argv[1]) : 0;
	gpus = argc == 3 || card ? (unsigned int)atoi(argv[2]) : 0;
	if (!seconds || !gpus || gpus > MOST_GPUS) {
		fprintf(stderr, "usage: storm SECONDS GPUS [card]\n");
		return 2;
	}
	seed = 0x9e3779b97f4a7c15u ^ (uint64_t)guest_deadline(0);
	return cmocka_run_group_tests_name("storm", tests, NULL, NULL);
}
