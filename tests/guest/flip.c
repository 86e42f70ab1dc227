// SPDX-License-Identifier: MIT
/*
 * FLIP: the display shows a BO, wherever it is, and the BO stays there meanwhile.
 */
#include "graded.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dmabuf.h"
#include "flips.h"

#define AGAIN		"/sys/kernel/debug/agate_flip_again"

/* ---- What is shown ------------------------------------------------------------------ */

/* By the CPU, with rows that are longer, an offset, and the other format. */
static void show_painted(struct bo *bo, uint32_t flags, unsigned int picture)
{
	struct drm_agate_flip arg = whole(bo, flags);

	if (!bo->cpu)
		guest_map(bo);
	paint(bo->cpu, STRIDE, arg.format, picture);
	show(bo->fd, arg, picture);
	arg.format = AGATE_FORMAT_B8G8R8A8;
	arg.stride = STRIDE + 128;
	arg.offset = PAGE + 192;
	paint((char *)bo->cpu + arg.offset, arg.stride, arg.format, picture);
	show(bo->fd, arg, picture);
	/* The last row ends at the end of the BO. */
	arg.offset = (bo->size - (arg.stride * (HEIGHT - 1) + STRIDE)) / 64 * 64;
	paint((char *)bo->cpu + arg.offset, arg.stride, arg.format, picture);
	show(bo->fd, arg, picture);
}

static void shows(void **state)
{
	struct client client = client_open();
	struct bo visible = placed(client.fd, 16 * PAGE, AGATE_BO_CPU_VISIBLE, VRAM);
	struct bo hidden = placed(client.fd, FRAME, 0, VRAM);
	struct bo ram = placed(client.fd, 16 * PAGE, 0, SYSTEM);
	struct bo zeros = placed(client.fd, FRAME, 0, SYSTEM | VRAM), piece;

	(void)state;
	show_painted(&visible, 0, 1);
	show_painted(&visible, AGATE_FLIP_PHYS, 1);
	show_painted(&ram, 0, 1);
	/* The display has no MMU here, and the BO never moves. */
	assert_int_equal(guest_create(client.fd, 16 * PAGE, AGATE_BO_CONTIGUOUS, &piece), 0);
	show_painted(&piece, AGATE_FLIP_PHYS, 1);
	draw(&client, &hidden, 1);
	show(client.fd, whole(&hidden, 0), 1);
	show(client.fd, whole(&hidden, AGATE_FLIP_PHYS), 1);
	/* Nobody has ever written it. */
	show(client.fd, whole(&zeros, 0), BLACK);
	show(client.fd, whole(&hidden, 0), 1);
	guest_destroy(&visible);
	guest_destroy(&hidden);
	guest_destroy(&ram);
	guest_destroy(&zeros);
	guest_destroy(&piece);
	client_close(&client);
}

/* When a frame has gone its addresses lead to the scratch page, also in the display's cache. */
static void removed_shows(void **state)
{
	struct client client = client_open();
	struct bo bo = placed(client.fd, FRAME, 0, VRAM);
	int again;

	(void)state;
	again = inject_open(AGAIN, O_WRONLY);
	assert_true(again >= 0);
	draw(&client, &bo, 2);
	show(client.fd, whole(&bo, 0), 2);
	assert_int_equal(write(again, "1", 1), 1);
	shown(2);
	assert_int_equal(stop(client.fd), 0);
	assert_int_equal(write(again, "1", 1), 1);
	shown(BLACK);
	/* The addresses are the same ones. */
	show(client.fd, whole(&bo, 0), 2);
	close(again);
	guest_destroy(&bo);
	client_close(&client);
}

/* ---- What stays --------------------------------------------------------------------- */

