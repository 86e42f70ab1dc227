// SPDX-License-Identifier: MIT
/*
 * The scanout's registers, and reading a frame (hardware.md, section 6.7).
 *
 * A flip takes the registers at once and reads the frame at its end: memory that the driver
 * has given away meanwhile shows in the picture.
 */
#include "scan.h"

#include "model.h"

#define SCAN_PIXEL	4u		/* bytes */
#define SCAN_ALIGN	64u

static uint32_t frame_width(const struct scan_frame *frame)
{
	return frame->size & 0xffff;
}

static uint32_t frame_height(const struct scan_frame *frame)
{
	return frame->size >> 16;
}

static bool frame_ok(const struct scan_frame *frame)
{
	const uint32_t width = frame_width(frame), height = frame_height(frame);
	const uint32_t format = frame->format & ~SCAN_FORMAT_PHYS;

	return width && width <= AGATE_SCAN_MAX && height && height <= AGATE_SCAN_MAX &&
	       frame->stride % SCAN_ALIGN == 0 && frame->stride >= width * SCAN_PIXEL &&
	       frame->base % SCAN_ALIGN == 0 &&
	       frame->base <= UINT64_MAX - (uint64_t)frame->stride * height &&
	       (format == AGATE_FORMAT_R8G8B8A8 || format == AGATE_FORMAT_B8G8R8A8);
}

/* ---- Reading ------------------------------------------------------------------- */

static enum agate_mover_reason scan_read(struct agate_sim *sim, const struct scan_frame *frame,
					 uint64_t addr, void *buf, uint32_t len)
{
	if (!(frame->format & SCAN_FORMAT_PHYS))
		return ggtt_read(sim, addr, 0, buf, len);
	return phys_read(sim, addr, buf, len) ? AGATE_REASON_BUS : AGATE_REASON_NONE;
}

static enum agate_mover_reason scan_row(struct agate_sim *sim, const struct scan_frame *frame,
					uint32_t y, uint8_t *row)
{
	const uint64_t first = frame->base + (uint64_t)y * frame->stride;
	const uint32_t bytes = frame_width(frame) * SCAN_PIXEL;
	uint32_t at, len;

	for (at = 0; at < bytes; at += len) {
		uint32_t room = GPU_PAGE_SIZE - (first + at) % GPU_PAGE_SIZE;
		enum agate_mover_reason reason;

		len = bytes - at < room ? bytes - at : room;
		reason = scan_read(sim, frame, first + at, row + at, len);
		if (reason)
			return reason;
	}
	return AGATE_REASON_NONE;
}

/* To R G B A. */
static void scan_order(const struct scan_frame *frame, uint8_t *row)
{
	uint32_t x;

	if ((frame->format & ~SCAN_FORMAT_PHYS) == AGATE_FORMAT_R8G8B8A8)
		return;
	for (x = 0; x < frame_width(frame); x++, row += SCAN_PIXEL) {
		uint8_t blue = row[0];

		row[0] = row[2];
		row[2] = blue;
	}
}

static enum agate_mover_reason scan_rows(struct agate_sim *sim, const struct scan_frame *frame)
{
	uint8_t row[AGATE_SCAN_MAX * SCAN_PIXEL];
	uint32_t y;

	for (y = 0; y < frame_height(frame); y++) {
		enum agate_mover_reason reason = scan_row(sim, frame, y, row);

		if (reason)
			return reason;
		if (sim->ops.frame_row) {
			scan_order(frame, row);
			sim->ops.frame_row(sim->ctx, row);
		}
	}
	return AGATE_REASON_NONE;
}

static enum agate_mover_reason scan_show(struct agate_sim *sim, const struct scan_frame *frame)
{
	enum agate_mover_reason reason;

	if (sim->ops.frame_begin)
		sim->ops.frame_begin(sim->ctx, sim->scanout.frames + 1, frame_width(frame),
				     frame_height(frame));
	reason = scan_rows(sim, frame);
	if (sim->ops.frame_end)
		sim->ops.frame_end(sim->ctx, !reason);
	return reason;
}

/* ---- Flips ---------------------------------------------------------------------- */

static enum agate_mover_reason scan_flip_reason(struct agate_sim *sim)
{
	const struct scanout *scan = &sim->scanout;

	if (scan->failing)
		return AGATE_REASON_INJECTED;
	if (!frame_ok(&scan->flip)) {
		sim_hint(sim, 6, "SCAN_FLIP of a frame that makes no sense");
		return AGATE_REASON_COMMAND;
	}
	return scan_show(sim, &scan->flip);
}

