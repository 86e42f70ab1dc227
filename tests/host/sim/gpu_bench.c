// SPDX-License-Identifier: MIT
/*
 * The test bench's plumbing; see gpu_bench.h.
 */
#include "gpu_bench.h"

#include <stdlib.h>
#include <string.h>

#include "agate_bar2.h"

#define MAX_SETTLE	1000000		/* units; a test that needs more hangs */
#define MAX_POLLS	1000

static uint8_t *ram_at(const struct bench *b, uint64_t pa, size_t len)
{
	/* The model's promises about every access. */
	assert_true(len > 0 && len <= 4096);
	assert_true(pa / 4096 == (pa + len - 1) / 4096);
	if (pa < RAM_BASE || pa + len > RAM_BASE + RAM_SIZE)
		return NULL;
	return b->ram + (pa - RAM_BASE);
}

static int host_read(void *ctx, uint64_t pa, void *buf, size_t len)
{
	const uint8_t *from = ram_at(ctx, pa, len);

	if (!from)
		return -1;
	memcpy(buf, from, len);
	return 0;
}

static int host_write(void *ctx, uint64_t pa, const void *buf, size_t len)
{
	uint8_t *to = ram_at(ctx, pa, len);

	if (!to)
		return -1;
	memcpy(to, buf, len);
	return 0;
}

static void *host_at(void *ctx, uint64_t pa, size_t len)
{
	const struct bench *b = ctx;

	return b->direct ? ram_at(b, pa, len) : NULL;
}

static void host_raise(void *ctx, unsigned int vector)
{
	struct bench *b = ctx;

	assert_true(vector < AGATE_NUM_VECTORS);
	b->messages[vector]++;
}

static void host_event(void *ctx, const struct agate_sim_event *event)
{
	struct bench *b = ctx;

	/* A long test keeps the newest half. */
	if (b->events == MAX_EVENTS) {
		memmove(b->event, b->event + MAX_EVENTS / 2, sizeof(b->event) / 2);
		b->events = MAX_EVENTS / 2;
	}
	b->event[b->events++] = *event;
}

static void host_frame_begin(void *ctx, uint32_t number, uint32_t width, uint32_t height)
{
	struct bench *b = ctx;

	free(b->frame);
	b->frame = malloc((size_t)width * height * 4);
	assert_non_null(b->frame);
	b->frame_number = number;
	b->frame_width = width;
	b->frame_height = height;
	b->frame_rows = 0;
}

static void host_frame_row(void *ctx, const uint8_t *rgba)
{
	struct bench *b = ctx;
	size_t bytes = (size_t)b->frame_width * 4;

	assert_true(b->frame_rows < b->frame_height);
	memcpy(b->frame + b->frame_rows++ * bytes, rgba, bytes);
}

static void host_frame_end(void *ctx, bool shown)
{
	struct bench *b = ctx;

	assert_true(!shown || b->frame_rows == b->frame_height);
	(*(shown ? &b->frames_shown : &b->frames_dropped))++;
}

static const struct agate_sim_host_ops host_ops = {
	.mem_read = host_read,
	.mem_write = host_write,
	.mem_at = host_at,
	.raise = host_raise,
	.event = host_event,
	.frame_begin = host_frame_begin,
	.frame_row = host_frame_row,
	.frame_end = host_frame_end,
};

struct bench *bench_new_with(const struct agate_sim_config *config)
{
	struct agate_sim_config with_vram = *config;
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->ram = calloc(1, RAM_SIZE);
	b->vram = calloc(1, VRAM_SIZE);
	assert_non_null(b->ram);
	assert_non_null(b->vram);
	with_vram.vram = b->vram;
	with_vram.vram_size = VRAM_SIZE;
	if (config->card && config->gpu == AGATE_SIM_MIDGARD) {
		b->gsm = calloc(1, AGATE_BAR2_GSM_SIZE);
		assert_non_null(b->gsm);
		with_vram.gsm = b->gsm;
		with_vram.gsm_size = AGATE_BAR2_GSM_SIZE;
	}
	b->sim = agate_sim_create(&with_vram, &host_ops, b);
	assert_non_null(b->sim);
	return b;
}

bool bench_can_be(const struct agate_sim_config *config)
{
	struct agate_sim *sim = agate_sim_create(config, &host_ops, NULL);

	agate_sim_destroy(sim);
	return sim;
}

struct bench *bench_new(void)
{
	struct agate_sim_config config = { .gpu = AGATE_SIM_MIDGARD, .seed = 1 };

