/* SPDX-License-Identifier: MIT */
/*
 * The Agate GPU's registers, for both sides of the bus.
 *
 * Blocks 0x0000-0x3fff keep the offsets, bit positions and command values of
 * the public Mali Midgard/Bifrost interface.  The normative text is hardware.md;
 * this file states it in C, and both the simulator and the driver compile it.
 * Nothing here may depend on either of them.
 */
#ifndef AGATE_REGS_H
#define AGATE_REGS_H

/* ---- GPU control block, 0x0000 ---------------------------------------- */

#define GPU_ID				0x000
#define GPU_L2_FEATURES			0x004
#define GPU_CORE_FEATURES		0x008
#define GPU_TILER_FEATURES		0x00c
#define GPU_MEM_FEATURES		0x010
#define GPU_MMU_FEATURES		0x014
#define GPU_AS_PRESENT			0x018
#define GPU_JS_PRESENT			0x01c

#define GPU_INT_RAWSTAT			0x020
#define GPU_INT_CLEAR			0x024
#define GPU_INT_MASK			0x028
#define GPU_INT_STAT			0x02c
#define   GPU_IRQ_FAULT			(1u << 0)
#define   GPU_IRQ_MULTIPLE_FAULT	(1u << 7)
#define   GPU_IRQ_RESET_COMPLETED	(1u << 8)
#define   GPU_IRQ_POWER_CHANGED_SINGLE	(1u << 9)
#define   GPU_IRQ_POWER_CHANGED_ALL	(1u << 10)
#define   GPU_IRQ_PERFCNT_SAMPLE_COMPLETED (1u << 16)
#define   GPU_IRQ_CLEAN_CACHES_COMPLETED (1u << 17)

#define GPU_CMD				0x030
#define   GPU_CMD_NOP			0
#define   GPU_CMD_SOFT_RESET		1
#define   GPU_CMD_HARD_RESET		2
#define   GPU_CMD_PERFCNT_CLEAR		3
#define   GPU_CMD_PERFCNT_SAMPLE	4
#define   GPU_CMD_CYCLE_COUNT_START	5
#define   GPU_CMD_CYCLE_COUNT_STOP	6
#define   GPU_CMD_CLEAN_CACHES		7
#define   GPU_CMD_CLEAN_INV_CACHES	8
#define   GPU_CMD_SET_PROTECTED_MODE	9
#define GPU_STATUS			0x034
#define   GPU_STATUS_PRFCNT_ACTIVE	(1u << 2)
#define   GPU_STATUS_CYCLE_COUNT_ACTIVE	(1u << 6)
#define   GPU_STATUS_PROTECTED_MODE	(1u << 7)
#define GPU_LATEST_FLUSH_ID		0x038
#define GPU_FAULT_STATUS		0x03c
#define GPU_FAULT_ADDRESS_LO		0x040
#define GPU_FAULT_ADDRESS_HI		0x044
#define GPU_AFBC_FEATURES		0x04c

#define GPU_PWR_KEY			0x050
#define   GPU_PWR_KEY_UNLOCK		0x2968a819
#define GPU_PWR_OVERRIDE0		0x054
#define GPU_PWR_OVERRIDE1		0x058

#define GPU_PERFCNT_BASE_LO		0x060
#define GPU_PERFCNT_BASE_HI		0x064
#define GPU_PERFCNT_CFG			0x068
#define   GPU_PERFCNT_CFG_MODE(x)	((x) & 0xf)
#define   GPU_PERFCNT_CFG_MODE_OFF	0
#define   GPU_PERFCNT_CFG_MODE_MANUAL	1
#define   GPU_PERFCNT_CFG_AS(x)		(((x) & 0xf) << 4)
#define GPU_PRFCNT_JM_EN		0x06c
#define GPU_PRFCNT_SHADER_EN		0x070
#define GPU_PRFCNT_TILER_EN		0x074
#define GPU_PRFCNT_MMU_L2_EN		0x07c

