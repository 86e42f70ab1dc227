// SPDX-License-Identifier: MIT
/*
 * Replacements (by -Wl,--wrap) for functions of libdrm and libc: they count calls,
 * make them fail and call the hook, and leave the work to fake_kernel.c.
 */
#include "fake_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <xf86drm.h>

#include "fake_kernel.h"

#define MAX_REQUESTS	32
#define MAX_MAPS	4096

struct request {
	unsigned long request;
	unsigned int calls;
	unsigned int refused;
	unsigned int fail_in;		/* calls until one fails; 0: none will */
	int err;
};

static struct {
	pthread_mutex_t lock;
	int fd;				/* of the device, -1 while there is none */
	int major;			/* of its driver's version */
	const drmDevicePtr *devices;	/* that libdrm lists */
	int device_count;
	int devices_freed;
	struct request request[MAX_REQUESTS];
	void *map[MAX_MAPS];
	void (*hook)(unsigned long request, enum fake_when when, void *arg);
} calls = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

static _Thread_local bool in_hook;

/* With the lock held. */
static struct request *request_of(unsigned long request)
{
	struct request *r = calls.request;

	while (r->request && r->request != request) {
		if (++r == calls.request + MAX_REQUESTS)
			abort();
	}
	r->request = request;
	return r;
}

static void call_hook(unsigned long request, enum fake_when when, void *arg)
{
	void (*hook)(unsigned long request, enum fake_when when, void *arg);

	pthread_mutex_lock(&calls.lock);
	hook = calls.hook;
	pthread_mutex_unlock(&calls.lock);
	if (!hook || in_hook)
		return;
	in_hook = true;
	hook(request, when, arg);
	in_hook = false;
}

/* Count a call; returns the errno with which it must fail, or 0. */
static int enter(unsigned long request, void *arg)
{
	struct request *r;
	int err = 0;

	call_hook(request, FAKE_BEFORE, arg);
	pthread_mutex_lock(&calls.lock);
	r = request_of(request);
	r->calls++;
	if (r->fail_in && !--r->fail_in)
		err = r->err;
	pthread_mutex_unlock(&calls.lock);
	return err;
}

static void refuse(unsigned long request)
{
	pthread_mutex_lock(&calls.lock);
	request_of(request)->refused++;
	pthread_mutex_unlock(&calls.lock);
}

int __wrap_drmIoctl(int fd, unsigned long request, void *arg);
int __wrap_drmIoctl(int fd, unsigned long request, void *arg)
{
	int err = enter(request, arg);

	if (!err) {
		err = fd == calls.fd || request == SYNC_IOC_FILE_INFO ?
		      fake_ioctl(request, arg) : EBADF;
		if (err)
			refuse(request);
	}
	call_hook(request, FAKE_AFTER, arg);
	errno = err;
	return err ? -1 : 0;
}

int __wrap_drmPrimeFDToHandle(int fd, int prime_fd, uint32_t *handle);
int __wrap_drmPrimeFDToHandle(int fd, int prime_fd, uint32_t *handle)
{
	struct drm_prime_handle args = { .fd = prime_fd };
	int ret = __wrap_drmIoctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &args);

	*handle = args.handle;
	return ret;
}

int __wrap_drmPrimeHandleToFD(int fd, uint32_t handle, uint32_t flags, int *prime_fd);
int __wrap_drmPrimeHandleToFD(int fd, uint32_t handle, uint32_t flags, int *prime_fd)
{
	struct drm_prime_handle args = { .handle = handle, .flags = flags };
	int ret = __wrap_drmIoctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &args);

	*prime_fd = args.fd;
	return ret;
}

int __wrap_drmCloseBufferHandle(int fd, uint32_t handle);
int __wrap_drmCloseBufferHandle(int fd, uint32_t handle)
{
	struct drm_gem_close args = { .handle = handle };

	return __wrap_drmIoctl(fd, DRM_IOCTL_GEM_CLOSE, &args);
}

int __wrap_drmSyncobjCreate(int fd, uint32_t flags, uint32_t *handle);
int __wrap_drmSyncobjCreate(int fd, uint32_t flags, uint32_t *handle)
{
	struct drm_syncobj_create args = { .flags = flags };
	int ret = __wrap_drmIoctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &args);

	*handle = args.handle;
	return ret;
}

int __wrap_drmSyncobjDestroy(int fd, uint32_t handle);
int __wrap_drmSyncobjDestroy(int fd, uint32_t handle)
{
	struct drm_syncobj_destroy args = { .handle = handle };

	return __wrap_drmIoctl(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &args);
}

drmVersionPtr __wrap_drmGetVersion(int fd);
drmVersionPtr __wrap_drmGetVersion(int fd)
{
	static char agate[] = "agate", other[] = "vgem";
	drmVersionPtr version = calloc(1, sizeof(*version));

	if (!version)
		abort();
	version->name = fd == calls.fd ? agate : other;
	version->version_major = calls.major;
	version->version_minor = fake_minor();
	return version;
}

