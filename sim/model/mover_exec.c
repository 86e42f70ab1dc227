// SPDX-License-Identifier: MIT
/*
 * The mover's commands (hardware.md, section 6.6).
 *
 * A command is done in pieces, each within one page of the source and one of the
 * destination, and a unit of work is as many of them as fit in 64 KiB.
 */
#include <string.h>

#include "model.h"
#include "mover.h"

#define KNOWN_FLAGS	(AGATE_MOVER_SRC(3u) | AGATE_MOVER_DST(3u) | AGATE_MOVER_IRQ)

static unsigned int src_mode(const struct agate_mover_cmd *cmd)
{
	return cmd->flags & 3;
}

static unsigned int dst_mode(const struct agate_mover_cmd *cmd)
{
	return cmd->flags >> 2 & 3;
}

/* ---- Does it make sense? ------------------------------------------------------ */

static bool wraps(uint64_t addr, uint64_t length)
{
	return addr > UINT64_MAX - length;
}

/* One end of a COPY or FILL. */
static bool end_ok(unsigned int mode, uint64_t addr, uint64_t length)
{
	if (mode != AGATE_MOVER_PAGES)
		return addr % MOVER_BEAT == 0 && !wraps(addr, length);
	return addr % sizeof(uint64_t) == 0 && length % GPU_PAGE_SIZE == 0 &&
	       !wraps(addr, AGATE_MOVER_MAX_LENGTH / GPU_PAGE_SIZE * sizeof(uint64_t));
}

static bool move_length_ok(uint64_t length)
{
	return length && length % MOVER_BEAT == 0 && length <= AGATE_MOVER_MAX_LENGTH;
}

/* As far as the addresses in the command tell. */
static bool overlaps(const struct agate_mover_cmd *cmd)
{
	return src_mode(cmd) == dst_mode(cmd) && cmd->src < cmd->dst + cmd->length &&
	       cmd->dst < cmd->src + cmd->length;
}

static bool copy_ok(const struct agate_mover_cmd *cmd)
{
	if (!move_length_ok(cmd->length) || !end_ok(src_mode(cmd), cmd->src, cmd->length) ||
	    !end_ok(dst_mode(cmd), cmd->dst, cmd->length))
		return false;
	return src_mode(cmd) == AGATE_MOVER_PAGES || !overlaps(cmd);
}

static bool fill_ok(const struct agate_mover_cmd *cmd)
{
	return move_length_ok(cmd->length) && end_ok(dst_mode(cmd), cmd->dst, cmd->length);
}

static bool store_ok(const struct agate_mover_cmd *cmd)
{
	return cmd->length && cmd->length % sizeof(uint64_t) == 0 &&
	       cmd->length <= AGATE_MOVER_MAX_STORE &&
	       (src_mode(cmd) == AGATE_MOVER_PHYS || src_mode(cmd) == AGATE_MOVER_GGTT) &&
	       dst_mode(cmd) == AGATE_MOVER_PHYS && cmd->src % sizeof(uint64_t) == 0 &&
	       cmd->dst % sizeof(uint64_t) == 0 && !wraps(cmd->src, cmd->length) &&
	       !wraps(cmd->dst, cmd->length);
}

bool mover_cmd_ok(const struct agate_mover_cmd *cmd)
{
	if ((cmd->flags & ~KNOWN_FLAGS) || cmd->pad[0] || cmd->pad[1])
		return false;
	if (src_mode(cmd) > AGATE_MOVER_PAGES || dst_mode(cmd) > AGATE_MOVER_PAGES)
		return false;
	if ((cmd->flags & AGATE_MOVER_IRQ) && cmd->op != AGATE_MOVER_FENCE)
		return false;
	switch (cmd->op) {
	case AGATE_MOVER_NOP:
	case AGATE_MOVER_FENCE:
		return true;
	case AGATE_MOVER_COPY:
		return copy_ok(cmd);
	case AGATE_MOVER_FILL:
		return fill_ok(cmd);
	case AGATE_MOVER_STORE:
		return store_ok(cmd);
	}
	return false;
}

/* ---- Where its bytes are -------------------------------------------------------- */

/* Bytes of a command in one page; pa may be GGTT_OUTSIDE. */
struct piece {
	uint64_t pa;
	uint64_t addr;		/* as the command gives it */
	uint32_t room;		/* to the page's end */
};

static enum agate_mover_reason find_in_list(struct agate_sim *sim, uint64_t list, uint64_t at,
					    struct piece *piece)
{
	uint64_t page;

	piece->addr = list + at / GPU_PAGE_SIZE * sizeof(page);
	if (phys_read_entry(sim, piece->addr, &page))
		return AGATE_REASON_BUS;
	piece->addr = page + at % GPU_PAGE_SIZE;
	piece->pa = piece->addr;
	return page % GPU_PAGE_SIZE ? AGATE_REASON_COMMAND : AGATE_REASON_NONE;
}

/* The next byte that the command reads, or writes. */
static enum agate_mover_reason find_piece(struct agate_sim *sim, const struct mover_task *task,
					  enum ggtt_access access, struct piece *piece)
{
	const struct agate_mover_cmd *cmd = &task->cmd;
	uint64_t addr = access == GGTT_WRITE ? cmd->dst : cmd->src, at = task->done;

