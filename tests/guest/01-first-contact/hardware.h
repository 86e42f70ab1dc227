/* SPDX-License-Identifier: MIT */
/*
 * The GPU without its driver: the doorbell and the access queue of its BARs,
 * mapped by the test (hardware.md, section 1).
 *
 * A queue has one producer, so registers are for a GPU that no driver has.
 */
#ifndef AGATE_TESTS_HARDWARE_H
#define AGATE_TESTS_HARDWARE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Send the message of a vector, as anything on the bus can: ivshmem lets a
 * function ring its own bell.  The function has to be enabled.
 */
void hardware_kick(unsigned int vector);
/* ... and see its handler run, or the rule is broken. */
void check_message(unsigned int vector);
/* The GPU goes, and the message comes at once. */
void check_last_message(unsigned int vector);
/*
 * The ALIVE word: without it a driver takes the GPU for gone, while it is still there
 * to be found again.  No driver has it when it comes back: it may have gone in the middle of
 * a reset, and ends that now.
 */
void hardware_alive(bool alive);

/*
 * End a reset that may be under way, while no driver has the GPU: the next driver's commands
 * would be lost, and be called its fault.
 */
void hardware_end_reset(void);

/* Enable the function, for registers, and disable it again. */
void hardware_open(void);
void hardware_close(void);
uint32_t hardware_read(uint32_t reg);
void hardware_write(uint32_t reg, uint32_t value);

#endif /* AGATE_TESTS_HARDWARE_H */
