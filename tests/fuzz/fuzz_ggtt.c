// SPDX-License-Identifier: MIT
/*
 * A card under a hostile guest: GGTT entries of any kind, in GSM or through the port, used
 * by an engine with and without INVALIDATE, while the supply goes and comes and jobs use
 * VRAM.
 *
 * Besides the invariants of every target: an engine fails for the reason that its entry
 * gives, and what it writes it reads again.
 */
#include "actions.h"
#include "model.h"
#include "script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define VRAM_TOTAL	(16 * GUEST_VRAM)	/* one group of 64 KiB, three times */

static uint64_t gsm[AGATE_GGTT_NUM_ENTRIES];

/* Mostly the first usable entries. */
static uint32_t take_index(struct input *in)
{
	unsigned int kind = take8(in);

	if (kind < 0xe0)
		return GGTT_RESERVED_BYTES / GGTT_PAGE + kind % 32;
	return kind < 0xf0 ? take16(in) : GGTT_END / GGTT_PAGE - 8 + kind % 16;
}

static unsigned int take_vf(struct input *in)
{
	unsigned int kind = take8(in);

	return kind < 0xc0 ? 0 : kind % 4;
}

static uint64_t take_pte(struct input *in)
{
	unsigned int kind = take8(in);
	uint64_t entry = AGATE_GGTT_PRESENT | AGATE_GGTT_VF(kind & 8 ? take_vf(in) : 0);

	switch (kind >> 6) {
	case 0:
		return entry | (GUEST_RAM + take8(in) % GUEST_PAGES * GUEST_PAGE);
	case 1:
		return entry | AGATE_GGTT_VRAM | (take8(in) % 72) * GUEST_PAGE;
	case 2:
		return kind & 1 ? 0 : entry | AGATE_GGTT_PAT(kind & 3) |
				      take8(in) % GUEST_PAGES * GUEST_PAGE;
	default:
		return take64(in);
	}
}

static void put_entry(struct guest *g, uint32_t n, uint64_t entry)
{
	if (!g->bifrost) {
		gsm[n % AGATE_GGTT_NUM_ENTRIES] = entry;
		return;
	}
	wr(g, GGTT_PTE_INDEX, n);
	wr(g, GGTT_PTE_LO, (uint32_t)entry);
	wr(g, GGTT_PTE_HI, entry >> 32);
}

static void write_entry(struct guest *g)
{
	uint32_t n = take_index(&g->in);

	put_entry(g, n, take_pte(&g->in));
}

/* A whole group, of which one entry may then be torn. */
static void write_group(struct guest *g)
{
	uint32_t n = take_index(&g->in) & ~(AGATE_GGTT_GROUP - 1), i;
	uint64_t first = take_pte(&g->in);

	for (i = 0; i < AGATE_GGTT_GROUP; i++)
		put_entry(g, n + i, first + i * GUEST_PAGE);
	if (take8(&g->in) & 1)
		write_entry(g);
}

/* What the entry alone says of its use. */
static enum agate_mover_reason reason_of(const struct guest *g, uint64_t entry, unsigned int vf)
{
	uint64_t reserved = ~(AGATE_GGTT_PRESENT | AGATE_GGTT_VRAM | AGATE_GGTT_ADDR |
			      AGATE_GGTT_VF(0x3ff) | (g->bifrost ? AGATE_GGTT_PAT(3) : 0));

	if (!(entry & AGATE_GGTT_PRESENT) || (entry & reserved))
		return AGATE_REASON_ENTRY;
	return AGATE_GGTT_VF_OF(entry) == vf ? AGATE_REASON_NONE : AGATE_REASON_VF;
}

static void check_translation(struct guest *g, uint64_t addr, unsigned int vf,
			      enum agate_mover_reason reason, uint64_t pa)
{
	const struct ggtt *ggtt = &g->sim->ggtt;
	uint32_t start = ggtt->usable_start ? ggtt->usable_start : GGTT_RESERVED_BYTES;
	uint64_t entry = ggtt->cached[addr / GGTT_PAGE % AGATE_GGTT_NUM_ENTRIES].entry;
	enum agate_mover_reason want = reason_of(g, entry, vf);

