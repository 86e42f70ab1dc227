// SPDX-License-Identifier: MIT
/* Helpers for tests of dma-bufs; see dmabuf.h. */
#include "dmabuf.h"

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/udmabuf.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "drm_mode.h"

#define MODULES		"/run/agate"
#define CARDS		64

int dmabuf_try_export(int fd, uint32_t handle, uint32_t flags, int *dmabuf)
{
	struct drm_prime_handle arg = { .handle = handle, .flags = DRM_CLOEXEC | flags, .fd = -1 };
	int err = guest_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &arg);

	*dmabuf = err ? -1 : arg.fd;
	return err;
}

int dmabuf_export(const struct bo *bo)
{
	int dmabuf;

	assert_int_equal(dmabuf_try_export(bo->fd, bo->handle, DRM_RDWR, &dmabuf), 0);
	assert_true(dmabuf >= 0);
	return dmabuf;
}

int dmabuf_try_import(int fd, int dmabuf, uint32_t *handle)
{
	struct drm_prime_handle arg = { .fd = dmabuf };
	int err = guest_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &arg);

	*handle = err ? 0 : arg.handle;
	return err;
}

struct bo dmabuf_import(int fd, int dmabuf)
{
	struct bo bo = { .fd = fd, .size = dmabuf_size(dmabuf) };
	struct drm_agate_get_bo_offset arg = { 0 };

	assert_int_equal(dmabuf_try_import(fd, dmabuf, &bo.handle), 0);
	assert_int_not_equal(bo.handle, 0);
	arg.handle = bo.handle;
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_GET_BO_OFFSET, &arg), 0);
	bo.va = arg.offset;
	return bo;
}

uint64_t dmabuf_size(int dmabuf)
{
	off_t size = lseek(dmabuf, 0, SEEK_END);

	assert_true(size > 0);
	assert_int_equal(lseek(dmabuf, 0, SEEK_SET), 0);
	return (uint64_t)size;
}

bool dmabuf_same(int one, int other)
{
	struct stat a, b;

	assert_int_equal(fstat(one, &a), 0);
	assert_int_equal(fstat(other, &b), 0);
	return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

void *dmabuf_map(int dmabuf)
{
	void *cpu = mmap(NULL, dmabuf_size(dmabuf), PROT_READ | PROT_WRITE, MAP_SHARED, dmabuf, 0);

	assert_ptr_not_equal(cpu, MAP_FAILED);
	return cpu;
}

void dmabuf_sync(int dmabuf, uint64_t flags)
{
	struct dma_buf_sync arg = { .flags = flags };

	assert_int_equal(guest_ioctl(dmabuf, DMA_BUF_IOCTL_SYNC, &arg), 0);
}

/* ---- Sockets ----------------------------------------------------------- */

/* One byte goes along: a message without data carries nothing. */
union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

void dmabuf_send(int sock, int fd)
{
	union control control = { .bytes = { 0 } };
	struct iovec iov = { .iov_base = "", .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	assert_int_equal(sendmsg(sock, &msg, 0), 1);
}

int dmabuf_receive(int sock)
{
	union control control;
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	int fd;

	assert_int_equal(recvmsg(sock, &msg, MSG_CMSG_CLOEXEC), 1);
	assert_non_null(CMSG_FIRSTHDR(&msg));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

/* ---- Strangers --------------------------------------------------------- */

static void load(const char *driver)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/sys/module/%s", driver);
	if (!access(path, F_OK))
		return;
	snprintf(path, sizeof(path), MODULES "/%s.ko", driver);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(syscall(SYS_finit_module, fd, "", 0), 0);
	close(fd);
}

static bool is_driver(int fd, const char *driver)
{
	char name[16] = "";
	struct drm_version version = { .name = name, .name_len = sizeof(name) - 1 };

	return !guest_ioctl(fd, DRM_IOCTL_VERSION, &version) && !strcmp(name, driver);
}

int stranger_open(const char *driver)
{
	load(driver);
	for (int i = 0; i < CARDS; i++) {
		char path[32];
		int fd;

		snprintf(path, sizeof(path), "/dev/dri/card%d", i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (is_driver(fd, driver))
			return fd;
		close(fd);
	}
	fail_msg("no device of %s", driver);
	return -1;
}

void stranger_unload(const char *driver)
{
	assert_int_equal(syscall(SYS_delete_module, driver, O_NONBLOCK), 0);
}

struct bo stranger_bo(int fd, uint32_t width, uint32_t height)
{
	struct drm_mode_create_dumb create = { .width = width, .height = height, .bpp = 32 };
	struct drm_mode_map_dumb map = { 0 };
	struct bo bo = { .fd = fd };

	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
	assert_int_equal(create.pitch, 4 * width);
	bo.handle = create.handle;
	bo.size = create.size;
	map.handle = create.handle;
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_MODE_MAP_DUMB, &map), 0);
	bo.cpu = mmap(NULL, bo.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)map.offset);
	assert_ptr_not_equal(bo.cpu, MAP_FAILED);
	return bo;
}

bool dma_is_bounced(void)
{
	char text[4096] = "";
	FILE *file = fopen("/proc/cmdline", "re");

	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	return strstr(text, "swiotlb=force");
}

int dmabuf_of_memory(size_t size, void **cpu)
{
	int memory = memfd_create("memory", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	struct udmabuf_create create = { .flags = UDMABUF_FLAGS_CLOEXEC, .size = size };
	int dmabuf;

	assert_true(memory >= 0 && device >= 0);
	assert_int_equal(ftruncate(memory, (off_t)size), 0);
	assert_int_equal(fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	*cpu = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	assert_ptr_not_equal(*cpu, MAP_FAILED);
	create.memfd = (uint32_t)memory;
	dmabuf = ioctl(device, UDMABUF_CREATE, &create);
	assert_true(dmabuf >= 0);
	close(device);
	close(memory);
	return dmabuf;
}

/* ---- Fences of vgem ------------------------------------------------------ */

/* vgem's calls have no header that Debian installs. */
struct vgem_fence_attach {
	uint32_t handle;
	uint32_t flags;
	uint32_t out_fence;
	uint32_t pad;
};

struct vgem_fence_signal {
	uint32_t fence;
	uint32_t flags;
};

#define VGEM_FENCE_ATTACH	DRM_IOWR(DRM_COMMAND_BASE + 1, struct vgem_fence_attach)
#define VGEM_FENCE_SIGNAL	DRM_IOW(DRM_COMMAND_BASE + 2, struct vgem_fence_signal)

uint32_t stranger_attach_fence(int vgem, uint32_t handle, uint32_t flags)
{
	struct vgem_fence_attach arg = { .handle = handle, .flags = flags };

	assert_int_equal(guest_ioctl(vgem, VGEM_FENCE_ATTACH, &arg), 0);
	return arg.out_fence;
}

int stranger_signal_fence(int vgem, uint32_t fence)
{
	struct vgem_fence_signal arg = { .fence = fence };

	return guest_ioctl(vgem, VGEM_FENCE_SIGNAL, &arg);
}
