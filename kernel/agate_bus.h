/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bus: register access through the queue in BAR2 (include/agate_bar2.h),
 * hidden behind gpu_write() and gpu_read().
 */
#ifndef AGATE_BUS_H
#define AGATE_BUS_H

#include <linux/io.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "agate_bar2.h"

struct agate_device;

/**
 * struct agate_bar2_piece - a part of BAR2 that is memory, and not mapped here
 * @start: its first byte, as the CPU addresses it
 * @size: bytes
 */
struct agate_bar2_piece {
	phys_addr_t start;
	u64 size;
};

/**
 * struct agate_bus - the way to the GPU's registers
 * @lock: serialises the CPUs' use of the queue; taken with interrupts off
 *	because interrupt handlers read registers too
 * @regs: BAR0, ivshmem's own registers (the doorbell)
 * @ctrl: indices, sleep flag, reply slot and ALIVE in BAR2, mapped cached: this is
 *	memory on both sides
 * @queue: the access queue in BAR2, likewise
 * @queue_len: entries in @queue, a power of two
 * @tail: the driver's own copy of ctrl->tail; the driver never reads the one in
 *	BAR2 back
 * @seq: sequence number of the newest READ
 * @posted_at: index of the READ of gpu_read_post() in the queue
 * @posted_open: nobody has taken its answer out of the queue
 * @posted_value: the answer
 * @doorbell: value that wakes the GPU
 * @gsm: the card's global table
 * @vram: what BAR2 shows of the card's memory, from its first byte on
 * @lost: the GPU is gone; writes are dropped and reads return all ones
 * @asleep: the GPU has no power, and the driver must not use its registers, see
 *	agate_bus_sleep()
 *
 * Each piece of BAR2 gets a mapping of its own: VRAM wants write combining, and x86
 * refuses a second caching mode for a page that is mapped already.
 */
struct agate_bus {
	spinlock_t lock;	/* one CPU at a time in the queue */
	void __iomem *regs;
	struct agate_bar2_ctrl *ctrl;
	struct agate_bar2_entry *queue;
	u32 queue_len;
	u32 tail;
	u32 seq;
	u32 posted_at;
	bool posted_open;
	u32 posted_value;
	u32 doorbell;
	struct agate_bar2_piece gsm;
	struct agate_bar2_piece vram;
	bool lost;
	bool asleep;
};

/**
 * agate_bus_attach - map the BARs, check the header, open the queue
 * @adev: the device; its PCI function is enabled and its regions are requested
 *
 * Afterwards the GPU's power input is on, whatever the firmware did with it.
 *
 * Context: may sleep.
 * Return: 0; -ENODEV when the header is not Agate's or the GPU is not alive;
 * -ENOMEM when a BAR could not be mapped.
 */
int agate_bus_attach(struct agate_device *adev);

/**
 * agate_bus_detach - undo agate_bus_attach()
 * @adev: the device
 *
 * Switches the power input off.  From here on the GPU counts as lost, so a late access is
 * harmless.
 */
void agate_bus_detach(struct agate_device *adev);

/**
 * agate_bus_sleep - no register of the GPU is used any more, until agate_bus_wake()
 * @adev: the device
 *
 * The first switches the GPU's power input off, behind all accesses before it, and the second
 * switches it on.  An access between the two is a bug of the driver: it warns, and counts as
 * one to a GPU that is lost.  The registers of a card stay usable, unless the system sleeps.
 */
void agate_bus_sleep(struct agate_device *adev);
void agate_bus_wake(struct agate_device *adev);

/**
 * gpu_write - post a write to a register
 * @adev: the device
 * @reg: offset in bytes, a multiple of 4
 * @value: what to write
 *
 * The write is posted: it may reach the GPU after this function returns, but before
 * any later access does.  To know that it has arrived, read a register.
 *
 * Context: any, interrupts included.
 */
void gpu_write(struct agate_device *adev, u32 reg, u32 value);

