// SPDX-License-Identifier: MIT
/* Lab 02, step 4: a label changes while others read it, or while its BO goes. */
#include "label_lock.h"

#include <stdio.h>
#include <unistd.h>

#define MOST_UNLOCKS	4u
#define TOUCHES		"/sys/kernel/debug/agate_touches"
#define CHANGES_UNDER								\
	"a label changes under label_lock: neither before it is taken nor after it was given back"

static void run_labelling(void *arg)
{
	struct labelling *l = arg;

	l->err = set_label(l->bo.fd, l->bo.handle, l->text, (uint32_t)strlen(l->text));
}

void start_labelling(struct labelling *labelling, const struct bo *bo, const char *text)
{
	labelling->bo = *bo;
	labelling->text = text;
	aside_start(&labelling->aside, run_labelling, labelling);
}

void set_text(const struct bo *bo, const char *text)
{
	check_errno(set_label(bo->fd, bo->handle, text, (uint32_t)strlen(text)), 0, "SET_LABEL");
}

void set_old(const struct bo *bo)
{
	set_text(bo, OLD);
}

void check_label(const struct look *look, const char *expected)
{
	char text[LABEL_ROOM + 16];

	check_true(look->found, "the BO in debugfs' list", "it is not there");
	snprintf(text, sizeof(text), "label \"%s\"", expected);
	if (strcmp(look->bo.label, expected))
		broken(text, "label \"%s\"", look->bo.label);
}

void check_old_or_new(const struct look *look)
{
	check_true(look->found, "the BO in debugfs' list", "it is not there");
	if (strcmp(look->bo.label, OLD) && strcmp(look->bo.label, NEW))
		broken("label \"" OLD "\" or \"" NEW "\"", "label \"%s\"", look->bo.label);
}

/*
 * The reader is held while it has the lock, or when it has given it back.  A reader
 * that takes no mutex is not held: RCU is right as well.
 */
static void hold_reader(const struct bo *bo, bool has_lock)
{
	struct look look = { .size = bo->size };
	struct labelling labelling;
	unsigned int nth;
	bool waits;

	set_old(bo);
	/* The newest BO is the last on the list. */
	nth = look_for(bo->size).all;
	inject_within(GET_LABEL);
	if (has_lock)
		inject_hold_entry("mutex_unlock", nth, INJECT_BOUND_MS);
	else
		inject_hold_return("mutex_unlock", nth, INJECT_BOUND_MS);
	start_look(&look, bo->size);
	if (aside_is_held(&look.aside, "mutex_unlock")) {
		if (has_lock)
			hurry(SET_LABEL);
		start_labelling(&labelling, bo, NEW);
		waits = !aside_ends(&labelling.aside, ASLEEP_MS);
		let_go("mutex_unlock");
		aside_join(&labelling.aside);
		rule("no wait for a lock gives up: SET_LABEL waits until it has label_lock");
		check_errno(labelling.err, 0, "SET_LABEL, which got no signal");
		rule("a label is written under label_lock");
		check_true(waits || !has_lock, "SET_LABEL waits while a reader has the lock",
			   "it did not wait");
	}
	aside_join(&look.aside);
	inject_clear();
	rule("a label is read under label_lock, all of it");
	check_label(&look, OLD);
}

enum held { UNHELD, HELD, LOOKED };

/* Where SET_LABEL of a BO that is called @from is held, if it comes there, and with which text. */
struct writing {
	const char *from, *to;
	const char *symbol;
	unsigned int nth;
	bool at_return;
};

/*
 * debugfs, while SET_LABEL is held; LOOKED when debugfs came to its end meanwhile.
 */
static enum held hold_writer(const struct bo *bo, const struct writing *writing, struct look *look)
{
	const char *symbol = writing->symbol;
	struct labelling labelling;
	bool held, looked = false;

	set_text(bo, writing->from);
	look->size = bo->size;
	inject_within(SET_LABEL);
	if (writing->at_return)
		inject_hold_return(symbol, writing->nth, INJECT_BOUND_MS);
	else
		inject_hold_entry(symbol, writing->nth, INJECT_BOUND_MS);
	start_labelling(&labelling, bo, writing->to);
	held = aside_is_held(&labelling.aside, symbol);
	if (held) {
		if (!writing->at_return)
			hurry(GET_LABEL);
		start_look(look, bo->size);
		looked = aside_ends(&look->aside, ASLEEP_MS);
		let_go(symbol);
		aside_join(&look->aside);
	}
	aside_join(&labelling.aside);
	inject_clear();
	check_errno(labelling.err, 0, "SET_LABEL");
	if (!held)
		return UNHELD;
	return looked ? LOOKED : HELD;
}

/* Whichever label it copies, the reader copies it as a whole: nothing is measured before. */
static void hold_reader_before(const struct bo *bo)
{
	struct look look = { .size = bo->size };
	struct labelling labelling;
	unsigned int nth;

	set_old(bo);
	nth = look_for(bo->size).all;
	inject_within(GET_LABEL);
	inject_hold_entry("mutex_lock", nth, INJECT_BOUND_MS);
	start_look(&look, bo->size);
	if (aside_is_held(&look.aside, "mutex_lock")) {
		start_labelling(&labelling, bo, NEW);
		aside_ends(&labelling.aside, ASLEEP_MS);
		let_go("mutex_lock");
		aside_join(&labelling.aside);
	}
	aside_join(&look.aside);
	inject_clear();
	rule("a reader gets one label as a whole: it measures and copies under label_lock");
	check_old_or_new(&look);
}

