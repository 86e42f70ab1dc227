// SPDX-License-Identifier: MIT
/* Helpers of tests with two GPUs; see gpus.h. */
#include "gpus.h"

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <unistd.h>

/* glob() sorts by names, and a GPU's name on the bus stands before that of its node. */
#define NODES	"/sys/bus/pci/drivers/agate/*/drm/renderD*"

static int open_node(const char *sys, char *name)
{
	char path[32], bus[GPUS_NAME];
	unsigned int minor;

	assert_int_equal(sscanf(sys, "/sys/bus/pci/drivers/agate/%31[^/]/drm/renderD%u", bus,
				&minor), 2);
	if (name)
		strcpy(name, bus);
	snprintf(path, sizeof(path), "/dev/dri/renderD%u", minor);
	return open(path, O_RDWR | O_CLOEXEC);
}

static int try_open_named(unsigned int number, char *name)
{
	glob_t found;
	int fd = -1;

	if (!glob(NODES, 0, NULL, &found) && number < found.gl_pathc)
		fd = open_node(found.gl_pathv[number], name);
	globfree(&found);
	return fd;
}

int gpus_try_open(unsigned int number)
{
	return try_open_named(number, NULL);
}

int gpus_open_named(unsigned int number, char *name)
{
	int fd = try_open_named(number, name);

	if (fd < 0)
		guest_broken("a GPU with this number", "none: %u", number);
	guest_look_at(fd);
	return fd;
}

int gpus_open(unsigned int number)
{
	return gpus_open_named(number, NULL);
}

struct bo gpus_import(int fd, const struct bo *theirs)
{
	int dmabuf = dmabuf_export(theirs);
	struct bo bo = dmabuf_import(fd, dmabuf);

	close(dmabuf);
	return bo;
}

void gpus_fill_job(struct bo *jobs, uint32_t offset, const struct bo *bo, uint64_t value)
{
	const struct agate_compute_payload fill = {
		.op = AGATE_COMPUTE_FILL, .dst = bo->va, .size = GPUS_SIZE, .value = value,
	};

	guest_job(jobs, offset, AGATE_JOB_COMPUTE, 0, &fill, sizeof(fill));
}

void gpus_copy_job(struct bo *jobs, uint32_t offset, uint64_t next, const struct bo *to,
		   uint64_t at, const struct bo *from)
{
	const struct agate_compute_payload copy = {
		.op = AGATE_COMPUTE_COPY, .dst = to->va + at, .src = from->va, .size = GPUS_SIZE,
	};

	guest_job(jobs, offset, AGATE_JOB_COMPUTE, next, &copy, sizeof(copy));
}

int gpus_submit(const struct bo *jobs, uint32_t offset, const struct bo *bo, uint32_t access,
		uint32_t in_sync)
{
	const uint32_t handles[] = { jobs->handle, bo->handle };
	const uint32_t flags[] = { AGATE_SUBMIT_BO_READ | AGATE_SUBMIT_BO_WRITE, access };

	return guest_submit_bos(jobs->fd, jobs->va + offset, 0, handles, flags, 2, in_sync);
}

void gpus_check_words(const volatile uint64_t *words, uint64_t value)
{
	for (uint32_t i = 0; i < GPUS_WORDS; i++)
		assert_int_equal(words[i], value);
}

int gpus_nothing_left(void **state)
{
	(void)state;
	for (unsigned int gpu = 0; gpu < 2; gpu++) {
		int fd = gpus_open(gpu);

		close(fd);
		guest_assert_nothing_left();
	}
	return 0;
}