/**
 * gpu_read - read a register
 * @adev: the device
 * @reg: offset in bytes, a multiple of 4
 *
 * Every earlier write reaches the GPU before the read does.
 *
 * Context: any, interrupts included.  Spins for some microseconds.
 * Return: the value, or all ones once the GPU is lost.
 */
u32 gpu_read(struct agate_device *adev, u32 reg);

/**
 * gpu_read_post - ask for a register, and take the answer later
 * @adev: the device
 * @reg: offset in bytes, a multiple of 4
 *
 * The GPU reads it after every earlier access and before every later one, and may learn of it
 * no sooner than of the next one.  So this costs no trip to the GPU and back.  There is one
 * such read at a time: the caller takes the answer before it asks again.
 *
 * Context: any, interrupts included.
 */
void gpu_read_post(struct agate_device *adev, u32 reg);

/**
 * gpu_read_posted - the answer to gpu_read_post()
 * @adev: the device
 *
 * It is there already if a register has been read since.
 *
 * Context: any, interrupts included.  Otherwise spins like gpu_read().
 * Return: the value, or all ones if the GPU was lost before it answered.
 */
u32 gpu_read_posted(struct agate_device *adev);

/**
 * struct agate_reg_write - one write of a list
 * @reg: offset in bytes, a multiple of 4
 * @value: what to write
 */
struct agate_reg_write {
	u32 reg;
	u32 value;
};

/** agate_write_lo - for a list: the write of a 64-bit register's low word */
static inline struct agate_reg_write agate_write_lo(u32 reg_lo, u64 value)
{
	return (struct agate_reg_write){ reg_lo, lower_32_bits(value) };
}

/** agate_write_hi - for a list: the write of the same register's high word */
static inline struct agate_reg_write agate_write_hi(u32 reg_lo, u64 value)
{
	return (struct agate_reg_write){ reg_lo + 4, upper_32_bits(value) };
}

/**
 * gpu_write_list - post writes in one go
 * @adev: the device
 * @writes: the writes, in this order
 * @count: how many
 *
 * No access of another CPU comes between them, and a GPU that sleeps is woken once for all.
 *
 * Context: any, interrupts included.
 */
void gpu_write_list(struct agate_device *adev, const struct agate_reg_write *writes,
		    unsigned int count);

/** gpu_write64 - two writes, low word first */
static inline void gpu_write64(struct agate_device *adev, u32 reg_lo, u64 value)
{
	gpu_write(adev, reg_lo, lower_32_bits(value));
	gpu_write(adev, reg_lo + 4, upper_32_bits(value));
}

/** gpu_read64 - two reads, low word first; not atomic */
static inline u64 gpu_read64(struct agate_device *adev, u32 reg_lo)
{
	u32 lo = gpu_read(adev, reg_lo);

	return lo | (u64)gpu_read(adev, reg_lo + 4) << 32;
}

/* Reads that gpu_poll() makes before it gives up. */
#define AGATE_POLL_READS	10000

/**
 * gpu_poll - read a register until some of its bits have a value
 * @adev: the device
 * @reg: offset in bytes, a multiple of 4
 * @mask: the bits that matter
 * @want: the value they should have
 *
 * The limit is a number of reads, not a time: each read advances the GPU's own
 * time, so a busy host cannot make a healthy GPU look dead.
 *
 * Context: any.  A normal transition takes a few reads; one that never ends takes
 * AGATE_POLL_READS.
 * Return: 0; -ETIMEDOUT; -ENODEV once the GPU is lost.
 */
int gpu_poll(struct agate_device *adev, u32 reg, u32 mask, u32 want);

/**
 * agate_bus_lost - has the GPU gone?
 * @adev: the device
 *
 * Reads the ALIVE word.  The first caller that finds it clear also starts to unplug
 * the device.  Once the answer is true it stays true.
 *
 * Context: any.
 */
bool agate_bus_lost(struct agate_device *adev);

#endif /* AGATE_BUS_H */
