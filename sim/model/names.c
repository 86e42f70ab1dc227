// SPDX-License-Identifier: MIT
/*
 * Names of numbers: registers, exceptions, job types, commands.
 */
#include "names.h"

#include <stdio.h>

#include "agate_card.h"
#include "agate_exceptions.h"
#include "agate_job.h"
#include "agate_regs.h"
#include "agate_sim.h"

struct name {
	uint32_t value;
	const char *name;
};

#define LENGTH(a)	(sizeof(a) / sizeof((a)[0]))
#define REG(r)		{ r, #r }
#define REG64(r)	{ r##_LO, #r "_LO" }, { r##_HI, #r "_HI" }

static const struct name registers[] = {
	REG(GPU_ID), REG(GPU_L2_FEATURES), REG(GPU_CORE_FEATURES), REG(GPU_TILER_FEATURES),
	REG(GPU_MEM_FEATURES), REG(GPU_MMU_FEATURES), REG(GPU_AS_PRESENT), REG(GPU_JS_PRESENT),
	REG(GPU_INT_RAWSTAT), REG(GPU_INT_CLEAR), REG(GPU_INT_MASK), REG(GPU_INT_STAT),
	REG(GPU_CMD), REG(GPU_STATUS), REG(GPU_LATEST_FLUSH_ID), REG(GPU_FAULT_STATUS),
	REG64(GPU_FAULT_ADDRESS), REG(GPU_AFBC_FEATURES), REG(GPU_PWR_KEY),
	REG(GPU_PWR_OVERRIDE0), REG(GPU_PWR_OVERRIDE1), REG64(GPU_CYCLE_COUNT),
	REG64(GPU_TIMESTAMP), REG64(GPU_PERFCNT_BASE), REG(GPU_PERFCNT_CFG),
	REG(GPU_PRFCNT_JM_EN), REG(GPU_PRFCNT_SHADER_EN), REG(GPU_PRFCNT_TILER_EN),
	REG(GPU_PRFCNT_MMU_L2_EN), REG(GPU_THREAD_MAX_THREADS), REG(GPU_THREAD_MAX_WORKGROUP_SIZE),
	REG(GPU_THREAD_MAX_BARRIER_SIZE), REG(GPU_THREAD_FEATURES),
	REG64(GPU_SHADER_PRESENT), REG64(GPU_TILER_PRESENT), REG64(GPU_L2_PRESENT),
	REG64(GPU_STACK_PRESENT), REG64(GPU_SHADER_READY), REG64(GPU_TILER_READY),
	REG64(GPU_L2_READY), REG64(GPU_STACK_READY), REG64(GPU_SHADER_PWRON),
	REG64(GPU_TILER_PWRON), REG64(GPU_L2_PWRON), REG64(GPU_SHADER_PWROFF),
	REG64(GPU_TILER_PWROFF), REG64(GPU_L2_PWROFF), REG64(GPU_SHADER_PWRTRANS),
	REG64(GPU_TILER_PWRTRANS), REG64(GPU_L2_PWRTRANS), REG64(GPU_SHADER_PWRACTIVE),
	REG64(GPU_TILER_PWRACTIVE), REG64(GPU_L2_PWRACTIVE), REG(GPU_COHERENCY_FEATURES),
	REG(GPU_COHERENCY_ENABLE), REG(GPU_THREAD_TLS_ALLOC), REG(GPU_JM_CONFIG),
	REG(GPU_SHADER_CONFIG), REG(GPU_TILER_CONFIG), REG(GPU_L2_MMU_CONFIG),
	REG(JOB_INT_RAWSTAT), REG(JOB_INT_CLEAR), REG(JOB_INT_MASK), REG(JOB_INT_STAT),
	REG(JOB_INT_JS_STATE), REG(JOB_INT_THROTTLE),
	REG(MMU_INT_RAWSTAT), REG(MMU_INT_CLEAR), REG(MMU_INT_MASK), REG(MMU_INT_STAT),
	{ AGATE_POWER_IN, "POWER_IN" }, { AGATE_CLK_SELECT, "CLK_SELECT" },
	{ AGATE_VOLT_SELECT, "VOLT_SELECT" }, { AGATE_CLK_POINTS, "CLK_POINTS" },
	{ AGATE_CARD_POWER, "CARD_POWER" },
	REG(CARD_INT_RAWSTAT), REG(CARD_INT_CLEAR), REG(CARD_INT_MASK), REG(CARD_INT_STAT),
	REG(CARD_ID), REG(CARD_FEATURES), REG64(CARD_VRAM_SIZE), REG(CARD_LOSSES),
	REG(GGTT_ENTRIES), REG(GGTT_RESERVED_MAX), REG(GGTT_USABLE_START), REG(GGTT_USABLE_END),
	REG(GGTT_PTE_INDEX), REG(GGTT_PTE_LO), REG(GGTT_PTE_HI), REG(GGTT_PTE_REPEAT),
	REG(GGTT_SYNC), REG(GGTT_INVALIDATE), REG(GGTT_COMMITS),
	REG(FW_BASE), REG(FW_SIZE), REG(FW_ADS), REG(FW_CMD), REG(FW_STATUS),
	REG(MOVER_CMD), REG(MOVER_STATUS), REG(RING_TAIL), REG(RING_HEAD), REG(MOVER_SEQNO),
	REG64(MOVER_FAULT_ADDR), REG64(SCAN_BASE), REG(SCAN_SIZE), REG(SCAN_STRIDE),
	REG(SCAN_FORMAT), REG(SCAN_FLIP), REG(SCAN_FRAMES),
};

