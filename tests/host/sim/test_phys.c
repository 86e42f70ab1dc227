// SPDX-License-Identifier: MIT
/*
 * Physical memory by region: a region's owner answers its accesses, no access reaches
 * beyond its end, and a job pays its price.  One region is the test's own, beside RAM
 * and VRAM.
 */
#include "gpu_bench.h"

#include <string.h>

#include "model.h"

#define SLOT		1
#define REGION		0x9000000000ull
#define REGION_SIZE	0x1800u

static uint8_t memory[REGION_SIZE];
static unsigned int accesses;
static bool lost;		/* its supply is off: nobody answers */

static int region_read(struct agate_sim *sim, uint64_t at, void *buf, size_t len)
{
	(void)sim;
	accesses++;
	assert_true(at < REGION_SIZE && len <= REGION_SIZE - at);
	memcpy(buf, memory + at, len);
	return lost ? -1 : 0;
}

static int region_write(struct agate_sim *sim, uint64_t at, const void *buf, size_t len)
{
	(void)sim;
	accesses++;
	assert_true(at < REGION_SIZE && len <= REGION_SIZE - at);
	if (!lost)
		memcpy(memory + at, buf, len);
	return lost ? -1 : 0;
}

static const struct phys_region region = {
	.first = REGION,
	.last = REGION + REGION_SIZE - 1,
	.line_cycles = 5,
	.read = region_read,
	.write = region_write,
};

static struct bench *bench_with_region(const struct agate_sim_config *config)
{
	struct bench *b = bench_ready_with(config);

	phys_add(b->sim, &region);
	memset(memory, 0x11, sizeof(memory));
	accesses = 0;
	lost = false;
	/* Pages 9 and 10 are the region, whose second page is only half there; 11 is VRAM. */
	put64(b, TABLE_L3 + 8 * 9, REGION | 0xc1);
	put64(b, TABLE_L3 + 8 * 10, (REGION + 0x1000) | 0xc1);
	put64(b, TABLE_L3 + 8 * 11, AGATE_PHYS_VRAM | 0xc1);
	return b;
}

static struct bench *set_up(void)
{
	return bench_with_region(&(struct agate_sim_config){ .gpu = AGATE_SIM_MIDGARD });
}

static void run(struct bench *b, const struct agate_compute_payload *p)
{
	put_job(b, 0, AGATE_JOB_COMPUTE, 0);
	memcpy(b->ram + (PA - RAM_BASE) + 32, p, sizeof(*p));
	start_job(b, SLOT, VA, 0);
	settle(b);
	wr(b, JOB_INT_CLEAR, UINT32_MAX);
}

static uint32_t fill(struct bench *b, uint32_t offset, uint32_t size)
{
	run(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = VA + offset, .size = size,
		.value = 0x2222222222222222ull,
	});
	return rd(b, JS_STATUS(SLOT));
}

static void flush(struct bench *b)
{
	wr(b, GPU_CMD, GPU_CMD_CLEAN_INV_CACHES);
	poll_reg(b, GPU_INT_RAWSTAT, GPU_IRQ_CLEAN_CACHES_COMPLETED,
		 GPU_IRQ_CLEAN_CACHES_COMPLETED);
}

static void test_a_region_answers(void **state)
{
	struct bench *b = set_up();

	(void)state;
	assert_int_equal(fill(b, 0x9040, 64), AGATE_EXC_DONE);
	flush(b);
	assert_true(accesses);
	assert_int_equal(memory[0x3f], 0x11);
	assert_int_equal(memory[0x40], 0x22);
	assert_int_equal(memory[0x7f], 0x22);
	assert_int_equal(memory[0x80], 0x11);
	bench_free(b);
}

static void test_a_region_ends(void **state)
{
	struct bench *b = set_up();

	(void)state;
	assert_int_equal(fill(b, 0xa7c0, 64), AGATE_EXC_DONE);
	assert_int_equal(fill(b, 0xa800, 64), AGATE_EXC_JOB_BUS_FAULT);
	/* Half of these bytes exist, and the others do not. */
	assert_int_equal(phys_write(b->sim, REGION + REGION_SIZE - 4, &(uint64_t){ 0 }, 8), -1);
	assert_int_equal(phys_write(b->sim, REGION - 4, &(uint64_t){ 0 }, 8), -1);
	assert_int_equal(phys_write(b->sim, AGATE_PHYS_VRAM + VRAM_SIZE - 8, &(uint64_t){ 0 }, 8),
			 0);
	assert_int_equal(phys_write(b->sim, AGATE_PHYS_VRAM + VRAM_SIZE - 4, &(uint64_t){ 0 }, 8),
			 -1);
	assert_int_equal(phys_write(b->sim, AGATE_PHYS_VRAM - 4, &(uint64_t){ 0 }, 8), -1);
	assert_int_equal(phys_write(b->sim, UINT64_MAX - 3, &(uint64_t){ 0 }, 8), -1);
	bench_free(b);
}

static void test_a_region_may_be_lost(void **state)
{
	struct bench *b = set_up();

	(void)state;
	lost = true;
	assert_int_equal(fill(b, 0x9000, 64), AGATE_EXC_JOB_BUS_FAULT);
	lost = false;
	assert_int_equal(fill(b, 0x9000, 64), AGATE_EXC_DONE);
	bench_free(b);
}

static uint64_t busy(struct bench *b, const struct agate_compute_payload *p)
{
	uint64_t before = agate_sim_slot_busy(b->sim, SLOT);

	run(b, p);
	assert_int_equal(rd(b, JS_STATUS(SLOT)), AGATE_EXC_DONE);
	return agate_sim_slot_busy(b->sim, SLOT) - before;
}

static void test_a_job_pays_for_lines(void **state)
{
	const struct agate_sim_config config = { .gpu = AGATE_SIM_MIDGARD, .ram_line_cycles = 3 };
	struct bench *b = bench_with_region(&config);
	/* Header 8 and 4, and its lines of RAM; start 16, and the payload's lines. */
	const uint64_t job = 8 + 3 + 16 + 2 * 3 + 4 + 3;
	const uint64_t piece = 2 + 16;

	(void)state;
	assert_int_equal(busy(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = VA + 0xb000, .size = 256 }), job + piece);
	assert_int_equal(busy(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = VA + 0x1000, .size = 256 }), job + piece + 4 * 3);
	assert_int_equal(busy(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = VA + 0x1020, .size = 256 }), job + piece + 5 * 3);
	assert_int_equal(busy(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = VA + 0x9000, .size = 256 }), job + piece + 4 * 5);
	/* A copy pays at both ends. */
	assert_int_equal(busy(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_COPY, .dst = VA + 0x9000, .src = VA + 0x1000, .size = 256 }),
		job + 2 + 2 * 16 + 4 * 5 + 4 * 3);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_region_answers),
		cmocka_unit_test(test_a_region_ends),
		cmocka_unit_test(test_a_region_may_be_lost),
		cmocka_unit_test(test_a_job_pays_for_lines),
	};

	return cmocka_run_group_tests_name("sim-phys", tests, NULL, NULL);
}
