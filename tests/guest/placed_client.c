// SPDX-License-Identifier: MIT
/* A client whose BOs have a placement; see placed_client.h. */
#include "placed_client.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct placed_client placed_open_on(int fd, uint64_t most)
{
	return (struct placed_client){
		.fd = fd, .jobs = guest_bo(fd, PAGE, 0), .seen = guest_bo(fd, most, 0),
	};
}

struct placed_client placed_open(uint64_t most)
{
	return placed_open_on(guest_open(), most);
}

void placed_close(struct placed_client *client)
{
	guest_destroy(&client->jobs);
	guest_destroy(&client->seen);
	close(client->fd);
}

void placed_abandon(struct placed_client *client)
{
	munmap(client->jobs.cpu, client->jobs.size);
	munmap(client->seen.cpu, client->seen.size);
	close(client->fd);
}

int placed_create(int fd, uint64_t size, uint32_t flags, uint32_t placement, uint32_t caching,
		  struct bo *bo)
{
	struct drm_agate_create_bo arg = {
		.size = size, .flags = flags, .placement = placement, .caching = caching,
	};

	return guest_create_with(fd, &arg, bo);
}

struct bo placed_bo(const struct placed_client *client, uint64_t size, uint32_t flags,
		    uint32_t placement)
{
	uint32_t caching = placement & VRAM ? AGATE_CACHING_WC : AGATE_CACHING_WB;
	struct bo bo;

	assert_int_equal(placed_create(client->fd, size, flags, placement, caching, &bo), 0);
	return bo;
}

int placed_run(struct placed_client *client, const struct agate_compute_payload *payload,
	       const struct bo *bo, const struct bo *other)
{
	uint32_t handles[] = { client->jobs.handle, bo->handle, other ? other->handle : 0 };

	return guest_compute(&client->jobs, payload, handles, other ? 3 : 2);
}

int placed_try_fill(struct placed_client *client, const struct bo *bo, uint64_t value)
{
	const struct agate_compute_payload payload = {
		.op = AGATE_COMPUTE_FILL, .dst = bo->va, .size = bo->size, .value = value,
	};
	const uint32_t handles[] = { client->jobs.handle, bo->handle };
	int ret;

	guest_job(&client->jobs, 0, AGATE_JOB_COMPUTE, 0, &payload, sizeof(payload));
	ret = guest_submit(client->fd, client->jobs.va, 0, handles, 2, 0);
	return ret ? ret : guest_wait(client->fd, client->jobs.handle, FOREVER);
}

void placed_fill(struct placed_client *client, const struct bo *bo, uint64_t value)
{
	assert_int_equal(placed_run(client, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = bo->va, .size = bo->size, .value = value,
	}, bo, NULL), 1);
}

void placed_check(struct placed_client *client, const struct bo *bo, uint64_t want)
{
	const volatile uint64_t *words = client->seen.cpu;

	assert_int_equal(placed_run(client, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_COPY, .dst = client->seen.va, .src = bo->va, .size = bo->size,
	}, bo, &client->seen), 1);
	for (uint64_t i = 0; i < bo->size / 8; i++)
		assert_int_equal(words[i], want);
}

bool placed_readable(const struct bo *bo)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child) {
		signal(SIGBUS, SIG_DFL);
		_exit(*(volatile char *)bo->cpu);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) || WTERMSIG(status) == SIGBUS);
	return WIFEXITED(status);
}
