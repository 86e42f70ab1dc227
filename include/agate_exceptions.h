/* SPDX-License-Identifier: MIT */
/*
 * The names of the GPU's exception codes, for the simulator, the driver and libagate.
 */
#ifndef AGATE_EXCEPTIONS_H
#define AGATE_EXCEPTIONS_H

#ifdef __KERNEL__
#include <linux/stddef.h>
#else
#include <stddef.h>
#endif

#include "agate_regs.h"

/* Every AGATE_EXC_* that is one code. */
#define AGATE_EXCEPTIONS(X)							\
	X(NOT_STARTED) X(DONE) X(INTERRUPTED) X(STOPPED) X(TERMINATED) X(KABOOM)	\
	X(EUREKA) X(ACTIVE) X(JOB_CONFIG_FAULT) X(JOB_POWER_FAULT) X(JOB_READ_FAULT)	\
	X(JOB_WRITE_FAULT) X(JOB_AFFINITY_FAULT) X(JOB_BUS_FAULT) X(INSTR_INVALID_PC)	\
	X(INSTR_INVALID_ENC) X(INSTR_TYPE_MISMATCH) X(INSTR_OPERAND_FAULT)		\
	X(INSTR_TLS_FAULT) X(INSTR_BARRIER_FAULT) X(INSTR_ALIGN_FAULT)			\
	X(DATA_INVALID_FAULT) X(TILE_RANGE_FAULT) X(ADDR_RANGE_FAULT)			\
	X(IMPRECISE_FAULT) X(OUT_OF_MEMORY) X(UNKNOWN) X(DELAYED_BUS_FAULT)		\
	X(GPU_SHAREABILITY_FAULT) X(SYS_SHAREABILITY_FAULT) X(GPU_CACHEABILITY_FAULT)

/* Every AGATE_EXC_*_0 that is four codes, one for each level of the page table. */
#define AGATE_LEVEL_EXCEPTIONS(X)						\
	X(TRANSLATION_FAULT) X(PERMISSION_FAULT) X(TRANSTAB_BUS_FAULT) X(ACCESS_FLAG)	\
	X(ADDR_SIZE_FAULT_IN) X(ADDR_SIZE_FAULT_OUT) X(MEM_ATTR_FAULT)

/* An exception's name without AGATE_EXC_, or NULL for a code without one. */
static inline const char *agate_exc_name(unsigned int code)
{
#define AGATE_EXC_CASE(e)	case AGATE_EXC_##e: return #e;
#define AGATE_EXC_LEVELS(e)						\
	case AGATE_EXC_##e##_0: return #e "_0";				\
	case AGATE_EXC_##e##_0 + 1: return #e "_1";			\
	case AGATE_EXC_##e##_0 + 2: return #e "_2";			\
	case AGATE_EXC_##e##_0 + 3: return #e "_3";
	switch (code) {
	AGATE_EXCEPTIONS(AGATE_EXC_CASE)
	AGATE_LEVEL_EXCEPTIONS(AGATE_EXC_LEVELS)
	default:
		return NULL;
	}
#undef AGATE_EXC_CASE
#undef AGATE_EXC_LEVELS
}

#endif /* AGATE_EXCEPTIONS_H */