	if (addr < start || addr >= GGTT_END) {
		REQUIRE(reason == AGATE_REASON_NONE && pa == GGTT_OUTSIDE);
		return;
	}
	REQUIRE(reason == want || (want == AGATE_REASON_NONE &&
				   (reason == AGATE_REASON_GROUP || reason == AGATE_REASON_BUS)));
	if (reason == AGATE_REASON_NONE)
		REQUIRE(pa % GGTT_PAGE == addr % GGTT_PAGE &&
			(pa >= AGATE_PHYS_VRAM) == !!(entry & AGATE_GGTT_VRAM));
}

static void use(struct guest *g)
{
	unsigned int offset = take16(&g->in) % GGTT_PAGE, len = take8(&g->in) + 1;
	uint64_t addr = (uint64_t)take_index(&g->in) * GGTT_PAGE + offset, pa;
	unsigned int vf = take_vf(&g->in);
	enum agate_mover_reason reason, written, read;
	uint8_t bytes[256], back[256];

	if (!card_on(g->sim))
		return;		/* no engine runs then */
	if (len > GGTT_PAGE - offset)
		len = GGTT_PAGE - offset;
	take_bytes(&g->in, bytes, len);
	guest_enter();
	reason = ggtt_translate(g->sim, addr, vf, GGTT_READ, &pa);
	written = ggtt_write(g->sim, addr, vf, bytes, len);
	read = ggtt_read(g->sim, addr, vf, back, len);
	guest_leave(g);
	check_translation(g, addr, vf, reason, pa);
	REQUIRE(written == read);
	REQUIRE(written == reason ||
		(reason == AGATE_REASON_NONE && written == AGATE_REASON_BUS));
	if (read == AGATE_REASON_NONE && pa != GGTT_OUTSIDE)
		REQUIRE(!memcmp(bytes, back, len));
}

static void write_register(struct guest *g)
{
	uint32_t offset = CARD_BASE + take8(&g->in) % 72 * 4;

	wr(g, offset, take_value(&g->in));
	rd(g, offset);
}

static void invalidate(struct guest *g)
{
	wr(g, GGTT_INVALIDATE, 1);
}

static void sync(struct guest *g)
{
	rd(g, GGTT_SYNC);
	REQUIRE(!g->sim->ggtt.port.count || !card_on(g->sim));
}

/* As the firmware does. */
static void usable(struct guest *g)
{
	ggtt_set_usable(g->sim, take8(&g->in) % 0x81 * 0x10000);
}

static void power(struct guest *g)
{
	unsigned int kind = take8(&g->in);

	if (kind & 2) {
		guest_enter();
		agate_sim_power_cut(g->sim, kind & 1);
		guest_leave(g);
	} else {
		wr(g, AGATE_CARD_POWER, kind & 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const script_action actions[GGTT_ACTIONS] = {
		[GGTT_ACT_ENTRY] = write_entry,
		[GGTT_ACT_GROUP] = write_group,
		[GGTT_ACT_USE] = use,
		[GGTT_ACT_REGISTER] = write_register,
		[GGTT_ACT_INVALIDATE] = invalidate,
		[GGTT_ACT_SYNC] = sync,
		[GGTT_ACT_USABLE] = usable,
		[GGTT_ACT_POWER] = power,
		[GGTT_ACT_PT_ENTRY] = script_entry,
		[GGTT_ACT_COMPUTE] = script_compute,
		[GGTT_ACT_START] = script_start,
		[GGTT_ACT_STEP] = script_step,
		[GGTT_ACT_SERVE] = script_serve,
		[GGTT_ACT_REVIVE] = script_revive,
	};
	const struct agate_sim_config card = {
		.vram_total = VRAM_TOTAL, .gsm = gsm, .gsm_size = sizeof(gsm),
	};
	const struct guest_options options = { .card = &card };
	struct guest *g;

	memset(gsm, 0, sizeof(gsm));
	g = guest_new(data, size, &options);
	script_run(g, actions, GGTT_ACTIONS);
	guest_end(g);
	return 0;
}
