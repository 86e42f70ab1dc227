// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runtime PM: the GPU has power only while it works.
 *
 * Runtime PM counts references and decides when; the callbacks below switch the bus, and with it
 * the power input, and a job that begins switches the domains that it needs.  So to look at
 * a counter costs no power for shader cores, and a domain that does not come up fails the job
 * that needs it, and not the device.
 *
 * A job powers the GPU on a fence's way to its signal.  That is why nothing here allocates
 * memory, and why a wait for an interrupt has a limit.
 */
#include <linux/dma-fence.h>
#include <linux/moduleparam.h>
#include <linux/pm_runtime.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>

#include "agate_device.h"
#include "agate_devfreq.h"
#include "agate_hand_over.h"
#include "agate_mmu.h"
#include "agate_pm.h"
#include "agate_power.h"
#include "agate_regs.h"
#include "agate_reset.h"

static int autosuspend_ms = 50;
module_param(autosuspend_ms, int, 0444);
MODULE_PARM_DESC(autosuspend_ms, "Milliseconds until an idle GPU loses its power, first value of power/autosuspend_delay_ms (default 50, negative: never)");

#define POWER_CHANGED	(GPU_IRQ_POWER_CHANGED_SINGLE | GPU_IRQ_POWER_CHANGED_ALL)

/* After this time the interrupt is lost, and the registers are polled once. */
#define IRQ_JIFFIES	max(HZ / 10, 1)

/**
 * struct domain - one power domain's registers (low words)
 * @name: for the log and debugfs
 * @on: PWRON
 * @off: PWROFF
 * @ready: READY
 * @trans: PWRTRANS
 */
struct domain {
	const char *name;
	u32 on;
	u32 off;
	u32 ready;
	u32 trans;
};

