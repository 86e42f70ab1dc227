// SPDX-License-Identifier: MIT
/*
 * What agate-top makes of a device's power: of agate's file in debugfs, and of runtime PM's
 * files of any driver.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "top_print.h"

static const char agate[] =
	"input on\n"
	"L2 on\n"
	"shader on\n"
	"tiler off\n"
	"resumes 12\n"
	"failures 3\n"
	"off 123456 ns\n";

static void test_debugfs(void **state)
{
	struct top_power power = { 0 };

	(void)state;
	top_parse_power(agate, &power);
	assert_int_equal(power.domain_count, 4);
	assert_string_equal(power.domain[0].name, "input");
	assert_string_equal(power.domain[3].name, "tiler");
	assert_true(power.domain[2].on && !power.domain[3].on);
	assert_true(power.has_counts);
	assert_int_equal(power.resumes, 12);
	assert_int_equal(power.failures, 3);
}

static void test_odd_debugfs(void **state)
{
	char text[1024] = "";
	struct top_power power = { 0 };

	(void)state;
	top_parse_power("", &power);
	top_parse_power("on\noff\n\n\nL2 maybe\nresumes many\n\033[2J on", &power);
	assert_int_equal(power.domain_count, 1);
	assert_string_equal(power.domain[0].name, "?[2J");
	assert_false(power.has_counts);
	for (int i = 0; i < 2 * TOP_DOMAINS; i++)
		strcat(text, "a-name-of-many-letters on\nx off\n");
	top_parse_power(text, &power);
	assert_true(power.domain_count <= TOP_DOMAINS);
}

static void test_share(void **state)
{
	const struct top_power before = { .has_times = true, .active_ms = 100, .suspended_ms = 50 };
	const struct top_power now = { .has_times = true, .active_ms = 130, .suspended_ms = 140 };
	const struct top_power silent = { .active_ms = 1 };

	(void)state;
	assert_true(top_power_active(&now, &before) == 0.25);
	assert_true(top_power_active(&now, NULL) < 0.0);
	assert_true(top_power_active(&now, &now) < 0.0);
	/* The device came back, and counts anew. */
	assert_true(top_power_active(&before, &now) < 0.0);
	assert_true(top_power_active(&silent, &before) < 0.0);
	assert_true(top_power_active(&now, &silent) < 0.0);
}

static void test_text(void **state)
{
	struct top_power now = { 0 }, before = { .has_times = true };
	char text[TOP_POWER_TEXT];

	(void)state;
	top_power_text(text, &now, &before);
	assert_string_equal(text, "");
	strcpy(now.status, "active");
	top_power_text(text, &now, &before);
	assert_string_equal(text, "active");
	now.has_times = true;
	now.active_ms = 3400;
	now.suspended_ms = 10200;
	now.has_autosuspend = true;
	now.autosuspend_ms = 50;
	top_parse_power(agate, &now);
	top_power_text(text, &now, NULL);
	assert_string_equal(text, "active; active 3.4 s, suspended 10.2 s; autosuspend 50 ms; "
				  "on: input L2 shader");
	now.autosuspend_ms = -1;
	for (uint32_t i = 0; i < now.domain_count; i++)
		now.domain[i].on = false;
	top_power_text(text, &now, &before);
	assert_string_equal(text, "active; active 3.4 s (25%), suspended 10.2 s; no autosuspend; "
				  "on: nothing");
	/* The longest that there can be is cut. */
	now.active_ms = now.suspended_ms = UINT64_MAX;
	now.domain_count = TOP_DOMAINS;
	for (uint32_t i = 0; i < TOP_DOMAINS; i++)
		now.domain[i] = (struct top_domain){ "abcdefghijklmno", true };
	top_power_text(text, &now, NULL);
	assert_int_equal(strlen(text), TOP_POWER_TEXT - 1);
}

/* ---- Files --------------------------------------------------------------- */

static char root[] = "/tmp/agate-top-power-XXXXXX";

