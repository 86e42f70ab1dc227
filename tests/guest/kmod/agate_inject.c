// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes kernel functions fail or dawdle, for tests of what a driver does then.
 *
 * /sys/kernel/debug/agate_inject takes one command a write:
 *
 *	fail SYMBOL NTH ERRNO		the call returns -ERRNO and is not made
 *	fail-null SYMBOL NTH		the call returns NULL (or 0) and is not made
 *	delay-entry SYMBOL NTH US	the call begins that much later
 *	delay-return SYMBOL NTH US	its caller goes on that much later
 *	within SYMBOL			the next commands mean calls while this runs
 *	own | anybody			whose calls the next commands mean
 *	clear				none of this any more
 *
 * NTH counts from 1 and is the one call that is hit; 0 stands for every call.
 * What a file was told holds until it is closed, and for calls by the process that
 * opened it and its children, unless it said "anybody".  A symbol of a module that
 * is not loaded waits for the module, and waits again when it is gone.  Reading
 * gives a line for each: the command, the symbol, how often it was entered.
 *
 * The delays are busy: kprobes allow no sleep.  x86-64 only.
 */
#include <linux/ctype.h>
#include <linux/debugfs.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/nmi.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#ifndef CONFIG_X86_64
#error "Skipping a function needs to know the architecture's calls: x86-64 only."
#endif

#define COMMAND_LEN	200
#define SYMBOL_LEN	128
#define POINTS_MAX	32
#define DELAY_MAX_US	200000

enum kind { FAIL, FAIL_NULL, DELAY_ENTRY, DELAY_RETURN, WITHIN, KINDS };

static const struct {
	const char *name;
	int words;
} kinds[KINDS] = {
	[FAIL] = { "fail", 4 },
	[FAIL_NULL] = { "fail-null", 3 },
	[DELAY_ENTRY] = { "delay-entry", 4 },
	[DELAY_RETURN] = { "delay-return", 4 },
	[WITHIN] = { "within", 2 },
};

/* What one open file was told; @points is changed under points_lock. */
struct session {
	struct pid *owner;
	bool anybody;
	struct point *within;
	unsigned int count;
	struct list_head points;
};

/*
 * One injection; the kretprobe's kprobe is the only probe unless the return is of
 * interest, too.  @within, of kind WITHIN, goes when this does.
 */
struct point {
	struct list_head link;		/* session.points */
	struct list_head all;		/* all_points */
	struct pid *owner;
	bool anybody;
	bool armed;
	enum kind kind;
	unsigned int nth;
	unsigned int number;		/* errno, or microseconds */
	struct point *within;
	atomic_t running;		/* WITHIN: calls that have not returned */
	atomic_t hits;
	char symbol[SYMBOL_LEN];
	struct kretprobe probe;
};

/* Points of all files, for modules that come and go; taken by no probe's handler. */
static DEFINE_MUTEX(points_lock);
static LIST_HEAD(all_points);

/*
 * A probe's handler runs as an NMI would, on top of what was interrupted: that has
 * to be a task, for current to mean anything.
 */
static bool __kprobes in_a_task(void)
{
	unsigned int count = preempt_count();

	if (count & NMI_MASK)
		count -= NMI_OFFSET + HARDIRQ_OFFSET;
	return !(count & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET));
}

static bool __kprobes is_ours(const struct point *p)
{
	struct task_struct *task;
	bool found = false;

	if (p->anybody)
		return true;
	if (!in_a_task())
		return false;
	rcu_read_lock();
	for (task = current; task && task->pid && !found; task = rcu_dereference(task->real_parent))
		found = task_tgid(task) == p->owner;
	rcu_read_unlock();
	return found;
}

/* Counts the call; true when it is the one, or one of those, to be hit. */
static bool __kprobes strikes(struct point *p)
{
	unsigned int hit;

	if (!is_ours(p) || (p->within && !atomic_read(&p->within->running)))
		return false;
	hit = atomic_inc_return(&p->hits);
	return !p->nth || hit == p->nth;
}

/* By the clock: udelay() counts loops, and a busy host miscounted them at boot. */
static void __kprobes dawdle(unsigned int us)
{
	u64 end = ktime_get_mono_fast_ns() + (u64)us * NSEC_PER_USEC;

	while ((s64)(end - ktime_get_mono_fast_ns()) > 0) {
		cpu_relax();
		touch_nmi_watchdog();
	}
}

