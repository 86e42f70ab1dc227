// SPDX-License-Identifier: MIT
/* Helpers of lab 07's tests; see purge.h. */
#include "purge.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "sleeps.h"

#define LOOK		"/sys/kernel/debug/agate_purge"
#define LISTED		"/sys/kernel/debug/agate_purgeable"
#define STILL_LOOKS	20

int purge_open(void)
{
	struct drm_agate_get_param arg = { .param = DRM_AGATE_PARAM_FEATURES };
	int fd = guest_open();

	rule("the driver has the topic purge: agate_purge_topic_init() returns 0");
	check_errno(guest_ioctl(fd, DRM_IOCTL_AGATE_GET_PARAM, &arg), 0, "GET_PARAM of FEATURES");
	check_true(arg.value & AGATE_FEATURE_PURGE, "the bit AGATE_FEATURE_PURGE",
		   "the topic is absent");
	return fd;
}

/* ---- BOs ------------------------------------------------------------------------ */

struct bo make_bo(int fd, unsigned int pages)
{
	struct bo bo;

	check_errno(guest_create(fd, (uint64_t)pages * PAGE, AGATE_BO_NOEXEC, &bo), 0, "CREATE_BO");
	bo.cpu = NULL;
	return bo;
}

void *map_more(const struct bo *bo, unsigned int pages)
{
	struct drm_agate_mmap_bo arg = { .handle = bo->handle };
	void *cpu;

	check_errno(guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MMAP_BO, &arg), 0, "MMAP_BO");
	cpu = mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, bo->fd,
		   (off_t)arg.offset);
	check_errno(cpu == MAP_FAILED ? errno : 0, 0, "mmap()");
	return cpu;
}

volatile uint64_t *word(void *cpu, unsigned int page)
{
	return (volatile uint64_t *)((char *)cpu + (size_t)page * PAGE);
}

struct bo full_bo(int fd, unsigned int pages, uint64_t salt)
{
	struct bo bo = make_bo(fd, pages);

	bo.cpu = map_more(&bo, pages);
	for (unsigned int i = 0; i < pages; i++) {
		if (!can_read(word(bo.cpu, i)))
			broken("a page for a CPU that touches a new BO", "SIGBUS");
		*word(bo.cpu, i) = salt + i;
	}
	return bo;
}

struct bo used_bo(struct bo *jobs, unsigned int pages, uint64_t salt)
{
	struct bo bo = full_bo(jobs->fd, pages, salt);

	check_errno(gpu_copy(jobs, &bo, 16, 8, 0), 0, "SUBMIT");
	check_errno(guest_wait(jobs->fd, bo.handle, FOREVER), 0, "WAIT_BO");
	guest_wait_counter("jobs", 0);
	return bo;
}

void check_full(void *cpu, unsigned int pages, uint64_t salt, const char *when)
{
	for (unsigned int i = 0; i < pages; i++) {
		if (!can_read(word(cpu, i)))
			broken("what was written into the page", "SIGBUS at page %u, %s", i, when);
		if (*word(cpu, i) != salt + i)
			broken("what was written into the page", "page %u has something else, %s",
			       i, when);
	}
}

static sigjmp_buf no_bus;

static void on_bus(int number)
{
	(void)number;
	siglongjmp(no_bus, 1);
}

bool can_read(const volatile uint64_t *at)
{
	const struct sigaction action = { .sa_handler = on_bus };
	struct sigaction before;
	bool ok = false;

	sigaction(SIGBUS, &action, &before);
	if (!sigsetjmp(no_bus, 1)) {
		(void)*at;
		ok = true;
	}
	sigaction(SIGBUS, &before, NULL);
	return ok;
}

int gpu_copy(struct bo *jobs, const struct bo *bo, uint64_t dst, uint64_t src, uint32_t out_sync)
{
	const struct agate_compute_payload copy = {
		.op = AGATE_COMPUTE_COPY, .dst = bo->va + dst, .src = bo->va + src, .size = 8,
	};
	const uint32_t handles[] = { jobs->handle, bo->handle };

	guest_job(jobs, 0, AGATE_JOB_COMPUTE, 0, &copy, sizeof(copy));
	return guest_submit(bo->fd, jobs->va, 0, handles, 2, out_sync);
}

/* ---- Advice ---------------------------------------------------------------------- */

int advise(const struct bo *bo, uint32_t madv, uint32_t *retained)
{
	/* Whatever was there is written over. */
	struct drm_agate_madvise arg = { .handle = bo->handle, .madv = madv, .retained = 77 };
	int err = guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MADVISE, &arg);

	if (retained)
		*retained = arg.retained;
	return err;
}

void advised(const struct bo *bo, uint32_t madv, bool retained, const char *when)
{
	uint32_t answer;
	char what[96];

	check_errno(advise(bo, madv, &answer), 0, "MADVISE");
	snprintf(what, sizeof(what), "retained, %s", when);
	check_equal(answer, retained, what);
}

