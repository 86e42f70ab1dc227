// SPDX-License-Identifier: MIT
/*
 * Offsets, bits and command values, written by hand from the public interface, not
 * from the project's header: a driver compiled without that header relies on them.
 */
#include "gpu_bench.h"

struct pin {
	uint32_t ours;
	uint32_t number;
};

#define CHECK(pins)	check(pins, sizeof(pins) / sizeof((pins)[0]))

static void check(const struct pin *pin, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		assert_int_equal(pin[i].ours, pin[i].number);
}

static void test_gpu_registers(void **state)
{
	static const struct pin pins[] = {
		{ GPU_ID, 0x00 }, { GPU_L2_FEATURES, 0x04 }, { GPU_CORE_FEATURES, 0x08 },
		{ GPU_TILER_FEATURES, 0x0c }, { GPU_MEM_FEATURES, 0x10 },
		{ GPU_MMU_FEATURES, 0x14 }, { GPU_AS_PRESENT, 0x18 }, { GPU_JS_PRESENT, 0x1c },
		{ GPU_INT_RAWSTAT, 0x20 }, { GPU_INT_CLEAR, 0x24 }, { GPU_INT_MASK, 0x28 },
		{ GPU_INT_STAT, 0x2c }, { GPU_CMD, 0x30 }, { GPU_STATUS, 0x34 },
		{ GPU_LATEST_FLUSH_ID, 0x38 }, { GPU_FAULT_STATUS, 0x3c },
		{ GPU_FAULT_ADDRESS_LO, 0x40 }, { GPU_FAULT_ADDRESS_HI, 0x44 },
		{ GPU_AFBC_FEATURES, 0x4c }, { GPU_PWR_KEY, 0x50 }, { GPU_PWR_OVERRIDE0, 0x54 },
		{ GPU_PWR_OVERRIDE1, 0x58 }, { GPU_PERFCNT_BASE_LO, 0x60 },
		{ GPU_PERFCNT_BASE_HI, 0x64 }, { GPU_PERFCNT_CFG, 0x68 },
		{ GPU_PRFCNT_JM_EN, 0x6c }, { GPU_PRFCNT_SHADER_EN, 0x70 },
		{ GPU_PRFCNT_TILER_EN, 0x74 }, { GPU_PRFCNT_MMU_L2_EN, 0x7c },
		{ GPU_CYCLE_COUNT_LO, 0x90 }, { GPU_CYCLE_COUNT_HI, 0x94 },
		{ GPU_TIMESTAMP_LO, 0x98 }, { GPU_TIMESTAMP_HI, 0x9c },
		{ GPU_THREAD_MAX_THREADS, 0xa0 }, { GPU_THREAD_MAX_WORKGROUP_SIZE, 0xa4 },
		{ GPU_THREAD_MAX_BARRIER_SIZE, 0xa8 }, { GPU_THREAD_FEATURES, 0xac },
		{ GPU_TEXTURE_FEATURES(0), 0xb0 }, { GPU_TEXTURE_FEATURES(3), 0xbc },
		{ GPU_JS_FEATURES(0), 0xc0 }, { GPU_JS_FEATURES(15), 0xfc },
		{ GPU_COHERENCY_FEATURES, 0x300 }, { GPU_COHERENCY_ENABLE, 0x304 },
		{ GPU_THREAD_TLS_ALLOC, 0x310 }, { GPU_JM_CONFIG, 0xf00 },
		{ GPU_SHADER_CONFIG, 0xf04 }, { GPU_TILER_CONFIG, 0xf08 },
		{ GPU_L2_MMU_CONFIG, 0xf0c },
	};

	(void)state;
	CHECK(pins);
}

