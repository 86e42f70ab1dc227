// SPDX-License-Identifier: MIT
/*
 * Where BOs with a placement are, and why they moved, as fdinfo and debugfs tell it.
 *
 * usage: residency [FILTER]
 *
 * run.sh loads the driver with a limit of system memory for the test `swapped`.
 */
#include "flips.h"
#include "placed_client.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LIMIT	(16 * MIB)
#define TEXT	(256u * 1024)

static char text[TEXT];
static const char *folder;

static void read_text(const char *path)
{
	FILE *file = fopen(path, "re");

	assert_non_null(file);
	text[fread(text, 1, TEXT - 1, file)] = '\0';
	fclose(file);
}

static void read_device(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%d/%s", guest_minor(), name);
	read_text(path);
}

/* What a program prints that run.sh puts beside this one. */
static void read_output(const char *command)
{
	char line[160];
	FILE *out;

	snprintf(line, sizeof(line), "%s/%s", folder, command);
	out = popen(line, "r");
	assert_non_null(out);
	text[fread(text, 1, TEXT - 1, out)] = '\0';
	assert_int_equal(pclose(out), 0);
}

/* KiB. */
static unsigned long use_of(int fd, const char *key)
{
	char path[64], line[64];
	const char *at;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	read_text(path);
	snprintf(line, sizeof(line), "\ndrm-%s:\t", key);
	at = strstr(text, line);
	if (!at)
		fail_msg("fdinfo has no key drm-%s", key);
	return strtoul(at + strlen(line), NULL, 10);
}

static void set_label(const struct bo *bo, const char *label)
{
	struct drm_agate_set_label arg = {
		.handle = bo->handle, .label = (uintptr_t)label, .len = (uint32_t)strlen(label),
	};

	assert_int_equal(guest_ioctl(bo->fd, DRM_IOCTL_AGATE_SET_LABEL, &arg), 0);
}

/* The number of the BO with that label; its line in "bos" has this text. */
static unsigned long placed_id(const char *label, const char *has)
{
	char quoted[40], *start, *end;
	unsigned long id;

	read_device("bos");
	snprintf(quoted, sizeof(quoted), " label=\"%s\"\n", label);
	end = strstr(text, quoted);
	assert_non_null(end);
	*end = '\0';
	start = strrchr(text, '\n');
	start = start ? start : text;
	if (!strstr(start, has))
		fail_msg("\"%s\" is not in: %s", has, start);
	start = strstr(start, " id=");
	assert_non_null(start);
	id = strtoul(start + 4, NULL, 10);
	assert_true(id > 0);
	return id;
}

/* How many lines of a file of the device have both texts? */
static unsigned int lines_of(const char *name, const char *one, const char *other)
{
	unsigned int count = 0;
	char *line, *save;

	read_device(name);
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		count += strstr(line, one) && strstr(line, other);
	return count;
}

/* A job's reference to a BO goes a little after its fence, so a BO may outlive its handle. */
static void wait_for_lines(const char *name, const char *one, const char *other, unsigned int count)
{
	const int64_t limit = guest_deadline(10000);

	while (lines_of(name, one, other) != count && guest_deadline(0) < limit)
		usleep(1000);
	assert_int_equal(lines_of(name, one, other), count);
}

/* Another file's BOs of 8 MiB fill VRAM. */
static void fill_vram(struct placed_client *other, struct bo *bos, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		bos[i] = placed_bo(other, 8 * MIB, AGATE_BO_POPULATE, VRAM);
		placed_fill(other, &bos[i], i);
	}
}

/* ---- Tests -------------------------------------------------------------------- */

