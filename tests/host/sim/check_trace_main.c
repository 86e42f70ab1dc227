// SPDX-License-Identifier: MIT
/*
 * check-trace FILE [TRACK]...: checks that Perfetto opens this trace, and that it
 * has these tracks (or counters).  Prints the reason if not.
 */
#include <stdio.h>

#include "trace_check.h"

int main(int argc, char **argv)
{
	struct trace_report report;
	int i, status = 0;

	if (argc < 2) {
		fputs("usage: check-trace FILE [TRACK]...\n", stderr);
		return 2;
	}
	if (!trace_check(argv[1], &report)) {
		fprintf(stderr, "%s: %s\n", argv[1], report.why);
		trace_report_free(&report);
		return 1;
	}
	for (i = 2; i < argc; i++)
		if (!trace_has_track(&report, argv[i])) {
			fprintf(stderr, "%s: no track \"%s\"\n", argv[1], argv[i]);
			status = 1;
		}
	printf("%u events on %zu tracks, %zu counters, %u spans open, %s\n", report.events,
	       json_object_size(report.tracks), json_object_size(report.counters), report.open,
	       report.closed ? "closed" : "cut off");
	trace_report_free(&report);
	return status;
}