/* SET_LABEL has label_lock: the reader waits for it, or has a label that it may copy. */
static void reader_waits(const struct bo *bo)
{
	static const struct writing unlocking = { OLD, NEW, "mutex_unlock", 1, false };
	struct look look = { .found = false };

	if (hold_writer(bo, &unlocking, &look) == UNHELD)
		return;
	rule("a reader that finds label_lock taken waits for it, and then gets the label");
	check_old_or_new(&look);
}

/*
 * SET_LABEL may have given back other locks before it changes the label; whenever it gives one
 * back there is one whole label, and after the last the new one.
 */
static void changed_when_unlocked(const struct bo *bo, const char *from, const char *to)
{
	struct writing writing = { from, to, "mutex_unlock", 1, true };
	struct look last = { 0 }, look = { 0 };
	enum held held = HELD;

	for (; writing.nth <= MOST_UNLOCKS && held != UNHELD; writing.nth++) {
		held = hold_writer(bo, &writing, &look);
		if (held != LOOKED)
			continue;
		rule("a label changes as a whole, before label_lock is given back: not in two steps");
		check_old_or_new(&look);
		last = look;
	}
	rule(CHANGES_UNDER);
	if (last.found)
		check_label(&last, to);
}

/* A watchpoint sees each touch of the label; a driver may keep its labels elsewhere. */
static void touched_under_lock(const struct bo *bo)
{
	unsigned int touches, unlocked;
	char seen[200];
	FILE *file;

	inject_load();
	file = fopen(TOUCHES, "re");
	if (!file)
		could_not_look("no watchpoint on the label: %s", strerror(errno));
	set_text(bo, OLD);
	look_for(bo->size);
	if (fscanf(file, "%u %u %199[^\n]", &touches, &unlocked, seen) != 3)
		fail_msg(TOUCHES ": no answer");
	fclose(file);
	rule("a label is read and written under label_lock, all of it");
	if (unlocked)
		broken("label_lock held by each task that touches bo->label",
		       "%s (%u of %u times)", seen, unlocked, touches);
}

void test_label_lock(void **state)
{
	static const struct writing locking = { OLD, NEW, "mutex_lock", 1, false };
	struct look look = { 0 };
	int fd = gem_open();
	struct bo bo;

	(void)state;
	rule("CREATE_BO makes a BO and returns 0");
	bo = make_bo(fd, LABEL_PAGES * PAGE, 0);
	hold_reader(&bo, true);
	hold_reader(&bo, false);
	rule(CHANGES_UNDER);
	if (hold_writer(&bo, &locking, &look) == LOOKED)
		check_label(&look, OLD);
	/* From a short text to a long one, and back: what is left of either shows. */
	changed_when_unlocked(&bo, OLD, NEW);
	changed_when_unlocked(&bo, NEW, OLD);
	reader_waits(&bo);
	hold_reader_before(&bo);
	touched_under_lock(&bo);
	check_label_signals(&bo);
	close(fd);
}

/* ---- For the debug kernel ------------------------------------------------ */

/*
 * Where SET_LABEL can be held when it has found the BO: a driver may look handles up
 * in a way of its own, wait for its lock in any way, or keep the label without a lock.  The
 * debug kernel's mutex_lock() is the nested one.
 */
static const struct place {
	const char *symbol;
	bool at_return;
} lookup = { "drm_gem_object_lookup", true }, waits[] = {
	{ "mutex_lock_nested", false },
	{ "mutex_lock_interruptible_nested", false },
	{ "mutex_lock_killable_nested", false },
	{ "mutex_trylock", false },
	{ "down_write", false },
	{ "down_write_killable", false },
};

/*
 * The handle is closed while SET_LABEL is held: from then on the reference of the
 * lookup is the only one, and KASAN sees who uses the BO after putting it.  False
 * when SET_LABEL does not come to this place.
 */
static bool label_closed(int fd, const struct place *place)
{
	struct labelling labelling;
	struct bo bo;
	bool held;

	rule("CREATE_BO makes a BO and returns 0");
	bo = make_bo(fd, PAGE, 0);
	inject_within(SET_LABEL);
	if (place->at_return)
		inject_hold_return(place->symbol, 1, INJECT_BOUND_MS);
	else
		inject_hold_entry(place->symbol, 1, INJECT_BOUND_MS);
	start_labelling(&labelling, &bo, NEW);
	held = aside_is_held(&labelling.aside, place->symbol);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	if (held)
		let_go(place->symbol);
	aside_join(&labelling.aside);
	inject_clear();
	rule("SET_LABEL puts its reference when it is done with the BO, and not before");
	/* Held before it had looked for the BO? */
	if (labelling.err == ENOENT)
		return false;
	check_errno(labelling.err, 0, "SET_LABEL of a BO that it had found");
	return held;
}

void test_label_closed(void **state)
{
	int fd = gem_open();
	struct live before = live_now();
	bool held, waited = false;

	(void)state;
	held = label_closed(fd, &lookup);
	check_live(&before);
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]) && !waited; i++) {
		waited = label_closed(fd, &waits[i]);
		check_live(&before);
	}
	if (!held && !waited)
		note("SET_LABEL can be held nowhere between its lookup and its end: nothing was seen");
	close(fd);
}