#define DOMAIN(name, reg)							\
	{ name, GPU_##reg##_PWRON_LO, GPU_##reg##_PWROFF_LO,			\
	  GPU_##reg##_READY_LO, GPU_##reg##_PWRTRANS_LO }

static const struct domain domains[AGATE_PM_DOMAINS] = {
	[AGATE_PM_L2] = DOMAIN("L2", L2),
	[AGATE_PM_SHADER] = DOMAIN("shader", SHADER),
	[AGATE_PM_TILER] = DOMAIN("tiler", TILER),
};

static u64 domain_cores(const struct agate_device *adev, enum agate_pm_domain which)
{
	switch (which) {
	case AGATE_PM_L2:
		return adev->id.l2_present;
	case AGATE_PM_SHADER:
		return adev->id.shader_present;
	default:
		return adev->id.tiler_present;
	}
}

/* ---- One domain -------------------------------------------------------- */

/* The GPU's vector: a transition has ended, or something that another part serves. */
static void serve(struct agate_device *adev)
{
	u32 seen = gpu_read(adev, GPU_INT_RAWSTAT);

	if (agate_bus_lost(adev))
		return;
	if (seen & POWER_CHANGED) {
		gpu_write(adev, GPU_INT_CLEAR, seen & POWER_CHANGED);
		complete(&adev->pm.changed);
	}
	if (seen & adev->pm.others)
		adev->pm.serve(adev);
}

/* Those of @cores that a register has; its high word only counts if it has some of them. */
static u64 read_cores(struct agate_device *adev, u32 reg_lo, u64 cores)
{
	u64 set = gpu_read(adev, reg_lo);

	if (upper_32_bits(cores))
		set |= (u64)gpu_read(adev, reg_lo + 4) << 32;
	return set & cores;
}

/*
 * As gpu_poll(), but on a busy host so many reads take longer than others can wait for the
 * processor.  A test counts the calls, so they are not inlined.
 */
static noinline int poll_trans(struct agate_device *adev, const struct domain *domain, u64 cores)
{
	unsigned int reads;

	for (reads = 0; reads < AGATE_POLL_READS; reads++) {
		if (!read_cores(adev, domain->trans, cores))
			return 0;
		if (agate_bus_lost(adev))
			return -ENODEV;
		cond_resched();
	}
	return -ETIMEDOUT;
}

/* An interrupt says that some transition has ended; the register says which. */
static int wait_settled(struct agate_device *adev, const struct domain *domain, u64 cores)
{
	while (read_cores(adev, domain->trans, cores)) {
		if (!wait_for_completion_timeout(&adev->pm.changed, IRQ_JIFFIES))
			return poll_trans(adev, domain, cores);
	}
	return agate_bus_lost(adev) ? -ENODEV : 0;
}

/* Write @cores to the register @command, and wait until READY has them, or has them no more. */
static int domain_switch(struct agate_device *adev, enum agate_pm_domain which, bool on)
{
	const struct domain *domain = &domains[which];
	u64 cores = domain_cores(adev, which);
	int ret;

	lockdep_assert_held(&adev->pm.lock);

	reinit_completion(&adev->pm.changed);
	gpu_write64(adev, on ? domain->on : domain->off, cores);
	ret = wait_settled(adev, domain, cores);
	if (ret == -ETIMEDOUT)
		adev->pm.broken = true;
	if (!ret && read_cores(adev, domain->ready, cores) != (on ? cores : 0))
		ret = -EIO;
	if (ret && ret != -ENODEV)
		dev_err(&adev->pdev->dev, "%s does not power %s\n", domain->name,
			on ? "up" : "down");
	return ret;
}

static int domain_up(struct agate_device *adev, enum agate_pm_domain which)
{
	int ret = 0;

	/* Later the L2 may hold lines of another protocol. */
	if (which == AGATE_PM_L2)
		ret = agate_select_protocol(adev);
	if (ret)
		return ret;
	ret = domain_switch(adev, which, true);
	if (!ret)
		adev->pm.up |= BIT(which);
	else if (ret != -ENODEV)
		adev->pm.failures++;
	/* Some of its cores may be on. */
	if (ret == -EIO)
		domain_switch(adev, which, false);
	return ret;
}

/* ---- All domains ------------------------------------------------------- */

static int domains_up(struct agate_device *adev, u32 wanted)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < AGATE_PM_DOMAINS; i++) {
		if (wanted & ~adev->pm.up & BIT(i))
			ret = domain_up(adev, i);
	}
	return ret;
}

/*
 * In reverse order.  A domain that is stuck must not lose its power input on its way: a reset
 * switches off what no command does.
 */
static void domains_down(struct agate_device *adev)
{
	struct agate_pm *pm = &adev->pm;
	unsigned int i = AGATE_PM_DOMAINS;

	while (i-- && !pm->broken) {
		if (pm->up & BIT(i))
			domain_switch(adev, i, false);
	}
	pm->up = 0;
	if (pm->broken)
		pm->broken = agate_gpu_soft_reset(adev);
}

int agate_pm_up(struct agate_device *adev)
{
	struct agate_pm *pm = &adev->pm;
	u32 wanted;
	int ret;

	mutex_lock(&pm->lock);
	wanted = pm->up | AGATE_PM_COMPUTE;
	pm->up = 0;
	pm->broken = false;
	ret = domains_up(adev, wanted);
	if (ret)
		domains_down(adev);
	mutex_unlock(&pm->lock);
	return ret;
}

void agate_pm_down(struct agate_device *adev)
{
	mutex_lock(&adev->pm.lock);
	domains_down(adev);
	mutex_unlock(&adev->pm.lock);
}

/* ---- References -------------------------------------------------------- */

/*
 * Without L2 and shader cores no chain is on the GPU, and nobody notices a reset.  Otherwise a
 * reset has to be scheduled, and the chains that it ends run again.  So does the job that wants
 * power now: nothing starts while a reset is pending, and the reset waits for the schedulers.
 */
