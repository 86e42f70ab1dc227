// SPDX-License-Identifier: MIT
/*
 * The card loses its power while the system sleeps: VRAM, the global table, the mover and the
 * display are afterwards what they were, or somebody is told.
 */
#include "graded.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "flips.h"
#include "system_sleep.h"

#define SLEEPS		10u
#define SIZE		(1 * MIB)
#define DATA		2048u

/* ---- Clients -------------------------------------------------------------------- */

static int run(struct client *client, const struct agate_compute_payload *payload,
	       const struct bo *bo, const struct bo *other)
{
	const uint32_t handles[] = { client->jobs.handle, bo->handle, other ? other->handle : 0 };

	return guest_compute(&client->jobs, payload, handles, other ? 3 : 2);
}

static void fill(struct client *client, const struct bo *bo, uint64_t value)
{
	assert_int_equal(run(client, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = bo->va, .size = bo->size, .value = value,
	}, bo, NULL), 1);
}

/* The GPU copies each part of it to where the CPU looks: 1, or the fence's error. */
static int check(struct client *client, const struct bo *bo, uint64_t want)
{
	const volatile uint64_t *words = client->source.cpu;

	for (uint64_t at = 0; at < bo->size; at += FRAME) {
		uint64_t size = bo->size - at < FRAME ? bo->size - at : FRAME;
		int ret = run(client, &(struct agate_compute_payload){
			.op = AGATE_COMPUTE_COPY, .dst = client->source.va, .src = bo->va + at,
			.size = (uint32_t)size,
		}, bo, &client->source);

		if (ret != 1)
			return ret;
		for (uint64_t i = 0; i < size / 8; i++)
			if (words[i] != want)
				return 0;
	}
	return 1;
}

static uint64_t vram_used(int fd)
{
	struct drm_agate_region regions[2] = { { 0 } };
	struct drm_agate_query_regions arg = {
		.regions = (uintptr_t)regions, .count = 2, .region_size = sizeof(regions[0]),
	};

	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_QUERY_REGIONS, &arg), 0);
	return regions[DRM_AGATE_REGION_VRAM].used;
}

static uint64_t *cpu_word(const struct bo *bo, uint64_t offset)
{
	return (uint64_t *)((char *)bo->cpu + offset);
}

/* ---- Contents ------------------------------------------------------------------- */

/* One for each kind, and more than the mover has in its ring at once. */
enum { VISIBLE_BO, HIDDEN_BO, RAM_BO, ANYWHERE_BO, MORE_BOS, KINDS = MORE_BOS + 6 };

static void make_all(struct client *client, struct bo *bos)
{
	bos[VISIBLE_BO] = placed(client->fd, SIZE, AGATE_BO_CPU_VISIBLE, VRAM);
	bos[HIDDEN_BO] = placed(client->fd, 2 * SIZE + 16 * PAGE, 0, VRAM);
	bos[RAM_BO] = placed(client->fd, SIZE, 0, SYSTEM);
	bos[ANYWHERE_BO] = placed(client->fd, SIZE, 0, SYSTEM | VRAM);
	for (unsigned int i = MORE_BOS; i < KINDS; i++)
		bos[i] = placed(client->fd, SIZE / 4, 0, VRAM);
	for (unsigned int i = 0; i < KINDS; i++)
		fill(client, &bos[i], 0x1000 + i);
	guest_map(&bos[VISIBLE_BO]);
}

static void destroy_all(struct bo *bos)
{
	for (unsigned int i = 0; i < KINDS; i++)
		guest_destroy(&bos[i]);
}

static void check_all(struct client *client, struct bo *bos, uint64_t first)
{
	for (unsigned int i = 0; i < KINDS; i++)
		assert_int_equal(check(client, &bos[i], first + i), 1);
}

