// SPDX-License-Identifier: MIT
/*
 * The mover and the scanout under a hostile guest: any command, any ring, a context that
 * changes under them, entries that go, resets, losses.
 *
 * Besides the invariants of every target: a fault has a reason and stops the ring; and where
 * a command's memory is what the table says, memory afterwards is what the specification
 * demands, byte by byte.
 */
#include "actions.h"
#include "card_memory.h"
#include "model.h"
#include "script.h"

#define RAM_BYTES	(GUEST_PAGES * GUEST_PAGE)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t before[RAM_BYTES], expected[RAM_BYTES];

/* ---- What the input says ---- */

/* Of data, mostly; @kind says how it is given. */
static uint64_t take_address(struct input *in, unsigned int mode)
{
	unsigned int kind = take8(in);
	uint64_t offset = (uint64_t)(kind % GUEST_MAPPED) * GUEST_PAGE + take8(in) * 64u;

	if (kind >= 0xf0)
		return take64(in);
	if (mode == AGATE_MOVER_PAGES)
		return GUEST_RAM + (CARD_PAGE_LIST + kind % 2) * GUEST_PAGE + kind / 64 * 8u;
	if (mode == AGATE_MOVER_GGTT)
		return kind < 0xe8 ? CARD_SHOWN + GUEST_DATA * GUEST_PAGE + offset :
				     CARD_SHOWN + (kind % 64) * GUEST_PAGE;
	return (kind < 0xc0 ? GUEST_RAM + GUEST_DATA * GUEST_PAGE : AGATE_PHYS_VRAM) + offset;
}

static uint64_t take_length(struct input *in, unsigned int op, bool lists)
{
	unsigned int kind = take8(in);

	if (kind >= 0xf8)
		return take64(in);
	if (op == AGATE_MOVER_STORE)
		return kind * 16u + 8;
	return lists ? (kind % 32 + 1) * GUEST_PAGE : (kind + 1) * 64u;
}

static struct agate_mover_cmd take_cmd(struct input *in)
{
	unsigned int kind = take8(in), modes = take8(in);
	struct agate_mover_cmd cmd = { .op = kind % 6 };
	unsigned int src = modes % 3, dst = modes / 4 % 3;

	if (kind >= 0xf0) {
		take_bytes(in, &cmd, sizeof(cmd));
		return cmd;
	}
	if (cmd.op == AGATE_MOVER_STORE && kind < 0xc0) {
		src %= 2;
		dst = AGATE_MOVER_PHYS;
	}
	cmd.flags = AGATE_MOVER_SRC(src) | AGATE_MOVER_DST(dst);
	if (cmd.op == AGATE_MOVER_FENCE)
		cmd.flags = modes & 0x80 ? AGATE_MOVER_IRQ : 0;
	cmd.seqno = take8(in);
	cmd.vf = modes >> 4 == 7 ? take8(in) % 4 : 0;
	cmd.src = take_address(in, src);
	cmd.dst = take_address(in, dst);
	cmd.length = take_length(in, cmd.op, src == AGATE_MOVER_PAGES || dst == AGATE_MOVER_PAGES);
	cmd.value = 0x0101010101010101ull * cmd.seqno + kind;
	return cmd;
}

/* Pages of data, of VRAM, or whatever the input says. */
static void take_list(struct guest *g)
{
	unsigned int n = take16(&g->in) % 1024, count = take8(&g->in), stride = take8(&g->in);
	unsigned int kind = take8(&g->in), i;

	for (i = 0; i < count; i++, n++) {
		uint64_t *list = card_page(CARD_PAGE_LIST + n / 512 % 2);

		list[n % 512] = (kind & 1 ? AGATE_PHYS_VRAM : GUEST_RAM + GUEST_DATA * GUEST_PAGE) +
				(kind + i * stride) % GUEST_MAPPED * GUEST_PAGE +
				(kind == 0xff ? 8 : 0);
	}
}

/* ---- What the specification says ---- */

/* RAM that a byte of the command is, as an offset; or -1: not RAM. */
static int64_t find(const struct guest *g, unsigned int mode, uint64_t base, uint64_t at)
{
	uint64_t pa = base + at, entry;

	if (mode == AGATE_MOVER_PAGES) {
		if (base < GUEST_RAM || base > GUEST_RAM + RAM_BYTES - 2 * GUEST_PAGE)
			return -1;
		memcpy(&entry, before + (base + at / GUEST_PAGE * 8 - GUEST_RAM), sizeof(entry));
		pa = entry + at % GUEST_PAGE;
	} else if (mode == AGATE_MOVER_GGTT) {
		if (pa < g->sim->ggtt.usable_start || pa >= GGTT_END)
			return -1;
		entry = g->sim->ggtt.table[pa / GUEST_PAGE];
		if (entry & AGATE_GGTT_VRAM)
			return -1;
		pa = (entry & AGATE_GGTT_ADDR) + pa % GUEST_PAGE;
	}
	if (pa < GUEST_RAM || pa >= GUEST_RAM + RAM_BYTES)
		return -1;
	return (int64_t)(pa - GUEST_RAM);
}

