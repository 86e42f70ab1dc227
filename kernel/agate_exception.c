// SPDX-License-Identifier: GPL-2.0-only
/*
 * The GPU's exception codes: as text for the log, and as error codes.
 */
#include <linux/errno.h>
#include <linux/kernel.h>

#include "agate_fault.h"
#include "agate_regs.h"

static const char * const exception_names[] = {
	[AGATE_EXC_NOT_STARTED] = "not started",
	[AGATE_EXC_DONE] = "done",
	[AGATE_EXC_INTERRUPTED] = "interrupted",
	[AGATE_EXC_STOPPED] = "stopped",
	[AGATE_EXC_TERMINATED] = "terminated",
	[AGATE_EXC_KABOOM] = "kaboom",
	[AGATE_EXC_EUREKA] = "eureka",
	[AGATE_EXC_ACTIVE] = "active",
	[AGATE_EXC_JOB_CONFIG_FAULT] = "job config fault",
	[AGATE_EXC_JOB_POWER_FAULT] = "job power fault",
	[AGATE_EXC_JOB_READ_FAULT] = "job read fault",
	[AGATE_EXC_JOB_WRITE_FAULT] = "job write fault",
	[AGATE_EXC_JOB_AFFINITY_FAULT] = "job affinity fault",
	[AGATE_EXC_JOB_BUS_FAULT] = "job bus fault",
	[AGATE_EXC_INSTR_INVALID_PC] = "invalid program counter",
	[AGATE_EXC_INSTR_INVALID_ENC] = "invalid instruction encoding",
	[AGATE_EXC_INSTR_TYPE_MISMATCH] = "instruction type mismatch",
	[AGATE_EXC_INSTR_OPERAND_FAULT] = "instruction operand fault",
	[AGATE_EXC_INSTR_TLS_FAULT] = "thread-local storage fault",
	[AGATE_EXC_INSTR_BARRIER_FAULT] = "barrier fault",
	[AGATE_EXC_INSTR_ALIGN_FAULT] = "alignment fault",
	[AGATE_EXC_DATA_INVALID_FAULT] = "invalid data fault",
	[AGATE_EXC_TILE_RANGE_FAULT] = "tile range fault",
	[AGATE_EXC_ADDR_RANGE_FAULT] = "address range fault",
	[AGATE_EXC_IMPRECISE_FAULT] = "imprecise fault",
	[AGATE_EXC_OUT_OF_MEMORY] = "out of memory",
	[AGATE_EXC_UNKNOWN] = "unknown fault",
	[AGATE_EXC_DELAYED_BUS_FAULT] = "delayed bus fault",
	[AGATE_EXC_GPU_SHAREABILITY_FAULT] = "GPU shareability fault",
	[AGATE_EXC_SYS_SHAREABILITY_FAULT] = "system shareability fault",
	[AGATE_EXC_GPU_CACHEABILITY_FAULT] = "GPU cacheability fault",
	[AGATE_EXC_TRANSLATION_FAULT_0] = "translation fault at level 0",
	[AGATE_EXC_TRANSLATION_FAULT_0 + 1] = "translation fault at level 1",
	[AGATE_EXC_TRANSLATION_FAULT_0 + 2] = "translation fault at level 2",
	[AGATE_EXC_TRANSLATION_FAULT_0 + 3] = "translation fault at level 3",
	[AGATE_EXC_PERMISSION_FAULT_0] = "permission fault at level 0",
	[AGATE_EXC_PERMISSION_FAULT_0 + 1] = "permission fault at level 1",
	[AGATE_EXC_PERMISSION_FAULT_0 + 2] = "permission fault at level 2",
	[AGATE_EXC_PERMISSION_FAULT_0 + 3] = "permission fault at level 3",
	[AGATE_EXC_TRANSTAB_BUS_FAULT_0] = "table bus fault at level 0",
	[AGATE_EXC_TRANSTAB_BUS_FAULT_0 + 1] = "table bus fault at level 1",
	[AGATE_EXC_TRANSTAB_BUS_FAULT_0 + 2] = "table bus fault at level 2",
	[AGATE_EXC_TRANSTAB_BUS_FAULT_0 + 3] = "table bus fault at level 3",
	[AGATE_EXC_ACCESS_FLAG_0] = "access flag fault at level 0",
	[AGATE_EXC_ACCESS_FLAG_0 + 1] = "access flag fault at level 1",
	[AGATE_EXC_ACCESS_FLAG_0 + 2] = "access flag fault at level 2",
	[AGATE_EXC_ACCESS_FLAG_0 + 3] = "access flag fault at level 3",
	[AGATE_EXC_ADDR_SIZE_FAULT_IN_0] = "input address size fault at level 0",
	[AGATE_EXC_ADDR_SIZE_FAULT_IN_0 + 1] = "input address size fault at level 1",
	[AGATE_EXC_ADDR_SIZE_FAULT_IN_0 + 2] = "input address size fault at level 2",
	[AGATE_EXC_ADDR_SIZE_FAULT_IN_0 + 3] = "input address size fault at level 3",
	[AGATE_EXC_ADDR_SIZE_FAULT_OUT_0] = "output address size fault at level 0",
	[AGATE_EXC_ADDR_SIZE_FAULT_OUT_0 + 1] = "output address size fault at level 1",
	[AGATE_EXC_ADDR_SIZE_FAULT_OUT_0 + 2] = "output address size fault at level 2",
	[AGATE_EXC_ADDR_SIZE_FAULT_OUT_0 + 3] = "output address size fault at level 3",
	[AGATE_EXC_MEM_ATTR_FAULT_0] = "memory attribute fault at level 0",
	[AGATE_EXC_MEM_ATTR_FAULT_0 + 1] = "memory attribute fault at level 1",
	[AGATE_EXC_MEM_ATTR_FAULT_0 + 2] = "memory attribute fault at level 2",
	[AGATE_EXC_MEM_ATTR_FAULT_0 + 3] = "memory attribute fault at level 3",
};

const char *agate_exception_name(u32 code)
{
	if (code < ARRAY_SIZE(exception_names) && exception_names[code])
		return exception_names[code];
	return "unknown exception";
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
