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
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/pci.h>
#include <linux/spinlock.h>

#include "agate_device.h"
#include "probes.h"

struct topic_seen topic_seen;

/* A post handler keeps a probe a trap: a jump in its place could not skip the function. */
static void __kprobes on_step(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}

static struct task_struct *leaving;	/* the task that is in agate_pci_fini() */
static struct agate_device *left_by;	/* ... and of which device */
static unsigned int references;		/* to the device while no driver has it, or 0 */

/* ---- Steps up and down ----------------------------------------------------------- */

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
	topic_seen.attached--;
	leaving = NULL;
	return 0;
}

struct agate_device *watch_device(void)
{
	struct pci_dev *pdev = pci_get_device(AGATE_PCI_VENDOR, AGATE_PCI_DEVICE, NULL);
	struct agate_device *adev = NULL;

	if (pdev && pdev->dev.driver)
		adev = pci_get_drvdata(pdev);
	pci_dev_put(pdev);
	return adev;
}

/* The kernel exports no function for this, but a probe finds the one that it has. */
unsigned long watch_symbol(const char *symbol)
{
	static typeof(kallsyms_lookup_name) *lookup;
	struct kprobe kp = { .symbol_name = "kallsyms_lookup_name", .flags = KPROBE_FLAG_DISABLED };

	if (!lookup) {
		if (probe_arm(&kp))
			return 0;
		lookup = (void *)kp.addr;
		probe_disarm(&kp);
	}
	return lookup(symbol);
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

/* Counts the buses that are attached: the balance says more than a look at each mapping. */
static int __kprobes on_attached(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	topic_seen.attached += !(int)regs->ax;
	return 0;
}

static int __kprobes on_leave(struct kprobe *kp, struct pt_regs *regs)
{
	leaving = current;
	left_by = (void *)regs->di;
	access_leaving();
	return 0;
}

static int __kprobes on_free_irq(struct kprobe *kp, struct pt_regs *regs)
{
	unsigned int number = regs->di, i;

	irqs_freeing(number);
	if (leaving != current)
		return 0;
	topic_seen.freed_open += access_gpu_open();
	for (i = 0; i < AGATE_NUM_VECTORS && left_by->irq[i].irq != number; i++)
		;
	topic_seen.numbers_early += i == AGATE_NUM_VECTORS;
	return 0;
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
	return watch_skip(regs, -EIO);
}

/* ---- A function with fewer vectors, or more ---------------------------------------------- */

static unsigned int vectors_claimed;

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

	*value = (*value & ~PCI_MSIX_FLAGS_QSIZE) | (vectors_claimed - 1);
	return 0;
}

/* ---- Probes ------------------------------------------------------------------ */

enum { DETACH, MASTER, DMA_MASK, LEAVE, FREE_IRQ, WATCHED, TOPICS = WATCHED, PROBES };

static const struct {
	const char *symbol;
	kprobe_pre_handler_t handler;
} watched[PROBES] = {
	[DETACH] = { "agate_bus_detach", on_detach },
	[MASTER] = { "pci_set_master", on_master },
	[DMA_MASK] = { "dma_set_mask", on_dma_mask },
	[LEAVE] = { "agate_pci_fini", on_leave },
	[FREE_IRQ] = { "free_irq", on_free_irq },
	[TOPICS] = { "agate_topics_init", on_topics },
};

static struct kprobe probes[PROBES];
static bool armed[PROBES];
static struct kretprobe config_probe, attach_probe;
static bool config_armed, attach_armed;

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
	ret = probe_arm(&probes[which]);
	armed[which] = !ret;
	return ret;
}

static int arm_attach(void)
{
	int ret;

	if (attach_armed)
		return 0;
	memset(&attach_probe, 0, sizeof(attach_probe));
	attach_probe.kp.symbol_name = "agate_bus_attach";
	attach_probe.handler = on_attached;
	ret = return_probe_arm(&attach_probe);
	attach_armed = !ret;
	return ret;
}

u32 watch_left(void)
{
	struct pci_dev *pdev = pci_get_device(AGATE_PCI_VENDOR, AGATE_PCI_DEVICE, NULL);
	u32 taken = 0;
	int bar;

	if (!pdev)
		return 0;
	if (atomic_read(&pdev->enable_cnt))
		taken |= LEFT_ENABLED;
	if (pdev->is_busmaster)
		taken |= LEFT_MASTER;
	if (pdev->msix_enabled || pdev->msi_enabled)
		taken |= LEFT_MSIX;
	for (bar = 0; bar < PCI_STD_NUM_BARS; bar++)
		if (pdev->resource[bar].child)
			taken |= LEFT_REGIONS;
	if (references && !pdev->dev.driver && kref_read(&pdev->dev.kobj.kref) > references)
		taken |= LEFT_REFERENCE;
	if (topic_seen.attached > 0)
		taken |= LEFT_BUS;
	if (topic_seen.attached < 0)
		taken |= LEFT_UNMATCHED;
	pci_dev_put(pdev);
	return taken;
}

/* As watch_left() sees them, who holds one of its own. */
static unsigned int count_references(bool bound)
{
	struct pci_dev *pdev = pci_get_device(AGATE_PCI_VENDOR, AGATE_PCI_DEVICE, NULL);
	unsigned int count = pdev && !bound ? kref_read(&pdev->dev.kobj.kref) : 0;

	pci_dev_put(pdev);
	return count;
}

struct module *watch_driver(void)
{
	struct device_driver *found = driver_find("agate", &pci_bus_type);

	return found ? found->owner : NULL;
}

int watch_steps(bool bound)
{
	unsigned int which;
	int ret = access_watch();

	topic_seen = (struct topic_seen){ .attached = bound };
	references = count_references(bound);
	for (which = 0; which < WATCHED && !ret; which++)
		ret = arm(which);
	if (!ret)
		ret = arm_attach();
	return ret ? ret : irqs_watch();
}

int watch_forge(u32 seed)
{
	int ret = access_forge(seed);

	topic_seen.identified = 0;
	return ret ? ret : arm(TOPICS);
}

int watch_vectors(u32 count)
{
	vectors_claimed = count;
	if (config_armed)
		return 0;
	memset(&config_probe, 0, sizeof(config_probe));
	config_probe.kp.symbol_name = "pci_read_config_word";
	config_probe.entry_handler = on_config;
	config_probe.handler = on_config_read;
	config_probe.data_size = sizeof(struct config_read);
	config_armed = !return_probe_arm(&config_probe);
	return config_armed ? 0 : -ENXIO;
}

void watch_end(void)
{
	struct kretprobe *returns[IRQS_PROBES + 2];
	struct kprobe *ended[PROBES];
	unsigned int i, count = 0, r;

	rehearse_end();
	limits_end();
	irqs_gather();
	access_end();
	for (i = 0; i < PROBES; i++) {
		if (armed[i])
			ended[count++] = &probes[i];
		armed[i] = false;
	}
	probes_disarm(ended, count);
	r = irqs_end(returns);
	if (config_armed)
		returns[r++] = &config_probe;
	if (attach_armed)
		returns[r++] = &attach_probe;
	return_probes_disarm(returns, r);
	config_armed = false;
	attach_armed = false;
}
