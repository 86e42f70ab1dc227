// SPDX-License-Identifier: MIT
/*
 * The GPU control block (hardware.md, section 2), without identity and power.
 *
 * A reset clears all state when the command is written, and takes model time to
 * complete.  Until then only the interrupt registers can be written, so a driver
 * that does not wait for RESET_COMPLETED loses its writes.  A hard reset is
 * accepted even while a soft reset that does not end is in progress.
 */
#include "model.h"

static int gpu_init(struct agate_sim *sim, const struct agate_sim_config *config)
{
	(void)config;
	irq_init(&sim->irq[AGATE_VECTOR_GPU], AGATE_VECTOR_GPU,
		 GPU_IRQ_FAULT | GPU_IRQ_MULTIPLE_FAULT | GPU_IRQ_RESET_COMPLETED |
		 GPU_IRQ_POWER_CHANGED_SINGLE | GPU_IRQ_POWER_CHANGED_ALL |
		 GPU_IRQ_PERFCNT_SAMPLE_COMPLETED | GPU_IRQ_CLEAN_CACHES_COMPLETED,
		 GPU_IRQ_RESET_COMPLETED | GPU_IRQ_POWER_CHANGED_SINGLE |
		 GPU_IRQ_POWER_CHANGED_ALL | GPU_IRQ_PERFCNT_SAMPLE_COMPLETED |
		 GPU_IRQ_CLEAN_CACHES_COMPLETED);
	sim->gpu.coherency = GPU_COHERENCY_NONE;
	return 0;
}

static void gpu_reset(struct agate_sim *sim)
{
	sim->gpu = (struct gpu){ .coherency = GPU_COHERENCY_NONE };
	sim->cycle_count = (struct cycle_count){ 0 };
	irq_reset(&sim->irq[AGATE_VECTOR_GPU]);
}

/* A reset clears every register that can be written. */
static void gpu_lose_state(struct agate_sim *sim)
{
	bool killed = slot_any_active(sim);

	blocks_reset(sim);
	if (!l2_reset(sim))
		return;
	if (killed)
		sim_hint(sim, 5, "a reset killed a chain: dirty lines of the L2 are lost with it");
	else
		sim_hint(sim, 5, "a reset lost dirty lines of the L2");
}

static void gpu_start_reset(struct agate_sim *sim, uint32_t command)
{
	bool hard = command == GPU_CMD_HARD_RESET;

	sim_event(sim, AGATE_EV_RESET, command, 0, 0, NULL);
	gpu_lose_state(sim);
	sim->gpu.reset_hard = hard;
	sim->gpu.reset_due = sim_due(sim, hard ? AGATE_SIM_LATENCY_HARD_RESET :
					       AGATE_SIM_LATENCY_RESET);
}

void gpu_unstick(struct agate_sim *sim)
{
	enum agate_sim_latency which = sim->gpu.reset_hard ? AGATE_SIM_LATENCY_HARD_RESET :
							     AGATE_SIM_LATENCY_RESET;

	if (sim->gpu.reset_due == TIME_NEVER)
		sim->gpu.reset_due = sim_due(sim, which);
}

bool gpu_is_deaf(const struct gpu *gpu, uint32_t offset, uint32_t value)
{
	if (!gpu->reset_due || offset == GPU_INT_CLEAR || offset == GPU_INT_MASK)
		return false;
	return gpu->reset_hard || offset != GPU_CMD || value != GPU_CMD_HARD_RESET;
}

static void gpu_protect(struct agate_sim *sim)
{
	sim->gpu.protected_mode = true;
	power_judge_protected(sim);
}

static void gpu_start_clean(struct agate_sim *sim, uint32_t command)
{
	if (sim->gpu.clean_due) {
		sim_hint(sim, 2, "a cache command while another is in progress is ignored");
		return;
	}
	sim->gpu.clean_due = sim_due(sim, AGATE_SIM_LATENCY_AS);
	sim->gpu.clean_watched = false;
	sim->gpu.clean_invalidate = command == GPU_CMD_CLEAN_INV_CACHES;
	sim_event(sim, AGATE_EV_FLUSH, command, 0, 0, NULL);
}