/* ---- The kernel's side ------------------------------------------------------------- */

int look_at(bool newest)
{
	int file = inject_open(LOOK, O_RDWR);

	if (file < 0)
		fail_msg(LOOK ": %s", strerror(errno));
	if (newest)
		told(file, "newest");
	return file;
}

static long number_in(int file, const char *name)
{
	char text[512], key[32], *rest;
	ssize_t n = pread(file, text, sizeof(text) - 1, 0);
	long value;

	text[n > 0 ? n : 0] = '\0';
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (sscanf(line, "%31s %ld", key, &value) == 2 && !strcmp(key, name))
			return value;
	fail_msg("there is no %s", name);
	return -1;
}

long look(int file, const char *name)
{
	return number_in(file, name);
}

int tell(int file, const char *fmt, ...)
{
	char text[64];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return write(file, text, (size_t)len) == len ? 0 : errno;
}

void told(int file, const char *command)
{
	int err = tell(file, "%s", command);

	/* Without a shrinker there is nobody to call. */
	check_true(err != ENXIO, "a shrinker in adev->purge.shrinker",
		   "none: agate_shrinker_register() was not called");
	check_errno(err, 0, command);
}

/* SHRINK_EMPTY is another word for 0. */
long count(int file)
{
	told(file, "count");
	return look(file, "result") == -2 ? 0 : look(file, "result");
}

long scan_answer(int file, unsigned int pages)
{
	char command[32];

	snprintf(command, sizeof(command), "scan %u", pages);
	told(file, command);
	return look(file, "result");
}

/* That nothing is SHRINK_STOP, and not 0, is one rule: it costs the points of one test. */
long scan(int file, unsigned int pages)
{
	long answer = scan_answer(file, pages);

	return answer == STOP ? 0 : answer;
}

void check_enough(long taken, long pages)
{
	rule("scan_objects stops as soon as it has the pages that it was asked for");
	if (taken > pages)
		check_equal(taken, pages, "pages that were taken");
}

bool is_purged(int file)
{
	return look(file, "madv") < 0;
}

void check_purged(int file, const char *which)
{
	if (!is_purged(file))
		broken("a BO that was purged", "%s was not", which);
	check_equal(look(file, "pages"), 0, "pages of a BO that was purged");
}

void check_kept(int file, const char *which)
{
	if (is_purged(file))
		broken("a BO that is not purged", "%s was purged", which);
}

bool stays_locked(int file, const char *lock)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (int i = 0; i < STILL_LOOKS; i++) {
		if (!look(file, lock))
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

void check_listed(long entries, const char *when)
{
	int file = inject_open(LISTED, O_RDONLY);
	long seen;

	if (file < 0)
		fail_msg(LISTED ": %s", strerror(errno));
	seen = number_in(file, "listed");
	close(file);
	if (seen < 0)
		broken("a list", "adev->purge.list leads to memory that is no BO, %s", when);
	if (seen != entries)
		broken(entries ? "its BOs on adev->purge.list" : "an empty adev->purge.list",
		       "%ld entries, %s", seen, when);
}

void shrink(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "2", 1) != 1)
		fail_msg("drop_caches: %s", strerror(errno));
	close(fd);
}

/* ---- Threads ---------------------------------------------------------------------- */

static void *run_aside(void *arg)
{
	struct aside *aside = arg;

	atomic_store(&aside->tid, gettid());
	aside->run(aside->arg);
	atomic_store(&aside->done, true);
	return NULL;
}

void aside_start(struct aside *aside, void (*run)(void *arg), void *arg)
{
	aside->run = run;
	aside->arg = arg;
	atomic_init(&aside->done, false);
	atomic_init(&aside->tid, 0);
	if (pthread_create(&aside->thread, NULL, run_aside, aside))
		fail_msg("pthread_create");
}

void aside_settle(struct aside *aside)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct sleep_rest rest = { 0 };

	do
		nanosleep(&pause, NULL);
	while (!sleep_rests(atomic_load(&aside->tid), STILL_LOOKS, &rest) &&
	       !atomic_load(&aside->done));
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

void aside_join(struct aside *aside)
{
	pthread_join(aside->thread, NULL);
}

void let_go(const char *symbol)
{
	if (!inject_let_go(symbol))
		could_not_look("the hold at %s() was over before the test had looked", symbol);
}

static void run_scan(void *arg)
{
	struct scanning *scanning = arg;

	/* A thread must not end the test: STOP stands for any failure. */
	scanning->taken = tell(scanning->file, "scan %u", ALL) ? STOP : look(scanning->file, "result");
}

void scanning_start(struct scanning *scanning)
{
	scanning->taken = STOP;
	aside_start(&scanning->aside, run_scan, scanning);
}
