// SPDX-License-Identifier: MIT
/*
 * A 32-bit program that uses the driver: compat.
 *
 * It brings its own system calls, so it needs no 32-bit library, neither here nor in the
 * guest.  The structures are those of the same header; pointers in them have 64 bits.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <asm/unistd_32.h>
#include <linux/errno.h>

#include "agate_drm.h"
#include "agate_job.h"

_Static_assert(sizeof(void *) == 4, "this program has 32 bits");

#define PAGE		4096u
#define FOREVER		INT64_MAX
#define READ_WRITE	3	/* PROT_READ | PROT_WRITE */
#define SHARED		1	/* MAP_SHARED */
#define OPEN_RDWR	02
#define JOBS_VA		0x10000000ull
#define USER_VA		0x20000000ull

/* ---- The system --------------------------------------------------------- */

int system_call(int number, ...);

/* %ebp is the sixth argument's register, and the compiler's. */
__asm__(".globl system_call\n"
	"system_call:\n"
	"	pushl %ebp\n	pushl %edi\n	pushl %esi\n	pushl %ebx\n"
	"	movl 20(%esp), %eax\n	movl 24(%esp), %ebx\n	movl 28(%esp), %ecx\n"
	"	movl 32(%esp), %edx\n	movl 36(%esp), %esi\n	movl 40(%esp), %edi\n"
	"	movl 44(%esp), %ebp\n"
	"	int $0x80\n"
	"	popl %ebx\n	popl %esi\n	popl %edi\n	popl %ebp\n"
	"	ret\n"
	".globl _start\n"
	"_start:\n"
	"	andl $-16, %esp\n"
	"	call run\n");

/* The compiler calls these. */
void *memset(void *to, int value, size_t size)
{
	volatile char *at = to;

	while (size--)
		*at++ = (char)value;
	return to;
}

void *memcpy(void *to, const void *from, size_t size)
{
	volatile char *at = to;
	const char *byte = from;

	while (size--)
		*at++ = *byte++;
	return to;
}

static void say(const char *text)
{
	size_t size = 0;

	while (text[size])
		size++;
	system_call(__NR_write, 1, text, size, 0, 0, 0);
}

static unsigned int points;
static bool failed;

static void say_number(unsigned int number)
{
	char text[12], *at = text + sizeof(text) - 1;

	*at = '\0';
	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	say(at);
}

/* One point of TAP.  Returns if it is well. */
static bool point(const char *name, bool well)
{
	say(well ? "ok " : "not ok ");
	say_number(++points);
	say(" - ");
	say(name);
	say("\n");
	failed |= !well;
	return well;
}

/* 0 or the errno. */
static int call(int fd, unsigned long request, void *arg)
{
	int ret;

	do
		ret = system_call(__NR_ioctl, fd, request, arg, 0, 0, 0);
	while (ret == -EINTR || ret == -EAGAIN);
	return -ret;
}

/* In two steps: the compiler warns of a cast that changes the size. */
static uint64_t pointer(const void *at)
{
	return (uintptr_t)at;
}

static bool same(const char *one, const char *other)
{
	while (*one && *one == *other) {
		one++;
		other++;
	}
	return *one == *other;
}

/* ---- What is asked -------------------------------------------------------- */

static int gpu;
static uint64_t features;

static int open_gpu(void)
{
	char path[] = "/dev/dri/renderD128", name[16] = "";
	struct drm_version version = { .name = name, .name_len = sizeof(name) - 1 };

	gpu = system_call(__NR_open, path, OPEN_RDWR, 0, 0, 0, 0);
	return gpu >= 0 && !call(gpu, DRM_IOCTL_VERSION, &version) && same(name, "agate");
}

static bool has_params(void)
{
	struct drm_agate_get_param id = { .param = DRM_AGATE_PARAM_GPU_ID };
	struct drm_agate_get_param all = { .param = DRM_AGATE_PARAM_FEATURES };
	bool well = !call(gpu, DRM_IOCTL_AGATE_GET_PARAM, &id) &&
		    !call(gpu, DRM_IOCTL_AGATE_GET_PARAM, &all) && id.value;

	features = all.value;
	return well;
}

struct bo {
	uint32_t handle;
	uint64_t va;
	char *cpu;
};

/* The offset of a map does not fit into 32 bits; its page does. */
static bool map(struct bo *bo)
{
	struct drm_agate_mmap_bo arg = { .handle = bo->handle };
	int at;

	if (call(gpu, DRM_IOCTL_AGATE_MMAP_BO, &arg))
		return false;
	at = system_call(__NR_mmap2, 0, PAGE, READ_WRITE, SHARED, gpu,
			 (unsigned int)(arg.offset >> 12));
	bo->cpu = (char *)at;
	return at > 0 || at < -4095;
}

