// SPDX-License-Identifier: MIT
/*
 * The hostile guest's plumbing; see hostile_guest.h.
 */
#include "hostile_guest.h"

#include <sanitizer/allocator_interface.h>
#include <stdio.h>
#include <stdlib.h>

#include "actions.h"
#include "agate_card.h"

/* Limit on all work that an input asks for: a chain may be cyclic. */
#define MAX_UNITS	2000u
/* A transition ends after far fewer polls. */
#define MAX_POLLS	1000u

static struct guest guest;
/* A call into the model is in progress in this thread; libFuzzer has other threads. */
static _Thread_local bool inside;

/* Totals of all inputs, reported at the end. */
static struct {
	unsigned long inputs;
	uint64_t counter[AGATE_CNT_COUNT];
} reached;

_Noreturn void guest_broken(const char *file, int line, const char *what)
{
	inside = false;
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
	abort();
}

/* ---- What the model asks of its host ---- */

static int host_read(void *ctx, uint64_t pa, void *buf, size_t len)
{
	const uint8_t *from = guest_ram(pa, len);

	(void)ctx;
	if (!from)
		return -1;
	memcpy(buf, from, len);
	return 0;
}

static int host_write(void *ctx, uint64_t pa, const void *buf, size_t len)
{
	uint8_t *to = guest_ram(pa, len);

	(void)ctx;
	if (!to)
		return -1;
	memcpy(to, buf, len);
	return 0;
}

static void *host_at(void *ctx, uint64_t pa, size_t len)
{
	const struct guest *g = ctx;

	return g->direct ? guest_ram(pa, len) : NULL;
}

static void host_raise(void *ctx, unsigned int vector)
{
	struct guest *g = ctx;

	REQUIRE(vector < AGATE_NUM_VECTORS);
	g->told[vector] = true;
}

static void host_event(void *ctx, const struct agate_sim_event *event)
{
	struct guest *g = ctx;

	REQUIRE(event->time >= g->time);
	/* The GPU sends a message only for a line that is up. */
	REQUIRE(event->kind != AGATE_EV_IRQ || event->b);
	REQUIRE(event->kind != AGATE_EV_WALK || event->walk->level < AGATE_PT_LEVELS);
	if (!g->event)
		return;
	inside = false;
	g->event(event);
	inside = true;
}

static void no_malloc(const volatile void *pointer, size_t size)
{
	(void)pointer;
	(void)size;
	REQUIRE(!inside);
}

static void no_free(const volatile void *pointer)
{
	(void)pointer;
	REQUIRE(!inside);
}

/* ---- Registers and work ---- */

void guest_enter(void)
{
	inside = true;
}

void guest_leave(struct guest *g)
{
	uint64_t time = agate_sim_time(g->sim);

	inside = false;
	REQUIRE(time >= g->time);
	g->time = time;
}

/* Each vector's block has RAWSTAT, CLEAR, MASK, STAT in this order. */
static const uint32_t block[AGATE_NUM_VECTORS] = {
	GPU_INT_RAWSTAT, JOB_INT_RAWSTAT, MMU_INT_RAWSTAT, CARD_INT_RAWSTAT,
};

enum { RAWSTAT = 0, CLEAR = 4, MASK = 8, STAT = 12 };

void wr(struct guest *g, uint32_t reg, uint32_t value)
{
	unsigned int v;

	/*
	 * After one of these writes the GPU sends another message for a line that
	 * is still up.
	 */
	for (v = 0; v < AGATE_NUM_VECTORS; v++)
		if (reg == block[v] + CLEAR || reg == block[v] + MASK)
			g->told[v] = false;
	guest_enter();
	agate_sim_write32(g->sim, reg, value);
	guest_leave(g);
}

uint32_t rd(struct guest *g, uint32_t reg)
{
	uint32_t value;

	guest_enter();
	value = agate_sim_read32(g->sim, reg);
	guest_leave(g);
	return value;
}

void wr64(struct guest *g, uint32_t reg_lo, uint64_t value)
{
	wr(g, reg_lo, (uint32_t)value);
	wr(g, reg_lo + 4, value >> 32);
}

bool step(struct guest *g, unsigned int units)
{
	bool more;

	if (units > g->units)
		units = g->units;
	g->units -= units;
	guest_enter();
	more = agate_sim_step(g->sim, units);
	guest_leave(g);
	return more && g->units;
}

static void poll_reg(struct guest *g, uint32_t reg, uint32_t mask, uint32_t want)
{
	unsigned int n;

	for (n = 0; (rd(g, reg) & mask) != want; n++) {
		REQUIRE(n < MAX_POLLS);
		guest_enter();
		agate_sim_step(g->sim, 1);
		guest_leave(g);
	}
}