	return bench_new_with(&config);
}

void bench_free(struct bench *b)
{
	agate_sim_destroy(b->sim);
	free(b->frame);
	free(b->gsm);
	free(b->vram);
	free(b->ram);
	free(b);
}

void wr64(struct bench *b, uint32_t reg_lo, uint64_t value)
{
	wr(b, reg_lo, (uint32_t)value);
	wr(b, reg_lo + 4, value >> 32);
}

uint64_t rd64(struct bench *b, uint32_t reg_lo)
{
	uint64_t lo = rd(b, reg_lo);

	return lo | (uint64_t)rd(b, reg_lo + 4) << 32;
}

void settle(struct bench *b)
{
	unsigned int n = 0;

	while (agate_sim_step(b->sim, 1))
		assert_true(++n < MAX_SETTLE);
}

void poll_reg(struct bench *b, uint32_t reg, uint32_t mask, uint32_t want)
{
	unsigned int n;

	for (n = 0; n < MAX_POLLS; n++) {
		if ((rd(b, reg) & mask) == want)
			return;
		agate_sim_step(b->sim, 1);
	}
	fail_msg("register 0x%x never showed 0x%x", reg, want);
}

void bench_reset(struct bench *b)
{
	wr(b, GPU_CMD, GPU_CMD_SOFT_RESET);
	poll_reg(b, GPU_INT_RAWSTAT, GPU_IRQ_RESET_COMPLETED, GPU_IRQ_RESET_COMPLETED);
	wr(b, GPU_INT_CLEAR, GPU_IRQ_RESET_COMPLETED);
}

void bench_power_on(struct bench *b)
{
	uint32_t shaders = rd(b, GPU_SHADER_PRESENT_LO);
	uint32_t offered = rd(b, GPU_COHERENCY_FEATURES);

	/* Select the best protocol; a reset selects NONE. */
	if (offered & GPU_COHERENCY_FEATURE_ACE)
		wr(b, GPU_COHERENCY_ENABLE, GPU_COHERENCY_ACE);
	else if (offered & GPU_COHERENCY_FEATURE_ACE_LITE)
		wr(b, GPU_COHERENCY_ENABLE, GPU_COHERENCY_ACE_LITE);
	wr(b, GPU_L2_PWRON_LO, 0x1);
	poll_reg(b, GPU_L2_READY_LO, 0x1, 0x1);
	wr(b, GPU_SHADER_PWRON_LO, shaders);
	poll_reg(b, GPU_SHADER_READY_LO, shaders, shaders);
	wr(b, GPU_TILER_PWRON_LO, 0x1);
	poll_reg(b, GPU_TILER_READY_LO, 0x1, 0x1);
}

void as_command(struct bench *b, unsigned int as, uint32_t command)
{
	wr(b, AS_COMMAND(as), command);
	poll_reg(b, AS_STATUS(as), AS_STATUS_AS_ACTIVE, 0);
}

void as_set_table(struct bench *b, unsigned int as, uint64_t root)
{
	wr64(b, AS_TRANSTAB_LO(as), root | 0x3);
	wr64(b, AS_MEMATTR_LO(as), 0x888d88);
	wr64(b, AS_TRANSCFG_LO(as), AS_TRANSCFG_MODE_LEGACY);
	as_command(b, as, AS_COMMAND_UPDATE);
}

void as_set_aarch64(struct bench *b, unsigned int as, uint64_t root, uint64_t transcfg)
{
	wr64(b, AS_TRANSTAB_LO(as), root);
	wr64(b, AS_MEMATTR_LO(as), 0xc04c8d888d8f88);
	wr64(b, AS_TRANSCFG_LO(as), transcfg);
	as_command(b, as, AS_COMMAND_UPDATE);
}

void as_flush(struct bench *b, unsigned int as, uint64_t lockaddr, uint32_t command)
{
	wr64(b, AS_LOCKADDR_LO(as), lockaddr);
	as_command(b, as, AS_COMMAND_LOCK);
	as_command(b, as, command);
}

static uint8_t *memory_at(const struct bench *b, uint64_t pa)
{
	if (pa >= AGATE_PHYS_VRAM) {
		assert_true(pa - AGATE_PHYS_VRAM <= VRAM_SIZE - 8);
		return b->vram + (pa - AGATE_PHYS_VRAM);
	}
	assert_true(pa >= RAM_BASE && pa - RAM_BASE <= RAM_SIZE - 8);
	return b->ram + (pa - RAM_BASE);
}

