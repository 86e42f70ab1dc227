// SPDX-License-Identifier: GPL-2.0-only
/*
 * An account of the memory that the driver itself asks for: what one of its own lines
 * allocates, with any of the kernel's functions for it, and nobody frees (watch.h).
 *
 * The kernel's own allocations on behalf of a driver do not count: it keeps some of them
 * for later.  x86-64 only, because the caller is read from the stack.
 */
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "probes.h"
#include "watch.h"

#define SLOTS		1024		/* a power of two */
#define NEIGHBOURS	32		/* slots where an address may be */

static unsigned long slots[SLOTS];
static atomic_t kept = ATOMIC_INIT(0);
static struct module *driver;

static unsigned long *__kprobes slot_of(unsigned long address, unsigned int i)
{
	unsigned long hash = (address >> 4) * 0x9e3779b97f4a7c15ul >> 40;

	return &slots[(hash + i) % SLOTS];
}

static bool __kprobes replace(unsigned long address, unsigned long from, unsigned long to)
{
	unsigned int i;

	for (i = 0; i < NEIGHBOURS; i++) {
		unsigned long *slot = slot_of(address, i);

		if (READ_ONCE(*slot) == from && cmpxchg(slot, from, to) == from)
			return true;
	}
	return false;
}

static void __kprobes forget(unsigned long address)
{
	if (address && atomic_read(&kept) && replace(address, address, 0))
		atomic_dec(&kept);
}

/* ---- Memory that is asked for -------------------------------------------------- */

/* Its name before Linux 6.10, and since then if it changed. */
static const struct {
	const char *old;
	const char *now;
} allocators[] = {
	{ "__kmalloc", "__kmalloc_noprof" },
	{ "__kmalloc_node", "__kmalloc_node_noprof" },
	{ "__kmalloc_node_track_caller", "__kmalloc_node_track_caller_noprof" },
	{ "kmalloc_trace", "__kmalloc_cache_noprof" },
	{ "kmalloc_node_trace", "__kmalloc_cache_node_noprof" },
	{ "kmalloc_large", "__kmalloc_large_noprof" },
	{ "kmalloc_large_node", "__kmalloc_large_node_noprof" },
	{ "krealloc", "krealloc_noprof" },
	{ "kmem_cache_alloc", "kmem_cache_alloc_noprof" },
	{ "kmem_cache_alloc_node", "kmem_cache_alloc_node_noprof" },
	{ "kmem_cache_alloc_lru", "kmem_cache_alloc_lru_noprof" },
	{ "kmemdup", "kmemdup_noprof" },
	{ "kmemdup_nul" },
	{ "kstrdup" },
	{ "kstrdup_const" },
	{ "kstrndup" },
	{ "kasprintf" },
	{ "kvasprintf" },
	{ "kvmalloc_node", "__kvmalloc_node_noprof" },
	{ "kvrealloc", "kvrealloc_noprof" },
	{ "vmalloc", "vmalloc_noprof" },
	{ "vmalloc_node", "vmalloc_node_noprof" },
	{ "vzalloc", "vzalloc_noprof" },
	{ "vzalloc_node", "vzalloc_node_noprof" },
	{ "__vmalloc", "__vmalloc_noprof" },
	{ "__get_free_pages", "get_free_pages_noprof" },
	{ "get_zeroed_page", "get_zeroed_page_noprof" },
	{ "bitmap_alloc" },
	{ "bitmap_zalloc" },
	{ "memdup_user" },
	{ "memdup_user_nul" },
	{ "vmemdup_user" },
	{ "strndup_user" },
	/* Gives memory that its caller frees, as those above. */
	{ "drm_prime_pages_to_sg" },
};

static struct kretprobe allocating[ARRAY_SIZE(allocators)];

/* Not 0: somebody else asks. */
static int __kprobes on_ask(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	*(unsigned long *)ri->data = regs->di;
	return !within_module(READ_ONCE_NOCHECK(*(unsigned long *)regs->sp), driver);
}

static int __kprobes on_get(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned long address = regs->ax, given = *(unsigned long *)ri->data;

	/* krealloc() may leave memory where it is, and kstrdup_const() a constant text. */
	if (address && address != given && !IS_ERR_VALUE(address) && replace(address, 0, address))
		atomic_inc(&kept);
	return 0;
}