static void scan_end_flip(struct agate_sim *sim)
{
	struct scanout *scan = &sim->scanout;
	enum agate_mover_reason reason = scan_flip_reason(sim);

	scan->due = 0;
	if (!reason) {
		scan->frames++;
		sim_count(sim, AGATE_CNT_FRAMES, 1);
	}
	sim_event(sim, AGATE_EV_FLIP_DONE, scan->frames, scan->flip.base, reason, NULL);
	card_raise(sim, reason ? CARD_INT_SCAN_FAULT : CARD_INT_FLIP_DONE);
}

static void scan_start_flip(struct agate_sim *sim)
{
	struct scanout *scan = &sim->scanout;
	uint32_t unused;

	if (scan->due) {
		sim_hint(sim, 6, "SCAN_FLIP while one is pending");
		return;
	}
	scan->flip = scan->next;
	scan->failing = inject_strikes(sim, AGATE_SIM_INJECT_FAIL_FLIP, 0, &unused);
	scan->due = sim_due(sim, AGATE_SIM_LATENCY_FLIP);
	scan->watched = false;
	sim_event(sim, AGATE_EV_FLIP, scan->flip.base, scan->flip.size, scan->flip.format, NULL);
}

static void scan_run_due(struct agate_sim *sim)
{
	const struct scanout *scan = &sim->scanout;

	if (scan->due && scan->due <= sim->time)
		scan_end_flip(sim);
}

static uint64_t scan_next_due(const struct agate_sim *sim, bool all)
{
	const struct scanout *scan = &sim->scanout;
	uint32_t awaited = CARD_INT_FLIP_DONE | CARD_INT_SCAN_FAULT;

	if (scan->due && (all || scan->watched || (sim->irq[AGATE_VECTOR_CARD].mask & awaited)))
		return scan->due;
	return TIME_NEVER;
}

void scanout_unstick(struct agate_sim *sim)
{
	struct scanout *scan = &sim->scanout;

	if (scan->due == TIME_NEVER)
		scan->due = sim_due(sim, AGATE_SIM_LATENCY_FLIP);
}

static void scan_lose(struct agate_sim *sim)
{
	const struct scanout *scan = &sim->scanout;

	if (scan->due)
		sim_event(sim, AGATE_EV_FLIP_DONE, scan->frames, scan->flip.base,
			  AGATE_REASON_BUS, "lost");
	sim->scanout = (struct scanout){ .frames = scan->frames };
}

/* ---- Registers -------------------------------------------------------------------- */

/* Where the value of a register is kept; NULL: it has none. */
static uint32_t *scan_register(struct scan_frame *frame, uint32_t offset)
{
	switch (offset) {
	case SCAN_SIZE:
		return &frame->size;
	case SCAN_STRIDE:
		return &frame->stride;
	case SCAN_FORMAT:
		return &frame->format;
	}
	return NULL;
}

static bool scan_read_register(struct agate_sim *sim, uint32_t offset, uint32_t *value)
{
	struct scanout *scan = &sim->scanout;
	const uint32_t *kept = scan_register(&scan->next, offset);

	if (kept) {
		*value = *kept;
		return true;
	}
	switch (offset) {
	case SCAN_BASE_LO:
	case SCAN_BASE_HI:
		*value = reg_half(scan->next.base, offset == SCAN_BASE_HI);
		return true;
	case SCAN_FLIP:
		*value = 0;
		return true;
	case SCAN_FRAMES:
		*value = scan->frames;
		return true;
	}
	return false;
}

static void scan_was_read(struct agate_sim *sim, uint32_t offset)
{
	if (offset == SCAN_FRAMES)
		sim->scanout.watched = true;
}

static bool scan_write_register(struct agate_sim *sim, uint32_t offset, uint32_t value)
{
	struct scanout *scan = &sim->scanout;
	uint32_t *kept = scan_register(&scan->next, offset);

	if (kept) {
		*kept = value;
		return true;
	}
	switch (offset) {
	case SCAN_BASE_LO:
	case SCAN_BASE_HI:
		reg_set_half(&scan->next.base, offset == SCAN_BASE_HI, value);
		return true;
	case SCAN_FLIP:
		scan_start_flip(sim);
		return true;
	}
	return false;
}

const struct block scanout_block = {
	.first = SCAN_BASE_LO,
	.last = SCAN_FRAMES,
	.read = scan_read_register,
	.was_read = scan_was_read,
	.write = scan_write_register,
	.section = 6,
	.beside_gpu = true,
	.run_due = scan_run_due,
	.next_due = scan_next_due,
	.lose = scan_lose,
};
