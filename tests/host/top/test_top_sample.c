// SPDX-License-Identifier: MIT
/*
 * What agate-top concludes from two samples, how it sorts, and what it prints.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <jansson.h>

#include "top_print.h"

#define SECOND	1000000000ull

static struct top_client client_with(const char *text, int pid)
{
	struct top_client client = { .pid = pid, .fd = 3 };

	assert_true(top_parse_fdinfo(text, &client));
	strcpy(client.command, "render");
	return client;
}

static void assert_busy(double seen, double expected)
{
	assert_true(seen > expected - 1e-9 && seen < expected + 1e-9);
}

/* Busy between two texts of the first engine, in half a second. */
static double busy_of(const char *before, const char *now)
{
	char text[2][256];
	struct top_client old, new;

	snprintf(text[0], sizeof(text[0]), "drm-driver: d\ndrm-client-id: 1\n%s", before);
	snprintf(text[1], sizeof(text[1]), "drm-driver: d\ndrm-client-id: 1\n%s", now);
	old = client_with(text[0], 1);
	new = client_with(text[1], 1);
	assert_int_equal(new.engine_count, 1);
	assert_busy(top_engine_busy(&new.engine[0], NULL, SECOND / 2), 0.0);
	assert_busy(top_client_busy(&new, &old, SECOND / 2),
		    top_engine_busy(&new.engine[0], &old, SECOND / 2));
	return top_engine_busy(&new.engine[0], &old, SECOND / 2);
}

static void test_engine_time(void **state)
{
	(void)state;
	assert_busy(busy_of("drm-engine-r: 1000 ns\n", "drm-engine-r: 1000 ns\n"), 0.0);
	assert_busy(busy_of("drm-engine-r: 1000 ns\n", "drm-engine-r: 125001000 ns\n"), 0.25);
	assert_busy(busy_of("drm-engine-r: 0 ns\n", "drm-engine-r: 500000000 ns\n"), 1.0);
	/* Time of the last job that is told late. */
	assert_busy(busy_of("drm-engine-r: 0 ns\n", "drm-engine-r: 900000000 ns\n"), 1.0);
	/* The number of a client that is gone was given to a new one. */
	assert_busy(busy_of("drm-engine-r: 9000 ns\n", "drm-engine-r: 10 ns\n"), 0.0);
	/* Two of them: a client that keeps one busy uses half of what there is. */
	assert_busy(busy_of("drm-engine-r: 0 ns\ndrm-engine-capacity-r: 2\n",
			    "drm-engine-r: 500000000 ns\ndrm-engine-capacity-r: 2\n"), 0.5);
	/* The engine was not there before. */
	assert_busy(busy_of("drm-engine-x: 0 ns\n", "drm-engine-r: 500000000 ns\n"), 0.0);
}

static void test_engine_cycles(void **state)
{
	(void)state;
	assert_busy(busy_of("drm-cycles-r: 100\ndrm-total-cycles-r: 1000\n",
			    "drm-cycles-r: 400\ndrm-total-cycles-r: 2000\n"), 0.3);
	assert_busy(busy_of("drm-cycles-r: 100\ndrm-total-cycles-r: 1000\n",
			    "drm-cycles-r: 400\ndrm-total-cycles-r: 1000\n"), 0.0);
	assert_busy(busy_of("drm-cycles-r: 0\ndrm-maxfreq-r: 400 MHz\n",
			    "drm-cycles-r: 50000000\ndrm-maxfreq-r: 400 MHz\n"), 0.25);
	/* Without a frequency nothing is known. */
	assert_busy(busy_of("drm-cycles-r: 0\n", "drm-cycles-r: 50000000\n"), 0.0);
}

/* The load of a device that says itself how busy it was. */
static double device_busy(struct top_device now, struct top_device before)
{
	struct top_sample samples[2] = {
		{ .time_ns = SECOND, .device = { now }, .device_count = 1 },
		{ .device = { before }, .device_count = 1 },
	};

	return top_device_busy(&samples[0], &samples[1], &samples[0].device[0]);
}

static void test_device(void **state)
{
	const struct top_device before = {
		.driver = "agate", .device = "a", .busy_ns = 100, .idle_ns = 900, .has_busy = true,
	};
	const struct top_device now = {
		.driver = "agate", .device = "a", .busy_ns = 400, .idle_ns = 1600, .has_busy = true,
	};
	const struct top_device other = {
		.driver = "agate", .device = "b", .busy_ns = 400, .idle_ns = 1600, .has_busy = true,
	};
	const struct top_device silent = { .driver = "agate", .device = "a" };

	(void)state;
	assert_busy(device_busy(now, before), 0.3);
	assert_true(device_busy(before, before) < 0.0);
	assert_true(device_busy(now, other) < 0.0);
	assert_true(device_busy(before, now) < 0.0);
	assert_true(device_busy(now, silent) < 0.0);
	assert_true(device_busy(silent, before) < 0.0);
}

