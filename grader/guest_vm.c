// SPDX-License-Identifier: MIT
/*
 * struct guest_ops on the launcher's library.
 */
#include "guest_vm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu_control.h"
#include "held.h"
#include "timing.h"
#include "vm.h"

/* How long the GPU's process may take to answer, by the guest's clock. */
#define CONTROL_TIMEOUT_MS	20000
/* How long a killed process may take to end; after that the guest is given up anyway. */
#define GRACE_MS		500

/* Size limit for the log of one GPU, in MiB. */
#define LOG_MIB			16

struct guest_vm {
	struct guest_vm_config config;
	struct guest_events events;
	struct vm *vm;
	unsigned int number;		/* of this guest */
	char sim_log[4096], log_limit[16], append[96];
	const char *sim_args[3];
	uint64_t logged;		/* bytes in the logs of earlier guests */
	struct gpu_control control;
	uint64_t late;			/* deadline of the answer in flight, by the guest's clock */
	char gpu_end[64];
	/* Two things end a call early: the grader's user, or the grader itself. */
	int abandon_fd;
	int interrupt_fd;	/* readable when either is */
	bool abandoned;
	char error[512];	/* the last message of the guest that was stopped */
};

/*
 * Translates a status of a guest that runs.  If QEMU ends or is killed, the machine
 * failed; if foreign bytes come over the channel, or the guest powers off, code in the
 * guest did it.
 */
static enum guest_status status_of(const struct guest_vm *g, enum vm_status status)
{
	switch (status) {
	case VM_OK:
		return GUEST_OK;
	case VM_REFUSED:
		return GUEST_REFUSED;
	case VM_TIMEOUT:
		return vm_out_of_time(g->vm) ? GUEST_GONE : GUEST_TIMEOUT;
	case VM_CRASHED:
		return GUEST_CRASHED;
	case VM_INTERRUPTED:
		return g->abandoned ? GUEST_STOPPED : GUEST_INTERRUPTED;
	case VM_HOST:
		return vm_broken(g->vm) ? GUEST_LOST : GUEST_GONE;
	case VM_LOST:
		return GUEST_GONE;
	case VM_POWEROFF:
		return GUEST_LOST;
	}
	return GUEST_GONE;
}

static void console(void *arg, const char *text, size_t len)
{
	struct guest_vm *g = arg;

	g->events.console(g->events.arg, text, len);
}

static void progress(void *arg, const char *what)
{
	struct guest_vm *g = arg;

	if (g->config.progress)
		g->config.progress(g->config.arg, what);
}

/* Half of the RAM that this kernel gets; 0 when that is unknown. */
static unsigned int tight_mib(const char *kernel_dir)
{
	char path[4096];
	unsigned int mib = 0;
	FILE *f;

	if (snprintf(path, sizeof(path), "%s/ram", kernel_dir) >= (int)sizeof(path))
		return 0;
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%u", &mib) != 1)
		mib = 0;
	fclose(f);
	return mib / 2;
}

/*
 * More for the kernel's command line.  The grader judges leaks by counters, because
 * kmemleak needs a wait; without kmemleak it also saves the cost of tracking every
 * allocation.
 *
 * The kernel begins with one of the two processors, and a test that needs the other one starts
 * it.  QEMU has a thread for each, and the real ones are few: a processor that waits for a lock
 * or for an answer of another one spins as long as that one has no turn.  So two guests with a
 * processor each are faster than one with two, and a busy machine delays them less.  A kernel
 * that is alone also leaves out the locks of the bus, which are slow in emulation.  The debug
 * kernel keeps them: they matter little there, and when a test starts the other processor, the
 * kernel would write some four thousand of them back, each through a mapping of its own.
 */
static const char *append(struct guest_vm *g, enum lab_profile profile)
{
	snprintf(g->append, sizeof(g->append), "maxcpus=1%s%s",
		 profile == LAB_SWIOTLB ? " swiotlb=force" : "",
		 g->config.debug ? " kmemleak=off noreplace-smp" : "");
	return g->append;
}

static enum vm_accel accel(void)
{
	const char *word = getenv("ACCEL");

	if (word && !strcmp(word, "tcg"))
		return VM_ACCEL_TCG;
	if (word && !strcmp(word, "kvm"))
		return VM_ACCEL_KVM;
	return VM_ACCEL_AUTO;
}

static void vm_ops_stop(void *ctx)
{
	struct guest_vm *g = ctx;
	struct stat sb;

	if (!g->vm)
		return;
	snprintf(g->error, sizeof(g->error), "%s", vm_error(g->vm));
	vm_stop(g->vm);
	g->vm = NULL;
	if (g->sim_log[0] && !stat(g->sim_log, &sb))
		g->logged += (uint64_t)sb.st_size;
}

/*
 * Each guest's GPU has a log of its own, so that the next guest does not overwrite the
 * log of a crash: "gpu.jsonl", "gpu-2.jsonl" and so on.  NULL: the logs have reached
 * their limit.
 */