static void gpu_command(struct agate_sim *sim, uint32_t command)
{
	switch (command) {
	case GPU_CMD_NOP:
		break;
	case GPU_CMD_SOFT_RESET:
	case GPU_CMD_HARD_RESET:
		gpu_start_reset(sim, command);
		break;
	case GPU_CMD_PERFCNT_CLEAR:
		perf_clear(sim);
		break;
	case GPU_CMD_PERFCNT_SAMPLE:
		perf_sample(sim);
		break;
	case GPU_CMD_CYCLE_COUNT_START:
	case GPU_CMD_CYCLE_COUNT_STOP:
		cycle_count_run(sim, command == GPU_CMD_CYCLE_COUNT_START);
		break;
	case GPU_CMD_CLEAN_CACHES:
	case GPU_CMD_CLEAN_INV_CACHES:
		gpu_start_clean(sim, command);
		break;
	case GPU_CMD_SET_PROTECTED_MODE:
		gpu_protect(sim);
		break;
	default:
		sim_hint(sim, 2, "unknown GPU_CMD");
		break;
	}
}

static void gpu_run_due(struct agate_sim *sim)
{
	struct gpu *gpu = &sim->gpu;

	if (gpu->reset_due && gpu->reset_due <= sim->time) {
		gpu->reset_due = 0;
		irq_raise(sim, &sim->irq[AGATE_VECTOR_GPU], GPU_IRQ_RESET_COMPLETED);
	}
	if (gpu->clean_due && gpu->clean_due <= sim->time) {
		gpu->clean_due = 0;
		l2_clean(sim, gpu->clean_invalidate);
		sim_event(sim, AGATE_EV_FLUSH_DONE, gpu->clean_invalidate ?
			  GPU_CMD_CLEAN_INV_CACHES : GPU_CMD_CLEAN_CACHES, 0, 0, NULL);
		irq_raise(sim, &sim->irq[AGATE_VECTOR_GPU], GPU_IRQ_CLEAN_CACHES_COMPLETED);
	}
}

static uint64_t gpu_next_due(const struct agate_sim *sim, bool all)
{
	const struct gpu *gpu = &sim->gpu;
	uint32_t mask = sim->irq[AGATE_VECTOR_GPU].mask;
	uint64_t due = TIME_NEVER;

	if (gpu->reset_due && (all || gpu->reset_watched || (mask & GPU_IRQ_RESET_COMPLETED)))
		due = gpu->reset_due;
	if (gpu->clean_due < due && gpu->clean_due &&
	    (all || gpu->clean_watched || (mask & GPU_IRQ_CLEAN_CACHES_COMPLETED)))
		due = gpu->clean_due;
	return due;
}

/* The driver polls: model time may jump to the transition that it waits for. */
static void gpu_watch(struct agate_sim *sim)
{
	sim->gpu.reset_watched = true;
	sim->gpu.clean_watched = true;
	sim->power.watched = true;
	sim->perf.watched = true;
}

static uint32_t gpu_status(const struct agate_sim *sim)
{
	uint32_t status = 0;

	if (sim->perf.active)
		status |= GPU_STATUS_PRFCNT_ACTIVE;
	if (sim->cycle_count.runs)
		status |= GPU_STATUS_CYCLE_COUNT_ACTIVE;
	if (sim->gpu.protected_mode)
		status |= GPU_STATUS_PROTECTED_MODE;
	return status;
}

static bool gpu_read(struct agate_sim *sim, uint32_t offset, uint32_t *value)
{
	const struct gpu *gpu = &sim->gpu;

	switch (offset) {
	case GPU_INT_RAWSTAT:
	case GPU_INT_CLEAR:
	case GPU_INT_MASK:
	case GPU_INT_STAT:
		*value = irq_read(&sim->irq[AGATE_VECTOR_GPU], (offset - GPU_INT_RAWSTAT) / 4);
		return true;
	case GPU_STATUS:
		*value = gpu_status(sim);
		return true;
	case GPU_LATEST_FLUSH_ID:
		*value = sim->l2.flush_id;
		return true;
	case GPU_CYCLE_COUNT_LO:
	case GPU_CYCLE_COUNT_HI:
		*value = cycle_count_read(sim) >> (offset == GPU_CYCLE_COUNT_HI ? 32 : 0);
		return true;
	case GPU_TIMESTAMP_LO:
	case GPU_TIMESTAMP_HI:
		*value = sim->time >> (offset == GPU_TIMESTAMP_HI ? 32 : 0);
		return true;
	case GPU_COHERENCY_ENABLE:
		*value = gpu->coherency;
		return true;
	case GPU_FAULT_STATUS:
		*value = gpu->fault_status;
		return true;
	case GPU_FAULT_ADDRESS_LO:
	case GPU_FAULT_ADDRESS_HI:
		*value = reg_half(gpu->fault_address, offset == GPU_FAULT_ADDRESS_HI);
		return true;
	case GPU_CMD:
	case GPU_PWR_KEY:
		*value = 0;
		return true;
	case GPU_PWR_OVERRIDE0:
	case GPU_PWR_OVERRIDE1:
		*value = gpu->override[(offset - GPU_PWR_OVERRIDE0) / 4];
		return true;
	case GPU_JM_CONFIG:
	case GPU_SHADER_CONFIG:
	case GPU_TILER_CONFIG:
	case GPU_L2_MMU_CONFIG:
		*value = gpu->config[(offset - GPU_JM_CONFIG) / 4];
		return true;
	}
	return false;
}

