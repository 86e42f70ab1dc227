/* SPDX-License-Identifier: MIT */
/* What the programs that measure a driver share. */
#ifndef AGATE_BENCH_H
#define AGATE_BENCH_H

/* End the program, with errno's message for what it could not do. */
_Noreturn void bench_die(const char *what);
/* Nanoseconds of CLOCK_MONOTONIC. */
double bench_now(void);
/* An ioctl that is called again while a signal interrupts it; dies when it fails. */
void bench_call(int fd, unsigned long request, void *arg, const char *what);

#endif /* AGATE_BENCH_H */
