/* SPDX-License-Identifier: MIT */
/* What the programs that measure share. */
#ifndef AGATE_BENCH_H
#define AGATE_BENCH_H

/* End the program, with errno's message for what it could not do. */
_Noreturn void bench_die(const char *what);
/* Nanoseconds of CLOCK_MONOTONIC. */
double bench_now(void);
/* An ioctl that is called again while a signal interrupts it; dies when it fails. */
void bench_call(int fd, unsigned long request, void *arg, const char *what);
/*
 * Print a row for the report: @count samples of one measurement, and the name of the
 * measurement to which it is compared, or NULL.
 */
void bench_report(const char *name, const char *unit, const double *samples, int count,
		  const char *against);

#endif /* AGATE_BENCH_H */
