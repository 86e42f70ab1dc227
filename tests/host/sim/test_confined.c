// SPDX-License-Identifier: MIT
/*
 * The GPU's process as users run it: it enters its sandbox before it reports that
 * it serves.
 */
#include "process_bench.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A line of /proc/PID/status, after its name and a tab. */
static int status_of(const struct gpu *g, const char *name)
{
	char path[64], line[256];
	int value = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)g->pid);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ':')
			assert_int_equal(sscanf(line + strlen(name), ":\t%d", &value), 1);
	fclose(file);
	return value;
}

static void test_it_is_confined_when_it_serves(void **state)
{
	const struct gpu self = { .pid = getpid() };
	struct gpu *g = gpu_start(NULL);
	int filters = status_of(&self, "Seccomp_filters");

	(void)state;
	if (status_of(g, "Seccomp") < 0) {
		gpu_free(g);
		skip();			/* a host without seccomp */
	}
	assert_int_equal(status_of(g, "Seccomp"), 2);
	/* One filter more than those of the test itself. */
	if (filters >= 0)
		assert_int_equal(status_of(g, "Seccomp_filters"), filters + 1);
	assert_int_equal(status_of(g, "NoNewPrivs"), 1);
	g_quit(g);
	gpu_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_is_confined_when_it_serves),
	};

	return cmocka_run_group_tests_name("sandbox-confined", tests, NULL, NULL);
}
