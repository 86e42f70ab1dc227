// SPDX-License-Identifier: MIT
/*
 * The model alone on flat memory (bench_model.h).
 */
#include "bench_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agate_bar2.h"

#define MAX_POLLS	10000u
#define ALL_CORES	0xfu

void model_die(const char *what)
{
	fprintf(stderr, "bench: %s\n", what);
	exit(1);
}

double model_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* ---- What the model asks of its host ------------------------------------ */

static void *memory_at(void *ctx, uint64_t pa, size_t len)
{
	const struct model *m = ctx;
	const uint64_t offset = pa - VA;

	return pa < VA || len > m->size || offset > m->size - len ? NULL : m->memory + offset;
}

static int memory_read(void *ctx, uint64_t pa, void *buf, size_t len)
{
	const void *from = memory_at(ctx, pa, len);

	if (!from)
		return -1;
	memcpy(buf, from, len);
	return 0;
}

static int memory_write(void *ctx, uint64_t pa, const void *buf, size_t len)
{
	void *to = memory_at(ctx, pa, len);

	if (!to)
		return -1;
	memcpy(to, buf, len);
	return 0;
}

static void message(void *ctx, unsigned int vector)
{
	struct model *m = ctx;

	m->messages += vector == AGATE_VECTOR_JOB;
}

/* ---- Bring-up ------------------------------------------------------------ */

void model_put(struct model *m, uint32_t offset, const void *from, size_t len)
{
	memcpy(m->memory + offset, from, len);
}

#define TABLE_PA(n)	(VA + (uint64_t)(n) * PAGE)

/* Multiplying by an odd number visits a power of two of pages in a scattered order. */
#define SCATTER		40503u

static void set_entry(struct model *m, unsigned int table, unsigned int index, uint64_t pte)
{
	model_put(m, table * PAGE + index * 8, &pte, sizeof(pte));
}

static unsigned int page_of(const struct model *m, enum model_as as, unsigned int page)
{
	const unsigned int first = DATA / PAGE;

	if (as == AS_LINEAR || page < first)
		return page;
	return first + (page - first) * SCATTER % ((unsigned int)(m->size / PAGE) - first);
}

/*
 * Tables from number first on: levels 0 to 2, then those of level 3.  VA is 1 GiB:
 * entry 0 of level 0, entry 1 of level 1, and level 2 from 0 on.  Returns the
 * number of the next table.
 */
static unsigned int build_tables(struct model *m, enum model_as as, unsigned int first)
{
	const unsigned int pages = m->size / PAGE, last = (pages - 1) / AGATE_PT_ENTRIES;

	if ((first + 3 + last + 1) * PAGE > TABLES_SIZE)
		model_die("the page tables have no room");
	set_entry(m, first, 0, TABLE_PA(first + 1) | LPAE_TYPE_TABLE);
	set_entry(m, first + 1, 1, TABLE_PA(first + 2) | LPAE_TYPE_TABLE);
	for (unsigned int i = 0; i <= last; i++)
		set_entry(m, first + 2, i, TABLE_PA(first + 3 + i) | LPAE_TYPE_TABLE);
	for (unsigned int page = 0; page < pages; page++)
		set_entry(m, first + 3 + page / AGATE_PT_ENTRIES, page % AGATE_PT_ENTRIES,
			  TABLE_PA(page_of(m, as, page)) |
			  LPAE_TYPE_LEAF | LPAE_RD | LPAE_WR);
	return first + 3 + last + 1;
}

void model_poll(struct model *m, uint32_t reg, uint32_t want)
{
	for (unsigned int i = 0; i < MAX_POLLS; i++) {
		if (agate_sim_read32(m->sim, reg) == want)
			return;
		agate_sim_step(m->sim, UNITS_A_STEP);
	}
	model_die("a register does not become what it should");
}

static void update(struct model *m, enum model_as as, uint64_t transtab)
{
	agate_sim_write32(m->sim, AS_TRANSTAB_LO(as), (uint32_t)transtab);
	agate_sim_write32(m->sim, AS_TRANSTAB_HI(as), (uint32_t)(transtab >> 32));
	agate_sim_write32(m->sim, AS_COMMAND(as), AS_COMMAND_UPDATE);
	model_poll(m, AS_STATUS(as), 0);
}

