// SPDX-License-Identifier: MIT
/*
 * A hostile guest's actions; see script.h.
 */
#include "script.h"

/* Possible places of headers: few, so that chains meet. */
#define PLACES		32u
#define PLACE_SIZE	128u

#define CHECK_EVERY	16u

static uint64_t take_place(struct guest *g)
{
	return GUEST_VA + take8(&g->in) % PLACES * PLACE_SIZE;
}

void script_step(struct guest *g)
{
	step(g, 1 + take8(&g->in));
}

uint32_t take_register(struct input *in)
{
	unsigned int kind = take8(in);
	uint32_t n = take8(in);

	switch (kind % 8) {
	case 0:
		return take32(in);
	case 1:
		return n << 4 | (kind >> 4 & 0xc);		/* GPU control */
	case 2:
		return JOB_INT_RAWSTAT + n % 8 * 4;
	case 3:
		return MMU_INT_RAWSTAT + n % 4 * 4;
	case 4:
	case 5:
		return JS_BASE + n % 0x60 * 4;
	case 6:
		return MMU_AS_BASE + n % 0x90 * 4;
	default:
		if (n & 0x80)
			return AGATE_SOC_BASE + n % 16 * 4;
		return (n & 0x40 ? AGATE_LISTED_BASE : AGATE_COUNTER_BASE) + n % 32 * 4;
	}
}

uint32_t take_value(struct input *in)
{
	unsigned int kind = take8(in);

	switch (kind % 8) {
	case 0:
		return take32(in);
	case 1:
		return 1u << (kind >> 3);
	case 2:
		return (uint32_t)take_va(in);
	case 3:
		return ~0u;
	default:
		return kind >> 3;			/* commands, masks, cores */
	}
}

void script_write(struct guest *g)
{
	uint32_t reg = take_register(&g->in);

	wr(g, reg, take_value(&g->in));
}

void script_read(struct guest *g)
{
	rd(g, take_register(&g->in));
}

void script_poke(struct guest *g)
{
	uint64_t pa = GUEST_RAM + take8(&g->in) % GUEST_PAGES * GUEST_PAGE;
	unsigned int offset = take16(&g->in) % GUEST_PAGE, len = take8(&g->in) % 32 + 1;
	uint8_t bytes[32];

	if (len > GUEST_PAGE - offset)
		len = GUEST_PAGE - offset;
	take_bytes(&g->in, bytes, len);
	memcpy(guest_ram(pa + offset, len), bytes, len);
}

/* ---- Jobs ---- */

static uint64_t header_at(struct guest *g, unsigned int type)
{
	uint64_t va = take_place(g);
	unsigned int flags = take8(&g->in);
	struct agate_job_header header = {
		.control = AGATE_JOB_TYPE(type) | (flags & 1 ? 0 : AGATE_JOB_64BIT) |
			   (flags & 2 ? AGATE_JOB_BARRIER : 0),
		/* The end, another place, or an invalid address. */
		.next = flags & 4 ? take_place(g) : flags & 8 ? take_va(&g->in) : 0,
	};

	if (flags & 0x10) {
		header.control |= AGATE_JOB_INDEX(take8(&g->in));
		header.dependency1 = take8(&g->in);
		header.dependency2 = take8(&g->in);
	}
	guest_put(va, &header, sizeof(header));
	return va + AGATE_JOB_HEADER_SIZE;
}

/* Any type, with the payload that happens to be there. */
void script_header(struct guest *g)
{
	header_at(g, take8(&g->in) % 12);
}

void script_compute(struct guest *g)
{
	uint64_t va = header_at(g, AGATE_JOB_COMPUTE);
	struct agate_compute_payload p = { .op = take8(&g->in) % 6 };

	p.dst = take_va(&g->in);
	p.size = take_size(&g->in);
	if (p.op == AGATE_COMPUTE_FILL)
		p.value = take8(&g->in) * 0x0101010101010101ull;
	else
		p.src = take_va(&g->in);
	if (p.op == AGATE_COMPUTE_COPY_2D) {
		p.rows = take8(&g->in);
		p.dst_stride = p.size + take8(&g->in);
		p.src_stride = p.size + take8(&g->in);
	}
	guest_put(va, &p, sizeof(p));
}

void script_write_value(struct guest *g)
{
	uint64_t va = header_at(g, AGATE_JOB_WRITE_VALUE);
	struct agate_write_value_payload p = { .type = take8(&g->in) % 9 };

	p.address = take_va(&g->in);
	p.immediate = take64(&g->in);
	guest_put(va, &p, sizeof(p));
}

void script_start(struct guest *g)
{
	unsigned int kind = take8(&g->in), slot = kind & 3;
	uint64_t head = kind & 0x80 ? take_va(&g->in) : take_place(g);

	if (kind & 0x40)
		wr64(g, JS_AFFINITY_NEXT_LO(slot), take8(&g->in));
	if (kind & 0x20)
		wr(g, JS_FLUSH_ID_NEXT(slot), take8(&g->in));
	/* Any flush and priority bits; mostly address space 0. */
	start_job(g, slot, head, kind & 0x10 ? take32(&g->in) : take8(&g->in) << 8);
}

