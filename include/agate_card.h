/* SPDX-License-Identifier: MIT */
/*
 * The card: video memory, the global table that its engines translate by (GGTT), its
 * firmware, the mover and the scanout, for both sides of the bus.
 *
 * The normative text is hardware.md, section 6.  The registers lie in the block at 0x4000;
 * no reset of the GPU reaches them, and the card's supply (AGATE_CARD_POWER) is not the
 * GPU's.  Everything in memory is little-endian.
 */
#ifndef AGATE_CARD_H
#define AGATE_CARD_H

#include <linux/types.h>

/* ---- The card itself, 0x4000 ------------------------------------------- */

#define CARD_BASE			0x4000
#define CARD_END			0x5000
#define CARD_INT_RAWSTAT		0x4000
#define CARD_INT_CLEAR			0x4004
#define CARD_INT_MASK			0x4008
#define CARD_INT_STAT			0x400c
#define   CARD_INT_MOVER_DONE		(1u << 0)
#define   CARD_INT_MOVER_FAULT		(1u << 1)
#define   CARD_INT_FLIP_DONE		(1u << 2)
#define   CARD_INT_FW			(1u << 3)	/* FW_STATUS changed */
#define   CARD_INT_SCAN_FAULT		(1u << 4)
#define CARD_ID				0x4010	/* 31:16 major, 15:0 minor; 0: no card */
#define CARD_FEATURES			0x4014
#define   CARD_FEATURE_GGTT_PORT	(1u << 0)
#define   CARD_FEATURE_GGTT_64K		(1u << 1)
#define   CARD_FEATURE_GGTT_PAT		(1u << 2)
#define   CARD_FEATURES_DMA_BITS(x)	(((x) >> 8) & 0xff)	/* of system addresses */
#define CARD_VRAM_SIZE_LO		0x4018
#define CARD_VRAM_SIZE_HI		0x401c
#define CARD_LOSSES			0x4020	/* how often the card lost its power */

/* ---- GGTT, 0x4040 ------------------------------------------------------- */

#define GGTT_ENTRIES			0x4040
#define GGTT_RESERVED_MAX		0x4044	/* most that a firmware takes at the bottom */
#define GGTT_USABLE_START		0x4048	/* 0 until the firmware runs */
#define GGTT_USABLE_END			0x404c
#define GGTT_PTE_INDEX			0x4050
#define GGTT_PTE_LO			0x4054
#define GGTT_PTE_HI			0x4058	/* commits HI:LO */
#define GGTT_PTE_REPEAT			0x405c	/* commits the last entry n more times */
#define GGTT_SYNC			0x4060	/* drains; reads the commits dropped */
#define GGTT_INVALIDATE			0x4064
#define GGTT_COMMITS			0x4068

#define AGATE_GGTT_NUM_ENTRIES		65536u	/* of 4 KiB: 256 MiB of GGTT addresses */
#define AGATE_GGTT_PORT_DEPTH		64u	/* commits that may be pending */
#define AGATE_GGTT_GROUP		16u	/* entries of a 64 KiB group */

/* An entry.  The table is in GSM in BAR2, or, with GGTT_PORT, inside the card. */
#define AGATE_GGTT_PRESENT		(1ull << 0)
#define AGATE_GGTT_VRAM			(1ull << 1)	/* offset in VRAM; else a system address */
#define AGATE_GGTT_VF(n)		((__u64)(n) << 2)	/* 11:2 */
#define AGATE_GGTT_VF_OF(entry)		(((entry) >> 2) & 0x3ff)
#define AGATE_GGTT_ADDR			0x000000fffffff000ull	/* 39:12 */
#define AGATE_GGTT_PAT(n)		((__u64)(n) << 52)	/* 53:52, only with GGTT_PAT */
/* All other bits are 0; otherwise the use of the entry fails. */

/* ---- Firmware, 0x4080 --------------------------------------------------- */

#define FW_BASE				0x4080	/* GGTT address of the blob */
#define FW_SIZE				0x4084
#define FW_ADS				0x4088	/* GGTT address of struct agate_ads */
#define FW_CMD				0x408c
#define   FW_CMD_START			1
#define   FW_CMD_STOP			2
#define FW_STATUS			0x4090
#define   FW_STATUS_STATE(x)		((x) & 0xff)
#define   FW_STATUS_OFF			0
#define   FW_STATUS_CHECKING		1
#define   FW_STATUS_RUNNING		2
#define   FW_STATUS_FAILED		3
#define   FW_STATUS_REASON(x)		(((x) >> 8) & 0xff)
#define   FW_STATUS_VERSION(x)		((x) >> 16)	/* while it runs */

/* FW_STATUS: why the firmware was refused. */
enum agate_fw_reason {
	AGATE_FW_ADDRESS = 1,		/* address or GGTT entry */
	AGATE_FW_MAGIC = 2,
	AGATE_FW_VERSION = 3,
	AGATE_FW_LENGTH = 4,
	AGATE_FW_CRC = 5,
	AGATE_FW_ADS = 6,
};

#define AGATE_FW_HEADER_MAGIC		0x57464741u	/* "AGFW" read as bytes */
#define AGATE_FW_MAJOR			1
#define AGATE_FW_MAX_SIZE		(1u << 20)	/* bytes */