static void make_folder(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void make_link(const char *to, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	assert_int_equal(symlink(to, path), 0);
}

static void make_file(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* A device with one node; a driver may leave all but the link to itself out. */
static void make_device(const char *name, const char *node, const char *driver)
{
	char path[128], to[128];

	snprintf(path, sizeof(path), "devices/%s", name);
	make_folder(path);
	snprintf(path, sizeof(path), "drm/%s", node);
	make_folder(path);
	snprintf(path, sizeof(path), "drm/%s/device", node);
	snprintf(to, sizeof(to), "../../devices/%s", name);
	make_link(to, path);
	snprintf(path, sizeof(path), "devices/%s/driver", name);
	snprintf(to, sizeof(to), "../../drivers/%s", driver);
	make_link(to, path);
}

static void make_debugfs(const char *minor, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "dri/%s", minor);
	make_folder(path);
	snprintf(path, sizeof(path), "dri/%s/name", minor);
	make_file(path, name);
}

static void make_files(void)
{
	assert_non_null(mkdtemp(root));
	make_folder("drm");
	make_folder("dri");
	make_folder("devices");
	make_device("0000:00:04.0", "renderD128", "agate");
	make_folder("devices/0000:00:04.0/power");
	make_file("devices/0000:00:04.0/power/runtime_status", "suspended\n");
	make_file("devices/0000:00:04.0/power/runtime_active_time", "1500\n");
	make_file("devices/0000:00:04.0/power/runtime_suspended_time", "2500\n");
	make_file("devices/0000:00:04.0/power/autosuspend_delay_ms", "-1\n");
	make_debugfs("128", "agate dev=0000:00:04.0 unique=0000:00:04.0\n");
	make_file("dri/128/power", agate);

	/* This one has no autosuspend, and another file of that name in debugfs. */
	make_device("fde60000.gpu", "card1", "other");
	make_folder("devices/fde60000.gpu/power");
	make_file("devices/fde60000.gpu/power/runtime_status", "active\n");
	make_file("devices/fde60000.gpu/power/runtime_active_time", "7\n");
	make_file("devices/fde60000.gpu/power/runtime_suspended_time", "0\n");
	make_debugfs("1", "other dev=fde60000.gpu unique=fde60000.gpu\n");
	make_file("dri/1/power", agate);

	/* And this one no power management. */
	make_device("vkms", "card2", "vkms");
	make_debugfs("2", "vkms dev=vkms unique=vkms\n");
	make_file("drm/version", "drm 1.1.0 20060810\n");
}

static void check_json(const struct top_sample *sample)
{
	json_t *root_json, *power;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(top_print_json(out, sample, sample), 0);
	fclose(out);
	root_json = json_loads(text, 0, NULL);
	power = json_object_get(json_array_get(json_object_get(root_json, "devices"), 0), "power");
	assert_string_equal(json_string_value(json_object_get(power, "status")), "suspended");
	assert_int_equal(json_integer_value(json_object_get(power, "active_ms")), 1500);
	assert_int_equal(json_integer_value(json_object_get(power, "suspended_ms")), 2500);
	assert_int_equal(json_integer_value(json_object_get(power, "autosuspend_ms")), -1);
	assert_int_equal(json_integer_value(json_object_get(power, "failures")), 3);
	power = json_object_get(power, "domains");
	assert_true(json_is_true(json_object_get(power, "L2")));
	assert_true(json_is_false(json_object_get(power, "tiler")));
	json_decref(root_json);
	free(text);
}

static void test_files(void **state)
{
	char proc[64], dri[64], drm[64], command[64];
	struct top_folders folders = { proc, dri, "/nonexistent", drm };
	struct top_sample sample = { 0 };

	(void)state;
	make_files();
	snprintf(proc, sizeof(proc), "%s/proc", root);
	snprintf(dri, sizeof(dri), "%s/dri", root);
	snprintf(drm, sizeof(drm), "%s/drm", root);
	assert_int_equal(top_scan(&folders, &sample), 0);
	assert_int_equal(sample.device_count, 3);
	assert_string_equal(sample.device[0].power.status, "suspended");
	assert_true(sample.device[0].power.has_autosuspend);
	assert_int_equal(sample.device[0].power.domain_count, 4);
	assert_string_equal(sample.device[1].power.status, "active");
	assert_int_equal(sample.device[1].power.active_ms, 7);
	assert_false(sample.device[1].power.has_autosuspend);
	assert_int_equal(sample.device[1].power.domain_count, 0);
	assert_string_equal(sample.device[2].power.status, "");
	check_json(&sample);
	top_sample_clear(&sample);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_debugfs),
		cmocka_unit_test(test_odd_debugfs),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests_name("top-power", tests, NULL, NULL);
}
