/* SPDX-License-Identifier: MIT */
/*
 * A topic of the test's own, which serves agate-gpu in the driver's place: the test
 * makes the calls of agate_pci.h, and sees what they do to the GPU's registers.
 *
 * What is asked for is in ../kmod/topic.h.  All of it needs a driver that is loaded,
 * and TOPIC_ENABLE to TOPIC_SEGMENT one that has the GPU.
 */
#ifndef AGATE_TESTS_LAB01_TOPIC_H
#define AGATE_TESTS_LAB01_TOPIC_H

#include <stdbool.h>
#include <stdint.h>

#include "../kmod/topic.h"

/* Carry out one request; its result, 0 or -errno.  Fails the test if the GPU is missing. */
int topic(enum topic_op op, unsigned int vector, uint32_t value);
/* TOPIC_READ and TOPIC_SEGMENT. */
uint32_t topic_read(uint32_t reg);
uint32_t topic_segment(void);
/* Carry out one request; the value that it gives. */
uint32_t topic_value(enum topic_op op, unsigned int vector, uint32_t value);
struct topic_seen topic_seen(void);
/* The error of the driver's last call for vectors since TOPIC_WATCH; @err if it had none. */
int vectors_error(int err);
/* Nothing is held, watched or made up any more. */
void topic_end(void);

/* serve() has been called so often, or the rule is broken: an event is not served. */
void check_serves(unsigned int count);
/* serve() was called by the thread of the vector with this name, and with its mask closed. */
void check_serve_context(const char *name);
/* serve() is let go while a task holds irq->lock: does the end of the thread wait for that? */
bool topic_end_waits(unsigned int vector);
/* Wait until serve() waits for TOPIC_LET_GO; the test could not look without that. */
void check_held(void);
/* TOPIC_EVENT comes.  serve(), which is held, goes on. */
void raise_event(void);
void let_serve_go(void);

/*
 * Nothing of the function is taken, as far as the kernel's structures say; faster than
 * check_left_clean().  The rule is set before.
 */
void check_nothing_taken(void);
void check_taken(uint32_t left);	/* enum topic_left */
/* Likewise of the memory that the driver has allocated since TOPIC_ACCOUNT. */
void check_nothing_kept(void);

/* MASK of the block of a vector; the rule is broken when it is something else. */
void check_mask(unsigned int vector, uint32_t expected);

/* A call that may have to wait, in a thread of its own; at most three at a time. */
struct waiting;
struct waiting *topic_start(enum topic_op op, unsigned int vector, uint32_t value);
struct waiting *unbind_start(void);
/*
 * Wait until the call has returned (true), or seems to wait (false): it sleeps, or has run for
 * some looks.
 */
bool topic_returned(struct waiting *waiting);
/* Wait until it has returned; false when it does not. */
bool topic_ends(struct waiting *waiting);
/* Whether it has returned by now. */
bool topic_ended(struct waiting *waiting);
/* Wait for its end. */
void topic_join(struct waiting *waiting);

/*
 * A call that has to wait, in a process of its own, which is then killed: true when that makes
 * the call return.  No other call is under way.
 */
int topic_fork(enum topic_op op, unsigned int vector);
bool topic_kill(int child);
void topic_reap(int child);

#endif /* AGATE_TESTS_LAB01_TOPIC_H */
