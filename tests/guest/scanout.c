// SPDX-License-Identifier: MIT
/*
 * A display shows what the GPU has made: vkms scans a BO of this driver out, and its
 * writeback gives the same pixels back, into a BO of its own or of this driver.
 *
 * The writeback connector is the only one on its CRTC: the kernel allows no other with it.
 */
#include "guest.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "dmabuf.h"
#include "drm_fourcc.h"
#include "drm_mode.h"
#include "gem_gpu.h"

#define WIDTH		640u
#define HEIGHT		480u
#define STRIDE		(4 * WIDTH)
#define FRAME		(STRIDE * HEIGHT)
#define JOB_SIZE	128u
#define COLOURS		0x00ffffffu	/* of XRGB8888; nobody looks at the X */

/* What an atomic commit needs to name. */
struct display {
	int fd;
	uint32_t crtc, connector, plane;
};

/* ---- Objects ----------------------------------------------------------- */

static void set_cap(int fd, uint64_t cap)
{
	struct drm_set_client_cap arg = { .capability = cap, .value = 1 };

	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SET_CLIENT_CAP, &arg), 0);
}

static bool is_writeback(int fd, uint32_t id)
{
	struct drm_mode_get_connector arg = { .connector_id = id };

	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_MODE_GETCONNECTOR, &arg), 0);
	return arg.connector_type == DRM_MODE_CONNECTOR_WRITEBACK;
}

#define MOST_PROPS	64

/* The value of an object's property, and its id. */
static uint64_t property(int fd, uint32_t object, uint32_t type, const char *name, uint32_t *id)
{
	uint32_t ids[MOST_PROPS] = { 0 };
	uint64_t values[MOST_PROPS] = { 0 };
	struct drm_mode_obj_get_properties arg = {
		.props_ptr = (uintptr_t)ids, .prop_values_ptr = (uintptr_t)values,
		.count_props = MOST_PROPS, .obj_id = object, .obj_type = type,
	};

	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &arg), 0);
	assert_in_range(arg.count_props, 1, MOST_PROPS);
	for (uint32_t i = 0; i < arg.count_props; i++) {
		struct drm_mode_get_property prop = { .prop_id = ids[i] };

		assert_int_equal(guest_ioctl(fd, DRM_IOCTL_MODE_GETPROPERTY, &prop), 0);
		if (strcmp(prop.name, name))
			continue;
		*id = ids[i];
		return values[i];
	}
	fail_msg("object %u has no property %s", object, name);
	return 0;
}

static uint32_t primary_plane(int fd)
{
	uint32_t ids[16] = { 0 }, id;
	struct drm_mode_get_plane_res arg = { .plane_id_ptr = (uintptr_t)ids, .count_planes = 16 };

	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_MODE_GETPLANERESOURCES, &arg), 0);
	for (uint32_t i = 0; i < arg.count_planes && i < 16; i++)
		if (property(fd, ids[i], DRM_MODE_OBJECT_PLANE, "type", &id) == 1)
			return ids[i];
	fail_msg("no primary plane");
	return 0;
}

static struct display display_open(void)
{
	struct display display = { .fd = stranger_open("vkms") };
	uint32_t crtcs[4] = { 0 }, connectors[4] = { 0 }, encoders[4] = { 0 };
	struct drm_mode_card_res res = {
		.crtc_id_ptr = (uintptr_t)crtcs, .count_crtcs = 4,
		.connector_id_ptr = (uintptr_t)connectors, .count_connectors = 4,
		.encoder_id_ptr = (uintptr_t)encoders, .count_encoders = 4,
	};

	set_cap(display.fd, DRM_CLIENT_CAP_UNIVERSAL_PLANES);
	set_cap(display.fd, DRM_CLIENT_CAP_ATOMIC);
	set_cap(display.fd, DRM_CLIENT_CAP_WRITEBACK_CONNECTORS);
	assert_int_equal(guest_ioctl(display.fd, DRM_IOCTL_MODE_GETRESOURCES, &res), 0);
	assert_in_range(res.count_crtcs, 1, 4);
	assert_in_range(res.count_connectors, 1, 4);
	display.crtc = crtcs[0];
	for (uint32_t i = 0; i < res.count_connectors; i++)
		if (is_writeback(display.fd, connectors[i]))
			display.connector = connectors[i];
	assert_int_not_equal(display.connector, 0);
	display.plane = primary_plane(display.fd);
	return display;
}

static uint32_t framebuffer_with(int fd, uint32_t handle, uint32_t rows)
{
	struct drm_mode_fb_cmd2 arg = {
		.width = WIDTH, .height = rows, .pixel_format = DRM_FORMAT_XRGB8888,
		.handles = { handle }, .pitches = { STRIDE },
	};

	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_MODE_ADDFB2, &arg), 0);
	return arg.fb_id;
}

