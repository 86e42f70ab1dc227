/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Watches what the driver does to the GPU and to the bus, with probes of the functions
 * that it calls, and fakes the results of those functions.
 */
#ifndef AGATE_TESTS_WATCH_H
#define AGATE_TESTS_WATCH_H

#include <linux/kprobes.h>
#include <linux/types.h>

#include "topic.h"

/* The observations; serve() writes into it as well. */
extern struct topic_seen topic_seen;

/* Return from the probed function as if it consisted only of a return. */
static __always_inline int watch_skip(struct pt_regs *regs, long value)
{
	regs->ax = value;
	regs->ip = READ_ONCE_NOCHECK(*(unsigned long *)regs->sp);
	regs->sp += sizeof(unsigned long);
	return 1;
}

struct agate_bo;
struct agate_device;
struct vm_area_struct;

/* watch.c: the GPU, while a driver has it; the test makes sure that the driver keeps it. */
struct agate_device *watch_device(void);
/* The address of a function, also of one that the driver does not export; 0: there is none. */
unsigned long watch_symbol(const char *symbol);
/* The functions that take and give back.  @bound: the driver has the GPU now. */
int watch_steps(bool bound);
int watch_forge(u32 seed);
int watch_vectors(u32 count);
/* enum topic_left of the function, whoever has it. */
u32 watch_left(void);
void watch_end(void);

/* access.c: the registers.  watch_end() ends these, too. */
int access_watch(void);
int access_forge(u32 seed);
void access_forge_one(u32 reg, u32 seed);
int access_lose_at(u32 reg);
int access_lose_nth(u32 nth, u32 after_hard);
int access_gone(void);
int access_stick(u32 stick);
int access_slow(u32 reads);
int access_raise(unsigned int vector, u32 bits);
int access_fault(u32 nth);
/* What is left of the bits that access_raise() set. */
u32 access_raised(unsigned int vector);
/* This task has begun agate_pci_fini(); it begins or ends agate_gpu_soft_reset(). */
void access_leaving(void);
void access_resetting(bool begins);
/* How often a hard handler has closed GPU_INT_MASK. */
u32 access_closed_by_irq(void);
/* From now on the topic's serve() is that of @vector; it is called for the block at @block. */
void access_serves(unsigned int vector);
void access_served(u32 block);
/* A write has opened GPU_INT_MASK, and nothing has closed it since. */
bool access_gpu_open(void);
void access_end(void);

/*
 * contend.c: an event, while a task holds irq->lock and then writes *@mask, unless that is 0.
 * *@mask is then whether a handler came and went in the meantime, and changed something.
 */
struct contend_ops {
	int (*raise)(struct agate_device *adev);
	void (*write)(struct agate_device *adev, u32 reg, u32 value);
};

int contend_message(struct agate_device *adev, unsigned int vector, u32 *mask,
		    const struct contend_ops *ops);
/*
 * serve() waits, and is let go while a task holds irq->lock.  *@meddled is then whether the end of
 * the thread cleared irq->serving without the lock; -ETIMEDOUT: serve() did not wait any more.
 */
int contend_end(struct agate_device *adev, unsigned int vector, u32 *meddled, bool (*let_go)(void));

/* irqs.c: the vectors and their handlers.  irqs_end() leaves its kretprobes to the caller. */
int irqs_watch(void);
unsigned int irqs_end(struct kretprobe **ended);
#define IRQS_PROBES	3
/* A handler is freed, and its name need not stay; memory is freed, which may be a name. */
void irqs_freeing(unsigned int number);
void irqs_memory_freed(unsigned long address);
/* How often the thread of an interrupt said IRQ_HANDLED. */
u32 irqs_handled(unsigned int number);
int irqs_scatter(void);
void irqs_gather(void);

/* limits.c: the kernel's rate limits, when the driver uses them. */
int limits_age(u32 ms);
void limits_end(void);

/* rehearse.c */
int rehearse_next(enum topic_rehearsal what, void (*agate_pci_fini)(struct agate_device *adev));
void rehearse_end(void);

/* The module that has the driver, or NULL. */
struct module *watch_driver(void);

/* account.c: memory. */
int account_open(void);
u32 account_kept(void);
void account_close(void);
/* Registers its probes, which then only rest and wake. */
void account_get_ready(void);
/* The end of the module: takes out what stays registered when the account is closed. */
void account_exit(void);

/* pending.c: timers and work; opened and closed with the account of memory. */
int pending_open(struct module *driver);
u32 pending_left(void);
void pending_close(void);
void pending_get_ready(void);
void pending_exit(void);

/* config.c: the configuration space, as this module found it. */
int config_init(void);
void config_exit(void);

/* topic.c: its file in debugfs, beside that of inject_file.c. */
int topic_init(void);
void topic_exit(void);

/* bos.c, flip_again.c, kmem.c, own_backing.c, own_vram.c and import.c: likewise. */
int kmem_init(void);
void kmem_exit(void);
int flip_again_init(void);
void flip_again_exit(void);
int bos_init(void);
void bos_exit(void);
/* The newest BO, with a reference, or NULL. */
struct agate_bo *bos_newest(void);
/*
 * How often one entry is among the first @most of a list that may lead to freed memory; NULL: how
 * many there are.  One that cannot be read counts as @most of them.
 */
s64 bos_times_listed(const struct list_head *head, const struct list_head *which, s64 most);
int backing_init(void);
void backing_exit(void);
int vram_init(void);
void vram_exit(void);
int import_init(void);
void import_exit(void);

/* shmem.c */
int shmem_init(void);
void shmem_exit(void);

/* purge.c, resv_watch.c, piece.c, foreign.c, mapped.c, kmaps.c and tt_steps.c: likewise. */
void purge_init(void);
void purge_exit(void);
void resv_watch_init(void);
void resv_watch_exit(void);
void piece_init(void);
void piece_exit(void);
void foreign_init(void);
void foreign_exit(void);
/* Is vm_page_prot what vm_get_page_prot(vm_flags) gives? */
bool mapped_as_flags_say(const struct vm_area_struct *vma);
void mapped_init(void);
void mapped_exit(void);
void kmaps_init(void);
void kmaps_exit(void);
void tt_steps_init(void);
void tt_steps_exit(void);

#endif /* AGATE_TESTS_WATCH_H */