/* Bits appear at any time, and disappear only when they are cleared. */
void guest_check_lines(struct guest *g)
{
	unsigned int v;

	for (v = 0; v < AGATE_NUM_VECTORS; v++) {
		uint32_t before = rd(g, block[v] + STAT);
		uint32_t both = rd(g, block[v] + RAWSTAT) & rd(g, block[v] + MASK);
		uint32_t after = rd(g, block[v] + STAT);

		REQUIRE(!(before & ~both));
		REQUIRE(!(both & ~after));
		REQUIRE(!after || g->told[v]);
		if (!after)
			g->told[v] = false;
	}
}

/* ---- What a driver does ---- */

void as_command(struct guest *g, unsigned int as, uint32_t command)
{
	wr(g, AS_COMMAND(as), command);
	poll_reg(g, AS_STATUS(as), AS_STATUS_AS_ACTIVE, 0);
}

void as_update(struct guest *g, unsigned int as)
{
	wr64(g, AS_TRANSTAB_LO(as), GUEST_RAM | (g->aarch64 ? 0 : AS_TRANSTAB_LPAE_ADRMODE_TABLE));
	wr64(g, AS_MEMATTR_LO(as), 0x888d88);
	wr64(g, AS_TRANSCFG_LO(as), g->aarch64 ? AS_TRANSCFG_MODE_AARCH64_4K :
	     AS_TRANSCFG_MODE_LEGACY);
	as_command(g, as, AS_COMMAND_UPDATE);
}

void start_job(struct guest *g, unsigned int slot, uint64_t head, uint32_t config)
{
	wr64(g, JS_HEAD_NEXT_LO(slot), head);
	wr64(g, JS_AFFINITY_NEXT_LO(slot), 0xf);
	wr(g, JS_CONFIG_NEXT(slot), config);
	wr(g, JS_COMMAND_NEXT(slot), JS_COMMAND_START);
}

bool guest_serve(struct guest *g)
{
	uint64_t va;

	if (!(rd(g, MMU_INT_RAWSTAT) & MMU_INT_PAGE_FAULT(0)))
		return false;
	va = rd(g, AS_FAULTADDRESS_LO(0)) | (uint64_t)rd(g, AS_FAULTADDRESS_HI(0)) << 32;
	if (va < GUEST_VA || va >= GUEST_VA_END)
		return false;
	guest_map(g, (unsigned int)((va - GUEST_VA) / GUEST_PAGE), GUEST_WRITE);
	wr(g, MMU_INT_CLEAR, MMU_INT_PAGE_FAULT(0));
	wr64(g, AS_LOCKADDR_LO(0), (va & ~0x7fffull) | (AS_LOCK_MIN_ORDER - 1));
	as_command(g, 0, AS_COMMAND_LOCK);
	as_command(g, 0, AS_COMMAND_FLUSH_PT);
	return true;
}

static void power_up(struct guest *g, uint32_t pwron, uint32_t ready, uint32_t cores)
{
	wr(g, pwron, cores);
	poll_reg(g, ready, cores, cores);
}

/* Bring a GPU up from reset until it can run a job in address space 0. */
static void bring_up(struct guest *g, uint32_t protocol)
{
	wr(g, GPU_CMD, GPU_CMD_SOFT_RESET);
	poll_reg(g, GPU_INT_RAWSTAT, GPU_IRQ_RESET_COMPLETED, GPU_IRQ_RESET_COMPLETED);
	wr(g, GPU_INT_CLEAR, ~0u);
	wr(g, AGATE_POWER_IN, 1);
	wr(g, GPU_COHERENCY_ENABLE, protocol);
	power_up(g, GPU_L2_PWRON_LO, GPU_L2_READY_LO, 1);
	power_up(g, GPU_SHADER_PWRON_LO, GPU_SHADER_READY_LO, rd(g, GPU_SHADER_PRESENT_LO));
	power_up(g, GPU_TILER_PWRON_LO, GPU_TILER_READY_LO, 1);
	wr(g, GPU_INT_MASK, ~0u);
	wr(g, JOB_INT_MASK, ~0u);
	wr(g, MMU_INT_MASK, ~0u);
	guest_put_tables(g);
	as_update(g, 0);
}

