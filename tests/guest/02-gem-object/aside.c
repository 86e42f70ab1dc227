// SPDX-License-Identifier: MIT
/*
 * Threads beside the test.  While a gate holds one call another thread may wait for a
 * lock which that call has: so everything that could wait has a thread of its own,
 * and the test sees in /proc whether it runs, sleeps, or is through.
 */
#include "gem.h"

#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sleeps.h"

/* More than anybody tries to have a lock before giving up. */
#define HURRIED_SLEEPS	3000

static void *run_aside(void *arg)
{
	struct aside *aside = arg;

	atomic_store(&aside->tid, (int)syscall(SYS_gettid));
	aside->run(aside->arg);
	atomic_store(&aside->done, true);
	return NULL;
}

void aside_start(struct aside *aside, void (*run)(void *arg), void *arg)
{
	int err;

	aside->run = run;
	aside->arg = arg;
	atomic_init(&aside->tid, 0);
	atomic_init(&aside->done, false);
	err = pthread_create(&aside->thread, NULL, run_aside, aside);
	if (err)
		fail_msg("pthread_create: %s", strerror(err));
}

void aside_join(struct aside *aside)
{
	pthread_join(aside->thread, NULL);
}

static void pause_ms(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	nanosleep(&pause, NULL);
}

/* Does nothing but this thread want to run? */
static bool guest_is_idle(void)
{
	FILE *file = fopen("/proc/loadavg", "re");
	int running = 0;

	if (file && fscanf(file, "%*f %*f %*f %d/", &running) != 1)
		running = 0;
	if (file)
		fclose(file);
	return running == 1;
}

/* A task that is watched: does it sleep for long, without being woken, or never end? */
struct watch {
	long switches;		/* at the last look; -1: it did not sleep */
	unsigned int all;	/* looks */
	unsigned int looks;	/* in a row that saw it asleep */
	unsigned int idle;	/* of those, looks that saw nobody who could wake it */
	int64_t late;		/* guest_deadline(): of a task that still polls then */
};

/*
 * A task that polls keeps a processor busy, and on a busy host each look may take a second.  The
 * gate that holds it has a bound in the guest's time, and the test must open it before.
 */
static bool has_polled(const struct watch *watch, unsigned int ms)
{
	return watch->all >= 2 * ms + POLLS_MS ||
	       (ms == ASLEEP_MS && guest_deadline(0) >= watch->late);
}

/*
 * Looks once; a millisecond goes by between two looks.  True when the task waits: it has slept for
 * @ms looks, or it polls.  If nobody else wants to run, only a timer can still wake a task that
 * sleeps: QUIET_MS are enough then, for @ms that only decide how much the test sees.
 *
 * A task that polls, with mutex_trylock() for example, runs or sleeps briefly again and again.
 * To see that takes longer than to see a sleep, because a call that does its work runs as well.
 */
static bool waits(struct watch *watch, int tid, unsigned int ms)
{
	long now;

	if (!watch->all)
		watch->late = guest_deadline(LOOKED_MS);
	now = sleeps_of(tid);
	if (now < 0 || now != watch->switches)
		*watch = (struct watch){ .switches = now, .all = watch->all, .late = watch->late };
	else
		watch->looks++;
	if (watch->looks && ms == ASLEEP_MS && guest_is_idle())
		watch->idle++;
	watch->all++;
	return watch->looks >= ms || watch->idle >= QUIET_MS || has_polled(watch, ms);
}

static bool ends_or_waits(struct aside *aside, struct watch *watch, unsigned int ms)
{
	return atomic_load(&aside->done) || waits(watch, atomic_load(&aside->tid), ms);
}

/*
 * A thread that never comes to the gate is a hang, which the grader judges by a clock that
 * knows what the host was doing.
 */
bool aside_ends(struct aside *aside, unsigned int ms)
{
	struct watch watch = { .switches = -1 };

	while (!ends_or_waits(aside, &watch, ms))
		pause_ms();
	return atomic_load(&aside->done);
}

void aside_both_end(struct aside *one, bool *one_ends, struct aside *other, bool *other_ends,
		    unsigned int ms)
{
	struct watch first = { .switches = -1 }, second = { .switches = -1 };
	bool first_seen = false, second_seen = false;

	while (!first_seen || !second_seen) {
		pause_ms();
		first_seen = first_seen || ends_or_waits(one, &first, ms);
		second_seen = second_seen || ends_or_waits(other, &second, ms);
	}
	*one_ends = atomic_load(&one->done);
	*other_ends = atomic_load(&other->done);
}

static bool has_ended(pid_t child)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid;
}

bool child_ends(pid_t child, unsigned int ms)
{
	struct watch watch = { .switches = -1 };

	while (!has_ended(child) && !waits(&watch, child, ms))
		pause_ms();
	return has_ended(child);
}

static void ignore(int number)
{
	(void)number;
}

void aside_signal(struct aside *aside)
{
	/* No SA_RESTART, and a handler: a wait that can be interrupted ends. */
	const struct sigaction action = { .sa_handler = ignore };

	sigaction(SIGUSR1, &action, NULL);
	pthread_kill(aside->thread, SIGUSR1);
	aside_ends(aside, ASLEEP_MS);
}

bool aside_is_held(struct aside *aside, const char *symbol)
{
	bool done;

	for (;;) {
		done = atomic_load(&aside->done);
		if (inject_await_held(symbol, done ? 0 : 2))
			return true;
		if (done)
			return false;
	}
}

void hurry(const char *symbol)
{
	inject_within(symbol);
	inject_hurry("schedule_timeout", HURRIED_SLEEPS);
	inject_hurry("usleep_range_state", HURRIED_SLEEPS);
}

void let_go(const char *symbol)
{
	if (!inject_let_go(symbol))
		could_not_look("the hold at %s() was over before the test had looked", symbol);
}

static void run_creation(void *arg)
{
	struct creation *c = arg;

	c->err = gem_create(c->fd, c->size, c->flags, &c->bo);
}

void start_creation(struct creation *creation, int fd, uint64_t size, uint32_t flags)
{
	creation->fd = fd;
	creation->size = size;
	creation->flags = flags;
	aside_start(&creation->aside, run_creation, creation);
}

static void run_closing(void *arg)
{
	struct closing *c = arg;

	c->err = guest_close_handle(c->bo.fd, c->bo.handle);
}

void start_closing(struct closing *closing, const struct bo *bo)
{
	closing->bo = *bo;
	aside_start(&closing->aside, run_closing, closing);
}

static void run_look(void *arg)
{
	struct look *look = arg;

	read_bos(look->size, look);
	look->silent = silent_mask(look->size, look->mask);
}

void start_look(struct look *look, uint64_t size)
{
	look->size = size;
	aside_start(&look->aside, run_look, look);
}

struct look look_for(uint64_t size)
{
	struct look look = { .size = size };

	read_bos(size, &look);
	return look;
}
