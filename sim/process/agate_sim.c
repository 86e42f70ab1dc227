// SPDX-License-Identifier: MIT
/*
 * agate-sim: the GPU as a process beside the virtual machine.
 *
 * One thread, one loop: carry out what the access queue holds, let the model
 * work for a bounded while, check the control socket now and then, and sleep when there
 * is nothing left to do.  Guest RAM and BAR2 are shared memory, the doorbell and the
 * interrupt vectors are event descriptors; the launcher made all of them.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agate_sim.h"
#include "agate_stdio.h"
#include "bus.h"
#include "control.h"
#include "frame_files.h"
#include "inject_spec.h"
#include "log.h"
#include "sim_options.h"
#include "ram.h"
#include "sandbox.h"
#include "trace.h"

#define ACCESSES_A_TURN		64	/* from the queue, before the model works */
#define ACCESSES_A_LOOK		4	/* ... between looks at the host's clock */
#define UNITS_A_TURN		16	/* of work, before the queue is looked at */

/*
 * Between looks at the other descriptors, whichever comes first.  Time counts because the
 * guest chooses what a turn costs: a card that loses its power takes a million times as long
 * as another access.
 */
#define TURNS_A_GLANCE		512
#define GLANCE_NS		20000000u

/*
 * How long to watch the queue before sleeping: about as long as a driver takes from one
 * access to the next.  A process that watches for longer on a host with as few processors as
 * its guest takes the time of a virtual processor, and pays for it at its next wake-up,
 * where the host's scheduler lets it wait.  Under SCHED_RR it never waits.
 */
#define WATCH_NS		2000u
#define WATCH_REALTIME_NS	50000u

struct process {
	struct options options;
	struct agate_sim *sim;
	struct bus bus;
	struct log log;
	struct trace trace;
	struct frames frames;
	struct control control;
	int signal_fd;
	unsigned int watch_ns;
	uint64_t idle_since;	/* by the host's clock, in ns; 0: time does not pass then */
	unsigned int turns;	/* since the other descriptors were looked at ... */
	uint64_t glanced;	/* ... which was then, by the host's clock in ns */
};

/* ---- What the model asks of its host ------------------------------------ */

static int host_read(void *ctx, uint64_t pa, void *buf, size_t len)
{
	const struct process *p = ctx;

	return ram_read(&p->options.ram, pa, buf, len);
}

static int host_write(void *ctx, uint64_t pa, const void *buf, size_t len)
{
	const struct process *p = ctx;

	return ram_write(&p->options.ram, pa, buf, len);
}

static void *host_at(void *ctx, uint64_t pa, size_t len)
{
	const struct process *p = ctx;

	return ram_at(&p->options.ram, pa, len);
}

static void host_raise(void *ctx, unsigned int vector)
{
	const struct process *p = ctx;
	uint64_t one = 1;

	/* A full counter means that messages merge, as they may. */
	if (write(p->options.vector_fd[vector], &one, sizeof(one)) != sizeof(one) &&
	    errno != EAGAIN)
		fprintf(stderr, "agate-sim: vector %u: %s\n", vector, strerror(errno));
}

static void process_flush(struct process *p)
{
	log_flush(&p->log);
	trace_flush(&p->trace);
}

/* An injection: the process ends as in a crash, except that its log is complete. */
static void process_die(struct process *p)
{
	process_flush(p);
	kill(getpid(), SIGKILL);
}

static void host_event(void *ctx, const struct agate_sim_event *event)
{
	struct process *p = ctx;

	log_event(&p->log, event);
	trace_event(&p->trace, event);
	if (p->control.die && log_counts(event->kind) && !--p->control.die)
		process_die(p);
}

static void host_frame_begin(void *ctx, uint32_t number, uint32_t width, uint32_t height)
{
	struct process *p = ctx;

	frames_begin(&p->frames, number, width, height);
}

static void host_frame_row(void *ctx, const uint8_t *rgba)
{
	struct process *p = ctx;

	frames_row(&p->frames, rgba);
}

static void host_frame_end(void *ctx, bool shown)
{
	struct process *p = ctx;

	frames_end(&p->frames, shown);
}

/* ---- The loop ------------------------------------------------------------ */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + ts.tv_nsec;
}

