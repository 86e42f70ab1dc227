// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes kernel functions fail, dawdle or wait, to test how a driver reacts.
 *
 * /sys/kernel/debug/agate_inject takes one command a write:
 *
 *	fail SYMBOL NTH ERRNO		the call returns -ERRNO and is not made
 *	fail-null SYMBOL NTH		the call returns NULL (or 0) and is not made
 *	fail-return SYMBOL NTH ERRNO	the call is made, and returns -ERRNO all the same: what a
 *					caller would have got is lost
 *	delay-entry SYMBOL NTH US	the call begins that much later
 *	delay-return SYMBOL NTH US	its caller goes on that much later
 *	hold-entry SYMBOL NTH MS	the call waits at a gate before it begins
 *	hold-return SYMBOL NTH MS	its caller waits at a gate before it goes on
 *	hurry SYMBOL NTH CALLS		so many of those calls return at once, and are not made
 *	uncounted SYMBOL		fail-nth counts nothing in those calls; "within" is ignored
 *	let-go SYMBOL			opens the gate of that function
 *	within SYMBOL			the next commands mean calls made inside this one
 *	own | anybody			whose calls the next commands mean
 *	clear				none of this any more
 *
 * NTH counts from 1 and is the one call that is hit; 0 stands for every call.
 * The commands of an open file hold until it is closed, and for calls by the process that
 * opened it and its children, unless it wrote "anybody".  A symbol of a module that is
 * not loaded waits for the module, and waits again when the module is gone.  Reading
 * gives a line for each: the command, the symbol, how often it was entered; for a gate
 * also "shut", "held" (a call waits there), "open", "given-up" or "no-sleep" (a task came there
 * with interrupts off, and was not held), and last "waiting" if the symbol does not exist.
 *
 * The function of a "hurry" sleeps for as long as its first argument says; a sleep without a
 * limit is made all the same.
 *
 * When a call has waited for MS at a gate, the gate gives up: it lets all calls go, and
 * let-go returns ETIME.  The same happens when a call that must not sleep arrives. let-go
 * returns EAGAIN when no call has come yet; those that come later do not wait.  A
 * function has one gate at a time.  Of two commands of one file for one function the later
 * one comes first, and what it hides from the other is not counted there.  x86-64 only.
 */
#include <linux/ctype.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "gem_watch.h"
#include "inject.h"
#include "watch.h"

#define COMMAND_LEN	200
#define RESTING_MAX	64
#define DELAY_MAX_US	200000
/* A task that waits half a minute for a held one's lock counts as hung. */
#define HOLD_MAX_MS	25000
#define HURRY_MAX	100000

static const struct {
	const char *name;
	int words;
	unsigned int most;	/* of the last number */
} kinds[KINDS] = {
	[FAIL] = { "fail", 4, MAX_ERRNO },
	[FAIL_NULL] = { "fail-null", 3 },
	[FAIL_RETURN] = { "fail-return", 4, MAX_ERRNO },
	[DELAY_ENTRY] = { "delay-entry", 4, DELAY_MAX_US },
	[DELAY_RETURN] = { "delay-return", 4, DELAY_MAX_US },
	[HOLD_ENTRY] = { "hold-entry", 4, HOLD_MAX_MS },
	[HOLD_RETURN] = { "hold-return", 4, HOLD_MAX_MS },
	[WITHIN] = { "within", 2 },
	[HURRY] = { "hurry", 4, HURRY_MAX },
	[UNCOUNTED] = { "uncounted", 2 },
};

/* The commands of one open file; points_lock protects changes of @points. */
struct session {
	struct pid *owner;
	bool anybody;
	struct point *within;
	unsigned int count;
	struct list_head points;
};

/* Points of all files, for modules that come and go; no probe's handler takes this lock. */
static DEFINE_MUTEX(points_lock);
static LIST_HEAD(all_points);
/*
 * Points that no file has, with probes that are paused: to register one takes long, and the
 * next test often wants the same.
 */
static LIST_HEAD(resting);
static unsigned int resting_count;

static void release(struct kref *refs)
{
	kfree(container_of(refs, struct point, refs));
}

void point_put(struct point *p)
{
	kref_put(&p->refs, release);
}

static void retire(struct point *p)
{
	points_disarm(&p, 1);
	point_put(p);
}

/* A call that is still in the gate has the point, so no other test may. */
static bool may_rest(struct point *p)
{
	return p->registered && kprobe_disabled(&p->probe.kp) && kref_read(&p->refs) == 1;
}

static void end_rest(struct point *p)
{
	list_del(&p->all);
	resting_count--;
}

static void rest(struct point *p)
{
	struct point *oldest;

	if (!may_rest(p)) {
		retire(p);
		return;
	}
	if (resting_count == RESTING_MAX) {
		oldest = list_first_entry(&resting, struct point, all);
		end_rest(oldest);
		retire(oldest);
	}
	/* Calls that are under way are nobody's from now on. */
	p->life++;
	p->owner = NULL;
	p->within = NULL;
	list_add_tail(&p->all, &resting);
	resting_count++;
}