/* Some ranges from the input, or as many as one byte says, with gaps or without. */
void script_list(struct guest *g)
{
	unsigned int kind = take8(&g->in), n = take8(&g->in), slot = kind & 3, i;

	wr(g, AGATE_LISTED_COMMAND(slot), kind & 4 ? take8(&g->in) : AGATE_LISTED_COMMAND_BEGIN);
	if (kind & 0x80)
		n %= 8;
	for (i = 0; i < n; i++) {
		uint64_t va = kind & 0x80 ? take_va(&g->in) :
			      GUEST_VA + (uint64_t)i * (1 + (kind >> 3 & 3)) * GUEST_PAGE;

		wr64(g, AGATE_LISTED_START_LO(slot), va);
		wr(g, AGATE_LISTED_PAGES(slot), kind & 0x80 ? (uint32_t)take_size(&g->in) : 1);
	}
}

void script_stop(struct guest *g)
{
	unsigned int kind = take8(&g->in);

	wr(g, JS_COMMAND(kind & 3), kind >> 2 & 7);
}

/* ---- Address spaces ---- */

/* Two of the address spaces share tables. */
static unsigned int take_as(struct guest *g)
{
	unsigned int kind = take8(&g->in);

	return kind < 0xc0 ? 0 : kind < 0xf0 ? 1 : kind % 8;
}

/* One of the guest's tables, one of its pages, a block, VRAM, or any number. */
static uint64_t take_entry(struct guest *g)
{
	unsigned int kind = take8(&g->in);
	uint64_t bits = take16(&g->in), page = GUEST_RAM + kind % GUEST_PAGES * GUEST_PAGE;

	switch (kind >> 6) {
	case 0:
		return (GUEST_RAM + kind % GUEST_TABLES * GUEST_PAGE) | LPAE_TYPE_TABLE |
		       (bits & 0xffc);
	case 1:
		return page | (bits & 0xfff);
	case 2:
		return bits & 0x1000 ? page | (bits & 0xfff) | (bits & 0xe000) << 39 :
		       (AGATE_PHYS_VRAM + kind % 8 * GUEST_PAGE) | (bits & 0xfff);
	default:
		return take64(&g->in);
	}
}

void script_entry(struct guest *g)
{
	unsigned int table = take8(&g->in) % GUEST_TABLES, index = take16(&g->in);

	/* Most walks use the first few entries. */
	index = index & 0x8000 ? index % AGATE_PT_ENTRIES : index % (GUEST_MAPPED + 8);
	guest_set_entry(table, index, take_entry(g));
}

void script_update(struct guest *g)
{
	static const uint8_t modes[] = { 0, 1, 2, 6, 6, 8, 0, 15 };
	unsigned int as = take_as(g), kind = take8(&g->in);
	uint64_t root = kind & 0x80 ? take64(&g->in) : GUEST_RAM + kind % GUEST_TABLES * GUEST_PAGE;

	wr64(g, AS_TRANSTAB_LO(as), root | (kind >> 3 & 7));
	if (kind & 0x40) {
		unsigned int cfg = take8(&g->in);

		wr64(g, AS_MEMATTR_LO(as), take64(&g->in));
		wr64(g, AS_TRANSCFG_LO(as), modes[cfg & 7] | (cfg >> 3 & 3) << 24 |
		     (uint64_t)take8(&g->in) % 32 << 6);
	}
	wr(g, AS_COMMAND(as), AS_COMMAND_UPDATE);
}

void script_as_command(struct guest *g)
{
	unsigned int as = take_as(g), kind = take8(&g->in);

	if (kind & 0x80)
		as_command(g, as, kind % 8);		/* and wait for it */
	else
		wr(g, AS_COMMAND(as), kind % 8);
}

void script_lock(struct guest *g)
{
	unsigned int as = take_as(g);

	wr64(g, AS_LOCKADDR_LO(as), (take_va(&g->in) & ~0x3full) | take8(&g->in) % 64);
	wr(g, AS_COMMAND(as), AS_COMMAND_LOCK);
}

void script_serve(struct guest *g)
{
	guest_serve(g);
}

void script_interrupts(struct guest *g)
{
	wr(g, GPU_INT_CLEAR, rd(g, GPU_INT_RAWSTAT));
	wr(g, JOB_INT_CLEAR, rd(g, JOB_INT_RAWSTAT));
	wr(g, MMU_INT_CLEAR, rd(g, MMU_INT_RAWSTAT));
}

void script_gpu_command(struct guest *g)
{
	wr(g, GPU_CMD, take8(&g->in) % 12);
}

/* As a driver asks for it, except for the address and the address space. */
void script_dump(struct guest *g)
{
	unsigned int kind = take8(&g->in);

	wr64(g, GPU_PERFCNT_BASE_LO, take_va(&g->in));
	wr(g, GPU_PRFCNT_JM_EN, kind & 8 ? take32(&g->in) : ~0u);
	wr(g, GPU_PRFCNT_SHADER_EN, ~0u);
	wr(g, GPU_PRFCNT_TILER_EN, kind & 8 ? 0 : ~0u);
	wr(g, GPU_PRFCNT_MMU_L2_EN, ~0u);
	wr(g, GPU_PERFCNT_CFG, GPU_PERFCNT_CFG_MODE_MANUAL | GPU_PERFCNT_CFG_AS(kind >> 4));
	wr(g, GPU_CMD, kind & 1 ? GPU_CMD_PERFCNT_CLEAR : GPU_CMD_PERFCNT_SAMPLE);
}

void script_revive(struct guest *g)
{
	guest_put_tables(g);
	as_update(g, 0);
}

void script_run(struct guest *g, const script_action *actions, size_t count)
{
	unsigned int n = 0;

	while (input_left(&g->in)) {
		actions[take8(&g->in) % count](g);
		if (++n % CHECK_EVERY == 0)
			guest_check_lines(g);
	}
	guest_finish(g);
}
