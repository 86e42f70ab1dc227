// SPDX-License-Identifier: MIT
/* A fault of the GPU itself: what serve_gpu() tells, clears, and leaves alone. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "function.h"
#include "graded.h"
#include "hardware.h"
#include "log.h"
#include "tests.h"
#include "topic.h"
#include "work.h"

#define FAULTS		(GPU_IRQ_FAULT | GPU_IRQ_MULTIPLE_FAULT)
#define MANY		48
#define MOST_TOLD	36
#define APART_MS	20		/* as far as limits of the kernel's can tell */
#define SILENCE_S	15

static size_t word_length(const char *text)
{
	size_t len = 0;

	while (isalnum((unsigned char)text[len]))
		len++;
	return len;
}

/* A number among the words of a line: in hexadecimal, however it is written, or decimal. */
static bool line_has(const char *line, uint64_t number, bool decimal)
{
	while (*line) {
		size_t len = word_length(line);
		char *end;

		if (len && strtoull(line, &end, 16) == number && end == line + len)
			return true;
		if (len && decimal && strtoull(line, &end, 10) == number && end == line + len)
			return true;
		line += len ? len : 1;
	}
	return false;
}

/* Wait for a line with the address; whether that or another one has the status. */
static bool log_tells(int fd, uint64_t address, uint64_t status, bool *with_status)
{
	unsigned int look = 0;
	bool told = false;
	char line[LOG_LINE];

	*with_status = false;
	while (look < PATIENCE_LOOKS && !(told && *with_status)) {
		if (log_line(fd, line)) {
			told |= line_has(line, address, false);
			*with_status |= line_has(line, status, true);
		} else if (told) {
			break;
		} else {
			look++;
			patience_pause();
		}
	}
	return told;
}

/* A fault's bit goes when it is served; it may not have come yet, so its handler first. */
static void check_cleared(unsigned long handled)
{
	rule("a GPU fault is let through by the mask of agate-gpu, and its handler runs");
	check_true(handler_runs("agate-gpu", handled), "an interrupt of the GPU", "none");
	topic(TOPIC_SYNC, AGATE_VECTOR_GPU, 0);
	rule("a fault that was served is cleared: else its line is up for ever");
	for (unsigned int look = 0; look < PATIENCE_LOOKS; look++) {
		if (!(topic_read(GPU_INT_RAWSTAT) & FAULTS))
			return;
		patience_pause();
	}
	broken("GPU_IRQ_FAULT is not set any more", "GPU_INT_RAWSTAT is %#x",
	       topic_read(GPU_INT_RAWSTAT));
}

/* Somebody has given a cache command, and polls for its end, when the next fault comes. */
static void check_others_bits(void)
{
	unsigned long handled;

	topic(TOPIC_SUSPEND, AGATE_VECTOR_GPU, 0);
	handled = handler_of("agate-gpu").count;
	check_errno(-topic(TOPIC_RESET, 0, 0), 0, "agate_gpu_soft_reset()");
	check_errno(-topic(TOPIC_RAISE, 0, 0), 0, "a cache command, and its end");
	topic(TOPIC_RESUME, AGATE_VECTOR_GPU, 0);
	check_cleared(handled);
	rule("serve_gpu() clears what belongs to it: others poll for the other bits");
	check_true(topic_read(GPU_INT_RAWSTAT) & TOPIC_EVENT,
		   "CLEAN_CACHES_COMPLETED is still set", "it was cleared with the fault");
}

/* Half of the number, or all of it, is what a GPU that is gone reads as. */
static bool line_has_ones(const char *line)
{
	while (*line) {
		size_t len = word_length(line);
		char *end;
		uint64_t number = strtoull(line, &end, 16);

		if (len >= 8 && end == line + len &&
		    ((uint32_t)number == UINT32_MAX || number >> 32 == UINT32_MAX))
			return true;
		line += len ? len : 1;
	}
	return line_has(line, UINT32_MAX, true);
}

/* The GPU goes while serve_gpu() reads what the fault was: all ones, and no fault. */
static void check_lost_fault(int log, uint32_t reg, const char *name)
{
	unsigned long handled = handler_of("agate-gpu").count;
	char line[LOG_LINE];
	bool ones = false;

	while (log_line(log, line))
		;
	topic(TOPIC_LOSE_AT, 0, reg);
	topic(TOPIC_RESET, 0, 0);
	rule("a GPU fault is let through by the mask of agate-gpu, and its handler runs");
	check_true(handler_runs("agate-gpu", handled), "an interrupt of the GPU", "none");
	topic(TOPIC_SYNC, AGATE_VECTOR_GPU, 0);
	while (log_line(log, line))
		ones |= line_has(line, UINT32_MAX, true) || line_has_ones(line);
	rule("a GPU that went while serve_gpu() read the fault, at %s, reads as all ones: that is not "
	     "told", name);
	check_true(!ones, "no line of the log with a status or an address of all ones", "there is one");
	topic_end();
	rule("a GPU that is gone: the driver lets go of the function all the same");
	check_errno(driver_unbind(), 0, "unbinding");
	hardware_alive(true);
	topic(TOPIC_WATCH, 0, 0);
	driver_take();
}

/*
 * Whatever of RAWSTAT is set besides, serve_gpu() clears the faults that it shows.  The
 * registers are the test's here, and it sends the messages.
 */
