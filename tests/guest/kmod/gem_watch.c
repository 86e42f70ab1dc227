// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lab 02: promises about BOs, checked at every call of a few functions while a test has
 * /sys/kernel/debug/agate_promises open.  x86-64 only, like inject_point.c.
 *
 * A read gives a line for each promise: its name, the number of checks, the number of
 * those that failed, and what the first of these saw, or "-".
 *
 *	listed		gem.bos changes under gem.lock (on the fast kernel: a BO joins under it)
 *	backing		agate_backing_init() gets a GEM object that is initialised
 *	flags		the flags that CREATE_BO asked for choose the kind of backing
 *	complete	a BO that has joined gem.bos is complete when gem.lock is given back
 *	classes		its locks and gem.lock are of classes of their own (debug kernel)
 *	asked		it has the size and the flags that CREATE_BO asked for
 *	order		gem.bos changes only by a BO that joins at its end, or leaves
 *	ended		a BO that gives back its backing gives back its mmap offset, too
 *	free		what a BO's end consists of comes once each, and in this order
 *	outer		agate_backing_release(), whose locks come first, is called without gem.lock
 *	undone		a BO that was given up before it was listed gives its backing back first
 *	names		open and close of a handle change no field of the BO
 *	unlocked	no lock is held where the driver may wait for the GPU
 *	lookup		a handle is looked up, and its reference taken, under table_lock
 *	label		nothing that may sleep is called under label_lock (debug kernel)
 *	fetch		SET_LABEL holds no lock while it reads user memory (debug kernel)
 *	signal		CREATE_BO and SET_LABEL succeed or say EINTR when they got a signal
 *
 * The debug kernel calls functions for list changes, for what may sleep, and for user
 * memory; the fast one does not, so nothing is checked there.
 */
#include "gem_watch.h"
#include "watch.h"

#include <linux/debugfs.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/seq_file.h>

#include "agate_device.h"
#include "agate_gem.h"
#include "probes.h"

static const char *const names[PROMISES] = {
	"listed", "backing", "flags", "complete", "classes", "asked", "order", "ended", "free",
	"outer", "undone", "names", "unlocked", "lookup", "label", "fetch", "signal",
};

static struct {
	atomic_t checks;
	atomic_t broken;
	char seen[160];
} verdicts[PROMISES];

struct agate_device *gem_device;

/* The list as it was when gem.lock was given back last; changes under gem.lock. */
static struct agate_bo *known[GEM_KNOWN_MAX];
static bool left[GEM_KNOWN_MAX];	/* since then */
static unsigned int known_count;

/* The CREATE_BO that was entered last. */
static struct {
	struct task_struct *task;
	u64 size;
	u32 flags;
	bool joined;	/* the BO, by the time that the call gave gem.lock back */
} asked;

static const struct agate_backing_ops *(*choose)(u32 flags);

void __kprobes gem_check(enum promise promise, bool ok, const char *fmt, ...)
{
	va_list ap;

	atomic_inc(&verdicts[promise].checks);
	if (ok || atomic_inc_return(&verdicts[promise].broken) != 1)
		return;
	va_start(ap, fmt);
	vsnprintf(verdicts[promise].seen, sizeof(verdicts[promise].seen), fmt, ap);
	va_end(ap);
}

/* A mutex keeps flags in the low bits of its owner. */
static bool __kprobes is_current(unsigned long owner)
{
	return (owner & ~0x7ul) == (unsigned long)current;
}

bool __kprobes gem_has(const struct mutex *lock)
{
	return is_current(atomic_long_read(&lock->owner));
}

/* Freed memory can still be read.  It would hold this task's address only by an unlikely chance. */
bool __kprobes gem_has_of_any(const struct mutex *lock)
{
	return is_current(READ_ONCE_NOCHECK(lock->owner.counter));
}

