// SPDX-License-Identifier: GPL-2.0-only
/*
 * The GPU's power domains.  The driver switches the domains on in order and off in
 * reverse order, and finishes each step before it begins the next.  Everything that is
 * present stays on from probe to removal, except while the system sleeps.  A reset switches
 * everything off, so it ends in agate_power_on(), too.
 *
 * Topic "pm" does all this with interrupts instead of polling, and domain by domain.
 */
#include "agate_device.h"
#include "agate_hand_over.h"
#include "agate_pm.h"
#include "agate_power.h"
#include "agate_regs.h"

/**
 * struct agate_domain - one power domain's registers (low words)
 * @name: for the log
 * @on: PWRON
 * @off: PWROFF
 * @ready: READY
 * @trans: PWRTRANS
 */
struct agate_domain {
	const char *name;
	u32 on;
	u32 off;
	u32 ready;
	u32 trans;
};

#define DOMAIN(name, reg)							\
	{ name, GPU_##reg##_PWRON_LO, GPU_##reg##_PWROFF_LO,			\
	  GPU_##reg##_READY_LO, GPU_##reg##_PWRTRANS_LO }

static const struct agate_domain domain_l2 = DOMAIN("L2", L2);
static const struct agate_domain domain_shader = DOMAIN("shader", SHADER);
static const struct agate_domain domain_tiler = DOMAIN("tiler", TILER);

static int poll64(struct agate_device *adev, u32 reg, u64 mask, u64 want)
{
	int ret = gpu_poll(adev, reg, lower_32_bits(mask), lower_32_bits(want));

	if (!ret && upper_32_bits(mask))
		ret = gpu_poll(adev, reg + 4, upper_32_bits(mask), upper_32_bits(want));
	return ret;
}

static int domain_on(struct agate_device *adev, const struct agate_domain *domain, u64 cores)
{
	int ret;

	gpu_write64(adev, domain->on, cores);
	ret = poll64(adev, domain->ready, cores, cores);
	if (ret == -ETIMEDOUT)
		dev_err(&adev->pdev->dev, "%s does not power up\n", domain->name);
	return ret;
}

static void domain_off(struct agate_device *adev, const struct agate_domain *domain, u64 cores)
{
	int ret;

	/* A core in transition ignores commands. */
	ret = poll64(adev, domain->trans, cores, 0);
	if (!ret) {
		gpu_write64(adev, domain->off, cores);
		ret = poll64(adev, domain->ready, cores, 0);
	}
	if (!ret)
		ret = poll64(adev, domain->trans, cores, 0);
	if (ret == -ETIMEDOUT)
		dev_err(&adev->pdev->dev, "%s does not power down\n", domain->name);
}

static void all_off(struct agate_device *adev)
{
	domain_off(adev, &domain_tiler, adev->id.tiler_present);
	domain_off(adev, &domain_shader, adev->id.shader_present);
	domain_off(adev, &domain_l2, adev->id.l2_present);
}

int agate_power_on(struct agate_device *adev)
{
	int ret;

	if (adev->pm.ready)
		return agate_pm_up(adev);

	/* Before the L2 is up: later it may hold lines of another protocol. */
	ret = agate_select_protocol(adev);
	if (!ret)
		ret = domain_on(adev, &domain_l2, adev->id.l2_present);
	if (!ret)
		ret = domain_on(adev, &domain_shader, adev->id.shader_present);
	if (!ret)
		ret = domain_on(adev, &domain_tiler, adev->id.tiler_present);
	if (ret) {
		all_off(adev);
		return ret;
	}
	adev->power.on = true;
	return 0;
}

void agate_power_off(struct agate_device *adev)
{
	if (adev->pm.ready)
		return agate_pm_down(adev);
	if (!adev->power.on)
		return;
	all_off(adev);
	adev->power.on = false;
}

int agate_power_topic_init(struct agate_device *adev)
{
	return agate_power_on(adev);
}

void agate_power_topic_fini(struct agate_device *adev)
{
	agate_power_off(adev);
}

int agate_power_topic_suspend(struct agate_device *adev)
{
	agate_power_off(adev);
	return 0;
}

int agate_power_topic_resume(struct agate_device *adev)
{
	return agate_power_on(adev);
}