#define JS(reg)		{ JS_##reg(0) - JS_BASE, #reg }
#define JS64(reg)	{ JS_##reg##_LO(0) - JS_BASE, #reg "_LO" }, \
			{ JS_##reg##_HI(0) - JS_BASE, #reg "_HI" }

static const struct name slot_registers[] = {
	JS64(HEAD), JS64(TAIL), JS64(AFFINITY), JS(CONFIG), JS(XAFFINITY), JS(COMMAND),
	JS(STATUS), JS64(HEAD_NEXT), JS64(AFFINITY_NEXT), JS(CONFIG_NEXT), JS(COMMAND_NEXT),
	JS(FLUSH_ID_NEXT),
};

#define AS(reg)		{ AS_##reg(0) - MMU_AS_BASE, #reg }
#define AS64(reg)	{ AS_##reg##_LO(0) - MMU_AS_BASE, #reg "_LO" }, \
			{ AS_##reg##_HI(0) - MMU_AS_BASE, #reg "_HI" }

static const struct name as_registers[] = {
	AS64(TRANSTAB), AS64(MEMATTR), AS64(LOCKADDR), AS(COMMAND), AS(FAULTSTATUS),
	AS64(FAULTADDRESS), AS(STATUS), AS64(TRANSCFG), AS64(FAULTEXTRA),
};

#define LISTED(reg)	{ AGATE_LISTED_##reg(0) - AGATE_LISTED_BASE, #reg }

static const struct name listed_registers[] = {
	LISTED(START_LO), LISTED(START_HI), LISTED(PAGES), LISTED(COMMAND),
};

static const struct name job_types[] = {
	{ AGATE_JOB_NOT_STARTED, "NOT_STARTED" }, { AGATE_JOB_NULL, "NULL" },
	{ AGATE_JOB_WRITE_VALUE, "WRITE_VALUE" }, { AGATE_JOB_CACHE_FLUSH, "CACHE_FLUSH" },
	{ AGATE_JOB_COMPUTE, "COMPUTE" }, { AGATE_JOB_TILER, "TILER" },
	{ AGATE_JOB_FRAGMENT, "FRAGMENT" },
};

static const struct name counters[] = {
	{ AGATE_CNT_WALKS, "walks" }, { AGATE_CNT_TLB_HITS, "tlb_hits" },
	{ AGATE_CNT_TLB_MISSES, "tlb_misses" }, { AGATE_CNT_STALE_USED, "stale_used" },
	{ AGATE_CNT_DIRTY_LOST, "dirty_lost" }, { AGATE_CNT_FAULTS, "faults" },
	{ AGATE_CNT_JOBS, "jobs" }, { AGATE_CNT_JOBS_FAILED, "jobs_failed" },
	{ AGATE_CNT_BYTES_COPIED, "bytes_copied" }, { AGATE_CNT_IRQS, "irqs" },
	{ AGATE_CNT_AS_CMD_DROPPED, "as_commands_dropped" }, { AGATE_CNT_HINTS, "hints" },
	{ AGATE_CNT_TRIANGLES, "triangles" }, { AGATE_CNT_PIXELS, "pixels" },
	{ AGATE_CNT_STALE_LINES, "stale_lines" }, { AGATE_CNT_UNLISTED, "unlisted" },
	{ AGATE_CNT_LISTS_DROPPED, "lists_dropped" }, { AGATE_CNT_BUSY, "busy" },
	{ AGATE_CNT_GGTT_STALE, "ggtt_stale" }, { AGATE_CNT_GGTT_DROPPED, "ggtt_dropped" },
	{ AGATE_CNT_MOVER_COMMANDS, "mover_commands" }, { AGATE_CNT_MOVER_BYTES, "mover_bytes" },
	{ AGATE_CNT_MOVER_FAULTS, "mover_faults" }, { AGATE_CNT_FRAMES, "frames" },
	{ AGATE_CNT_POWERED_IDLE, "powered_idle" },
};

_Static_assert(LENGTH(counters) == AGATE_CNT_COUNT, "every counter has a name");

static const char *name_find(const struct name *names, size_t count, uint32_t value)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (names[i].value == value)
			return names[i].name;
	return NULL;
}

static const char *name_or_unknown(const struct name *names, size_t count, uint32_t value)
{
	const char *name = name_find(names, count, value);

	return name ? name : "unknown";
}

static const char *name_at(const char *const *names, size_t count, size_t i)
{
	return i < count ? names[i] : "unknown";
}

const char *name_register(uint32_t offset, char buf[NAME_SIZE])
{
	const char *name = name_find(registers, LENGTH(registers), offset);
	uint32_t slot = (offset - JS_BASE) / JS_STRIDE;
	uint32_t as = (offset - MMU_AS_BASE) / MMU_AS_STRIDE;
	uint32_t counter = (offset - AGATE_COUNTER_BASE) / 8;
	uint32_t list = (offset - AGATE_LISTED_BASE) / AGATE_LISTED_STRIDE;
	uint32_t point = (offset - AGATE_CLK_TABLE_FREQ(0)) / 8;

	if (name)
		return name;
	snprintf(buf, NAME_SIZE, "0x%x", offset);
	if (offset % 4)
		return buf;
	if (offset >= GPU_TEXTURE_FEATURES(0) && offset <= GPU_TEXTURE_FEATURES(3)) {
		snprintf(buf, NAME_SIZE, "GPU_TEXTURE_FEATURES_%u",
			 (offset - GPU_TEXTURE_FEATURES(0)) / 4);
	} else if (offset >= GPU_JS_FEATURES(0) && offset <= GPU_JS_FEATURES(15)) {
		snprintf(buf, NAME_SIZE, "GPU_JS_FEATURES_%u", (offset - GPU_JS_FEATURES(0)) / 4);
	} else if (offset >= JS_BASE && slot < AGATE_MAX_SLOTS) {
		name = name_find(slot_registers, LENGTH(slot_registers),
				 (offset - JS_BASE) % JS_STRIDE);
		if (name)
			snprintf(buf, NAME_SIZE, "JS%u_%s", slot, name);
	} else if (offset >= MMU_AS_BASE && as < AGATE_MAX_AS) {
		name = name_find(as_registers, LENGTH(as_registers),
				 (offset - MMU_AS_BASE) % MMU_AS_STRIDE);
		if (name)
			snprintf(buf, NAME_SIZE, "AS%u_%s", as, name);
	} else if (offset >= AGATE_CLK_TABLE_FREQ(0) && point < AGATE_CLK_MAX_POINTS) {
		snprintf(buf, NAME_SIZE, "CLK_TABLE_%s_%u",
			 offset == AGATE_CLK_TABLE_FREQ(point) ? "FREQ" : "VOLT", point);
	} else if (offset >= AGATE_LISTED_BASE && list < AGATE_MAX_SLOTS) {
		name = name_find(listed_registers, LENGTH(listed_registers),
				 (offset - AGATE_LISTED_BASE) % AGATE_LISTED_STRIDE);
		snprintf(buf, NAME_SIZE, "LISTED%u_%s", list, name);
	} else if (offset >= AGATE_COUNTER_BASE && counter < AGATE_CNT_COUNT) {
		snprintf(buf, NAME_SIZE, "COUNTER_%s_%s", name_counter(counter),
			 offset & 4 ? "HI" : "LO");
	}
	return buf;
}

const char *name_exception(unsigned int exception)
{
	const char *name = agate_exc_name(exception);

	return name ? name : "unknown";
}

const char *name_job_type(unsigned int type)
{
	return name_or_unknown(job_types, LENGTH(job_types), type);
}

const char *name_counter(unsigned int counter)
{
	return name_or_unknown(counters, LENGTH(counters), counter);
}

const char *name_access(unsigned int access)
{
	static const char *const names[] = { "ATOMIC", "EXECUTE", "READ", "WRITE" };

	return name_at(names, LENGTH(names), access);
}

const char *name_vector(unsigned int vector)
{
	static const char *const names[] = { "GPU", "JOB", "MMU", "CARD" };

	return name_at(names, LENGTH(names), vector);
}

const char *name_power_domain(unsigned int domain)
{
	static const char *const names[] = { "SHADER", "TILER", "L2" };

	return name_at(names, LENGTH(names), domain);
}

const char *name_as_command(unsigned int command)
{
	static const char *const names[] = {
		"NOP", "UPDATE", "LOCK", "UNLOCK", "FLUSH_PT", "FLUSH_MEM",
	};

	return name_at(names, LENGTH(names), command);
}

const char *name_gpu_command(unsigned int command)
{
	static const char *const names[] = {
		"NOP", "SOFT_RESET", "HARD_RESET", "PERFCNT_CLEAR", "PERFCNT_SAMPLE",
		"CYCLE_COUNT_START", "CYCLE_COUNT_STOP", "CLEAN_CACHES", "CLEAN_INV_CACHES",
	};

	return name_at(names, LENGTH(names), command);
}

const char *name_injection(unsigned int kind)
{
	static const char *const names[] = {
		[AGATE_SIM_INJECT_DROP_IRQ] = "drop-irq",
		[AGATE_SIM_INJECT_DELAY_IRQ] = "delay-irq",
		[AGATE_SIM_INJECT_STICK_AS] = "stick-as",
		[AGATE_SIM_INJECT_FAIL_POWER] = "fail-power",
		[AGATE_SIM_INJECT_CORRUPT_HEADER] = "corrupt-header",
		[AGATE_SIM_INJECT_REFUSE_CLOCK] = "refuse-clock",
		[AGATE_SIM_INJECT_FAIL_MOVER] = "fail-mover",
		[AGATE_SIM_INJECT_FAIL_FW] = "fail-fw",
		[AGATE_SIM_INJECT_FAIL_FLIP] = "fail-flip",
	};

	return name_at(names, LENGTH(names), kind);
}

const char *name_fw_state(unsigned int state)
{
	static const char *const names[] = { "off", "checking", "running", "failed" };

	return name_at(names, LENGTH(names), state);
}

const char *name_fw_reason(unsigned int reason)
{
	static const char *const names[] = {
		"none", "address", "magic", "version", "size", "crc", "ads",
	};

	return name_at(names, LENGTH(names), reason);
}

const char *name_mover_op(unsigned int op)
{
	static const char *const names[] = { "NOP", "COPY", "FILL", "STORE", "FENCE" };

	return name_at(names, LENGTH(names), op);
}

const char *name_mover_reason(unsigned int reason)
{
	static const char *const names[] = {
		"none", "command", "entry", "vf", "bus", "context", "ring", "group", "injected",
	};

	return name_at(names, LENGTH(names), reason);
}
