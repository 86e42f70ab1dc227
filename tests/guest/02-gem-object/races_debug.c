// SPDX-License-Identifier: MIT
/*
 * Lab 02: handles that go while they are used.  KASAN is the judge of who touches a BO
 * after the last reference was put, so these are for the debug kernel.
 */
#include "gem.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

/* Enough of those that matter, or as many as there is time for. */
#define HITS		8
#define SECONDS		6
/* How long CREATE_BO is held behind its handle's birth, at first and at most. */
#define HELD_US		300
#define HELD_US_MAX	10000
#define PATIENCE	32	/* calls without a hit */
#define GUESSES		4u

struct labeller {
	struct bo bo;
	int err;
	atomic_bool done;
};

static void *label_thread(void *arg)
{
	struct labeller *labeller = arg;

	labeller->err = set_label(labeller->bo.fd, labeller->bo.handle, "late", 4);
	atomic_store(&labeller->done, true);
	return NULL;
}

/*
 * Where SET_LABEL can be held when it has found the BO: a driver may look handles up
 * in a way of its own, or keep the label without a lock.  The debug kernel's
 * mutex_lock() is the nested one.
 */
static const char *const places[] = { "mutex_lock_nested", "drm_gem_object_lookup" };
enum { BEFORE_LOCK, BEHIND_LOOKUP, PLACES };

static void hold(int place, unsigned int us)
{
	inject_within("agate_gem_set_label_ioctl");
	if (place == BEFORE_LOCK)
		inject_delay_entry(places[place], 1, us);
	else
		inject_delay_return(places[place], 1, us);
}

/*
 * The handle is closed while SET_LABEL is held: from then on the reference of the
 * lookup is the only one, and KASAN sees who uses the BO after putting it.  False
 * when the call was over first, or came too late to find the BO.
 */
static bool label_closed(struct labeller *labeller, int place, unsigned int us)
{
	pthread_t thread;
	bool inside;

	hold(place, us);
	start_aside(&thread, label_thread, labeller);
	while (!inject_hits(places[place]) && !atomic_load(&labeller->done))
		;
	check_errno(guest_close_handle(labeller->bo.fd, labeller->bo.handle), 0, "GEM_CLOSE");
	inside = !atomic_load(&labeller->done);
	pthread_join(thread, NULL);
	inject_clear();
	return inside && !labeller->err;
}

void test_label_closed(void **state)
{
	int fd = gem_open();
	struct live before = live_now();
	bool inside = false;

	(void)state;
	for (unsigned int i = 0; i < PLACES * ATTEMPTS && !inside; i++) {
		struct labeller labeller = { .bo = make_bo(fd, PAGE, 0) };

		rule("SET_LABEL puts its reference when it is done with the BO, and not before");
		inside = label_closed(&labeller, i % PLACES, WINDOW_US << i / PLACES);
		if (labeller.err != ENOENT)
			check_errno(labeller.err, 0, "SET_LABEL of a BO that is being closed");
		check_live(&before);
	}
	check_true(inside, "the handle closed while SET_LABEL works on its BO",
		   "SET_LABEL was always over, or had not begun: the test could not look");
	close(fd);
}

struct guesser {
	int fd;
	atomic_bool stop;
	atomic_uint calls;	/* of CREATE_BO: odd while one runs */
	atomic_uint hits;	/* handles that were closed before their CREATE_BO was over */
	/* What went wrong first; read when the thread has ended. */
	const char *call;
	int err;
};

static void allow(struct guesser *guesser, const char *call, int err, int allowed)
{
	if (err && err != allowed && !guesser->call) {
		guesser->call = call;
		guesser->err = err;
	}
}

/* Use and close the numbers that are about to be handed out. */
static void *guess_thread(void *arg)
{
	struct guesser *guesser = arg;
	uint64_t offset;

	for (uint32_t i = 0; !atomic_load(&guesser->stop); i++) {
		uint32_t handle = 1 + i % GUESSES;
		unsigned int call, again;
		int fd = guesser->fd, err;

		allow(guesser, "GET_BO_OFFSET", get_offset(fd, handle, &offset), ENOENT);
		allow(guesser, "SET_LABEL", set_label(fd, handle, "guess", 5), ENOENT);
		call = atomic_load(&guesser->calls);
		err = guest_close_handle(fd, handle);
		again = atomic_load(&guesser->calls);
		if (!err && call == again && call % 2)
			atomic_fetch_add(&guesser->hits, 1);
		allow(guesser, "GEM_CLOSE", err, EINVAL);
	}
	return NULL;
}

static void create_and_close(struct guesser *guesser, struct guesser *creator)
{
	struct bo bo;
	int err;

	atomic_fetch_add(&guesser->calls, 1);
	err = guest_create(creator->fd, PAGE, 0, &bo);
	atomic_fetch_add(&guesser->calls, 1);
	if (!err)
		allow(creator, "GEM_CLOSE", guest_close_handle(bo.fd, bo.handle), EINVAL);
	else if (err != ENOENT)
		allow(creator, "CREATE_BO", err, EINVAL);
}

/* Until there are hits enough; where the host has other work, longer holds help. */
static void race(struct guesser *guesser, struct guesser *creator)
{
	const time_t end = time(NULL) + SECONDS;
	unsigned int held = HELD_US, calls = 0;

	inject_delay_return("drm_gem_handle_create", 0, held);
	while (atomic_load(&guesser->hits) < HITS && time(NULL) < end) {
		create_and_close(guesser, creator);
		if (++calls % PATIENCE || atomic_load(&guesser->hits) || held >= HELD_US_MAX)
			continue;
		held *= 2;
		inject_clear();
		inject_delay_return("drm_gem_handle_create", 0, held);
	}
}

void test_race(void **state)
{
	struct guesser guesser = { .fd = gem_open() }, creator = { .fd = guesser.fd };
	struct live before = live_now();
	pthread_t thread;

	(void)state;
	start_aside(&thread, guess_thread, &guesser);
	race(&guesser, &creator);
	atomic_store(&guesser.stop, true);
	pthread_join(thread, NULL);
	inject_clear();
	rule("a call whose BO another thread closes succeeds, or says that there is none");
	if (guesser.call)
		check_errno(guesser.err, 0, guesser.call);
	if (creator.call)
		check_errno(creator.err, 0, creator.call);
	rule("CREATE_BO survives every use and every close of its handle before it returns");
	check_live(&before);
	close(creator.fd);
}