/* Its place in the table, or -1. */
static int __kprobes place_of(const struct agate_bo *bo)
{
	unsigned int i;

	for (i = 0; i < known_count; i++)
		if (known[i] == bo)
			return i;
	return -1;
}

bool __kprobes gem_is_known(const struct agate_bo *bo)
{
	return place_of(bo) >= 0;
}

void __kprobes gem_has_left(const struct agate_bo *bo)
{
	int place = place_of(bo);

	if (place >= 0)
		left[place] = true;
}

/*
 * Its memory may be another BO's soon.  One that left under gem.lock is not in the table
 * any more, unless its free still holds the lock.
 */
void __kprobes gem_has_ended(struct agate_bo *bo)
{
	bool linked = bo->link.next != LIST_POISON1 && !list_empty(&bo->link);
	int place = place_of(bo);

	gem_has_left(bo);
	if (place < 0 || linked || gem_has(&gem_device->gem.lock))
		return;
	gem_check(LISTED, false, "a BO leaves gem.bos, and gem.lock is not held");
	cmpxchg(&known[place], bo, NULL);
}

struct agate_bo __kprobes *gem_listed(unsigned int place)
{
	return place < known_count && !left[place] ? READ_ONCE(known[place]) : NULL;
}

unsigned int __kprobes gem_places(void)
{
	return known_count;
}

void __kprobes gem_asked(const struct drm_agate_create_bo *args)
{
	asked.size = args->size;
	asked.flags = args->flags;
	asked.joined = false;
	asked.task = current;
}

/* A BO that joins under gem.lock is there when its CREATE_BO gives gem.lock back. */
void __kprobes gem_answered(int result)
{
	if (asked.task != current)
		return;
	gem_check(LISTED, result || asked.joined,
		  "CREATE_BO made a BO, and gem.bos did not have it when the call gave gem.lock back");
	asked.task = NULL;
}

/* ---- The list ------------------------------------------------------------------ */

static void __kprobes see_new(struct agate_bo *bo)
{
	const char *wrong = bos_wrong_field(bo, gem_device);

	gem_begin_life(bo, true);
	/* Without any it is not complete yet, whatever its flags: bos_wrong_field() says so. */
	gem_check(FLAGS, !bo->backing.ops || bo->backing.ops == choose(bo->flags),
		  "flags %#x do not choose the BO's backing.ops", bo->flags);
	gem_check(COMPLETE, !wrong, "%s", wrong);
	gem_check_classes(bo);
	if (asked.task != current)
		return;
	asked.joined = true;
	gem_check(ASKED, bo->flags == asked.flags, "flags %#x instead of %#x", bo->flags,
		  asked.flags);
	gem_check(ASKED, bo->base.size == PAGE_ALIGN(asked.size), "%zu bytes for %llu",
		  bo->base.size, asked.size);
}

/* Compare the list with what it was.  More BOs than the table has are not looked at. */
static void __kprobes see_list(void)
{
	static struct agate_bo *now[GEM_KNOWN_MAX];
	struct agate_bo *bo;
	unsigned int count = 0, place = 0;
	bool fresh = false;

	list_for_each_entry(bo, &gem_device->gem.bos, link) {
		if (count == GEM_KNOWN_MAX) {
			asked.joined = true;
			break;
		}
		now[count++] = bo;
		if (!gem_is_known(bo)) {
			fresh = true;
			see_new(bo);
			continue;
		}
		gem_check(ORDER, !fresh, "a new BO in front of an older one");
		while (place < known_count && known[place] != bo)
			place++;
		gem_check(ORDER, place < known_count,
			  "a BO of %zu bytes has another place than before", bo->base.size);
	}
	memcpy(known, now, sizeof(known));
	memset(left, 0, sizeof(left));
	known_count = count;
}

static int __kprobes on_unlock(struct kprobe *kp, struct pt_regs *regs)
{
	if (regs->di == (unsigned long)&gem_device->gem.lock)
		see_list();
	return 0;
}

