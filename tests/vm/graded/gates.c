// SPDX-License-Identifier: MIT
/*
 * Gates: a call waits where the test said, with its arguments, its result and a free CPU,
 * until the test lets it go, the hold's time is over, or the task is killed.
 */
#include "gates.h"
#include "graded.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CREATE	"drm_gem_handle_create"
#define LOOKUP	"drm_gem_object_lookup"
#define SIZE	(3 * PAGE)
/* For an event that always comes. */
#define SURE_MS	20000

struct caller {
	pthread_t thread;
	int fd;
	struct bo bo;
	int err;
	atomic_bool done;
};

static void *create(void *arg)
{
	struct caller *c = arg;

	c->err = guest_create(c->fd, SIZE, 0, &c->bo);
	atomic_store(&c->done, true);
	return NULL;
}

static void *look_up(void *arg)
{
	struct caller *c = arg;

	c->err = guest_wait(c->fd, c->bo.handle, 0);
	atomic_store(&c->done, true);
	return NULL;
}

static void start(struct caller *c, void *(*run)(void *))
{
	atomic_store(&c->done, false);
	check_equal(pthread_create(&c->thread, NULL, run, c), 0, "pthread_create");
}

static void await(const char *symbol)
{
	check_true(inject_await_held(symbol, SURE_MS), "the call is held", "it is not");
}

/* munmap() waits for all CPUs that run threads of this process. */
static void need_the_other_cpu(void)
{
	for (int i = 0; i < 20; i++) {
		char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		check_true(p != MAP_FAILED, "memory", "none");
		p[0] = 1;
		munmap(p, PAGE);
	}
}

static void held_once(int fd, bool at_return)
{
	struct caller c = { .fd = fd };
	bool exists;

	if (at_return)
		inject_hold_return(CREATE, 1, INJECT_BOUND_MS);
	else
		inject_hold_entry(CREATE, 1, INJECT_BOUND_MS);
	start(&c, create);
	await(CREATE);
	need_the_other_cpu();
	exists = guest_wait(fd, 1, 0) != ENOENT;
	check_equal(exists, at_return, "whether the handle exists while the call is held");
	check_true(!atomic_load(&c.done), "CREATE_BO waits", "it has returned");
	check_true(inject_let_go(CREATE), "a call that was held", "none was");
	pthread_join(c.thread, NULL);
	check_errno(c.err, 0, "CREATE_BO");
	check_equal(c.bo.handle, 1, "the handle");
	check_equal(inject_hits(CREATE), 1, "calls that were counted");
	guest_map(&c.bo);
	guest_destroy(&c.bo);
	inject_clear();
}

void gate_entry_and_return(void **state)
{
	int fd = guest_open();
	struct bo bo;

	(void)state;
	rule("a gate holds a call at its entry, or before its caller goes on");
	held_once(fd, false);
	held_once(fd, true);
	rule("a call that passed a gate returns what it returned without");
	inject_hold_return(LOOKUP, 3, 1);
	check_errno(guest_wait(fd, 1, 0), ENOENT, "a lookup that finds nothing");
	check_errno(guest_create(fd, PAGE, 0, &bo), 0, "CREATE_BO");
	check_errno(guest_wait(fd, 1, 0), 0, "a lookup that finds something");
	check_errno(guest_wait(fd, 2, 0), ENOENT, "the lookup that was held for a moment");
	check_true(!inject_let_go(LOOKUP), "a hold that was given up", "one that was not");
	check_errno(guest_wait(fd, 2, 0), ENOENT, "the one after it");
	inject_clear();
	close(fd);
}

/* The second gate lets its holder go first, and while both wait the test uses the first's file. */
void gate_two_threads(void **state)
{
	struct caller one = { .fd = guest_open() }, two = { .fd = guest_open() };
	struct bo bo;

	(void)state;
	rule("two gates hold two threads");
	check_errno(guest_create(two.fd, PAGE, 0, &two.bo), 0, "CREATE_BO");
	inject_hold_return(LOOKUP, 1, INJECT_BOUND_MS);
	inject_within("agate_gem_create_ioctl");
	inject_hold_entry(CREATE, 1, INJECT_BOUND_MS);
	start(&one, create);
	await(CREATE);
	start(&two, look_up);
	await(LOOKUP);
	need_the_other_cpu();
	check_errno(guest_create(one.fd, PAGE, 0, &bo), 0, "CREATE_BO of the test itself");
	check_true(inject_await_held(CREATE, 0), "the first still held", "it is not");
	check_true(inject_let_go(LOOKUP), "a lookup that was held", "none was");
	pthread_join(two.thread, NULL);
	check_true(!atomic_load(&one.done), "CREATE_BO waits", "it has returned");
	check_true(inject_let_go(CREATE), "a CREATE_BO that was held", "none was");
	pthread_join(one.thread, NULL);
	check_errno(one.err, 0, "CREATE_BO");
	check_errno(two.err, 0, "WAIT_BO");
	inject_clear();
	close(one.fd);
	close(two.fd);
}

