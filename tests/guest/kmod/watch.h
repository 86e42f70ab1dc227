/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Watches what the driver does to the GPU and to the bus, with probes of the functions
 * that it calls, and fakes the results of those functions.
 */
#ifndef AGATE_TESTS_WATCH_H
#define AGATE_TESTS_WATCH_H

#include <linux/types.h>

#include "topic.h"

/* The observations; serve() writes into it as well. */
extern struct topic_seen topic_seen;

int watch_writes(void);
int watch_forge(u32 seed);
int watch_lose_at(u32 reg);
int watch_gone(void);
int watch_few_vectors(void);
int watch_stick(u32 stick);
int watch_slow(u32 reads);
void watch_end(void);

/* topic.c: its file in debugfs, beside that of inject_file.c. */
int topic_init(void);
void topic_exit(void);

/* bos.c: likewise. */
int bos_init(void);
void bos_exit(void);

#endif /* AGATE_TESTS_WATCH_H */
