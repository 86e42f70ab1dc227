// SPDX-License-Identifier: MIT
/*
 * Frequency and voltage follow the load, with the kernel's governors.
 *
 * The load is one of the GPU's own time, which passes by work and, between two runs of this
 * program, by requests of the launcher.  The argument selects tests by name: `dvfs slow`
 * expects what came before it in run.sh.
 */
#include "devfreq.h"
#include "graded.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* 264 thousand cycles of the GPU's clock: a third of the driver's window at 800 MHz. */
#define FILL_SIZE	(4u << 20)
#define PATIENCE_MS	20000
/* Accesses of the driver before a chain has started, or between its end and the last look. */
#define ACCESSES_A_JOB	32

/* ---- What the driver says ------------------------------------------------ */

/* A number of the device's file "clock": the first behind this name. */
static uint64_t clock_says(const char *name)
{
	char line[128];
	uint64_t value = UINT64_MAX;
	size_t len = strlen(name);
	FILE *file;

	file = guest_debugfs_open("clock");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, name, len) && line[len] == ' ')
			value = strtoull(line + len, NULL, 10);
	fclose(file);
	assert_true(value != UINT64_MAX);
	return value;
}

static void is_at(unsigned long mhz, unsigned long mv)
{
	assert_int_equal(devfreq_number("cur_freq"), mhz * MHZ);
	assert_int_equal(clock_says("mhz"), mhz);
	assert_int_equal(clock_says("millivolts"), mv);
}

/* A number of this client's fdinfo. */
static uint64_t fdinfo_says(int fd, const char *key)
{
	char path[64], line[128];
	uint64_t value = UINT64_MAX;
	size_t len = strlen(key);
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, key, len) && line[len] == ':')
			value = strtoull(line + len + 1, NULL, 10);
	fclose(file);
	return value;
}

/* ---- Work ------------------------------------------------------------------ */

struct load {
	struct bo job, data;
};

static struct load load_new(int fd)
{
	struct load load = { guest_bo(fd, PAGE, 0), guest_bo(fd, FILL_SIZE, 0) };

	return load;
}

static void work(struct load *load, unsigned int jobs)
{
	const struct agate_compute_payload fill = {
		.op = AGATE_COMPUTE_FILL, .dst = load->data.va, .size = FILL_SIZE, .value = 1,
	};
	const uint32_t handles[] = { load->job.handle, load->data.handle };

	while (jobs--) {
		guest_job(&load->job, 0, AGATE_JOB_COMPUTE, 0, &fill, sizeof(fill));
		assert_int_equal(guest_submit(load->job.fd, load->job.va, 0, handles, 2, 0), 0);
		assert_int_equal(guest_wait(load->job.fd, load->job.handle, FOREVER), 0);
	}
	guest_wait_counter("slot_busy", 0);
}

static void load_free(struct load *load)
{
	guest_destroy(&load->job);
	guest_destroy(&load->data);
}

/* ---- What there is --------------------------------------------------------- */

static void table(void **state)
{
	char text[128];
	int fd = guest_open();

	(void)state;
	devfreq_get("governor", text, sizeof(text));
	assert_string_equal(text, "simple_ondemand");
	devfreq_get("available_frequencies", text, sizeof(text));
	assert_int_equal(strncmp(text, "200000000 400000000 600000000 800000000", 39), 0);
	assert_int_equal(devfreq_number("polling_interval"), 50);
	is_at(800, 1000);
	assert_int_equal(fdinfo_says(fd, "drm-maxfreq-fragment"), 800 * MHZ);
	assert_int_equal(fdinfo_says(fd, "drm-curfreq-vertex-tiler"), 800 * MHZ);
	assert_int_equal(fdinfo_says(fd, "drm-cycles-vertex-tiler"), 0);
	close(fd);
}

/* A governor with one frequency: run.sh finds no clock event in this time. */
static void fixed(void **state)
{
	int fd = guest_open();
	struct load load = load_new(fd);

	(void)state;
	devfreq_choose("performance");
	work(&load, 8);
	is_at(800, 1000);
	load_free(&load);
	close(fd);
}

/* ---- The load ---------------------------------------------------------------- */

/* At all frequencies the driver's busy time is the GPU's, and a few accesses of its own. */
static void equal(void **state)
{
	static const unsigned long mhz[] = { 800, 400, 200 };
	int fd = guest_open();
	struct load load = load_new(fd);
	uint64_t cycles = 0;

	(void)state;
	devfreq_choose("userspace");
	for (unsigned int i = 0; i < 3; i++) {
		uint64_t busy, model, before, used;

		devfreq_set(mhz[i]);
		busy = clock_says("busy");
		model = (uint64_t)guest_gpu_counter("busy");
		before = fdinfo_says(fd, "drm-cycles-vertex-tiler");
		work(&load, 4);
		busy = clock_says("busy") - busy;
		model = (uint64_t)guest_gpu_counter("busy") - model;
		used = fdinfo_says(fd, "drm-cycles-vertex-tiler") - before;
		printf("# at %lu MHz: driver %" PRIu64 ", GPU %" PRIu64 ", client %" PRIu64 "\n",
		       mhz[i], busy, model, used);
		assert_in_range(busy, model, model + 4 * ACCESSES_A_JOB);
		/*
		 * The client's cycles are the GPU's own, and so the same at any frequency,
		 * except those of page-table walks, which the bus counts.
		 */
		if (!i)
			cycles = used;
		assert_in_range(busy * mhz[i] / 800, used - 4, used + 4);
		assert_in_range(used, cycles - cycles / 50, cycles + cycles / 50);
	}
	devfreq_set(800);
	load_free(&load);
	close(fd);
}