/* What nobody needs there leaves VRAM, and comes back when somebody uses it. */
static void contents(void **state)
{
	struct client client = client_open();
	uint64_t before = vram_used(client.fd), wanted;
	struct bo bos[KINDS];

	(void)state;
	make_all(&client, bos);
	/* That which may live elsewhere does so afterwards. */
	wanted = vram_used(client.fd) - SIZE;
	assert_true(wanted > before);
	inject_load();
	inject_anybody(true);
	inject_count("agate_card_power_off");
	for (unsigned int n = 0; n < 3; n++) {
		assert_int_equal(sleep_devices(), 0);
		assert_int_equal(inject_hits("agate_card_power_off"), n + 1);
		assert_int_equal(vram_used(client.fd), before);
		/* The CPUs find it where it is now. */
		assert_int_equal(*cpu_word(&bos[VISIBLE_BO], PAGE), 0x1000);
		check_all(&client, bos, 0x1000);
		assert_int_equal(vram_used(client.fd), wanted);
	}
	inject_clear();
	destroy_all(bos);
	client_close(&client);
}

/* The machine itself sleeps, and its PCI functions forget what they were. */
static void machine(void **state)
{
	struct client client = client_open();
	struct bo bos[KINDS];

	(void)state;
	make_all(&client, bos);
	for (unsigned int n = 0; n < 2; n++) {
		assert_int_equal(sleep_machine(), 0);
		check_all(&client, bos, 0x1000);
	}
	destroy_all(bos);
	client_close(&client);
}

/* For run.sh, which compares the table before and after. */
static void nobody(void **state)
{
	(void)state;
	assert_int_equal(sleep_devices(), 0);
}

/* ---- The display ---------------------------------------------------------------- */

/* The GPU sees that picture in it, too. */
static void check_picture(struct client *client, const struct bo *bo, unsigned int picture)
{
	struct bo want = guest_bo(client->fd, FRAME, 0);

	paint(want.cpu, STRIDE, AGATE_FORMAT_R8G8B8A8, picture);
	memset(client->source.cpu, 0, FRAME);
	assert_int_equal(run(client, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_COPY, .dst = client->source.va, .src = bo->va, .size = FRAME,
	}, bo, &client->source), 1);
	assert_memory_equal(client->source.cpu, want.cpu, FRAME);
	guest_destroy(&want);
}

/* The whole system sleeps, and then the display shows once more what it showed. */
static void sleep_and_show(unsigned int picture)
{
	long frames = guest_gpu_counter("frames");

	assert_int_equal(sleep_devices(), 0);
	shown_by_itself(frames, picture);
}

/* What is shown stays where it is, and the display shows it again. */
static void display(void **state)
{
	static const uint32_t flags[] = { 0, AGATE_FLIP_PHYS };
	struct client client = client_open();
	uint64_t before = vram_used(client.fd);

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct bo bo = placed(client.fd, LARGE, 0, VRAM);

		draw(&client, &bo, 11 + i);
		show(client.fd, whole(&bo, flags[i]), 11 + i);
		for (unsigned int n = 0; n < 2; n++) {
			sleep_and_show(11 + i);
			assert_int_equal(vram_used(client.fd), before + LARGE);
			check_picture(&client, &bo, 11 + i);
		}
		assert_false(has_room(client.fd));
		draw(&client, &bo, 21 + i);
		show(client.fd, whole(&bo, flags[i]), 21 + i);
		assert_int_equal(stop(client.fd), 0);
		assert_true(has_room(client.fd));
		guest_destroy(&bo);
	}
	client_close(&client);
}

/* Pages of the system, which the table leads to. */
static void display_of_ram(void **state)
{
	struct client client = client_open();
	struct bo bo = placed(client.fd, FRAME, 0, SYSTEM), other = placed(client.fd, FRAME, 0, VRAM);

	(void)state;
	draw(&client, &bo, 13);
	draw(&client, &other, 14);
	show(client.fd, whole(&bo, 0), 13);
	sleep_and_show(13);
	show(client.fd, whole(&other, 0), 14);
	assert_int_equal(stop(client.fd), 0);
	/* Nothing is shown, so nothing is shown again: run.sh would see it. */
	assert_int_equal(sleep_devices(), 0);
	guest_destroy(&bo);
	guest_destroy(&other);
	client_close(&client);
}

