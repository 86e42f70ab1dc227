// SPDX-License-Identifier: MIT
/*
 * agate-top shows a device's regions of memory, and the part of a client's memory that is the
 * device's own, whatever its driver calls it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "top_print.h"
#include "top_regions.h"
#include "top_scan.h"

static const char card_text[] =
	"system size=125829120 used=1048576 visible=125829120 visible_used=1048576\n"
	"half a line size=5\n"
	"vram size=67108864 used=12582912 visible=16777216 visible_used=4194304\n";

static void test_parse(void **state)
{
	struct top_regions regions = { 0 };
	char text[TOP_REGIONS_TEXT];

	(void)state;
	top_parse_regions(card_text, &regions);
	assert_int_equal(regions.count, 2);
	assert_string_equal(regions.region[1].name, "vram");
	assert_int_equal(regions.region[1].size, 64 << 20);
	assert_int_equal(regions.region[1].used, 12 << 20);
	assert_int_equal(regions.region[1].visible, 16 << 20);
	assert_int_equal(regions.region[1].visible_used, 4 << 20);
	top_regions_text(text, &regions);
	assert_string_equal(text, "system 1.0M of 120M; vram 12.0M of 64.0M, visible 4.0M of 16.0M");
}

static void test_limits(void **state)
{
	struct top_regions regions = { 0 };
	char long_line[1024], text[TOP_REGIONS_TEXT];

	(void)state;
	top_parse_regions("", &regions);
	top_regions_text(text, &regions);
	assert_string_equal(text, "");
	memset(long_line, 'x', sizeof(long_line) - 1);
	long_line[sizeof(long_line) - 1] = '\0';
	memcpy(long_line + 900, " size=1 used=1 visible=1 visible_used=1\n", 40);
	top_parse_regions(long_line, &regions);
	assert_int_equal(regions.count, 0);
	for (int i = 0; i < 3; i++)
		top_parse_regions(card_text, &regions);
	assert_int_equal(regions.count, TOP_DEVICE_REGIONS);
	/* Long names are cut, not the stack. */
	for (uint32_t i = 0; i < regions.count; i++) {
		memset(regions.region[i].name, 'n', TOP_NAME - 1);
		regions.region[i].name[TOP_NAME - 1] = '\0';
	}
	top_regions_text(text, &regions);
	assert_int_equal(strlen(text), TOP_REGIONS_TEXT - 1);
}

