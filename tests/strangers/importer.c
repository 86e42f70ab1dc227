// SPDX-License-Identifier: MIT
/*
 * Linked into the kernel's selftest of dma-buf heaps, which imports each heap's buffers into
 * vgem and finds vgem by its name.  Here that name stands for our driver: the linker
 * sends the test's calls of ioctl() to __wrap_ioctl() (--wrap=ioctl).
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include <drm/drm.h>

#define SOUGHT		"vgem"
#define IMPORTER	"agate"

int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);

static int version(int fd, struct drm_version *asked)
{
	char name[16] = "";
	struct drm_version real = { .name = name, .name_len = sizeof(name) - 1 };
	int ret = __real_ioctl(fd, DRM_IOCTL_VERSION, &real);

	if (ret)
		return ret;
	if (strcmp(name, IMPORTER)) {
		asked->name_len = 0;
		return 0;
	}
	if (asked->name_len >= strlen(SOUGHT))
		memcpy(asked->name, SOUGHT, strlen(SOUGHT));
	asked->name_len = strlen(SOUGHT);
	return 0;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;
	int ret;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request == DRM_IOCTL_VERSION)
		return version(fd, arg);
	ret = __real_ioctl(fd, request, arg);
	if (request == DRM_IOCTL_PRIME_FD_TO_HANDLE && !ret)
		printf("(imported by " IMPORTER ") ");
	return ret;
}