/* The launcher lets 100 ms of the GPU's time pass, without work. */
static void slow(void **state)
{
	(void)state;
	close(guest_open());
	devfreq_choose("simple_ondemand");
	assert_int_equal(devfreq_put_number("polling_interval", 5), 0);
	devfreq_wait(200);
	is_at(200, 650);
}

static void fast(void **state)
{
	int fd = guest_open();
	struct load load = load_new(fd);

	(void)state;
	assert_int_equal(devfreq_put_number("polling_interval", 5), 0);
	for (int64_t end = guest_deadline(PATIENCE_MS);
	     devfreq_number("cur_freq") != 800 * MHZ && guest_deadline(0) < end;)
		work(&load, 1);
	is_at(800, 1000);
	load_free(&load);
	close(fd);
}

/*
 * A load between: 264 thousand cycles of work, and then the launcher lets 750 thousand pass,
 * so 26 %.  Nobody looks at the window in between, because this governor does not.
 */
static void begin(void **state)
{
	int fd = guest_open();
	struct load load = load_new(fd);

	(void)state;
	devfreq_choose("userspace");
	/* A change begins a window. */
	devfreq_set(400);
	devfreq_set(800);
	work(&load, 1);
	load_free(&load);
	close(fd);
}

/* 800 MHz times 26 % of 42.5 % is 489 MHz; and that stays, as long as no more time passes. */
static void middle(void **state)
{
	char text[128];

	(void)state;
	close(guest_open());
	devfreq_choose("simple_ondemand");
	devfreq_wait(600);
	is_at(600, 850);
	usleep(100000);
	is_at(600, 850);
	snprintf(text, sizeof(text), " cycles at %lu Hz\n", 800 * MHZ);
	assert_true(guest_debugfs_says("clock", text));
}

/* ---- By hand ------------------------------------------------------------------ */

static void userspace(void **state)
{
	static const struct {
		unsigned long mhz, mv;
	} steps[] = {
		{ 200, 650 }, { 800, 1000 }, { 600, 850 }, { 400, 750 }, { 200, 650 },
		{ 400, 750 }, { 600, 850 }, { 800, 1000 },
	};
	int fd = guest_open();
	struct load load = load_new(fd);

	(void)state;
	devfreq_choose("userspace");
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		devfreq_set(steps[i].mhz);
		is_at(steps[i].mhz, steps[i].mv);
		assert_int_equal(fdinfo_says(fd, "drm-curfreq-fragment"), steps[i].mhz * MHZ);
		work(&load, 1);
	}
	/* The faster one of two points serves a frequency between them. */
	assert_int_equal(devfreq_put_number("userspace/set_freq", 401 * MHZ), 0);
	is_at(600, 850);
	/* Limits hold for every governor. */
	assert_int_equal(devfreq_put_number("max_freq", 400 * MHZ), 0);
	is_at(400, 750);
	assert_int_equal(devfreq_put_number("max_freq", 800 * MHZ), 0);
	devfreq_set(200);
	load_free(&load);
	close(fd);
}

/*
 * The cycles that the driver counts for one job.  It takes the GPU's time times the frequency
 * that it believes the GPU to have, so at another one they are wrong.
 */
static uint64_t cycles_of_a_job(struct load *load)
{
	uint64_t before = fdinfo_says(load->job.fd, "drm-cycles-vertex-tiler");

	work(load, 1);
	return fdinfo_says(load->job.fd, "drm-cycles-vertex-tiler") - before;
}

static void believes_what_is(struct load *load, uint64_t cycles)
{
	assert_in_range(cycles_of_a_job(load), cycles - cycles / 50, cycles + cycles / 50);
}

/*
 * The launcher has made the GPU refuse the first, third, seventh and ninth setting from now:
 * a voltage and a frequency on the way up, then a frequency and a voltage on the way down.
 */
static void refused(void **state)
{
	int fd = guest_open();
	struct load load = load_new(fd);
	uint64_t before = clock_says("refused"), cycles = cycles_of_a_job(&load);

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(devfreq_put_number("userspace/set_freq", 800 * MHZ), EIO);
		is_at(200, 650);
		believes_what_is(&load, cycles);
	}
	assert_int_equal(devfreq_put_number("userspace/set_freq", 800 * MHZ), 0);
	is_at(800, 1000);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(devfreq_put_number("userspace/set_freq", 400 * MHZ), EIO);
		is_at(800, 1000);
		believes_what_is(&load, cycles);
	}
	assert_int_equal(devfreq_put_number("userspace/set_freq", 400 * MHZ), 0);
	is_at(400, 750);
	assert_int_equal(clock_says("refused"), before + 4);
	load_free(&load);
	close(fd);
}