static int __kprobes on_entry(struct kprobe *kp, struct pt_regs *regs)
{
	struct point *p = container_of(kp, struct point, probe.kp);

	if (!strikes(p))
		return 0;
	if (p->kind == DELAY_ENTRY) {
		dawdle(p->number);
		return 0;
	}
	/* As if the function had been nothing but a return: nothing is pushed yet. */
	regs->ax = p->kind == FAIL ? -(long)p->number : 0;
	regs->ip = READ_ONCE_NOCHECK(*(unsigned long *)regs->sp);
	regs->sp += sizeof(unsigned long);
	return 1;
}

/* Having one keeps the probe a trap: a jump in its place could not skip the function. */
static void __kprobes on_step(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}

/* NULL when the point is being taken back right now. */
static struct point __kprobes *of_instance(struct kretprobe_instance *ri)
{
	struct kretprobe *rp = get_kretprobe(ri);

	return rp ? container_of(rp, struct point, probe) : NULL;
}

/* Not 0: this call's return is of no interest. */
static int __kprobes on_call(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct point *p = of_instance(ri);

	if (!p || !strikes(p))
		return 1;
	atomic_inc(&p->running);
	return 0;
}

static int __kprobes on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct point *p = of_instance(ri);

	if (p) {
		atomic_dec(&p->running);
		dawdle(p->number);
	}
	return 0;
}

static bool wants_return(const struct point *p)
{
	return p->kind == DELAY_RETURN || p->kind == WITHIN;
}

static int arm(struct point *p)
{
	int ret;

	lockdep_assert_held(&points_lock);
	memset(&p->probe, 0, sizeof(p->probe));
	p->probe.kp.symbol_name = p->symbol;
	if (wants_return(p)) {
		p->probe.entry_handler = on_call;
		p->probe.handler = on_return;
		ret = register_kretprobe(&p->probe);
	} else {
		p->probe.kp.pre_handler = on_entry;
		p->probe.kp.post_handler = on_step;
		ret = register_kprobe(&p->probe.kp);
	}
	p->armed = !ret;
	return ret;
}

static void disarm(struct point *p)
{
	lockdep_assert_held(&points_lock);
	if (!p->armed)
		return;
	if (wants_return(p))
		unregister_kretprobe(&p->probe);
	else
		unregister_kprobe(&p->probe.kp);
	p->armed = false;
}

static void clear(struct session *s)
{
	struct point *p, *next;

	lockdep_assert_held(&points_lock);
	/* All handlers have ended before the first point goes: they look at each other's. */
	list_for_each_entry(p, &s->points, link)
		disarm(p);
	list_for_each_entry_safe(p, next, &s->points, link) {
		list_del(&p->link);
		list_del(&p->all);
		kfree(p);
	}
	s->within = NULL;
	s->count = 0;
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
	if (p->kind == FAIL && (!p->number || p->number > MAX_ERRNO))
		return -EINVAL;
	if (p->number > DELAY_MAX_US)
		return -ERANGE;
	return 0;
}

static int add(struct session *s, const char *text)
{
	struct point *p;
	int ret;

	if (s->count == POINTS_MAX)
		return -ENOSPC;
	p = kzalloc(sizeof(*p), GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	ret = parse(p, text);
	if (ret) {
		kfree(p);
		return ret;
	}
	p->owner = s->owner;
	p->anybody = s->anybody;
	p->within = p->kind == WITHIN ? NULL : s->within;
	ret = arm(p);
	/* Not there: of a module that may come. */
	if (ret && ret != -ENOENT) {
		kfree(p);
		return ret;
	}
	list_add_tail(&p->link, &s->points);
	list_add_tail(&p->all, &all_points);
	s->count++;
	if (p->kind == WITHIN)
		s->within = p;
	return 0;
}

static int obey(struct session *s, const char *text)
{
	if (!strcmp(text, "clear"))
		clear(s);
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
		seq_printf(seq, "%s %s %d%s\n", kinds[p->kind].name, p->symbol,
			   atomic_read(&p->hits), p->armed ? "" : " waiting");
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

static bool probes(const struct point *p, const struct module *mod)
{
	return p->armed && within_module((unsigned long)p->probe.kp.addr, mod);
}

static int module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct module *mod = data;
	struct point *p;

	mutex_lock(&points_lock);
	list_for_each_entry(p, &all_points, all) {
		if (event == MODULE_STATE_COMING && !p->armed)
			arm(p);
		else if (event == MODULE_STATE_GOING && probes(p, mod))
			disarm(p);
	}
	mutex_unlock(&points_lock);
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = { .notifier_call = module_event };
static struct dentry *inject_file;

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
	return 0;
}
module_init(inject_init);

static void __exit inject_exit(void)
{
	debugfs_remove(inject_file);
	unregister_module_notifier(&module_notifier);
}
module_exit(inject_exit);

MODULE_DESCRIPTION("Kernel functions that fail or dawdle, for tests");
MODULE_LICENSE("GPL");
