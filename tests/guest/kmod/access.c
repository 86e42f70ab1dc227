// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's accesses to the GPU's registers: probes of gpu_read() and gpu_write() count
 * them, and fake a GPU that is slow, stuck or gone, or that says something of the test's
 * choice (watch.h). x86-64 only, like inject_point.c.
 */
#include <linux/kprobes.h>
#include <linux/pci.h>
#include <linux/spinlock.h>

#include "agate_device.h"
#include "inject.h"
#include "probes.h"
#include "watch.h"

#define BLOCKS		3		/* vectors with registers */
#define INT_CLEAR	0x4
#define INT_MASK	0x8
#define INT_STAT	0xc

/* Bits of RAWSTAT that are set while a slow reset is waited for, and afterwards. */
#define NOISE		(GPU_IRQ_POWER_CHANGED_SINGLE | GPU_IRQ_PERFCNT_SAMPLE_COMPLETED)
/*
 * The last reads of a slow reset go to the GPU, whose time advances with them, and
 * completes the real one; all others are answered here, which is faster.
 */
#define REAL_READS	1000

static struct {
	bool forging, losing, gone, noisy;
	u32 seed, odd_reg, odd_seed;	/* one register may have another seed than the others */
	u32 lose_reg, lose_nth, lose_after_hard;
	u32 sticking;
	bool dropped;			/* the last reset command did not reach the GPU */
	u32 slow, left;			/* reads that a reset takes; those that it still takes */
	bool veiled;			/* this read comes before the end of the reset */
	u32 mask[BLOCKS];		/* as it was written last, or closed by a reset */
	bool raising[BLOCKS];
	u32 raised[BLOCKS];		/* RAWSTAT of a block that is faked */
	u32 fault;			/* the number of the fault that is faked, or 0 */
	unsigned int served_vector;	/* the one that the topic serves */
	bool awaited;			/* its handler closed MASK; serve() comes */
	bool after_hard;		/* the last command was a hard reset */
	u32 closed_by_irq;
	u32 reads;			/* of RAWSTAT since a command that got lost */
	struct task_struct *leaving;	/* agate_pci_fini() has begun */
	struct task_struct *resetting;	/* agate_gpu_soft_reset() has */
	bool commanded;			/* ... and has commanded a reset */
} gpu;

/* The block whose interrupt registers @reg belongs to, or BLOCKS; then *@offset is set. */
static unsigned int __kprobes block_of(u32 reg, u32 *offset)
{
	static const u32 bases[BLOCKS] = { GPU_INT_RAWSTAT, JOB_INT_RAWSTAT, MMU_INT_RAWSTAT };
	unsigned int i;

	for (i = 0; i < BLOCKS; i++) {
		*offset = reg - bases[i];
		if (*offset <= INT_STAT)
			return i;
	}
	return BLOCKS;
}

static bool __kprobes is_identity(u32 reg)
{
	return reg <= GPU_JS_PRESENT || reg == GPU_COHERENCY_FEATURES ||
	       (reg >= GPU_THREAD_MAX_THREADS && reg <= GPU_JS_FEATURES(15)) ||
	       (reg >= GPU_SHADER_PRESENT_LO && reg <= GPU_L2_PRESENT_LO + 4);
}

/* Counts the access; true when the GPU is gone, or goes with this access. */
static bool __kprobes gone_with(struct agate_device *adev, u32 reg, bool read)
{
	u32 nth = ++topic_seen.accesses;
	bool goes = (gpu.losing && read && reg == gpu.lose_reg) || nth == gpu.lose_nth;

	/* A late access, after agate_bus_detach(), reaches no GPU: there is no ctrl. */
	if (goes && !adev->bus.lost) {
		WRITE_ONCE(adev->bus.ctrl->alive, 0);
		gpu.gone = true;
	}
	/* An answer that the driver does not believe need not tell it that the GPU is gone. */
	if (gpu.gone && read && !gpu.leaving && (reg == GPU_INT_RAWSTAT || is_identity(reg)))
		topic_seen.lost_answers++;
	return gpu.gone;
}

/* ---- Writes ------------------------------------------------------------------ */

static void __kprobes see_mask(struct agate_device *adev, unsigned int vector, u32 value)
{
	gpu.mask[vector] = value;
	gpu.closed_by_irq += vector == AGATE_VECTOR_GPU && !value && !in_a_task();
	if (!value) {
		gpu.awaited |= vector == gpu.served_vector && !in_a_task() && !topic_seen.at_work;
		return;
	}
	if (vector == gpu.served_vector) {
		topic_seen.opened_early += gpu.awaited;
		gpu.awaited = false;
	}
	topic_seen.opened++;
	topic_seen.opened_gpu += vector == AGATE_VECTOR_GPU;
	topic_seen.opened_leaving += vector == AGATE_VECTOR_GPU && gpu.leaving == current;
	/* Counted and not asserted: the test says what is wrong with it. */
	topic_seen.opened_unlocked += !raw_spin_is_locked(&adev->irq[vector].lock.rlock);
}