static void pause_all(struct session *s)
{
	struct point *points[POINTS_MAX], *p;
	unsigned int count = 0;

	list_for_each_entry(p, &s->points, link)
		points[count++] = p;
	points_pause(points, count);
}

static void clear(struct session *s)
{
	struct point *p, *next;

	lockdep_assert_held(&points_lock);
	/*
	 * Wait until all handlers have ended before the first point goes: a handler may look
	 * at other points.
	 */
	pause_all(s);
	list_for_each_entry_safe(p, next, &s->points, link) {
		list_del(&p->link);
		list_del(&p->all);
		gate_let_go(p);
		rest(p);
	}
	s->within = NULL;
	s->count = 0;
}

/* A point that rests and has the probe that @wanted needs, or NULL. */
static struct point *wake(const struct point *wanted)
{
	struct point *p;

	list_for_each_entry(p, &resting, all) {
		if (!point_suits(p, wanted))
			continue;
		end_rest(p);
		point_renew(p, wanted);
		return p;
	}
	return NULL;
}

static bool symbol_valid(const char *symbol)
{
	for (; *symbol; symbol++) {
		if (!isalnum(*symbol) && !strchr("_.:", *symbol))
			return false;
	}
	return true;
}

static int parse(struct point *p, const char *text)
{
	char word[16];
	int n, i;

	/* The widths are those of the arrays. */
	n = sscanf(text, "%15s %127s %u %u", word, p->symbol, &p->nth, &p->number);
	for (i = 0; n >= 2 && i < KINDS && strcmp(word, kinds[i].name); i++)
		;
	if (n < 2 || i == KINDS || n != kinds[i].words || !symbol_valid(p->symbol))
		return -EINVAL;
	p->kind = i;
	if ((p->kind == FAIL || p->kind == FAIL_RETURN || is_gate(p)) && !p->number)
		return -EINVAL;
	return p->number > kinds[i].most ? -ERANGE : 0;
}

static struct point *find_gate(struct session *s, const char *symbol)
{
	struct point *p;

	list_for_each_entry(p, &s->points, link)
		if (is_gate(p) && !strcmp(p->symbol, symbol))
			return p;
	return NULL;
}

/* Of two probes of one function the kernel calls the one first that was registered later. */
static bool has_symbol(const struct session *s, const char *symbol)
{
	const struct point *p;

	list_for_each_entry(p, &s->points, link)
		if (!strcmp(p->symbol, symbol))
			return true;
	return false;
}

/* A new point for what @text says; NULL with *@ret. */
static struct point *find_or_make(struct session *s, const char *text, int *ret)
{
	struct point *made = kzalloc(sizeof(*made), GFP_KERNEL), *p;

	*ret = made ? parse(made, text) : -ENOMEM;
	if (!*ret && is_gate(made) && find_gate(s, made->symbol))
		*ret = -EEXIST;
	p = *ret || has_symbol(s, made->symbol) ? NULL : wake(made);
	if (*ret || p) {
		kfree(made);
		return p;
	}
	kref_init(&made->refs);
	return made;
}

static int add(struct session *s, const char *text)
{
	struct point *p;
	int ret;

	if (s->count == POINTS_MAX)
		return -ENOSPC;
	p = find_or_make(s, text, &ret);
	if (!p)
		return ret;
	p->owner = s->owner;
	p->anybody = s->anybody;
	p->within = p->kind == WITHIN ? NULL : s->within;
	gate_init(p);
	ret = point_arm(p);
	/* The symbol may not exist yet: a module that has it may come. */
	if (ret && ret != -ENOENT) {
		retire(p);
		return ret;
	}
	list_add_tail(&p->link, &s->points);
	list_add_tail(&p->all, &all_points);
	s->count++;
	if (p->kind == WITHIN)
		s->within = p;
	return 0;
}

static int let_go(struct session *s, const char *symbol)
{
	struct point *p = find_gate(s, symbol);

	return p ? gate_let_go(p) : -ENOENT;
}

static int obey(struct session *s, const char *text)
{
	if (!strcmp(text, "clear"))
		clear(s);
	else if (!strncmp(text, "let-go ", 7))
		return let_go(s, text + 7);
	else if (!strcmp(text, "own") || !strcmp(text, "anybody"))
		s->anybody = text[0] == 'a';
	else
		return add(s, text);
	return 0;
}

static ssize_t inject_write(struct file *file, const char __user *data, size_t len, loff_t *pos)
{
	struct session *s = ((struct seq_file *)file->private_data)->private;
	char text[COMMAND_LEN];
	int ret;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, data, len))
		return -EFAULT;
	text[len] = '\0';
	mutex_lock(&points_lock);
	ret = obey(s, strim(text));
	mutex_unlock(&points_lock);
	return ret ? ret : len;
}

