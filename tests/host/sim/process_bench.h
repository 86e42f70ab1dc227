/* SPDX-License-Identifier: MIT */
/*
 * The build's agate-sim, run as the launcher runs it, with the test as the guest:
 * register accesses through BAR2, a job in shared RAM, interrupts as event
 * descriptors, the event log and the control socket.
 */
#ifndef AGATE_TEST_PROCESS_BENCH_H
#define AGATE_TEST_PROCESS_BENCH_H

#include "gpu_bench.h"

#include <jansson.h>
#include <sys/types.h>

struct gpu {
	pid_t pid;
	uint8_t *bar2;
	uint8_t *ram;		/* RAM_SIZE bytes at RAM_BASE */
	int bar2_fd, ram_fd, doorbell, vector[4], control;
	uint32_t seq;
	char log[64];
};

/*
 * Start one, with more arguments (separated by spaces) or NULL; the test holds all
 * descriptors.
 */
struct gpu *gpu_start(const char *extra);
/* The same with a trace, whose path is written to @path, and more options, or "". */
struct gpu *gpu_start_traced(char path[64], const char *more);
/* Wait until the process ends by itself; returns its exit status. */
int gpu_wait(struct gpu *g);
/* Kill the process if it runs, and free everything. */
void gpu_free(struct gpu *g);

/* ---- The guest's side, as agate_bar2.h has it ---- */

void g_write(struct gpu *g, uint32_t offset, uint32_t value);
uint32_t g_read(struct gpu *g, uint32_t offset);
void g_poll(struct gpu *g, uint32_t offset, uint32_t want);
/* Wait for a message; returns how many had merged. */
uint64_t g_interrupt(struct gpu *g, unsigned int vector);
void g_put64(struct gpu *g, uint64_t pa, uint64_t value);
/* Reset, power, address space 0 over VA .. VA + 4 KiB = PA, JOB unmasked. */
void g_bring_up(struct gpu *g);
/* A WRITE_VALUE of 0x600d to VA + 0x800; next makes it cyclic. */
void g_start(struct gpu *g, uint64_t next);
/* Bring a new GPU to the state where a job has faulted, because its page is not mapped. */
void g_bring_up_to_fault(struct gpu *g);

/* ---- The launcher's side ---- */

json_t *g_control(struct gpu *g, const char *request);
bool g_control_ok(struct gpu *g, const char *request);
void g_quit(struct gpu *g);
/*
 * Check that every line of the log is an object with a time and an event; count
 * matching ones.
 */
unsigned int log_count(const struct gpu *g, const char *event, const char *key,
		       const char *value);

#endif /* AGATE_TEST_PROCESS_BENCH_H */