static void test_power_registers(void **state)
{
	static const struct pin pins[] = {
		{ GPU_SHADER_PRESENT_LO, 0x100 }, { GPU_SHADER_PRESENT_HI, 0x104 },
		{ GPU_TILER_PRESENT_LO, 0x110 }, { GPU_TILER_PRESENT_HI, 0x114 },
		{ GPU_L2_PRESENT_LO, 0x120 }, { GPU_L2_PRESENT_HI, 0x124 },
		{ GPU_SHADER_READY_LO, 0x140 }, { GPU_SHADER_READY_HI, 0x144 },
		{ GPU_TILER_READY_LO, 0x150 }, { GPU_TILER_READY_HI, 0x154 },
		{ GPU_L2_READY_LO, 0x160 }, { GPU_L2_READY_HI, 0x164 },
		{ GPU_SHADER_PWRON_LO, 0x180 }, { GPU_SHADER_PWRON_HI, 0x184 },
		{ GPU_TILER_PWRON_LO, 0x190 }, { GPU_TILER_PWRON_HI, 0x194 },
		{ GPU_L2_PWRON_LO, 0x1a0 }, { GPU_L2_PWRON_HI, 0x1a4 },
		{ GPU_SHADER_PWROFF_LO, 0x1c0 }, { GPU_SHADER_PWROFF_HI, 0x1c4 },
		{ GPU_TILER_PWROFF_LO, 0x1d0 }, { GPU_TILER_PWROFF_HI, 0x1d4 },
		{ GPU_L2_PWROFF_LO, 0x1e0 }, { GPU_L2_PWROFF_HI, 0x1e4 },
		{ GPU_SHADER_PWRTRANS_LO, 0x200 }, { GPU_SHADER_PWRTRANS_HI, 0x204 },
		{ GPU_TILER_PWRTRANS_LO, 0x210 }, { GPU_TILER_PWRTRANS_HI, 0x214 },
		{ GPU_L2_PWRTRANS_LO, 0x220 }, { GPU_L2_PWRTRANS_HI, 0x224 },
		{ GPU_SHADER_PWRACTIVE_LO, 0x240 }, { GPU_SHADER_PWRACTIVE_HI, 0x244 },
		{ GPU_TILER_PWRACTIVE_LO, 0x250 }, { GPU_TILER_PWRACTIVE_HI, 0x254 },
		{ GPU_L2_PWRACTIVE_LO, 0x260 }, { GPU_L2_PWRACTIVE_HI, 0x264 },
		{ GPU_STACK_PRESENT_LO, 0xe00 }, { GPU_STACK_PRESENT_HI, 0xe04 },
		{ GPU_STACK_READY_LO, 0xe10 }, { GPU_STACK_READY_HI, 0xe14 },
	};

	(void)state;
	CHECK(pins);
}

static void test_gpu_bits_and_commands(void **state)
{
	static const struct pin pins[] = {
		{ GPU_IRQ_FAULT, 0x1 }, { GPU_IRQ_MULTIPLE_FAULT, 0x80 },
		{ GPU_IRQ_RESET_COMPLETED, 0x100 }, { GPU_IRQ_POWER_CHANGED_SINGLE, 0x200 },
		{ GPU_IRQ_POWER_CHANGED_ALL, 0x400 },
		{ GPU_IRQ_PERFCNT_SAMPLE_COMPLETED, 0x10000 },
		{ GPU_IRQ_CLEAN_CACHES_COMPLETED, 0x20000 },
		{ GPU_CMD_SOFT_RESET, 1 }, { GPU_CMD_HARD_RESET, 2 },
		{ GPU_CMD_PERFCNT_CLEAR, 3 }, { GPU_CMD_PERFCNT_SAMPLE, 4 },
		{ GPU_CMD_CYCLE_COUNT_START, 5 }, { GPU_CMD_CYCLE_COUNT_STOP, 6 },
		{ GPU_CMD_CLEAN_CACHES, 7 }, { GPU_CMD_CLEAN_INV_CACHES, 8 },
		{ GPU_STATUS_PRFCNT_ACTIVE, 0x4 }, { GPU_PWR_KEY_UNLOCK, 0x2968a819 },
		{ GPU_PERFCNT_CFG_MODE_OFF, 0 }, { GPU_PERFCNT_CFG_MODE_MANUAL, 1 },
		{ GPU_PERFCNT_CFG_AS(5), 0x50 }, { GPU_COHERENCY_FEATURE_ACE_LITE, 0x1 },
		{ GPU_COHERENCY_FEATURE_ACE, 0x2 },
	};

	(void)state;
	CHECK(pins);
}