#define GPU_CYCLE_COUNT_LO		0x090
#define GPU_CYCLE_COUNT_HI		0x094
#define GPU_TIMESTAMP_LO		0x098
#define GPU_TIMESTAMP_HI		0x09c

#define GPU_THREAD_MAX_THREADS		0x0a0
#define GPU_THREAD_MAX_WORKGROUP_SIZE	0x0a4
#define GPU_THREAD_MAX_BARRIER_SIZE	0x0a8
#define GPU_THREAD_FEATURES		0x0ac
#define GPU_TEXTURE_FEATURES(n)		(0x0b0 + 4 * (n))	/* n = 0..3 */
#define GPU_JS_FEATURES(n)		(0x0c0 + 4 * (n))	/* n = 0..15 */

#define GPU_SHADER_PRESENT_LO		0x100
#define GPU_SHADER_PRESENT_HI		0x104
#define GPU_TILER_PRESENT_LO		0x110
#define GPU_TILER_PRESENT_HI		0x114
#define GPU_L2_PRESENT_LO		0x120
#define GPU_L2_PRESENT_HI		0x124
#define GPU_STACK_PRESENT_LO		0xe00
#define GPU_STACK_PRESENT_HI		0xe04

#define GPU_SHADER_READY_LO		0x140
#define GPU_SHADER_READY_HI		0x144
#define GPU_TILER_READY_LO		0x150
#define GPU_TILER_READY_HI		0x154
#define GPU_L2_READY_LO			0x160
#define GPU_L2_READY_HI			0x164
#define GPU_STACK_READY_LO		0xe10
#define GPU_STACK_READY_HI		0xe14

#define GPU_SHADER_PWRON_LO		0x180
#define GPU_SHADER_PWRON_HI		0x184
#define GPU_TILER_PWRON_LO		0x190
#define GPU_TILER_PWRON_HI		0x194
#define GPU_L2_PWRON_LO			0x1a0
#define GPU_L2_PWRON_HI			0x1a4

#define GPU_SHADER_PWROFF_LO		0x1c0
#define GPU_SHADER_PWROFF_HI		0x1c4
#define GPU_TILER_PWROFF_LO		0x1d0
#define GPU_TILER_PWROFF_HI		0x1d4
#define GPU_L2_PWROFF_LO		0x1e0
#define GPU_L2_PWROFF_HI		0x1e4

#define GPU_SHADER_PWRTRANS_LO		0x200
#define GPU_SHADER_PWRTRANS_HI		0x204
#define GPU_TILER_PWRTRANS_LO		0x210
#define GPU_TILER_PWRTRANS_HI		0x214
#define GPU_L2_PWRTRANS_LO		0x220
#define GPU_L2_PWRTRANS_HI		0x224

#define GPU_SHADER_PWRACTIVE_LO		0x240
#define GPU_SHADER_PWRACTIVE_HI		0x244
#define GPU_TILER_PWRACTIVE_LO		0x250
#define GPU_TILER_PWRACTIVE_HI		0x254
#define GPU_L2_PWRACTIVE_LO		0x260
#define GPU_L2_PWRACTIVE_HI		0x264

#define GPU_COHERENCY_FEATURES		0x300
#define   GPU_COHERENCY_FEATURE_ACE_LITE (1u << 0)
#define   GPU_COHERENCY_FEATURE_ACE	(1u << 1)
#define GPU_COHERENCY_ENABLE		0x304
#define   GPU_COHERENCY_ACE_LITE	0
#define   GPU_COHERENCY_ACE		1
#define   GPU_COHERENCY_NONE		31
#define GPU_THREAD_TLS_ALLOC		0x310

#define GPU_JM_CONFIG			0xf00
#define GPU_SHADER_CONFIG		0xf04
#define GPU_TILER_CONFIG		0xf08
#define GPU_L2_MMU_CONFIG		0xf0c