/* ---- Jobs ----------------------------------------------------------------------- */

/*
 * A chain without end runs, and another job waits for a timeline: after the sleep both find
 * their memory where it was.
 */
static void jobs_go_on(void **state)
{
	struct client client = client_open(), other = client_open();
	struct bo bo = placed(client.fd, SIZE, 0, VRAM), end = guest_bo(client.fd, PAGE, 0);
	struct bo late = placed(other.fd, SIZE, 0, VRAM);
	const uint32_t handles[] = { end.handle, bo.handle };
	const uint32_t late_handles[] = { other.jobs.handle, late.handle, other.source.handle };
	const struct agate_compute_payload copy = {
		.op = AGATE_COMPUTE_COPY, .dst = other.source.va, .src = late.va, .size = FRAME,
	};
	uint64_t before;
	int timeline = guest_timeline();

	(void)state;
	fill(&client, &bo, 0xb0);
	fill(&other, &late, 0x1a7e);
	guest_job_write64(&end, 0, end.va, end.va + DATA, 1);
	assert_int_equal(guest_submit_bos(client.fd, end.va, AGATE_JD_REQ_FS, handles, NULL, 2, 0),
			 0);
	guest_job(&other.jobs, 0, AGATE_JOB_COMPUTE, 0, &copy, sizeof(copy));
	assert_int_equal(guest_submit_bos(other.fd, other.jobs.va, 0, late_handles, NULL, 3,
					  guest_timeline_syncobj(other.fd, timeline)), 0);
	before = vram_used(client.fd);
	for (unsigned int n = 0; n < 2; n++) {
		assert_int_equal(sleep_devices(), 0);
		assert_int_equal(vram_used(client.fd), before);
	}
	guest_timeline_advance(timeline);
	assert_int_equal(guest_wait(other.fd, other.jobs.handle, FOREVER), 0);
	for (unsigned int i = 0; i < FRAME / 8; i++)
		assert_int_equal(*cpu_word(&other.source, 8 * i), 0x1a7e);
	close(timeline);
	guest_destroy(&end);
	guest_destroy(&bo);
	guest_destroy(&client.jobs);
	guest_destroy(&client.source);
	/* Only the end of its file ends the chain. */
	close(client.fd);
	assert_int_equal(check(&other, &late, 0x1a7e), 1);
	guest_destroy(&late);
	client_close(&other);
}

#define WORKERS		3u
#define WORKER_BOS	5u	/* together more than VRAM has */
#define WORKER_SIZE	(6 * MIB)

struct worker {
	pthread_t thread;
	unsigned int number;
	unsigned int rounds;
	bool bad;
};

static volatile bool enough;

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct client client = { .fd = guest_open() };
	struct bo bos[WORKER_BOS];
	uint64_t value = (uint64_t)worker->number << 32;

	client.jobs = guest_bo(client.fd, PAGE, 0);
	client.source = guest_bo(client.fd, FRAME, 0);
	for (unsigned int i = 0; i < WORKER_BOS; i++) {
		bos[i] = placed(client.fd, WORKER_SIZE, 0, VRAM);
		fill(&client, &bos[i], value + i);
	}
	while (!enough && !worker->bad) {
		unsigned int i = worker->rounds++ % WORKER_BOS;

		worker->bad = check(&client, &bos[i], value + i) != 1;
	}
	for (unsigned int i = 0; i < WORKER_BOS; i++) {
		worker->bad |= check(&client, &bos[i], value + i) != 1;
		guest_destroy(&bos[i]);
	}
	guest_destroy(&client.jobs);
	guest_destroy(&client.source);
	close(client.fd);
	return NULL;
}