/* ---- Beside all else ------------------------------------------------------------ */

static volatile bool over;

/* A governor that never rests; while the driver is unbound there is nothing to set. */
static void *restless(void *arg)
{
	(void)arg;
	for (unsigned long i = 0; !over; i++) {
		devfreq_put("governor", i & 64 ? "simple_ondemand" : "userspace");
		devfreq_put("polling_interval", "1");
		devfreq_put_number("userspace/set_freq", (200 + 200 * (i & 3)) * MHZ);
	}
	return NULL;
}

static pthread_t begin_restless(void)
{
	pthread_t thread;

	over = false;
	assert_int_equal(pthread_create(&thread, NULL, restless, NULL), 0);
	return thread;
}

static void end_restless(pthread_t thread)
{
	over = true;
	pthread_join(thread, NULL);
}

/* The driver leaves, and comes back, in the middle of changes. */
static void unbound(void **state)
{
	pthread_t thread = begin_restless();
	unsigned long mhz;

	(void)state;
	for (int i = 0; i < 10; i++) {
		int fd = guest_open();
		struct load load = load_new(fd);

		work(&load, 1);
		load_free(&load);
		close(fd);
		assert_int_equal(device_unbind(), 0);
		assert_int_equal(device_bind(), 0);
	}
	end_restless(thread);
	/* A new driver begins where the last one has left the clock. */
	devfreq_choose("userspace");
	devfreq_set(400);
	assert_int_equal(device_unbind(), 0);
	assert_int_equal(device_bind(), 0);
	close(guest_open());
	mhz = clock_says("mhz");
	assert_true(mhz == 400 || mhz == 800);
	assert_int_equal(clock_says("millivolts"), mhz == 400 ? 750 : 1000);
}

static void *unbind(void *ret)
{
	*(int *)ret = device_unbind();
	return NULL;
}

/* The driver leaves, and @file is written to while devfreq removes its device, at @symbol. */
static int put_while_leaving(const char *symbol, const char *file, const char *text)
{
	pthread_t thread;
	int unbound = -1, err;

	inject_within("agate_devfreq_topic_fini");
	inject_hold_entry(symbol, 1, INJECT_BOUND_MS);
	assert_int_equal(pthread_create(&thread, NULL, unbind, &unbound), 0);
	assert_true(inject_await_held(symbol, PATIENCE_MS));
	err = devfreq_put(file, text);
	assert_true(inject_let_go(symbol));
	pthread_join(thread, NULL);
	inject_clear();
	assert_int_equal(unbound, 0);
	return err;
}

/* devfreq stops the governor before it takes the files away that start one. */
static void leaving(void **state)
{
	(void)state;
	close(guest_open());
	devfreq_choose("userspace");
	assert_int_equal(put_while_leaving("device_unregister", "governor", "simple_ondemand"),
			 ENOENT);
	assert_int_equal(device_bind(), 0);
	devfreq_choose("simple_ondemand");
	assert_int_equal(put_while_leaving("sysfs_remove_file_ns", "timer", "deferrable"), 0);
	/* Long enough for a governor that was left behind to poll, in memory that is free. */
	usleep(200000);
	assert_int_equal(device_bind(), 0);
}

/* A chain that does not stop makes the driver reset the GPU, in the middle of changes. */
static void reset(void **state)
{
	int fd = guest_open();
	struct load load = load_new(fd);
	struct bo endless = guest_bo(fd, PAGE, 0);
	pthread_t thread = begin_restless();

	(void)state;
	for (int i = 0; i < 3; i++) {
		guest_job(&endless, 0, AGATE_JOB_NULL, endless.va, NULL, 0);
		assert_int_equal(guest_fence_end(guest_submit_fence(&endless, 0)), -ETIME);
		work(&load, 1);
	}
	end_restless(thread);
	devfreq_choose("userspace");
	devfreq_set(600);
	is_at(600, 850);
	devfreq_set(800);
	work(&load, 1);
	is_at(800, 1000);
	guest_destroy(&endless);
	load_free(&load);
	close(fd);
	guest_assert_nothing_left();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table),
		cmocka_unit_test(fixed),
		cmocka_unit_test(equal),
		cmocka_unit_test(slow),
		cmocka_unit_test(fast),
		cmocka_unit_test(begin),
		cmocka_unit_test(middle),
		cmocka_unit_test(userspace),
		cmocka_unit_test(refused),
		cmocka_unit_test(unbound),
		cmocka_unit_test(leaving),
		cmocka_unit_test(reset),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("dvfs", tests, NULL, NULL);
}
