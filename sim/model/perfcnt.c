// SPDX-License-Identifier: MIT
/*
 * Performance counters (hardware.md, section 2): the registers, and the dump.
 *
 * The counters of a dump are differences: the block keeps the totals at the last
 * time the counters were 0, so each event is counted in only one place.  The dump
 * is written like a job's access, and waits for the driver like one, but as a client
 * of the MMU beside the slots: no slot waits with it, and it tries again whenever its
 * address space has no latched fault.
 */
#include <string.h>

#include "model.h"

#define BEAT			16u	/* bytes; the bus is 128 bits wide */
#define HEADER_WORDS		4
#define MUCH_TRAFFIC		65536u	/* bytes, to be worth an event */

#define CONFIG_MODE(config)	((config) & 0xf)
#define CONFIG_AS(config)	((config) >> 4 & 0xf)

/* Positions of the counters in their block, in words; a slot has eight. */
enum {
	JM_IRQS = 4,
	JM_ACTIVE = 6,
	JM_SLOT = 8,
	JM_SLOT_STRIDE = 8,
	JM_SLOT_JOBS = 0,
	JM_SLOT_ACTIVE = 2,
	TILER_TRIANGLES = 4,
	TILER_ACTIVE = 5,
	L2_TLB_HITS = 4,
	L2_TLB_MISSES,
	L2_WALKS,
	L2_FAULTS,
	L2_READ_BEATS,
	L2_WRITE_BEATS,
	L2_COPIED_BEATS,
	SHADER_FRAGMENT_ACTIVE = 4,
	SHADER_COMPUTE_ACTIVE,
};

/* In FAULTSTATUS, the source after the slots. */
static const struct mmu_client perf_client = { .source = AGATE_MAX_SLOTS, .polls = true };

static int perf_init(struct agate_sim *sim, const struct agate_sim_config *config)
{
	(void)config;
	sim->perf.client = perf_client;
	mmu_attach(sim, &sim->perf.client);
	return 0;
}

static void perf_snapshot(const struct agate_sim *sim, struct perf_snapshot *now)
{
	now->work = sim->perf.work;
	memcpy(now->counter, sim->counter, sizeof(now->counter));
	now->cycles = clock_cycles(sim);
}

void perf_clear(struct agate_sim *sim)
{
	perf_snapshot(sim, &sim->perf.start);
}

static void perf_reset(struct agate_sim *sim)
{
	struct perf_work work = sim->perf.work;

	sim->perf = (struct perfcnt){ .work = work, .client = perf_client };
	perf_clear(sim);
}

/* ---- Counting -------------------------------------------------------------- */

/* The cores that the chain may use take turns, one unit of work each. */
static unsigned int perf_core(const struct agate_sim *sim, const struct slot *slot)
{
	uint64_t cores = slot->affinity & sim->power.domain[POWER_SHADER].present;
	unsigned int skip, core = 0;

	if (!cores)
		return 0;
	for (skip = sim->unit % __builtin_popcountll(cores); skip; skip--)
		cores &= cores - 1;
	core = __builtin_ctzll(cores);
	return core < PERF_MAX_CORES ? core : 0;
}

void perf_count_work(struct agate_sim *sim, const struct slot *slot, unsigned int cycles)
{
	struct perf_work *work = &sim->perf.work;

	work->slot_cycles[slot->index] += cycles;
	if (slot->chain.phase != CHAIN_RUN)
		return;
	switch (AGATE_JOB_TYPE_OF(slot->chain.header.control)) {
	case AGATE_JOB_TILER:
		work->tiler_cycles += cycles;
		break;
	case AGATE_JOB_FRAGMENT:
		work->fragment_cycles[perf_core(sim, slot)] += cycles;
		break;
	case AGATE_JOB_COMPUTE:
		work->compute_cycles[perf_core(sim, slot)] += cycles;
		break;
	}
}

void perf_count_job(struct agate_sim *sim, const struct slot *slot)
{
	sim->perf.work.slot_jobs[slot->index]++;
}

void perf_tell_traffic(struct agate_sim *sim, const struct slot *slot, bool over)
{
	const struct perf_work *work = &sim->perf.work;
	unsigned int n = slot->index;
	uint64_t bytes = work->read[n] + work->written[n];

	if (bytes - sim->perf.told[n] < (over ? 1 : MUCH_TRAFFIC))
		return;
	sim->perf.told[n] = bytes;
	sim_event(sim, AGATE_EV_TRAFFIC, n, work->read[n], work->written[n], NULL);
}

/* ---- The dump ---------------------------------------------------------------- */

/* A counter is 32 bits wide and saturates. */
static uint32_t perf_since(uint64_t now, uint64_t start)
{
	return now - start > UINT32_MAX ? UINT32_MAX : (uint32_t)(now - start);
}

static uint64_t perf_sum(const uint64_t by_slot[AGATE_MAX_SLOTS])
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < AGATE_MAX_SLOTS; i++)
		sum += by_slot[i];
	return sum;
}