/* Usually no model time passes while the process is idle, so that a run can be repeated. */
static void process_pass(struct process *p)
{
	uint64_t now;

	if (!p->idle_since)
		return;
	now = now_ns();
	agate_sim_idle(p->sim, (now - p->idle_since) * AGATE_BUS_MHZ / 1000);
	p->idle_since = now;
}

/*
 * Wait for any event, or only poll.  Returns false when the process has to end.
 */
static bool process_poll(struct process *p, bool wait)
{
	struct pollfd fds[] = {
		{ .fd = p->options.doorbell_fd, .events = POLLIN },
		{ .fd = p->signal_fd, .events = POLLIN },
		{ .fd = p->control.fd, .events = POLLIN },	/* ignored when -1 */
	};
	uint64_t rings;

	p->turns = 0;
	if (poll(fds, 3, wait ? -1 : 0) < 0)
		return errno == EINTR;
	p->glanced = now_ns();
	if (wait)
		process_pass(p);
	if (fds[0].revents && read(fds[0].fd, &rings, sizeof(rings)) < 0 && errno != EAGAIN)
		return false;
	if (fds[1].revents)
		return false;
	return !fds[2].revents || control_run(&p->control);
}

static void cpu_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/*
 * Watch the queue for a moment: a driver that has just read a register is
 * likely to touch another.
 */
static bool process_watch(struct process *p)
{
	uint64_t end = now_ns() + p->watch_ns;

	do {
		if (bus_pending(&p->bus))
			return true;
		cpu_relax();
	} while (now_ns() < end);
	return false;
}

static bool process_sleep(struct process *p)
{
	bool go_on = true;

	if (process_watch(p))
		return true;
	process_flush(p);
	if (bus_sleep(&p->bus)) {
		go_on = process_poll(p, true);
		bus_wake(&p->bus);
	}
	return go_on;
}

static bool process_idle(struct process *p)
{
	bool go_on;

	p->idle_since = p->options.idle_from_host ? now_ns() : 0;
	go_on = process_sleep(p);
	process_pass(p);
	return go_on;
}

static bool process_overdue(const struct process *p)
{
	return now_ns() - p->glanced >= GLANCE_NS;
}

static unsigned int process_accesses(struct process *p)
{
	unsigned int n, all = 0;

	do {
		n = bus_run(&p->bus, p->sim, ACCESSES_A_LOOK);
		all += n;
	} while (n == ACCESSES_A_LOOK && all < ACCESSES_A_TURN && !process_overdue(p));
	return all;
}

static void process_loop(struct process *p)
{
	bool go_on = true;

	while (go_on) {
		unsigned int accesses = process_accesses(p);
		bool busy = agate_sim_step(p->sim, UNITS_A_TURN);

		if (++p->turns >= TURNS_A_GLANCE || process_overdue(p)) {
			process_flush(p);
			go_on = process_poll(p, false);
		} else if (!accesses && !busy) {
			go_on = process_idle(p);
		}
	}
}

/* ---- Set-up --------------------------------------------------------------- */

static const char *process_map(struct process *p)
{
	struct stat st;
	const char *why;
	void *bar2;

	if (fstat(p->options.bar2_fd, &st) || st.st_size <= 0)
		return "BAR2 has no size";
	bar2 = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, p->options.bar2_fd, 0);
	if (bar2 == MAP_FAILED)
		return "BAR2 cannot be mapped";
	why = bus_open(&p->bus, bar2, st.st_size);
	if (why)
		return why;
	return ram_map(&p->options.ram, p->options.ram_fd);
}

static const char *process_signals(struct process *p)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	/* Writing to a pipe without a reader must return an error, not kill the process. */
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR || sigprocmask(SIG_BLOCK, &set, NULL))
		return "signals cannot be set up";
	p->signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
	return p->signal_fd < 0 ? "no descriptor for signals" : NULL;
}

/* Give the model its parts of BAR2, and show the guest the parts that it may use. */
static const char *process_memory(struct process *p)
{
	struct agate_sim_config *config = &p->options.config;
	uint64_t visible = p->options.vram_visible;

	if (visible > p->bus.vram_size || (config->vram_total && visible > config->vram_total))
		return "BAR2 cannot show that much VRAM";
	if (!visible)
		visible = p->bus.vram_size;
	if (config->vram_total && visible > config->vram_total)
		visible = config->vram_total;
	if (config->card && !config->vram_total)
		config->vram_total = p->bus.vram_size;
	if (visible < p->bus.vram_size)
		bus_hide_vram(&p->bus, visible);
	if (config->card && config->gpu == AGATE_SIM_BIFROST)
		bus_hide_gsm(&p->bus);
	config->vram = p->bus.vram;
	config->vram_size = p->bus.vram_size;
	config->gsm = p->bus.gsm;
	config->gsm_size = p->bus.gsm_size;
	return NULL;
}

