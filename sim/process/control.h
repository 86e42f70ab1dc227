/* SPDX-License-Identifier: MIT */
/*
 * The control socket, out of the guest's reach: one JSON object a line in, one
 * out.
 *
 *   {"cmd": "ping"}
 *   {"cmd": "counters"}
 *   {"cmd": "mark", "text": "..."}		a line in the event log
 *   {"cmd": "latency", "power": n, "reset": n, "hard_reset": n, "as": n, "stop": n,
 *    "once": 1}		bus cycles; each is optional, 0: default, -1: never ends;
 *				once 1: for the next transition of the kind alone;
 *				none is set when one makes no sense
 *   {"cmd": "inject", "spec": "drop-irq:3,stick-as:1"}
 *				failures to come, see inject_spec.h; none is set when one makes
 *				no sense
 *   {"cmd": "identity", "gpu_id": n, "l2_features": n, "core_features": n,
 *    "tiler_features": n, "mem_features": n, "mmu_features": n, "thread_features": n,
 *    "thread_max_threads": n, "thread_max_workgroup_size": n, "thread_max_barrier_size": n}
 *				what those registers read; likewise optional, 32 bits each
 *   {"cmd": "fault", "status": n, "address": n}
 *				a GPU fault after each reset, once it is unmasked; 0: none
 *   {"cmd": "idle", "cycles": n}	lets so many bus cycles of model time pass, 32 bits;
 *				refused while the GPU has work to do
 *   {"cmd": "power-cut"}	takes the card's supply away, whatever CARD_POWER says
 *   {"cmd": "power-back"}	ends that
 *   {"cmd": "crc", "pa": n, "len": n}
 *   {"cmd": "crc", "ggtt": [first, count]}
 *				answers crc: the CRC-32 of physical memory, or of entries of the
 *				GGTT's table
 *   {"cmd": "restore"}		takes back latencies, identity, fault, injections and power-cut
 *   {"cmd": "quit"}
 *
 * Answers carry "ok": true, or "ok": false and "error".
 */
#ifndef AGATE_PROCESS_CONTROL_H
#define AGATE_PROCESS_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "agate_sim.h"
#include "log.h"
#include "trace.h"

#define CONTROL_LINE	4096

struct control {
	int fd;
	struct agate_sim *sim;
	struct log *log;
	struct trace *trace;
	uint32_t die;		/* events until the process is killed; 0: not */
	char line[CONTROL_LINE];
	size_t used;
};

/* Call it once, while the process can still open files. */
void control_prepare(void);

/*
 * Read the requests that the socket has and answer them.  Returns false when the process
 * has to end: it was told so, or the other end was closed.
 */
bool control_run(struct control *control);

#endif /* AGATE_PROCESS_CONTROL_H */