/* ---- Job control block, 0x1000; slots from 0x1800 --------------------- */

#define JOB_INT_RAWSTAT			0x1000
#define JOB_INT_CLEAR			0x1004
#define JOB_INT_MASK			0x1008
#define JOB_INT_STAT			0x100c
#define   JOB_INT_DONE(slot)		(1u << (slot))
#define   JOB_INT_FAIL(slot)		(1u << ((slot) + 16))
#define JOB_INT_JS_STATE		0x1010
#define   JOB_JS_STATE_CURRENT(slot)	(1u << (slot))
#define   JOB_JS_STATE_NEXT(slot)	(1u << ((slot) + 16))
#define JOB_INT_THROTTLE		0x1014

#define JS_BASE				0x1800
#define JS_STRIDE			0x80
#define JS_REG(slot, reg)		(JS_BASE + (slot) * JS_STRIDE + (reg))
#define JS_HEAD_LO(n)			JS_REG(n, 0x00)
#define JS_HEAD_HI(n)			JS_REG(n, 0x04)
#define JS_TAIL_LO(n)			JS_REG(n, 0x08)
#define JS_TAIL_HI(n)			JS_REG(n, 0x0c)
#define JS_AFFINITY_LO(n)		JS_REG(n, 0x10)
#define JS_AFFINITY_HI(n)		JS_REG(n, 0x14)
#define JS_CONFIG(n)			JS_REG(n, 0x18)
#define JS_XAFFINITY(n)			JS_REG(n, 0x1c)
#define JS_COMMAND(n)			JS_REG(n, 0x20)
#define JS_STATUS(n)			JS_REG(n, 0x24)
#define JS_HEAD_NEXT_LO(n)		JS_REG(n, 0x40)
#define JS_HEAD_NEXT_HI(n)		JS_REG(n, 0x44)
#define JS_AFFINITY_NEXT_LO(n)		JS_REG(n, 0x50)
#define JS_AFFINITY_NEXT_HI(n)		JS_REG(n, 0x54)
#define JS_CONFIG_NEXT(n)		JS_REG(n, 0x58)
#define JS_COMMAND_NEXT(n)		JS_REG(n, 0x60)
#define JS_FLUSH_ID_NEXT(n)		JS_REG(n, 0x70)

#define JS_CONFIG_AS(as)		((as) & 0xf)
#define JS_CONFIG_START_FLUSH_CLEAN	(1u << 8)
#define JS_CONFIG_START_FLUSH_CLEAN_INVALIDATE (3u << 8)
#define JS_CONFIG_START_MMU		(1u << 10)
#define JS_CONFIG_JOB_CHAIN_FLAG	(1u << 11)
#define JS_CONFIG_END_FLUSH_CLEAN	(1u << 12)
#define JS_CONFIG_END_FLUSH_CLEAN_INVALIDATE (3u << 12)
#define JS_CONFIG_ENABLE_FLUSH_REDUCTION (1u << 14)
#define JS_CONFIG_DISABLE_DESCRIPTOR_WR_BK (1u << 15)
#define JS_CONFIG_THREAD_PRI(n)		((n) << 16)

#define JS_COMMAND_NOP			0
#define JS_COMMAND_START		1
#define JS_COMMAND_SOFT_STOP		2
#define JS_COMMAND_HARD_STOP		3
#define JS_COMMAND_SOFT_STOP_0		4
#define JS_COMMAND_HARD_STOP_0		5
#define JS_COMMAND_SOFT_STOP_1		6
#define JS_COMMAND_HARD_STOP_1		7

/* ---- MMU block, 0x2000; address spaces from 0x2400 -------------------- */

#define MMU_INT_RAWSTAT			0x2000
#define MMU_INT_CLEAR			0x2004
#define MMU_INT_MASK			0x2008
#define MMU_INT_STAT			0x200c
#define   MMU_INT_PAGE_FAULT(as)	(1u << (as))
#define   MMU_INT_BUS_ERROR(as)		(1u << ((as) + 16))