static uint32_t framebuffer(int fd, uint32_t handle)
{
	return framebuffer_with(fd, handle, HEIGHT);
}

/* ---- A commit ---------------------------------------------------------- */

#define MOST_SETTINGS	16

struct commit {
	const struct display *display;
	uint32_t objects[3], props_of[3];	/* at most the CRTC, the connector, the plane */
	uint32_t props[MOST_SETTINGS];
	uint64_t values[MOST_SETTINGS];
	uint32_t count, object_count;
};

static void begin(struct commit *commit, uint32_t object)
{
	commit->objects[commit->object_count++] = object;
}

static void set(struct commit *commit, uint32_t type, const char *name, uint64_t value)
{
	const uint32_t last = commit->object_count - 1;

	property(commit->display->fd, commit->objects[last], type, name,
		 &commit->props[commit->count]);
	commit->values[commit->count++] = value;
	commit->props_of[last]++;
}

static void commit_now(struct commit *commit)
{
	struct drm_mode_atomic arg = {
		.flags = DRM_MODE_ATOMIC_ALLOW_MODESET, .count_objs = commit->object_count,
		.objs_ptr = (uintptr_t)commit->objects,
		.count_props_ptr = (uintptr_t)commit->props_of,
		.props_ptr = (uintptr_t)commit->props,
		.prop_values_ptr = (uintptr_t)commit->values,
	};

	assert_int_equal(guest_ioctl(commit->display->fd, DRM_IOCTL_MODE_ATOMIC, &arg), 0);
}

static uint32_t mode_blob(int fd)
{
	const struct drm_mode_modeinfo mode = {
		.clock = 25175, .vrefresh = 60,
		.hdisplay = WIDTH, .hsync_start = 656, .hsync_end = 752, .htotal = 800,
		.vdisplay = HEIGHT, .vsync_start = 490, .vsync_end = 492, .vtotal = 525,
		.flags = DRM_MODE_FLAG_NHSYNC | DRM_MODE_FLAG_NVSYNC, .name = "640x480",
	};
	struct drm_mode_create_blob arg = { .data = (uintptr_t)&mode, .length = sizeof(mode) };

	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_MODE_CREATEPROPBLOB, &arg), 0);
	return arg.blob_id;
}

/*
 * vkms tidies up after a writeback later than it signals the fence, and switches its composer
 * off then, whether or not the next writeback has begun: that one would never end.  The last
 * thing it does is to release the framebuffer, which only its own file refers to from then on.
 */
static void await_tidy(const struct display *display, uint32_t written)
{
	char path[64], alone[64];
	struct stat node;
	int64_t end = guest_deadline(30000);

	assert_int_equal(fstat(display->fd, &node), 0);
	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%u/framebuffer", minor(node.st_rdev));
	snprintf(alone, sizeof(alone), "framebuffer[%u]:\n\tallocated by = scanout\n\trefcount=1\n",
		 written);
	while (!guest_file_says(path, alone) && guest_deadline(0) < end)
		usleep(1000);
	assert_true(guest_file_says(path, alone));
}

/* Show a framebuffer from this row on, and have what is shown written to another; wait for that. */
static void show_from(const struct display *display, uint32_t shown, uint32_t row, uint32_t written)
{
	struct commit commit = { .display = display };
	int32_t fence = -1;

	begin(&commit, display->crtc);
	set(&commit, DRM_MODE_OBJECT_CRTC, "MODE_ID", mode_blob(display->fd));
	set(&commit, DRM_MODE_OBJECT_CRTC, "ACTIVE", 1);
	begin(&commit, display->connector);
	set(&commit, DRM_MODE_OBJECT_CONNECTOR, "CRTC_ID", display->crtc);
	set(&commit, DRM_MODE_OBJECT_CONNECTOR, "WRITEBACK_FB_ID", written);
	set(&commit, DRM_MODE_OBJECT_CONNECTOR, "WRITEBACK_OUT_FENCE_PTR", (uintptr_t)&fence);
	begin(&commit, display->plane);
	set(&commit, DRM_MODE_OBJECT_PLANE, "FB_ID", shown);
	set(&commit, DRM_MODE_OBJECT_PLANE, "CRTC_ID", display->crtc);
	set(&commit, DRM_MODE_OBJECT_PLANE, "SRC_X", 0);
	set(&commit, DRM_MODE_OBJECT_PLANE, "SRC_Y", (uint64_t)row << 16);
	set(&commit, DRM_MODE_OBJECT_PLANE, "SRC_W", (uint64_t)WIDTH << 16);
	set(&commit, DRM_MODE_OBJECT_PLANE, "SRC_H", (uint64_t)HEIGHT << 16);
	set(&commit, DRM_MODE_OBJECT_PLANE, "CRTC_X", 0);
	set(&commit, DRM_MODE_OBJECT_PLANE, "CRTC_Y", 0);
	set(&commit, DRM_MODE_OBJECT_PLANE, "CRTC_W", WIDTH);
	set(&commit, DRM_MODE_OBJECT_PLANE, "CRTC_H", HEIGHT);
	commit_now(&commit);
	assert_true(fence >= 0);
	assert_int_equal(guest_fence_end(fence), 1);
	await_tidy(display, written);
}

