// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes of the functions that the driver calls (watch.h). x86-64 only, like
 * inject_point.c.
 *
 * The test sets a probe of a function of agate.ko after it has loaded the module, and
 * removes it before it unloads the module: watch_end().
 */
#include "watch.h"

#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/kprobes.h>
#include <linux/pci.h>
#include <linux/spinlock.h>

#include "agate_device.h"

struct topic_seen topic_seen;

static u32 forge_seed;
static bool forging;
static bool losing;
static bool gone;
static u32 sticking;
static u32 slow_reads, slow_left;
static u32 lose_reg;

/* Return as if the function consisted only of a return. */
static int __kprobes skip(struct pt_regs *regs, long value)
{
	regs->ax = value;
	regs->ip = READ_ONCE_NOCHECK(*(unsigned long *)regs->sp);
	regs->sp += sizeof(unsigned long);
	return 1;
}

/* A post handler keeps a probe a trap: a jump in its place could not skip the function. */
static void __kprobes on_step(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}

/* ---- Writes ------------------------------------------------------------------ */

static void __kprobes see_mask(struct agate_device *adev, unsigned int vector, u32 value)
{
	if (!value)
		return;
	topic_seen.opened++;
	topic_seen.opened_gpu += vector == AGATE_VECTOR_GPU;
	/* Counted and not asserted: the test says what is wrong with it. */
	topic_seen.opened_unlocked += !raw_spin_is_locked(&adev->irq[vector].lock.rlock);
}

static void __kprobes see_command(struct agate_device *adev, u32 value)
{
	bool soft = value == GPU_CMD_SOFT_RESET;

	if (!soft && value != GPU_CMD_HARD_RESET)
		return;
	topic_seen.soft_resets += soft;
	topic_seen.hard_resets += !soft;
	slow_left = soft ? slow_reads : 0;
	topic_seen.resets_cut_off += !adev->pdev->is_busmaster;
}

static int __kprobes on_write(struct kprobe *kp, struct pt_regs *regs)
{
	struct agate_device *adev = (void *)regs->di;
	u32 value = regs->dx;

	switch ((u32)regs->si) {
	case GPU_INT_MASK:
		see_mask(adev, AGATE_VECTOR_GPU, value);
		break;
	case JOB_INT_MASK:
		see_mask(adev, AGATE_VECTOR_JOB, value);
		break;
	case MMU_INT_MASK:
		see_mask(adev, AGATE_VECTOR_MMU, value);
		break;
	case GPU_CMD:
		see_command(adev, value);
		if ((sticking >= 1 && value == GPU_CMD_SOFT_RESET) ||
		    (sticking >= 2 && value == GPU_CMD_HARD_RESET))
			return skip(regs, 0);
		break;
	case GPU_INT_CLEAR:
		/* A reset may clear everything: it has left nothing that anybody waits for. */
		topic_seen.clears_multiple += (value & GPU_IRQ_MULTIPLE_FAULT) &&
			!(value & ~(GPU_IRQ_FAULT | GPU_IRQ_MULTIPLE_FAULT));
		break;
	}
	return 0;
}

/*
 * The driver has to detach the bus after the handlers that use it, and before the
 * function that carries it.
 */
static int __kprobes on_detach(struct kprobe *kp, struct pt_regs *regs)
{
	struct agate_device *adev = (void *)regs->di;
	bool early = !atomic_read(&adev->pdev->enable_cnt);
	unsigned int i;

	for (i = 0; i < AGATE_NUM_VECTORS; i++) {
		bool handled = adev->irq[i].irq && irq_has_action(adev->irq[i].irq);

		early |= handled;
		topic_seen.numbers_left += adev->irq[i].irq && !handled;
	}
	topic_seen.detaches_early += early;
	return 0;
}

static bool __kprobes is_gpu(const struct pci_dev *pdev)
{
	return pdev->vendor == AGATE_PCI_VENDOR && pdev->device == AGATE_PCI_DEVICE;
}

static int __kprobes on_master(struct kprobe *kp, struct pt_regs *regs)
{
	struct pci_dev *pdev = (void *)regs->di;

	if (!is_gpu(pdev))
		return 0;
	topic_seen.masters++;
	topic_seen.masters_early += !pdev->resource[0].child || !pdev->resource[2].child ||
				    pdev->dma_mask != DMA_BIT_MASK(AGATE_PHYS_BITS);
	return 0;
}

/* The mask of the last time the driver had the function stays, so its value proves nothing. */
static int __kprobes on_dma_mask(struct kprobe *kp, struct pt_regs *regs)
{
	struct device *dev = (void *)regs->di;

	if (dev_is_pci(dev) && is_gpu(to_pci_dev(dev)))
		topic_seen.masters_early += to_pci_dev(dev)->is_busmaster;
	return 0;
}

static int __kprobes on_disable(struct kprobe *kp, struct pt_regs *regs)
{
	struct pci_dev *pdev = (void *)regs->di;

	if (is_gpu(pdev))
		topic_seen.disables_early += pdev->resource[0].child || pdev->resource[2].child;
	return 0;
}

/* ---- Reads ------------------------------------------------------------------- */

static bool __kprobes is_identity(u32 reg)
{
	return reg <= GPU_JS_PRESENT || reg == GPU_COHERENCY_FEATURES ||
	       (reg >= GPU_THREAD_MAX_THREADS && reg <= GPU_JS_FEATURES(15)) ||
	       (reg >= GPU_SHADER_PRESENT_LO && reg <= GPU_L2_PRESENT_LO + 4);
}