static int __kprobes __maybe_unused on_list_add(struct kprobe *kp, struct pt_regs *regs)
{
	struct list_head *bos = &gem_device->gem.bos;

	if (regs->si != (unsigned long)bos && regs->dx != (unsigned long)bos)
		return 0;
	gem_check(LISTED, gem_has(&gem_device->gem.lock),
		  "a BO joins gem.bos, and gem.lock is not held");
	gem_check(ORDER, regs->dx == (unsigned long)bos, "a BO joins gem.bos at its beginning");
	return 0;
}

static int __kprobes __maybe_unused on_list_del(struct kprobe *kp, struct pt_regs *regs)
{
	struct agate_bo *bo = container_of((struct list_head *)regs->di, struct agate_bo, link);

	if (!gem_is_known(bo))
		return 0;
	gem_check(LISTED, gem_has(&gem_device->gem.lock),
		  "a BO leaves gem.bos, and gem.lock is not held");
	gem_has_left(bo);
	return 0;
}

/* @flags: what CREATE_BO hands on to @function. */
static void __kprobes check_flags(const char *function, u32 flags)
{
	if (asked.task == current)
		gem_check(FLAGS, flags == asked.flags, "%s() with flags %#x instead of %#x",
			  function, flags, asked.flags);
}

static int __kprobes on_object(struct kprobe *kp, struct pt_regs *regs)
{
	check_flags("agate_backing_object_init", regs->cx);
	return 0;
}

static int __kprobes on_backing(struct kprobe *kp, struct pt_regs *regs)
{
	struct agate_bo *bo = (struct agate_bo *)regs->di;

	gem_check(BACKING, bo->base.dev,
		  "agate_backing_init() of a BO whose GEM object is not initialised yet");
	check_flags("agate_backing_init", regs->si);
	if (!gem_is_known(bo))
		gem_begin_life(bo, false);
	return 0;
}

/* ---- The probes, and the file ------------------------------------------------------ */

#define PROBE(name, handler)	{ .symbol_name = name, .pre_handler = handler }

static struct kprobe probes[] = {
	PROBE("agate_backing_object_init", on_object),
	PROBE("agate_backing_init", on_backing),
	PROBE("agate_purge_forget", gem_on_forget),
	PROBE("agate_backing_release", gem_on_release),
	PROBE("drm_gem_object_release", gem_on_end),
	PROBE("drm_gem_free_mmap_offset", gem_on_offset_free),
	PROBE("agate_vm_close_bo", gem_on_vm_close),
	PROBE("agate_mapping_put", gem_on_mapping_put),
	PROBE("agate_gem_lookup", gem_on_lookup),
	PROBE("drm_vma_node_allow", gem_on_allow),
	PROBE("idr_replace", gem_on_idr_replace),
	PROBE("drm_gem_object_release_handle", gem_on_handle_release),
	PROBE("drm_vma_node_revoke", gem_on_revoke),
	/* The fast kernel has none of these. */
#ifdef CONFIG_DEBUG_LIST
	PROBE("__list_add_valid", on_list_add),
	PROBE("__list_del_entry_valid", on_list_del),
#endif
#ifdef CONFIG_DEBUG_ATOMIC_SLEEP
	PROBE("__might_sleep", gem_on_might_sleep),
	PROBE("__might_resched", gem_on_might_sleep),
	PROBE("__might_fault", gem_on_user_memory),
#endif
#ifdef CONFIG_UNINLINE_SPIN_UNLOCK
	PROBE("_raw_spin_unlock", gem_on_spin_unlock),
#endif
	/* The last to be armed, and the first to go: what arms the others unlocks mutexes, too. */
	PROBE("mutex_unlock", on_unlock),
};

#define RETURN(name, begin, end)							\
	{ .kp.symbol_name = name, .entry_handler = begin, .handler = end,		\
	  .maxactive = 16 }