static bool create(struct drm_agate_create_bo arg, struct bo *bo)
{
	struct drm_agate_get_bo_offset offset;

	arg.size = PAGE;
	if (call(gpu, DRM_IOCTL_AGATE_CREATE_BO, &arg) || !arg.handle)
		return false;
	*bo = (struct bo){ .handle = arg.handle, .va = arg.offset };
	offset = (struct drm_agate_get_bo_offset){ .handle = bo->handle };
	if (!arg.vm_id && (call(gpu, DRM_IOCTL_AGATE_GET_BO_OFFSET, &offset) ||
			   offset.offset != bo->va))
		return false;
	return map(bo);
}

/* A job at the start of the BO that stores a value. */
static void write_job(const struct bo *bo, uint64_t to, uint64_t value)
{
	struct agate_job_header *job = (void *)bo->cpu;
	struct agate_write_value_payload *payload = (void *)(job + 1);

	*job = (struct agate_job_header){
		.control = AGATE_JOB_64BIT | AGATE_JOB_TYPE(AGATE_JOB_WRITE_VALUE) |
			   AGATE_JOB_INDEX(1),
	};
	*payload = (struct agate_write_value_payload){
		.address = to, .type = AGATE_WRITE_IMMEDIATE_64, .immediate = value,
	};
}

static bool waits_for(uint32_t sync)
{
	struct drm_syncobj_wait wait = {
		.handles = pointer(&sync), .timeout_nsec = FOREVER, .count_handles = 1,
	};

	return !call(gpu, DRM_IOCTL_SYNCOBJ_WAIT, &wait);
}

static bool runs(const struct bo *bo)
{
	const uint32_t flags = AGATE_SUBMIT_BO_READ | AGATE_SUBMIT_BO_WRITE;
	struct drm_syncobj_create create_sync = { 0 };
	struct drm_agate_sync sync = { 0 };
	struct drm_agate_submit submit = {
		.jc = bo->va, .bo_handles = pointer(&bo->handle), .bo_handle_count = 1,
		.bo_flags = pointer(&flags), .out_syncs = pointer(&sync), .out_sync_count = 1,
	};
	struct drm_agate_wait_bo wait = { .handle = bo->handle, .timeout_ns = FOREVER };

	if (call(gpu, DRM_IOCTL_SYNCOBJ_CREATE, &create_sync))
		return false;
	sync.handle = create_sync.handle;
	write_job(bo, bo->va + 1024, 0x1122334455667788ull);
	return !call(gpu, DRM_IOCTL_AGATE_SUBMIT, &submit) && waits_for(sync.handle) &&
	       !call(gpu, DRM_IOCTL_AGATE_WAIT_BO, &wait) &&
	       *(volatile uint64_t *)(bo->cpu + 1024) == 0x1122334455667788ull;
}

/* All 64 bits of a pointer count: the lower half of this one alone is good. */
static bool pointers_are_whole(const struct bo *bo)
{
	struct drm_agate_submit submit = {
		.jc = bo->va, .bo_handles = pointer(&bo->handle) | 1ull << 32,
		.bo_handle_count = 1,
	};
	struct drm_agate_set_label label = {
		.handle = bo->handle, .label = pointer("label") | 1ull << 63, .len = 5,
	};

	return call(gpu, DRM_IOCTL_AGATE_SUBMIT, &submit) == EFAULT &&
	       call(gpu, DRM_IOCTL_AGATE_SET_LABEL, &label) == EFAULT;
}

static bool takes_labels(const struct bo *bo)
{
	struct drm_agate_set_label label = {
		.handle = bo->handle, .label = pointer("thirty-two"), .len = 10,
	};
	struct drm_agate_madvise advice = {
		.handle = bo->handle, .madv = AGATE_MADV_WILLNEED, .label = pointer("bits"), .len = 4,
	};

	return !call(gpu, DRM_IOCTL_AGATE_SET_LABEL, &label) &&
	       !call(gpu, DRM_IOCTL_AGATE_MADVISE, &advice) && advice.retained == 1;
}

static bool shares(const struct bo *bo)
{
	struct drm_prime_handle out = { .handle = bo->handle, .flags = OPEN_RDWR };
	struct drm_prime_handle in = { 0 };

	if (call(gpu, DRM_IOCTL_PRIME_HANDLE_TO_FD, &out))
		return false;
	in.fd = out.fd;
	return !call(gpu, DRM_IOCTL_PRIME_FD_TO_HANDLE, &in) && in.handle == bo->handle &&
	       !system_call(__NR_close, out.fd, 0, 0, 0, 0, 0);
}