static void pins_it(void **state)
{
	int fd = guest_open(), other = guest_open();
	struct bo large = placed(fd, LARGE, AGATE_BO_POPULATE, VRAM);
	struct bo small = placed(fd, FRAME, 0, SYSTEM), theirs = placed(other, LARGE, 0, VRAM);

	(void)state;
	assert_true(has_room(fd));
	show(fd, whole(&large, 0), BLACK);
	assert_false(has_room(fd));
	/* Twice is as good as once, and so is a handle that is closed. */
	show(fd, whole(&large, AGATE_FLIP_PHYS), BLACK);
	assert_int_equal(guest_close_handle(fd, large.handle), 0);
	assert_false(has_room(fd));
	/* A file that shows nothing stops nothing. */
	assert_int_equal(stop(other), 0);
	assert_false(has_room(fd));
	assert_int_equal(flip(other, whole(&theirs, 0)), ENOSPC);
	assert_false(has_room(fd));
	show(fd, whole(&small, 0), BLACK);
	assert_true(has_room(fd));
	show(other, whole(&theirs, 0), BLACK);
	assert_false(has_room(fd));
	assert_int_equal(stop(fd), 0);
	assert_false(has_room(fd));
	assert_int_equal(stop(other), 0);
	assert_true(has_room(fd));
	show(other, whole(&theirs, 0), BLACK);
	assert_false(has_room(fd));
	close(other);
	assert_true(has_room(fd));
	guest_destroy(&small);
	close(fd);
	guest_assert_nothing_left();
}

/* While another driver has it the BO is in system memory, and is shown from there. */
static void imported_shows(void **state)
{
	struct client client = client_open();
	struct bo bo = placed(client.fd, FRAME, 0, VRAM);
	struct drm_gem_close end = { 0 };
	int vgem = stranger_open("vgem"), dmabuf = dmabuf_export(&bo);

	(void)state;
	draw(&client, &bo, 5);
	show(client.fd, whole(&bo, 0), 5);
	/* It cannot leave VRAM now. */
	assert_int_equal(dmabuf_try_import(vgem, dmabuf, &end.handle), EINVAL);
	assert_int_equal(stop(client.fd), 0);
	assert_int_equal(dmabuf_try_import(vgem, dmabuf, &end.handle), 0);
	show(client.fd, whole(&bo, 0), 5);
	assert_int_equal(flip(client.fd, whole(&bo, AGATE_FLIP_PHYS)), EINVAL);
	draw(&client, &bo, 6);
	show(client.fd, whole(&bo, 0), 6);
	assert_int_equal(stop(client.fd), 0);
	assert_int_equal(guest_ioctl(vgem, DRM_IOCTL_GEM_CLOSE, &end), 0);
	show(client.fd, whole(&bo, AGATE_FLIP_PHYS), 6);
	close(dmabuf);
	close(vgem);
	guest_destroy(&bo);
	client_close(&client);
	stranger_unload("vgem");
}

/* Another process fills VRAM, more than twice over, until it is killed. */
static pid_t press(void)
{
	enum { COUNT = 24, PART = 6 * MIB };
	pid_t child = fork();
	int fd;

	assert_true(child >= 0);
	if (child)
		return child;
	fd = guest_open();
	for (unsigned int i = 0; ; i++) {
		struct bo bo;

		/* For a moment the frame may leave no room. */
		if (try_placed(fd, PART, AGATE_BO_POPULATE, VRAM, &bo))
			continue;
		if (i % COUNT == COUNT - 1) {
			close(fd);
			fd = guest_open();
		}
	}
}

static void pressed_shows(void **state)
{
	static const uint32_t placements[] = { VRAM, VRAM | SYSTEM, SYSTEM };
	enum { COUNT = sizeof(placements) / sizeof(placements[0]) };
	struct client client = client_open();
	struct bo bos[COUNT];
	pid_t child;

	(void)state;
	for (unsigned int i = 0; i < COUNT; i++) {
		bos[i] = placed(client.fd, 4 * MIB, 0, placements[i]);
		draw(&client, &bos[i], 10 + i);
	}
	child = press();
	for (unsigned int n = 0; n < 50; n++)
		show(client.fd, whole(&bos[n % COUNT], 0), 10 + n % COUNT);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	for (unsigned int i = 0; i < COUNT; i++)
		guest_destroy(&bos[i]);
	client_close(&client);
}

/* ---- What is refused ---------------------------------------------------------------- */

