/* SPDX-License-Identifier: MIT */
/*
 * The whole system goes to sleep, and wakes up.
 */
#ifndef AGATE_TESTS_SYSTEM_SLEEP_H
#define AGATE_TESTS_SYSTEM_SLEEP_H

#include <stdbool.h>

/*
 * All devices suspend and resume, and nothing else happens: 0, or the errno with which one of
 * them refused.
 */
int sleep_devices(void);
/* The machine is in S3 until the launcher wakes it. */
int sleep_machine(void);

#endif /* AGATE_TESTS_SYSTEM_SLEEP_H */
