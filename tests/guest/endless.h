/* SPDX-License-Identifier: MIT */
/*
 * A chain that never ends, in an address space that is AGATE_VM_LONG_RUNNING.
 */
#ifndef AGATE_TESTS_ENDLESS_H
#define AGATE_TESTS_ENDLESS_H

#include "vm_client.h"

/* Where the parts of the chain are in the BO of the jobs, and where others may be. */
#define ENDLESS_COPY	0
#define ENDLESS_STAMP	0x100
#define ENDLESS_FLUSH	0x180
#define ENDLESS_SECOND	0x400

struct space endless_on(int fd);
/* The same, and AGATE_VM_FAULT_MODE. */
struct space endless_faulting_on(int fd);

/* The chain copied this last; it was here last at this time. */
uint64_t endless_copied(const struct space *space);
uint64_t endless_stamp(const struct space *space);

/* Write a chain that copies from an address, and goes on with the job at @next; 0 ends it. */
void endless_write(struct space *space, uint64_t from, uint64_t next);
/* SUBMIT, also behind a sync object (0: none): 0 or the errno. */
int endless_submit(struct space *space, uint64_t jc);
int endless_submit_behind(struct space *space, uint64_t jc, uint32_t in);
/* Start a chain that copies from an address for ever; fails the test if it does not work. */
void endless_start(struct space *space, uint64_t from);
/* The chain ends by itself, at its last job. */
void endless_break(struct space *space);
/* Wait until it has come by; fails the test after 20 s. */
void endless_goes_on(const struct space *space);
/* From now on it copies this value, or the test fails. */
void endless_copies(const struct space *space, uint64_t value);

/* Wait until its address space takes nothing more. */
void endless_wait_banned(struct space *space);

/* Bind the whole BO, and wait until the GPU knows. */
void endless_map(struct space *space, const struct bo *bo, uint64_t addr);
/* A new BO in VRAM that holds a value, bound at AREA. */
struct bo endless_memory(struct space *space, uint64_t size, uint64_t value);

#endif /* AGATE_TESTS_ENDLESS_H */
