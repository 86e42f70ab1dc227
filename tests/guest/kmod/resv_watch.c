// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks what agate_exec.h promises, with objects of the test's own and an opponent that
 * holds what the set wants.
 *
 * Reading /sys/kernel/debug/agate_exec carries out the checks while the driver has the
 * GPU, and shows a line for each: its name, and "ok" or what is wrong.  On the debug kernel
 * locks also give -EDEADLK without an opponent (CONFIG_DEBUG_WW_MUTEX_SLOWPATH).
 */
#include "watch.h"

#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/dma-resv.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <drm/drm_gem.h>

#include "agate_device.h"
#include "agate_exec.h"

#define OBJECTS		40	/* more than AGATE_EXEC_FEW, twice doubled */
#define PATIENCE_MS	10000

static struct {
	void (*init)(struct agate_exec *exec, u32 flags);
	void (*fini)(struct agate_exec *exec);
	int (*lock)(struct agate_exec *exec, struct drm_gem_object *obj);
	int (*reserve)(struct agate_exec *exec, unsigned int fences);
	bool (*retry)(struct agate_exec *exec, int *ret);
} driver;

static struct drm_gem_object *objects[OBJECTS];
static struct dentry *exec_file;

static bool find_driver(void)
{
	driver.init = (void *)watch_symbol("agate_exec_init");
	driver.fini = (void *)watch_symbol("agate_exec_fini");
	driver.lock = (void *)watch_symbol("agate_exec_lock");
	driver.reserve = (void *)watch_symbol("agate_exec_reserve");
	driver.retry = (void *)watch_symbol("agate_exec_retry");
	return driver.init && driver.fini && driver.lock && driver.reserve && driver.retry;
}

/* ---- Objects ----------------------------------------------------------- */

static void object_free(struct drm_gem_object *obj)
{
	drm_gem_object_release(obj);
	kfree(obj);
}

static const struct drm_gem_object_funcs object_funcs = { .free = object_free };

static bool make_objects(struct agate_device *adev)
{
	unsigned int i;

	for (i = 0; i < OBJECTS; i++) {
		objects[i] = kzalloc(sizeof(*objects[i]), GFP_KERNEL);
		if (!objects[i])
			return false;
		objects[i]->funcs = &object_funcs;
		drm_gem_private_object_init(&adev->drm, objects[i], PAGE_SIZE);
	}
	return true;
}

/* Nothing is locked, and the test has the only references. */
static bool all_free(void)
{
	unsigned int i;

	for (i = 0; i < OBJECTS; i++)
		if (dma_resv_is_locked(objects[i]->resv) ||
		    kref_read(&objects[i]->refcount) != 1)
			return false;
	return true;
}

static void free_objects(void)
{
	unsigned int i;

	for (i = 0; i < OBJECTS; i++) {
		if (objects[i])
			drm_gem_object_put(objects[i]);
		objects[i] = NULL;
	}
}

/* ---- Checks ------------------------------------------------------------ */

static int lock_range(struct agate_exec *exec, unsigned int first, unsigned int end)
{
	int ret = 0;

	while (!ret && first < end)
		ret = driver.lock(exec, objects[first++]);
	return ret;
}

/* Twice the same object, and two objects with one reservation. */
static const char *check_same(void)
{
	struct dma_resv *own = objects[2]->resv;
	const char *wrong = NULL;
	struct agate_exec exec;
	int ret;

	objects[2]->resv = objects[0]->resv;
	driver.init(&exec, 0);
	do {
		ret = lock_range(&exec, 0, 3);
		if (!ret)
			ret = lock_range(&exec, 0, 3);
	} while (driver.retry(&exec, &ret));
	if (ret)
		wrong = "a lock failed";
	else if (exec.count != 2)
		wrong = "it does not hold two reservations";
	else if (!dma_resv_is_locked(objects[0]->resv) || !dma_resv_is_locked(objects[1]->resv))
		wrong = "a reservation is not locked";
	driver.fini(&exec);
	objects[2]->resv = own;
	return wrong;
}

