/* SPDX-License-Identifier: MIT */
/*
 * The power of the only GPU: what sysfs and debugfs say about it, and jobs that need it.
 */
#ifndef AGATE_TESTS_DOMAINS_H
#define AGATE_TESTS_DOMAINS_H

#include "guest.h"

/* Where in its own BO the job of power_start_job() writes. */
#define POWER_DATA	2048u

/* Files of the device's folder "power" in sysfs: a line without its end, or write a text. */
void power_device_says(const char *name, char *text, size_t size);
void power_tell_device(const char *name, const char *text);

/* The device's runtime_status; power_wait() waits for it. */
bool power_status_is(const char *want);
void power_wait(const char *want);

/* A number in debugfs's file "power", and is this text in it? */
long long power_number(const char *name);
bool power_is(const char *line);

/* The word of a BO that is mapped. */
uint64_t power_word(const struct bo *bo, uint32_t offset);

/* Start a job that writes @value to its BO; power_check_job() waits, and expects the value. */
int power_start_job(struct bo *bo, uint32_t requirements, uint64_t value);
void power_check_job(struct bo *bo, uint32_t requirements, uint64_t value);
/* Start any job that the tiler has to run. */
int power_start_tiler(struct bo *bo, uint32_t requirements);

#endif /* AGATE_TESTS_DOMAINS_H */
