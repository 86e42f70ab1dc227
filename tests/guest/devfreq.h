/* SPDX-License-Identifier: MIT */
/*
 * The frequency of the only device that devfreq has, through sysfs.
 */
#ifndef AGATE_TESTS_DEVFREQ_H
#define AGATE_TESTS_DEVFREQ_H

#include <stddef.h>

#define MHZ		1000000ul

/* Write a file of the device: 0 or the errno; ENOENT while there is no such file. */
int devfreq_put(const char *file, const char *text);
int devfreq_put_number(const char *file, unsigned long number);
/* The first line of a file, or its number; they fail the test when there is no such file. */
void devfreq_get(const char *file, char *text, size_t size);
unsigned long devfreq_number(const char *file);

/* Select a governor; set a frequency with "userspace"; both fail the test if refused. */
void devfreq_choose(const char *governor);
void devfreq_set(unsigned long mhz);
/* Wait until a governor has chosen a frequency; fails the test when it does not. */
void devfreq_wait(unsigned long mhz);

#endif /* AGATE_TESTS_DEVFREQ_H */
