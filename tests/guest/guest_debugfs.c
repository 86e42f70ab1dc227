// SPDX-License-Identifier: MIT
/*
 * What the driver and the kernel tell about themselves in debugfs and procfs; see guest.h.
 */
#include "guest.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

FILE *guest_debugfs_open(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%d/%s", guest_minor(), name);
	return fopen(path, "re");
}

/* fscanf() takes ten times as long, and tests read hundreds of such files. */
bool guest_next_number(FILE *file, char name[64], long *value)
{
	char line[128], *end;
	size_t len;

	if (!fgets(line, sizeof(line), file))
		return false;
	len = strcspn(line, " ");
	if (!len || len >= 64 || line[len] != ' ')
		return false;
	memcpy(name, line, len);
	name[len] = '\0';
	*value = strtol(line + len, &end, 10);
	return end != line + len && (*end == '\n' || !*end);
}

long guest_number(const char *debugfs_file, const char *name)
{
	FILE *file = guest_debugfs_open(debugfs_file);
	char key[64];
	long value, found = -1;

	if (!file)
		return -1;
	while (guest_next_number(file, key, &value))
		if (!strcmp(key, name))
			found = value;
	fclose(file);
	return found;
}

long guest_counter(const char *name)
{
	return guest_number("counters", name);
}

long guest_gpu_counter(const char *name)
{
	return guest_number("gpu_counters", name);
}

bool guest_file_says(const char *path, const char *text)
{
	static char all[65536];
	FILE *file = fopen(path, "re");

	assert_non_null(file);
	all[fread(all, 1, sizeof(all) - 1, file)] = '\0';
	fclose(file);
	return strstr(all, text);
}

bool guest_debugfs_says(const char *name, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%d/%s", guest_minor(), name);
	return guest_file_says(path, text);
}

void guest_wait_number(const char *debugfs_file, const char *name, long value)
{
	long now;

	for (int64_t end = guest_deadline(10000);
	     (now = guest_number(debugfs_file, name)) != value && guest_deadline(0) < end;)
		usleep(1000);
	if (now != value)
		fail_msg("the counter %s is %ld, expected %ld", name, now, value);
}

void guest_wait_counter(const char *name, long value)
{
	guest_wait_number("counters", name, value);
}

/* Print the counters that are not zero into text; returns their number, or -1. */
static int live_things(char *text, size_t size)
{
	FILE *file = guest_debugfs_open("counters");
	size_t used = 0;
	int live = 0, lines = 0;
	char key[64];
	long value;

	if (!file)
		return -1;
	text[0] = '\0';
	while (guest_next_number(file, key, &value)) {
		lines++;
		if (!value)
			continue;
		live++;
		if (used < size)
			used += (size_t)snprintf(text + used, size - used, " %s=%ld", key, value);
	}
	fclose(file);
	return lines ? live : -1;
}

bool guest_nothing_left(int64_t ms, char *left, size_t size)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	int64_t end = guest_deadline(ms);
	int live, fd;

	if (guest_minor() < 0) {
		fd = guest_open();	/* sets the folder in debugfs */
		close(fd);
	}
	while ((live = live_things(left, size)) != 0 && guest_deadline(0) < end)
		nanosleep(&pause, NULL);
	if (live < 0)
		guest_broken("the driver's counters in debugfs", "they cannot be read");
	return !live;
}

void guest_assert_nothing_left(void)
{
	char left[512];

	if (!guest_nothing_left(10000, left, sizeof(left)))
		fail_msg("left after the last close:%s", left);
}

long guest_slab_kb(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	char line[128];
	long kb = -1;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "SUnreclaim: %ld", &kb) == 1)
			break;
	if (file)
		fclose(file);
	return kb;
}
