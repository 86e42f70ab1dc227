// SPDX-License-Identifier: MIT
/*
 * Judges the driver by the state of a guest's kernel (health.h).
 */
#include "health.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * In a quick look the slabs from which processors allocate count as full, objects that RCU
 * has not freed yet still count, and each processor keeps a few pages to itself.  The look
 * before a test is a quick one, too.
 */
#define NOISE_FILES	64
#define NOISE_FILES_QUICK	128
#define NOISE_PAGES	64
/* Taint bits that the kernel sets only after a report: bad pages, an oops, a warning. */
#define TAINTS		(1u << 5 | 1u << 7 | 1u << 9)
#define PAGE_KIB	4

static const char *const names[HEALTH_KEYS] = {
	[HEALTH_TAINTED] = "tainted",
	[HEALTH_CONSOLE_LOGLEVEL] = "console_loglevel",
	[HEALTH_DEBUG_LOCKS] = "debug_locks",
	[HEALTH_LOCK_CLASSES] = "lock_classes",
	[HEALTH_LOCK_CLASSES_MAX] = "lock_classes_max",
	[HEALTH_DMA_API_DISABLED] = "dma_api_disabled",
	[HEALTH_KPROBES] = "kprobes",
	[HEALTH_SHMEM_FILES] = "shmem_files",
	[HEALTH_SHMEM_PAGES] = "shmem_pages",
};

static bool take_line(struct health *health, const char *line)
{
	char key[32], more;
	uint64_t value;
	int i;

	if (sscanf(line, "%31[a-z_] %" SCNu64 "%c", key, &value, &more) != 2)
		return false;
	for (i = 0; i < HEALTH_KEYS; i++) {
		if (strcmp(key, names[i]))
			continue;
		if (health->has & (1u << i))
			return false;
		health->has |= 1u << i;
		health->value[i] = value;
		return true;
	}
	return false;
}

bool health_parse(struct health *health, const char *text, size_t len)
{
	const char *end;
	char line[80];

	memset(health, 0, sizeof(*health));
	for (; len; len -= (size_t)(end + 1 - text), text = end + 1) {
		end = memchr(text, '\n', len);
		if (!end || (size_t)(end - text) >= sizeof(line))
			return false;
		memcpy(line, text, (size_t)(end - text));
		line[end - text] = '\0';
		if (!take_line(health, line))
			return false;
	}
	return true;
}

/* A key that was present before and is now missing reads 0. */
static uint64_t value(const struct health *health, enum health_key key)
{
	return health->has & (1u << key) ? health->value[key] : 0;
}

static bool has_fallen(const struct health *before, const struct health *now, enum health_key key)
{
	return value(now, key) < value(before, key);
}

static bool used_up(const struct health *health)
{
	uint64_t max = value(health, HEALTH_LOCK_CLASSES_MAX);

	return max && value(health, HEALTH_LOCK_CLASSES) > max / 10 * 9;
}

/* Names a check that is no longer active; NULL: all are active. */
static const char *blinded(const struct health *before, const struct health *now)
{
	if (has_fallen(before, now, HEALTH_DEBUG_LOCKS))
		return "lockdep is off (debug_locks is 0), and nothing in the kernel's log says why";
	if (used_up(now) && !used_up(before))
		return "lockdep has hardly a lock class left: it is off once they are used up";
	if (value(now, HEALTH_DMA_API_DISABLED) > value(before, HEALTH_DMA_API_DISABLED))
		return "the DMA API's debugging is off";
	if (has_fallen(before, now, HEALTH_KPROBES))
		return "kprobes are off, by which tests inject failures";
	if (has_fallen(before, now, HEALTH_CONSOLE_LOGLEVEL))
		return "the console's log level is lower than before: it holds words back";
	if (value(now, HEALTH_TAINTED) & ~value(before, HEALTH_TAINTED) & TAINTS)
		return "the kernel is tainted by a warning or worse that is not in its log";
	return NULL;
}

/* A pass becomes a failure; any other verdict keeps its own reason. */
static void fail(struct verdict *verdict, const char *rule, const char *expected, const char *seen)
{
	if (verdict->status == VERDICT_PASS)
		verdict_set(verdict, VERDICT_FAIL, rule, expected, "%s", seen);
	else if (verdict->note_count < JUDGE_NOTES)
		snprintf(verdict->notes[verdict->note_count++], sizeof(verdict->notes[0]), "%s",
			 seen);
}

bool health_blinded(const struct health *before, const struct health *now,
		    struct verdict *verdict)
{
	const char *what = blinded(before, now);

	if (what)
		fail(verdict, "the kernel's own checks look at the driver to the end",
		     "every check that was on before the test is on after it", what);
	return what;
}

static uint64_t growth(const struct health *before, const struct health *now, enum health_key key)
{
	return has_fallen(before, now, key) ? 0 : value(now, key) - value(before, key);
}

bool health_grown(const struct health *before, const struct health *now)
{
	return growth(before, now, HEALTH_SHMEM_FILES) > NOISE_FILES_QUICK ||
	       growth(before, now, HEALTH_SHMEM_PAGES) > NOISE_PAGES;
}

/* The sum of "bos N" in the counters of all the driver's devices. */
static uint64_t counted_bos(const char *counters)
{
	uint64_t sum = 0, n;
	const char *line;

	for (line = counters; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (sscanf(line, "bos %" SCNu64, &n) == 1)
			sum += n;
	}
	return sum;
}

bool health_left(const struct health *before, const struct health *now, const char *counters,
		 struct verdict *verdict)
{
	uint64_t files = growth(before, now, HEALTH_SHMEM_FILES), bos = counted_bos(counters);
	uint64_t pages = growth(before, now, HEALTH_SHMEM_PAGES);
	char seen[256];

	/* One BO of any size may hold the pages, but each BO has one file at most. */
	if (files <= bos + NOISE_FILES && (bos || pages <= NOISE_PAGES))
		return false;
	if (!verdict)
		return true;
	snprintf(seen, sizeof(seen), "%" PRIu64 " shmem files and %" PRIu64 " KiB in such files are "
		 "left that were not there before, and the driver counts %" PRIu64 " BOs",
		 files, pages * PAGE_KIB, bos);
	fail(verdict, "a BO's memory is freed when the last that used it is gone",
	     "when the test's processes have ended, no memory of BOs but what is counted", seen);
	return true;
}

bool health_lower(struct health *lowest, const struct health *now)
{
	static const enum health_key memory[] = { HEALTH_SHMEM_FILES, HEALTH_SHMEM_PAGES };
	bool any = false;
	size_t i;

	for (i = 0; i < sizeof(memory) / sizeof(memory[0]); i++) {
		if (!has_fallen(lowest, now, memory[i]))
			continue;
		lowest->value[memory[i]] = value(now, memory[i]);
		any = true;
	}
	return any;
}