struct agate_fw_header {	/* at FW_BASE */
	__u32 magic;
	__u32 version;		/* 15:0 shown in FW_STATUS; 31:16 AGATE_FW_MAJOR */
	__u32 size;		/* header and payload: FW_SIZE */
	__u32 crc32;		/* of the payload, as Ethernet and zlib compute it */
	__u32 reserved_bytes;	/* becomes GGTT_USABLE_START; multiple of 4 KiB */
	__u32 pad[3];
};

#define AGATE_ADS_MAGIC			0x53444141u	/* "AADS" read as bytes */
#define AGATE_ADS_VERSION		1
#define AGATE_RING_MIN_ORDER		6
#define AGATE_RING_MAX_ORDER		12

struct agate_ads {		/* one page; read at FW_CMD_START, never later */
	__u32 magic;
	__u32 version;
	__u32 ring;		/* GGTT address, aligned to 4 KiB */
	__u32 ring_order;	/* log2 of its commands */
	__u32 context;		/* GGTT address of struct agate_mover_context, likewise */
	__u32 scratch;		/* GGTT address of a page that the firmware may write */
	__u32 pad[2];
};

/* ---- Mover, 0x40c0 ------------------------------------------------------ */

#define MOVER_CMD			0x40c0
#define   MOVER_CMD_RESET		1
#define MOVER_STATUS			0x40c4
#define   MOVER_STATUS_BUSY		(1u << 0)
#define   MOVER_STATUS_FAULT		(1u << 1)
#define   MOVER_STATUS_REASON(x)	(((x) >> 8) & 0xff)
#define RING_TAIL			0x40c8	/* in commands; free-running */
#define RING_HEAD			0x40cc
#define MOVER_SEQNO			0x40d0
#define MOVER_FAULT_ADDR_LO		0x40d8
#define MOVER_FAULT_ADDR_HI		0x40dc

/* MOVER_STATUS: why the mover stopped.  Other engines fail for the same reasons. */
enum agate_mover_reason {
	AGATE_REASON_NONE = 0,
	AGATE_REASON_COMMAND = 1,
	AGATE_REASON_ENTRY = 2,		/* not present, or reserved bits */
	AGATE_REASON_VF = 3,
	AGATE_REASON_BUS = 4,		/* nobody answers, or above DMA_BITS */
	AGATE_REASON_CONTEXT = 5,
	AGATE_REASON_RING = 6,		/* TAIL - HEAD is more than the ring holds */
	AGATE_REASON_GROUP = 7,		/* a torn group of 64 KiB */
	AGATE_REASON_INJECTED = 8,
};

#define AGATE_CONTEXT_MAGIC		0x58544341u	/* "ACTX" read as bytes */

struct agate_mover_context {	/* one page; the driver begins with zeros, magic and check */
	__u32 magic;
	__u32 head;		/* RING_HEAD */
	__u32 seqno;		/* MOVER_SEQNO */
	__u32 check;		/* ~(magic ^ head ^ seqno) */
};

enum agate_mover_op {
	AGATE_MOVER_NOP = 0,
	AGATE_MOVER_COPY,	/* length bytes, src to dst; the two may not overlap */
	AGATE_MOVER_FILL,	/* length bytes of dst with value, repeated */
	AGATE_MOVER_STORE,	/* length / 8 stores of 64 bits, each atomic, in order */
	AGATE_MOVER_FENCE,	/* MOVER_SEQNO = seqno; with IRQ: CARD_INT_MOVER_DONE */
};

#define AGATE_MOVER_SRC(mode)		((mode) << 0)
#define AGATE_MOVER_DST(mode)		((mode) << 2)
#define   AGATE_MOVER_PHYS		0u
#define   AGATE_MOVER_GGTT		1u
#define   AGATE_MOVER_PAGES		2u	/* address of up to 512 addresses of pages */
#define AGATE_MOVER_IRQ			(1u << 8)

#define AGATE_MOVER_MAX_LENGTH		(2u << 20)	/* of COPY and FILL */
#define AGATE_MOVER_MAX_STORE		4096u

struct agate_mover_cmd {	/* 64 bytes */
	__u32 op;		/* enum agate_mover_op */
	__u32 flags;
	__u32 seqno;		/* FENCE */
	__u32 vf;		/* on whose behalf: an entry's VF must be equal */
	__u64 src;		/* COPY, STORE (PHYS or GGTT) */
	__u64 dst;		/* COPY, FILL; STORE: PHYS only */
	__u64 length;		/* COPY, FILL: of 64, with PAGES of 4096; STORE: of 8; not 0 */
	__u64 value;		/* FILL */
	__u64 pad[2];		/* 0 */
};

/* ---- Scanout, 0x4100 ---------------------------------------------------- */

#define SCAN_BASE_LO			0x4100	/* GGTT or physical address, 64-aligned */
#define SCAN_BASE_HI			0x4104
#define SCAN_SIZE			0x4108	/* 15:0 width, 31:16 height */
#define SCAN_STRIDE			0x410c	/* bytes, 64-aligned */
#define SCAN_FORMAT			0x4110	/* 7:0 as FRAGMENT's formats */
#define   SCAN_FORMAT_PHYS		(1u << 8)	/* BASE is physical, the frame contiguous */
#define SCAN_FLIP			0x4114
#define SCAN_FRAMES			0x4118	/* shown since the card was made */
#define AGATE_SCAN_MAX			4096u	/* pixels of width and of height */

#endif /* AGATE_CARD_H */
