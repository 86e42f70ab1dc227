/* SPDX-License-Identifier: MIT */
/* The tests of lab 08, by subject. */
#ifndef AGATE_TESTS_LAB_BO_H
#define AGATE_TESTS_LAB_BO_H

#include "library.h"

/* array.c */
void test_array(void **state);
void test_array_memory(void **state);
void test_array_threads(void **state);

/* create.c */
void test_sizes(void **state);
void test_arguments(void **state);
void test_kernel_flags(void **state);
void test_slots(void **state);
void test_labels(void **state);

/* life.c */
void test_mapped(void **state);
void test_fails(void **state);
void test_references(void **state);
void test_slot_again(void **state);
void test_closing(void **state);
void test_cached(void **state);
void test_threads(void **state);

/* share.c */
void test_export(void **state);
void test_import(void **state);
void test_bad_imports(void **state);

/* races.c */
void test_import_races(void **state);
void test_revived(void **state);
void test_nobody_waits(void **state);

/* waits.c */
void test_wait_asks(void **state);
void test_wait_busy(void **state);
void test_wait_submit(void **state);

/* trouble.c */
void test_allocations(void **state);
void test_storm(void **state);

#endif /* AGATE_TESTS_LAB_BO_H */