/* ---- Memory that is given back --------------------------------------------------- */

static int __kprobes on_free(struct kprobe *kp, struct pt_regs *regs)
{
	irqs_memory_freed(regs->di);
	forget(regs->di);
	return 0;
}

static int __kprobes on_cache_free(struct kprobe *kp, struct pt_regs *regs)
{
	forget(regs->si);
	return 0;
}

static int __kprobes on_bulk_free(struct kprobe *kp, struct pt_regs *regs)
{
	void **addresses = (void **)regs->dx;
	unsigned long i;

	for (i = 0; i < regs->si; i++)
		forget((unsigned long)addresses[i]);
	return 0;
}

/*
 * RCU may keep this for seconds: kfree_rcu() collects what it is to free.  The second argument
 * is the memory's address; before Linux 6.4 it is, if there is an rcu_head, where in the
 * memory that is.
 */
static int __kprobes on_free_later(struct kprobe *kp, struct pt_regs *regs)
{
	forget(regs->si < PAGE_SIZE ? regs->di - regs->si : regs->si);
	return 0;
}

static const struct {
	const char *symbol;
	kprobe_pre_handler_t handler;
} releases[] = {
	{ "kfree", on_free },
	{ "vfree", on_free },
	{ "free_pages", on_free },
	{ "bitmap_free", on_free },
	{ "kmem_cache_free", on_cache_free },
	{ "kmem_cache_free_bulk", on_bulk_free },
	{ "kvfree_call_rcu", on_free_later },
};

static struct kprobe releasing[ARRAY_SIZE(releases)];
static bool armed;

/* ---- The account ----------------------------------------------------------------- */

static int arm_allocator(unsigned int i, int (*arm)(struct kretprobe *probe))
{
	struct kretprobe *probe = &allocating[i];
	int ret;

	probe->entry_handler = on_ask;
	probe->handler = on_get;
	probe->data_size = sizeof(unsigned long);
	if (!probe->kp.symbol_name)
		probe->kp.symbol_name = allocators[i].old;
	ret = arm(probe);
	if (ret != -ENOENT || !allocators[i].now)
		return ret;
	probe->kp.symbol_name = allocators[i].now;
	return arm(probe);
}

static int arm_release(unsigned int i, int (*arm)(struct kprobe *probe))
{
	releasing[i].symbol_name = releases[i].symbol;
	releasing[i].pre_handler = releases[i].handler;
	return arm(&releasing[i]);
}

static void disarm_all(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(allocators); i++)
		return_probe_pause(&allocating[i]);
	for (i = 0; i < ARRAY_SIZE(releases); i++)
		probe_pause(&releasing[i]);
	synchronize_rcu();
}

static int arm_all(void)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(allocators) && !ret; i++)
		ret = arm_allocator(i, return_probe_resume);
	for (i = 0; i < ARRAY_SIZE(releases) && !ret; i++)
		ret = arm_release(i, probe_resume);
	if (ret)
		disarm_all();
	return ret;
}

int account_open(void)
{
	int ret;

	/* A second time: what was asked for until now does not count any more. */
	memset(slots, 0, sizeof(slots));
	atomic_set(&kept, 0);
	if (armed)
		return 0;
	driver = watch_driver();
	if (!driver)
		return -ENOENT;
	ret = arm_all();
	armed = !ret;
	return ret ? ret : pending_open(driver);
}

/* Memory that RCU is to free has been freed before the count. */
u32 account_kept(void)
{
	if (atomic_read(&kept))
		rcu_barrier();
	return atomic_read(&kept);
}

void account_close(void)
{
	if (!armed)
		return;
	disarm_all();
	armed = false;
	pending_close();
}

/* One that fails is tried again when it is needed. */
void account_get_ready(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(allocators); i++)
		arm_allocator(i, return_probe_ready);
	for (i = 0; i < ARRAY_SIZE(releases); i++)
		arm_release(i, probe_ready);
	pending_get_ready();
}

void account_exit(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(allocators); i++)
		return_probe_forget(&allocating[i]);
	for (i = 0; i < ARRAY_SIZE(releases); i++)
		probe_forget(&releasing[i]);
	pending_exit();
}