void __wrap_drmFreeVersion(drmVersionPtr version);
void __wrap_drmFreeVersion(drmVersionPtr version)
{
	free(version);
}

int __wrap_drmGetDevices2(uint32_t flags, drmDevicePtr devices[], int max_devices);
int __wrap_drmGetDevices2(uint32_t flags, drmDevicePtr devices[], int max_devices)
{
	(void)flags;
	if (calls.device_count > max_devices)
		abort();
	if (calls.device_count)
		memcpy(devices, calls.devices, (size_t)calls.device_count * sizeof(*devices));
	return calls.device_count;
}

void __wrap_drmFreeDevices(drmDevicePtr devices[], int count);
void __wrap_drmFreeDevices(drmDevicePtr devices[], int count)
{
	(void)devices;
	calls.devices_freed += count;
}

void *__wrap_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	void *map = MAP_FAILED;
	unsigned int i;

	if (fd != calls.fd || fd < 0)
		return __real_mmap(addr, length, prot, flags, fd, offset);
	errno = enter(FAKE_MMAP, NULL);
	if (!errno)
		map = fake_map(length, prot, flags, offset);
	if (map != MAP_FAILED) {
		pthread_mutex_lock(&calls.lock);
		for (i = 0; calls.map[i]; i++) {
			if (i == MAX_MAPS - 1)
				abort();
		}
		calls.map[i] = map;
		pthread_mutex_unlock(&calls.lock);
	}
	call_hook(FAKE_MMAP, FAKE_AFTER, NULL);
	return map;
}

int __wrap_munmap(void *addr, size_t length);
int __wrap_munmap(void *addr, size_t length)
{
	unsigned int i;
	int ret;

	pthread_mutex_lock(&calls.lock);
	for (i = 0; i < MAX_MAPS && calls.map[i] != addr; i++)
		;
	pthread_mutex_unlock(&calls.lock);
	if (i == MAX_MAPS)
		return __real_munmap(addr, length);
	enter(FAKE_MUNMAP, NULL);
	/*
	 * Remove it from the list first: once unmapped, the address can belong to
	 * another map.
	 */
	pthread_mutex_lock(&calls.lock);
	calls.map[i] = NULL;
	pthread_mutex_unlock(&calls.lock);
	ret = __real_munmap(addr, length);
	call_hook(FAKE_MUNMAP, FAKE_AFTER, NULL);
	return ret;
}

void fake_reset(void)
{
	fake_driver(-1, AGATE_DRM_MAJOR);
	fake_devices(NULL, 0);
	calls.hook = NULL;
	memset(calls.request, 0, sizeof(calls.request));
	memset(calls.map, 0, sizeof(calls.map));
	fake_state_reset();
}

void fake_driver(int fd, int major)
{
	calls.fd = fd;
	calls.major = major;
}

void fake_devices(const drmDevicePtr *devices, int count)
{
	calls.devices = devices;
	calls.device_count = count;
	calls.devices_freed = 0;
}

int fake_devices_freed(void)
{
	return calls.devices_freed;
}

struct agate_device *fake_open(void)
{
	struct agate_device *dev;

	fake_driver(open("/dev/null", O_RDWR | O_CLOEXEC), AGATE_DRM_MAJOR);
	if (calls.fd < 0 || agate_device_open_fd(calls.fd, &dev))
		abort();
	return dev;
}

void fake_fail(unsigned long request, unsigned int nth, int err)
{
	struct request *r;

	pthread_mutex_lock(&calls.lock);
	r = request_of(request);
	r->fail_in = nth;
	r->err = err;
	pthread_mutex_unlock(&calls.lock);
}

unsigned int fake_calls(unsigned long request)
{
	unsigned int count;

	pthread_mutex_lock(&calls.lock);
	count = request_of(request)->calls;
	pthread_mutex_unlock(&calls.lock);
	return count;
}

unsigned int fake_refused(unsigned long request)
{
	unsigned int count;

	pthread_mutex_lock(&calls.lock);
	count = request_of(request)->refused;
	pthread_mutex_unlock(&calls.lock);
	return count;
}

void fake_hook(void (*hook)(unsigned long request, enum fake_when when, void *arg))
{
	pthread_mutex_lock(&calls.lock);
	calls.hook = hook;
	pthread_mutex_unlock(&calls.lock);
}

unsigned int fake_live_maps(void)
{
	unsigned int i, live = 0;

	pthread_mutex_lock(&calls.lock);
	for (i = 0; i < MAX_MAPS; i++)
		live += calls.map[i] != NULL;
	pthread_mutex_unlock(&calls.lock);
	return live;
}
