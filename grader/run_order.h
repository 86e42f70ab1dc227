/* SPDX-License-Identifier: MIT */
/*
 * The order in which two guests take the tests of a lab: those that took long last time come
 * first, so that no guest has one left when the other is done.
 */
#ifndef AGATE_GRADER_RUN_ORDER_H
#define AGATE_GRADER_RUN_ORDER_H

#include "lab.h"

struct run_order {
	unsigned int took_ms[LAB_TESTS];	/* 0: nobody knows */
	size_t order[LAB_TESTS];
};

/* Reads @path, if it is there, and sets the order. */
void run_order_load(struct run_order *order, const struct lab *lab, const char *path);

/* Keeps the times for the next run, which does without them if that fails. */
void run_order_save(const struct run_order *order, const struct lab *lab, const char *path);

#endif /* AGATE_GRADER_RUN_ORDER_H */