#define MMU_AS_BASE			0x2400
#define MMU_AS_STRIDE			0x40
#define MMU_AS_REG(as, reg)		(MMU_AS_BASE + (as) * MMU_AS_STRIDE + (reg))
#define AS_TRANSTAB_LO(as)		MMU_AS_REG(as, 0x00)
#define AS_TRANSTAB_HI(as)		MMU_AS_REG(as, 0x04)
#define AS_MEMATTR_LO(as)		MMU_AS_REG(as, 0x08)
#define AS_MEMATTR_HI(as)		MMU_AS_REG(as, 0x0c)
#define AS_LOCKADDR_LO(as)		MMU_AS_REG(as, 0x10)
#define AS_LOCKADDR_HI(as)		MMU_AS_REG(as, 0x14)
#define AS_COMMAND(as)			MMU_AS_REG(as, 0x18)
#define   AS_COMMAND_NOP		0
#define   AS_COMMAND_UPDATE		1
#define   AS_COMMAND_LOCK		2
#define   AS_COMMAND_UNLOCK		3
#define   AS_COMMAND_FLUSH_PT		4
#define   AS_COMMAND_FLUSH_MEM		5
#define AS_FAULTSTATUS(as)		MMU_AS_REG(as, 0x1c)
#define   AS_FAULTSTATUS_EXCEPTION(x)	((x) & 0xff)
#define   AS_FAULTSTATUS_ACCESS(x)	(((x) >> 8) & 0x3)
#define   AS_FAULTSTATUS_ACCESS_ATOMIC	0
#define   AS_FAULTSTATUS_ACCESS_EX	1
#define   AS_FAULTSTATUS_ACCESS_READ	2
#define   AS_FAULTSTATUS_ACCESS_WRITE	3
#define   AS_FAULTSTATUS_DECODER	(1u << 10)
#define   AS_FAULTSTATUS_SOURCE_ID(x)	((x) >> 16)
#define AS_FAULTADDRESS_LO(as)		MMU_AS_REG(as, 0x20)
#define AS_FAULTADDRESS_HI(as)		MMU_AS_REG(as, 0x24)
#define AS_STATUS(as)			MMU_AS_REG(as, 0x28)
#define   AS_STATUS_AS_ACTIVE		(1u << 0)
#define AS_TRANSCFG_LO(as)		MMU_AS_REG(as, 0x30)
#define AS_TRANSCFG_HI(as)		MMU_AS_REG(as, 0x34)
#define   AS_TRANSCFG_MODE(x)		((x) & 0xf)
#define   AS_TRANSCFG_MODE_LEGACY	0
#define   AS_TRANSCFG_MODE_UNMAPPED	1
#define   AS_TRANSCFG_MODE_IDENTITY	2
#define   AS_TRANSCFG_MODE_AARCH64_4K	6
#define   AS_TRANSCFG_MODE_AARCH64_64K	8
#define   AS_TRANSCFG_INA_BITS(x)	(((x) >> 6) & 0x1f)
#define   AS_TRANSCFG_PTW_MEMATTR(x)	(((x) >> 24) & 0x3)
#define   AS_TRANSCFG_PTW_MEMATTR_NC	(1u << 24)
#define   AS_TRANSCFG_PTW_MEMATTR_WB	(2u << 24)
#define   AS_TRANSCFG_PTW_SH_OS		(2u << 28)
#define   AS_TRANSCFG_R_ALLOCATE	(1u << 30)
#define AS_FAULTEXTRA_LO(as)		MMU_AS_REG(as, 0x38)
#define AS_FAULTEXTRA_HI(as)		MMU_AS_REG(as, 0x3c)

