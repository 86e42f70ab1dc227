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
 * One thing is left: VM_BIND registers its notifier while it holds the device, and takes the
 * process's mmap_lock for that.  A thread of the same process that has this lock and waits for a
 * page keeps an unbind waiting.  Faults give it back before they wait for userfaultfd() or FUSE.
 *
 * An ioctl waits in its own thread, and a deadly signal ends that.  A worker leaves the wait to
 * a thread of the driver, which tells the address space when to try again.  Only the module and
 * the process's memory stay until the wait is over.  So does what this memory keeps: a process that
 * was killed, and had mapped a BO, still has the file open.
 *
 * Each wait has a thread of its own, because a client whose memory does not come must not keep
 * others from waiting.  So a file has a limited number of them.
 *
 * Nothing keeps the pages there: the driver may find them gone again, and begin again.  KVM's
 * asynchronous page faults work like this.
 */
#ifndef AGATE_TOUCH_H
#define AGATE_TOUCH_H

#include <linux/kref.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct agate_entities;
struct agate_vm;
struct mm_struct;

/* So many waits of one file may be under way. */
#define AGATE_TOUCHES_MAX	64

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
 * struct agate_toucher - a thread that waits for memory
 * @ref: the address space has one, and the thread another
 * @lock: protects @vm, @at, @ended and @error; lng.lock is inside of it
 * @vm: whom to tell (agate_long_touched()), or NULL when nobody wants to know any more
 * @at: what it waits for now, or has waited for last
 * @ended: it waits no more
 * @error: then: why @at did not come, or 0
 * @entities: of the file, with a reference; they count the threads
 * @mm: whose memory, with a reference
 * @ranges: what of it
 * @count: how many
 */
struct agate_toucher {
	struct kref ref;
	spinlock_t lock;	/* vm, at, ended, error */
	struct agate_vm *vm;
	u64 at;
	bool ended;
	int error;
	struct agate_entities *entities;
	struct mm_struct *mm;
	struct agate_touch_range *ranges;
	unsigned int count;
};

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
 * agate_toucher_start - wait for memory, and then tell the address space
 * @vm: the address space; the caller is the only one that uses vm->bound.toucher
 * @entities: of the file whose job needs the memory
 * @ranges: what of the caller's process, from kvmalloc(); this call takes them over, whatever it
 *	returns
 * @count: how many
 *
 * If a thread waits for a part of this already, the address space is told after that.
 *
 * Context: sleeps, but not for the memory.
 * Return: 0; the error of the last wait, if it was for a part of this; -EBUSY: the file has too
 * many waits; -ENOMEM.
 */
int agate_toucher_start(struct agate_vm *vm, struct agate_entities *entities,
			struct agate_touch_range *ranges, unsigned int count);

/**
 * agate_toucher_forget - the address space need not be told any more
 * @vm: the address space; as for agate_toucher_start()
 *
 * Does not wait.
 */
void agate_toucher_forget(struct agate_vm *vm);

#endif /* AGATE_TOUCH_H */
