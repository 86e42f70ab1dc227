// SPDX-License-Identifier: GPL-2.0-only
/*
 * The GPU's exception codes: as text for the log, and as error codes.
 */
#include <linux/errno.h>
#include <linux/kernel.h>

#include "agate_exceptions.h"
#include "agate_fault.h"

const char *agate_exception_name(u32 code)
{
	const char *name = agate_exc_name(code);

	return name ? name : "unknown exception";
}

int agate_exception_errno(u32 code)
{
	switch (code) {
	case AGATE_EXC_TERMINATED:
		return -ECANCELED;
	case AGATE_EXC_JOB_POWER_FAULT:
	case AGATE_EXC_JOB_BUS_FAULT:
	case AGATE_EXC_DELAYED_BUS_FAULT:
	case AGATE_EXC_TRANSTAB_BUS_FAULT_0 ... AGATE_EXC_TRANSTAB_BUS_FAULT_0 + 3:
		return -EIO;
	default:
		return -EINVAL;
	}
}