/* TRANSTAB in LPAE mode: the table's address and, in the low bits, the mode. */
#define AS_TRANSTAB_LPAE_ADRMODE(x)	((x) & 0x3)
#define   AS_TRANSTAB_LPAE_ADRMODE_UNMAPPED 0
#define   AS_TRANSTAB_LPAE_ADRMODE_IDENTITY 2
#define   AS_TRANSTAB_LPAE_ADRMODE_TABLE 3
#define AS_TRANSTAB_LPAE_READ_INNER	(1u << 2)
#define AS_TRANSTAB_LPAE_SHARE_OUTER	(1u << 4)

/* MEMATTR in AArch64 mode: one byte for each attribute index. */
#define AS_MEMATTR_AARCH64(memattr, idx) (((memattr) >> (8 * (idx))) & 0xff)
#define AS_MEMATTR_AARCH64_TYPE(byte)	((byte) >> 6)
#define   AS_MEMATTR_AARCH64_TYPE_SHARED 0
#define   AS_MEMATTR_AARCH64_TYPE_NC	1
#define   AS_MEMATTR_AARCH64_TYPE_WB	2
#define   AS_MEMATTR_AARCH64_TYPE_FAULT	3

/* Smallest region AS_LOCKADDR can name: 32 KiB (width 14: 2^(14+1) bytes). */
#define AS_LOCK_MIN_ORDER		15

/* ---- Page-table entries: 4 KiB granule, four levels, 512 entries ------ */

#define AGATE_PT_LEVELS			4
#define AGATE_PT_SHIFT(level)		(12 + 9 * (3 - (level)))	/* 39 30 21 12 */
#define AGATE_PT_ENTRIES		512

/* Mali LPAE: a leaf has type 1 at every level, a table type 3; a set bit grants a permission. */
#define LPAE_TYPE(pte)			((pte) & 3)
#define   LPAE_TYPE_LEAF		1
#define   LPAE_TYPE_TABLE		3
#define LPAE_ATTR(idx)			((unsigned long long)(idx) << 2)
#define LPAE_RD				(1ull << 6)
#define LPAE_WR				(1ull << 7)
#define LPAE_SH_OUTER			(2ull << 8)
#define LPAE_XN				(1ull << 54)
#define LPAE_ADDR			0x0000fffffffff000ull

/*
 * AArch64 stage 1, 4 KiB granule: a block has type 1 at levels 1 and 2, a page type
 * 3 at level 3, a table type 3 above that; the permissions are those of
 * unprivileged accesses.
 */
#define AARCH64_TYPE(pte)		((pte) & 3)
#define   AARCH64_TYPE_BLOCK		1
#define   AARCH64_TYPE_TABLE		3
#define   AARCH64_TYPE_PAGE		3
#define AARCH64_ATTR(idx)		((unsigned long long)(idx) << 2)
#define AARCH64_ATTR_OF(pte)		(((pte) >> 2) & 7)
#define AARCH64_AP_MASK			(3ull << 6)
#define AARCH64_AP_RW			(1ull << 6)
#define AARCH64_AP_RO			(3ull << 6)
#define AARCH64_SH_OUTER		(2ull << 8)
#define AARCH64_AF			(1ull << 10)
#define AARCH64_XN			(1ull << 54)
#define AARCH64_ADDR			0x0000fffffffff000ull

/* ---- Agate's own: counters, 0x8000 (64-bit, lo then hi, read-only) ---- */

#define AGATE_COUNTER_BASE		0x8000
#define AGATE_COUNTER_LO(n)		(AGATE_COUNTER_BASE + 8 * (n))
#define AGATE_COUNTER_HI(n)		(AGATE_COUNTER_BASE + 8 * (n) + 4)

