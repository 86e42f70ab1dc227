/* SPDX-License-Identifier: MIT */
/*
 * What the tests of lab 02 share: the topic, the counters, and the BOs as debugfs
 * lists them.
 *
 * Every test begins with gem_open().  Leaks are judged against what was there
 * when the test began, so that one test's leak is not the next one's failure.
 */
#ifndef AGATE_TESTS_GEM_OBJECT_H
#define AGATE_TESTS_GEM_OBJECT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "graded.h"

#define NO_HANDLE	0x7fffffffu
#define LABEL_ROOM	256

/* A file on the node; the test ends here when the driver has no topic "gem". */
int gem_open(void);

/* What is alive, of all files. */
struct live {
	long bos;
	long handles;
	long va_nodes;
	long vms;
};

struct live live_now(void);
/* As many as @before, soon, or the rule is broken by those that are left. */
void check_live(const struct live *before);

/*
 * No BO that was freed is on gem.bos.  When one is, the test ends here: whoever walks the list,
 * debugfs too, would crash.  Nobody may be making a BO meanwhile.
 */
void check_list(void);

/* The kernel's memory has not grown, or soon has not, by more than @limit KiB since @before. */
void check_growth(long before, long limit);

/* A BO as debugfs shows it. */
struct listed {
	uint64_t va;			/* in the client that was asked for */
	uint64_t size;
	uint64_t resident;
	unsigned int handles;
	unsigned int refs;
	char madv[16];
	char flags[64];		/* names with commas between, "" for none */
	char label[LABEL_ROOM];
};

struct look;

/*
 * Whether the newest BO of @size has the gfp mask that the contract demands: 1, 0, or -1
 * when no such BO is listed.  If it is 0, @seen says what is wrong.  The injection module tells.
 */
#define MASK_ROOM	320
int silent_mask(uint64_t size, char seen[MASK_ROOM]);
/* The BO that has address @va in the address space of @fd; false when none is listed. */
bool find_listed(int fd, uint64_t va, struct listed *bo);
/* The same, for a BO that has to be there. */
struct listed listed(const struct bo *bo);
/* The BOs of all files that are listed, the newest one of @size among them. */
void read_bos(uint64_t size, struct look *look);
/* The first @max BOs of this file that are listed; returns how many there are. */
unsigned int list_bos(int fd, struct listed *bos, unsigned int max);

/*
 * CREATE_BO: 0 or the errno.  The client's fields have to come back as they were, also from a
 * call that fails.  Neither this call nor set_label() is made again when it gives EINTR or
 * EAGAIN: a call that gets no signal must not say so.
 */
int gem_create(int fd, uint64_t size, uint32_t flags, struct bo *bo);
/* A BO that has to be made, and is not mapped. */
struct bo make_bo(int fd, uint64_t size, uint32_t flags);
int get_offset(int fd, uint32_t handle, uint64_t *offset);
int set_label(int fd, uint32_t handle, const void *text, uint32_t len);
/* Names a handle to the file without looking at what it is a name of. */
bool handle_exists(int fd, uint32_t handle);

/*
 * A BO that has to come to be, whether it gets a handle or not: for tests of calls that are
 * refused, which would otherwise pass where nothing works.
 */
void check_bo_is_made(int fd, uint64_t size, uint32_t flags);

/*
 * promises.c: what holds for every BO.  Start to watch; then check the promises that @which
 * names, each between blanks, or all for NULL.
 */
FILE *promises_watch(void);
void promises_kept(FILE *file, const char *which);

/* lives.c */
/* Every set of flags that CREATE_BO takes; returns how many there are. */
#define KINDS_END	16u
#define KINDS		12u
unsigned int kinds(uint32_t flags[KINDS]);
/* BOs with consecutive pages, and with memory of another driver, come and go. */
void other_kinds(int fd);
/*
 * make_and_use() makes BOs of every kind, and then uses, advises or purges them, as their life
 * says; live_and_die() does that for each life, and closes them by close_kinds().
 */
#define LIFE_NEW	0
#define LIFE_PURGEABLE	2
#define LIFE_PURGED	3
unsigned int make_and_use(int fd, unsigned int life, struct bo bo[KINDS]);
void close_kinds(const struct bo *bo, unsigned int n);
void live_and_die(int fd);
void label_every_kind(int fd);
/* Their last references go in processes that end, with a mapping, and with a job. */
void end_everywhere(int fd);

/* second.c: BOs that have several handles are counted, and referenced, as they should be. */
void check_more_handles(void);
/* A second handle, and its end, change nothing of the BO but the number of its handles. */
void check_handles_change_nothing(void);
void check_still_purgeable(void);

/* memory.c: what the driver allocates for a BO and its label goes with the BO. */
void check_memory(void);
/*
 * From now on the injection module counts the memory that the driver's own lines ask for.  How
 * many pieces of it are left, soon, if there are more than @limit.  The file ends it.
 */
int memory_watch(void);
uint32_t memory_kept(int topic, uint32_t limit);

