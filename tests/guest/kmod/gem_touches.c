// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lab 02: touches of a BO's label, while a test has /sys/kernel/debug/agate_touches open.
 *
 * A watchpoint of the processor stops each task that reads or writes the first byte of the
 * newest BO's label, at that instruction: no race has to be met to see a lock that is missing.
 * A read of the file gives the number of touches, the number of those without label_lock, and
 * what the first of these was, or "-".  A driver that keeps labels elsewhere has no touches.
 */
#include "gem_watch.h"
#include "watch.h"

#include <linux/debugfs.h>
#include <linux/hw_breakpoint.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/seq_file.h>

#include "agate_device.h"
#include "agate_gem.h"

static struct agate_bo *touched;
static struct perf_event * __percpu *watchpoints;
static atomic_t touches, unlocked;
static char first[160];
static struct dentry *touches_file;
static DEFINE_MUTEX(opening);

static void on_touch(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs)
{
	atomic_inc(&touches);
	if (gem_has(&touched->label_lock) || atomic_inc_return(&unlocked) != 1)
		return;
	snprintf(first, sizeof(first), "%pS touches the label, and its task has no label_lock",
		 (void *)instruction_pointer(regs));
}

static int touches_show(struct seq_file *seq, void *unused)
{
	seq_printf(seq, "%d %d %s\n", atomic_read(&touches), atomic_read(&unlocked),
		   first[0] ? first : "-");
	return 0;
}

/* Holds a reference, so that the label's memory stays this label's. */
static int watch(void)
{
	struct perf_event_attr attr;
	int ret = 0;

	touched = bos_newest();
	if (!touched)
		return -ENOENT;
	atomic_set(&touches, 0);
	atomic_set(&unlocked, 0);
	first[0] = '\0';
	hw_breakpoint_init(&attr);
	attr.bp_addr = (unsigned long)touched->label;
	attr.bp_len = HW_BREAKPOINT_LEN_1;
	attr.bp_type = HW_BREAKPOINT_RW;
	watchpoints = register_wide_hw_breakpoint(&attr, on_touch, NULL);
	if (IS_ERR((void __force *)watchpoints)) {
		ret = PTR_ERR((void __force *)watchpoints);
		agate_bo_put(touched);
		touched = NULL;
	}
	return ret;
}

static void watch_no_more(void)
{
	unregister_wide_hw_breakpoint(watchpoints);
	agate_bo_put(touched);
	touched = NULL;
}

/* One at a time. */
static int touches_open(struct inode *inode, struct file *file)
{
	int ret = -EBUSY;

	mutex_lock(&opening);
	if (!touched)
		ret = watch();
	if (!ret) {
		ret = single_open(file, touches_show, NULL);
		if (ret)
			watch_no_more();
	}
	mutex_unlock(&opening);
	return ret;
}

static int touches_release(struct inode *inode, struct file *file)
{
	mutex_lock(&opening);
	watch_no_more();
	mutex_unlock(&opening);
	return single_release(inode, file);
}

static const struct file_operations touches_fops = {
	.owner = THIS_MODULE,
	.open = touches_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = touches_release,
};

void gem_touches_init(void)
{
	touches_file = debugfs_create_file("agate_touches", 0400, NULL, NULL, &touches_fops);
}

void gem_touches_exit(void)
{
	debugfs_remove(touches_file);
}
