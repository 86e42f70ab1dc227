// SPDX-License-Identifier: MIT
/* A topic of the test's own; see topic.h. */
#include "topic.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "function.h"
#include "graded.h"

#define CALLS_MOST	3
/* A call that has run for so many looks may wait without sleeping. */
#define RUNNING_LOOKS	100
#define TOPIC_FILE	"/sys/kernel/debug/agate_topic"

static int topic_fd = -1;

static int open_topic(void)
{
	if (topic_fd >= 0)
		return topic_fd;
	inject_anybody(false);		/* loads the module that has the file */
	topic_fd = open(TOPIC_FILE, O_RDWR | O_CLOEXEC);
	if (topic_fd < 0)
		broken("the driver has all the functions of agate_pci.h",
		       "%s: %s", TOPIC_FILE, strerror(errno));
	return topic_fd;
}

static struct topic_call request(enum topic_op op, unsigned int vector, uint32_t value)
{
	struct topic_call call = { .op = op, .vector = vector, .value = value };

	if (ioctl(open_topic(), TOPIC_CALL, &call))
		broken("a driver that has the GPU", "none: %s", strerror(errno));
	return call;
}

int topic(enum topic_op op, unsigned int vector, uint32_t value)
{
	return request(op, vector, value).result;
}

uint32_t topic_read(uint32_t reg)
{
	return request(TOPIC_READ, 0, reg).value;
}

uint32_t topic_segment(void)
{
	return request(TOPIC_SEGMENT, 0, 0).value;
}

uint32_t topic_value(enum topic_op op, unsigned int vector, uint32_t value)
{
	return request(op, vector, value).value;
}

struct topic_seen topic_seen(void)
{
	struct topic_seen seen;

	if (ioctl(open_topic(), TOPIC_SEEN, &seen))
		broken("the test's topic says what it has seen", "%s", strerror(errno));
	return seen;
}

int vectors_error(int err)
{
	int got = topic_seen().vectors_got;

	return got < 0 ? -got : err;
}

void topic_end(void)
{
	if (topic_fd >= 0)
		close(topic_fd);
	topic_fd = -1;
}

void check_serves(unsigned int count)
{
	for (unsigned int look = 0; look < PATIENCE_LOOKS; look++) {
		if (topic_seen().serves >= count)
			return;
		patience_pause();
	}
	check_equal(topic_seen().serves, count, "calls of serve()");
}

void check_serve_context(const char *name)
{
	const struct topic_seen seen = topic_seen();

	rule("%s: serve() runs in the vector's thread, where it may sleep", name);
	check_equal(seen.not_a_task, 0, "calls of serve() from an interrupt");
	check_equal(seen.irqs_off, 0, "calls of serve() with interrupts off");
	rule("%s: serve() runs with the mask closed, so that STAT is 0", name);
	if (seen.open_in_serve)
		broken("STAT, read by serve(): 0", "STAT, read by serve(): %#x", seen.open_in_serve);
	check_equal(seen.opened_early, 0,
		    "how often MASK was opened after the hard handler had closed it, and before serve()");
}

bool topic_end_waits(unsigned int vector)
{
	struct topic_call call = request(TOPIC_CONTEND_END, vector, 0);

	if (call.result == -ETIMEDOUT)
		could_not_look("serve() went on before the test had looked");
	if (call.result)
		could_not_look("no other task could hold irq->lock: %s", strerror(-call.result));
	return !call.value;
}

void check_held(void)
{
	for (unsigned int look = 0; look < PATIENCE_LOOKS; look++) {
		if (topic_seen().held)
			return;
		patience_pause();
	}
	broken("serve() is called when a bit that is open is set", "it is not called");
}

void raise_event(void)
{
	check_errno(-topic(TOPIC_RAISE, 0, 0), 0, "a cache command, and its end");
}

void let_serve_go(void)
{
	if (topic(TOPIC_LET_GO, 0, 0))
		could_not_look("serve() went on before the test had looked");
}

