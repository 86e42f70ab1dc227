// SPDX-License-Identifier: MIT
/*
 * What agate-top reads in the fdinfo and debugfs of agate, and in the fdinfo of others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "top_client.h"

#define KiB	1024ull
#define MiB	(1024 * KiB)

static const char agate[] =
	"pos:\t0\n"
	"flags:\t02100002\n"
	"mnt_id:\t21\n"
	"ino:\t105\n"
	"drm-driver:\tagate\n"
	"drm-pdev:\t0000:00:04.0\n"
	"drm-client-id:\t2\n"
	"drm-engine-fragment:\t12345678901 ns\n"
	"drm-engine-vertex-tiler:\t42 ns\n"
	"drm-engine-compute:\t0 ns\n"
	"drm-memory-memory:\t7680 KiB\n"
	"drm-total-memory:\t104716 KiB\n"
	"drm-shared-memory:\t4 KiB\n"
	"drm-resident-memory:\t7680 KiB\n"
	"drm-purgeable-memory:\t64 KiB\n"
	"drm-active-memory:\t2048 KiB\n";

static const char panfrost[] =
	"drm-driver:\tpanfrost\n"
	"drm-client-id:\t3\n"
	"drm-engine-fragment:\t1846584880 ns\n"
	"drm-cycles-fragment:\t1424359409\n"
	"drm-maxfreq-fragment:\t799999987 Hz\n"
	"drm-curfreq-fragment:\t400 MHz\n"
	"drm-engine-vertex-tiler:\t71932239 ns\n"
	"drm-cycles-vertex-tiler:\t52617357\n"
	"drm-total-memory:\t290 MiB\n"
	"drm-shared-memory:\t0 MiB\n"
	"drm-active-memory:\t226 MiB\n"
	"drm-resident-memory:\t36496 KiB\n"
	"drm-purgeable-memory:\t128 KiB\n";

/* Several regions and engines, one of which exists twice, and zeroes without a unit. */
static const char i915[] =
	"drm-driver:\ti915\n"
	"drm-client-id:\t7\n"
	"drm-pdev:\t0000:00:02.0\n"
	"drm-total-system0:\t6044 KiB\n"
	"drm-shared-system0:\t0\n"
	"drm-active-system0:\t0\n"
	"drm-resident-system0:\t6044 KiB\n"
	"drm-purgeable-system0:\t1688 KiB\n"
	"drm-total-stolen-system0:\t1 MiB\n"
	"drm-resident-stolen-system0:\t1 MiB\n"
	"drm-engine-render:\t25662044495 ns\n"
	"drm-engine-copy:\t0 ns\n"
	"drm-engine-video:\t11 ns\n"
	"drm-engine-capacity-video:\t2\n";

/* Cycles alone. */
static const char xe[] =
	"drm-driver:\txe\n"
	"drm-client-id:\t9\n"
	"drm-pdev:\t0000:03:00.0\n"
	"drm-total-vram0:\t23992 KiB\n"
	"drm-cycles-rcs:\t28257900\n"
	"drm-total-cycles-rcs:\t7655183225\n"
	"drm-cycles-vcs:\t0\n"
	"drm-total-cycles-vcs:\t7655183225\n"
	"drm-engine-capacity-vcs:\t2";

/* The oldest key of memory, and keys of its own. */
static const char amdgpu[] =
	"drm-driver:\tamdgpu\n"
	"pasid:\t32771\n"
	"drm-client-id:\t1166\n"
	"drm-pdev:\t0000:0c:00.0\n"
	"drm-memory-vram:\t2048 KiB\n"
	"drm-memory-gtt: \t4 KiB\n"
	"amd-memory-visible-vram:\t2048 KiB\n"
	"drm-engine-gfx:\t7003 ns\n";

static const struct top_engine *engine(const struct top_client *client, const char *name)
{
	for (uint32_t i = 0; i < client->engine_count; i++)
		if (!strcmp(client->engine[i].name, name))
			return &client->engine[i];
	fail_msg("no engine %s", name);
	return NULL;
}

