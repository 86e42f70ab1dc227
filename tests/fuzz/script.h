/* SPDX-License-Identifier: MIT */
/*
 * The actions of a hostile guest, one after the other, as the input says.
 */
#ifndef AGATE_FUZZ_SCRIPT_H
#define AGATE_FUZZ_SCRIPT_H

#include "hostile_guest.h"

typedef void (*script_action)(struct guest *g);

void script_step(struct guest *g);		/* let the GPU work */
void script_write(struct guest *g);		/* a register */
void script_read(struct guest *g);
void script_poke(struct guest *g);		/* bytes, anywhere in RAM */
void script_header(struct guest *g);		/* a job header */
void script_compute(struct guest *g);		/* the same with a payload */
void script_write_value(struct guest *g);
void script_start(struct guest *g);		/* a chain */
void script_list(struct guest *g);		/* memory that the next chain may touch */
void script_stop(struct guest *g);
void script_entry(struct guest *g);		/* of a page table */
void script_update(struct guest *g);		/* TRANSTAB, MEMATTR, TRANSCFG, UPDATE */
void script_as_command(struct guest *g);
void script_lock(struct guest *g);
void script_serve(struct guest *g);		/* a page fault, like a driver */
void script_interrupts(struct guest *g);	/* read and cleared */
void script_dump(struct guest *g);		/* performance counters */
void script_gpu_command(struct guest *g);
void script_revive(struct guest *g);		/* restore valid tables */

/* A register that has an effect, or any offset; and the value to write there. */
uint32_t take_register(struct input *in);
uint32_t take_value(struct input *in);

/* Run actions until the input is used up; a byte selects the next one. */
void script_run(struct guest *g, const script_action *actions, size_t count);

#endif /* AGATE_FUZZ_SCRIPT_H */