/* Jobs run, and BOs leave and come, while the system goes to sleep ten times. */
static void under_load(void **state)
{
	struct worker workers[WORKERS] = { { .number = 1 }, { .number = 2 }, { .number = 3 } };

	(void)state;
	enough = false;
	for (unsigned int i = 0; i < WORKERS; i++)
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	for (unsigned int n = 0; n < SLEEPS; n++) {
		unsigned int before = workers[n % WORKERS].rounds;

		assert_int_equal(sleep_devices(), 0);
		for (int64_t end = guest_deadline(60000); workers[n % WORKERS].rounds == before &&
		     !workers[n % WORKERS].bad;) {
			assert_true(guest_deadline(0) < end);
			usleep(1000);
		}
	}
	enough = true;
	for (unsigned int i = 0; i < WORKERS; i++) {
		assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
		assert_false(workers[i].bad);
	}
	guest_assert_nothing_left();
}

/* ---- When it goes wrong --------------------------------------------------------- */

/* A client whose system is to sleep, its memory, and the frame that the display shows. */
struct awake {
	struct client client;
	struct bo bos[KINDS];
	struct bo frame;
	unsigned int picture;
};

#define WAIT	"agate_sleepers_wait"

/*
 * The @nth call of a step fails: the system stays awake, and all goes on.  Return: how often the
 * driver waited for a BO.
 */
static unsigned int refuse(struct awake *awake, const char *symbol, unsigned int nth, int err)
{
	unsigned int waits;

	inject_load();
	inject_anybody(true);
	inject_fail(symbol, nth, err);
	if (strcmp(symbol, WAIT))
		inject_count(WAIT);
	/* The card has its power all the time. */
	inject_count("agate_card_power_off");
	assert_int_equal(sleep_devices(), err);
	assert_in_range(inject_hits(symbol), nth, 2 * (KINDS + 1));
	assert_int_equal(inject_hits("agate_card_power_off"), 0);
	waits = inject_hits(WAIT);
	inject_clear();
	check_all(&awake->client, awake->bos, 0x1000);
	draw(&awake->client, &awake->frame, ++awake->picture);
	show(awake->client.fd, whole(&awake->frame, 0), awake->picture);
	return waits;
}

/* One step after the other cannot be done. */
static void refused(void **state)
{
	static const struct {
		const char *symbol;
		int err;
	} steps[] = {
		{ "agate_card_status", EIO },
		{ "agate_mover_status", EIO },
		{ "agate_ttm_evict", ENOMEM },
		{ "agate_placed_make_present", ENOMEM },
		{ WAIT, EBUSY },
		{ "agate_sleepers_save", ENOMEM },
		{ "agate_mover_suspend", EBUSY },
		{ "agate_fw_stop", ETIMEDOUT },
		{ "agate_scan_suspend", EBUSY },
	};
	struct awake awake = { .client = client_open(), .picture = 31 };
	unsigned int waits = 0;

	(void)state;
	awake.frame = placed(awake.client.fd, FRAME, 0, VRAM);
	make_all(&awake.client, awake.bos);
	draw(&awake.client, &awake.frame, awake.picture);
	show(awake.client.fd, whole(&awake.frame, 0), awake.picture);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		waits = refuse(&awake, steps[i].symbol, 1, steps[i].err);
	/* By the last of them it has waited for all BOs twice: to let them go, and for their copies. */
	assert_true(waits > 0);
	assert_int_equal(waits % 2, 0);
	refuse(&awake, WAIT, waits / 2 + 1, EBUSY);
	sleep_and_show(awake.picture);
	check_all(&awake.client, awake.bos, 0x1000);
	assert_int_equal(stop(awake.client.fd), 0);
	guest_destroy(&awake.frame);
	destroy_all(awake.bos);
	client_close(&awake.client);
}

/*
 * The mover does not bring a BO back: its user is told, and nobody else notices.  The display does
 * not show it either, because it shows nothing before all are back.
 */
