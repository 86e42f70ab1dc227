// SPDX-License-Identifier: MIT
/*
 * agate-sim that cannot start: it prints the reason on one line, and its exit
 * status distinguishes a wrong command line (2) from a wrong object that the
 * command line names (1).
 */
#include "gpu_bench.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest_bus.h"

/* Descriptors that the process inherits; the last one is never open. */
enum { FD_BAR2 = 100, FD_RAM, FD_EVENT, FD_READY, FD_OTHER, FD_NONE };

/* All required options, with valid values; later options override them. */
#define GOOD	"--bar2-fd 100 --ram-fd 101 --doorbell-fd 102 --vector-fds 102,102,102,102 " \
		"--ready-fd 103 --ram 0:65536:0 "

static uint8_t *bar2;
static char said[8192];

static void give(int fd, int as)
{
	assert_true(fd >= 0);
	assert_int_equal(dup2(fd, as), as);
	close(fd);
}

/* Run it until it ends by itself; returns its exit status. */
static int start(const char *options)
{
	char command[512];
	FILE *out;
	int status;

	snprintf(command, sizeof(command), "exec timeout 200 %s %s 2>&1 >/dev/null", AGATE_SIM_SAN,
		 options);
	out = popen(command, "r");
	assert_non_null(out);
	said[fread(said, 1, sizeof(said) - 1, out)] = '\0';
	status = pclose(out);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* The command line is correct, but an object that it names is not: it prints one line. */
static void fails(const char *options, const char *why)
{
	char line[256];

	snprintf(line, sizeof(line), "agate-sim: %s\n", why);
	assert_int_equal(start(options), 1);
	assert_string_equal(said, line);
}

/* It prints a line with the reason, if there is one, and its usage. */
static void refused(const char *options, const char *why)
{
	char line[256] = "";

	if (why)
		snprintf(line, sizeof(line), "agate-sim: %s\n", why);
	assert_int_equal(start(options), 2);
	assert_memory_equal(said, line, strlen(line));
	assert_non_null(strstr(said, "usage: agate-sim --bar2-fd N"));
}

static void test_what_is_missing_on_the_command_line(void **state)
{
	(void)state;
	refused("", NULL);
	refused("--bar2-fd 100", NULL);
	refused(GOOD "more", NULL);
	refused(GOOD "--vram 1", NULL);		/* without --card */
	refused(GOOD "--vram-visible 1", NULL);
	refused(GOOD "--dma-bits 32", NULL);
	refused(GOOD "--ggtt-64k", NULL);
	assert_int_equal(start(GOOD "--voltage 3"), 2);
	assert_non_null(strstr(said, "unrecognized option '--voltage'"));
	assert_int_equal(start("--gpu"), 2);
	assert_non_null(strstr(said, "option '--gpu' requires an argument"));
}

static void test_wrong_values_are_named(void **state)
{
	static const char *const wrong[][2] = {
		{ "bar2-fd", "4294967295" }, { "doorbell-fd", "x" }, { "vector-fds", "1,2,3" },
		{ "ram-fd", "" }, { "ready-fd", "-3" }, { "control-fd", "0x5" }, { "gpu", "adreno" },
		{ "gpu-id", "0x100000000" }, { "seed", "4294967296" }, { "log-level", "loud" },
		{ "log-limit", "lots" }, { "log-limit", "0x10" }, { "power-in", "maybe" },
		{ "power-latency", "stick" }, { "reset-latency", "-1" }, { "as-latency", "1x" },
		{ "hard-reset-latency", "" }, { "stop-latency", "4294967295" },
		{ "tlb-entries", "many" }, { "coherency", "full" }, { "l2-size", "128K" },
		{ "vram", "0" }, { "vram", "4097" }, { "vram-visible", "-1" }, { "dma-bits", "23" },
		{ "dma-bits", "41" },
	};
	char options[256], why[128];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(options, sizeof(options), GOOD "--%s '%s'", wrong[i][0], wrong[i][1]);
		snprintf(why, sizeof(why), "wrong value for --%s: %s", wrong[i][0], wrong[i][1]);
		refused(options, why);
	}
}

/* Options with a syntax of their own report their errors, too. */
static void test_wrong_ranges_and_injections(void **state)
{
	(void)state;
	refused(GOOD "--ram 0:4096", "a range of RAM is GPA:SIZE:OFFSET\n"
		"agate-sim: wrong value for --ram: 0:4096");
	refused(GOOD "--ram 1:0:0", "a range of RAM is empty or wraps");
	refused(GOOD "--ram 0xfffffffffffff000:0x1000:0", "a range of RAM is empty or wraps");
	refused(GOOD "--ram 0:1:0,0:1:0,0:1:0,0:1:0,0:1:0,0:1:0,0:1:0,0:1:0,0:1:0",
		"too many ranges of RAM");
	refused(GOOD "--ram ''", "no range of RAM");
	refused(GOOD "--inject drop-irq", "an injection is KIND:N, N from 1\n"
		"agate-sim: wrong value for --inject: drop-irq");
	refused(GOOD "--inject meteor:1", "unknown kind of injection");
	refused(GOOD "--inject die:1:2", "die takes no argument");
	refused(GOOD "--inject die:1:2:3:4", "an injection has too many arguments");
	refused(GOOD "--inject delay-irq:1", "an injection's arguments make no sense");
	refused(GOOD "--inject drop-irq:1:core", "an injection's arguments make no sense");
}

