// SPDX-License-Identifier: MIT
/* Lab 02, step 4, for the debug kernel: which locks are taken, and in which order. */
#include "label_lock.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOOKS		10

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
	other_kinds(fd);
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