static void fill_jm(uint32_t *block, const struct perf_snapshot *now,
		    const struct perf_snapshot *start)
{
	unsigned int i;

	block[JM_IRQS] = perf_since(now->counter[AGATE_CNT_IRQS], start->counter[AGATE_CNT_IRQS]);
	block[JM_ACTIVE] = perf_since(perf_sum(now->work.slot_cycles),
				      perf_sum(start->work.slot_cycles));
	for (i = 0; i < AGATE_MAX_SLOTS; i++) {
		uint32_t *slot = block + JM_SLOT + i * JM_SLOT_STRIDE;

		slot[JM_SLOT_JOBS] = perf_since(now->work.slot_jobs[i], start->work.slot_jobs[i]);
		slot[JM_SLOT_ACTIVE] = perf_since(now->work.slot_cycles[i],
						  start->work.slot_cycles[i]);
	}
}

static void fill_tiler(uint32_t *block, const struct perf_snapshot *now,
		       const struct perf_snapshot *start)
{
	block[TILER_TRIANGLES] = perf_since(now->counter[AGATE_CNT_TRIANGLES],
					    start->counter[AGATE_CNT_TRIANGLES]);
	block[TILER_ACTIVE] = perf_since(now->work.tiler_cycles, start->work.tiler_cycles);
}