static void show(const struct display *display, uint32_t shown, uint32_t written)
{
	show_from(display, shown, 0, written);
}

/* ---- Pictures ---------------------------------------------------------- */

static uint64_t two_pixels(uint32_t row, uint32_t seed)
{
	uint64_t x = (row + 1) * 0x9e3779b97f4a7c15u ^ seed * 0xd1b54a32d192ed03u;

	x ^= x >> 29;
	return x * 0xbf58476d1ce4e5b9u;
}

/* Submit a chain that fills each row; nobody waits for it here. */
static void draw(struct bo *jobs, const struct bo *frame, uint32_t seed)
{
	const uint32_t handles[] = { jobs->handle, frame->handle };

	for (uint32_t row = 0; row < HEIGHT; row++) {
		const struct agate_compute_payload fill = {
			.op = AGATE_COMPUTE_FILL, .dst = frame->va + row * STRIDE, .size = STRIDE,
			.value = two_pixels(row, seed),
		};

		guest_job(jobs, row * JOB_SIZE, AGATE_JOB_COMPUTE, row + 1 < HEIGHT ?
			  jobs->va + (row + 1) * JOB_SIZE : 0, &fill, sizeof(fill));
	}
	assert_int_equal(guest_submit(jobs->fd, jobs->va, 0, handles, 2, 0), 0);
}

static void check_picture(const uint32_t *pixels, uint32_t seed)
{
	uint32_t wrong = 0, first = 0;

	for (uint32_t at = 0; at < WIDTH * HEIGHT; at++) {
		const uint64_t two = two_pixels(at / WIDTH, seed);

		if (!((pixels[at] ^ (uint32_t)(two >> (at & 1 ? 32 : 0))) & COLOURS))
			continue;
		if (!wrong++)
			first = at;
	}
	if (wrong)
		fail_msg("picture %u: %u pixels are wrong, the first one is %u of row %u: 0x%x", seed,
			 wrong, first % WIDTH, first / WIDTH, pixels[first]);
}

/* A framebuffer of a BO of this driver. */
static uint32_t framebuffer_of(const struct display *display, const struct bo *bo)
{
	int dmabuf = dmabuf_export(bo);
	uint32_t handle;

	assert_int_equal(dmabuf_try_import(display->fd, dmabuf, &handle), 0);
	close(dmabuf);
	return framebuffer(display->fd, handle);
}

/* Frames one after another; the display itself waits until the GPU is done with each. */
static void shown_from(uint32_t flags)
{
	int fd = guest_open();
	struct display display = display_open();
	struct bo jobs = guest_bo(fd, HEIGHT * JOB_SIZE, AGATE_BO_NOEXEC);
	struct bo frame = guest_bo(fd, FRAME, flags), target = stranger_bo(display.fd, WIDTH, HEIGHT);
	uint32_t shown = framebuffer_of(&display, &frame);
	uint32_t written = framebuffer(display.fd, target.handle);

	for (uint32_t seed = 1; seed <= 3; seed++) {
		memset(target.cpu, 0, FRAME);
		draw(&jobs, &frame, seed);
		show(&display, shown, written);
		check_picture(target.cpu, seed);
	}
	munmap(target.cpu, target.size);
	close(display.fd);
	guest_destroy(&frame);
	guest_destroy(&jobs);
	close(fd);
}

static void shown_shmem(void **state)
{
	(void)state;
	shown_from(0);
}

static void shown_contiguous(void **state)
{
	(void)state;
	shown_from(AGATE_BO_CONTIGUOUS);
}