/* Two clients of a driver that tells nothing but fdinfo, in half a second. */
static void test_device_by_its_clients(void **state)
{
	static const char format[] =
		"drm-driver: panfrost\ndrm-client-id: %d\n"
		"drm-engine-f: %d ns\ndrm-maxfreq-f: 800 MHz\ndrm-curfreq-f: %d MHz\n"
		"drm-engine-v: %d ns\n";
	struct top_sample samples[2] = { { .time_ns = SECOND }, { .time_ns = SECOND / 2 } };
	char text[256];

	(void)state;
	for (int i = 0; i < 2; i++) {
		for (int id = 1; id <= 2; id++) {
			struct top_client client;

			snprintf(text, sizeof(text), format, id, i ? 0 : 100000000, 400,
				 i || id == 1 ? 0 : 150000000);
			client = client_with(text, id);
			assert_true(top_sample_add(&samples[i], &client));
		}
		top_sample_add_devices(&samples[i]);
	}
	assert_int_equal(samples[0].device_count, 1);
	assert_string_equal(samples[0].device[0].driver, "panfrost");
	assert_int_equal(samples[0].device[0].now_hz, 400000000);
	assert_int_equal(samples[0].device[0].max_hz, 800000000);
	/* Engine f: 20 % and 20 %; engine v: 30 %. */
	assert_busy(top_device_busy(&samples[0], &samples[1], &samples[0].device[0]), 0.4);

	/* debugfs knows its name, which its clients do not: they are its clients all the same. */
	samples[0].device[0] = (struct top_device){
		.driver = "panfrost", .device = "fde60000.gpu",
	};
	top_sample_add_devices(&samples[0]);
	assert_int_equal(samples[0].device_count, 1);
	assert_int_equal(samples[0].device[0].now_hz, 400000000);
	top_sample_clear(&samples[0]);
	top_sample_clear(&samples[1]);
}

