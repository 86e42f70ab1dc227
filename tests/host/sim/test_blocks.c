// SPDX-License-Identifier: MIT
/*
 * Room for one more block: a device of the test's own beside the GPU's blocks, with
 * registers at offsets that the GPU does not use, a transition and an engine.
 */
#include "gpu_bench.h"

#include "model.h"

#define BASE		0x5000u
#define REG_VALUE	(BASE + 0)
#define REG_DUE		(BASE + 4)	/* write n: a transition that ends n cycles from now */
#define REG_WORK	(BASE + 8)	/* write n: n units of work */
#define REG_ID		(BASE + 12)	/* read-only */
#define ID		0x00010000u

static struct device {
	uint32_t value;
	uint64_t due;
	unsigned int ended;
	unsigned int work;
	unsigned int resets;
	unsigned int finished;
	uint64_t unit[8];	/* the model's number of each unit of work */
	unsigned int units;
} device;

static int device_init(struct agate_sim *sim, const struct agate_sim_config *config)
{
	(void)sim;
	device = (struct device){ .value = config->seed };
	return 0;
}

static void device_fini(struct agate_sim *sim)
{
	(void)sim;
	device.finished++;
}

static void device_reset(struct agate_sim *sim)
{
	(void)sim;
	device.resets++;
}

static bool device_read(struct agate_sim *sim, uint32_t offset, uint32_t *value)
{
	(void)sim;
	switch (offset) {
	case REG_VALUE:
		*value = device.value;
		return true;
	case REG_ID:
		*value = ID;
		return true;
	}
	return false;
}

static bool device_write(struct agate_sim *sim, uint32_t offset, uint32_t value)
{
	switch (offset) {
	case REG_VALUE:
		device.value = value;
		return true;
	case REG_DUE:
		device.due = sim->time + value;
		return true;
	case REG_WORK:
		device.work = value;
		return true;
	}
	return false;
}

static void device_run_due(struct agate_sim *sim)
{
	if (!device.due || device.due > sim->time)
		return;
	device.due = 0;
	device.ended++;
}

static uint64_t device_next_due(const struct agate_sim *sim, bool all)
{
	(void)sim;
	(void)all;
	return device.due ? device.due : TIME_NEVER;
}

static bool device_runnable(const struct agate_sim *sim, unsigned int n)
{
	(void)sim;
	assert_int_equal(n, 0);
	return device.work;
}

static void device_run(struct agate_sim *sim, unsigned int n)
{
	assert_int_equal(n, 0);
	assert_true(device.units < sizeof(device.unit) / sizeof(device.unit[0]));
	device.work--;
	device.unit[device.units++] = sim->unit;
}

static const struct block device_block = {
	.init = device_init,
	.fini = device_fini,
	.reset = device_reset,
	.first = BASE,
	.last = BASE + 0xfff,
	.read = device_read,
	.write = device_write,
	.section = 6,
	.beside_gpu = true,
	.run_due = device_run_due,
	.next_due = device_next_due,
	.engines = 1,
	.runnable = device_runnable,
	.run = device_run,
};

static struct bench *bench_with_device(void)
{
	const struct agate_sim_config config = { .seed = 0x5eed };
	struct bench *b = bench_ready();

	assert_int_equal(block_add(b->sim, &device_block, &config), 0);
	forget_events(b);
	return b;
}

static void test_registers(void **state)
{
	struct bench *b = bench_with_device();

	(void)state;
	assert_int_equal(rd(b, REG_VALUE), 0x5eed);
	wr(b, REG_VALUE, 7);
	assert_int_equal(rd(b, REG_VALUE), 7);
	assert_int_equal(rd(b, REG_ID), ID);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);

	wr(b, REG_ID, 1);
	assert_true(hinted(b, "a write to a read-only register is ignored"));
	assert_int_equal(last_event(b, AGATE_EV_HINT)->a, 600);
	assert_int_equal(rd(b, BASE + 0x10), 0);
	assert_true(hinted(b, "a read of an unaligned or unknown register gives 0"));
	bench_free(b);
	assert_int_equal(device.finished, 1);
}

static void test_reset(void **state)
{
	struct bench *b = bench_with_device();

	(void)state;
	wr(b, GPU_CMD, GPU_CMD_SOFT_RESET);
	assert_int_equal(device.resets, 1);
	/* The GPU loses writes while the reset is in progress, a device beside it does not. */
	wr(b, REG_VALUE, 8);
	assert_int_equal(rd(b, REG_VALUE), 8);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	wr(b, JOB_INT_MASK, 1);
	assert_true(hinted(b, "a write before RESET_COMPLETED is lost"));
	bench_free(b);
}

static void test_a_transition_is_waited_for(void **state)
{
	struct bench *b = bench_with_device();
	uint64_t begun;

	(void)state;
	wr(b, REG_DUE, 1000);
	begun = agate_sim_time(b->sim);
	assert_int_equal(device.ended, 0);
	settle(b);
	assert_int_equal(device.ended, 1);
	assert_int_equal(agate_sim_time(b->sim), begun + 1000);
	bench_free(b);
}

static void test_an_engine_takes_turns_with_the_slots(void **state)
{
	struct bench *b = bench_with_device();
	unsigned int i;

	(void)state;
	wr(b, REG_WORK, 3);
	put_job(b, 0, AGATE_JOB_NULL, VA + 64);
	put_job(b, 64, AGATE_JOB_NULL, 0);
	start_job(b, 1, VA, 0);
	settle(b);
	assert_int_equal(job_status(b, 64), AGATE_EXC_DONE);
	assert_int_equal(device.units, 3);
	for (i = 1; i < 3; i++)
		assert_int_equal(device.unit[i], device.unit[i - 1] + 2);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_a_transition_is_waited_for),
		cmocka_unit_test(test_an_engine_takes_turns_with_the_slots),
	};

	return cmocka_run_group_tests_name("sim-blocks", tests, NULL, NULL);
}
