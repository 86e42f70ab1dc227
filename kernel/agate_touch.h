/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of a process, brought there before the driver collects its pages.
 *
 * A page may be on a disk, or with a FUSE daemon or a handler of userfaultfd(), which is a process
 * of somebody else's.  Nobody knows when it comes, or whether.  So the driver collects only pages
 * that are there (agate_userptr.h), and waits for the others here, where it holds nothing: no
 * lock, no job, no power, no address space, and not the device.  Then closing a file, unbinding
 * the driver and putting the machine to sleep do not wait for such a page.
 *
 * An ioctl waits in its own thread, and a deadly signal ends that.  A worker leaves the wait to
 * the address space's struct agate_toucher, which tells it when to try again.  Only the module
 * stays until the wait is over.
 *
 * Nothing keeps the pages there: the driver may find them gone again, and begin again.  KVM's
 * asynchronous page faults work like this.
 */
#ifndef AGATE_TOUCH_H
#define AGATE_TOUCH_H

#include <linux/kref.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct agate_vm;
struct mm_struct;

/**
 * struct agate_touch_range - memory that has to be there
 * @addr: in the process
 * @size: bytes; whole pages
 * @write: it will be written
 */
struct agate_touch_range {
	u64 addr;
	u64 size;
	bool write;
};

/**
 * struct agate_toucher - what waits for memory, for the workers of one address space
 * @ref: the address space has one, and @work another
 * @lock: protects @vm, @busy and @error; lng.lock is inside of it
 * @vm: whom to tell, or NULL when it has gone
 * @done: tells it
 * @busy: @work waits
 * @error: how it ended last; the next agate_toucher_start() returns that
 * @mm: whose memory, with a reference, while @busy
 * @ranges: what of it, likewise
 * @count: how many
 * @work: waits; on a queue of the module's
 */
struct agate_toucher {
	struct kref ref;
	spinlock_t lock;	/* vm, busy, error */
	struct agate_vm *vm;
	void (*done)(struct agate_vm *vm);
	bool busy;
	int error;
	struct mm_struct *mm;
	struct agate_touch_range *ranges;
	unsigned int count;
	struct work_struct work;
};

/** agate_touch_init - make the module's queue: 0 or -ENOMEM */
int agate_touch_init(void);

/** agate_touch_exit - end it; nobody waits any more, or the module would still be in use */
void agate_touch_exit(void);

/**
 * agate_touch - bring memory of the caller's process there
 * @ranges: what of it
 * @count: how many
 *
 * Context: may sleep for ever, until a signal that kills; no lock of the driver is held, and the
 * caller is not between drm_dev_enter() and drm_dev_exit().
 * Return: 0; -EFAULT: it is not memory, or not all of it; -ENOMEM; -EINTR.
 */
int agate_touch(const struct agate_touch_range *ranges, unsigned int count);

/**
 * agate_toucher_create - prepare to wait for an address space
 * @vm: the address space
 * @done: called after each wait, with @lock held
 *
 * Return: the toucher, or NULL.
 */
struct agate_toucher *agate_toucher_create(struct agate_vm *vm,
					   void (*done)(struct agate_vm *vm));

/**
 * agate_toucher_destroy - the address space goes, and need not be told any more
 * @toucher: its toucher, or NULL
 *
 * Does not wait.
 */
void agate_toucher_destroy(struct agate_toucher *toucher);

/**
 * agate_toucher_start - wait for memory, and then tell the address space
 * @toucher: its toucher
 * @mm: whose memory; the caller has a reference
 * @ranges: what of it, from kvmalloc(); this call takes them over, whatever it returns
 * @count: how many
 *
 * If it waits already, the address space is told after that.
 *
 * Context: does not sleep for long.
 * Return: 0; or how the last wait ended, if that was an error: then it does not wait.
 */
int agate_toucher_start(struct agate_toucher *toucher, struct mm_struct *mm,
			struct agate_touch_range *ranges, unsigned int count);

#endif /* AGATE_TOUCH_H */