static const char *process_start(struct process *p)
{
	static const struct agate_sim_host_ops ops = {
		.mem_read = host_read,
		.mem_write = host_write,
		.mem_at = host_at,
		.raise = host_raise,
		.event = host_event,
		.frame_begin = host_frame_begin,
		.frame_row = host_frame_row,
		.frame_end = host_frame_end,
	};
	struct agate_sim_config *config = &p->options.config;
	const char *why = frames_open(&p->frames, p->options.scanout_dir, p->options.log_limit,
				      p->options.number);

	if (why)
		return why;
	why = process_map(p);
	if (why)
		return why;
	why = process_signals(p);
	if (why)
		return why;
	p->watch_ns = sched_getscheduler(0) == SCHED_RR ? WATCH_REALTIME_NS : WATCH_NS;
	p->log.level = p->options.log_level;
	if (p->options.log_path) {
		why = log_open(&p->log, p->options.log_path, p->options.log_limit);
		if (why)
			return why;
	}
	if (p->options.trace_path) {
		why = trace_open(&p->trace, p->options.trace_path, p->options.log_limit);
		if (why)
			return why;
	}
	why = process_memory(p);
	if (why)
		return why;
	p->sim = agate_sim_create(config, &ops, p);
	if (!p->sim)
		return "the GPU cannot be created: wrong --tlb-entries or --l2-size, or no memory";
	p->control = (struct control){
		.fd = p->options.control_fd,
		.sim = p->sim,
		.log = &p->log,
		.trace = &p->trace,
		.die = p->options.injections.die,
	};
	control_prepare();
	inject_set(p->sim, &p->options.injections);
	return NULL;
}

/*
 * Everything is open and mapped: nothing more is needed.  The process serves even without
 * a sandbox, because not every host has one.  Sanitizers and coverage write files at the
 * end, so such builds run without it.
 */
static void process_confine(const struct process *p)
{
#ifndef AGATE_INSTRUMENTED
	const struct options *o = &p->options;
	struct sandbox sandbox = {
		.read = { o->doorbell_fd, p->signal_fd },
		.reads = 2,
		.write = { STDERR_FILENO, o->ready_fd },
		.writes = 2,
		.socket = o->control_fd,
	};
	unsigned int i;
	int error;

	for (i = 0; i < AGATE_NUM_VECTORS; i++)
		sandbox.write[sandbox.writes++] = o->vector_fd[i];
	if (p->log.file)
		sandbox.write[sandbox.writes++] = fileno(p->log.file);
	if (p->trace.file)
		sandbox.write[sandbox.writes++] = fileno(p->trace.file);
	if (p->frames.to >= 0) {
		sandbox.write[sandbox.writes++] = p->frames.to;
		sandbox.read[sandbox.reads++] = p->frames.from;
	}
	error = sandbox_enter(&sandbox);
	if (error)
		fprintf(stderr, "agate-sim: no sandbox: %s\n", strerror(error));
#else
	(void)p;
#endif
}

int main(int argc, char **argv)
{
	static struct process process;
	bool log_whole, trace_whole;
	const char *why;

	if (!stdio_fill())
		return 1;
	if (!options_parse(&process.options, argc, argv))
		return 2;
	why = process_start(&process);
	if (!why)
		process_confine(&process);
	if (!why && write(process.options.ready_fd, "R", 1) != 1)
		why = "nobody waits for the ready byte";
	if (why) {
		fprintf(stderr, "agate-sim: %s\n", why);
		return 1;
	}
	process_loop(&process);
	agate_sim_destroy(process.sim);
	log_whole = log_close(&process.log);
	trace_whole = trace_close(&process.trace);
	if (!log_whole)
		fputs("agate-sim: the log could not be written\n", stderr);
	if (!trace_whole)
		fputs("agate-sim: the trace could not be written\n", stderr);
	return log_whole && trace_whole ? 0 : 1;
}
