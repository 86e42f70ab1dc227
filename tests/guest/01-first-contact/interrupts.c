// SPDX-License-Identifier: MIT
/* Vectors and handlers as sysfs and procfs show them; see function.h. */
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "function.h"
#include "graded.h"

const char *const vector_names[4] = { "agate-gpu", "agate-job", "agate-mmu", "agate-display" };

unsigned int function_vectors(unsigned int *irq, unsigned int max)
{
	DIR *dir = opendir(function_path("msi_irqs"));
	struct dirent *entry;
	unsigned int n = 0;

	while (dir && (entry = readdir(dir))) {
		unsigned int number = (unsigned int)strtoul(entry->d_name, NULL, 10);

		if (number && n < max)
			irq[n] = number;
		n += number != 0;
	}
	if (dir)
		closedir(dir);
	return n;
}

/* One line of /proc/interrupts: number, a count for each CPU, chip, names. */
static bool parse_line(char *line, unsigned int *irq, unsigned long *count, const char **names)
{
	char *at, *end;

	*irq = (unsigned int)strtoul(line, &at, 10);
	if (*at++ != ':')
		return false;
	for (*count = 0; ; at = end) {
		unsigned long n = strtoul(at, &end, 10);

		if (end == at)
			break;
		*count += n;
	}
	*names = at;
	return true;
}

/* Handlers of one interrupt are listed as "a, b". */
static bool names_have(const char *names, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = strstr(names, name); at; at = strstr(at + 1, name))
		if (at > names && at[-1] == ' ' && strchr(",\n", at[len]))
			return true;
	return false;
}

struct handler handler_of(const char *name)
{
	FILE *file = fopen("/proc/interrupts", "re");
	struct handler handler = { 0 };
	const char *names;
	unsigned long count;
	unsigned int irq;
	char line[512];

	while (file && fgets(line, sizeof(line), file)) {
		if (!parse_line(line, &irq, &count, &names) || !names_have(names, name))
			continue;
		handler.lines++;
		handler.irq = irq;
		handler.count = count;
	}
	if (file)
		fclose(file);
	return handler;
}

unsigned int handlers_left(void)
{
	FILE *file = fopen("/proc/interrupts", "re");
	unsigned int n = 0;
	char line[512];

	while (file && fgets(line, sizeof(line), file))
		n += strstr(line, "agate") != NULL;
	if (file)
		fclose(file);
	return n;
}

struct unhandled handler_unhandled(unsigned int irq)
{
	struct unhandled unhandled = { 0 };
	char path[48];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/irq/%u/spurious", irq);
	file = fopen(path, "re");
	if (!file || fscanf(file, "count %*u unhandled %lu last_unhandled %lu",
			    &unhandled.count, &unhandled.last_ms) != 2)
		fail_msg("%s cannot be read", path);
	fclose(file);
	return unhandled;
}

bool handler_runs(const char *name, unsigned long more_than)
{
	for (unsigned int look = 0; look < PATIENCE_LOOKS; look++) {
		if (handler_of(name).count > more_than)
			return true;
		patience_pause();
	}
	return false;
}

void stay_on_cpu_of(const char *name)
{
	unsigned int cpu;
	char path[64];
	cpu_set_t set;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/irq/%u/effective_affinity_list", handler_of(name).irq);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%u", &cpu) != 1)
		fail_msg("%s cannot be read", path);
	fclose(file);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail_msg("sched_setaffinity: %s", strerror(errno));
}