void gate_every_call(void **state)
{
	struct caller one = { .fd = guest_open() }, two = { .fd = one.fd };

	(void)state;
	rule("a gate for every call holds all that come until it is opened");
	inject_hold_entry(CREATE, 0, INJECT_BOUND_MS);
	start(&one, create);
	start(&two, create);
	while (inject_hits(CREATE) < 2)
		usleep(500);
	need_the_other_cpu();
	check_true(!atomic_load(&one.done) && !atomic_load(&two.done), "both wait", "one does not");
	await(CREATE);
	check_true(inject_let_go(CREATE), "calls that were held", "none was");
	pthread_join(one.thread, NULL);
	pthread_join(two.thread, NULL);
	check_errno(one.err, 0, "CREATE_BO");
	check_errno(two.err, 0, "CREATE_BO");
	inject_clear();
	close(one.fd);
}

/* The test's own calls meanwhile are not inside the call that is held. */
void gate_within(void **state)
{
	struct caller c = { .fd = guest_open() };

	(void)state;
	rule("only calls of the task that is inside the named function count");
	inject_within("agate_gem_create_ioctl");
	inject_hold_return(CREATE, 1, INJECT_BOUND_MS);
	inject_count(LOOKUP);
	start(&c, create);
	await(CREATE);
	check_errno(guest_wait(c.fd, 1, 0), 0, "WAIT_BO");
	check_equal(inject_hits(LOOKUP), 0, "lookups inside CREATE_BO");
	check_true(inject_let_go(CREATE), "a CREATE_BO that was held", "none was");
	pthread_join(c.thread, NULL);
	check_errno(c.err, 0, "CREATE_BO");
	inject_clear();
	close(c.fd);
}

void gate_given_up(void **state)
{
	struct caller c = { .fd = guest_open() };
	struct bo bo;

	(void)state;
	rule("a hold ends when its time is over, and the test is told");
	inject_hold_entry(CREATE, 1, 20);
	start(&c, create);
	pthread_join(c.thread, NULL);
	check_errno(c.err, 0, "CREATE_BO");
	check_true(!inject_await_held(CREATE, 0), "nobody is held", "somebody is");
	check_true(!inject_let_go(CREATE), "a hold that was given up", "one that was not");
	check_errno(guest_create(c.fd, PAGE, 0, &bo), 0, "the next CREATE_BO");
	inject_clear();
	close(c.fd);
}

void gate_nobody_came(void **state)
{
	struct bo bo;
	int fd = guest_open();

	(void)state;
	rule("a gate that is opened before anybody came holds nobody, and the test is told");
	inject_hold_entry(CREATE, 1, INJECT_BOUND_MS);
	check_true(!inject_await_held(CREATE, 10), "nobody is held", "somebody is");
	check_true(!inject_let_go(CREATE), "nobody was held", "somebody was");
	check_errno(guest_create(fd, PAGE, 0, &bo), 0, "CREATE_BO");
	check_equal(inject_hits(CREATE), 1, "calls that were counted");
	inject_clear();
	close(fd);
}

void gate_cleared(void **state)
{
	struct caller c = { .fd = guest_open() };

	(void)state;
	rule("clear lets go whoever is held, at the entry and at the return");
	for (int i = 0; i < 4; i++) {
		if (i % 2)
			inject_hold_return(CREATE, 1, INJECT_BOUND_MS);
		else
			inject_hold_entry(CREATE, 1, INJECT_BOUND_MS);
		start(&c, create);
		await(CREATE);
		inject_clear();
		pthread_join(c.thread, NULL);
		check_errno(c.err, 0, "CREATE_BO");
	}
	close(c.fd);
}

/* The child inherited the test's file of injections by fork(), so it must open its own. */
void gate_killed(void **state)
{
	int64_t start_ns;
	pid_t pid;
	int fd = guest_open(), out[2];
	char c;

	(void)state;
	rule("a task that is killed while it is held goes at once");
	check_equal(pipe(out), 0, "pipe");
	pid = fork();
	if (!pid) {
		struct caller child = { .fd = fd };

		inject_hold_entry(CREATE, 1, 25000);
		start(&child, create);
		await(CREATE);
		if (write(out[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	check_equal(read(out[0], &c, 1), 1, "the child's word");
	start_ns = guest_deadline(0);
	kill(pid, SIGKILL);
	check_equal(waitpid(pid, NULL, 0), pid, "the child");
	/* It takes that long only if the hold ends by itself. */
	check_at_least(20000, (guest_deadline(0) - start_ns) / 1000000, "milliseconds to its end");
	close(fd);
}

/* This function must not be held: that would stop the whole guest. */
void gate_interrupts(void **state)
{
	(void)state;
	rule("a call that must not sleep is not held, and the test is told");
	inject_anybody(true);
	inject_hold_entry("handle_edge_irq", 1, INJECT_BOUND_MS);
	for (int i = 0; i < 5000 && !inject_hits("handle_edge_irq"); i++) {
		note("interrupts, please");
		usleep(1000);
	}
	check_equal(inject_hits("handle_edge_irq") > 0, 1, "whether an interrupt came");
	check_true(!inject_await_held("handle_edge_irq", 0), "nobody is held", "somebody is");
	check_true(!inject_let_go("handle_edge_irq"), "a hold that was given up", "one that was not");
	inject_clear();
	inject_anybody(false);
}

void blind(void **state)
{
	(void)state;
	rule("the test sees");
	could_not_look("nobody was held\nat %s", CREATE);
}
