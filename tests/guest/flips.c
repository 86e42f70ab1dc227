// SPDX-License-Identifier: MIT
/*
 * Clients that have the display show their BOs; see flips.h.
 */
#include "flips.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

struct client client_open(void)
{
	struct client client = { .fd = guest_open() };

	client.jobs = guest_bo(client.fd, PAGE, 0);
	client.source = guest_bo(client.fd, FRAME, 0);
	return client;
}

void client_close(struct client *client)
{
	guest_destroy(&client->jobs);
	guest_destroy(&client->source);
	close(client->fd);
	guest_assert_nothing_left();
}

void client_abandon(struct client *client)
{
	munmap(client->jobs.cpu, client->jobs.size);
	munmap(client->source.cpu, client->source.size);
	close(client->fd);
}

int try_placed(int fd, uint64_t size, uint32_t flags, uint32_t placement, struct bo *bo)
{
	struct drm_agate_create_bo arg = {
		.size = size, .flags = flags, .placement = placement,
		.caching = placement & VRAM ? AGATE_CACHING_WC : AGATE_CACHING_WB,
	};

	return guest_create_with(fd, &arg, bo);
}

struct bo placed(int fd, uint64_t size, uint32_t flags, uint32_t placement)
{
	struct bo bo;

	assert_int_equal(try_placed(fd, size, flags, placement, &bo), 0);
	return bo;
}

/* ---- Frames ----------------------------------------------------------------------- */

struct drm_agate_flip whole(const struct bo *bo, uint32_t flags)
{
	return (struct drm_agate_flip){
		.handle = bo->handle, .flags = flags, .width = WIDTH, .height = HEIGHT,
		.stride = STRIDE, .format = AGATE_FORMAT_R8G8B8A8,
	};
}

int flip_once(int fd, struct drm_agate_flip arg)
{
	return guest_ioctl_once(fd, DRM_IOCTL_AGATE_FLIP, &arg);
}

int flip(int fd, struct drm_agate_flip arg)
{
	return guest_ioctl(fd, DRM_IOCTL_AGATE_FLIP, &arg);
}

int stop(int fd)
{
	return flip(fd, (struct drm_agate_flip){ 0 });
}

/* The display has shown the picture of that number; 0 is black. */
void shown(unsigned int picture)
{
	printf("# frame %u\n", picture);
	fflush(stdout);
}

void show(int fd, struct drm_agate_flip arg, unsigned int picture)
{
	assert_int_equal(flip(fd, arg), 0);
	shown(picture);
}

void shown_by_itself(long frames, unsigned int picture)
{
	for (int64_t end = guest_deadline(60000); guest_gpu_counter("frames") == frames;)
		assert_true(guest_deadline(0) < end);
	assert_int_equal(guest_gpu_counter("frames"), frames + 1);
	shown(picture);
}

/* Each pixel is another colour, and no other picture has any of them. */
void paint(void *at, uint32_t stride, uint32_t format, unsigned int picture)
{
	const unsigned int red = format == AGATE_FORMAT_B8G8R8A8 ? 2 : 0;
	uint8_t *row = at;

	for (unsigned int y = 0; y < HEIGHT; y++, row += stride) {
		for (unsigned int x = 0; x < WIDTH; x++) {
			row[4 * x + red] = (uint8_t)x;
			row[4 * x + 1] = (uint8_t)y;
			row[4 * x + 2 - red] = (uint8_t)picture;
			row[4 * x + 3] = (uint8_t)(x + y);
		}
	}
}

struct agate_compute_payload copy_job(const struct client *client, const struct bo *to)
{
	return (struct agate_compute_payload){
		.op = AGATE_COMPUTE_COPY, .dst = to->va, .src = client->source.va, .size = FRAME,
	};
}

/* A job puts a picture into a BO. */
void draw(struct client *client, const struct bo *to, unsigned int picture)
{
	const uint32_t handles[] = { client->jobs.handle, to->handle, client->source.handle };
	const struct agate_compute_payload payload = copy_job(client, to);

	paint(client->source.cpu, STRIDE, AGATE_FORMAT_R8G8B8A8, picture);
	assert_int_equal(guest_compute(&client->jobs, &payload, handles, 3), 1);
}

/* Is there room for another large BO in VRAM?  There is if nobody has to stay there. */
bool has_room(int fd)
{
	struct bo bo;
	int err = try_placed(fd, LARGE, AGATE_BO_POPULATE, VRAM, &bo);

	if (!err)
		guest_destroy(&bo);
	else
		assert_int_equal(err, ENOSPC);
	return !err;
}