static void __kprobes see_clear(unsigned int vector, u32 value)
{
	/* A reset may clear everything: it has left nothing that anybody waits for. */
	topic_seen.clears_multiple += vector == AGATE_VECTOR_GPU &&
		(value & GPU_IRQ_MULTIPLE_FAULT) &&
		!(value & ~(GPU_IRQ_FAULT | GPU_IRQ_MULTIPLE_FAULT));
	/* ... but not after it: a fault may have come since. */
	if (vector == AGATE_VECTOR_GPU && gpu.commanded && gpu.resetting == current)
		topic_seen.clears_late |= value & ~GPU_IRQ_RESET_COMPLETED;
	topic_seen.cleared |= value;
	gpu.raised[vector] &= ~value;
}

/* True when the command gets lost. */
static bool __kprobes see_command(struct agate_device *adev, u32 value)
{
	bool soft = value == GPU_CMD_SOFT_RESET;

	if (!soft && value != GPU_CMD_HARD_RESET)
		return false;
	/* The bus has been detached, or has lost the GPU: gpu_write() drops the command. */
	if (adev->bus.lost)
		return false;
	topic_seen.soft_resets += soft;
	topic_seen.hard_resets += !soft;
	topic_seen.hard_first += !soft && !topic_seen.soft_resets;
	topic_seen.resets_cut_off += !adev->pdev->is_busmaster;
	gpu.dropped = gpu.sticking >= (soft ? 1 : 2);
	gpu.left = gpu.dropped ? 0 : gpu.slow;
	gpu.noisy = gpu.left;
	gpu.reads = 0;
	gpu.commanded = true;
	gpu.after_hard = !soft;
	if (gpu.after_hard) {
		topic_seen.after_hard = 0;
		if (gpu.lose_after_hard)
			gpu.lose_nth = topic_seen.accesses + gpu.lose_after_hard;
	}
	if (!gpu.dropped) {
		memset(gpu.mask, 0, sizeof(gpu.mask));
		/* Nothing is raised any more: the driver sees the GPU's own RESET_COMPLETED. */
		memset(gpu.raising, 0, sizeof(gpu.raising));
		gpu.fault = 0;
	}
	return gpu.dropped;
}

static int __kprobes on_write(struct kprobe *kp, struct pt_regs *regs)
{
	struct agate_device *adev = (void *)regs->di;
	u32 reg = regs->si, value = regs->dx, offset;
	unsigned int block = block_of(reg, &offset);

	if (gone_with(adev, reg, false))
		return watch_skip(regs, 0);
	topic_seen.after_hard += gpu.after_hard;
	topic_seen.strange_writes += reg < GPU_INT_RAWSTAT;
	if (reg == GPU_CMD)
		return see_command(adev, value) ? watch_skip(regs, 0) : 0;
	if (block == BLOCKS)
		return 0;
	if (offset == INT_MASK)
		see_mask(adev, block, value);
	if (offset == INT_CLEAR) {
		see_clear(block, value);
		if (gpu.raising[block])
			return watch_skip(regs, 0);
	}
	return 0;
}

void __kprobes access_leaving(void)
{
	gpu.leaving = current;
}

void access_serves(unsigned int vector)
{
	gpu.served_vector = vector;
	gpu.awaited = false;
	topic_seen.opened_early = 0;
}

void access_served(u32 block)
{
	u32 offset;

	if (block_of(block, &offset) == gpu.served_vector)
		gpu.awaited = false;
}

u32 access_closed_by_irq(void)
{
	return READ_ONCE(gpu.closed_by_irq);
}

void access_resetting(bool begins)
{
	gpu.commanded = false;
	gpu.resetting = begins ? current : NULL;
}

bool __kprobes access_gpu_open(void)
{
	return gpu.mask[AGATE_VECTOR_GPU];
}

/* ---- Reads ------------------------------------------------------------------- */

/* RAWSTAT of a GPU in reset. */
static int __kprobes in_reset(struct pt_regs *regs)
{
	if (gpu.dropped) {
		gpu.reads++;
		topic_seen.reads_most = max(topic_seen.reads_most, gpu.reads);
		return watch_skip(regs, gpu.noisy ? NOISE : 0);
	}
	gpu.veiled = gpu.left;
	if (!gpu.left)
		return 0;
	return gpu.left-- > REAL_READS ? watch_skip(regs, NOISE) : 0;
}

static int __kprobes on_read(struct kprobe *kp, struct pt_regs *regs)
{
	struct agate_device *adev = (void *)regs->di;
	u32 reg = regs->si, offset;
	unsigned int block = block_of(reg, &offset);

	if (gone_with(adev, reg, true))
		return watch_skip(regs, (u32)~0);
	if (block < BLOCKS && gpu.raising[block]) {
		if (offset == 0)
			return watch_skip(regs, gpu.raised[block]);
		if (offset == INT_STAT)
			return watch_skip(regs, gpu.raised[block] & gpu.mask[block]);
	}
	if (reg == GPU_INT_RAWSTAT && (gpu.dropped || gpu.slow))
		return in_reset(regs);
	if (gpu.forging && is_identity(reg))
		return watch_skip(regs, topic_forged(reg == gpu.odd_reg ? gpu.odd_seed : gpu.seed,
						     reg));
	if (gpu.fault && reg == GPU_FAULT_STATUS)
		return watch_skip(regs, topic_fault_status(gpu.fault));
	if (gpu.fault && reg == GPU_FAULT_ADDRESS_LO)
		return watch_skip(regs, lower_32_bits(topic_fault_address(gpu.fault)));
	if (gpu.fault && reg == GPU_FAULT_ADDRESS_HI)
		return watch_skip(regs, upper_32_bits(topic_fault_address(gpu.fault)));
	return 0;
}

