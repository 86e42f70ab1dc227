// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lab 02: how a BO ends, whether it was listed or is given up before; gem_watch.c has the
 * probes.
 */
#include "gem_watch.h"

#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "agate_device.h"
#include "agate_gem.h"

/* As many objects as a slab of theirs has, at least. */
#define DIRTY	32
#define END_LOOKS	25

/* BOs that have a backing, and have not ended; a slot is free when @bo is NULL. */
static struct life {
	struct agate_bo *bo;
	bool listed, ended;
	unsigned int forgotten, released;
} lives[GEM_KNOWN_MAX];

void gem_lives_begin(void)
{
	memset(lives, 0, sizeof(lives));
}

static struct life __kprobes *find_life(const struct agate_bo *bo)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lives); i++)
		if (READ_ONCE(lives[i].bo) == bo)
			return &lives[i];
	return NULL;
}

static const char unended[] =
	"drm_gem_object_release() was not called for a BO that gave back its backing";

/* Only the thread that makes the BO has come to it yet, or gem.lock is held. */
void __kprobes gem_begin_life(struct agate_bo *bo, bool listed)
{
	struct life *life = find_life(bo);
	unsigned int i;

	/* Memory that had another BO in it, which was freed and had not come to its end. */
	gem_check(ENDED, !life || !life->released || life->ended, unended);
	for (i = 0; i < ARRAY_SIZE(lives) && !life; i++)
		if (!cmpxchg(&lives[i].bo, NULL, bo))
			life = &lives[i];
	if (!life)
		return;
	life->listed = listed;
	life->ended = false;
	life->forgotten = 0;
	life->released = 0;
}

static bool any_unended(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lives); i++)
		if (READ_ONCE(lives[i].bo) && READ_ONCE(lives[i].released) &&
		    !READ_ONCE(lives[i].ended))
			return true;
	return false;
}

static long has_run(void *unused)
{
	return 0;
}

/*
 * The test has closed its BOs; one may still be in the middle of its end, on a processor that a
 * busy host lets stand.  So each of them has to run between two looks.
 */
void gem_lives_end(void)
{
	unsigned int look, cpu;

	for (look = 0; look < END_LOOKS && any_unended(); look++) {
		msleep(20);
		for_each_online_cpu(cpu)
			work_on_cpu(cpu, has_run, NULL);
	}
	gem_check(ENDED, !any_unended(), unended);
}

/* A BO with fields of its own may be twice as large. */
static long dirty(void *unused)
{
	static const size_t sizes[] = { sizeof(struct agate_bo), 2 * sizeof(struct agate_bo) };
	void *memory[2][DIRTY];
	unsigned int i, k;

	for (k = 0; k < ARRAY_SIZE(sizes); k++)
		for (i = 0; i < DIRTY; i++) {
			memory[k][i] = kmalloc(sizes[k], GFP_KERNEL);
			if (memory[k][i])
				memset(memory[k][i], 1, sizes[k]);
		}
	for (k = 0; k < ARRAY_SIZE(sizes); k++)
		for (i = 0; i < DIRTY; i++)
			kfree(memory[k][i]);
	return 0;
}

/* Each processor has memory of its own to give.  Once is enough: BOs leave it dirty, too. */
void gem_dirty_memory(void)
{
	static bool is_dirty;
	unsigned int cpu;

	if (is_dirty)
		return;
	is_dirty = true;
	for_each_online_cpu(cpu)
		work_on_cpu(cpu, dirty, NULL);
}

int __kprobes gem_on_forget(struct kprobe *kp, struct pt_regs *regs)
{
	struct agate_bo *bo = (struct agate_bo *)regs->di;
	struct life *life = find_life(bo);

	/* A BO that is given up was on no list: this call is needless then, and harmless. */
	gem_check(FREE, !kref_read(&bo->base.refcount) || (life && !life->listed),
		  "agate_purge_forget() of a BO that has references");
	if (life)
		life->forgotten++;
	return 0;
}

int __kprobes gem_on_release(struct kprobe *kp, struct pt_regs *regs)
{
	struct agate_bo *bo = (struct agate_bo *)regs->di;
	struct life *life = find_life(bo);

	if (life && !life->listed) {
		life->released++;
		return 0;
	}
	gem_check(FREE, !kref_read(&bo->base.refcount),
		  "agate_backing_release() of a BO that has references");
	if (!life)
		return 0;
	gem_check(FREE, life->forgotten,
		  "agate_backing_release() before agate_purge_forget(), of a BO with flags %#x and madv %d",
		  bo->flags, bo->madv);
	gem_check(FREE, gem_is_known(bo), "agate_backing_release() of a BO that has left gem.bos");
	gem_check(OUTER, !gem_has(&gem_device->gem.lock),
		  "gem.lock is held when agate_backing_release() is called");
	life->released++;
	return 0;
}

static const char __kprobes *whose_thread(void)
{
	if (current->flags & PF_KTHREAD)
		return ", in a thread of the kernel";
	return current->flags & PF_EXITING ? ", in a process that ends" : "";
}

static void __kprobes end_listed(struct agate_bo *bo, const struct life *life)
{
	gem_check(FREE, life->forgotten == 1 && life->released == 1,
		  "agate_purge_forget() %u times and agate_backing_release() %u times before drm_gem_object_release(), of a BO with flags %#x and madv %d%s",
		  life->forgotten, life->released, bo->flags, bo->madv, whose_thread());
	gem_check(FREE, !gem_is_known(bo),
		  "drm_gem_object_release() of a BO that has not left gem.bos under gem.lock");
	gem_has_ended(bo);
}

/* A program that does what drm_gem_object_release() does comes here without it. */
int __kprobes gem_on_offset_free(struct kprobe *kp, struct pt_regs *regs)
{
	struct life *life = find_life(to_agate_bo((struct drm_gem_object *)regs->di));

	if (life)
		WRITE_ONCE(life->ended, true);
	return 0;
}

/* A BO whose initialisation failed ends here without a backing. */
int __kprobes gem_on_end(struct kprobe *kp, struct pt_regs *regs)
{
	struct agate_bo *bo = to_agate_bo((struct drm_gem_object *)regs->di);
	struct life *life = find_life(bo);

	if (!life)
		return 0;
	if (life->listed)
		end_listed(bo, life);
	else
		gem_check(UNDONE, life->released,
			  "drm_gem_object_release() before agate_backing_release()");
	WRITE_ONCE(life->bo, NULL);
	return 0;
}
