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