static int __kprobes on_read(struct kprobe *kp, struct pt_regs *regs)
{
	struct agate_device *adev = (void *)regs->di;
	u32 reg = regs->si;

	if (losing && reg == lose_reg) {
		WRITE_ONCE(adev->bus.ctrl->alive, 0);
		gone = true;
	}
	if (gone)
		return skip(regs, (u32)~0);
	if (slow_left && reg == GPU_INT_RAWSTAT) {
		slow_left--;
		return skip(regs, 0);
	}
	if (!forging || !is_identity(reg))
		return 0;
	return skip(regs, topic_forged(forge_seed, reg));
}

/* The topics must not start on a GPU with made-up features. */
static int __kprobes on_topics(struct kprobe *kp, struct pt_regs *regs)
{
	const struct agate_identity *id = &((struct agate_device *)regs->di)->id;
	struct topic_identity *seen = &topic_seen.identity;
	unsigned int i;

	*seen = (struct topic_identity){
		id->gpu_id, id->l2_features, id->core_features, id->tiler_features,
		id->mem_features, id->mmu_features, id->thread_features, id->max_threads,
		id->max_workgroup_size, id->max_barrier_size, id->coherency_features,
		id->as_present, id->js_present, { 0 },
		id->shader_present, id->tiler_present, id->l2_present,
	};
	for (i = 0; i < ARRAY_SIZE(seen->js_features); i++)
		seen->js_features[i] = id->js_features[i];
	topic_seen.identified = 1;
	return skip(regs, -EIO);
}

/* ---- A function with fewer vectors ---------------------------------------------- */

struct config_read {
	u16 *value;
};

static int __kprobes on_config(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct pci_dev *pdev = (void *)regs->di;

	if (!is_gpu(pdev) || (int)regs->si != pdev->msix_cap + PCI_MSIX_FLAGS)
		return 1;
	((struct config_read *)ri->data)->value = (u16 *)regs->dx;
	return 0;
}

static int __kprobes on_config_read(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	u16 *value = ((struct config_read *)ri->data)->value;

	*value = (*value & ~PCI_MSIX_FLAGS_QSIZE) | 1;
	return 0;
}

/* ---- Probes ------------------------------------------------------------------ */

enum { WRITES, DETACH, MASTER, DMA_MASK, DISABLE, READS, TOPICS, PROBES };

static const struct {
	const char *symbol;
	kprobe_pre_handler_t handler;
} watched[PROBES] = {
	[WRITES] = { "gpu_write", on_write },
	[DETACH] = { "agate_bus_detach", on_detach },
	[MASTER] = { "pci_set_master", on_master },
	[DMA_MASK] = { "dma_set_mask", on_dma_mask },
	[DISABLE] = { "pci_disable_device", on_disable },
	[READS] = { "gpu_read", on_read },
	[TOPICS] = { "agate_topics_init", on_topics },
};

static struct kprobe probes[PROBES];
static bool armed[PROBES];
static struct kretprobe config_probe;
static bool config_armed;

static int arm(unsigned int which)
{
	int ret;

	if (armed[which])
		return 0;
	probes[which] = (struct kprobe){
		.symbol_name = watched[which].symbol,
		.pre_handler = watched[which].handler,
		.post_handler = on_step,
	};
	ret = register_kprobe(&probes[which]);
	armed[which] = !ret;
	return ret;
}

int watch_writes(void)
{
	unsigned int which;
	int ret;

	topic_seen = (struct topic_seen){ 0 };
	for (which = WRITES; which <= DISABLE; which++) {
		ret = arm(which);
		if (ret)
			return ret;
	}
	return 0;
}

int watch_forge(u32 seed)
{
	int ret;

	forge_seed = seed;
	topic_seen.identified = 0;
	ret = arm(READS);
	if (!ret)
		ret = arm(TOPICS);
	forging = !ret;
	return ret;
}

int watch_lose_at(u32 reg)
{
	int ret;

	lose_reg = reg;
	ret = arm(READS);
	losing = !ret;
	return ret;
}

int watch_gone(void)
{
	int ret = arm(READS);

	gone = !ret;
	return ret;
}

int watch_stick(u32 stick)
{
	int ret = arm(WRITES);

	sticking = ret ? 0 : stick;
	return ret;
}

int watch_slow(u32 reads)
{
	int ret = arm(WRITES);

	if (!ret)
		ret = arm(READS);
	slow_reads = ret ? 0 : reads;
	return ret;
}

int watch_few_vectors(void)
{
	if (config_armed)
		return 0;
	memset(&config_probe, 0, sizeof(config_probe));
	config_probe.kp.symbol_name = "pci_read_config_word";
	config_probe.entry_handler = on_config;
	config_probe.handler = on_config_read;
	config_probe.data_size = sizeof(struct config_read);
	config_armed = !register_kretprobe(&config_probe);
	return config_armed ? 0 : -ENXIO;
}

void watch_end(void)
{
	struct kprobe *ended[PROBES];
	unsigned int i, count = 0;

	for (i = 0; i < PROBES; i++) {
		if (armed[i])
			ended[count++] = &probes[i];
		armed[i] = false;
	}
	unregister_kprobes(ended, count);
	if (config_armed)
		unregister_kretprobe(&config_probe);
	config_armed = false;
	forging = false;
	losing = false;
	gone = false;
	sticking = 0;
	slow_reads = 0;
	slow_left = 0;
}