static int mend(struct agate_device *adev)
{
	struct agate_pm *pm = &adev->pm;
	int ret;

	lockdep_assert_held(&pm->lock);

	if ((pm->up & AGATE_PM_COMPUTE) == AGATE_PM_COMPUTE) {
		agate_reset_schedule(adev);
		return atomic_read(&adev->reset.pending) ? -EAGAIN : -EIO;
	}
	ret = agate_gpu_soft_reset(adev);
	if (!ret) {
		pm->up = 0;
		pm->broken = false;
	}
	return ret;
}

/* A device that goes away may have no power input any more, and starts no chain. */
static int job_power(struct agate_device *adev, u32 wanted)
{
	struct agate_pm *pm = &adev->pm;
	int ret = 0;

	if (READ_ONCE(adev->slots.dead))
		return 0;
	mutex_lock(&pm->lock);
	if (pm->ready && pm->broken)
		ret = mend(adev);
	if (pm->ready && !ret)
		ret = domains_up(adev, wanted);
	mutex_unlock(&pm->lock);
	return ret == -EAGAIN ? 0 : ret;
}

int agate_pm_get(struct agate_device *adev, u32 wanted)
{
	bool cookie;
	int ret;

	agate_pm_keep(adev);
	cookie = dma_fence_begin_signalling();
	ret = job_power(adev, wanted);
	dma_fence_end_signalling(cookie);
	if (!ret)
		return 0;
	agate_pm_put(adev);
	return agate_bus_lost(adev) ? -ENODEV : -EIO;
}

/*
 * Jobs wait for this, and before it calls the driver, PCI's core asks ACPI, which allocates
 * memory.  The kernel may free other memory for that, and wait for one of these jobs: so this
 * thread takes what it needs from the reserves.  Lockdep cannot check it: PCI's core also takes a
 * mutex under which other devices allocate.  An error means that the system sleeps or wakes up,
 * and then the registers are awake.
 */
void agate_pm_keep(struct agate_device *adev)
{
	unsigned int flags = memalloc_noreclaim_save();

	pm_runtime_get_sync(&adev->pdev->dev);
	memalloc_noreclaim_restore(flags);
}

void agate_pm_put(struct agate_device *adev)
{
	pm_runtime_mark_last_busy(&adev->pdev->dev);
	pm_runtime_put_autosuspend(&adev->pdev->dev);
}

void agate_pm_chain_begin(struct agate_device *adev)
{
	pm_runtime_get_noresume(&adev->pdev->dev);
}

/* ---- Runtime PM's callbacks -------------------------------------------- */

static void set_off(struct agate_pm *pm, bool off)
{
	ktime_t now = ktime_get();

	lockdep_assert_held(&pm->lock);

	if (pm->off)
		pm->off_ns += ktime_to_ns(ktime_sub(now, pm->since));
	pm->off = off;
	pm->since = now;
}

/*
 * The thread of the JOB vector may have put the last chain's reference, and then have started
 * a chain that had waited behind it.  Once the thread is done, only a new reference could
 * bring another chain, and its owner waits for this callback.
 */
static bool has_work(struct agate_device *adev)
{
	bool work;

	spin_lock(&adev->slots.lock);
	work = adev->busy.chains || adev->slots.dead;
	spin_unlock(&adev->slots.lock);
	return work || atomic_read(&adev->reset.pending);
}

static void vectors_resume(struct agate_device *adev)
{
	agate_irq_resume(adev, AGATE_VECTOR_MMU);
	agate_irq_resume(adev, AGATE_VECTOR_JOB);
}

/* The TLBs forget everything: so from here on no page table is in the hardware. */
int agate_pm_runtime_suspend(struct device *dev)
{
	struct agate_device *adev = dev_get_drvdata(dev);
	struct agate_pm *pm = &adev->pm;

	agate_irq_suspend(adev, AGATE_VECTOR_JOB);
	agate_irq_suspend(adev, AGATE_VECTOR_MMU);
	if (has_work(adev)) {
		vectors_resume(adev);
		return -EBUSY;
	}
	agate_devfreq_suspend(adev);
	if (agate_topic_present(adev, AGATE_FEATURE_MMU))
		agate_mmu_reset(adev);
	agate_pm_down(adev);
	agate_irq_suspend(adev, AGATE_VECTOR_GPU);
	agate_bus_sleep(adev);
	mutex_lock(&pm->lock);
	set_off(pm, true);
	mutex_unlock(&pm->lock);
	return 0;
}