static void put_file(const char *folder, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* debugfs names two devices, and devfreq knows the frequency of one of them. */
static void test_devfreq(void **state)
{
	char root[] = "/tmp/agate-top-XXXXXX", path[3][64], command[64];
	struct top_folders folders = { "/nonexistent", path[0], path[1], "/nonexistent" };
	struct top_sample sample = { 0 };

	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(path[0], 32, "%s/dri", root);
	snprintf(path[1], 32, "%s/devfreq", root);
	for (int i = 0; i < 2; i++)
		assert_int_equal(mkdir(path[i], 0700), 0);
	for (int i = 0; i < 2; i++) {
		char text[64];

		snprintf(path[2], sizeof(path[2]), "%.31s/%d", path[0], i);
		assert_int_equal(mkdir(path[2], 0700), 0);
		snprintf(text, sizeof(text), "v3d dev=gpu%d unique=x\n", i);
		put_file(path[2], "name", text);
	}
	snprintf(path[2], sizeof(path[2]), "%.31s/gpu1", path[1]);
	assert_int_equal(mkdir(path[2], 0700), 0);
	put_file(path[2], "cur_freq", "200000000\n");
	put_file(path[2], "max_freq", "500000000\n");

	assert_int_equal(top_scan(&folders, &sample), 0);
	assert_int_equal(sample.device_count, 2);
	for (int i = 0; i < 2; i++) {
		bool known = !strcmp(sample.device[i].device, "gpu1");

		assert_int_equal(sample.device[i].now_hz, known ? 200000000 : 0);
		assert_int_equal(sample.device[i].max_hz, known ? 500000000 : 0);
	}
	top_sample_clear(&sample);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

static const char idle_text[] =
	"drm-driver: agate\ndrm-pdev: p\ndrm-client-id: 1\ndrm-engine-r: 5 ns\n"
	"drm-resident-memory: 8 MiB\ndrm-total-memory: 16 MiB\n";
static const char busy_before[] =
	"drm-driver: agate\ndrm-pdev: p\ndrm-client-id: 2\ndrm-engine-r: 0 ns\n"
	"drm-resident-memory: 1 MiB\n";
static const char busy_now[] =
	"drm-driver: agate\ndrm-pdev: p\ndrm-client-id: 2\ndrm-engine-r: 400000000 ns\n"
	"drm-resident-memory: 1 MiB\n";

static void two_samples(struct top_sample *now, struct top_sample *before)
{
	struct top_client idle = client_with(idle_text, 10);
	struct top_client old = client_with(busy_before, 20), new = client_with(busy_now, 20);

	memset(now, 0, sizeof(*now));
	memset(before, 0, sizeof(*before));
	before->time_ns = SECOND;
	now->time_ns = 2 * SECOND;
	new.has_bos = true;
	new.bos.paged = 3;
	new.bos.cached = 2;
	assert_true(top_sample_add(before, &idle) && top_sample_add(before, &old));
	assert_true(top_sample_add(now, &idle) && top_sample_add(now, &new));
	/* The same client in a second process. */
	idle.pid = 11;
	assert_true(top_sample_add(now, &idle));
	assert_int_equal(now->count, 2);
	now->device[now->device_count++] = (struct top_device){
		.driver = "agate", .device = "p", .busy_ns = 500, .idle_ns = 500,
		.now_hz = 400000000, .max_hz = 800000000, .has_busy = true,
	};
	before->device[before->device_count++] = (struct top_device){
		.driver = "agate", .device = "p", .has_busy = true,
	};
}

static void test_order(void **state)
{
	struct top_sample now, before;

	(void)state;
	two_samples(&now, &before);
	top_sort(&now, &before, false);
	assert_int_equal(now.clients[0].pid, 20);
	top_sort(&now, &before, true);
	assert_int_equal(now.clients[0].pid, 10);
	assert_int_equal(top_find(&before, &now.clients[0])->id, 1);
	top_sample_clear(&now);
	top_sample_clear(&before);
}

static char *printed(int (*print)(FILE *out, const struct top_sample *now,
				  const struct top_sample *before))
{
	struct top_sample now, before;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	two_samples(&now, &before);
	top_sort(&now, &before, false);
	assert_int_equal(print(out, &now, &before), 0);
	fclose(out);
	top_sample_clear(&now);
	top_sample_clear(&before);
	return text;
}

/* Nobody takes what is printed for complete when it is not. */
static void test_full_disk(void **state)
{
	struct top_sample now, before;
	FILE *out = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(out);
	two_samples(&now, &before);
	assert_int_equal(top_print_table(out, &now, &before), -EIO);
	assert_int_equal(top_print_json(out, &now, &before), -EIO);
	fclose(out);
	top_sample_clear(&now);
	top_sample_clear(&before);
}

static void test_table(void **state)
{
	char *text = printed(top_print_table);

	(void)state;
	assert_non_null(strstr(text, "agate p: 50% busy, 400 of 800 MHz\n"));
	assert_non_null(strstr(text, "r 40%  BOs: 3 paged, 2 cached\n"));
	assert_non_null(strstr(text, " 16.0M     8.0M       -      0B        0B  r 0%\n"));
	free(text);
}

static void test_json(void **state)
{
	char *text = printed(top_print_json), *driver;
	json_t *root = json_loads(text, 0, NULL), *client, *engines, *device;
	double busy = -1;
	int pid = 0;

	(void)state;
	assert_non_null(root);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	assert_int_equal(json_integer_value(json_object_get(root, "interval_ns")), SECOND);
	device = json_array_get(json_object_get(root, "devices"), 0);
	assert_int_equal(json_integer_value(json_object_get(device, "hz")), 400000000);
	assert_int_equal(json_integer_value(json_object_get(device, "max_hz")), 800000000);
	client = json_array_get(json_object_get(root, "clients"), 0);
	assert_int_equal(json_unpack(client, "{s:i, s:s, s:o}", "pid", &pid, "driver", &driver,
				     "engines", &engines), 0);
	assert_int_equal(pid, 20);
	assert_string_equal(driver, "agate");
	assert_int_equal(json_unpack(engines, "{s:{s:f}}", "r", "busy", &busy), 0);
	assert_busy(busy, 0.4);
	assert_int_equal(json_array_size(json_object_get(root, "clients")), 2);
	json_decref(root);
	free(text);
}

/* A number that is too large for JSON's integers is the largest of them, not a negative one. */
static void test_json_huge(void **state)
{
	struct top_sample now = { 0 };
	struct top_client client = client_with("drm-driver: d\ndrm-client-id: 9223372036854775808\n"
					       "drm-engine-r: 18446744073709551615 ns\n"
					       "drm-total-m: 18446744073709551615\n", 1);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_true(top_sample_add(&now, &client));
	assert_int_equal(top_print_json(out, &now, &now), 0);
	fclose(out);
	assert_non_null(strstr(text, "\"id\":9223372036854775807"));
	assert_non_null(strstr(text, "\"busy_ns\":9223372036854775807"));
	assert_non_null(strstr(text, "\"total\":9223372036854775807"));
	assert_null(strstr(text, ":-"));
	free(text);
	top_sample_clear(&now);
}

static void test_bytes(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {
		{ 0, "0B" }, { 999, "999B" }, { 1023, "1.0K" }, { 4096, "4.0K" }, { 102400, "100K" },
		{ 1 << 20, "1.0M" }, { 1536ull << 20, "1.5G" }, { UINT64_MAX, "16.0E" },
	};
	char text[8];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		top_bytes(text, cases[i].bytes);
		assert_string_equal(text, cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_engine_time),
		cmocka_unit_test(test_engine_cycles),
		cmocka_unit_test(test_device),
		cmocka_unit_test(test_device_by_its_clients),
		cmocka_unit_test(test_devfreq),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_huge),
		cmocka_unit_test(test_bytes),
	};

	return cmocka_run_group_tests_name("top-sample", tests, NULL, NULL);
}