static void test_job_registers(void **state)
{
	static const struct pin pins[] = {
		{ JOB_INT_RAWSTAT, 0x1000 }, { JOB_INT_CLEAR, 0x1004 },
		{ JOB_INT_MASK, 0x1008 }, { JOB_INT_STAT, 0x100c },
		{ JOB_INT_JS_STATE, 0x1010 }, { JOB_INT_THROTTLE, 0x1014 },
		{ JOB_INT_DONE(2), 0x4 }, { JOB_INT_FAIL(2), 0x40000 },
		{ JOB_JS_STATE_CURRENT(1), 0x2 }, { JOB_JS_STATE_NEXT(1), 0x20000 },
		{ JS_HEAD_LO(0), 0x1800 }, { JS_HEAD_HI(0), 0x1804 },
		{ JS_TAIL_LO(0), 0x1808 }, { JS_TAIL_HI(0), 0x180c },
		{ JS_AFFINITY_LO(0), 0x1810 }, { JS_AFFINITY_HI(0), 0x1814 },
		{ JS_CONFIG(0), 0x1818 }, { JS_XAFFINITY(0), 0x181c },
		{ JS_COMMAND(0), 0x1820 }, { JS_STATUS(0), 0x1824 },
		{ JS_HEAD_NEXT_LO(0), 0x1840 }, { JS_HEAD_NEXT_HI(0), 0x1844 },
		{ JS_AFFINITY_NEXT_LO(0), 0x1850 }, { JS_AFFINITY_NEXT_HI(0), 0x1854 },
		{ JS_CONFIG_NEXT(0), 0x1858 }, { JS_COMMAND_NEXT(0), 0x1860 },
		{ JS_FLUSH_ID_NEXT(0), 0x1870 }, { JS_HEAD_LO(1), 0x1880 },
		{ JS_STATUS(2), 0x1924 }, { JS_COMMAND_NEXT(2), 0x1960 },
	};

	(void)state;
	CHECK(pins);
}

static void test_job_bits_and_commands(void **state)
{
	static const struct pin pins[] = {
		{ JS_CONFIG_AS(7), 0x7 }, { JS_CONFIG_START_FLUSH_CLEAN, 0x100 },
		{ JS_CONFIG_START_FLUSH_CLEAN_INVALIDATE, 0x300 },
		{ JS_CONFIG_START_MMU, 0x400 }, { JS_CONFIG_JOB_CHAIN_FLAG, 0x800 },
		{ JS_CONFIG_END_FLUSH_CLEAN, 0x1000 },
		{ JS_CONFIG_END_FLUSH_CLEAN_INVALIDATE, 0x3000 },
		{ JS_CONFIG_ENABLE_FLUSH_REDUCTION, 0x4000 },
		{ JS_CONFIG_DISABLE_DESCRIPTOR_WR_BK, 0x8000 },
		{ JS_CONFIG_THREAD_PRI(8), 0x80000 },
		{ JS_COMMAND_NOP, 0 }, { JS_COMMAND_START, 1 }, { JS_COMMAND_SOFT_STOP, 2 },
		{ JS_COMMAND_HARD_STOP, 3 }, { JS_COMMAND_SOFT_STOP_0, 4 },
		{ JS_COMMAND_HARD_STOP_0, 5 }, { JS_COMMAND_SOFT_STOP_1, 6 },
		{ JS_COMMAND_HARD_STOP_1, 7 },
		/* the ends of a chain that a driver distinguishes */
		{ AGATE_EXC_DONE, 0x01 }, { AGATE_EXC_STOPPED, 0x03 },
		{ AGATE_EXC_TERMINATED, 0x04 }, { AGATE_EXC_ACTIVE, 0x08 },
		{ AGATE_EXC_JOB_CONFIG_FAULT, 0x40 }, { AGATE_EXC_JOB_POWER_FAULT, 0x41 },
		{ AGATE_EXC_JOB_READ_FAULT, 0x42 }, { AGATE_EXC_JOB_WRITE_FAULT, 0x43 },
		{ AGATE_EXC_JOB_AFFINITY_FAULT, 0x44 }, { AGATE_EXC_JOB_BUS_FAULT, 0x48 },
		{ AGATE_EXC_DATA_INVALID_FAULT, 0x58 }, { AGATE_EXC_TILE_RANGE_FAULT, 0x59 },
		{ AGATE_EXC_OUT_OF_MEMORY, 0x60 }, { AGATE_EXC_UNKNOWN, 0x7f },
	};

	(void)state;
	CHECK(pins);
}

