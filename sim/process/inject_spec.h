/* SPDX-License-Identifier: MIT */
/*
 * Injections in words: KIND:N[:ARGUMENT], several with commas between.
 *
 *   drop-irq:N[:VECTOR]	the n-th message is not sent
 *   delay-irq:N:CYCLES[:VECTOR]	it is sent so many bus cycles later
 *   stick-as:N			the n-th AS command never completes
 *   fail-power:N		the n-th power-up ends with the cores off
 *   corrupt-header:N[:MASK]	the n-th job header written back is wrong: the bits
 *				of MASK in its status (all of the low 8), its fault
 *				pointer all ones
 *   refuse-clock:N		the n-th write of CLK_SELECT or VOLT_SELECT is not taken
 *   die:N			the process is killed at the n-th event of the log's
 *				level "events"
 *   none			takes back all that is pending
 *
 * N counts from 1, and from when the injection was set; each strikes once.  VECTOR
 * is gpu, job or mmu: only its messages count.
 */
#ifndef AGATE_PROCESS_INJECT_SPEC_H
#define AGATE_PROCESS_INJECT_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "agate_sim.h"

struct injections {
	struct agate_sim_injection list[AGATE_SIM_MAX_INJECTIONS];
	unsigned int count;
	bool none;		/* before the list is set */
	uint32_t die;		/* events from now, 0: not */
};

/* Returns NULL, or what is wrong with the text. */
const char *inject_parse(const char *text, struct injections *injections);

/* Returns false, and sets none, when there are too many together with those that are pending. */
bool inject_set(struct agate_sim *sim, const struct injections *injections);

#endif /* AGATE_PROCESS_INJECT_SPEC_H */
