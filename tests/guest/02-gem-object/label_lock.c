// SPDX-License-Identifier: MIT
/* Lab 02, step 4: a label changes while others read it, or while its BO goes. */
#include "gem.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SET_LABEL	"agate_gem_set_label_ioctl"
#define GET_LABEL	"agate_gem_get_label"
#define OLD		"old label"
#define NEW		"new label, longer"
#define LABEL_PAGES	71
#define LOOKS		10
#define MOST_UNLOCKS	4u

struct labelling {
	struct aside aside;
	struct bo bo;
	int err;
};

static void run_labelling(void *arg)
{
	struct labelling *l = arg;

	l->err = set_label(l->bo.fd, l->bo.handle, NEW, strlen(NEW));
}

static void start_labelling(struct labelling *labelling, const struct bo *bo)
{
	labelling->bo = *bo;
	aside_start(&labelling->aside, run_labelling, labelling);
}

static void set_old(const struct bo *bo)
{
	check_errno(set_label(bo->fd, bo->handle, OLD, strlen(OLD)), 0, "SET_LABEL");
}

static void check_label(const struct look *look, const char *expected)
{
	check_true(look->found, "the BO in debugfs' list", "it is not there");
	if (strcmp(look->bo.label, expected))
		broken(expected, "label \"%s\"", look->bo.label);
}

static void check_old_or_new(const struct look *look)
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
		start_labelling(&labelling, bo);
		waits = !aside_ends(&labelling.aside, ASLEEP_MS);
		let_go("mutex_unlock");
		aside_join(&labelling.aside);
		rule("a label is written under label_lock");
		check_true(waits || !has_lock, "SET_LABEL waits while a reader has the lock",
			   "it did not wait");
		check_errno(labelling.err, 0, "SET_LABEL");
	}
	aside_join(&look.aside);
	inject_clear();
	rule("a label is read under label_lock, all of it");
	check_label(&look, OLD);
}

enum held { UNHELD, HELD, LOOKED };

/*
 * debugfs, while SET_LABEL is held at its nth call of @symbol, if it makes so many; LOOKED
 * when debugfs came to its end meanwhile.
 */