void put64(struct bench *b, uint64_t pa, uint64_t value)
{
	memcpy(memory_at(b, pa), &value, 8);
}

uint64_t get64(const struct bench *b, uint64_t pa)
{
	uint64_t value;

	memcpy(&value, memory_at(b, pa), 8);
	return value;
}

uint32_t get32(const struct bench *b, uint64_t pa)
{
	return (uint32_t)get64(b, pa);
}

void put_tables(struct bench *b)
{
	unsigned int n;

	put64(b, 0x40000000 + 8 * 1, 0x40001003);
	put64(b, 0x40001000 + 8 * 2, 0x40002003);
	put64(b, 0x40002000 + 8 * 3, 0x40003003);
	for (n = 0; n < MAPPED_PAGES; n++)
		put64(b, 0x40003000 + 8 * n, 0x400100c1 + 0x1000 * n);
}

struct bench *bench_ready_with(const struct agate_sim_config *config)
{
	struct bench *b = bench_new_with(config);

	bench_reset(b);
	bench_power_on(b);
	wr(b, GPU_INT_CLEAR, 0xffffffff);
	put_tables(b);
	as_set_table(b, 0, TABLE_L0);
	wr(b, JOB_INT_MASK, 0x70007);
	wr(b, MMU_INT_MASK, 0xff00ff);
	forget_events(b);
	return b;
}

struct bench *bench_ready(void)
{
	struct agate_sim_config config = { .gpu = AGATE_SIM_MIDGARD, .seed = 1 };

	return bench_ready_with(&config);
}

struct bench *bench_ready_aarch64(void)
{
	struct agate_sim_config config = { .gpu = AGATE_SIM_BIFROST, .seed = 1 };
	struct bench *b = bench_ready_with(&config);
	unsigned int n;

	for (n = 0; n < MAPPED_PAGES; n++)
		put64(b, 0x40003000 + 8 * n, 0x40010443 + 0x1000 * n);
	as_set_aarch64(b, 0, TABLE_L0, AS_TRANSCFG_MODE_AARCH64_4K);
	forget_events(b);
	return b;
}

void put_job(struct bench *b, uint32_t offset, unsigned int type, uint64_t next)
{
	struct agate_job_header header = {
		.control = AGATE_JOB_64BIT | AGATE_JOB_TYPE(type),
		.next = next,
	};

	memcpy(memory_at(b, PA + offset), &header, sizeof(header));
}

void put_write_value(struct bench *b, uint32_t offset, uint64_t next, unsigned int type,
		     uint64_t address, uint64_t immediate)
{
	struct agate_write_value_payload payload = {
		.address = address,
		.type = type,
		.immediate = immediate,
	};

	put_job(b, offset, AGATE_JOB_WRITE_VALUE, next);
	memcpy(memory_at(b, PA + offset + 32), &payload, sizeof(payload));
}

void start_job(struct bench *b, unsigned int slot, uint64_t head, uint32_t config)
{
	wr64(b, JS_HEAD_NEXT_LO(slot), head);
	wr64(b, JS_AFFINITY_NEXT_LO(slot), 0xf);
	wr(b, JS_CONFIG_NEXT(slot), config);
	wr(b, JS_COMMAND_NEXT(slot), JS_COMMAND_START);
}

uint32_t job_status(const struct bench *b, uint32_t offset)
{
	return get32(b, PA + offset);
}

unsigned int count_events(const struct bench *b, enum agate_sim_event_kind kind)
{
	unsigned int i, n = 0;

	for (i = 0; i < b->events; i++)
		n += b->event[i].kind == kind;
	return n;
}

const struct agate_sim_event *last_event(const struct bench *b, enum agate_sim_event_kind kind)
{
	unsigned int i;

	for (i = b->events; i > 0; i--)
		if (b->event[i - 1].kind == kind)
			return &b->event[i - 1];
	fail_msg("no event of kind %d", kind);
	return NULL;
}

bool hinted(const struct bench *b, const char *part)
{
	unsigned int i;

	for (i = 0; i < b->events; i++)
		if (b->event[i].kind == AGATE_EV_HINT && strstr(b->event[i].text, part))
			return true;
	return false;
}

void forget_events(struct bench *b)
{
	b->events = 0;
}

uint64_t counter(const struct bench *b, enum agate_counter which)
{
	return agate_sim_counter(b->sim, which);
}
