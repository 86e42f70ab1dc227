// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lab 02: what open and close of a handle leave as it was; gem_watch.c has the probes.
 *
 * The core calls both between two functions of its own.  The first of these takes a copy of
 * the BO's fields, the second compares.
 */
#include "gem_watch.h"

#include <linux/poison.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "agate_device.h"
#include "agate_gem.h"

enum purge_place { NOWHERE, LISTED_THERE, DAMAGED };

static struct fields {
	u32 flags;
	int madv;
	enum purge_place place;
	size_t size;
	const struct drm_gem_object_funcs *funcs;
	struct file *filp;
	struct page **pages;
	struct sg_table *sgt;
	void *vaddr;
	unsigned long nr_pages;
	unsigned int pages_use;
	unsigned int pins;
	char label[AGATE_LABEL_MAX + 1];
} before;

/* The handle that is about to come or to go; one at a time is looked at. */
static struct {
	struct task_struct *task;
	struct agate_bo *bo;
	const char *function;
} naming;

void gem_names_begin(void)
{
	naming.task = NULL;
}

static enum purge_place __kprobes place_in_purge(const struct agate_bo *bo)
{
	const struct list_head *next = bo->purge_link.next;

	if (next == &bo->purge_link)
		return NOWHERE;
	if (!next || next == LIST_POISON1 || next->prev != &bo->purge_link)
		return DAMAGED;
	return LISTED_THERE;
}

static void __kprobes read_fields(const struct agate_bo *bo, struct fields *fields)
{
	fields->flags = bo->flags;
	fields->madv = READ_ONCE(bo->madv);
	fields->place = place_in_purge(bo);
	fields->size = bo->base.size;
	fields->funcs = bo->base.funcs;
	fields->filp = bo->base.filp;
	fields->pages = bo->shmem.pages;
	fields->sgt = bo->shmem.sgt;
	fields->vaddr = bo->shmem.vaddr;
	fields->nr_pages = bo->backing.nr_pages;
	fields->pages_use = bo->shmem.pages_use;
	fields->pins = bo->backing.pins;
	memcpy(fields->label, bo->label, sizeof(fields->label));
}

/* The first field that changed, or NULL. */
static const char __kprobes *changed(const struct fields *now)
{
	if (now->madv != before.madv)
		return "madv";
	if (now->place != before.place)
		return "purge_link";
	if (now->flags != before.flags)
		return "flags";
	if (now->size != before.size || now->funcs != before.funcs || now->filp != before.filp)
		return "base";
	if (memcmp(now->label, before.label, sizeof(now->label)))
		return "label";
	if (now->nr_pages != before.nr_pages || now->pins != before.pins)
		return "backing";
	return now->pages != before.pages || now->sgt != before.sgt ||
	       now->vaddr != before.vaddr || now->pages_use != before.pages_use ? "shmem" : NULL;
}

static void __kprobes begin(struct drm_gem_object *obj, const char *function)
{
	naming.bo = to_agate_bo(obj);
	naming.function = function;
	read_fields(naming.bo, &before);
	WRITE_ONCE(naming.task, current);
}

static void __kprobes end(const struct drm_gem_object *obj)
{
	static struct fields now;
	const char *field;

	if (READ_ONCE(naming.task) != current || obj != &naming.bo->base)
		return;
	read_fields(naming.bo, &now);
	naming.task = NULL;
	/* The shrinker may come at any time. */
	if (before.madv == AGATE_MADV_DONTNEED && now.madv < 0)
		return;
	field = changed(&now);
	gem_check(NAMES, !field, "%s changed in %s of a BO with flags %#x and madv %d", field,
		  naming.function, before.flags, before.madv);
}

/* Before open. */
int __kprobes gem_on_allow(struct kprobe *kp, struct pt_regs *regs)
{
	begin(container_of((struct drm_vma_offset_node *)regs->di, struct drm_gem_object, vma_node),
	      "open");
	return 0;
}

/* After an open that succeeded. */
int __kprobes gem_on_idr_replace(struct kprobe *kp, struct pt_regs *regs)
{
	end((struct drm_gem_object *)regs->si);
	return 0;
}

/* Before close. */
int __kprobes gem_on_handle_release(struct kprobe *kp, struct pt_regs *regs)
{
	begin((struct drm_gem_object *)regs->si, "close");
	return 0;
}

/* After close, or an open that failed. */
int __kprobes gem_on_revoke(struct kprobe *kp, struct pt_regs *regs)
{
	end(container_of((struct drm_vma_offset_node *)regs->di, struct drm_gem_object, vma_node));
	return 0;
}
