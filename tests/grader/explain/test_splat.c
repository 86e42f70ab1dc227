// SPDX-License-Identifier: MIT
/*
 * The output of real kernels after the faults of kmod/ (see collect.sh), and what the
 * grader has to find in it; then the same texts cut short, mixed and damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "splat.h"

#define DATA	"tests/grader/explain/"
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

struct sample {
	const char *name;
	enum splat_kind kind;
	const char *headline;	/* how it begins */
	const char *symbol;	/* of the module's first frame */
	const char *rule;	/* a part of it */
};

static const struct sample samples[] = {
#include "samples.inc"
};

/* Two texts in a block of exactly their size, so that the sanitizer sees a read beyond its end. */
static char *joined(const char *first, size_t len, const char *second, size_t more)
{
	char *text = malloc(len + more ? len + more : 1);

	assert_non_null(text);
	memcpy(text, first, len);
	memcpy(text + len, second, more);
	return text;
}

static char *read_sample(const char *name, size_t *len)
{
	static char buf[1u << 20];
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), DATA "%s.txt", name);
	f = fopen(path, "re");
	if (!f)
		fail_msg("%s is not there", path);
	*len = fread(buf, 1, sizeof(buf), f);
	fclose(f);
	assert_true(*len > 0 && *len < sizeof(buf));
	return joined(buf, *len, "", 0);
}

static const char *first_of_module(const struct splat *splat)
{
	size_t i;

	for (i = 0; i < splat->frame_count; i++) {
		if (splat->frames[i].module)
			return splat->frames[i].symbol;
	}
	return "(none)";
}

static bool all_as_said(const struct sample *sample, const struct splat *splat)
{
	bool ok = true;

	if (splat->kind != sample->kind) {
		print_error("%s: kind %s\n", sample->name, splat_name(splat->kind));
		ok = false;
	}
	if (strncmp(splat->headline, sample->headline, strlen(sample->headline)) != 0) {
		print_error("%s: headline \"%s\"\n", sample->name, splat->headline);
		ok = false;
	}
	if (strcmp(first_of_module(splat), sample->symbol) != 0) {
		print_error("%s: first frame of the module: %s\n", sample->name,
			    first_of_module(splat));
		ok = false;
	}
	if (!strstr(splat_rule(splat), sample->rule)) {
		print_error("%s: rule \"%s\"\n", sample->name, splat_rule(splat));
		ok = false;
	}
	return ok;
}

/* Limits that hold for any text at all. */
static void check_sane(const struct splat *splat, size_t len)
{
	size_t i;

	assert_true(splat->begin <= splat->end && splat->end <= len);
	assert_true(splat->frame_count <= SPLAT_FRAMES);
	assert_true(splat->freed_count <= SPLAT_FREED);
	assert_true(splat->kind > SPLAT_NONE && splat->kind <= SPLAT_OTHER);
	assert_true(strlen(splat->headline) < sizeof(splat->headline));
	for (i = 0; i < splat->frame_count; i++) {
		assert_true(splat->frames[i].symbol[0]);
		assert_true(splat->frames[i].offset <= splat->frames[i].size);
	}
	assert_true(strlen(splat_rule(splat)) > 0 && strlen(splat_name(splat->kind)) > 0);
}

static void test_samples(void **state)
{
	struct splat splat;
	size_t i, len, wrong = 0;
	char *text;

	(void)state;
	for (i = 0; i < COUNT(samples); i++) {
		text = read_sample(samples[i].name, &len);
		if (!splat_find(text, len, &splat)) {
			print_error("%s: nothing found\n", samples[i].name);
			wrong++;
		} else {
			check_sane(&splat, len);
			wrong += !all_as_said(&samples[i], &splat);
		}
		free(text);
	}
	assert_int_equal(wrong, 0);
}

/* Nobody who followed a NULL pointer is sent to look for memory that was freed. */
static void test_freed_or_not(void **state)
{
	static const char *const freed[] = { "fast-non-canonical", "fast-wild-read" };
	static const char *const others[] = {
		"fast-null-read", "fast-null-call", "fast-user-read", "fast-bug-on", "fast-list-poison",
		"fast-list-del-twice",
	};
	struct splat splat;
	size_t i, len;
	char *text;

	(void)state;
	for (i = 0; i < COUNT(freed) + COUNT(others); i++) {
		text = read_sample(i < COUNT(freed) ? freed[i] : others[i - COUNT(freed)], &len);
		assert_true(splat_find(text, len, &splat));
		assert_int_equal(splat.maybe_freed, i < COUNT(freed));
		free(text);
	}
}

