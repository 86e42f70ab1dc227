/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A topic of the test's own: the requests of a test to agate_topic.c, through ioctl() on
 * /sys/kernel/debug/agate_topic, and their results.
 *
 * The topic serves the GPU's own vector in the driver's place.  It wants
 * TOPIC_EVENT, which a cache command raises, so a test has as many interrupts as it
 * likes, each exactly when it wants one.
 */
#ifndef AGATE_TESTS_TOPIC_H
#define AGATE_TESTS_TOPIC_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "agate_regs.h"

#define TOPIC_VECTORS	4
#define TOPIC_EVENT	0x20000		/* GPU_IRQ_CLEAN_CACHES_COMPLETED */

enum topic_op {
	/* Calls of agate_pci.h, with the given vector and value. */
	TOPIC_ENABLE,		/* agate_irq_enable() with a serve() of the topic's */
	TOPIC_ENABLE_AGAIN,	/* ... and serve() counts on */
	TOPIC_DISABLE,		/* agate_irq_enable(adev, vector, 0, NULL) */
	TOPIC_SUSPEND,
	TOPIC_RESUME,
	TOPIC_SET_MASK,
	TOPIC_RESET,		/* result: what agate_gpu_soft_reset() returned */
	TOPIC_SET_MASK_ATOMIC,	/* ... with interrupts off; result: -EINVAL if they came on */
	/* Registers of the GPU, through the driver's bus. */
	TOPIC_READ,		/* value: in the register, out its value */
	TOPIC_RAISE,		/* a cache command, and a wait until TOPIC_EVENT is set */
	TOPIC_LOSE,		/* the ALIVE word becomes 0, and reads give all ones */
	/* The behaviour of serve() at its next call. */
	TOPIC_HOLD,		/* ... it waits until TOPIC_LET_GO */
	TOPIC_LET_GO,		/* result: -ETIMEDOUT when it did not wait that long */
	TOPIC_AGAIN,		/* ... it ends with a new event set */
	/* The kernel around the driver. */
	TOPIC_SYNC,		/* synchronize_irq() of the vector */
	TOPIC_SERVED,		/* ... after the next call of serve(); result: -ETIMEDOUT */
	TOPIC_SEGMENT,		/* value: dma_get_max_seg_size() */
	TOPIC_BOUNDARY,		/* value: dma_get_seg_boundary(), its lower half */
	TOPIC_HANDLED,		/* value: how often the vector's thread said IRQ_HANDLED */
	TOPIC_CONTEND,		/* an event, while a task with irq->lock writes value to MASK */
	TOPIC_CONTEND_END,	/* TOPIC_LET_GO, while a task has irq->lock; result: -ETIMEDOUT */
	TOPIC_NUMBER,		/* value: irq->irq; result: 0 if it is the number of the vector */
	/* Start to watch, or to fake, something until the file is closed. */
	TOPIC_WATCH,		/* reset the counts in struct topic_seen */
	TOPIC_FORGE,		/* identity registers read topic_forged(), seed in value */
	TOPIC_FORGE_ONE,	/* ... but the register in vector reads that of this seed */
	TOPIC_LOSE_AT,		/* from the next read of this register on the GPU is gone */
	TOPIC_LOSE_NTH,		/* ... from this access on, counted from 1; 0: it is there */
	TOPIC_CLAIM,		/* the function claims to have so many vectors */
	TOPIC_SLOW,		/* resets complete after so many reads of RAWSTAT */
	TOPIC_STICK,		/* soft resets get lost (1), all do (2), or complete again (0) */
	TOPIC_RAISE_BITS,	/* RAWSTAT of the block reads these, until they are cleared */
	TOPIC_FAULT,		/* a fault, number in value; result: -ETIMEDOUT if not cleared */
	TOPIC_AGE,		/* the driver's rate limits age by so many ms at each use */
	TOPIC_ACCOUNT,		/* of memory that the driver asks for and does not give back */
	TOPIC_KEPT,		/* value: how many pieces there are now */
	TOPIC_PENDING,		/* value: timers and work of the driver that are still to run */
	TOPIC_SCATTER,		/* vectors taken from now on have numbers with gaps */
	TOPIC_REHEARSE,		/* value: enum topic_rehearsal; the next probe is one, and fails */
	TOPIC_LEFT,		/* value: enum topic_left, what is taken of the function */
};

/*
 * TOPIC_CONTEND: value, out, is 1 when the hard handler did not wait for the lock.
 * TOPIC_CONTEND_END: value, out, is 1 when the end of the thread did not.
 */

/* What a driver takes of a function. */
enum topic_left {
	LEFT_ENABLED	= 1 << 0,
	LEFT_REGIONS	= 1 << 1,
	LEFT_MASTER	= 1 << 2,
	LEFT_MSIX	= 1 << 3,
	LEFT_BUS	= 1 << 4,	/* needs TOPIC_WATCH */
	LEFT_UNMATCHED	= 1 << 5,	/* agate_bus_detach() of a bus that is not attached */
	LEFT_REFERENCE	= 1 << 6,	/* needs TOPIC_WATCH while no driver has the GPU */
};