static void tell_reached(void)
{
	const uint64_t *c = reached.counter;

	fprintf(stderr, "reached: inputs=%lu walks=%llu faults=%llu jobs=%llu failed=%llu "
		"bytes=%llu triangles=%llu pixels=%llu hints=%llu stale_entries=%llu "
		"dropped_commits=%llu commands=%llu moved=%llu mover_faults=%llu frames=%llu\n",
		reached.inputs,
		(unsigned long long)c[AGATE_CNT_WALKS], (unsigned long long)c[AGATE_CNT_FAULTS],
		(unsigned long long)c[AGATE_CNT_JOBS], (unsigned long long)c[AGATE_CNT_JOBS_FAILED],
		(unsigned long long)c[AGATE_CNT_BYTES_COPIED],
		(unsigned long long)c[AGATE_CNT_TRIANGLES],
		(unsigned long long)c[AGATE_CNT_PIXELS], (unsigned long long)c[AGATE_CNT_HINTS],
		(unsigned long long)c[AGATE_CNT_GGTT_STALE],
		(unsigned long long)c[AGATE_CNT_GGTT_DROPPED],
		(unsigned long long)c[AGATE_CNT_MOVER_COMMANDS],
		(unsigned long long)c[AGATE_CNT_MOVER_BYTES],
		(unsigned long long)c[AGATE_CNT_MOVER_FAULTS],
		(unsigned long long)c[AGATE_CNT_FRAMES]);
}

static void first_time(void)
{
	REQUIRE(__sanitizer_install_malloc_and_free_hooks(no_malloc, no_free));
	REQUIRE(!atexit(tell_reached));
}

struct guest *guest_new(const uint8_t *data, size_t size, const struct guest_options *options)
{
	static const struct agate_sim_host_ops ops = {
		.mem_read = host_read,
		.mem_write = host_write,
		.mem_at = host_at,
		.raise = host_raise,
		.event = host_event,
	};
	static const uint32_t protocol[] = { GPU_COHERENCY_ACE, GPU_COHERENCY_ACE_LITE,
					     GPU_COHERENCY_NONE, GPU_COHERENCY_NONE };
	/* Use small caches, so that entries are replaced often. */
	struct agate_sim_config config = {
		.seed = 1, .tlb_entries = 16, .l2_size = 4096,
		.vram = guest.vram, .vram_size = sizeof(guest.vram),
	};
	struct guest *g = &guest;
	unsigned int kind;

	if (!reached.inputs++)
		first_time();
	*g = (struct guest){ .in = input_of(data, size), .units = MAX_UNITS };
	guest_clear_ram();
	kind = take8(&g->in);
	g->bifrost = kind & KIND_BIFROST;
	g->aarch64 = (kind & KIND_AARCH64) == KIND_AARCH64;
	g->direct = kind & KIND_DIRECT;
	if (options)
		g->event = options->event;
	if (options && options->card) {
		config.card = true;
		config.vram_total = options->card->vram_total;
		config.gsm = options->card->gsm;
		config.gsm_size = options->card->gsm_size;
		config.ggtt_64k = kind & KIND_GGTT_64K;
	} else if (options) {
		config.vram = options->vram;
		config.vram_size = options->vram_size;
	}
	config.gpu = g->bifrost ? AGATE_SIM_BIFROST : AGATE_SIM_MIDGARD;
	g->sim = agate_sim_create(&config, &ops, g);
	REQUIRE(g->sim);
	bring_up(g, protocol[kind / KIND_ACE_LITE % 4]);
	return g;
}

void guest_finish(struct guest *g)
{
	bool more;

	do
		more = step(g, 64);
	while ((more || guest_serve(g)) && g->units);
}

/* Whatever the guest has done, a reset restores a working GPU. */
static void guest_must_work(struct guest *g)
{
	const struct agate_write_value_payload payload = {
		.address = GUEST_LAST_JOB + 0x800,
		.type = AGATE_WRITE_IMMEDIATE_64,
		.immediate = 0x600d,
	};
	uint64_t written = 0;

	bring_up(g, GPU_COHERENCY_ACE);
	put_header(GUEST_LAST_JOB, AGATE_JOB_WRITE_VALUE, 0);
	guest_put(GUEST_LAST_JOB + AGATE_JOB_HEADER_SIZE, &payload, sizeof(payload));
	guest_put(payload.address, &written, sizeof(written));
	start_job(g, 0, GUEST_LAST_JOB, JS_CONFIG_AS(0));
	poll_reg(g, JOB_INT_RAWSTAT, JOB_INT_DONE(0), JOB_INT_DONE(0));
	REQUIRE(rd(g, JS_STATUS(0)) == AGATE_EXC_DONE);
	guest_get(payload.address, &written, sizeof(written));
	REQUIRE(written == payload.immediate);
	guest_check_lines(g);
}

void guest_end(struct guest *g)
{
	unsigned int i;

	guest_check_lines(g);
	for (i = 0; i < AGATE_CNT_COUNT; i++)
		reached.counter[i] += agate_sim_counter(g->sim, i);
	guest_must_work(g);
	agate_sim_destroy(g->sim);
}