/* Lines after the end of a report do not change it. */
static void test_followed(void **state)
{
	static const char more[] =
		"[   99.000000] agate 0000:00:03.0: 4 vectors\n"
		"[   99.000000] agate-mark: end of the test\n";
	struct splat alone, splat;
	char *text, *both;
	size_t i, len;

	(void)state;
	for (i = 0; i < COUNT(samples); i++) {
		text = read_sample(samples[i].name, &len);
		assert_true(splat_find(text, len, &alone));
		both = joined(text, len, more, sizeof(more) - 1);
		assert_true(splat_find(both, len + sizeof(more) - 1, &splat));
		assert_int_equal(splat.kind, alone.kind);
		assert_int_equal(splat.frame_count, alone.frame_count);
		assert_memory_equal(splat.frames, alone.frames, sizeof(splat.frames));
		free(both);
		free(text);
	}
}

/* Ordinary lines before a report change only the place where it begins. */
static void test_preceded(void **state)
{
	static const char noise[] =
		"[    1.341955] agate: loading out-of-tree module taints kernel.\n"
		"[    1.400000] [drm] Initialized agate 1.0.0 20260101 for 0000:00:03.0 on minor 0\n"
		"[    1.400001] traps: agate-test[45] general protection fault ip:401136 sp:7ffd error:0\n"
		"[    1.400002] test[46]: segfault at 0 ip 0000000000401136 sp 00007ffd error 4 in test\n"
		"[    1.400003] FAULT_INJECTION: forcing a failure.\n"
		"[    1.400003] name failslab, interval 1, probability 0, space 0, times 0\n"
		"[    1.400003] CPU: 0 PID: 45 Comm: test Not tainted 6.1.192 #1\n"
		"[    1.400003] Call Trace:\n"
		"[    1.400003]  <TASK>\n"
		"[    1.400003]  dump_stack_lvl+0x51/0x66\n"
		"[    1.400003]  agate_gem_create+0x51/0x66 [agate]\n"
		"[    1.400003]  </TASK>\n"
		"[    1.400004] BUG: MAX_LOCKDEP_KEYS too low!\n"
		"[    1.400005] INFO: lockdep is turned off.\n"
		"[    1.400006] INFO: NMI handler (nmi_cpu_backtrace_handler) took too long to run: 6 msecs\n"
		"[    1.400007] WARNING: kernel stack regs at 000000009a2ae9b8 in sh:45 has bad 'bp' value\n";
	size_t n = sizeof(noise) - 1, i, len;
	struct splat alone, splat;
	char *text, *both;

	(void)state;
	assert_false(splat_find(noise, n, &splat));
	for (i = 0; i < COUNT(samples); i++) {
		text = read_sample(samples[i].name, &len);
		assert_true(splat_find(text, len, &alone));
		both = joined(noise, n, text, len);
		assert_true(splat_find(both, n + len, &splat));
		assert_true(all_as_said(&samples[i], &splat));
		assert_int_equal(splat.begin, alone.begin + n);
		assert_int_equal(splat.end, alone.end + n);
		free(both);
		free(text);
	}
}

/* The console may end anywhere: the code reads no byte beyond, and invents nothing. */
static void test_truncated(void **state)
{
	struct splat splat;
	size_t i, len, cut;
	char *text, *part;

	(void)state;
	for (i = 0; i < COUNT(samples); i++) {
		text = read_sample(samples[i].name, &len);
		for (cut = 0; cut < len; cut += cut < 600 ? 1 : 37) {
			part = joined(text, cut, "", 0);
			if (splat_find(part, cut, &splat))
				check_sane(&splat, cut);
			free(part);
		}
		free(text);
	}
}

/* Cut at each byte: one sample of each kind of report. */
static void test_truncated_everywhere(void **state)
{
	static const char *const names[] = { "debug-use-after-free", "debug-dma-wrong-size" };
	struct splat splat;
	size_t i, len, cut;
	char *text, *part;

	(void)state;
	for (i = 0; i < COUNT(names); i++) {
		text = read_sample(names[i], &len);
		for (cut = 1; cut < len; cut++) {
			part = joined(text, cut, "", 0);
			if (splat_find(part, cut, &splat))
				check_sane(&splat, cut);
			free(part);
		}
		free(text);
	}
}

