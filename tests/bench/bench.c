// SPDX-License-Identifier: MIT
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

void bench_die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(1);
}

double bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

void bench_call(int fd, unsigned long request, void *arg, const char *what)
{
	int ret;

	do
		ret = ioctl(fd, request, arg);
	while (ret < 0 && (errno == EINTR || errno == EAGAIN));
	if (ret)
		bench_die(what);
}

void bench_report(const char *name, const char *unit, const double *samples, int count,
		  const char *against)
{
	printf("{\"name\": \"%s\", \"unit\": \"%s\", ", name, unit);
	if (against)
		printf("\"against\": \"%s\", ", against);
	printf("\"samples\": [");
	for (int i = 0; i < count; i++)
		printf("%s%.9g", i ? ", " : "", samples[i]);
	puts("]}");
}
