// SPDX-License-Identifier: MIT
/*
 * The card's events as tracks (trace.h).
 */
#include <inttypes.h>

#include "agate_card.h"
#include "names.h"
#include "trace.h"

static void trace_command(struct trace *trace, const struct agate_mover_cmd *cmd)
{
	if (cmd->op == AGATE_MOVER_FENCE)
		trace_begin(trace, TRACE_MOVER, "FENCE %u", cmd->seqno);
	else
		trace_begin(trace, TRACE_MOVER, "%s 0x%" PRIx64 ", %" PRIu64 " bytes",
			    name_mover_op(cmd->op), (uint64_t)cmd->dst, (uint64_t)cmd->length);
}

static bool in_vram(unsigned int mode, uint64_t addr)
{
	return mode == AGATE_MOVER_PHYS && addr >= AGATE_PHYS_VRAM;
}

/* What comes into VRAM and what leaves it; a command that failed is done again. */
static void trace_residency(struct trace *trace, const struct agate_sim_event *e)
{
	const struct agate_mover_cmd *cmd = e->mover;
	bool from = in_vram(cmd->flags & 3, cmd->src), to = in_vram(cmd->flags >> 2 & 3, cmd->dst);

	if (e->text || e->c || (cmd->op != AGATE_MOVER_COPY && cmd->op != AGATE_MOVER_FILL))
		return;
	if (cmd->op == AGATE_MOVER_FILL)
		trace->cleared += to ? cmd->length : 0;
	else if (to && !from)
		trace->moved_in += cmd->length;
	else if (from && !to)
		trace->moved_out += cmd->length;
	trace_counter(trace, "residency in VRAM (bytes)", "\"moved in\": %" PRIu64
		      ", \"moved out\": %" PRIu64 ", \"filled\": %" PRIu64, trace->moved_in,
		      trace->moved_out, trace->cleared);
}

void trace_card(struct trace *trace, const struct agate_sim_event *e)
{
	switch (e->kind) {
	case AGATE_EV_FW:
		trace_instant(trace, TRACE_MOVER, "firmware %s",
			      name_fw_state(FW_STATUS_STATE((uint32_t)e->a)));
		break;
	case AGATE_EV_MOVER_BEGIN:
		trace_command(trace, e->mover);
		break;
	case AGATE_EV_MOVER_END:
		trace_end_to(trace, TRACE_MOVER, 0);
		trace_residency(trace, e);
		break;
	case AGATE_EV_MOVER_FAULT:
		trace_instant(trace, TRACE_MOVER, "fault: %s, 0x%" PRIx64,
			      name_mover_reason((unsigned int)e->c), e->b);
		break;
	case AGATE_EV_FLIP:
		trace_begin(trace, TRACE_FLIPS, "flip 0x%" PRIx64 ", %ux%u", e->a,
			    (unsigned int)e->b & 0xffff, (unsigned int)e->b >> 16);
		break;
	default:	/* AGATE_EV_FLIP_DONE */
		trace_end_to(trace, TRACE_FLIPS, 0);
		if (e->c)
			trace_instant(trace, TRACE_FLIPS, "not shown: %s",
				      name_mover_reason((unsigned int)e->c));
	}
}