static void one_is_lost(void **state)
{
	struct client client = client_open();
	struct bo bos[KINDS], frame = placed(client.fd, FRAME, 0, VRAM);
	struct bo other = placed(client.fd, FRAME, 0, SYSTEM);
	long frames;

	(void)state;
	make_all(&client, bos);
	draw(&client, &other, 16);
	draw(&client, &frame, 15);
	show(client.fd, whole(&frame, 0), 15);
	frames = guest_gpu_counter("frames");
	inject_load();
	inject_anybody(true);
	inject_fail("agate_sleepers_restore", 1, EIO);
	assert_int_equal(sleep_devices(), 0);
	assert_int_equal(inject_hits("agate_sleepers_restore"), 1);
	inject_clear();
	check_all(&client, bos, 0x1000);
	assert_int_equal(flip(client.fd, whole(&frame, 0)), EIO);
	show(client.fd, whole(&other, 0), 16);
	assert_int_equal(guest_gpu_counter("frames"), frames + 1);
	assert_int_equal(stop(client.fd), 0);
	guest_destroy(&other);
	guest_destroy(&frame);
	destroy_all(bos);
	client_close(&client);
}

static void come_again(void)
{
	struct client client;
	struct bo bo;

	assert_int_equal(device_unbind(), 0);
	assert_int_equal(device_bind(), 0);
	client = client_open();
	bo = placed(client.fd, SIZE, 0, VRAM);
	fill(&client, &bo, 1);
	assert_int_equal(sleep_devices(), 0);
	assert_int_equal(check(&client, &bo, 1), 1);
	guest_destroy(&bo);
	client_close(&client);
}

/* Every call finds the device gone, a little later. */
static void wait_gone(const struct client *client)
{
	const int64_t end = guest_deadline(20000);
	int err;

	do {
		assert_true(guest_deadline(0) < end);
		err = guest_wait(client->fd, client->jobs.handle, 0);
	} while (!err);
	assert_int_equal(err, ENODEV);
}

/*
 * A step on the way back fails, in a call that @within makes, if that is not NULL: the device is
 * gone, and says so, also to those that wait for a job.
 */
static void stay_off(const char *within, const char *symbol, int err)
{
	struct client client = client_open(), other = client_open();
	struct bo bo = placed(client.fd, SIZE, 0, VRAM), end = guest_bo(client.fd, PAGE, 0), more;
	int runs, waits;

	fill(&client, &bo, 1);
	guest_job_write64(&end, 0, end.va, end.va + DATA, 1);
	runs = guest_submit_fence(&end, 0);
	/* Jobs of one file have their order. */
	guest_job_write64(&client.jobs, 0, 0, client.jobs.va + DATA, 1);
	waits = guest_submit_fence(&client.jobs, 0);
	inject_load();
	inject_anybody(true);
	if (within)
		inject_within(within);
	inject_fail(symbol, 1, err);
	assert_int_equal(sleep_devices(), 0);
	assert_int_equal(inject_hits(symbol), 1);
	inject_clear();
	wait_gone(&other);
	assert_int_equal(guest_fence_end(runs), -ENODEV);
	assert_int_equal(guest_fence_end(waits), -ENODEV);
	assert_int_equal(flip(client.fd, whole(&bo, 0)), ENODEV);
	assert_int_equal(try_placed(other.fd, SIZE, 0, VRAM, &more), ENODEV);
	munmap(end.cpu, end.size);
	client_abandon(&client);
	client_abandon(&other);
	come_again();
}

/* The supply does not come back, the firmware does not start, or the GPU does not reset. */
static void stays_off(void **state)
{
	(void)state;
	stay_off("agate_card_power_on", "agate_card_status", EIO);
	stay_off(NULL, "agate_fw_start", EIO);
	stay_off("agate_sleep_end", "agate_gpu_soft_reset", ETIMEDOUT);
}

/* Its supply was cut, and is back: nothing is saved as if it were contents. */
static void power_was_cut(void **state)
{
	(void)state;
	assert_int_equal(sleep_devices(), EIO);
	come_again();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody),
		cmocka_unit_test(contents),
		cmocka_unit_test(machine),
		cmocka_unit_test(display),
		cmocka_unit_test(display_of_ram),
		cmocka_unit_test(jobs_go_on),
		cmocka_unit_test(under_load),
		cmocka_unit_test(refused),
		cmocka_unit_test(one_is_lost),
		cmocka_unit_test(stays_off),
		cmocka_unit_test(power_was_cut),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("suspend", tests, NULL, NULL);
}
