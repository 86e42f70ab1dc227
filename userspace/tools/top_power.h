/* SPDX-License-Identifier: MIT */
/*
 * A device's power: what the kernel's runtime PM says about any device, and what debugfs of
 * agate adds.
 */
#ifndef TOP_POWER_H
#define TOP_POWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOP_DOMAINS	8
#define TOP_WORD	16
#define TOP_POWER_TEXT	160

/* The power input or a power domain. */
struct top_domain {
	char name[TOP_WORD];
	bool on;
};

struct top_power {
	char status[TOP_WORD];		/* of runtime PM; empty: the kernel does not tell */
	uint64_t active_ms, suspended_ms;
	int64_t autosuspend_ms;		/* negative: never */
	bool has_times, has_autosuspend;
	struct top_domain domain[TOP_DOMAINS];
	uint32_t domain_count;
	uint64_t resumes, failures;
	bool has_counts;		/* of resumes and failures */
};

/* Copy the first word of a text into a field; what is not ASCII becomes '?'. */
void top_word(char to[TOP_WORD], const char *from);

/* Add what agate's debugfs file "power" says; unknown lines are ignored. */
void top_parse_power(const char *text, struct top_power *power);

/*
 * The share of the time between two looks in which the device was active, 0 to 1; negative
 * when that is not known.  @before may be NULL.
 */
double top_power_active(const struct top_power *now, const struct top_power *before);

/*
 * For people: "active; active 3.4 s (12%), suspended 20.1 s; autosuspend 50 ms; on: input L2";
 * the percentage is that of the time between the two looks.  Empty when nothing is known.
 */
void top_power_text(char text[TOP_POWER_TEXT], const struct top_power *now,
		    const struct top_power *before);

#endif /* TOP_POWER_H */
