/* SPDX-License-Identifier: MIT */
/* Lab 01's graded tests, by the name that lab.json has for them. */
#ifndef AGATE_TESTS_LAB01_H
#define AGATE_TESTS_LAB01_H

#include <stdint.h>

/* bringup.c */
void test_function(void **state);
void test_identity(void **state);
void test_quiet_leave(void **state);

/* vectors.c */
void test_vectors(void **state);
void test_spurious(void **state);
void test_early(void **state);
void test_served(void **state);

/* reset.c */
void test_reset_waits(void **state);
void test_reset_falls_back(void **state);
void test_reset(void **state);
void test_lost(void **state);
void test_reset_never_ends(void **state);

/* masks.c */
void test_masks(void **state);
/* in_reset.c and walk.c: parts of it; they leave all vectors to the test. */
void check_calls_in_reset(void);
void walk_masks(uint32_t seed);

/* at_work.c */
void test_at_work(void **state);
/* stops.c: a part of it; it leaves the GPU's vector without a serve(). */
void check_stops(void);

/* fault.c */
void test_gpu_fault(void **state);

/* unwind.c */
void test_unwind_function(void **state);
void test_unwind_bus(void **state);
void test_unwind_vectors(void **state);

/* gone.c */
void test_gone(void **state);

/* debug.c */
void test_allocations(void **state);
void test_contexts(void **state);
void test_in_flight(void **state);

#endif /* AGATE_TESTS_LAB01_H */