	piece->addr = addr + at;
	piece->room = GPU_PAGE_SIZE - piece->addr % GPU_PAGE_SIZE;
	switch (access == GGTT_WRITE ? dst_mode(cmd) : src_mode(cmd)) {
	case AGATE_MOVER_GGTT:
		return ggtt_translate(sim, piece->addr, cmd->vf, access, &piece->pa);
	case AGATE_MOVER_PAGES:
		piece->room = GPU_PAGE_SIZE - at % GPU_PAGE_SIZE;
		return find_in_list(sim, addr, at, piece);
	default:
		piece->pa = piece->addr;
		return AGATE_REASON_NONE;
	}
}

static bool is_own_page(const struct mover *m, uint64_t pa)
{
	const uint64_t page = mover_page(pa);
	unsigned int i;

	if (page == m->context_page)
		return true;
	for (i = 0; i < MOVER_RING_PAGES; i++)
		if (page == m->ring_page[i])
			return true;
	return false;
}

static void judge_dst(struct agate_sim *sim, struct mover_task *task, uint64_t pa)
{
	if (task->warned || !is_own_page(&sim->mover, pa))
		return;
	task->warned = true;
	sim_hint(sim, 6, "a command writes the ring or the context that is being read");
}

/* ---- Pieces ---------------------------------------------------------------------- */

static struct mover_result failed(enum agate_mover_reason reason, uint64_t addr)
{
	return (struct mover_result){ .reason = reason, .addr = addr };
}

static uint32_t least(uint64_t a, uint32_t b)
{
	return a < b ? (uint32_t)a : b;
}

static int write_piece(struct agate_sim *sim, const struct piece *dst, const void *from,
		       uint32_t len)
{
	return dst->pa == GGTT_OUTSIDE ? 0 : phys_write(sim, dst->pa, from, len);
}

static struct mover_result copy_piece(struct agate_sim *sim, const struct piece *dst,
				      const struct piece *src, uint32_t len)
{
	uint8_t noise[GPU_PAGE_SIZE];

	if (src->pa == GGTT_OUTSIDE) {
		ggtt_noise(sim, noise, len);
		if (write_piece(sim, dst, noise, len))
			return failed(AGATE_REASON_BUS, dst->addr);
	} else if (dst->pa == GGTT_OUTSIDE) {
		if (phys_read(sim, src->pa, noise, len))
			return failed(AGATE_REASON_BUS, src->addr);
	} else {
		enum phys_copied copied = phys_copy(sim, dst->pa, src->pa, len);

		if (copied != PHYS_COPIED)
			return failed(AGATE_REASON_BUS,
				      copied == PHYS_NO_SRC ? src->addr : dst->addr);
	}
	return (struct mover_result){ .bytes = len };
}

/* Each store is one access of 64 bits, in order: a walker may be reading the table. */
static struct mover_result store_piece(struct agate_sim *sim, const struct piece *dst,
				       const struct piece *src, uint32_t len)
{
	uint32_t at;

	for (at = 0; at < len; at += sizeof(uint64_t)) {
		uint64_t value;

		if (src->pa == GGTT_OUTSIDE)
			ggtt_noise(sim, &value, sizeof(value));
		else if (phys_read_entry(sim, src->pa + at, &value))
			return failed(AGATE_REASON_BUS, src->addr + at);
		if (phys_write_entry(sim, dst->pa + at, value))
			return failed(AGATE_REASON_BUS, dst->addr + at);
	}
	return (struct mover_result){ .bytes = len };
}

static struct mover_result fill_piece(struct agate_sim *sim, const struct piece *dst,
				      uint64_t value, uint32_t len)
{
	if (dst->pa != GGTT_OUTSIDE && phys_fill(sim, dst->pa, value, len))
		return failed(AGATE_REASON_BUS, dst->addr);
	return (struct mover_result){ .bytes = len };
}

static struct mover_result mover_piece(struct agate_sim *sim, struct mover_task *task,
				       uint32_t most)
{
	const struct agate_mover_cmd *cmd = &task->cmd;
	enum agate_mover_reason reason;
	struct piece src, dst;
	uint32_t len;

	reason = find_piece(sim, task, GGTT_WRITE, &dst);
	if (reason)
		return failed(reason, dst.addr);
	judge_dst(sim, task, dst.pa);
	len = least(cmd->length - task->done, least(most, dst.room));
	if (cmd->op == AGATE_MOVER_FILL)
		return fill_piece(sim, &dst, cmd->value, len);

	reason = find_piece(sim, task, GGTT_READ, &src);
	if (reason)
		return failed(reason, src.addr);
	len = least(len, src.room);
	if (cmd->op == AGATE_MOVER_STORE)
		return store_piece(sim, &dst, &src, len);
	return copy_piece(sim, &dst, &src, len);
}

struct mover_result mover_move(struct agate_sim *sim, struct mover_task *task)
{
	struct mover_result all = { 0 };

	while (all.bytes < MOVER_UNIT_BYTES && task->done < task->cmd.length) {
		struct mover_result one = mover_piece(sim, task, MOVER_UNIT_BYTES - all.bytes);

		if (one.reason) {
			one.bytes = all.bytes;
			return one;
		}
		all.bytes += one.bytes;
		task->done += one.bytes;
	}
	return all;
}