static int inject_show(struct seq_file *seq, void *unused)
{
	struct session *s = seq->private;
	struct point *p;

	mutex_lock(&points_lock);
	list_for_each_entry(p, &s->points, link)
		seq_printf(seq, "%s %s %d%s%s\n", kinds[p->kind].name, p->symbol,
			   atomic_read(&p->hits), is_gate(p) ? gate_text(p) : "",
			   p->armed ? "" : " waiting");
	mutex_unlock(&points_lock);
	return 0;
}

static int inject_open(struct inode *inode, struct file *file)
{
	struct session *s;
	int ret;

	s = kzalloc(sizeof(*s), GFP_KERNEL);
	if (!s)
		return -ENOMEM;
	INIT_LIST_HEAD(&s->points);
	s->owner = get_pid(task_tgid(current));
	ret = single_open(file, inject_show, s);
	if (ret) {
		put_pid(s->owner);
		kfree(s);
	}
	return ret;
}

static int inject_release(struct inode *inode, struct file *file)
{
	struct session *s = ((struct seq_file *)file->private_data)->private;

	mutex_lock(&points_lock);
	clear(s);
	mutex_unlock(&points_lock);
	put_pid(s->owner);
	kfree(s);
	return single_release(inode, file);
}

static const struct file_operations inject_fops = {
	.owner = THIS_MODULE,
	.open = inject_open,
	.read = seq_read,
	.write = inject_write,
	.llseek = seq_lseek,
	.release = inject_release,
};

/* Text that is not user memory; its address is in the module's parameter of that name. */
static const char kernel_text[] = "text of the kernel";
static unsigned long kernel_text_at = (unsigned long)kernel_text;
module_param_named(kernel_text, kernel_text_at, ulong, 0400);
MODULE_PARM_DESC(kernel_text, "The address of a text in the kernel's memory");

static bool probes(const struct point *p, const struct module *mod)
{
	return p->registered && within_module((unsigned long)p->probe.kp.addr, mod);
}

/* NULL: of all modules, and of the kernel itself. */
static void retire_resting(const struct module *mod)
{
	struct point *p, *next;

	list_for_each_entry_safe(p, next, &resting, all) {
		if (mod && !probes(p, mod))
			continue;
		end_rest(p);
		retire(p);
	}
}

static int module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct module *mod = data;
	struct point *p;

	mutex_lock(&points_lock);
	if (event == MODULE_STATE_GOING)
		retire_resting(mod);
	list_for_each_entry(p, &all_points, all) {
		if (event == MODULE_STATE_COMING && !p->armed)
			point_arm(p);
		else if (event == MODULE_STATE_GOING && probes(p, mod))
			points_disarm(&p, 1);
	}
	mutex_unlock(&points_lock);
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = { .notifier_call = module_event };
static struct dentry *inject_file;

/* To register a probe takes long; a guest that is prepared once does it for all runs. */
static bool ready;
module_param(ready, bool, 0400);
MODULE_PARM_DESC(ready, "register at once the probes that many tests use");

static int __init inject_init(void)
{
	int ret;

	ret = register_module_notifier(&module_notifier);
	if (ret)
		return ret;
	inject_file = debugfs_create_file("agate_inject", 0600, NULL, NULL, &inject_fops);
	if (IS_ERR(inject_file)) {
		unregister_module_notifier(&module_notifier);
		return PTR_ERR(inject_file);
	}
	ret = topic_init();
	if (ret)
		goto remove;
	ret = bos_init();
	if (ret)
		goto no_bos;
	ret = flip_again_init();
	if (ret)
		goto no_flip;
	ret = kmem_init();
	if (ret)
		goto no_kmem;
	ret = backing_init();
	if (ret)
		goto no_backing;
	ret = vram_init();
	if (ret)
		goto no_vram;
	ret = import_init();
	if (ret)
		goto no_import;
	ret = shmem_init();
	if (ret)
		goto no_shmem;
	purge_init();
	resv_watch_init();
	piece_init();
	foreign_init();
	mapped_init();
	kmaps_init();
	tt_steps_init();
	if (ready) {
		account_get_ready();
		gem_watch_get_ready();
	}
	return 0;

no_shmem:
	import_exit();
no_import:
	vram_exit();
no_vram:
	backing_exit();
no_backing:
	kmem_exit();
no_kmem:
	flip_again_exit();
no_flip:
	bos_exit();
no_bos:
	topic_exit();
remove:
	debugfs_remove(inject_file);
	unregister_module_notifier(&module_notifier);
	return ret;
}
module_init(inject_init);

static void __exit inject_exit(void)
{
	tt_steps_exit();
	kmaps_exit();
	mapped_exit();
	foreign_exit();
	piece_exit();
	resv_watch_exit();
	purge_exit();
	shmem_exit();
	import_exit();
	vram_exit();
	backing_exit();
	kmem_exit();
	flip_again_exit();
	bos_exit();
	topic_exit();
	debugfs_remove(inject_file);
	unregister_module_notifier(&module_notifier);
	retire_resting(NULL);
}
module_exit(inject_exit);

MODULE_DESCRIPTION("Kernel functions that fail, dawdle or wait, for tests");
MODULE_LICENSE("GPL");
