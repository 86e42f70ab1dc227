/* SPDX-License-Identifier: MIT */
/* The sample's tests of gates; the driver is loaded. */
#ifndef AGATE_TESTS_SAMPLE_GATES_H
#define AGATE_TESTS_SAMPLE_GATES_H

void gate_entry_and_return(void **state);
void gate_two_threads(void **state);
void gate_every_call(void **state);
void gate_within(void **state);
void gate_given_up(void **state);
void gate_nobody_came(void **state);
void gate_cleared(void **state);
void gate_killed(void **state);
void gate_interrupts(void **state);
void blind(void **state);

#endif /* AGATE_TESTS_SAMPLE_GATES_H */