static void test_mmu(void **state)
{
	static const struct pin pins[] = {
		{ MMU_INT_RAWSTAT, 0x2000 }, { MMU_INT_CLEAR, 0x2004 },
		{ MMU_INT_MASK, 0x2008 }, { MMU_INT_STAT, 0x200c },
		{ MMU_INT_PAGE_FAULT(3), 0x8 }, { MMU_INT_BUS_ERROR(3), 0x80000 },
		{ AS_TRANSTAB_LO(0), 0x2400 }, { AS_TRANSTAB_HI(0), 0x2404 },
		{ AS_MEMATTR_LO(0), 0x2408 }, { AS_MEMATTR_HI(0), 0x240c },
		{ AS_LOCKADDR_LO(0), 0x2410 }, { AS_LOCKADDR_HI(0), 0x2414 },
		{ AS_COMMAND(0), 0x2418 }, { AS_FAULTSTATUS(0), 0x241c },
		{ AS_FAULTADDRESS_LO(0), 0x2420 }, { AS_FAULTADDRESS_HI(0), 0x2424 },
		{ AS_STATUS(0), 0x2428 }, { AS_TRANSCFG_LO(0), 0x2430 },
		{ AS_TRANSCFG_HI(0), 0x2434 }, { AS_FAULTEXTRA_LO(0), 0x2438 },
		{ AS_FAULTEXTRA_HI(0), 0x243c }, { AS_TRANSTAB_LO(7), 0x25c0 },
		{ AS_COMMAND_NOP, 0 }, { AS_COMMAND_UPDATE, 1 }, { AS_COMMAND_LOCK, 2 },
		{ AS_COMMAND_UNLOCK, 3 }, { AS_COMMAND_FLUSH_PT, 4 },
		{ AS_COMMAND_FLUSH_MEM, 5 }, { AS_STATUS_AS_ACTIVE, 0x1 },
		{ AS_TRANSTAB_LPAE_ADRMODE_IDENTITY, 0x2 },
		{ AS_TRANSTAB_LPAE_ADRMODE_TABLE, 0x3 }, { AS_TRANSTAB_LPAE_READ_INNER, 0x4 },
		{ AS_TRANSTAB_LPAE_SHARE_OUTER, 0x10 }, { AS_FAULTSTATUS_ACCESS_ATOMIC, 0 },
		{ AS_FAULTSTATUS_ACCESS_EX, 1 }, { AS_FAULTSTATUS_ACCESS_READ, 2 },
		{ AS_FAULTSTATUS_ACCESS_WRITE, 3 }, { AS_FAULTSTATUS_ACCESS(0x300), 3 },
		{ AS_FAULTSTATUS_EXCEPTION(0x103c3), 0xc3 },
		{ AS_FAULTSTATUS_SOURCE_ID(0x103c3), 1 }, { AS_LOCK_MIN_ORDER, 15 },
		{ AGATE_EXC_TRANSLATION_FAULT_0, 0xc0 }, { AGATE_EXC_PERMISSION_FAULT_0, 0xc8 },
		{ AGATE_EXC_TRANSTAB_BUS_FAULT_0, 0xd0 }, { AGATE_EXC_ACCESS_FLAG_0, 0xd8 },
		{ AGATE_EXC_ADDR_SIZE_FAULT_IN_0, 0xe0 },
		{ AGATE_EXC_ADDR_SIZE_FAULT_OUT_0, 0xe4 }, { AGATE_EXC_MEM_ATTR_FAULT_0, 0xe8 },
	};

	(void)state;
	CHECK(pins);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gpu_registers),
		cmocka_unit_test(test_power_registers),
		cmocka_unit_test(test_gpu_bits_and_commands),
		cmocka_unit_test(test_job_registers),
		cmocka_unit_test(test_job_bits_and_commands),
		cmocka_unit_test(test_mmu),
	};

	return cmocka_run_group_tests_name("sim-replay_pins", tests, NULL, NULL);
}