static void refuses(void **state)
{
	int fd = guest_open(), other = guest_open();
	struct bo bo = placed(fd, 16 * PAGE, 0, VRAM), ram = placed(fd, FRAME, 0, SYSTEM);
	struct bo plain, piece;
	const struct drm_agate_flip good = whole(&bo, 0);
	struct drm_agate_flip bad;

	(void)state;
	assert_int_equal(guest_create(fd, FRAME, 0, &plain), 0);
	assert_int_equal(guest_create(fd, FRAME, AGATE_BO_CONTIGUOUS, &piece), 0);
#define REFUSES(field, value)						\
	do {								\
		bad = good;						\
		bad.field = (value);					\
		assert_int_equal(flip(fd, bad), EINVAL);		\
	} while (0)
	REFUSES(flags, 2);
	REFUSES(offset, 32);
	REFUSES(offset, bo.size);
	REFUSES(offset, bo.size - FRAME + 64);
	REFUSES(offset, UINT64_MAX - 63);
	REFUSES(offset, -(uint64_t)FRAME);
	REFUSES(width, 0);
	REFUSES(width, WIDTH + 1);
	REFUSES(width, 4097);
	REFUSES(width, 1u << 30);
	REFUSES(height, 0);
	REFUSES(height, 16 * PAGE / STRIDE + 1);
	REFUSES(height, 4097);
	REFUSES(height, UINT32_MAX);
	REFUSES(stride, 0);
	REFUSES(stride, STRIDE - 64);
	REFUSES(stride, STRIDE + 4);
	REFUSES(stride, UINT32_MAX - 63);
	REFUSES(format, 0);
	REFUSES(format, 3);
	REFUSES(format, AGATE_FORMAT_R8G8B8A8 | 1 << 8);
	/* 32 bits would hold a part of its size. */
	bad = good;
	bad.height = 65;
	bad.stride = 1u << 26;
	assert_int_equal(flip(fd, bad), EINVAL);
	REFUSES(handle, 0);
	/* BOs that may move away, or that the display does not reach in this way. */
	assert_int_equal(flip(fd, whole(&plain, 0)), EINVAL);
	assert_int_equal(flip(fd, whole(&plain, AGATE_FLIP_PHYS)), EINVAL);
	assert_int_equal(flip(fd, whole(&piece, 0)), EINVAL);
	assert_int_equal(flip(fd, whole(&ram, AGATE_FLIP_PHYS)), EINVAL);
	assert_int_equal(flip(other, good), ENOENT);
	guest_destroy(&plain);
	guest_destroy(&piece);
	guest_destroy(&ram);
	guest_destroy(&bo);
	close(other);
	close(fd);
	guest_assert_nothing_left();
}

/* Without a BO each other field is zero, or the display goes on showing what it shows. */
static void refuses_nothing(void **state)
{
	static const struct drm_agate_flip bad[] = {
		{ .flags = AGATE_FLIP_PHYS }, { .flags = 2 }, { .offset = 64 },
		{ .offset = 1ull << 32 }, { .width = 1 }, { .height = 1 }, { .stride = 64 },
		{ .format = AGATE_FORMAT_R8G8B8A8 },
	};
	int fd = guest_open();
	struct bo large = placed(fd, LARGE, 0, VRAM);

	(void)state;
	show(fd, whole(&large, 0), BLACK);
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(flip(fd, bad[i]), EINVAL);
		assert_false(has_room(fd));
	}
	assert_int_equal(stop(fd), 0);
	assert_true(has_room(fd));
	guest_destroy(&large);
	close(fd);
	guest_assert_nothing_left();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(shows, guest_teardown),
		cmocka_unit_test_teardown(removed_shows, guest_teardown),
		cmocka_unit_test_teardown(pins_it, guest_teardown),
		cmocka_unit_test_teardown(imported_shows, guest_teardown),
		cmocka_unit_test_teardown(pressed_shows, guest_teardown),
		cmocka_unit_test_teardown(refuses, guest_teardown),
		cmocka_unit_test_teardown(refuses_nothing, guest_teardown),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("flip", tests, NULL, NULL);
}