static void test_agate(void **state)
{
	struct top_client client = { .pid = 12, .fd = 3 };

	(void)state;
	assert_true(top_parse_fdinfo(agate, &client));
	assert_string_equal(client.driver, "agate");
	assert_string_equal(client.device, "0000:00:04.0");
	assert_true(client.has_id);
	assert_int_equal(client.id, 2);
	assert_int_equal(client.pid, 12);
	assert_int_equal(client.engine_count, 3);
	assert_int_equal(engine(&client, "fragment")->busy_ns, 12345678901);
	assert_int_equal(engine(&client, "vertex-tiler")->busy_ns, 42);
	assert_true(engine(&client, "compute")->has_ns);
	assert_int_equal(client.region_count, 1);
	assert_string_equal(client.region[0].name, "memory");
	assert_int_equal(client.region[0].total, 104716 * KiB);
	assert_int_equal(client.region[0].shared, 4 * KiB);
	assert_int_equal(client.region[0].resident, 7680 * KiB);
	assert_int_equal(client.region[0].purgeable, 64 * KiB);
	assert_int_equal(client.region[0].active, 2048 * KiB);
}

static void test_others(void **state)
{
	struct top_client client = { 0 };

	(void)state;
	assert_true(top_parse_fdinfo(panfrost, &client));
	assert_string_equal(client.device, "");
	assert_int_equal(client.engine_count, 2);
	assert_int_equal(engine(&client, "fragment")->cycles, 1424359409);
	assert_int_equal(engine(&client, "fragment")->max_hz, 799999987);
	assert_int_equal(engine(&client, "fragment")->now_hz, 400000000);
	assert_int_equal(top_memory(&client).total, 290 * MiB);

	assert_true(top_parse_fdinfo(i915, &client));
	assert_int_equal(client.engine_count, 3);
	assert_int_equal(engine(&client, "render")->capacity, 1);
	assert_int_equal(engine(&client, "video")->capacity, 2);
	assert_int_equal(client.region_count, 2);
	assert_int_equal(top_memory(&client).resident, 6044 * KiB + MiB);
	assert_int_equal(top_memory(&client).shared, 0);

	assert_true(top_parse_fdinfo(xe, &client));
	assert_int_equal(client.engine_count, 2);
	assert_false(engine(&client, "rcs")->has_ns);
	assert_true(engine(&client, "rcs")->has_cycles && engine(&client, "rcs")->has_total);
	assert_int_equal(engine(&client, "rcs")->total_cycles, 7655183225);
	assert_int_equal(engine(&client, "vcs")->capacity, 2);

	assert_true(top_parse_fdinfo(amdgpu, &client));
	assert_int_equal(client.engine_count, 1);
	assert_int_equal(client.region_count, 2);
	assert_int_equal(top_memory(&client).resident, 2052 * KiB);
}

/* Texts of other files, and malformed lines. */
static void test_odd_texts(void **state)
{
	static const char *const nobody[] = {
		"", "\n", "pos:\t0\nflags:\t02\n", "drm-client-id:\t1\n", "drm-driver:\n", "drm-driver",
	};
	static const char odd[] =
		"drm-driver: agate  \n"
		"drm-client-id:\tseven\n"
		"drm-engine-:\t7 ns\n"
		"drm-engine-a:\t-7 ns\n"
		"drm-engine-b:\t7 ms\n"
		"drm-engine-c:\t99999999999999999999 ns\n"
		"drm-engine-capacity-d:\t0\n"
		"drm-total-memory:\t99999999999999999 GiB\n"
		"drm-total-x:\t5 bytes\n"
		"no colon\n"
		":\n"
		"drm-engine-e:\t5 ns \n";
	struct top_client client = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(nobody) / sizeof(nobody[0]); i++)
		assert_false(top_parse_fdinfo(nobody[i], &client));
	assert_true(top_parse_fdinfo(odd, &client));
	assert_false(client.has_id);
	assert_int_equal(client.engine_count, 1);
	assert_int_equal(engine(&client, "e")->busy_ns, 5);
	assert_int_equal(client.region_count, 0);
}

/* A sum that is too large does not begin at 0 again. */
static void test_huge(void **state)
{
	struct top_client client = { 0 };

	(void)state;
	assert_true(top_parse_fdinfo("drm-driver: d\n"
				     "drm-resident-a: 18446744073709551615\n"
				     "drm-resident-b: 4 KiB\n"
				     "drm-total-a: 17179869183 GiB\n"
				     "drm-total-b: 1 GiB\n", &client));
	assert_true(top_memory(&client).resident == UINT64_MAX);
	assert_true(top_memory(&client).total == UINT64_MAX);
	assert_int_equal(top_sum(UINT64_MAX - 2, 1), UINT64_MAX - 1);
}

