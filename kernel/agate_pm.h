/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "pm" (lab 17): the GPU has power only while it works.
 *
 * A user of the GPU's registers holds a reference from agate_pm_get() or agate_pm_keep().
 * When none has been held for the autosuspend delay, the driver's runtime PM callbacks switch
 * all domains and the power input off, and no register is used until somebody wants a
 * reference again.  While a chain is on a slot, agate_busy.h holds one.
 *
 * The registers come back with the first reference, the domains one by one: a job powers the
 * L2 and the shader cores, and the tiler only if it may have TILER jobs.  The driver waits for
 * a transition by interrupt, so a thread that waits leaves its CPU to others.
 *
 * Without the topic, or with the module parameter runtime_pm=0, the GPU always has its power, see
 * agate_power.h, and these calls switch nothing.  The PCI function stays in D0 or goes to
 * D3hot, as PCI's core decides; that of a card stays in D0, because the card has a supply of
 * its own, and its mover, its table and its display go on while the GPU is off.
 */
#ifndef AGATE_PM_H
#define AGATE_PM_H

#include <linux/completion.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/types.h>

struct agate_device;
struct device;
struct seq_file;

/** enum agate_pm_domain - the power domains, in the order in which they go up */
enum agate_pm_domain {
	AGATE_PM_L2,
	AGATE_PM_SHADER,
	AGATE_PM_TILER,
	AGATE_PM_DOMAINS
};

/* What a chain without TILER jobs needs, and what all others need. */
#define AGATE_PM_COMPUTE	(BIT(AGATE_PM_L2) | BIT(AGATE_PM_SHADER))
#define AGATE_PM_ALL		(AGATE_PM_COMPUTE | BIT(AGATE_PM_TILER))

/**
 * struct agate_pm - runtime PM of one device
 * @lock: one change of the domains at a time; protects all of this but @changed; the frame
 *	initialises it
 * @ready: the topic is present, and does all that agate_power.h promises
 * @off: runtime PM has switched the power input off, and no register of the GPU is used
 * @broken: the GPU needs a reset before its domains can be switched again
 * @up: domains (BIT of enum agate_pm_domain) that are on
 * @changed: a domain has finished a transition
 * @serve: who served the GPU's vector before this topic, and still serves its other bits
 * @others: those bits
 * @resumes: how often the power input came back
 * @failures: how often a domain did not come up
 * @since: when @off last changed
 * @off_ns: time without power, up to @since
 */
struct agate_pm {
	struct mutex lock;	/* the domains */
	bool ready;
	bool off;
	bool broken;
	u32 up;
	struct completion changed;
	void (*serve)(struct agate_device *adev);
	u32 others;
	u64 resumes;
	u64 failures;
	ktime_t since;
	u64 off_ns;
};

/**
 * agate_pm_topic_init - allow runtime PM
 * @adev: the device, whose domains are all on; nothing uses its registers any more without a
 *	reference
 *
 * PCI's core holds a reference while it probes a device, and forbids runtime PM of every
 * function.  This gives the reference back, and allows it.
 *
 * Return: 0; -EOPNOTSUPP when the topic is absent.
 */
int agate_pm_topic_init(struct agate_device *adev);

/**
 * agate_pm_topic_fini - wake the GPU, and keep it awake
 * @adev: the device
 *
 * From here on the GPU has its power, or at least its registers.
 */
void agate_pm_topic_fini(struct agate_device *adev);

/**
 * agate_pm_get - power the GPU for a job
 * @adev: the device
 * @domains: AGATE_PM_COMPUTE or AGATE_PM_ALL
 *
 * Domains that are on stay on.  After a failure the next call tries again.  If a domain is
 * stuck beside one that may have chains, the next call schedules a reset of the GPU instead,
 * which runs the job again.
 *
 * Context: a thread on a fence's way to its signal: allocates nothing for which memory would
 * have to be freed, and waits for nobody who does.  The caller holds no lock from pm.lock inwards.
 * Return: 0 with a reference, but perhaps without power if the device goes away or a reset is
 * pending; -EIO when a domain did not come up; -ENODEV when the GPU is gone.
 */
int agate_pm_get(struct agate_device *adev, u32 domains);

/**
 * agate_pm_keep - wake the registers, and only them
 * @adev: the device
 *
 * For everybody who uses registers and runs no job: counters, resets, timeouts, sleep and
 * loss of the device.
 *
 * Context: as agate_pm_get().  Never fails: a GPU that does not answer has registers all the
 * same, and one that is gone has none that matter.
 */
void agate_pm_keep(struct agate_device *adev);

/**
 * agate_pm_put - give a reference back
 * @adev: the device
 *
 * Context: any.
 */
void agate_pm_put(struct agate_device *adev);

/**
 * agate_pm_chain_begin - a chain goes to a slot: one more reference
 * @adev: the device; the caller holds a reference
 *
 * Context: any; under slots.lock.
 */
void agate_pm_chain_begin(struct agate_device *adev);

/**
 * agate_pm_up - after a reset, power up what was on before, at least L2 and shader cores
 * @adev: the device; just reset, so that everything is off; the caller holds a reference
 *
 * Return: as agate_power_on().
 */
int agate_pm_up(struct agate_device *adev);

/**
 * agate_pm_down - power all domains down
 * @adev: the device; no job is running
 */
void agate_pm_down(struct agate_device *adev);

/**
 * agate_pm_runtime_suspend - switch the GPU off, for dev_pm_ops.runtime_suspend (agate_sleep.c)
 * @dev: the PCI function
 *
 * Return: 0; -EBUSY when a chain or a reset came in between, or the device goes.
 */
int agate_pm_runtime_suspend(struct device *dev);

/**
 * agate_pm_runtime_resume - dev_pm_ops.runtime_resume
 * @dev: the PCI function
 *
 * Switches the power input on, resets the GPU, which may have forgotten everything, and opens
 * its masks.
 *
 * Return: 0, also when the reset did not complete: agate_pm_get() tries it again.  An error
 * would end runtime PM for good.
 */
int agate_pm_runtime_resume(struct device *dev);

/**
 * agate_pm_show - debugfs: which domains are on, how often they came back, how long they were
 * off
 * @m: the file
 * @adev: the device
 *
 * Uses no register, and wakes nothing.
 */
void agate_pm_show(struct seq_file *m, struct agate_device *adev);

#endif /* AGATE_PM_H */
