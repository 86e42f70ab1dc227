// SPDX-License-Identifier: MIT
/*
 * Job chains: damaged headers of every kind, started, stopped and reset at any
 * moment, under tables that are mostly valid.
 */
#include "actions.h"
#include "script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const script_action actions[CHAIN_ACTIONS] = {
		[CHAIN_HEADER] = script_header,
		[CHAIN_COMPUTE] = script_compute,
		[CHAIN_WRITE_VALUE] = script_write_value,
		[CHAIN_START] = script_start,
		[CHAIN_STEP] = script_step,
		[CHAIN_STOP] = script_stop,
		[CHAIN_POKE] = script_poke,
		[CHAIN_WRITE] = script_write,
		[CHAIN_READ] = script_read,
		[CHAIN_SERVE] = script_serve,
		[CHAIN_INTERRUPTS] = script_interrupts,
		[CHAIN_GPU_COMMAND] = script_gpu_command,
		[CHAIN_ENTRY] = script_entry,
		[CHAIN_AS_COMMAND] = script_as_command,
		[CHAIN_REVIVE] = script_revive,
		[CHAIN_LIST] = script_list,
		[CHAIN_DUMP] = script_dump,
	};
	struct guest *g = guest_new(data, size, NULL);

	script_run(g, actions, CHAIN_ACTIONS);
	guest_end(g);
	return 0;
}
