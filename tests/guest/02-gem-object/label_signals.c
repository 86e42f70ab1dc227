// SPDX-License-Identifier: MIT
/*
 * Lab 02, step 4: signals that come while a call waits for label_lock.  SET_LABEL may give
 * up then, and undoes what it did; a reader may not.
 */
#include "label_lock.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* A reader has label_lock, if it takes one.  False when it does not. */
static bool hold_label(const struct bo *bo, struct look *look)
{
	unsigned int nth = look_for(bo->size).all;

	inject_within(GET_LABEL);
	inject_hold_entry("mutex_unlock", nth, INJECT_BOUND_MS);
	start_look(look, bo->size);
	return aside_is_held(&look->aside, "mutex_unlock");
}

int interrupt_label(const struct bo *bo)
{
	struct labelling labelling = { .err = 0 };
	struct look look;

	if (hold_label(bo, &look)) {
		start_labelling(&labelling, bo, NEW);
		aside_ends(&labelling.aside, ASLEEP_MS);
		aside_signal(&labelling.aside);
		let_go("mutex_unlock");
		aside_join(&labelling.aside);
	}
	aside_join(&look.aside);
	inject_clear();
	return labelling.err;
}

static void label_new(const struct bo *bo)
{
	set_label(bo->fd, bo->handle, NEW, strlen(NEW));
}

static void kill_writer(const struct bo *bo)
{
	struct look look;
	pid_t child;

	if (hold_label(bo, &look)) {
		child = start_child(label_new, bo);
		child_ends(child, ASLEEP_MS);
		kill(child, SIGKILL);
		child_ends(child, ASLEEP_MS);
		let_go("mutex_unlock");
		waitpid(child, NULL, 0);
	}
	aside_join(&look.aside);
	inject_clear();
}

/* A signal comes, or one that kills, while SET_LABEL waits for a reader that has label_lock. */
static void signal_writer(const struct bo *bo)
{
	FILE *watched = promises_watch();
	struct look look;
	unsigned int refs;
	int err;

	set_old(bo);
	refs = listed(bo).refs;
	err = interrupt_label(bo);
	rule("SET_LABEL puts its reference also when a signal ends its wait for label_lock");
	check_equal(listed(bo).refs, refs, "references after a SET_LABEL that got a signal");
	rule("a SET_LABEL whose wait a signal ends gives EINTR, and the label stays as it was");
	if (err)
		check_errno(err, EINTR, "SET_LABEL");
	look = look_for(bo->size);
	if (err)
		check_label(&look, OLD);
	kill_writer(bo);
	rule("SET_LABEL puts its reference also when a signal ends its wait for label_lock");
	check_equal(listed(bo).refs, refs, "references after a SET_LABEL whose process was killed");
	look = look_for(bo->size);
	rule("a label changes as a whole, or not at all");
	check_old_or_new(&look);
	promises_kept(watched, " signal ");
}

/* A call that cannot say EINTR has to wait, whoever gets a signal. */
static void signal_reader(const struct bo *bo)
{
	struct look look = { .size = bo->size };
	struct labelling labelling;

	set_old(bo);
	inject_within(SET_LABEL);
	inject_hold_entry("mutex_unlock", 1, INJECT_BOUND_MS);
	start_labelling(&labelling, bo, NEW);
	if (!aside_is_held(&labelling.aside, "mutex_unlock")) {
		aside_join(&labelling.aside);
		inject_clear();
		return;
	}
	start_look(&look, bo->size);
	if (!aside_ends(&look.aside, ASLEEP_MS))
		aside_signal(&look.aside);
	let_go("mutex_unlock");
	aside_join(&look.aside);
	aside_join(&labelling.aside);
	inject_clear();
	rule("agate_gem_get_label() gives a label also when a signal comes while it waits");
	check_old_or_new(&look);
}

static pid_t start_reading(uint64_t size)
{
	pid_t child = fork();

	if (child < 0)
		fail_msg("fork: %s", strerror(errno));
	if (!child) {
		look_for(size);
		_exit(0);
	}
	return child;
}

/* A reader that is killed while SET_LABEL has label_lock has gem.lock, and does not end. */
static void kill_reader(const struct bo *bo)
{
	struct labelling labelling;
	bool waits = false, ended = false;
	pid_t child;

	set_old(bo);
	inject_within(SET_LABEL);
	inject_hold_entry("mutex_unlock", 1, INJECT_BOUND_MS);
	start_labelling(&labelling, bo, NEW);
	if (aside_is_held(&labelling.aside, "mutex_unlock")) {
		child = start_reading(bo->size);
		/* It need not wait: RCU is right as well. */
		waits = !child_ends(child, ASLEEP_MS);
		kill(child, SIGKILL);
		ended = child_ends(child, ASLEEP_MS);
		let_go("mutex_unlock");
		waitpid(child, NULL, 0);
	}
	aside_join(&labelling.aside);
	inject_clear();
	rule("agate_gem_get_label() waits until it has label_lock, also when its process is killed");
	check_true(!waits || !ended, "the reader still waits", "it went on without the lock");
}

void check_label_signals(const struct bo *bo)
{
	signal_writer(bo);
	signal_reader(bo);
	kill_reader(bo);
}