/* VRAM is a region of its own, and only what is in it is resident there. */
static void regions_of_a_client(void **state)
{
	enum { OTHERS = 8 };
	struct placed_client client = placed_open(PAGE), other = placed_open(PAGE);
	unsigned long memory = use_of(client.fd, "total-memory"), resident;
	struct bo vram, ram, bos[OTHERS];

	(void)state;
	assert_int_equal(use_of(client.fd, "total-vram"), 0);
	vram = placed_bo(&client, 4 * MIB, 0, VRAM);
	ram = placed_bo(&client, 3 * PAGE, 0, SYSTEM);
	placed_fill(&client, &vram, 1);
	resident = use_of(client.fd, "resident-memory");
	assert_int_equal(use_of(client.fd, "total-vram"), 4096);
	assert_int_equal(use_of(client.fd, "total-memory"), memory + 12);

	placed_fill(&client, &ram, 1);
	placed_fill(&client, &vram, 1);
	assert_int_equal(use_of(client.fd, "resident-vram"), 4096);
	assert_int_equal(use_of(client.fd, "memory-vram"), 4096);
	assert_int_equal(use_of(client.fd, "resident-memory"), resident + 12);
	assert_int_equal(use_of(client.fd, "shared-vram"), 0);

	/* It leaves, and is still one of VRAM. */
	fill_vram(&other, bos, OTHERS);
	assert_int_equal(use_of(client.fd, "total-vram"), 4096);
	assert_int_equal(use_of(client.fd, "resident-vram"), 0);
	assert_int_equal(use_of(client.fd, "resident-memory"), resident + 12 + 4096);
	assert_int_equal(use_of(other.fd, "total-vram"), OTHERS * 8192);

	for (unsigned int i = 0; i < OTHERS; i++)
		guest_destroy(&bos[i]);
	guest_destroy(&vram);
	guest_destroy(&ram);
	placed_close(&other);
	placed_close(&client);
	guest_assert_nothing_left();
}

/* Each move is in the log, with its reason. */
static void moves_have_causes(void **state)
{
	enum { OTHERS = 8 };
	struct placed_client client = placed_open(PAGE);
	struct bo bo = placed_bo(&client, 2 * MIB, 0, VRAM), touched, bos[OTHERS];
	unsigned long id, other;
	char of[40];

	(void)state;
	set_label(&bo, "goes");
	id = placed_id("goes", " resident=0 ");
	snprintf(of, sizeof(of), " id=%lu size=2097152 ", id);
	placed_id("goes", " where=nowhere why=none moves=0");
	placed_fill(&client, &bo, 1);
	placed_id("goes", " where=vram why=validate moves=1");
	assert_int_equal(lines_of("moves", of, " from=nowhere to=vram "), 1);
	fill_vram(&client, bos, OTHERS);
	placed_id("goes", " where=tt why=evict moves=2");
	placed_id("goes", " resident=2097152 ");
	assert_int_equal(lines_of("moves", of, " from=vram to=tt start=0x0 why=evict"), 1);
	placed_fill(&client, &bo, 2);
	placed_id("goes", " where=vram why=validate moves=3");

	touched = placed_bo(&client, PAGE, 0, SYSTEM);
	set_label(&touched, "touched");
	guest_map(&touched);
	*(volatile uint64_t *)touched.cpu = 1;
	other = placed_id("touched", " where=system why=fault moves=1");
	assert_true(other > id);
	placed_fill(&client, &touched, 1);
	placed_id("touched", " where=tt why=validate moves=2");

	guest_destroy(&touched);
	guest_destroy(&bo);
	wait_for_lines("moves", of, " from=vram to=nowhere start=0x0 why=free", 1);
	for (unsigned int i = 0; i < OTHERS; i++)
		guest_destroy(&bos[i]);
	placed_close(&client);
	guest_assert_nothing_left();
}

/* The display pins what it shows, and the programs say so, too. */
static void flip_pins(void **state)
{
	struct placed_client client = placed_open(PAGE);
	struct bo bo = placed_bo(&client, MIB, 0, VRAM);
	char of[64];

	(void)state;
	set_label(&bo, "front");
	show(client.fd, whole(&bo, 0), BLACK);
	snprintf(of, sizeof(of), " bo id=%lu why=flip pins=1",
		 placed_id("front", " where=vram why=flip moves=1"));
	assert_int_equal(lines_of("vram", of, " size=1048576 "), 1);
	read_output("agate-map --once");
	assert_non_null(strstr(text, " \"front\", here by flip, 1 moves, pinned\n"));
	assert_non_null(strstr(text, "nowhere  -> vram     flip "));
	/* The frame has a place in the global table: D and a small letter. */
	assert_int_equal(lines_of("ggtt", "start=", " bo vf=0"), 1);
	read_output("agate-map --once --json");
	assert_non_null(strstr(text, "\"why\":\"flip\",\"pins\":1}"));
	read_output("agate-map --trace /tmp/residency.json && cat /tmp/residency.json");
	assert_non_null(strstr(text, " front\"}}"));
	assert_int_equal(stop(client.fd), 0);
	guest_destroy(&bo);
	placed_close(&client);
	guest_assert_nothing_left();
}

/* What the manager says: bytes of VRAM that are in no range. */
static unsigned long free_vram(void)
{
	unsigned long bytes = 0, all = 0;
	const char *line;

	read_device("vram");
	line = strstr(text, "\nfree ");
	assert_non_null(line);
	assert_int_equal(sscanf(line, "\nfree %lu of %lu\n", &bytes, &all), 2);
	assert_int_equal(all, VRAM_SIZE);
	assert_non_null(strstr(text, "\nhole 0x"));
	return bytes;
}

