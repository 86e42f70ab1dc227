// SPDX-License-Identifier: MIT
/*
 * Page tables of both formats: entries of any kind, changed under running jobs,
 * with and without the flushes and locks that a change needs, with faults served or
 * not.
 */
#include "actions.h"
#include "script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * A job that touches any address from the input; the GPU fetches headers through
 * the tables, too.
 */
static void start_fill(struct guest *g)
{
	const uint64_t va = GUEST_VA + take8(&g->in) % 4 * GUEST_PAGE;
	struct agate_compute_payload p = { .op = AGATE_COMPUTE_FILL, .value = 0x5a5a5a5a };

	p.dst = take_va(&g->in);
	p.size = take_size(&g->in);
	if (p.dst < GUEST_VA || p.dst >= GUEST_VA_END)
		p.op = AGATE_COMPUTE_COPY;
	if (p.op == AGATE_COMPUTE_COPY) {
		p.value = 0;
		p.src = take_va(&g->in);
	}
	put_header(va, AGATE_JOB_COMPUTE, 0);
	guest_put(va + AGATE_JOB_HEADER_SIZE, &p, sizeof(p));
	start_job(g, 1 + take8(&g->in) % 2, va, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const script_action actions[TABLES_ACTIONS] = {
		[TABLES_ENTRY] = script_entry,
		[TABLES_FILL] = start_fill,
		[TABLES_STEP] = script_step,
		[TABLES_UPDATE] = script_update,
		[TABLES_AS_COMMAND] = script_as_command,
		[TABLES_LOCK] = script_lock,
		[TABLES_SERVE] = script_serve,
		[TABLES_STOP] = script_stop,
		[TABLES_INTERRUPTS] = script_interrupts,
		[TABLES_REVIVE] = script_revive,
		[TABLES_GPU_COMMAND] = script_gpu_command,
	};
	struct guest *g = guest_new(data, size, NULL);

	script_run(g, actions, TABLES_ACTIONS);
	guest_end(g);
	return 0;
}