/* The display writes into a BO of this driver, where the GPU finds the picture. */
static void written_back(void **state)
{
	int fd = guest_open();
	struct display display = display_open();
	struct bo jobs = guest_bo(fd, HEIGHT * JOB_SIZE, AGATE_BO_NOEXEC);
	struct bo frame = guest_bo(fd, FRAME, 0), target = guest_bo(fd, FRAME, 0);
	struct bo copied = guest_bo(fd, FRAME, 0);
	const uint32_t handles[] = { jobs.handle, target.handle, copied.handle };
	uint32_t shown = framebuffer_of(&display, &frame);
	uint32_t written = framebuffer_of(&display, &target);
	const struct agate_compute_payload copy = {
		.op = AGATE_COMPUTE_COPY, .dst = copied.va, .src = target.va, .size = FRAME,
	};

	(void)state;
	draw(&jobs, &frame, 4);
	show(&display, shown, written);
	assert_int_equal(guest_wait(fd, jobs.handle, FOREVER), 0);
	guest_job(&jobs, 0, AGATE_JOB_COMPUTE, 0, &copy, sizeof(copy));
	assert_int_equal(guest_submit(fd, jobs.va, 0, handles, 3, 0), 0);
	assert_int_equal(guest_wait(fd, copied.handle, FOREVER), 0);
	check_picture(copied.cpu, 4);
	close(display.fd);
	guest_destroy(&copied);
	guest_destroy(&target);
	guest_destroy(&frame);
	guest_destroy(&jobs);
	close(fd);
}

/*
 * The gem as agate-gem draws it, without its mean of several passes.  The square picture is
 * higher than the display, which shows its upper rows and then its lower ones.
 */
static void gem(void **state)
{
	static struct gem_scene scene;
	const struct gem_pass pass = { .dx = 0 };
	struct display display = display_open();
	struct bo target = stranger_bo(display.fd, WIDTH, HEIGHT);
	uint32_t written = framebuffer(display.fd, target.handle), shown, handle;
	const uint8_t *pixels;
	struct gem_gpu *gpu;
	int dmabuf;

	(void)state;
	assert_int_equal(gem_gpu_create(WIDTH, true, GEM_BOS_PAGED, 0, &gpu), 0);
	assert_int_equal(gem_scene_build(&scene, 0.1), 0);
	assert_int_equal(gem_gpu_draw(gpu, &scene, &pass, &pixels), 0);
	assert_int_equal(gem_gpu_export(gpu, &dmabuf), 0);
	assert_int_equal(dmabuf_try_import(display.fd, dmabuf, &handle), 0);
	close(dmabuf);
	shown = framebuffer_with(display.fd, handle, WIDTH);
	for (uint32_t top = 0; top <= WIDTH - HEIGHT; top += WIDTH - HEIGHT) {
		const uint32_t *drawn = (const uint32_t *)(pixels + (size_t)top * STRIDE);
		uint32_t wrong = 0, edges = 0;

		memset(target.cpu, 0, FRAME);
		show_from(&display, shown, top, written);
		for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
			wrong += ((((uint32_t *)target.cpu)[i] ^ drawn[i]) & COLOURS) != 0;
			edges += i && drawn[i] != drawn[i - 1];
		}
		assert_int_equal(wrong, 0);
		/* There is something to see. */
		assert_in_range(edges, 1000, WIDTH * HEIGHT);
	}
	munmap(target.cpu, target.size);
	close(display.fd);
	gem_gpu_destroy(gpu);
}

/* Where workqueues that have no processor of their own may run. */
#define WORKERS	"/sys/devices/virtual/workqueue/cpumask"

static void workers_on(const char *processors)
{
	const ssize_t length = (ssize_t)strlen(processors);
	int fd = open(WORKERS, O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, processors, (size_t)length), length);
	close(fd);
}

static void workers_where(char *processors, size_t size)
{
	int fd = open(WORKERS, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	assert_true(fd >= 0);
	length = read(fd, processors, size - 1);
	assert_true(length > 0);
	processors[length] = '\0';
	close(fd);
}

/*
 * One processor that nobody else has at a bad moment keeps two races of vkms away:
 *  - vkms waits for its timer with a lock that the timer's function takes, so both stop for ever
 *    when they run at the same time.  The timer fires on the processor that started it, which is
 *    this program's, and there the two take turns.
 *  - A commit with a writeback says that the writeback is pending before it says how pixels are
 *    written.  A worker that composes between the two warns.  On the same processor, a program
 *    that comes before all workers lets them run only when it sleeps, and it does not sleep there.
 */
static void stay_on_one_processor(void)
{
	const struct sched_param first = { .sched_priority = 1 };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
	assert_int_equal(sched_setscheduler(0, SCHED_FIFO, &first), 0);
	workers_on("1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(shown_shmem, guest_teardown),
		cmocka_unit_test_teardown(shown_contiguous, guest_teardown),
		cmocka_unit_test_teardown(written_back, guest_teardown),
		cmocka_unit_test_teardown(gem, guest_teardown),
	};
	char everywhere[64];
	int failed;

	workers_where(everywhere, sizeof(everywhere));
	/* Before vkms is there: the kernel moves no worker of a queue that keeps an order. */
	stay_on_one_processor();
	failed = cmocka_run_group_tests_name("scanout", tests, NULL, NULL);
	if (!failed)
		stranger_unload("vkms");
	workers_on(everywhere);
	return failed;
}