/* ---- The card ------------------------------------------------------------- */

static bool has_regions(void)
{
	struct drm_agate_region region[4] = { 0 };
	struct drm_agate_query_regions query = {
		.regions = pointer(region), .count = 4, .region_size = sizeof(region[0]),
	};

	return !call(gpu, DRM_IOCTL_AGATE_QUERY_REGIONS, &query) && query.count == 2 &&
	       query.region_size == sizeof(region[0]) && region[0].size && region[1].size;
}

static bool shows(void)
{
	struct drm_agate_flip flip = {
		.width = 16, .height = 4, .stride = 64, .format = AGATE_FORMAT_R8G8B8A8,
	};
	struct drm_agate_flip nothing = { 0 };
	struct bo bo;

	if (!create((struct drm_agate_create_bo){
		.placement = 1u << DRM_AGATE_REGION_SYSTEM }, &bo))
		return false;
	flip.handle = bo.handle;
	return !call(gpu, DRM_IOCTL_AGATE_FLIP, &flip) && !call(gpu, DRM_IOCTL_AGATE_FLIP, &nothing);
}

static _Alignas(PAGE) char memory[PAGE];

/* A job in a BO of an address space writes to the memory of this process. */
static bool binds(void)
{
	struct drm_agate_vm_create space = { 0 };
	struct drm_agate_vm_destroy end = { 0 };
	struct drm_agate_vm_bind bind = { .addr = JOBS_VA, .range = PAGE };
	struct drm_agate_vm_bind user = {
		.addr = USER_VA, .range = PAGE, .offset = pointer(memory),
		.flags = AGATE_VM_BIND_USERPTR,
	};
	struct drm_agate_submit submit = { .jc = JOBS_VA };
	struct drm_agate_wait_bo wait = { .timeout_ns = FOREVER };
	struct bo bo;

	if (call(gpu, DRM_IOCTL_AGATE_VM_CREATE, &space) || space.va_start >= space.va_end)
		return false;
	submit.vm_id = bind.vm_id = user.vm_id = end.vm_id = space.vm_id;
	if (!create((struct drm_agate_create_bo){
		.placement = 1u << DRM_AGATE_REGION_SYSTEM, .vm_id = space.vm_id }, &bo))
		return false;
	wait.handle = bind.handle = bo.handle;
	write_job(&bo, USER_VA + 64, 0x8877665544332211ull);
	return !call(gpu, DRM_IOCTL_AGATE_VM_BIND, &bind) &&
	       !call(gpu, DRM_IOCTL_AGATE_VM_BIND, &user) &&
	       !call(gpu, DRM_IOCTL_AGATE_SUBMIT, &submit) &&
	       !call(gpu, DRM_IOCTL_AGATE_WAIT_BO, &wait) &&
	       *(volatile uint64_t *)(memory + 64) == 0x8877665544332211ull &&
	       !call(gpu, DRM_IOCTL_AGATE_VM_DESTROY, &end);
}

static bool has_no_card(void)
{
	struct drm_agate_vm_create space = { 0 };

	return call(gpu, DRM_IOCTL_AGATE_VM_CREATE, &space) == EOPNOTSUPP;
}

/* ---- All of it -------------------------------------------------------------- */

static void use_card(void)
{
	if (!(features & AGATE_FEATURE_ENGINES)) {
		point("compat: what there is not", has_no_card());
		return;
	}
	point("compat: QUERY_REGIONS", has_regions());
	point("compat: FLIP", shows());
	point("compat: VM_CREATE, VM_BIND, VM_DESTROY, and memory of the process", binds());
}

static void use_bo(void)
{
	struct bo bo;

	if (!point("compat: CREATE_BO, MMAP_BO, GET_BO_OFFSET", create((struct drm_agate_create_bo){ 0 }, &bo)))
		return;
	point("compat: SUBMIT, WAIT_BO, and sync objects", runs(&bo));
	point("compat: pointers with more than 32 bits", pointers_are_whole(&bo));
	point("compat: SET_LABEL, MADVISE", takes_labels(&bo));
	point("compat: PRIME", shares(&bo));
}

_Noreturn void run(void);
void run(void)
{
	if (point("compat: opens", open_gpu()) && point("compat: GET_PARAM", has_params())) {
		use_bo();
		use_card();
	}
	say("1..");
	say_number(points);
	say("\n");
	for (;;)
		system_call(__NR_exit, failed, 0, 0, 0, 0, 0);
}
