// SPDX-License-Identifier: MIT
/*
 * How long each part of a run took (timing.h).
 */
#include "timing.h"

#include <stdarg.h>
#include <time.h>

uint64_t timing_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void timing_add(struct timing *timing, uint64_t begin, const char *fmt, ...)
{
	va_list ap;

	if (!timing || timing->count == TIMING_SPANS)
		return;
	va_start(ap, fmt);
	vsnprintf(timing->spans[timing->count].what, sizeof(timing->spans[0].what), fmt, ap);
	va_end(ap);
	timing->spans[timing->count].begin = begin;
	timing->spans[timing->count].end = timing_now();
	timing->count++;
}

void timing_print(const struct timing *timing, const char *title, uint64_t origin, FILE *out)
{
	size_t i;

	fprintf(out, "%s\n  %8s %8s\n", title, "at ms", "took ms");
	for (i = 0; i < timing->count; i++)
		fprintf(out, "  %8.1f %8.1f  %s\n",
			(double)(timing->spans[i].begin - origin) / 1e6,
			(double)(timing->spans[i].end - timing->spans[i].begin) / 1e6,
			timing->spans[i].what);
}