/* Of all samples only the reports of watchdogs, and the dumps on request, depend on a clock. */
static void test_untimed(void **state)
{
	struct splat splat, untimed;
	size_t i, len;
	char *text;

	(void)state;
	for (i = 0; i < COUNT(samples); i++) {
		bool clock = samples[i].kind == SPLAT_LOCKUP || samples[i].kind == SPLAT_HUNG_TASK;

		text = read_sample(samples[i].name, &len);
		assert_true(splat_find(text, len, &splat));
		if (splat.timed != clock || splat_find_untimed(text, len, &untimed) == clock)
			fail_msg("%s is taken for %s", samples[i].name,
				 clock ? "a report" : "a watchdog's");
		if (!clock)
			assert_string_equal(untimed.headline, splat.headline);
		free(text);
	}
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Samples with bytes changed, lines doubled and swapped: the result is sane. */
static void test_damaged(void **state)
{
	uint64_t seed = 0x9e3779b97f4a7c15;
	struct splat splat;
	size_t i, j, n, len, at;
	char *text;

	(void)state;
	for (i = 0; i < COUNT(samples); i++) {
		text = read_sample(samples[i].name, &len);
		for (n = 0; n < 20; n++) {
			for (j = 0; j < 10; j++) {
				at = next_random(&seed) % len;
				text[at] = (char)next_random(&seed);
			}
			at = next_random(&seed) % len;
			j = next_random(&seed) % len;
			if (at + 200 < len && j + 200 < len)
				memmove(text + at, text + j, 200);
			if (splat_find(text, len, &splat))
				check_sane(&splat, len);
		}
		free(text);
	}
}

static void test_random_bytes(void **state)
{
	static const char *const words[] = {
		"BUG: ", "KASAN: ", "\n", "[    1.2] ", "Call Trace:\n", " f+0x1/0x2 [agate]\n",
		"RIP: 0010:", "====================", "------------[ cut here ]------------\n",
		"WARNING: CPU: ", "NMI backtrace for cpu 0\n", "task:a state:D\n", "</TASK>\n",
		"+0x", "/0x", "[<", ">] ", "}, at: ", " #0: ", "INFO: task ", " blocked for more than ",
		"Freed by task 1:\n", "DMA-API: Mapped at:\n", "sysrq: Show Blocked State\n", "\r\n",
	};
	uint64_t seed = 88172645463325252;
	struct splat splat;
	size_t n, len, i;
	char buf[2200], *text;

	(void)state;
	for (n = 0; n < 3000; n++) {
		for (len = 0; len < 2000;) {
			if (next_random(&seed) % 4) {
				const char *word = words[next_random(&seed) % COUNT(words)];

				memcpy(buf + len, word, strlen(word));
				len += strlen(word);
			} else {
				for (i = next_random(&seed) % 8; i; i--)
					buf[len++] = (char)next_random(&seed);
			}
		}
		text = joined(buf, len, "", 0);
		if (splat_find(text, len, &splat))
			check_sane(&splat, len);
		free(text);
	}
}

/* A million lines without a report, and one report after them. */
static void test_flood(void **state)
{
	static const char line[] = "[   12.345678] agate 0000:00:03.0: BUG or no bug, a line\n";
	size_t n = 1000000, len = n * (sizeof(line) - 1), sample_len, i;
	char *sample = read_sample("fast-null-read", &sample_len);
	char *text = malloc(len + sample_len);
	struct splat splat;

	(void)state;
	assert_non_null(text);
	for (i = 0; i < n; i++)
		memcpy(text + i * (sizeof(line) - 1), line, sizeof(line) - 1);
	memcpy(text + len, sample, sample_len);
	assert_false(splat_find(text, len, &splat));
	assert_true(splat_find(text, len + sample_len, &splat));
	assert_int_equal(splat.kind, SPLAT_OOPS);
	assert_true(splat.begin >= len);
	free(sample);
	free(text);
}

static void test_silent(void **state)
{
	struct splat splat;

	(void)state;
	assert_false(splat_find("", 0, &splat));
	assert_int_equal(splat.kind, SPLAT_NONE);
	assert_false(splat_find("\n\n\n", 3, &splat));
	assert_false(splat_find("[", 1, &splat));
	assert_false(splat_find("[    0.0", 8, &splat));
	assert_string_equal(splat_name(splat.kind), "nothing");
}

/* Frames of other modules are not the driver's, and neither are guesses. */
static void test_frames(void **state)
{
	static const char text[] =
		"[    2.0] BUG: kernel NULL pointer dereference, address: 0000000000000000\n"
		"[    2.0] RIP: 0010:probe_hit+0x10/0x20 [agate_inject]\n"
		"[    2.0] Call Trace:\n"
		"[    2.0]  <TASK>\n"
		"[    2.0]  ? agate_never+0x1/0x2 [agate]\n"
		"[    2.0]  agate_gem_create.part.0+0xaf/0x1b0 [agate 0123456789abcdef]\n"
		"[    2.0]  bad+0x30/0x20 [agate]\n"
		"[    2.0]  none+0x/0x20 [agate]\n"
		"[    2.0]  </TASK>\n"
		"[    2.0] ---[ end trace 0000000000000000 ]---\n"
		"[    2.0] RIP: 0010:later+0x10/0x20 [agate]\n";
	struct splat splat;

	(void)state;
	assert_true(splat_find(text, sizeof(text) - 1, &splat));
	assert_int_equal(splat.frame_count, 2);
	assert_string_equal(splat.frames[0].symbol, "probe_hit");
	assert_false(splat.frames[0].module);
	assert_true(splat.frames[0].exact);
	assert_string_equal(splat.frames[1].symbol, "agate_gem_create.part.0");
	assert_int_equal(splat.frames[1].offset, 0xaf);
	assert_int_equal(splat.frames[1].size, 0x1b0);
	assert_true(splat.frames[1].module);
	assert_false(splat.frames[1].exact);
}

/* What only the debug kernel of Linux 6.12 says in other words than that of 6.1. */
static void test_other_words(void **state)
{
	static const struct {
		enum splat_kind kind;
		const char *symbol;
		size_t after;		/* bytes behind the report */
		const char *text;
	} reports[] = {
		{ SPLAT_UBSAN, "bounds", 9,
		  "[    2.0] ------------[ cut here ]------------\n"
		  "[    2.0] UBSAN: array-index-out-of-bounds in labs/x.c:7:2\n"
		  "[    2.0] index 9 is out of range for type 'int [4]'\n"
		  "[    2.0] CPU: 0 UID: 0 PID: 36 Comm: sh Tainted: G           O       6.12.117\n"
		  "[    2.0] Call Trace:\n"
		  "[    2.0]  <TASK>\n"
		  "[    2.0]  dump_stack_lvl+0x6f/0xb0\n"
		  "[    2.0]  bounds+0x51/0x66 [agate]\n"
		  "[    2.0]  </TASK>\n"
		  "[    2.0] ---[ end trace ]---\n"
		  "ordinary\n" },
		{ SPLAT_LEAK, "thing_new", 0,
		  "[    2.0] unreferenced object 0xffff8880049d0b00 (size 64):\n"
		  "[    2.0]   comm \"sh\", pid 36, jiffies 4294899507\n"
		  "[    2.0]   hex dump (first 32 bytes):\n"
		  "[    2.0]     01 00 00 00 00 00 00 00 08 0b 9d 04 80 88 ff ff  ................\n"
		  "[    2.0]   backtrace (crc 5f5f0aa2):\n"
		  "[    2.0]     __kmalloc_cache_noprof+0x25/0xd0\n"
		  "[    2.0]     thing_new+0x3c/0xf0 [agate]\n" },
		{ SPLAT_LEAK, "cache_left", 0,
		  "[    2.0] =============================================================\n"
		  "[    2.0] BUG things (Tainted: G           O): Objects remaining on "
		  "__kmem_cache_shutdown()\n"
		  "[    2.0] -------------------------------------------------------------\n"
		  "[    2.0] Call Trace:\n"
		  "[    2.0]  <TASK>\n"
		  "[    2.0]  kmem_cache_destroy+0x6c/0x190\n"
		  "[    2.0]  cache_left+0x51/0x66 [agate]\n"
		  "[    2.0]  </TASK>\n" },
		{ SPLAT_LOCKDEP, "(none)", 0,
		  "[    2.0] BUG: workqueue leaked atomic, lock or RCU: kworker/0:1[12]\n" },
	};
	struct splat splat;
	size_t i, len;
	char *text;

	(void)state;
	for (i = 0; i < COUNT(reports); i++) {
		len = strlen(reports[i].text);
		text = joined(reports[i].text, len, "", 0);
		assert_true(splat_find(text, len, &splat));
		assert_int_equal(splat.kind, reports[i].kind);
		assert_string_equal(first_of_module(&splat), reports[i].symbol);
		assert_int_equal(splat.end, len - reports[i].after);
		free(text);
	}
}

/* The machine ends with a panic, and the reason stands before it, in a line without a trace. */
static void test_corrupted(void **state)
{
	static const char text[] =
		"[    2.0] test: Corrupted page table at address 7ffff7d90000\n"
		"[    2.0] PGD 4a1b067 P4D 4a1b067 PUD 4a1c067 PMD 4a1d067 PTE 840fffff0bbff237\n"
		"[    2.0] Bad pagetable: 000c [#1] PREEMPT SMP PTI\n"
		"[    2.0] CPU: 1 PID: 51 Comm: test Tainted: G           O       6.1.192\n"
		"[    2.0] RIP: 0033:0x55d0a8c2f3b1\n"
		"[    2.0] ---[ end trace 0000000000000000 ]---\n"
		"[    2.0] Kernel panic - not syncing: Fatal exception\n";
	struct splat splat;

	(void)state;
	assert_true(splat_find(text, sizeof(text) - 1, &splat));
	assert_int_equal(splat.kind, SPLAT_OTHER);
	assert_non_null(strstr(splat.rule, "leads to no memory"));
}

/* The module freed memory that other code then used: the module's line is that of the free. */
static void test_freed_by(void **state)
{
	static const char text[] =
		"==================================================================\n"
		"BUG: KASAN: use-after-free in __lock_acquire+0x4846/0x6d50\n"
		"Read of size 8 at addr ffff888004b622d0 by task test/60\n"
		"\n"
		"Call Trace:\n"
		" <TASK>\n"
		" kasan_report+0xb5/0xf0\n"
		" __lock_acquire+0x4846/0x6d50\n"
		" drm_gem_handle_delete+0x5d/0xa0\n"
		" </TASK>\n"
		"\n"
		"Allocated by task 60:\n"
		" __kasan_kmalloc+0x93/0xa0\n"
		" agate_gem_create+0x6c/0x2a0 [agate]\n"
		"\n"
		"Freed by task 60:\n"
		" kfree+0xd5/0x160\n"
		" gem_free+0x13c/0x150 [agate]\n"
		"\n"
		"The buggy address belongs to the object at ffff888004b62200\n"
		"==================================================================\n"
		"BUG: kernel NULL pointer dereference, address: 0000000000000000\n";
	struct splat splat;

	(void)state;
	assert_true(splat_find(text, sizeof(text) - 1, &splat));
	assert_int_equal(splat.kind, SPLAT_KASAN);
	assert_string_equal(first_of_module(&splat), "gem_free");
	assert_non_null(strstr(splat_rule(&splat), "the line is where the driver freed it"));
	assert_int_equal(splat.freed_count, 0);
	assert_memory_equal(text + splat.end, "BUG: kernel NULL", 16);
}

/* The module's frames in the trace of the free, from the innermost on. */
static void test_freed(void **state)
{
	static const struct {
		const char *name;
		const char *freed[4];
	} known[] = {
		{ "debug-use-after-free", { "thing_free", "use_after_free", "what_set" } },
		{ "debug-double-free", { "thing_free", "double_free", "what_set" } },
		/* In these the place itself is that of the free, or nothing was freed. */
		{ "debug-slab-oob", { NULL } },
		{ "fast-null-read", { NULL } },
	};
	struct splat splat;
	size_t i, j, len;
	char *text;

	(void)state;
	for (i = 0; i < COUNT(known); i++) {
		text = read_sample(known[i].name, &len);
		assert_true(splat_find(text, len, &splat));
		for (j = 0; known[i].freed[j]; j++) {
			assert_true(j < splat.freed_count && splat.freed[j].module);
			assert_string_equal(splat.freed[j].symbol, known[i].freed[j]);
		}
		assert_int_equal(splat.freed_count, j);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_freed_or_not),
		cmocka_unit_test(test_followed),
		cmocka_unit_test(test_preceded),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_truncated_everywhere),
		cmocka_unit_test(test_untimed),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_random_bytes),
		cmocka_unit_test(test_flood),
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_other_words),
		cmocka_unit_test(test_corrupted),
		cmocka_unit_test(test_freed_by),
		cmocka_unit_test(test_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