/* How agate_pci_init() and agate_pci_fini() are called again and again. */
enum topic_rehearsal {
	REHEARSE_LOSSES = 1,	/* the GPU goes at the first access, at the second, ... */
	REHEARSE_HARD_LOSS,	/* ... at the first one after a hard reset was commanded */
	REHEARSE_MEMORY,	/* twice, and nothing goes wrong */
};

struct topic_call {
	__u32 op;
	__u32 vector;
	__u32 value;
	__s32 result;
};

/* The fields of struct agate_identity, in its order. */
struct topic_identity {
	__u32 gpu_id, l2_features, core_features, tiler_features, mem_features, mmu_features;
	__u32 thread_features, max_threads, max_workgroup_size, max_barrier_size;
	__u32 coherency_features, as_present, js_present;
	__u32 js_features[16];
	__u64 shader_present, tiler_present, l2_present;
};

struct topic_seen {
	/* By serve(), since TOPIC_ENABLE. */
	__u32 serves;
	__u32 held;		/* it waits for TOPIC_LET_GO */
	__u32 at_work;		/* calls that have not returned */
	__u32 calling;		/* calls of agate_pci.h that are under way */
	__u32 serves_then;	/* serves, when TOPIC_SUSPEND or TOPIC_DISABLE returned last */
	__u32 at_work_then;	/* at_work, at that moment */
	__u32 open_in_serve;	/* bits of STAT that it saw at its begin, all calls together */
	__u32 not_a_task;	/* calls from an interrupt */
	__u32 irqs_off;		/* calls by a task with interrupts off */
	__u32 opened_early;	/* writes that opened MASK after the hard handler, before serve() */
	/* Since TOPIC_WATCH. */
	__u32 opened;		/* writes of a MASK that opened bits */
	__u32 opened_gpu;	/* ... of GPU_INT_MASK */
	__u32 opened_unlocked;	/* ... without irq->lock */
	__u32 soft_resets;	/* commands on a bus that is attached and not lost */
	__u32 hard_resets;	/* likewise */
	__u32 hard_first;	/* ... before any soft one */
	__u32 after_hard;	/* writes after the last hard reset was commanded */
	__u32 strange_writes;	/* to registers that cannot be written */
	__u32 resets_cut_off;	/* resets of a function without bus mastering */
	__u32 detaches_early;	/* agate_bus_detach() with handlers, or the function off */
	__u32 masters;		/* calls of pci_set_master() */
	__u32 masters_early;	/* ... before the regions or the DMA mask, or masks set after it */
	__u32 opened_leaving;	/* writes by agate_pci_fini() that opened GPU_INT_MASK */
	__u32 clears_late;	/* by TOPIC_RESET after a command: bits, but RESET_COMPLETED */
	__u32 reads_most;	/* of RAWSTAT, after a reset command that TOPIC_STICK made stick */
	__u32 freed_open;	/* free_irq() by agate_pci_fini() with GPU_INT_MASK open */
	__u32 numbers_left;	/* irq->irq of vectors without a handler, at agate_bus_detach() */
	__u32 numbers_early;	/* free_irq() by agate_pci_fini(), and no irq->irq has the number */
	__u32 names_freed;	/* names freed before their handlers; needs TOPIC_ACCOUNT */
	__s32 vectors_got;	/* what the kernel gave for the last request for vectors */
	__u32 clears_multiple;	/* clears of both faults, when only GPU_IRQ_FAULT can be set */
	__s32 attached;		/* agate_bus_attach() that succeeded, without agate_bus_detach() */
	__u32 accesses;		/* reads and writes of registers, since TOPIC_LOSE_NTH */
	__u32 lost_answers;	/* answers, before agate_pci_fini(), of a GPU that is gone */
	/* By TOPIC_REHEARSE; it stops after the first rehearsal that goes wrong. */
	__u32 rehearsals;
	__u32 rehearsed_nth;	/* the access at which the GPU went */
	__s32 rehearsed;	/* what agate_pci_init() returned */
	__u32 rehearsed_answers;	/* lost_answers */
	__u32 rehearsed_left;	/* enum topic_left, after agate_pci_fini() */
	__u32 cleared;		/* bits that were cleared, since TOPIC_RAISE_BITS */
	__u32 limits;		/* uses of the kernel's rate limit by the driver, since TOPIC_AGE */
	/* Since TOPIC_FORGE, at the moment before the topics start. */
	__u32 identified;
	struct topic_identity identity;
};

#define TOPIC_CALL	_IOWR('A', 1, struct topic_call)
#define TOPIC_SEEN	_IOR('A', 2, struct topic_seen)

/*
 * The value of an identity register: all are different, and none can be known in advance.
 * One job slot in the middle says nothing of itself: 0.
 */
static inline __u32 topic_forged(__u32 seed, __u32 reg)
{
	__u32 x = (seed ^ reg) * 0x9e3779b1u;

	if (reg == GPU_JS_FEATURES(1 + seed % 14))
		return 0;
	x = (x ^ x >> 15) * 0x85ebca77u;
	return x ^ x >> 13;
}

/* What the registers say of fault number @n: no two of the first 4,000 are at one address. */
static inline __u32 topic_fault_status(__u32 n)
{
	return 0x80 + n % 16;
}

static inline __u64 topic_fault_address(__u32 n)
{
	return 0x8000000000ull + n * 0x1001000ull;
}

#endif /* AGATE_TESTS_TOPIC_H */
