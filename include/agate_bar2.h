/* SPDX-License-Identifier: MIT */
/*
 * BAR2: the memory that the driver in the guest and the GPU's process share.
 *
 * Accesses to ivshmem memory do not trap, so register accesses travel through a
 * queue that keeps PCI's order: writes are posted, and the GPU answers a read only
 * after it has carried out every earlier access.
 *
 *   write  fill entries[tail % n], then tail++ with release order, then a full
 *          barrier, then, if (and only if) asleep is non-zero, clear it and ring the
 *          doorbell; several writes may share the barrier and what follows it
 *   read   the same with op READ and a fresh seq; then wait until reply_seq is
 *          that seq (acquire), and take reply_value; or wait for a later READ instead,
 *          because READs are answered in order, and take the answer from the entry
 *
 * Indices are free-running 32-bit counters; the queue's length is a power of
 * two; a queue with tail - head == n is full, and its writer waits; a queue with
 * tail == head is drained: the GPU has carried out and answered everything.  All
 * values are little-endian.  The guest can overwrite everything here: the GPU
 * copies each index and entry once, checks the copy, and trusts nothing that it
 * reads back.  Both sides read offsets and sizes from the header, and never assume
 * them.
 */
#ifndef AGATE_BAR2_H
#define AGATE_BAR2_H

#include <linux/types.h>

#define AGATE_PCI_VENDOR	0x1af4
#define AGATE_PCI_DEVICE	0x1110

/* BAR0, ivshmem's own registers. */
#define AGATE_IVSHMEM_IVPOSITION	0x08
#define AGATE_IVSHMEM_DOORBELL		0x0c	/* peer << 16 | vector */

#define AGATE_BAR2_MAGIC	0x45544741u	/* "AGTE" read as bytes */
#define AGATE_BAR2_VERSION	2

/* The launcher's layout; the driver reads it from the header. */
#define AGATE_BAR2_SIZE		(64u << 20)
#define AGATE_BAR2_CTRL		0x1000u
#define AGATE_BAR2_QUEUE	0x8000u
#define AGATE_BAR2_QUEUE_LEN	2048u
#define AGATE_BAR2_GSM		0x20000u
#define AGATE_BAR2_GSM_SIZE	(512u << 10)
#define AGATE_BAR2_VRAM		0x100000u
#define AGATE_BAR2_VRAM_SIZE	(48u << 20)

struct agate_bar2_header {
	__u32 magic;
	__u32 version;
	__u64 bar_size;
	__u32 features;		/* none defined: reads 0 */
	__u32 sim_peer;		/* ivshmem peer id of the GPU's process */
	__u32 ctrl_offset;	/* struct agate_bar2_ctrl */
	__u32 queue_offset;	/* struct agate_bar2_entry[queue_len] */
	__u32 queue_len;	/* entries, a power of two */
	__u32 reserved;
	__u64 gsm_offset;
	__u64 gsm_size;
	__u64 vram_offset;
	__u64 vram_size;
};

/* One cache line for each writer, so that the writers do not slow each other down. */
struct agate_bar2_ctrl {
	__u32 tail;		/* guest: entries published */
	__u32 pad0[15];
	__u32 head;		/* GPU: entries carried out, READs answered */
	__u32 asleep;		/* GPU: non-zero: ring the doorbell; the guest clears it first */
	__u32 pad1[14];
	__u32 reply_seq;	/* GPU: seq of the newest READ answered */
	__u32 reply_value;	/* its answer, which is in its entry, too */
	__u32 pad2[14];
	__u32 alive;		/* launcher: 1 while the GPU's process lives */
	__u32 pad3[15];
};

enum agate_bar2_op {
	AGATE_BAR2_WRITE = 1,
	AGATE_BAR2_READ = 2,
};

struct agate_bar2_entry {
	__u32 op;		/* enum agate_bar2_op */
	__u32 offset;		/* register, bytes, a multiple of 4 */
	__u32 value;		/* WRITE: the value; READ: 0, then the GPU's answer */
	__u32 seq;		/* READ: answered in reply_seq; WRITE: 0 */
};

#endif /* AGATE_BAR2_H */