/* More of everything than there is room for. */
static void test_limits(void **state)
{
	static char text[65536];
	struct top_client client = { 0 };
	size_t len = (size_t)snprintf(text, sizeof(text), "drm-driver:\t%0200d\n", 7);

	(void)state;
	for (int i = 0; i < 100; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"drm-engine-e%d:\t%d ns\ndrm-total-r%d:\t1 KiB\n", i, i, i);
	memset(text + len, 'x', 1000);
	assert_true(top_parse_fdinfo(text, &client));
	assert_int_equal(strlen(client.driver), TOP_NAME - 1);
	assert_int_equal(client.engine_count, TOP_ENGINES);
	assert_int_equal(client.region_count, TOP_REGIONS);
	assert_int_equal(client.engine[TOP_ENGINES - 1].busy_ns, TOP_ENGINES - 1);
}

static void test_names(void **state)
{
	char name[TOP_NAME];

	(void)state;
	top_copy(name, "good name\x1b[2J\xc3\xa4\x7f", 17);
	assert_string_equal(name, "good name?[2J???");
}

static void test_same_client(void **state)
{
	struct top_client a = { .pid = 1, .fd = 3 }, b = { .pid = 2, .fd = 9 };

	(void)state;
	top_parse_fdinfo(agate, &a);
	top_parse_fdinfo(agate, &b);
	assert_true(top_same_client(&a, &b));
	b.id = 3;
	assert_false(top_same_client(&a, &b));
	/* Each driver, and each device, counts for itself. */
	top_parse_fdinfo(agate, &b);
	strcpy(b.device, "0000:00:05.0");
	assert_false(top_same_client(&a, &b));
	top_parse_fdinfo("drm-driver: old\n", &a);
	top_parse_fdinfo("drm-driver: old\n", &b);
	assert_false(top_same_client(&a, &b));
	b.pid = a.pid;
	b.fd = a.fd;
	assert_true(top_same_client(&a, &b));
}

static const char bos[] =
	"size=4096 resident=0 handles=1 refs=1 madv=willneed flags=noexec label=\"one\"\n"
	"  client=1 va=0x2000000 handles=1 reserved\n"
	"size=8192 resident=8192 handles=1 refs=1 madv=dontneed flags=noexec label=\"Unused (BO cache)\"\n"
	"  client=1 va=0x2200000 handles=1 mapped\n"
	"size=4194304 resident=0 handles=1 refs=1 madv=purged flags=noexec,heap label=\"\"\n"
	"  client=1 va=0x2400000 handles=1 reserved\n"
	"size=4096 resident=4096 handles=2 refs=3 madv=willneed flags=contiguous label=\"flags=heap\"\n"
	"  client=1 va=0x2800000 handles=1 mapped\n"
	"  client=1 va=0x2a00000 handles=1 mapped\n"
	"  client=12 va=0x2000000 handles=1 mapped\n"
	"size=4096 resident=4096 handles=1 refs=2 madv=willneed flags=noexec,imported label=\"\"\n"
	"  client=12 va=0x2200000 handles=1 mapped\n"
	"size=4096 resident=4096 handles=0 refs=2 madv=willneed label=\"\"\n";

static void test_bos(void **state)
{
	struct top_bos one = top_parse_bos(bos, 1), twelve = top_parse_bos(bos, 12);
	struct top_bos none = top_parse_bos(bos, 2);

	(void)state;
	assert_int_equal(one.paged, 2);
	assert_int_equal(one.cached, 1);
	assert_int_equal(one.heap, 1);
	assert_int_equal(one.purged, 1);
	assert_int_equal(one.contiguous, 1);
	assert_int_equal(one.imported, 0);
	assert_int_equal(twelve.contiguous, 1);
	assert_int_equal(twelve.imported, 1);
	assert_int_equal(none.paged + none.heap + none.contiguous + none.imported, 0);
	assert_int_equal(top_parse_bos("", 1).paged, 0);
}

static void test_busy(void **state)
{
	uint64_t busy = 0, idle = 0;

	(void)state;
	assert_true(top_parse_busy("busy 123 ns\nidle 45678901234 ns\n", &busy, &idle));
	assert_int_equal(busy, 123);
	assert_int_equal(idle, 45678901234);
	assert_false(top_parse_busy("busy\n", &busy, &idle));
	assert_false(top_parse_busy("", &busy, &idle));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agate),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_odd_texts),
		cmocka_unit_test(test_huge),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_same_client),
		cmocka_unit_test(test_bos),
		cmocka_unit_test(test_busy),
	};

	return cmocka_run_group_tests_name("top-client", tests, NULL, NULL);
}