static void check_clears(void)
{
	static const uint32_t raws[] = {
		GPU_IRQ_MULTIPLE_FAULT, GPU_IRQ_FAULT | GPU_IRQ_MULTIPLE_FAULT,
		GPU_IRQ_FAULT | GPU_IRQ_RESET_COMPLETED | GPU_IRQ_POWER_CHANGED_ALL |
			GPU_IRQ_CLEAN_CACHES_COMPLETED,
		GPU_IRQ_MULTIPLE_FAULT | GPU_IRQ_PERFCNT_SAMPLE_COMPLETED |
			GPU_IRQ_POWER_CHANGED_SINGLE,
	};

	/* The fault after the probe's reset is served, and its thread has ended. */
	check_cleared(0);
	topic(TOPIC_SYNC, AGATE_VECTOR_GPU, 0);
	for (unsigned int i = 0; i < sizeof(raws) / sizeof(raws[0]); i++) {
		char expected[64];
		uint32_t cleared = 0;

		topic(TOPIC_RAISE_BITS, AGATE_VECTOR_GPU, raws[i]);
		check_message(AGATE_VECTOR_GPU);
		for (unsigned int look = 0; look < PATIENCE_LOOKS && !cleared; look++) {
			topic(TOPIC_SYNC, AGATE_VECTOR_GPU, 0);
			cleared = topic_seen().cleared;
		}
		rule("serve_gpu() clears those faults that GPU_INT_RAWSTAT shows, here %#x, and nothing "
		     "else", raws[i]);
		snprintf(expected, sizeof(expected), "bits cleared: %#x", raws[i] & FAULTS);
		if (cleared != (raws[i] & FAULTS))
			broken(expected, "bits cleared: %#x", cleared);
	}
}

/* Fault number @nth, served; how many lines of the log have its address. */
static unsigned int take_fault(int log, uint32_t nth)
{
	unsigned int lines = 0;
	char line[LOG_LINE];

	rule("a fault that was served is cleared, told or not: else its line is up for ever");
	if (topic(TOPIC_FAULT, 0, nth))
		broken("GPU_IRQ_FAULT is not set any more", "it is still set");
	while (log_line(log, line))
		lines += line_has(line, topic_fault_address(nth), false);
	return lines;
}

/* Many faults, all at one address or each at its own (@step), fifty in a second. */
static void check_bounded(int log, uint32_t first, uint32_t step, const char *where)
{
	unsigned int lines = 0;

	topic(TOPIC_AGE, 0, APART_MS);
	for (uint32_t i = 0; i < MANY; i++)
		lines += take_fault(log, first + i * step);
	rule("a GPU that faults again and again must not fill the log: the rate of its lines is "
	     "bounded, also of faults %s", where);
	if (lines > MOST_TOLD)
		broken("fewer lines than faults", "%u faults, %u lines", MANY, lines);
}

/*
 * So many faults were told that no more are, and then the log was silent for some time.  A
 * limit of the kernel's is made older; one of the driver's own has to be waited for.
 */
static void check_told_again(int log)
{
	/* The last of those before: to tell an address once is not enough. */
	uint32_t nth = 1 + MANY;
	bool told;

	topic(TOPIC_AGE, 0, SILENCE_S * 1000);
	told = take_fault(log, nth);
	if (!told && !topic_seen().limits)
		for (unsigned int i = 0; i < SILENCE_S * 10 && !told; i++) {
			for (unsigned int look = 0; look < 100; look++)
				patience_pause();
			told = take_fault(log, nth);
		}
	rule("the rate of the lines is bounded, and not their number: a fault that comes %u seconds after "
	     "the last line is told, also at the same address", SILENCE_S);
	check_true(told, "a line of the log with its address", "none");
}

/* The driver gives back what it took for the faults: memory, timers, work. */
static void check_faults_leave(void)
{
	uint32_t resets = topic_seen().hard_resets;

	rule("the driver lets the GPU go");
	check_errno(driver_unbind(), 0, "unbinding");
	rule("a hard reset is for a soft one that does not complete, also after faults");
	check_equal(topic_seen().hard_resets - resets, 0, "hard resets on leaving");
	rule("everything that was taken for the faults goes back when the driver leaves");
	check_nothing_kept();
	check_equal(topic_value(TOPIC_PENDING, 0, 0), 0,
		    "timers and work of the driver that are still to run");
}

/* The grader makes the GPU take one after each reset, with an address that it chose. */
void test_gpu_fault(void **state)
{
	uint64_t address = (uint64_t)param("address");
	int fd, log = log_open();
	bool with_status;

	(void)state;
	driver_load();
	hardware_end_reset();
	topic(TOPIC_WATCH, 0, 0);
	driver_take();
	check_cleared(0);
	rule("serve_gpu() clears what it has read: a fault that comes after the read is not lost");
	check_equal(topic_seen().clears_multiple, 0,
		    "clears of MULTIPLE_FAULT, which GPU_INT_RAWSTAT did not show");
	rule("a GPU fault that nobody can see helps nobody: GPU_FAULT_ADDRESS is in the log");
	check_true(log_tells(log, address, (uint64_t)param("status"), &with_status),
		   "a line of the log with the address, in hexadecimal", "none");
	rule("a GPU fault is told with its GPU_FAULT_STATUS");
	check_true(with_status, "the status is in the log, too", "it is not");
	fd = guest_open();
	check_jobs(fd, 2, "after a GPU fault");
	close(fd);

	check_others_bits();
	check_lost_fault(log, GPU_FAULT_STATUS, "GPU_FAULT_STATUS");
	check_lost_fault(log, GPU_FAULT_ADDRESS_HI, "GPU_FAULT_ADDRESS");
	check_clears();
	topic(TOPIC_ACCOUNT, 0, 0);
	check_bounded(log, 1, 0, "at one address");
	check_bounded(log, 2, 1, "at different addresses");
	check_told_again(log);
	check_faults_leave();
	close(log);
}