/* Does the command read what it writes, or write what the mover or a list needs? */
static bool is_simple(const struct guest *g, const struct agate_mover_cmd *cmd)
{
	bool read[GUEST_PAGES] = { false };
	uint64_t at;

	for (at = 0; at < cmd->length && cmd->op != AGATE_MOVER_FILL; at += 8) {
		int64_t src = find(g, cmd->flags & 3, cmd->src, at);

		if (src < 0)
			return false;
		read[src / GUEST_PAGE] = true;
	}
	for (at = 0; at < cmd->length; at += 8) {
		int64_t dst = find(g, cmd->flags >> 2 & 3, cmd->dst, at);

		if (dst >= 0 && (read[dst / GUEST_PAGE] || dst / GUEST_PAGE >= CARD_PAGE_BLOB))
			return false;
	}
	return true;
}

static void expect(const struct guest *g, const struct agate_mover_cmd *cmd)
{
	uint64_t at;

	for (at = 0; at < cmd->length; at += 8) {
		int64_t dst = find(g, cmd->flags >> 2 & 3, cmd->dst, at);

		if (dst < 0)
			continue;
		if (cmd->op == AGATE_MOVER_FILL)
			memcpy(expected + dst, &cmd->value, 8);
		else
			memcpy(expected + dst, before + find(g, cmd->flags & 3, cmd->src, at), 8);
	}
}

static void take_picture(uint8_t *to)
{
	unsigned int n;

	for (n = 0; n < GUEST_PAGES; n++)
		memcpy(to + n * GUEST_PAGE, guest_ram(GUEST_RAM + n * GUEST_PAGE, GUEST_PAGE),
		       GUEST_PAGE);
}

static void put_cmd(uint32_t at, const struct agate_mover_cmd *cmd)
{
	struct agate_mover_cmd *ring = card_page(CARD_PAGE_RING);

	ring[at % CARD_RING_COMMANDS] = *cmd;
}

static void check_state(struct guest *g)
{
	const struct mover *m = &g->sim->mover;
	uint32_t status = rd(g, MOVER_STATUS);

	REQUIRE(!!(status & MOVER_STATUS_FAULT) == !!MOVER_STATUS_REASON(status));
	REQUIRE(!(status & MOVER_STATUS_FAULT) || !(status & MOVER_STATUS_BUSY));
	REQUIRE(!!(status & MOVER_STATUS_BUSY) ==
		(m->running && !m->fault && m->head != m->tail));
}

/* One command, with no job beside it, after INVALIDATE. */
static void checked(struct guest *g)
{
	struct agate_mover_cmd cmd = take_cmd(&g->in);
	const struct agate_mover_context *c = card_page(CARD_PAGE_CONTEXT);
	uint32_t head = rd(g, RING_HEAD);

	if (slot_any_active(g->sim) || rd(g, MOVER_STATUS) || head != rd(g, RING_TAIL) ||
	    FW_STATUS_STATE(rd(g, FW_STATUS)) != FW_STATUS_RUNNING)
		return;
	card_show(g, CARD_PAGE_RING);
	card_show(g, CARD_PAGE_CONTEXT);
	wr(g, GGTT_INVALIDATE, 1);
	put_cmd(head, &cmd);
	take_picture(before);
	memcpy(expected, before, RAM_BYTES);
	wr(g, RING_TAIL, head + 1);
	while (rd(g, MOVER_STATUS) & MOVER_STATUS_BUSY && step(g, 4))
		;
	check_state(g);
	if (rd(g, MOVER_STATUS))
		return;
	REQUIRE(rd(g, RING_HEAD) == head + 1);
	if (cmd.op == AGATE_MOVER_FENCE)
		REQUIRE(rd(g, MOVER_SEQNO) == cmd.seqno);
	if (cmd.op == AGATE_MOVER_NOP || cmd.op == AGATE_MOVER_FENCE)
		cmd.length = 0;
	if (!is_simple(g, &cmd))
		return;
	expect(g, &cmd);
	memcpy(expected + CARD_PAGE_CONTEXT * GUEST_PAGE, c, sizeof(*c));
	take_picture(before);
	REQUIRE(!memcmp(before, expected, RAM_BYTES));
}

/* ---- Actions ---- */

static void queue(struct guest *g)
{
	struct agate_mover_cmd cmd = take_cmd(&g->in);
	uint32_t tail = rd(g, RING_TAIL);

	put_cmd(tail, &cmd);
	wr(g, RING_TAIL, tail + 1);
}

static void ring(struct guest *g)
{
	wr(g, RING_TAIL, rd(g, RING_HEAD) + take8(&g->in) - 8u);
}

static void reset(struct guest *g)
{
	wr(g, MOVER_CMD, MOVER_CMD_RESET);
	check_state(g);
}

