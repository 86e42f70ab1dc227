// SPDX-License-Identifier: MIT
/*
 * The fake kernel for a program that was linked with libagate.so: as a library to preload,
 * whose functions take the place of libdrm's and libc's.  agate_device_open() opens it.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include <xf86drm.h>

#include "agate_bar2.h"
#include "agate_regs.h"
#include "fake_calls.h"
#include "fake_kernel.h"

void *__real_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	return (void *)syscall(SYS_mmap, addr, length, prot, flags, fd, offset);
}

int __real_munmap(void *addr, size_t length)
{
	return (int)syscall(SYS_munmap, addr, length);
}

/* A GPU that knows one job: to write 64 bits. */
static int run(const struct drm_agate_submit *args, const uint32_t *handles)
{
	const uint32_t count = args->bo_handle_count;
	struct agate_job_header *job;
	uint64_t at, *word;

	for (at = args->jc; at; at = job->next) {
		const struct agate_write_value_payload *payload;

		job = fake_gpu_memory(handles, count, at, sizeof(*job) + sizeof(*payload), true);
		if (!job)
			return 0;
		payload = (const void *)(job + 1);
		word = fake_gpu_memory(handles, count, payload->address, sizeof(*word), true);
		if (!word || AGATE_JOB_TYPE_OF(job->control) != AGATE_JOB_WRITE_VALUE ||
		    payload->type != AGATE_WRITE_IMMEDIATE_64) {
			job->exception_status = AGATE_EXC_JOB_CONFIG_FAULT;
			return 0;
		}
		*word = payload->immediate;
		job->exception_status = AGATE_EXC_DONE;
	}
	return 0;
}

/* One GPU, with a file that anybody can open as its render node. */
__attribute__((constructor)) static void begin(void)
{
	static char node[] = "/dev/null";
	static char *nodes[DRM_NODE_MAX] = { [DRM_NODE_RENDER] = node };
	static drmPciDeviceInfo pci = {
		.vendor_id = AGATE_PCI_VENDOR, .device_id = AGATE_PCI_DEVICE,
	};
	static drmDevice device = {
		.nodes = nodes, .available_nodes = 1 << DRM_NODE_RENDER, .bustype = DRM_BUS_PCI,
		.deviceinfo.pci = &pci,
	};
	static const drmDevicePtr devices[] = { &device };

	fake_reset();
	fake_devices(devices, 1);
	fake_submit(run);
}

drmVersionPtr __wrap_drmGetVersion(int fd);

/* The first file that is asked for its driver is the GPU's. */
drmVersionPtr drmGetVersion(int fd)
{
	fake_driver(fd, AGATE_DRM_MAJOR);
	return __wrap_drmGetVersion(fd);
}