/*
 * A job may wait for this on its fence's way to its signal.  PCI's core has done its part
 * before, and takes locks of its own there: under these it allocates memory in probe and
 * removal only.
 */
int agate_pm_runtime_resume(struct device *dev)
{
	struct agate_device *adev = dev_get_drvdata(dev);
	bool cookie = dma_fence_begin_signalling();
	struct agate_pm *pm = &adev->pm;

	mutex_lock(&pm->lock);
	agate_bus_wake(adev);
	pm->broken = agate_gpu_soft_reset(adev);
	if (pm->broken && !agate_bus_lost(adev))
		dev_err(dev, "the GPU does not come out of its reset\n");
	agate_irq_resume(adev, AGATE_VECTOR_GPU);
	vectors_resume(adev);
	agate_devfreq_resume(adev);
	set_off(pm, false);
	pm->resumes++;
	mutex_unlock(&pm->lock);
	dma_fence_end_signalling(cookie);
	return 0;
}

/* ---- Topic ------------------------------------------------------------- */

void agate_pm_show(struct seq_file *m, struct agate_device *adev)
{
	struct agate_pm *pm = &adev->pm;
	unsigned int i;

	mutex_lock(&pm->lock);
	set_off(pm, pm->off);
	seq_printf(m, "input %s\n", pm->off ? "off" : "on");
	for (i = 0; i < AGATE_PM_DOMAINS; i++)
		seq_printf(m, "%s %s\n", domains[i].name, pm->up & BIT(i) ? "on" : "off");
	seq_printf(m, "resumes %llu\nfailures %llu\noff %llu ns\n", pm->resumes, pm->failures,
		   pm->off_ns);
	mutex_unlock(&pm->lock);
}

int agate_pm_topic_init(struct agate_device *adev)
{
	struct agate_irq *irq = &adev->irq[AGATE_VECTOR_GPU];
	struct device *dev = &adev->pdev->dev;
	struct agate_pm *pm = &adev->pm;

	init_completion(&pm->changed);
	pm->serve = irq->serve;
	pm->others = irq->mask;
	agate_irq_enable(adev, AGATE_VECTOR_GPU, pm->others | POWER_CHANGED, serve);

	mutex_lock(&pm->lock);
	pm->up = AGATE_PM_ALL;
	pm->broken = false;
	pm->since = ktime_get();
	pm->ready = true;
	mutex_unlock(&pm->lock);

	pm_runtime_set_autosuspend_delay(dev, autosuspend_ms);
	pm_runtime_use_autosuspend(dev);
	pm_runtime_allow(dev);
	agate_pm_put(adev);
	return 0;
}

/* The reference that this takes is the one that PCI's core drops after removal. */
void agate_pm_topic_fini(struct agate_device *adev)
{
	struct device *dev = &adev->pdev->dev;
	struct agate_pm *pm = &adev->pm;

	agate_pm_keep(adev);
	pm_runtime_forbid(dev);
	pm_runtime_dont_use_autosuspend(dev);
	job_power(adev, AGATE_PM_ALL);
	mutex_lock(&pm->lock);
	pm->ready = false;
	mutex_unlock(&pm->lock);
	/*
	 * The message of the last power command may come this late.  Let its thread end: the
	 * serve() of before takes every message for a fault of the GPU.
	 */
	agate_irq_suspend(adev, AGATE_VECTOR_GPU);
	agate_irq_enable(adev, AGATE_VECTOR_GPU, pm->others, pm->serve);
}