static const char *next_log(struct guest_vm *g)
{
	const char *path = g->config.sim_log, *end = strrchr(path, '.');
	uint64_t left = g->config.logs_mib - g->logged / (1 << 20);

	g->sim_log[0] = '\0';
	if (g->logged >> 20 >= g->config.logs_mib)
		return NULL;
	snprintf(g->log_limit, sizeof(g->log_limit), "%d", left < LOG_MIB ? (int)left : LOG_MIB);
	if (g->number == 1 || !end)
		snprintf(g->sim_log, sizeof(g->sim_log), "%s", path);
	else
		snprintf(g->sim_log, sizeof(g->sim_log), "%.*s-%u%s", (int)(end - path), path,
			 g->number, end);
	return g->sim_log;
}

static unsigned int vm_ops_number(void *ctx)
{
	const struct guest_vm *g = ctx;

	return g->number;
}

static enum guest_status vm_ops_start(void *ctx, enum lab_profile profile,
				      const struct vm_prepare *prepare,
				      const struct guest_events *events)
{
	struct guest_vm *g = ctx;
	struct vm_config config = {
		.kernel_dir = g->config.kernel_dir,
		.initramfs = g->config.initramfs,
		.sim = g->config.sim,
		.sim_args = g->sim_args,
		.append = append(g, profile),
		.ram_mib = profile == LAB_TIGHT ? tight_mib(g->config.kernel_dir) : 0,
		.prepare = prepare,
		.seed = (uint32_t)g->config.seed,
		.accel = accel(),
		.timeout_ms = g->config.timeout_ms,
		.interrupt_fd = g->interrupt_fd,
		.console = console,
		.progress = progress,
		.arg = g,
	};
	enum vm_status status;
	uint64_t wanted;

	vm_ops_stop(g);
	if (g->abandoned && read(g->abandon_fd, &wanted, sizeof(wanted)) == sizeof(wanted))
		g->abandoned = false;
	g->events = *events;
	g->number = atomic_fetch_add(g->config.started, 1) + 1;
	config.sim_log = next_log(g);
	g->sim_args[0] = "--log-limit";
	g->sim_args[1] = g->log_limit;
	snprintf(g->error, sizeof(g->error), "out of memory");
	status = vm_start(&config, &g->vm);
	g->control = (struct gpu_control){ .fd = g->vm ? vm_sim_control(g->vm, 0) : -1 };
	if (status == VM_OK || status == VM_INTERRUPTED)
		return status_of(g, status);
	return GUEST_HOST;
}

static enum guest_status vm_ops_put(void *ctx, const char *host_path, const char *guest_path,
				    unsigned int mode)
{
	struct guest_vm *g = ctx;

	return status_of(g, vm_put(g->vm, host_path, guest_path, mode));
}

/* Reads the bytes that a request wrote to the file, and closes the file. */
static enum guest_status read_back(enum guest_status end, FILE *file, void *data, size_t size,
				   size_t *len)
{
	if (end == GUEST_OK) {
		rewind(file);
		*len = fread(data, 1, size, file);
	}
	fclose(file);
	return end;
}

static enum guest_status vm_ops_get(void *ctx, const char *guest_path, void *data, size_t size,
				    size_t *len)
{
	struct guest_vm *g = ctx;
	FILE *file = tmpfile();

	*len = 0;
	if (!file)
		return GUEST_HOST;
	return read_back(status_of(g, vm_get(g->vm, guest_path, fileno(file), size)), file, data,
			 size, len);
}

static enum guest_status vm_ops_health(void *ctx, bool exact, char *text, size_t size, size_t *len)
{
	struct guest_vm *g = ctx;
	FILE *file = tmpfile();

	*len = 0;
	if (!file)
		return GUEST_HOST;
	return read_back(status_of(g, vm_health(g->vm, exact, fileno(file))), file, text, size, len);
}

static void output(void *arg, enum vm_stream stream, const char *data, size_t len)
{
	const struct guest_run *run = arg;

	run->output(run->arg, stream == VM_REPORT ? GUEST_REPORT : stream == VM_STDERR ?
		    GUEST_ERRORS : GUEST_OUTPUT, data, len);
}

static enum guest_status vm_ops_run(void *ctx, struct guest_run *run)
{
	struct guest_vm *g = ctx;
	struct vm_exec exec = {
		.argv = run->argv,
		.report = true,
		.output = output,
		.output_arg = run,
		.output_max = run->output_max,
		.timeout_ms = run->limit_ms,
		.grace_ms = GRACE_MS,
		.ask_where = true,
		.kept = run->kept,
	};
	enum vm_status status = vm_exec(g->vm, &exec);

	run->signaled = exec.signaled;
	run->value = exec.value;
	run->timed_out = exec.timed_out;
	run->flooded = exec.flooded;
	return status_of(g, status);
}

static void see_held(void *arg, const void *page)
{
	held_choose(arg, page);
}

