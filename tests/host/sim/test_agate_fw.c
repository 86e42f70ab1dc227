// SPDX-License-Identifier: MIT
/*
 * agate-fw: the card runs what it makes, and it refuses what the card refuses.
 */
#include "mover_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

/* Run it with these arguments, in the folder; returns its exit status. */
static int run(const char *args)
{
	char command[512];
	int status;

	snprintf(command, sizeof(command), "cd %s && %s %s >out 2>&1", folder, AGATE_FW, args);
	status = system(command);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static bool said(const char *part)
{
	char text[1024] = "";
	FILE *file = fopen(path_of("out"), "r");

	assert_non_null(file);
	assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
	fclose(file);
	return strstr(text, part);
}

static size_t take(const char *name, uint8_t *to, size_t most)
{
	FILE *file = fopen(path_of(name), "rb");
	size_t size;

	assert_non_null(file);
	size = fread(to, 1, most, file);
	fclose(file);
	return size;
}

static void put(const char *name, const void *from, size_t size)
{
	FILE *file = fopen(path_of(name), "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(from, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

/* The status of a card that is given this file.  It has room for 64 KiB. */
static uint32_t card_says(const char *name)
{
	struct bench *b = card_bench_new();
	uint32_t status;

	wr(b, FW_SIZE, (uint32_t)take(name, shown(b, BLOB), 0x10000));
	status = start_firmware(b);
	if (FW_STATUS_STATE(status) == FW_STATUS_RUNNING)
		assert_int_equal(rd(b, GGTT_USABLE_START), 0x200000);
	bench_free(b);
	return status;
}

static void test_the_card_runs_it(void **state)
{
	uint8_t bytes[3000];

	(void)state;
	put_pattern(bytes, sizeof(bytes), 4);
	put("payload", bytes, sizeof(bytes));
	assert_int_equal(run("--version 0x203 --reserved 0x200000 --payload payload fw"), 0);
	assert_int_equal(card_says("fw"), FW_STATUS_RUNNING | 0x203u << 16);
	assert_int_equal(take("fw", bytes, sizeof(bytes)), 3000);
	assert_int_equal(run("--check fw"), 0);
	assert_true(said("version 515, 3032 bytes, takes 0x200000 bytes of the GGTT"));
	/* An empty payload is one. */
	put("payload", bytes, 0);
	assert_int_equal(run("--reserved 0x200000 --payload payload fw"), 0);
	assert_int_equal(card_says("fw"), FW_STATUS_RUNNING | 1u << 16);
}

static void test_without_a_payload(void **state)
{
	static uint8_t first[70000], second[70000];

	(void)state;
	assert_int_equal(run("one"), 0);
	assert_int_equal(run("two"), 0);
	assert_int_equal(take("one", first, sizeof(first)), 65536 + 32);
	assert_int_equal(take("two", second, sizeof(second)), 65536 + 32);
	assert_memory_equal(first, second, 65536 + 32);
	assert_int_equal(run("--check one"), 0);
}

/* A byte changed, and what both say. */
static void refused(size_t at, enum agate_fw_reason reason, const char *why)
{
	uint8_t bytes[4096];
	size_t size;

	put("payload", "payload", 7);
	assert_int_equal(run("--payload payload --reserved 0x200000 fw"), 0);
	size = take("fw", bytes, sizeof(bytes));
	bytes[at] ^= 1;
	put("fw", bytes, size);
	assert_int_equal(run("--check fw"), 1);
	assert_true(said(why));
	assert_int_equal(card_says("fw"), FW_STATUS_FAILED | (uint32_t)reason << 8);
}

static void test_what_the_card_refuses(void **state)
{
	(void)state;
	refused(0, AGATE_FW_MAGIC, "the magic is wrong");
	refused(6, AGATE_FW_VERSION, "firmware for another kind of card");
	refused(8, AGATE_FW_LENGTH, "the header has another size than the file");
	refused(12, AGATE_FW_CRC, "the CRC is wrong");
	refused(16, AGATE_FW_LENGTH, "a part of the GGTT that no firmware may take");
	refused(38, AGATE_FW_CRC, "the CRC is wrong");
	put("fw", "AGFW", 4);
	assert_int_equal(run("--check fw"), 1);
	assert_true(said("no firmware has this size"));
}

static void test_what_cannot_be_made(void **state)
{
	static uint8_t large[AGATE_FW_MAX_SIZE];

	(void)state;
	put("large", large, sizeof(large) - sizeof(struct agate_fw_header));
	assert_int_equal(run("--payload large fw"), 0);
	assert_int_equal(run("--check fw"), 0);
	put("large", large, sizeof(large) - sizeof(struct agate_fw_header) + 1);
	assert_int_equal(run("--payload large fw"), 1);
	assert_true(said("too large for firmware"));
	assert_int_equal(run("--payload nowhere fw"), 1);
	assert_int_equal(run("--check nowhere"), 1);
	assert_int_equal(run("nowhere/fw"), 1);
	assert_int_equal(run("/dev/full"), 1);
	assert_int_equal(run("--version 0x10000 fw"), 2);
	assert_int_equal(run("--version -1 fw"), 2);
	assert_int_equal(run("--reserved 0x801000 fw"), 2);
	assert_int_equal(run("--reserved 100 fw"), 2);
	assert_int_equal(run("--what fw"), 2);
	assert_int_equal(run("one two"), 2);
	assert_int_equal(run(""), 2);
	assert_true(said("usage:"));
	assert_int_equal(run("--help"), 0);
	assert_true(said("usage:"));
}

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/agate-fw-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	static const char *const names[] = { "out", "payload", "fw", "one", "two", "large" };
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(path_of(names[i]));
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_card_runs_it),
		cmocka_unit_test(test_without_a_payload),
		cmocka_unit_test(test_what_the_card_refuses),
		cmocka_unit_test(test_what_cannot_be_made),
	};

	return cmocka_run_group_tests_name("sim-agate-fw", tests, make_folder, remove_folder);
}
