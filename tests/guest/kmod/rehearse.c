// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rehearsals of the driver's way up and down: within one probe, in the place of
 * agate_pci_init(), that function and agate_pci_fini() are called again and again, each
 * time with something else that goes wrong (topic.h).  A probe of its own for each would
 * take twenty times as long.
 *
 * What a probe gives to devres goes back after each rehearsal, as it does when a probe
 * has failed.  x86-64 only, like inject_point.c.
 */
#include <linux/device.h>
#include <linux/io.h>
#include <linux/kprobes.h>
#include <linux/pci.h>

#include "agate_bar2.h"
#include "agate_device.h"
#include "probes.h"
#include "watch.h"

/* A driver whose accesses never come to an end must not keep us here. */
#define MOST_LOSSES	1000

static int (*init)(struct agate_device *adev);
static void (*fini)(struct agate_device *adev);
static struct kprobe probe;
static bool armed;
static struct task_struct *rehearsing;
static struct agate_bar2_ctrl *ctrl;
static enum topic_rehearsal plan;

/* agate_pci_init() finds a new device, as in a probe. */
static void make_new(struct agate_device *adev)
{
	memset(&adev->irq, 0, sizeof(adev->irq));
	memset(&adev->bus, 0, sizeof(adev->bus));
	memset(&adev->id, 0, sizeof(adev->id));
	WRITE_ONCE(ctrl->alive, 1);
}

/* Up, and down again; false when something is not as it should be, which is remembered. */
static bool rehearse(struct agate_device *adev, u32 nth, u32 after_hard)
{
	struct device *dev = &adev->pdev->dev;
	unsigned int references = kref_read(&dev->kobj.kref);
	int ret;

	make_new(adev);
	access_lose_nth(nth, after_hard);
	if (!devres_open_group(dev, &plan, GFP_KERNEL))
		return false;
	ret = init(adev);
	topic_seen.rehearsed = ret;
	if (!ret)
		fini(adev);
	devres_release_group(dev, &plan);
	cancel_work_sync(&adev->lost_work);
	topic_seen.rehearsals++;
	topic_seen.rehearsed_answers = topic_seen.lost_answers;
	topic_seen.rehearsed_nth = nth;
	topic_seen.rehearsed_left = watch_left();
	/* Each rehearsal begins with a driver that the kernel has bound already. */
	if (kref_read(&dev->kobj.kref) > references)
		topic_seen.rehearsed_left |= LEFT_REFERENCE;
	return !topic_seen.rehearsed_left &&
	       (topic_seen.lost_answers ? ret == -ENODEV : !ret || ret == -ENODEV);
}

/* The GPU goes at one access after another, until all of them go well. */
static void lose_at_each(struct agate_device *adev)
{
	u32 nth;

	for (nth = 1; nth < MOST_LOSSES; nth++)
		if (!rehearse(adev, nth, 0) || topic_seen.accesses < nth)
			break;
}

static int stand_in(struct agate_device *adev)
{
	rehearsing = current;
	switch (plan) {
	case REHEARSE_LOSSES:
		lose_at_each(adev);
		break;
	case REHEARSE_HARD_LOSS:
		rehearse(adev, 0, 1);
		break;
	case REHEARSE_MEMORY:
		rehearse(adev, 0, 0);
		rehearse(adev, 0, 0);
		break;
	}
	make_new(adev);
	access_lose_nth(0, 0);
	rehearsing = NULL;
	return -ECANCELED;
}

static int __kprobes on_init(struct kprobe *kp, struct pt_regs *regs)
{
	if (rehearsing == current)
		return 0;
	regs->ip = (unsigned long)stand_in;
	return 1;
}

/* A post handler keeps the probe a trap: a jump in its place could not go elsewhere. */
static void __kprobes on_step(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}

static int map_control(void)
{
	struct pci_dev *pdev = pci_get_device(AGATE_PCI_VENDOR, AGATE_PCI_DEVICE, NULL);

	if (pdev && !ctrl)
		ctrl = memremap(pci_resource_start(pdev, 2) + AGATE_BAR2_CTRL, sizeof(*ctrl),
				MEMREMAP_WB);
	pci_dev_put(pdev);
	return ctrl ? 0 : -ENODEV;
}

int rehearse_next(enum topic_rehearsal what, void (*agate_pci_fini)(struct agate_device *adev))
{
	int ret = map_control();

	plan = what;
	fini = agate_pci_fini;
	topic_seen.rehearsals = 0;
	if (ret || armed)
		return ret;
	probe = (struct kprobe){
		.symbol_name = "agate_pci_init", .pre_handler = on_init, .post_handler = on_step,
	};
	ret = probe_arm(&probe);
	armed = !ret;
	init = (void *)probe.addr;
	return ret;
}

void rehearse_end(void)
{
	if (armed)
		probe_disarm(&probe);
	armed = false;
	if (ctrl)
		memunmap(ctrl);
	ctrl = NULL;
}
