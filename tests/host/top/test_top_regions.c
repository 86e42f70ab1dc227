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

#include <cmocka.h>
#include <jansson.h>

#include "top_print.h"
#include "top_regions.h"

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

/* A device and its client, in both forms; another device has no regions. */
static void test_printed(void **state)
{
	struct top_sample now = { .time_ns = 2000000000 }, before = { .time_ns = 1000000000 };
	struct top_client client = { .pid = 7, .command = "draws" };
	json_t *root, *device, *vram;
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

	out = open_memstream(&text, &size);
	assert_int_equal(top_print_table(out, &now, &before), 0);
	fclose(out);
	assert_non_null(strstr(text, "agate p:\n  memory: system 1.0M of 120M; vram 12.0M of 64.0M, "));
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
	device = json_array_get(json_object_get(root, "devices"), 1);
	assert_null(json_object_get(device, "regions"));
	json_decref(root);
	free(text);
	top_sample_clear(&now);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_own_memory),
		cmocka_unit_test(test_printed),
	};

	return cmocka_run_group_tests_name("top-regions", tests, NULL, NULL);
}