static void fill_mmu_l2(uint32_t *block, const struct perf_snapshot *now,
			const struct perf_snapshot *start)
{
	static const struct {
		unsigned int word;
		enum agate_counter counter;
	} same[] = {
		{ L2_TLB_HITS, AGATE_CNT_TLB_HITS }, { L2_TLB_MISSES, AGATE_CNT_TLB_MISSES },
		{ L2_WALKS, AGATE_CNT_WALKS }, { L2_FAULTS, AGATE_CNT_FAULTS },
	};
	unsigned int i;

	for (i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		block[same[i].word] = perf_since(now->counter[same[i].counter],
						 start->counter[same[i].counter]);
	block[L2_READ_BEATS] = perf_since(perf_sum(now->work.read) / BEAT,
					  perf_sum(start->work.read) / BEAT);
	block[L2_WRITE_BEATS] = perf_since(perf_sum(now->work.written) / BEAT,
					   perf_sum(start->work.written) / BEAT);
	block[L2_COPIED_BEATS] = perf_since(now->counter[AGATE_CNT_BYTES_COPIED] / BEAT,
					    start->counter[AGATE_CNT_BYTES_COPIED] / BEAT);
}

static void fill_shader(uint32_t *block, unsigned int core, const struct perf_snapshot *now,
			const struct perf_snapshot *start)
{
	block[SHADER_FRAGMENT_ACTIVE] = perf_since(now->work.fragment_cycles[core],
						   start->work.fragment_cycles[core]);
	block[SHADER_COMPUTE_ACTIVE] = perf_since(now->work.compute_cycles[core],
						  start->work.compute_cycles[core]);
}

/* Write the header, and clear the counters that are not enabled: a bit stands for four words. */
static void finish_block(struct agate_sim *sim, unsigned int n)
{
	uint32_t enable = sim->perf.enable[n < PERF_SHADER ? n : PERF_SHADER];
	uint32_t *block = sim->perf.dump + n * PERF_BLOCK_WORDS;
	unsigned int i;

	for (i = HEADER_WORDS; i < PERF_BLOCK_WORDS; i++)
		if (!(enable & (1u << i / 4)))
			block[i] = 0;
	block[0] = (uint32_t)sim->time;
	block[1] = sim->time >> 32;
	block[2] = enable;
}

static unsigned int perf_blocks(const struct agate_sim *sim)
{
	return PERF_SHADER + __builtin_popcount(sim->power.domain[POWER_SHADER].present);
}

static void perf_fill(struct agate_sim *sim)
{
	const struct perf_snapshot *start = &sim->perf.start;
	uint32_t *dump = sim->perf.dump;
	struct perf_snapshot now;
	unsigned int n;

	memset(dump, 0, sizeof(sim->perf.dump));
	perf_snapshot(sim, &now);
	fill_jm(dump + PERF_JM * PERF_BLOCK_WORDS, &now, start);
	fill_tiler(dump + PERF_TILER * PERF_BLOCK_WORDS, &now, start);
	fill_mmu_l2(dump + PERF_MMU_L2 * PERF_BLOCK_WORDS, &now, start);
	for (n = PERF_SHADER; n < perf_blocks(sim); n++)
		fill_shader(dump + n * PERF_BLOCK_WORDS, n - PERF_SHADER, &now, start);
	for (n = 0; n < perf_blocks(sim); n++)
		finish_block(sim, n);
}

void perf_sample(struct agate_sim *sim)
{
	struct perfcnt *perf = &sim->perf;

	if (perf->active) {
		sim_hint(sim, 2, "PERFCNT_SAMPLE while another is in progress is ignored");
		return;
	}
	if (CONFIG_MODE(perf->config) != GPU_PERFCNT_CFG_MODE_MANUAL) {
		sim_hint(sim, 2, "PERFCNT_SAMPLE is ignored unless PERFCNT_CFG says MANUAL");
		return;
	}
	if (!power_l2_ready(&sim->power))
		sim_hint(sim, 2, "PERFCNT_SAMPLE while the L2 is off");
	perf_fill(sim);
	perf_clear(sim);
	perf->to = perf->base;
	perf->client.as = CONFIG_AS(perf->config);
	perf->active = true;
	perf->watched = false;
	perf->due = sim_due(sim, AGATE_SIM_LATENCY_AS);
}

/* Ignore a bus fault: the GPU has no way to report it. */
static void perf_put(struct agate_sim *sim, struct mmu_place place, size_t size)
{
	if (place.uncached)
		phys_write(sim, place.pa, sim->perf.dump, size);
	else
		l2_write(sim, place.pa, sim->perf.dump, size);
}

static enum mmu_result perf_translate(struct agate_sim *sim, struct mmu_place *place)
{
	struct mmu_client *client = &sim->perf.client;
	enum agate_exception exception;

	if (client->as >= MMU_NUM_AS)
		return MMU_KILL;
	return mmu_translate(sim, client, sim->perf.to, MMU_WRITE, place, &exception);
}

static void perf_dump(struct agate_sim *sim)
{
	const size_t size = perf_blocks(sim) * PERF_BLOCK_WORDS * sizeof(uint32_t);
	struct perfcnt *perf = &sim->perf;
	struct mmu_stall *stall = &perf->client.stall;
	unsigned int as = perf->client.as;
	struct mmu_place place;

	if (stall->faulted && sim->mmu.as[as].fault_latched)
		return;		/* the driver has not handled the fault yet */
	switch (perf_translate(sim, &place)) {
	case MMU_STALL:
		return;
	case MMU_OK:
		if (stall->faulted)
			sim_event(sim, AGATE_EV_FAULT_RESUMED, as, stall->va, 0, NULL);
		perf_put(sim, place, size);
		break;
	case MMU_KILL:
		sim_hint(sim, 2, "PERFCNT_CFG names an address space without a mapping");
		break;
	}
	*stall = (struct mmu_stall){ 0 };
	perf->active = false;
	irq_raise(sim, &sim->irq[AGATE_VECTOR_GPU], GPU_IRQ_PERFCNT_SAMPLE_COMPLETED);
}

static void perf_run_due(struct agate_sim *sim)
{
	if (sim->perf.active && sim->perf.due <= sim->time)
		perf_dump(sim);
}

static uint64_t perf_next_due(const struct agate_sim *sim, bool all)
{
	const struct perfcnt *perf = &sim->perf;
	uint32_t mask = sim->irq[AGATE_VECTOR_GPU].mask;

	if (!perf->active || perf->due <= sim->time)
		return TIME_NEVER;	/* else it waits for the driver */
	if (!all && !perf->watched && !(mask & GPU_IRQ_PERFCNT_SAMPLE_COMPLETED))
		return TIME_NEVER;
	return perf->due;
}

/* ---- Registers ----------------------------------------------------------------- */

static uint32_t *perf_enable(struct agate_sim *sim, uint32_t offset)
{
	switch (offset) {
	case GPU_PRFCNT_JM_EN:
		return &sim->perf.enable[PERF_JM];
	case GPU_PRFCNT_SHADER_EN:
		return &sim->perf.enable[PERF_SHADER];
	case GPU_PRFCNT_TILER_EN:
		return &sim->perf.enable[PERF_TILER];
	case GPU_PRFCNT_MMU_L2_EN:
		return &sim->perf.enable[PERF_MMU_L2];
	}
	return NULL;
}

static bool perf_read(struct agate_sim *sim, uint32_t offset, uint32_t *value)
{
	const uint32_t *enable = perf_enable(sim, offset);

	switch (offset) {
	case GPU_PERFCNT_BASE_LO:
	case GPU_PERFCNT_BASE_HI:
		*value = reg_half(sim->perf.base, offset == GPU_PERFCNT_BASE_HI);
		return true;
	case GPU_PERFCNT_CFG:
		*value = sim->perf.config;
		return true;
	}
	if (enable)
		*value = *enable;
	return enable;
}

static bool perf_write(struct agate_sim *sim, uint32_t offset, uint32_t value)
{
	uint32_t *enable = perf_enable(sim, offset);

	switch (offset) {
	case GPU_PERFCNT_BASE_LO:
	case GPU_PERFCNT_BASE_HI:
		reg_set_half(&sim->perf.base, offset == GPU_PERFCNT_BASE_HI, value);
		sim->perf.base &= ~(uint64_t)(PERF_ALIGN - 1);
		return true;
	case GPU_PERFCNT_CFG:
		sim->perf.config = value;
		return true;
	}
	if (enable)
		*enable = value;
	return enable;
}

const struct block perfcnt_block = {
	.init = perf_init,
	.reset = perf_reset,
	.first = GPU_PERFCNT_BASE_LO,
	.last = GPU_PRFCNT_MMU_L2_EN + 3,
	.read = perf_read,
	.write = perf_write,
	.section = 2,
	.run_due = perf_run_due,
	.next_due = perf_next_due,
};