static void build_spaces(struct model *m)
{
	const uint64_t how = AS_TRANSTAB_LPAE_ADRMODE_TABLE | AS_TRANSTAB_LPAE_READ_INNER;
	const unsigned int second = build_tables(m, AS_LINEAR, 0);

	build_tables(m, AS_SCATTERED, second);
	update(m, AS_LINEAR, TABLE_PA(0) | how);
	update(m, AS_SCATTERED, TABLE_PA(second) | how);
	update(m, AS_IDENTITY, AS_TRANSTAB_LPAE_ADRMODE_IDENTITY);
}

static void create(struct model *m, size_t size, const struct agate_sim_config *config)
{
	static const struct agate_sim_host_ops ops = {
		.mem_read = memory_read,
		.mem_write = memory_write,
		.mem_at = memory_at,
		.raise = message,
	};

	m->size = size;
	m->memory = aligned_alloc(PAGE, size);
	m->sim = agate_sim_create(config, &ops, m);
	if (!m->memory || !m->sim)
		model_die("out of memory");
	memset(m->memory, 0, size);
}

void model_bring_up(struct model *m, size_t size)
{
	*m = (struct model){ 0 };
	create(m, size, &(struct agate_sim_config){ .gpu = AGATE_SIM_MIDGARD, .seed = 1 });
	agate_sim_write32(m->sim, GPU_COHERENCY_ENABLE, GPU_COHERENCY_ACE);
	agate_sim_write32(m->sim, GPU_L2_PWRON_LO, 1);
	model_poll(m, GPU_L2_READY_LO, 1);
	agate_sim_write32(m->sim, GPU_SHADER_PWRON_LO, ALL_CORES);
	model_poll(m, GPU_SHADER_READY_LO, ALL_CORES);
	agate_sim_write32(m->sim, GPU_TILER_PWRON_LO, 1);
	model_poll(m, GPU_TILER_READY_LO, 1);
	build_spaces(m);
	agate_sim_write32(m->sim, JOB_INT_MASK, JOB_INT_DONE(0) | JOB_INT_FAIL(0) |
			  JOB_INT_DONE(1) | JOB_INT_FAIL(1));
}

void model_bring_up_card(struct model *m, size_t size, size_t vram_size)
{
	*m = (struct model){
		.vram = aligned_alloc(PAGE, vram_size), .gsm = calloc(1, AGATE_BAR2_GSM_SIZE),
	};
	if (!m->vram || !m->gsm)
		model_die("out of memory");
	memset(m->vram, 0, vram_size);
	create(m, size, &(struct agate_sim_config){
		.gpu = AGATE_SIM_MIDGARD, .card = true, .seed = 1, .vram = m->vram,
		.vram_size = vram_size, .gsm = m->gsm, .gsm_size = AGATE_BAR2_GSM_SIZE,
	});
}

void model_free(struct model *m)
{
	agate_sim_destroy(m->sim);
	free(m->vram);
	free(m->gsm);
	free(m->memory);
}

/* ---- Jobs ------------------------------------------------------------------ */

void model_put_header(struct model *m, uint32_t offset, enum agate_job_type type,
		      uint64_t next)
{
	const struct agate_job_header header = {
		.control = AGATE_JOB_64BIT | AGATE_JOB_TYPE(type) | AGATE_JOB_INDEX(1),
		.next = next,
	};

	model_put(m, offset, &header, sizeof(header));
}

double model_run(struct model *m, unsigned int slot, enum model_as as, uint32_t job)
{
	const unsigned int messages = m->messages;
	const double start = model_now();
	double end;

	agate_sim_write32(m->sim, JS_HEAD_NEXT_LO(slot), (uint32_t)(VA + job));
	agate_sim_write32(m->sim, JS_HEAD_NEXT_HI(slot), (uint32_t)((VA + job) >> 32));
	agate_sim_write32(m->sim, JS_AFFINITY_NEXT_LO(slot), ALL_CORES);
	agate_sim_write32(m->sim, JS_CONFIG_NEXT(slot), JS_CONFIG_AS(as));
	agate_sim_write32(m->sim, JS_COMMAND_NEXT(slot), JS_COMMAND_START);
	while (agate_sim_step(m->sim, UNITS_A_STEP))
		continue;
	end = model_now();
	if (m->messages == messages || agate_sim_read32(m->sim, JS_STATUS(slot)) != AGATE_EXC_DONE)
		model_die("a job did not end well");
	if (agate_sim_read32(m->sim, JOB_INT_STAT) != JOB_INT_DONE(slot))
		model_die("another slot's interrupt");
	agate_sim_write32(m->sim, JOB_INT_CLEAR, JOB_INT_DONE(slot));
	return end - start;
}