static void test_bar2_that_is_none(void **state)
{
	struct agate_bar2_header *header = guest_bus_header(bar2);
	const struct agate_bar2_header good = *header;

	(void)state;
	fails(GOOD "--bar2-fd 105", "BAR2 has no size");
	fails(GOOD "--bar2-fd 102", "BAR2 has no size");
	give(open("/proc/self/fd/100", O_RDONLY), FD_OTHER);
	fails(GOOD "--bar2-fd 104", "BAR2 cannot be mapped");
	header->magic++;
	fails(GOOD, "BAR2 has no header");
	*header = good;
	header->version++;
	fails(GOOD, "BAR2 has another version");
	*header = good;
	header->bar_size = BAR2_TEST_SIZE + 1;
	fails(GOOD, "BAR2 is smaller than its header says");
	*header = good;
	header->queue_len = 3;
	fails(GOOD, "the queue's length is no power of two");
	*header = good;
	header->vram_size += 4096;
	fails(GOOD, "a region lies outside BAR2");
	*header = good;
	header->gsm_offset = BAR2_TEST_SIZE - 4096;
	fails(GOOD, "a region lies outside BAR2");
	*header = good;
	fails(GOOD "--card --vram-visible 2", "BAR2 cannot show that much VRAM");
	fails(GOOD "--card --vram 1 --vram-visible 2", "BAR2 cannot show that much VRAM");
	header->gsm_size = 4096;
	fails(GOOD "--card",
	      "the GPU cannot be created: wrong --tlb-entries or --l2-size, or no memory");
	*header = good;
}

static void test_ram_that_is_none(void **state)
{
	(void)state;
	fails(GOOD "--ram-fd 105", "the file of guest RAM has no size");
	fails(GOOD "--ram-fd 102", "the file of guest RAM has no size");
	fails(GOOD "--ram 0:65536:4096", "a range of RAM lies outside its file");
	fails(GOOD "--ram 0:4096:0,65536:65537:0", "a range of RAM lies outside its file");
	fails(GOOD "--ram 0:4096:0xffffffffffffffff", "a range of RAM lies outside its file");
	give(open("/proc/self/fd/101", O_RDONLY), FD_OTHER);
	fails(GOOD "--ram-fd 104", "guest RAM cannot be mapped");
}

static void test_files_that_cannot_be_opened(void **state)
{
	(void)state;
	fails(GOOD "--log /proc/agate/log", "the log cannot be opened");
	fails(GOOD "--trace /proc/agate/trace", "the trace cannot be opened");
	fails(GOOD "--trace /tmp", "the trace cannot be opened");
}

static void test_a_gpu_that_cannot_be(void **state)
{
	static const char why[] =
		"the GPU cannot be created: wrong --tlb-entries or --l2-size, or no memory";

	(void)state;
	fails(GOOD "--tlb-entries 3", why);
	fails(GOOD "--tlb-entries 0x10000", why);
	fails(GOOD "--l2-size 1000", why);
}

static void test_nobody_waits_for_it(void **state)
{
	int ends[2];

	(void)state;
	fails(GOOD "--ready-fd 105", "nobody waits for the ready byte");
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	give(ends[1], FD_OTHER);
	fails(GOOD "--ready-fd 104", "nobody waits for the ready byte");
}

/* Without a log, a trace or a control socket; it ends because its doorbell is not a file. */
static void test_the_least_that_it_needs(void **state)
{
	(void)state;
	assert_int_equal(start(GOOD "--doorbell-fd 105"), 0);
	assert_string_equal(said, "");
}

static int descriptors(void **state)
{
	int ram = memfd_create("ram", 0), fd = guest_bus_create(&bar2);

	(void)state;
	assert_int_equal(ftruncate(ram, 65536), 0);
	give(fd, FD_BAR2);
	give(ram, FD_RAM);
	give(eventfd(0, EFD_NONBLOCK), FD_EVENT);
	give(open("/dev/null", O_WRONLY), FD_READY);
	assert_int_equal(fcntl(FD_NONE, F_GETFD), -1);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_missing_on_the_command_line),
		cmocka_unit_test(test_wrong_values_are_named),
		cmocka_unit_test(test_wrong_ranges_and_injections),
		cmocka_unit_test(test_bar2_that_is_none),
		cmocka_unit_test(test_ram_that_is_none),
		cmocka_unit_test(test_files_that_cannot_be_opened),
		cmocka_unit_test(test_a_gpu_that_cannot_be),
		cmocka_unit_test(test_nobody_waits_for_it),
		cmocka_unit_test(test_the_least_that_it_needs),
	};

	return cmocka_run_group_tests_name("sim-start", tests, descriptors, NULL);
}