static void test_own_memory(void **state)
{
	static const struct {
		const char *fdinfo, *shown;
		bool found;
		uint64_t bytes;
	} cases[] = {
		{ "drm-driver: agate\ndrm-resident-memory: 3 MiB\ndrm-resident-vram: 2 MiB\n", "2.0M",
		  true, 2 << 20 },
		{ "drm-driver: amdgpu\ndrm-memory-vram: 4 KiB\ndrm-memory-gtt: 8 KiB\n", "4.0K", true,
		  4096 },
		{ "drm-driver: xe\ndrm-resident-vram0: 1 MiB\ndrm-resident-vram1: 1 MiB\n", "2.0M",
		  true, 2 << 20 },
		{ "drm-driver: i915\ndrm-resident-local0: 1 MiB\n", "1.0M", true, 1 << 20 },
		{ "drm-driver: xe\ndrm-resident-vram0: 18446744073709551615\n"
		  "drm-resident-vram1: 1 MiB\n", "16.0E", true, UINT64_MAX },
		{ "drm-driver: panfrost\ndrm-resident-memory: 1 MiB\n", "-", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct top_client client = { 0 };
		uint64_t bytes;

		assert_true(top_parse_fdinfo(cases[i].fdinfo, &client));
		assert_true(top_vram(&client, &bytes) == cases[i].found);
		assert_int_equal(bytes, cases[i].bytes);
		assert_string_equal(top_memory_text(&client).vram, cases[i].shown);
	}
}

static const char ggtt_text[] =
	"start=0x800000 size=262144 driver addr=0x40000 in=vram vf=0\n"
	"start=0x840000 size=1048576 bo vf=3\n"
	"no range\n"
	"start=0x10 size=5\n"
	"start=0x940000 size=16777216 free\n"
	"start=0x1940000 size=201326592 free\n";

static void test_global_table(void **state)
{
	struct top_ggtt ggtt = { 0 };
	char long_line[1024], text[TOP_GGTT_TEXT];

	(void)state;
	top_parse_ggtt("", &ggtt);
	top_ggtt_text(text, &ggtt);
	assert_string_equal(text, "");
	top_parse_ggtt(ggtt_text, &ggtt);
	assert_int_equal(ggtt.size, (192 + 16 + 1) * 1048576 + 262144);
	assert_int_equal(ggtt.used, 1048576 + 262144);
	assert_int_equal(ggtt.largest_hole, 192 << 20);
	top_ggtt_text(text, &ggtt);
	assert_string_equal(text, "1.2M of 209M, largest hole 192M");
	memset(long_line, '9', sizeof(long_line) - 1);
	long_line[sizeof(long_line) - 1] = '\0';
	top_parse_ggtt(long_line, &ggtt);
	assert_int_equal(ggtt.used, 1048576 + 262144);
	top_parse_ggtt("start=0x0 size=18446744073709551615 bo vf=0\n", &ggtt);
	top_ggtt_text(text, &ggtt);
	assert_string_equal(text, "16.0E of 16.0E, largest hole 192M");
}

/* A device and its client, in both forms; another device has no regions, and no table. */
static void test_printed(void **state)
{
	struct top_sample now = { .time_ns = 2000000000 }, before = { .time_ns = 1000000000 };
	struct top_client client = { .pid = 7, .command = "draws" };
	json_t *root, *device, *vram, *ggtt;
	char *text = NULL;
	size_t size;
	FILE *out;

	(void)state;
	assert_true(top_parse_fdinfo("drm-driver: agate\ndrm-pdev: p\ndrm-client-id: 1\n"
				     "drm-resident-vram: 2 MiB\ndrm-total-vram: 3 MiB\n", &client));
	assert_true(top_sample_add(&now, &client));
	now.device[now.device_count++] = (struct top_device){ .driver = "agate", .device = "p" };
	now.device[now.device_count++] = (struct top_device){ .driver = "other", .device = "q" };
	top_parse_regions(card_text, &now.device[0].regions);
	top_parse_ggtt(ggtt_text, &now.device[0].ggtt);

	out = open_memstream(&text, &size);
	assert_int_equal(top_print_table(out, &now, &before), 0);
	fclose(out);
	assert_non_null(strstr(text, "agate p:\n  memory: system 1.0M of 120M; vram 12.0M of 64.0M, "));
	assert_non_null(strstr(text, "\n  global table: 1.2M of 209M, largest hole 192M\n"));
	assert_null(strstr(text, "other q"));
	assert_non_null(strstr(text, "  3.0M     2.0M    2.0M      0B "));
	free(text);

	out = open_memstream(&text, &size);
	assert_int_equal(top_print_json(out, &now, &before), 0);
	fclose(out);
	root = json_loads(text, 0, NULL);
	device = json_array_get(json_object_get(root, "devices"), 0);
	vram = json_object_get(json_object_get(device, "regions"), "vram");
	assert_int_equal(json_integer_value(json_object_get(vram, "used")), 12 << 20);
	assert_int_equal(json_integer_value(json_object_get(vram, "visible")), 16 << 20);
	ggtt = json_object_get(device, "ggtt");
	assert_int_equal(json_integer_value(json_object_get(ggtt, "size")), 219414528);
	assert_int_equal(json_integer_value(json_object_get(ggtt, "used")), 1310720);
	assert_int_equal(json_integer_value(json_object_get(ggtt, "largest_hole")), 192 << 20);
	device = json_array_get(json_object_get(root, "devices"), 1);
	assert_null(json_object_get(device, "regions"));
	assert_null(json_object_get(device, "ggtt"));
	json_decref(root);
	free(text);
	top_sample_clear(&now);
}

static void put_file(const char *root, const char *minor, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, minor);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s/%s", root, minor, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* Of agate alone: another driver's files may say anything. */
static void test_scanned(void **state)
{
	char root[] = "/tmp/agate-top-regions-XXXXXX", command[128];
	const struct top_folders folders = { "/nonexistent", root, "/nonexistent", "/nonexistent" };
	struct top_sample sample = { 0 };

	(void)state;
	assert_non_null(mkdtemp(root));
	for (int i = 0; i < 2; i++) {
		const char *minor = i ? "1" : "0";

		put_file(root, minor, "name", i ? "other dev=q" : "agate dev=p");
		put_file(root, minor, "regions", card_text);
		put_file(root, minor, "ggtt", ggtt_text);
	}
	assert_int_equal(top_scan(&folders, &sample), 0);
	assert_int_equal(sample.device_count, 2);
	assert_int_equal(sample.device[0].regions.count, 2);
	assert_int_equal(sample.device[0].ggtt.used, 1310720);
	assert_int_equal(sample.device[1].regions.count, 0);
	assert_int_equal(sample.device[1].ggtt.size, 0);
	top_sample_clear(&sample);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_own_memory),
		cmocka_unit_test(test_global_table),
		cmocka_unit_test(test_printed),
		cmocka_unit_test(test_scanned),
	};

	return cmocka_run_group_tests_name("top-regions", tests, NULL, NULL);
}