enum agate_counter {
	AGATE_CNT_WALKS,		/* page-table walks started */
	AGATE_CNT_TLB_HITS,
	AGATE_CNT_TLB_MISSES,
	AGATE_CNT_STALE_USED,		/* stale translations used */
	AGATE_CNT_DIRTY_LOST,		/* dirty lines lost */
	AGATE_CNT_FAULTS,		/* faults latched */
	AGATE_CNT_JOBS,			/* jobs (not chains) finished */
	AGATE_CNT_JOBS_FAILED,
	AGATE_CNT_BYTES_COPIED,
	AGATE_CNT_IRQS,			/* messages sent */
	AGATE_CNT_AS_CMD_DROPPED,	/* commands written while an AS was active */
	AGATE_CNT_HINTS,		/* broken rules seen */
	AGATE_CNT_TRIANGLES,
	AGATE_CNT_PIXELS,		/* fragments that passed the depth test */
	AGATE_CNT_STALE_LINES,		/* stale lines of the L2 used */
	AGATE_CNT_UNLISTED,		/* pages that chains touched outside their lists */
	AGATE_CNT_LISTS_DROPPED,	/* lists too long to be kept */
	AGATE_CNT_BUSY,			/* bus cycles with a chain on a slot */
	AGATE_CNT_GGTT_STALE,		/* cached entries used that the table no longer has */
	AGATE_CNT_GGTT_DROPPED,		/* commits dropped because too many were pending */
	AGATE_CNT_MOVER_COMMANDS,	/* completed */
	AGATE_CNT_MOVER_BYTES,		/* that it wrote */
	AGATE_CNT_MOVER_FAULTS,
	AGATE_CNT_FRAMES,		/* shown */
	AGATE_CNT_POWERED_IDLE,		/* bus cycles with a supply on and no need for it */
	AGATE_CNT_COUNT
};

/* ---- Agate's own: what each chain may touch, 0x8800 ------------------- */

#define AGATE_LISTED_BASE		0x8800
#define AGATE_LISTED_STRIDE		0x10
#define AGATE_LISTED_REG(n, r)		(AGATE_LISTED_BASE + AGATE_LISTED_STRIDE * (n) + (r))
#define AGATE_LISTED_START_LO(n)	AGATE_LISTED_REG(n, 0x0)	/* a range's first byte */
#define AGATE_LISTED_START_HI(n)	AGATE_LISTED_REG(n, 0x4)
#define AGATE_LISTED_PAGES(n)		AGATE_LISTED_REG(n, 0x8)	/* pages; adds the range */
#define AGATE_LISTED_COMMAND(n)		AGATE_LISTED_REG(n, 0xc)
#define   AGATE_LISTED_COMMAND_NONE	0	/* the next chain has no list */
#define   AGATE_LISTED_COMMAND_BEGIN	1	/* the next chain has a list, still empty */

/* Ranges that a list can keep; ranges that touch or overlap count as one. */
#define AGATE_LISTED_RANGES		64

/* ---- Agate's own: the system around the GPU, 0x9000 ------------------- */

#define AGATE_SOC_BASE			0x9000
#define AGATE_POWER_IN			0x9000	/* bit 0: on */
#define AGATE_CLK_SELECT		0x9004	/* number of an operating point */
#define AGATE_VOLT_SELECT		0x9008	/* the supply, mV */
#define AGATE_CLK_POINTS		0x900c	/* number of operating points, slowest first */
#define AGATE_CLK_TABLE_FREQ(n)		(0x9010 + 8 * (n))	/* MHz */
#define AGATE_CLK_TABLE_VOLT(n)		(0x9014 + 8 * (n))	/* its minimum supply, mV */
#define AGATE_CLK_MAX_POINTS		4
#define AGATE_CARD_POWER		0x9040	/* bit 0: the card's supply is on */

/* The bus and TIMESTAMP have a clock of their own. */
#define AGATE_BUS_MHZ			800

/* ---- Exception codes; a value above 0x3f is a fault ------------------- */