void check_taken(uint32_t left)
{
	static const struct {
		uint32_t bit;
		const char *what;
	} taken[] = {
		{ LEFT_BUS, "agate_bus_attach() without agate_bus_detach()" },
		{ LEFT_UNMATCHED, "agate_bus_detach() of a bus that was not attached" },
		{ LEFT_MSIX, "MSI-X is enabled: pci_free_irq_vectors() was not called" },
		{ LEFT_REGIONS, "a region is requested" },
		{ LEFT_MASTER, "the function masters the bus" },
		{ LEFT_ENABLED, "the function is enabled" },
		{ LEFT_REFERENCE, "a reference to the struct pci_dev: pci_dev_put() was not called" },
	};

	for (unsigned int i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (left & taken[i].bit)
			broken("the function is as it was found", "%s", taken[i].what);
}

void check_nothing_taken(void)
{
	check_taken(topic_value(TOPIC_LEFT, 0, 0));
}

static const uint32_t mask_of[] = { GPU_INT_MASK, JOB_INT_MASK, MMU_INT_MASK };
static const char *const mask_names[] = { "GPU_INT_MASK", "JOB_INT_MASK", "MMU_INT_MASK" };

void check_nothing_kept(void)
{
	check_equal(topic_value(TOPIC_KEPT, 0, 0), 0,
		    "pieces of memory that the driver allocated and did not free");
}

void check_mask(unsigned int vector, uint32_t expected)
{
	uint32_t seen = topic_read(mask_of[vector]);
	char text[64];

	if (seen == expected)
		return;
	snprintf(text, sizeof(text), "%s: %#x", mask_names[vector], expected);
	broken(text, "%s: %#x", mask_names[vector], seen);
}

/* ---- Calls that wait ------------------------------------------------------------ */

struct waiting {
	pthread_t thread;
	bool unbinds;
	enum topic_op op;
	unsigned int vector;
	uint32_t value;
	unsigned int nth;		/* calls under way, with it */
	atomic_int tid;
	atomic_bool returned;
};

static void *call_it(void *arg)
{
	struct waiting *waiting = arg;

	atomic_store(&waiting->tid, (int)syscall(SYS_gettid));
	if (waiting->unbinds)
		driver_unbind();
	else
		topic(waiting->op, waiting->vector, waiting->value);
	atomic_store(&waiting->returned, true);
	return NULL;
}

static struct waiting *start(struct waiting *waiting)
{
	atomic_store(&waiting->tid, 0);
	atomic_store(&waiting->returned, false);
	open_topic();
	check_equal(pthread_create(&waiting->thread, NULL, call_it, waiting), 0,
		    "pthread_create");
	return waiting;
}

struct waiting *topic_start(enum topic_op op, unsigned int vector, uint32_t value)
{
	static struct waiting waiting[CALLS_MOST];
	unsigned int before = topic_seen().calling;
	struct waiting *one;

	check_true(before < CALLS_MOST, "at most three calls at a time", "more");
	one = &waiting[before];
	one->op = op;
	one->vector = vector;
	one->value = value;
	one->nth = before + 1;
	return start(one);
}

struct waiting *unbind_start(void)
{
	static struct waiting waiting = { .unbinds = true };

	return start(&waiting);
}

/* What /proc says of a thread or a process. */
static char task_state(int tid)
{
	char path[64], text[256] = "";
	const char *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	file = fopen(path, "re");
	if (file && !fgets(text, sizeof(text), file))
		text[0] = '\0';
	if (file)
		fclose(file);
	end = strrchr(text, ')');
	return end && end[1] ? end[2] : '?';
}

/* In the kernel, where no signal but SIGKILL ends it: 'I' is a sleep that is no load. */
static bool sleeps_deeply(int tid)
{
	char state = task_state(tid);

	return state == 'D' || state == 'I';
}

bool topic_returned(struct waiting *waiting)
{
	unsigned int running = 0;

	for (unsigned int look = 0; look < PATIENCE_LOOKS && running < RUNNING_LOOKS; look++) {
		int tid = atomic_load(&waiting->tid);
		/* Before the call itself a thread may sleep for other reasons. */
		bool called = waiting->unbinds || topic_seen().calling >= waiting->nth;

		if (atomic_load(&waiting->returned))
			return true;
		if (tid && called && sleeps_deeply(tid))
			return atomic_load(&waiting->returned);
		running += called && !waiting->unbinds;
		patience_pause();
	}
	return atomic_load(&waiting->returned);
}

bool topic_ends(struct waiting *waiting)
{
	for (unsigned int look = 0; look < PATIENCE_LOOKS; look++) {
		if (atomic_load(&waiting->returned))
			return true;
		patience_pause();
	}
	return false;
}

bool topic_ended(struct waiting *waiting)
{
	return atomic_load(&waiting->returned);
}

void topic_join(struct waiting *waiting)
{
	pthread_join(waiting->thread, NULL);
}

int topic_fork(enum topic_op op, unsigned int vector)
{
	int child = fork();

	if (!child) {
		topic(op, vector, 0);
		_exit(0);
	}
	check_true(child > 0, "fork() succeeds", "it fails");
	for (unsigned int look = 0; look < RUNNING_LOOKS; look++) {
		if (topic_seen().calling && task_state(child) != 'R')
			break;
		patience_pause();
	}
	return child;
}

/* Nobody who waits for serve() alone is awake for long: a signal wakes only those who listen. */
bool topic_kill(int child)
{
	kill(child, SIGKILL);
	for (unsigned int look = 0; look < RUNNING_LOOKS; look++) {
		if (!topic_seen().calling)
			return true;
		if (sleeps_deeply(child))
			return false;
		patience_pause();
	}
	return false;
}

void topic_reap(int child)
{
	waitpid(child, NULL, 0);
}