/*
 * The wait for a reset that does not complete: all its reads would say the same.  A driver
 * with a loop of its own makes them, and takes longer.
 */
static int __kprobes on_poll(struct kprobe *kp, struct pt_regs *regs)
{
	u32 reg = regs->si, mask = regs->dx, want = regs->cx;
	u32 value = gpu.noisy ? NOISE : 0;

	if (!gpu.dropped || gpu.losing || gpu.gone || gpu.lose_nth || reg != GPU_INT_RAWSTAT)
		return 0;
	return watch_skip(regs, (value & mask) == want ? 0 : -ETIMEDOUT);
}

/* What a slow GPU answered itself gets the noise, and hides the end of its reset. */
static int __kprobes on_slow_read(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return !(gpu.slow && (u32)regs->si == GPU_INT_RAWSTAT);
}

static int __kprobes on_slow_answer(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (gpu.noisy && !gpu.gone)
		regs->ax = gpu.veiled ? NOISE : (u32)regs->ax | NOISE;
	return 0;
}

/* ---- Probes ------------------------------------------------------------------ */

/* A post handler keeps a probe a trap: a jump in its place could not skip the function. */
static void __kprobes on_step(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe writes, reads, polls;
static struct kretprobe answers;
static bool writes_armed, reads_armed, polls_armed, answers_armed;

static int arm(struct kprobe *kp, bool *armed, const char *symbol, kprobe_pre_handler_t handler)
{
	int ret;

	if (*armed)
		return 0;
	*kp = (struct kprobe){
		.symbol_name = symbol, .pre_handler = handler, .post_handler = on_step,
	};
	ret = probe_arm(kp);
	*armed = !ret;
	return ret;
}

static int arm_both(void)
{
	int ret = arm(&writes, &writes_armed, "gpu_write", on_write);

	return ret ? ret : arm(&reads, &reads_armed, "gpu_read", on_read);
}

int access_watch(void)
{
	gpu.after_hard = false;
	return arm(&writes, &writes_armed, "gpu_write", on_write);
}

int access_forge(u32 seed)
{
	gpu.seed = seed;
	gpu.odd_reg = ~0;
	gpu.forging = true;
	return arm_both();
}

void access_forge_one(u32 reg, u32 seed)
{
	gpu.odd_reg = reg;
	gpu.odd_seed = seed;
}

int access_lose_at(u32 reg)
{
	gpu.lose_reg = reg;
	gpu.losing = true;
	return arm_both();
}

int access_lose_nth(u32 nth, u32 after_hard)
{
	gpu.losing = false;
	gpu.gone = false;
	gpu.lose_nth = nth;
	gpu.lose_after_hard = after_hard;
	topic_seen.accesses = 0;
	topic_seen.lost_answers = 0;
	gpu.leaving = NULL;
	return arm_both();
}

int access_gone(void)
{
	gpu.gone = true;
	return arm_both();
}

int access_stick(u32 stick)
{
	int ret = arm_both();

	gpu.sticking = stick;
	return ret ? ret : arm(&polls, &polls_armed, "gpu_poll", on_poll);
}

int access_slow(u32 reads_taken)
{
	int ret = arm_both();

	gpu.slow = reads_taken;
	if (ret || answers_armed)
		return ret;
	memset(&answers, 0, sizeof(answers));
	answers.kp.symbol_name = "gpu_read";
	answers.entry_handler = on_slow_read;
	answers.handler = on_slow_answer;
	ret = return_probe_arm(&answers);
	answers_armed = !ret;
	return ret;
}

int access_raise(unsigned int vector, u32 bits)
{
	if (vector >= BLOCKS)
		return -EINVAL;
	topic_seen.cleared = 0;
	gpu.raised[vector] = bits;
	gpu.raising[vector] = true;
	return arm_both();
}

int access_fault(u32 nth)
{
	gpu.fault = nth;
	return access_raise(AGATE_VECTOR_GPU, GPU_IRQ_FAULT);
}

u32 access_raised(unsigned int vector)
{
	return READ_ONCE(gpu.raised[vector]);
}

void access_end(void)
{
	struct kprobe *ended[3];
	unsigned int count = 0;

	if (answers_armed)
		return_probe_disarm(&answers);
	if (writes_armed)
		ended[count++] = &writes;
	if (reads_armed)
		ended[count++] = &reads;
	if (polls_armed)
		ended[count++] = &polls;
	probes_disarm(ended, count);
	answers_armed = false;
	writes_armed = false;
	reads_armed = false;
	polls_armed = false;
	memset(&gpu, 0, sizeof(gpu));
}
