// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lab 02: which locks are held at which call; gem_watch.c has the probes.
 */
#include "gem_watch.h"

#include <linux/lockdep.h>
#include <linux/sched/signal.h>

#include "agate_device.h"
#include "agate_gem.h"

/* The look-up that was begun last, and the object that it has found. */
static struct {
	struct task_struct *task;
	struct drm_file *file;
	struct drm_gem_object *found;
	unsigned int refs;
} looking;

static struct task_struct *labelling, *creating;

void gem_locks_begin(void)
{
	looking.task = NULL;
	labelling = NULL;
	creating = NULL;
}

void __kprobes gem_check_classes(const struct agate_bo *bo)
{
#ifdef CONFIG_LOCKDEP
	const struct lock_class_key *list = gem_device->gem.lock.dep_map.key;
	const struct lock_class_key *mappings = bo->mappings_lock.dep_map.key;
	const struct lock_class_key *label = bo->label_lock.dep_map.key;

	gem_check(CLASSES, mappings != label, "one class for mappings_lock and label_lock");
	gem_check(CLASSES, list != mappings && list != label,
		  "one class for gem.lock and for a lock of a BO");
#endif
}

/* A wait that a signal has ended is told to the client, and to the kernel, in one of two ways. */
static void __kprobes check_result(const char *call, int result)
{
	if (!signal_pending(current))
		return;
	gem_check(SIGNAL, !result || result == -EINTR || result == -ERESTARTSYS,
		  "%s that got a signal returned %d", call, result);
}

int __kprobes gem_on_create(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	gem_asked((struct drm_agate_create_bo *)regs->si);
	creating = current;
	return 0;
}

int __kprobes gem_on_created(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	gem_answered((int)regs->ax);
	check_result("CREATE_BO", (int)regs->ax);
	creating = NULL;
	return 0;
}

/* A name of a lock that this task holds, or NULL; of the driver's own on the fast kernel. */
static const char __kprobes *held_lock(const struct agate_bo *bo)
{
#ifdef CONFIG_LOCKDEP
	int i;

	/* Between drm_dev_enter() and drm_dev_exit() nobody waits but removal. */
	for (i = 0; i < current->lockdep_depth; i++)
		if (strcmp(current->held_locks[i].instance->name, "drm_unplug_srcu"))
			return current->held_locks[i].instance->name;
#endif
	if (gem_has(&gem_device->gem.lock))
		return "gem.lock";
	if (bo && gem_has(&bo->label_lock))
		return "label_lock";
	if (bo && gem_has(&bo->mappings_lock))
		return "mappings_lock";
	return bo && gem_has(&bo->backing.lock) ? "backing.lock" : NULL;
}

int __kprobes gem_on_vm_close(struct kprobe *kp, struct pt_regs *regs)
{
	const char *held = held_lock((struct agate_bo *)regs->si);

	gem_check(UNLOCKED, !held, "%s is held when agate_vm_close_bo() is called", held);
	return 0;
}

int __kprobes gem_on_mapping_put(struct kprobe *kp, struct pt_regs *regs)
{
	const struct agate_mapping *mapping = (void *)regs->di;
	const char *held;

	/* Others call it as well, the frame's workers among them. */
	if (creating != current)
		return 0;
	held = held_lock(mapping->vm_bo->bo);
	gem_check(UNLOCKED, !held, "%s is held when agate_mapping_put() is called", held);
	return 0;
}

static void __kprobes begin_look(struct drm_file *file)
{
	looking.found = NULL;
	looking.file = file;
	looking.task = current;
}

int __kprobes gem_on_lookup(struct kprobe *kp, struct pt_regs *regs)
{
	begin_look((struct drm_file *)regs->di);
	return 0;
}

int __kprobes gem_on_idr_find(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (looking.task != current || regs->di != (unsigned long)&looking.file->object_idr)
		return 1;
	gem_check(LOOKUP, raw_spin_is_locked(&looking.file->table_lock.rlock),
		  "idr_find() in the file's table, and table_lock is free");
	return 0;
}

int __kprobes gem_on_idr_found(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	looking.found = (struct drm_gem_object *)regs->ax;
	if (looking.found)
		looking.refs = kref_read(&looking.found->refcount);
	return 0;
}

int __kprobes gem_on_spin_unlock(struct kprobe *kp, struct pt_regs *regs)
{
	if (looking.task != current || !looking.found ||
	    regs->di != (unsigned long)&looking.file->table_lock)
		return 0;
	gem_check(LOOKUP, kref_read(&looking.found->refcount) > looking.refs,
		  "table_lock is given back before a reference to the BO is taken");
	looking.found = NULL;
	return 0;
}

int __kprobes gem_on_set_label(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	begin_look((struct drm_file *)regs->dx);
	labelling = current;
	return 0;
}

int __kprobes gem_on_label_set(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	labelling = NULL;
	looking.task = NULL;
	check_result("SET_LABEL", (int)regs->ax);
	return 0;
}

int __kprobes gem_on_might_sleep(struct kprobe *kp, struct pt_regs *regs)
{
	void *caller = (void *)READ_ONCE_NOCHECK(*(unsigned long *)regs->sp);
	const struct agate_bo *bo;
	unsigned int i;
	bool held = false;

	/* Another CPU may take a BO off the list in between, so ask once, and may free it. */
	for (i = 0; i < gem_places() && !held; i++) {
		bo = gem_listed(i);
		held = bo && gem_has_of_any(&bo->label_lock);
	}
	gem_check(LABEL, !held, "%pS may sleep, and label_lock is held", caller);
	return 0;
}

int __kprobes gem_on_user_memory(struct kprobe *kp, struct pt_regs *regs)
{
	const char *held;

	if (labelling != current)
		return 0;
	held = held_lock(NULL);
	gem_check(FETCH, !held, "%s is held while SET_LABEL reads user memory", held);
	return 0;
}
