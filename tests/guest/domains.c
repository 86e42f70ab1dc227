// SPDX-License-Identifier: MIT
/* Helpers of tests of runtime power management; see power.h. */
#include "domains.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DEVICE		"/sys/bus/pci/drivers/agate/*:*/power/"

/* ---- What the kernel says --------------------------------------------- */

static FILE *open_device_file(const char *name, const char *mode)
{
	char pattern[96];
	glob_t found;
	FILE *file;

	snprintf(pattern, sizeof(pattern), DEVICE "%s", name);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	file = fopen(found.gl_pathv[0], mode);
	globfree(&found);
	assert_non_null(file);
	return file;
}

void power_device_says(const char *name, char *text, size_t size)
{
	FILE *file = open_device_file(name, "re");

	assert_non_null(fgets(text, (int)size, file));
	fclose(file);
	text[strcspn(text, "\n")] = '\0';
}

void power_tell_device(const char *name, const char *text)
{
	FILE *file = open_device_file(name, "we");

	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

bool power_status_is(const char *want)
{
	char status[32];

	power_device_says("runtime_status", status, sizeof(status));
	return !strcmp(status, want);
}

void power_wait(const char *want)
{
	for (int64_t end = guest_deadline(20000); !power_status_is(want);) {
		assert_true(guest_deadline(0) < end);
		usleep(1000);
	}
}

/* A number in debugfs's file "power". */
long long power_number(const char *name)
{
	char key[32], text[32];
	long long value = -1;
	FILE *file;

	file = guest_debugfs_open("power");
	assert_non_null(file);
	while (fscanf(file, "%31s %31s%*[^\n]", key, text) == 2) {
		if (!strcmp(key, name))
			value = atoll(text);
	}
	fclose(file);
	return value;
}

bool power_is(const char *line)
{
	return guest_debugfs_says("power", line);
}

/* ---- Jobs ------------------------------------------------------------- */

uint64_t power_word(const struct bo *bo, uint32_t offset)
{
	return *(volatile uint64_t *)((char *)bo->cpu + offset);
}

int power_start_job(struct bo *bo, uint32_t requirements, uint64_t value)
{
	guest_job_write64(bo, 0, 0, bo->va + POWER_DATA, value);
	return guest_submit_fence(bo, requirements);
}

void power_check_job(struct bo *bo, uint32_t requirements, uint64_t value)
{
	assert_int_equal(guest_fence_end(power_start_job(bo, requirements, value)), 1);
	assert_int_equal(power_word(bo, POWER_DATA), value);
}

/* Any job that the tiler has to run. */
int power_start_tiler(struct bo *bo, uint32_t requirements)
{
	const uint64_t nothing[16] = { 0 };

	guest_job(bo, 0, AGATE_JOB_TILER, 0, nothing, sizeof(nothing));
	return guest_submit_fence(bo, requirements);
}