static size_t vm_ops_held(void *ctx, const char *test, char *text, size_t size)
{
	struct guest_vm *g = ctx;
	struct held_choice choice = { .test = test };

	vm_search(g->vm, HELD_MAGIC, sizeof(HELD_MAGIC), see_held, &choice);
	return held_lines(&choice, text, size);
}

static enum guest_status vm_ops_input(void *ctx, const char *data, size_t len)
{
	struct guest_vm *g = ctx;

	return status_of(g, vm_input(g->vm, data, len));
}

static enum guest_status vm_ops_mark(void *ctx, const char *text, unsigned int limit_ms)
{
	struct guest_vm *g = ctx;

	return status_of(g, vm_mark(g->vm, text, limit_ms));
}

static bool answer_late(void *arg)
{
	struct guest_vm *g = arg;

	return vm_past(g->vm, g->late) || vm_out_of_time(g->vm);
}

static json_t *vm_ops_control(void *ctx, const json_t *request)
{
	struct guest_vm *g = ctx;

	g->late = vm_time(g->vm) + CONTROL_TIMEOUT_MS * 1000000ull;
	return g->control.fd < 0 ? NULL : gpu_control_ask(&g->control, request, answer_late, g);
}

static void vm_ops_abandon(void *ctx)
{
	struct guest_vm *g = ctx;

	g->abandoned = !eventfd_write(g->abandon_fd, 1);
}

static void vm_ops_kill_gpu(void *ctx)
{
	struct guest_vm *g = ctx;

	vm_kill_sim(g->vm, 0);
}

static const char *vm_ops_gpu_failed(void *ctx)
{
	struct guest_vm *g = ctx;
	int status;

	if (!vm_sim_failed(g->vm))
		return NULL;
	status = vm_sim_status(g->vm);
	snprintf(g->gpu_end, sizeof(g->gpu_end), WIFSIGNALED(status) ?
		 "its process was ended by signal %d" : "its process ended with status %d",
		 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return g->gpu_end;
}

static const char *vm_ops_guest_did(void *ctx)
{
	struct guest_vm *g = ctx;

	return g->vm ? vm_guest_did(g->vm) : NULL;
}

static const char *vm_ops_gpu_log(void *ctx)
{
	struct guest_vm *g = ctx;

	return g->sim_log[0] ? g->sim_log : NULL;
}

static const char *vm_ops_error(void *ctx)
{
	struct guest_vm *g = ctx;

	return g->vm ? vm_error(g->vm) : g->error;
}

static uint64_t vm_ops_now(void *ctx)
{
	struct guest_vm *g = ctx;

	return vm_time(g->vm);
}

static uint64_t vm_ops_stood(void *ctx)
{
	struct guest_vm *g = ctx;
	uint64_t now = timing_now(), guest = vm_time(g->vm);

	return now > guest ? now - guest : 0;
}

static bool vm_ops_past(void *ctx, uint64_t until)
{
	struct guest_vm *g = ctx;

	return vm_past(g->vm, until);
}

static const struct guest_ops vm_ops = {
	.start = vm_ops_start,
	.stop = vm_ops_stop,
	.number = vm_ops_number,
	.put = vm_ops_put,
	.get = vm_ops_get,
	.run = vm_ops_run,
	.held = vm_ops_held,
	.input = vm_ops_input,
	.mark = vm_ops_mark,
	.health = vm_ops_health,
	.control = vm_ops_control,
	.abandon = vm_ops_abandon,
	.kill_gpu = vm_ops_kill_gpu,
	.gpu_failed = vm_ops_gpu_failed,
	.guest_did = vm_ops_guest_did,
	.gpu_log = vm_ops_gpu_log,
	.error = vm_ops_error,
	.now = vm_ops_now,
	.stood = vm_ops_stood,
	.past = vm_ops_past,
};

static void free_guest(struct guest_vm *g)
{
	if (g->abandon_fd >= 0)
		close(g->abandon_fd);
	if (g->interrupt_fd >= 0)
		close(g->interrupt_fd);
	free(g);
}

static bool watch(int epoll, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return fd < 0 || !epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

bool guest_vm_init(struct guest *guest, const struct guest_vm_config *config)
{
	struct guest_vm *g = calloc(1, sizeof(*g));

	if (!g)
		return false;
	g->config = *config;
	g->abandon_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	g->interrupt_fd = epoll_create1(EPOLL_CLOEXEC);
	if (g->abandon_fd < 0 || g->interrupt_fd < 0 || !watch(g->interrupt_fd, g->abandon_fd) ||
	    !watch(g->interrupt_fd, config->interrupt_fd)) {
		free_guest(g);
		return false;
	}
	guest->ops = &vm_ops;
	guest->ctx = g;
	return true;
}

void guest_vm_fini(struct guest *guest)
{
	if (guest->ctx) {
		vm_ops_stop(guest->ctx);
		free_guest(guest->ctx);
	}
	guest->ctx = NULL;
}