static struct kretprobe returns[] = {
	RETURN("agate_gem_create_ioctl", gem_on_create, gem_on_created),
	RETURN("agate_gem_set_label_ioctl", gem_on_set_label, gem_on_label_set),
	RETURN("idr_find", gem_on_idr_find, gem_on_idr_found),
};

static bool armed;
static struct dentry *promises_file;

static void disarm(void)
{
	unsigned int i;

	for (i = ARRAY_SIZE(probes); i-- > 0;)
		probe_pause(&probes[i]);
	for (i = 0; i < ARRAY_SIZE(returns); i++)
		return_probe_pause(&returns[i]);
	synchronize_rcu();
	armed = false;
}

/* A function that this kernel does not have is left out. */
static int arm(void)
{
	unsigned int i;
	int ret = 0;

	armed = true;
	for (i = 0; i < ARRAY_SIZE(returns) && (!ret || ret == -ENOENT); i++)
		ret = return_probe_resume(&returns[i]);
	for (i = 0; i < ARRAY_SIZE(probes) && (!ret || ret == -ENOENT); i++)
		ret = probe_resume(&probes[i]);
	if (!ret || ret == -ENOENT)
		return 0;
	disarm();
	return ret;
}

/* BOs that are listed already are known, and not checked. */
static void begin(void)
{
	struct agate_bo *bo;

	memset(verdicts, 0, sizeof(verdicts));
	memset(left, 0, sizeof(left));
	asked.task = NULL;
	gem_locks_begin();
	gem_names_begin();
	gem_lives_begin();
	known_count = 0;
	mutex_lock(&gem_device->gem.lock);
	list_for_each_entry(bo, &gem_device->gem.bos, link)
		if (known_count < GEM_KNOWN_MAX) {
			known[known_count++] = bo;
			gem_begin_life(bo, true);
		}
	mutex_unlock(&gem_device->gem.lock);
}

static int promises_show(struct seq_file *seq, void *unused)
{
	unsigned int i;

	gem_lives_end();
	for (i = 0; i < PROMISES; i++)
		seq_printf(seq, "%s %d %d %s\n", names[i], atomic_read(&verdicts[i].checks),
			   atomic_read(&verdicts[i].broken),
			   verdicts[i].seen[0] ? verdicts[i].seen : "-");
	return 0;
}

/* One at a time. */
static int promises_open(struct inode *inode, struct file *file)
{
	int ret;

	if (armed)
		return -EBUSY;
	gem_device = watch_device();
	choose = (void *)watch_symbol("agate_backing_choose");
	if (!gem_device || !choose)
		return -ENODEV;
	begin();
	gem_dirty_memory();
	ret = arm();
	if (ret)
		return ret;
	ret = single_open(file, promises_show, NULL);
	if (ret)
		disarm();
	return ret;
}

static int promises_release(struct inode *inode, struct file *file)
{
	disarm();
	return single_release(inode, file);
}

static const struct file_operations promises_fops = {
	.owner = THIS_MODULE,
	.open = promises_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = promises_release,
};

/*
 * It is not beside its caller: there the compiler would see that this function changes no
 * register, and a gate does change some.
 */
void agate_mappings_hidden(void)
{
	barrier();
}

/* Those of functions that the kernel does not have yet come with the first test. */
void gem_watch_get_ready(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(returns); i++)
		return_probe_ready(&returns[i]);
	for (i = 0; i < ARRAY_SIZE(probes); i++)
		probe_ready(&probes[i]);
}

int gem_watch_init(void)
{
	promises_file = debugfs_create_file("agate_promises", 0400, NULL, NULL, &promises_fops);
	return PTR_ERR_OR_ZERO(promises_file);
}

void gem_watch_exit(void)
{
	unsigned int i;

	debugfs_remove(promises_file);
	for (i = 0; i < ARRAY_SIZE(returns); i++)
		return_probe_forget(&returns[i]);
	for (i = 0; i < ARRAY_SIZE(probes); i++)
		probe_forget(&probes[i]);
}