static void gpu_was_read(struct agate_sim *sim, uint32_t offset)
{
	if (offset == GPU_STATUS) {
		gpu_watch(sim);
	} else if (offset >= GPU_INT_RAWSTAT && offset <= GPU_INT_STAT) {
		gpu_watch(sim);
		irq_was_read(&sim->irq[AGATE_VECTOR_GPU], (offset - GPU_INT_RAWSTAT) / 4);
	}
}

static void gpu_write_override(struct agate_sim *sim, unsigned int n, uint32_t value)
{
	if (!sim->gpu.override_unlocked) {
		sim_hint(sim, 2, "PWR_OVERRIDE is ignored without the key");
		return;
	}
	sim->gpu.override[n] = value;
	sim->gpu.override_unlocked = false;
}

/* Is the protocol among the features of this GPU? */
static bool gpu_has_protocol(const struct agate_sim *sim, uint32_t protocol)
{
	switch (protocol) {
	case GPU_COHERENCY_NONE:
		return true;
	case GPU_COHERENCY_ACE:
		return identity_coherency(sim) & GPU_COHERENCY_FEATURE_ACE;
	case GPU_COHERENCY_ACE_LITE:
		return identity_coherency(sim) & GPU_COHERENCY_FEATURE_ACE_LITE;
	}
	return false;
}

static void gpu_write_coherency(struct agate_sim *sim, uint32_t value)
{
	if (!gpu_has_protocol(sim, value)) {
		sim_hint(sim, 2, "COHERENCY_ENABLE names a protocol that the GPU does not have");
		return;
	}
	if (value != sim->gpu.coherency && power_l2_in_use(sim))
		sim_hint(sim, 2, "COHERENCY_ENABLE was changed while the L2 is on");
	sim->gpu.coherency = value;
}

/* Raise the fault that the launcher asked for, once after each reset, when it is unmasked. */
static void gpu_fault(struct agate_sim *sim)
{
	struct irq *irq = &sim->irq[AGATE_VECTOR_GPU];

	if (!sim->made_up.fault_status || sim->gpu.fault_status || !(irq->mask & GPU_IRQ_FAULT))
		return;
	sim->gpu.fault_status = sim->made_up.fault_status;
	sim->gpu.fault_address = sim->made_up.fault_address;
	irq_raise(sim, irq, GPU_IRQ_FAULT);
}

static bool gpu_write(struct agate_sim *sim, uint32_t offset, uint32_t value)
{
	if (offset >= GPU_INT_RAWSTAT && offset <= GPU_INT_STAT) {
		irq_write(sim, &sim->irq[AGATE_VECTOR_GPU], (offset - GPU_INT_RAWSTAT) / 4,
			  value);
		gpu_fault(sim);
		return true;
	}
	switch (offset) {
	case GPU_CMD:
		gpu_command(sim, value);
		return true;
	case GPU_PWR_KEY:
		sim->gpu.override_unlocked = value == GPU_PWR_KEY_UNLOCK;
		return true;
	case GPU_PWR_OVERRIDE0:
	case GPU_PWR_OVERRIDE1:
		gpu_write_override(sim, (offset - GPU_PWR_OVERRIDE0) / 4, value);
		return true;
	case GPU_COHERENCY_ENABLE:
		gpu_write_coherency(sim, value);
		return true;
	case GPU_JM_CONFIG:
	case GPU_SHADER_CONFIG:
	case GPU_TILER_CONFIG:
	case GPU_L2_MMU_CONFIG:
		sim->gpu.config[(offset - GPU_JM_CONFIG) / 4] = value;
		return true;
	}
	return false;
}


const struct block gpu_block = {
	.init = gpu_init,
	.reset = gpu_reset,
	.first = 0x000,
	.last = 0xfff,
	.read = gpu_read,
	.was_read = gpu_was_read,
	.write = gpu_write,
	.section = 2,
	.run_due = gpu_run_due,
	.next_due = gpu_next_due,
};