enum agate_exception {
	AGATE_EXC_NOT_STARTED		= 0x00,
	AGATE_EXC_DONE			= 0x01,
	AGATE_EXC_INTERRUPTED		= 0x02,
	AGATE_EXC_STOPPED		= 0x03,
	AGATE_EXC_TERMINATED		= 0x04,
	AGATE_EXC_KABOOM		= 0x05,
	AGATE_EXC_EUREKA		= 0x06,
	AGATE_EXC_ACTIVE		= 0x08,
	AGATE_EXC_JOB_CONFIG_FAULT	= 0x40,
	AGATE_EXC_JOB_POWER_FAULT	= 0x41,
	AGATE_EXC_JOB_READ_FAULT	= 0x42,
	AGATE_EXC_JOB_WRITE_FAULT	= 0x43,
	AGATE_EXC_JOB_AFFINITY_FAULT	= 0x44,
	AGATE_EXC_JOB_BUS_FAULT		= 0x48,
	AGATE_EXC_INSTR_INVALID_PC	= 0x50,
	AGATE_EXC_INSTR_INVALID_ENC	= 0x51,
	AGATE_EXC_INSTR_TYPE_MISMATCH	= 0x52,
	AGATE_EXC_INSTR_OPERAND_FAULT	= 0x53,
	AGATE_EXC_INSTR_TLS_FAULT	= 0x54,
	AGATE_EXC_INSTR_BARRIER_FAULT	= 0x55,
	AGATE_EXC_INSTR_ALIGN_FAULT	= 0x56,
	AGATE_EXC_DATA_INVALID_FAULT	= 0x58,
	AGATE_EXC_TILE_RANGE_FAULT	= 0x59,
	AGATE_EXC_ADDR_RANGE_FAULT	= 0x5a,
	AGATE_EXC_IMPRECISE_FAULT	= 0x5b,
	AGATE_EXC_OUT_OF_MEMORY		= 0x60,
	AGATE_EXC_UNKNOWN		= 0x7f,
	AGATE_EXC_DELAYED_BUS_FAULT	= 0x80,
	AGATE_EXC_GPU_SHAREABILITY_FAULT = 0x88,
	AGATE_EXC_SYS_SHAREABILITY_FAULT = 0x89,
	AGATE_EXC_GPU_CACHEABILITY_FAULT = 0x8a,
	AGATE_EXC_TRANSLATION_FAULT_0	= 0xc0,	/* + level */
	AGATE_EXC_PERMISSION_FAULT_0	= 0xc8,	/* + level */
	AGATE_EXC_TRANSTAB_BUS_FAULT_0	= 0xd0,	/* + level */
	AGATE_EXC_ACCESS_FLAG_0		= 0xd8,	/* + level */
	AGATE_EXC_ADDR_SIZE_FAULT_IN_0	= 0xe0,	/* + level */
	AGATE_EXC_ADDR_SIZE_FAULT_OUT_0	= 0xe4,	/* + level */
	AGATE_EXC_MEM_ATTR_FAULT_0	= 0xe8,	/* + level */
};
#define AGATE_EXC_IS_FAULT(x)		((x) > 0x3f)

/* ---- Identity --------------------------------------------------------- */

/* GPU_ID 31:16 product, 15:12 major, 11:4 minor, 3:0 status. */
#define AGATE_PRODUCT_MIDGARD		0x0a86
#define AGATE_PRODUCT_BIFROST		0x7a63

#define AGATE_MAX_AS			16
#define AGATE_MAX_SLOTS			3
#define AGATE_NUM_VECTORS		4
#define   AGATE_VECTOR_GPU		0
#define   AGATE_VECTOR_JOB		1
#define   AGATE_VECTOR_MMU		2
#define   AGATE_VECTOR_CARD		3
#define   AGATE_VECTOR_DISPLAY		AGATE_VECTOR_CARD

/* Physical address of VRAM byte 0, as the GPU sees it. */
#define AGATE_PHYS_VRAM			0x8000000000ull
#define AGATE_PHYS_BITS			40
#define AGATE_VA_BITS			48

#endif /* AGATE_REGS_H */
