// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wrong pointers, wrong lifetimes, wrong sums.
 */
#include <linux/bug.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "agate_broken.h"

struct thing {
	refcount_t ref;
	int size;
	struct list_head link;
	int (*call)(struct thing *thing);
	u32 table[4];
	bool flag;
};

/* Volatile, so that the compiler does not see through these faults. */
static int sink;
static volatile int runtime_index = 4;
static void *volatile runtime_null;
static void *volatile runtime_wild = (void *)0xffff8f0000000000ul;
static void *volatile runtime_nonsense = (void *)0x0123456789abcdefull;
static void *volatile runtime_user = (void *)0x400000ul;
static u32 global_table[4];

static noinline int thing_size(struct thing *thing)
{
	return thing->size;
}

static noinline struct thing *thing_new(void)
{
	struct thing *thing = kzalloc(sizeof(*thing), GFP_KERNEL);

	if (!thing)
		return NULL;
	refcount_set(&thing->ref, 1);
	INIT_LIST_HEAD(&thing->link);
	return thing;
}

static noinline void thing_free(struct thing *thing)
{
	kfree(thing);
}

static void null_read(void)
{
	sink = thing_size(runtime_null);
}

static void null_write(void)
{
	struct thing *thing = runtime_null;

	thing->flag = true;
}

static void null_call(void)
{
	struct thing *thing = thing_new();

	if (thing)
		sink = thing->call(thing);
}

static void err_ptr(void)
{
	sink = thing_size(ERR_PTR(-runtime_index - 8));
}

static void wild_read(void)
{
	sink = thing_size(runtime_wild);
}

static void non_canonical(void)
{
	sink = thing_size(runtime_nonsense);
}

static void list_poison(void)
{
	struct thing *thing = thing_new();

	if (!thing)
		return;
	list_del(&thing->link);
	sink = list_next_entry(thing, link)->size;
}

static void user_read(void)
{
	sink = thing_size(runtime_user);
}

static void bug_on(void)
{
	BUG_ON(!runtime_null);
}

static void divide(void)
{
	sink = 100 / (runtime_index - 4);
}

static noinline int deeper(int n)
{
	volatile char buf[512];

	buf[0] = n;
	return n ? deeper(n + 1) + buf[0] : 0;
}

static void stack_overflow(void)
{
	sink = deeper(1);
}

static void say_panic(void)
{
	panic("agate: no way out");
}

static void warn_on(void)
{
	WARN_ON(!runtime_null);
}

static void warn_text(void)
{
	WARN(1, "agate: %d handles are left\n", runtime_index);
}

static void use_after_free(void)
{
	struct thing *thing = thing_new();

	thing_free(thing);
	sink = thing_size(thing);
}

static void double_free(void)
{
	struct thing *thing = thing_new();

	thing_free(thing);
	thing_free(thing);
}

static void invalid_free(void)
{
	struct thing *thing = thing_new();

	kfree(&thing->link);
}

/* The access is in the kernel's own code: only the trace of the free names our code. */
static void late_work(struct work_struct *work)
{
	kfree(work);
}

static void uaf_elsewhere(void)
{
	struct delayed_work *work = kzalloc(sizeof(*work), GFP_KERNEL);

	if (!work)
		return;
	INIT_DELAYED_WORK(work, late_work);
	schedule_delayed_work(work, 5);
	kfree(work);
}

static void slab_oob(void)
{
	struct thing *thing = thing_new();

	sink = ((int *)thing)[sizeof(*thing) / sizeof(int) + runtime_index];
}

static void stack_oob(void)
{
	volatile int buf[4] = { 0 };
	volatile int *p = buf;

	sink = p[runtime_index + 1];
}

static void global_oob(void)
{
	u32 *p = global_table;

	OPTIMIZER_HIDE_VAR(p);
	sink = p[runtime_index + 1];
}

static void vmalloc_oob(void)
{
	char *p = vmalloc(PAGE_SIZE);

	if (p)
		sink = p[PAGE_SIZE + runtime_index];
}

static void ubsan_bounds(void)
{
	struct thing *thing = thing_new();

	if (thing)
		sink = thing->table[runtime_index];
}

static void ubsan_shift(void)
{
	sink = 1 << (runtime_index * 16);
}

static void ubsan_bool(void)
{
	struct thing *thing = thing_new();

	if (!thing)
		return;
	*(u8 *)&thing->flag = 7 + runtime_index;
	sink = thing->flag;
}

static void ref_underflow(void)
{
	struct thing *thing = thing_new();

	if (!thing)
		return;
	sink = refcount_dec_and_test(&thing->ref);
	sink = refcount_dec_and_test(&thing->ref);
}

static void ref_zero(void)
{
	struct thing *thing = thing_new();

	if (!thing)
		return;
	sink = refcount_dec_and_test(&thing->ref);
	refcount_inc(&thing->ref);
}

static void ref_leak(void)
{
	struct thing *thing = thing_new();

	if (!thing)
		return;
	refcount_dec(&thing->ref);
}

static void list_add_twice(void)
{
	LIST_HEAD(head);
	struct thing *thing = thing_new();

	list_add(&thing->link, &head);
	list_add(&thing->link, &head);
}

static void list_del_twice(void)
{
	struct thing *thing = thing_new();

	list_del(&thing->link);
	list_del(&thing->link);
}

static void usercopy(void)
{
	struct thing *thing = thing_new();
	unsigned long n = 64 * runtime_index;

	if (thing && copy_to_user((void __user *)0x400000ul, thing, n))
		sink++;
}

static void cache_left(void)
{
	struct kmem_cache *cache = kmem_cache_create("agate_bo", 192, 0, 0, NULL);

	if (!cache)
		return;
	sink = !!kmem_cache_alloc(cache, GFP_KERNEL);
	kmem_cache_destroy(cache);
}

static void memory_leak(void)
{
	int n;

	for (n = 0; n < 8; n++)
		sink += !!thing_new();
}

static void work_freed(void)
{
	struct delayed_work *work = kzalloc(sizeof(*work), GFP_KERNEL);

	if (!work)
		return;
	INIT_DELAYED_WORK(work, late_work);
	schedule_delayed_work(work, 1000);
	kfree(work);
}

const struct broken broken_memory[] = {
	{ "null-read", null_read },
	{ "null-write", null_write },
	{ "null-call", null_call },
	{ "err-ptr", err_ptr },
	{ "wild-read", wild_read },
	{ "non-canonical", non_canonical },
	{ "list-poison", list_poison },
	{ "user-read", user_read },
	{ "bug-on", bug_on },
	{ "divide", divide },
	{ "stack-overflow", stack_overflow },
	{ "panic", say_panic },
	{ "warn-on", warn_on },
	{ "warn-text", warn_text },
	{ "use-after-free", use_after_free },
	{ "double-free", double_free },
	{ "invalid-free", invalid_free },
	{ "uaf-elsewhere", uaf_elsewhere },
	{ "slab-oob", slab_oob },
	{ "stack-oob", stack_oob },
	{ "global-oob", global_oob },
	{ "vmalloc-oob", vmalloc_oob },
	{ "ubsan-bounds", ubsan_bounds },
	{ "ubsan-shift", ubsan_shift },
	{ "ubsan-bool", ubsan_bool },
	{ "ref-underflow", ref_underflow },
	{ "ref-zero", ref_zero },
	{ "ref-leak", ref_leak },
	{ "list-add-twice", list_add_twice },
	{ "list-del-twice", list_del_twice },
	{ "usercopy", usercopy },
	{ "cache-left", cache_left },
	{ "memory-leak", memory_leak },
	{ "work-freed", work_freed },
	{ }
};