/* As a driver goes on behind a command that fails. */
static void mend(struct guest *g)
{
	const struct agate_mover_cmd nop = { .op = AGATE_MOVER_NOP };

	put_cmd(rd(g, RING_HEAD), &nop);
	card_put_context(rd(g, RING_HEAD), rd(g, MOVER_SEQNO));
	wr(g, GGTT_INVALIDATE, 1);
	wr(g, RING_TAIL, rd(g, RING_HEAD));
	reset(g);
}

static void context(struct guest *g)
{
	uint8_t *at = card_page(CARD_PAGE_CONTEXT);

	at[take8(&g->in) % sizeof(struct agate_mover_context)] = take8(&g->in);
}

static void entry(struct guest *g)
{
	unsigned int kind = take8(&g->in), n = take8(&g->in) % CARD_SHOWN_PAGES;
	uint64_t pte = AGATE_GGTT_PRESENT;

	if (kind < 0x60)
		pte |= GUEST_RAM + (GUEST_DATA + kind % GUEST_MAPPED) * GUEST_PAGE;
	else if (kind < 0xc0)
		pte |= AGATE_GGTT_VRAM | kind % 72 * GUEST_PAGE;
	else
		pte = kind < 0xe0 ? 0 : take64(&g->in);
	card_put_entry(g, CARD_SHOWN / GUEST_PAGE + n, pte);
}

static void invalidate(struct guest *g)
{
	wr(g, GGTT_INVALIDATE, 1);
}

static void firmware(struct guest *g)
{
	unsigned int kind = take8(&g->in);

	wr(g, FW_CMD, FW_CMD_STOP);
	if (kind < 0x40)
		return;
	card_put_firmware(g, 64);
	wr(g, FW_CMD, FW_CMD_START);
	if (kind >= 0x80)
		while (rd(g, FW_STATUS) == FW_STATUS_CHECKING && step(g, 1))
			;
}

static void flip(struct guest *g)
{
	unsigned int kind = take8(&g->in);
	bool phys = kind & 1;

	wr64(g, SCAN_BASE_LO, take_address(&g->in, phys ? AGATE_MOVER_PHYS : AGATE_MOVER_GGTT));
	wr(g, SCAN_SIZE, kind < 0xe0 ? (uint32_t)(take8(&g->in) << 16 | take8(&g->in)) :
				       take32(&g->in));
	wr(g, SCAN_STRIDE, kind < 0xe0 ? take8(&g->in) * 64u : take32(&g->in));
	wr(g, SCAN_FORMAT, (kind >> 1 & 3) | (phys ? SCAN_FORMAT_PHYS : 0));
	wr(g, SCAN_FLIP, 1);
}

static void power(struct guest *g)
{
	wr(g, AGATE_CARD_POWER, take8(&g->in));
}

static void work(struct guest *g)
{
	step(g, take8(&g->in) % 16 + 1);
	check_state(g);
}

static void inject(struct guest *g)
{
	static const enum agate_sim_injection_kind kinds[] = {
		AGATE_SIM_INJECT_FAIL_MOVER, AGATE_SIM_INJECT_FAIL_FW, AGATE_SIM_INJECT_FAIL_FLIP,
	};
	struct agate_sim_injection injection = {
		.kind = kinds[take8(&g->in) % 3], .n = take8(&g->in) % 4 + 1,
		.arg = take8(&g->in) % (AGATE_REASON_INJECTED + 1),
	};

	agate_sim_inject(g->sim, &injection);
}

static void interrupts(struct guest *g)
{
	guest_check_lines(g);
	wr(g, CARD_INT_CLEAR, rd(g, CARD_INT_STAT));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const script_action actions[MOVER_ACTIONS] = {
		[MOVER_ACT_CHECKED] = checked,
		[MOVER_ACT_QUEUE] = queue,
		[MOVER_ACT_RING] = ring,
		[MOVER_ACT_RESET] = reset,
		[MOVER_ACT_MEND] = mend,
		[MOVER_ACT_CONTEXT] = context,
		[MOVER_ACT_ENTRY] = entry,
		[MOVER_ACT_INVALIDATE] = invalidate,
		[MOVER_ACT_FIRMWARE] = firmware,
		[MOVER_ACT_FLIP] = flip,
		[MOVER_ACT_POWER] = power,
		[MOVER_ACT_WORK] = work,
		[MOVER_ACT_INJECT] = inject,
		[MOVER_ACT_INTERRUPTS] = interrupts,
		[MOVER_ACT_LIST] = take_list,
		[MOVER_ACT_COMPUTE] = script_compute,
		[MOVER_ACT_START] = script_start,
		[MOVER_ACT_POKE] = script_poke,
		[MOVER_ACT_REVIVE] = script_revive,
	};
	struct guest *g = card_guest_new(data, size);

	card_put_firmware(g, 64);
	wr(g, FW_CMD, FW_CMD_START);
	while (rd(g, FW_STATUS) == FW_STATUS_CHECKING)
		step(g, 1);
	REQUIRE(FW_STATUS_STATE(rd(g, FW_STATUS)) == FW_STATUS_RUNNING);
	script_run(g, actions, MOVER_ACTIONS);
	guest_end(g);
	return 0;
}
