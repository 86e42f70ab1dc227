/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lab 06: does the device's list of imports change under prime.lock?  foreign.c asks.
 */
#ifndef AGATE_TESTS_IMPORTS_H
#define AGATE_TESTS_IMPORTS_H

#include <linux/types.h>

/* Watch the list of the GPU, which a driver has, or watch no list: 0 or a negative errno. */
int imports_watch(bool on);
/* How often the list was seen to have changed since, while prime.lock was free. */
u32 imports_unlocked(void);

#endif /* AGATE_TESTS_IMPORTS_H */
