/* SPDX-License-Identifier: MIT */
/*
 * May the GPU reach memory?  Its configuration space says so, which its driver cannot hide.
 */
#ifndef AGATE_TESTS_BUS_MASTER_H
#define AGATE_TESTS_BUS_MASTER_H

#include <stdbool.h>

/* The file of the GPU's configuration space; the GPU has a driver, which may leave it later. */
int bus_master_open(void);
bool bus_master_is_on(int config);

#endif /* AGATE_TESTS_BUS_MASTER_H */