static enum held hold_writer(const struct bo *bo, const char *symbol, unsigned int nth,
			     bool at_return, struct look *look)
{
	struct labelling labelling;
	bool held, looked = false;

	set_old(bo);
	look->size = bo->size;
	inject_within(SET_LABEL);
	if (at_return)
		inject_hold_return(symbol, nth, INJECT_BOUND_MS);
	else
		inject_hold_entry(symbol, nth, INJECT_BOUND_MS);
	start_labelling(&labelling, bo);
	held = aside_is_held(&labelling.aside, symbol);
	if (held) {
		if (!at_return)
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
		start_labelling(&labelling, bo);
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
	struct look look = { .found = false };

	if (hold_writer(bo, "mutex_unlock", 1, false, &look) == UNHELD)
		return;
	rule("a reader that finds label_lock taken waits for it, and then gets the label");
	check_old_or_new(&look);
}

/* SET_LABEL gets a signal while it waits for a reader that has label_lock. */
static void signal_writer(const struct bo *bo)
{
	struct look look = { .size = bo->size };
	struct labelling labelling;
	unsigned int refs, nth;

	set_old(bo);
	refs = listed(bo).refs;
	nth = look_for(bo->size).all;
	inject_within(GET_LABEL);
	inject_hold_entry("mutex_unlock", nth, INJECT_BOUND_MS);
	start_look(&look, bo->size);
	if (aside_is_held(&look.aside, "mutex_unlock")) {
		start_labelling(&labelling, bo);
		aside_ends(&labelling.aside, ASLEEP_MS);
		aside_signal(&labelling.aside);
		let_go("mutex_unlock");
		aside_join(&labelling.aside);
	}
	aside_join(&look.aside);
	inject_clear();
	rule("SET_LABEL puts its reference also when a signal ends its wait for label_lock");
	check_equal(listed(bo).refs, refs, "references after a SET_LABEL that got a signal");
}

/* A call that cannot say EINTR has to wait, whoever gets a signal. */
static void signal_reader(const struct bo *bo)
{
	struct look look = { .size = bo->size };
	struct labelling labelling;

	set_old(bo);
	inject_within(SET_LABEL);
	inject_hold_entry("mutex_unlock", 1, INJECT_BOUND_MS);
	start_labelling(&labelling, bo);
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
	start_labelling(&labelling, bo);
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

/*
 * SET_LABEL may have given back other locks before; the last that it gives back with debugfs
 * looking has the label changed.
 */
static void changed_when_unlocked(const struct bo *bo)
{
	struct look last = { 0 }, look = { 0 };
	enum held held = HELD;

	for (unsigned int nth = 1; nth <= MOST_UNLOCKS && held != UNHELD; nth++) {
		held = hold_writer(bo, "mutex_unlock", nth, true, &look);
		if (held == LOOKED)
			last = look;
	}
	rule("a label changes under label_lock: neither before it is taken nor after it was given back");
	if (last.found)
		check_label(&last, NEW);
}

void test_label_lock(void **state)
{
	struct look look = { 0 };
	int fd = gem_open();
	struct bo bo;

	(void)state;
	rule("CREATE_BO makes a BO and returns 0");
	bo = make_bo(fd, LABEL_PAGES * PAGE, 0);
	hold_reader(&bo, true);
	hold_reader(&bo, false);
	rule("a label changes under label_lock: neither before it is taken nor after it was given back");
	if (hold_writer(&bo, "mutex_lock", 1, false, &look) == LOOKED)
		check_label(&look, OLD);
	changed_when_unlocked(&bo);
	reader_waits(&bo);
	hold_reader_before(&bo);
	signal_writer(&bo);
	signal_reader(&bo);
	kill_reader(&bo);
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
	start_labelling(&labelling, &bo);
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

/* Locks of one kind, by the functions that take them. */
struct lock_kind {
	const char *const *symbols;
	size_t count;
};

static unsigned int locks_counted(const struct lock_kind *kind)
{
	unsigned int hits = 0;

	for (size_t i = 0; i < kind->count; i++)
		hits += inject_hits(kind->symbols[i]);
	return hits;
}

/*
 * Reads the label of the one BO that is listed, @looks times. @locked: the reads in which
 * agate_gem_get_label() took a lock of this kind.  Returns how many have none yet.
 */
static unsigned int look_for_locks(const struct bo *bo, const struct lock_kind *kind,
				   bool locked[LOOKS])
{
	unsigned int before, left = 0;
	struct look look;

	inject_within(GET_LABEL);
	for (size_t i = 0; i < kind->count; i++)
		inject_count(kind->symbols[i]);
	for (unsigned int i = 0; i < LOOKS; i++) {
		if (locked[i])
			continue;
		before = locks_counted(kind);
		look = look_for(bo->size);
		check_label(&look, OLD);
		locked[i] = locks_counted(kind) != before;
		left += !locked[i];
	}
	inject_clear();
	return left;
}

#define LOCK_KIND(symbols)	{ symbols, sizeof(symbols) / sizeof((symbols)[0]) }

/*
 * Any kind of lock will do, RCU's included.  The scheduler's count as well, when the reader
 * is interrupted: so no read may come without any.
 *
 * Lockdep hears of every lock, a sequence lock's reader among them, but every interrupt
 * takes some: a guest on a busy host may do nothing else while those are counted.  So the
 * locks that only tasks take come first, and the lock that all come to is the last.
 */
static void reader_takes_a_lock(int fd)
{
	static const char *const tasks[] = {
		"mutex_lock_nested", "mutex_lock_interruptible_nested", "mutex_trylock", "down_read",
	};
	static const char *const interrupts[] = {
		"_raw_spin_lock", "_raw_spin_lock_irq", "_raw_spin_lock_irqsave", "_raw_read_lock",
		"__rcu_read_lock",
	};
	static const char *const all[] = { "lock_acquire" };
	static const struct lock_kind kinds[] = {
		LOCK_KIND(tasks), LOCK_KIND(interrupts), LOCK_KIND(all),
	};
	struct bo bo = make_bo(fd, LABEL_PAGES * PAGE, 0);
	bool locked[LOOKS] = { false };
	unsigned int left = LOOKS;

	set_old(&bo);
	rule("a label is read under label_lock");
	for (size_t i = 0; left && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		left = look_for_locks(&bo, &kinds[i], locked);
	check_true(!left, "agate_gem_get_label() takes a lock", "it takes none");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
}

/* Lockdep knows all locks that a task holds, whatever their names are. */
static void keep_all_promises(int fd)
{
	FILE *watched = promises_watch();
	uint64_t offset;
	struct bo bo;

	live_and_die(fd);
	label_every_kind(fd);
	bo = make_bo(fd, PAGE, 0);
	check_errno(get_offset(fd, bo.handle, &offset), 0, "GET_BO_OFFSET");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	promises_kept(watched, NULL);
}

/*
 * Nothing goes wrong here; lockdep sees in which order locks are taken, and knows
 * what could.
 */
void test_locks(void **state)
{
	int fd = gem_open();
	struct live before = live_now();
	struct bo bo, mapped;

	(void)state;
	reader_takes_a_lock(fd);
	rule("locks are taken in the order that kernel/agate_device.h states");
	bo = make_bo(fd, 2 * PAGE, 0);
	check_errno(set_label(fd, bo.handle, "locks", 5), 0, "SET_LABEL");
	mapped = guest_bo(fd, PAGE, 0);
	memset(mapped.cpu, 1, PAGE);
	check_at_least(look_for(PAGE).all, 2, "BOs on the list");
	check_errno(guest_close_handle(fd, mapped.handle), 0, "GEM_CLOSE");
	munmap(mapped.cpu, mapped.size);
	check_errno(set_label(fd, bo.handle, "again", 5), 0, "SET_LABEL");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	check_live(&before);
	keep_all_promises(fd);
	check_live(&before);
	close(fd);
}