/* The files about all of the card's memory. */
static void card_is_shown(void **state)
{
	struct placed_client client = placed_open(PAGE);
	unsigned int drivers = lines_of("vram", "start=", " driver");
	unsigned long free;
	struct bo bo;
	char of[40];

	(void)state;
	/* A frame of the test before leaves late, and its memory is parked until then. */
	wait_for_lines("vram", " bo id=", "", 0);
	wait_for_lines("vram", "start=", " parked", 0);
	free = free_vram();
	bo = placed_bo(&client, 2 * MIB, AGATE_BO_POPULATE, VRAM);
	set_label(&bo, "shown");
	snprintf(of, sizeof(of), " bo id=%lu ", placed_id("shown", " where=vram "));
	assert_int_equal(lines_of("vram", of, " size=2097152 "), 1);
	assert_int_equal(lines_of("vram", of, " why=validate pins=0"), 1);
	assert_int_equal(free_vram(), free - 2 * MIB);
	/* Kernel memory, and only that, has a place in the global table. */
	assert_true(drivers > 0);
	assert_true(lines_of("ggtt", " driver addr=", " in=vram vf=0") > 0);
	assert_true(lines_of("ggtt", "start=", " free") > 0);
	assert_int_equal(lines_of("regions", "vram size=67108864 used=", " visible=16777216 "), 1);
	assert_int_equal(lines_of("regions", "system size=", " used="), 1);
	read_output("agate-top --once --interval 10");
	assert_non_null(strstr(text, "  memory: system "));
	assert_non_null(strstr(text, "; vram 2."));
	assert_non_null(strstr(text, "\n  global table: "));
	assert_non_null(strstr(text, "  2.0M    2.0M      0B        0B "));
	guest_destroy(&bo);
	wait_for_lines("vram", of, "", 0);
	placed_close(&client);
	guest_assert_nothing_left();
}

/* Only the last moves are kept, in their order. */
static void log_turns(void **state)
{
	struct placed_client client = placed_open(PAGE);
	unsigned long last = 0, n;
	unsigned int count = 0;
	char *line, *save;

	(void)state;
	for (unsigned int i = 0; i < 300; i++) {
		struct bo bo = placed_bo(&client, PAGE, AGATE_BO_POPULATE, SYSTEM);

		guest_destroy(&bo);
	}
	read_device("moves");
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		assert_int_equal(sscanf(line, "n=%lu ", &n), 1);
		assert_true(!count || n == last + 1);
		last = n;
		count++;
	}
	assert_int_equal(count, 512);
	placed_close(&client);
	guest_assert_nothing_left();
}

/* With the limit: a BO goes to its swap file, and comes back. */
static void swapped(void **state)
{
	enum { OTHERS = LIMIT / (4 * MIB) };
	struct placed_client client = placed_open(PAGE);
	struct bo bo = placed_bo(&client, 4 * MIB, 0, SYSTEM), bos[OTHERS];

	(void)state;
	set_label(&bo, "asleep");
	placed_fill(&client, &bo, 1);
	placed_id("asleep", " where=tt why=validate moves=1");
	for (unsigned int i = 0; i < OTHERS; i++) {
		bos[i] = placed_bo(&client, 4 * MIB, 0, SYSTEM);
		placed_fill(&client, &bos[i], i);
	}
	placed_id("asleep", " where=swap why=swap ");
	placed_id("asleep", " resident=0 ");
	placed_fill(&client, &bo, 1);
	placed_id("asleep", " where=tt why=validate ");
	for (unsigned int i = 0; i < OTHERS; i++)
		guest_destroy(&bos[i]);
	guest_destroy(&bo);
	placed_close(&client);
	guest_assert_nothing_left();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(regions_of_a_client, guest_teardown),
		cmocka_unit_test_teardown(moves_have_causes, guest_teardown),
		cmocka_unit_test_teardown(flip_pins, guest_teardown),
		cmocka_unit_test_teardown(card_is_shown, guest_teardown),
		cmocka_unit_test_teardown(log_turns, guest_teardown),
		cmocka_unit_test_teardown(swapped, guest_teardown),
	};

	folder = dirname(argv[0]);
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	else
		cmocka_set_skip_filter("swapped");
	return cmocka_run_group_tests_name("residency", tests, NULL, NULL);
}