static const char *check_many(void)
{
	const char *wrong = NULL;
	struct agate_exec exec;
	unsigned int i;
	int ret;

	driver.init(&exec, AGATE_EXEC_INTERRUPTIBLE);
	do {
		ret = lock_range(&exec, 0, OBJECTS);
	} while (driver.retry(&exec, &ret));
	if (!ret)
		ret = driver.reserve(&exec, 3);
	if (ret || exec.count != OBJECTS)
		wrong = "it does not hold all";
	for (i = 0; !wrong && i < OBJECTS; i++) {
		struct dma_fence *stub = dma_fence_get_stub();

		/* The debug kernel reports a fence without room. */
		dma_resv_add_fence(objects[i]->resv, stub, DMA_RESV_USAGE_BOOKKEEP);
		dma_fence_put(stub);
	}
	driver.fini(&exec);
	return wrong;
}

/* An error of the caller's ends the loop. */
static const char *check_other_error(void)
{
	struct agate_exec exec;
	bool again;
	int ret;

	driver.init(&exec, 0);
	ret = driver.lock(&exec, objects[0]);
	if (!ret)
		ret = -ENOSPC;
	again = driver.retry(&exec, &ret);
	driver.fini(&exec);
	return again || ret != -ENOSPC ? "it tries again" : NULL;
}

/*
 * The opponent has the older ticket.  It holds the second object, and wants the first as
 * soon as the set has that one: it gets it only if the set backs off.
 */
struct opponent {
	struct completion holds, wants, done;
	bool got;
};

static int opponent_thread(void *arg)
{
	struct opponent *opponent = arg;
	struct ww_acquire_ctx ticket;
	unsigned int look;

	ww_acquire_init(&ticket, &reservation_ww_class);
	dma_resv_lock(objects[1]->resv, &ticket);
	complete(&opponent->holds);
	wait_for_completion(&opponent->wants);
	for (look = 0; look < PATIENCE_MS && !opponent->got; look++) {
		opponent->got = dma_resv_trylock(objects[0]->resv);
		if (!opponent->got)
			usleep_range(1000, 2000);
	}
	if (opponent->got)
		dma_resv_unlock(objects[0]->resv);
	dma_resv_unlock(objects[1]->resv);
	ww_acquire_fini(&ticket);
	complete(&opponent->done);
	return 0;
}

static const char *lose_to(struct opponent *opponent)
{
	unsigned int tries = 0, contended = 0;
	const char *wrong = NULL;
	struct agate_exec exec;
	int ret;

	driver.init(&exec, 0);
	do {
		ret = driver.lock(&exec, objects[0]);
		if (!tries++)
			complete(&opponent->wants);
		if (!ret)
			ret = driver.lock(&exec, objects[1]);
		contended += ret == -EDEADLK;
	} while (driver.retry(&exec, &ret));
	if (ret || exec.count != 2)
		wrong = "it does not hold both at last";
	else if (!contended)
		wrong = "the younger ticket was not refused";
	else if (tries != contended + 1)
		wrong = "it does not try once more for each refusal";
	driver.fini(&exec);
	wait_for_completion(&opponent->done);
	return wrong || opponent->got ? wrong : "it did not let go of what it held";
}

static const char *check_back_off(void)
{
	struct opponent opponent = {};
	struct task_struct *task;

	init_completion(&opponent.holds);
	init_completion(&opponent.wants);
	init_completion(&opponent.done);
	task = kthread_run(opponent_thread, &opponent, "agate-opponent");
	if (IS_ERR(task))
		return "there is no opponent";
	wait_for_completion(&opponent.holds);
	return lose_to(&opponent);
}

static int exec_show(struct seq_file *seq, void *unused)
{
	static const struct {
		const char *name;
		const char *(*check)(void);
	} checks[] = {
		{ "same", check_same },
		{ "many", check_many },
		{ "other-error", check_other_error },
		{ "back-off", check_back_off },
	};
	struct agate_device *adev = watch_device();
	unsigned int i;

	if (!adev || !find_driver())
		return -ENODEV;
	for (i = 0; i < ARRAY_SIZE(checks) && make_objects(adev); i++) {
		const char *wrong = checks[i].check();

		if (!wrong && !all_free())
			wrong = "a lock or a reference is left";
		seq_printf(seq, "%s %s\n", checks[i].name, wrong ? wrong : "ok");
		free_objects();
	}
	free_objects();
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(exec);

void resv_watch_init(void)
{
	exec_file = debugfs_create_file("agate_exec", 0400, NULL, NULL, &exec_fops);
}

void resv_watch_exit(void)
{
	debugfs_remove(exec_file);
}