/* signals.c: a call gets a signal while it waits for gem.lock; there has to be a BO. */
void check_killed_closer(int fd);
void check_interrupted_creates(int fd);
/* The same for a process that is held, and killed, in the middle of CREATE_BO. */
void check_killed_inside(void);

/* A process of its own makes the call. */
pid_t start_child(void (*run)(const struct bo *bo), const struct bo *bo);

/* label_signals.c: SET_LABEL gets a signal while it waits for label_lock; 0 or the errno. */
int interrupt_label(const struct bo *bo);

/*
 * races.c: a label that a thread sets by a guessed handle, before CREATE_BO has returned,
 * stays.  The file has no handle yet.
 */
void check_label_of_a_guess(int fd);

/* MADVISE; the call has to succeed. */
void advise(const struct bo *bo, uint32_t madv);
/* Make the kernel's shrinkers take what they can, the pages of purgeable BOs among it. */
void shrink(void);

/* ---- aside.c: threads beside the test ------------------------------------ */

/* A call on a thread of its own. */
struct aside {
	pthread_t thread;
	void (*run)(void *arg);
	void *arg;
	atomic_int tid;
	atomic_bool done;
};

void aside_start(struct aside *aside, void (*run)(void *arg), void *arg);
void aside_join(struct aside *aside);
/*
 * Wait until the call is over, or waits: false when it sleeps, for that many milliseconds
 * without being woken, or polls.
 */
bool aside_ends(struct aside *aside, unsigned int ms);
#define ASLEEP_MS	20	/* where a wrong answer only makes the test see less */
#define QUIET_MS	2	/* the same, in a guest that is idle otherwise */
#define STUCK_MS	2000	/* where the verdict depends on it */
#define POLLS_MS	160	/* in addition to twice as long: for a task that never sleeps on */
#define LOOKED_MS	3000	/* or so long by the clock, where a wrong answer makes it see less */
/* The same of two calls, which are watched together: the gate that both may wait for has a bound. */
void aside_both_end(struct aside *one, bool *one_ends, struct aside *other, bool *other_ends,
		    unsigned int ms);
/* The same for a child process, which may be a zombie then. */
bool child_ends(pid_t child, unsigned int ms);
/* Send the thread a signal that it handles, and give a wait that ends by it time to end. */
void aside_signal(struct aside *aside);
/* Wait until the call is held at the gate of @symbol; false when it ends without coming there. */
bool aside_is_held(struct aside *aside, const char *symbol);
/*
 * Sleeps inside @symbol are over at once, but not for ever: a call that polls a lock still waits.
 */
void hurry(const char *symbol);
/* Open the gate; the test ends here when the call was not held until now. */
void let_go(const char *symbol);

/* CREATE_BO on a thread of its own. */
struct creation {
	struct aside aside;
	int fd;
	uint64_t size;
	uint32_t flags;
	struct bo bo;
	int err;
};

void start_creation(struct creation *creation, int fd, uint64_t size, uint32_t flags);
/* races.c: the same, held when its handle exists, at the return of CREATE_HANDLE. */
#define CREATE_HANDLE	"drm_gem_handle_create"
void hold_creation(struct creation *creation, int fd, uint64_t size, uint32_t flags);

/* GEM_CLOSE on a thread of its own. */
struct closing {
	struct aside aside;
	struct bo bo;
	int err;
};

void start_closing(struct closing *closing, const struct bo *bo);

/*
 * debugfs' list, read on a thread of its own: the call that is held may have taken
 * gem.lock.
 */
struct look {
	struct aside aside;
	uint64_t size;
	bool found;
	struct listed bo;	/* the newest BO of @size */
	unsigned int all;	/* BOs on the list */
	unsigned int sizeless;	/* of those, BOs of 0 bytes */
	int silent;		/* start_look() only: see silent_mask() */
	char mask[MASK_ROOM];
};

void start_look(struct look *look, uint64_t size);
/* The whole of it: for when nobody can be holding gem.lock. */
struct look look_for(uint64_t size);

/* create.c */
void test_topic(void **state);
void test_bad_sizes(void **state);
void test_bad_flags(void **state);
void test_address(void **state);
void test_handle(void **state);
void test_sizes(void **state);
void test_flags(void **state);
/* listed.c */
void test_listed_complete(void **state);
void test_list_lock(void **state);
void test_release_order(void **state);
void test_destroyed(void **state);
/* names.c */
void test_lookup(void **state);
void test_close(void **state);
void test_other_file(void **state);
void test_mapped(void **state);
void test_file_close(void **state);
void test_many(void **state);
/* label.c */
void test_label(void **state);
void test_label_refused(void **state);
void test_label_fetched_once(void **state);
void test_label_stalled(void **state);
/* label_lock.c */
void test_label_lock(void **state);
void test_label_closed(void **state);
/* label_locks.c */
void test_locks(void **state);
/* races.c */
void test_complete(void **state);
void test_closed_early(void **state);
void test_race(void **state);
/* failures.c */
void test_no_addresses(void **state);
void test_no_memory(void **state);
void test_too_much(void **state);
void test_allocations(void **state);

#endif /* AGATE_TESTS_GEM_OBJECT_H */
