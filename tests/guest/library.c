// SPDX-License-Identifier: MIT
/* Helpers of the labs in libagate; see library.h. */
#include "library.h"

#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "sleeps.h"

#define PATIENCE_MS	150
#define REST_LOOKS	15	/* a thread that nobody has woken for so long waits for us */
#define JOIN_MS		6000	/* a thread that is on its way is done long before that */
#define JOB_DATA	64u	/* bytes from the end of a page, which the jobs leave free */

static char assertion[256];

/* An assertion of the library's comes here, too: its text is what a student has to read. */
void __assert_fail(const char *text, const char *file, unsigned int line, const char *function)
{
	snprintf(assertion, sizeof(assertion), "SIGABRT: the assertion \"%s\" failed in %s(), %s:%u",
		 text, function, file, line);
	fprintf(stderr, "%s\n", assertion);
	abort();
}

static void signal_came(int number, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;
	void *at = (void *)uc->uc_mcontext.gregs[REG_RIP];
	char where[128] = "", seen[512];
	Dl_info found;

	(void)info;
	if (dladdr(at, &found) && found.dli_fname && strstr(found.dli_fname, "libagate")) {
		snprintf(where, sizeof(where), ", in libagate.so, at or behind %s()",
			 found.dli_sname ? found.dli_sname : "its beginning");
	}
	snprintf(seen, sizeof(seen), "%s%s", number == SIGABRT ? assertion[0] ? assertion :
		 "SIGABRT: an assertion failed, or memory was freed that is not allocated" :
		 strsignal(number), where);
	/* The heap's own lock may be taken: leave without cmocka. */
	if (guest_explain)
		guest_explain("the library runs on", seen);
	_exit(1);
}

void lib_catch_signals(void)
{
	const int numbers[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };
	struct sigaction action = { .sa_sigaction = signal_came,
				    .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESETHAND };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &action, NULL);
}

void check_lib(int ret, int expected, const char *what)
{
	check_errno(-ret, -expected, what);
}

struct agate_device *lib_open_cached(void)
{
	struct agate_device *dev = NULL;
	int fd = guest_open();

	lib_catch_signals();
	if (agate_device_open_fd(fd, &dev))
		broken("agate_device_open_fd() succeeds", "it failed");
	calls_begin(fd);
	return dev;
}

struct agate_device *lib_open(void)
{
	struct agate_device *dev = lib_open_cached();

	/* Of a library without a cache it is off already. */
	agate_bo_cache_enable(dev, false);
	return dev;
}

long lib_handles(void)
{
	return guest_counter("handles");
}

void lib_close(struct agate_device *dev)
{
	const unsigned int maps = calls_maps();

	rule("the last reference unmaps a BO, and closes its handle");
	check_equal(maps, 0, "maps of BOs that are left before the device is closed");
	agate_device_close(dev);
	calls_begin(-1);
	rule("after the last close nothing is left in the driver");
	check_nothing_left();
}

struct agate_bo *lib_bo(struct agate_device *dev, uint64_t size, uint32_t flags)
{
	struct agate_bo *bo = NULL;
	char what[96];

	snprintf(what, sizeof(what), "agate_bo_create(%llu bytes, flags 0x%x)",
		 (unsigned long long)size, flags);
	check_lib(agate_bo_create(dev, size, flags, NULL, &bo), 0, what);
	check_true(bo, "agate_bo_create() returns the BO", "it succeeded, and returned none");
	return bo;
}

void lib_check_bo(struct agate_bo *bo, uint64_t size)
{
	struct drm_agate_get_bo_offset arg = { .handle = agate_bo_handle(bo) };
	int err;

	check_true(agate_bo_device(bo), "the BO belongs to its device", "to none: its slot is free");
	check_equal((int64_t)agate_bo_size(bo), (int64_t)size, "agate_bo_size()");
	calls_ignore(true);
	err = guest_ioctl(agate_device_fd(agate_bo_device(bo)), DRM_IOCTL_AGATE_GET_BO_OFFSET, &arg);
	calls_ignore(false);
	check_errno(err, 0, "GET_BO_OFFSET of the BO's handle");
	check_equal((int64_t)agate_bo_address(bo), (int64_t)arg.offset, "agate_bo_address()");
}

static const char *bits_text(uint32_t bits, const struct lib_bit *names, char *text, size_t size)
{
	size_t n = (size_t)snprintf(text, size, "%s", bits ? "" : "none");

	for (; names->name && n < size; names++) {
		if (bits & names->bit)
			n += (size_t)snprintf(text + n, size - n, "%s%s", n ? " | " : "", names->name);
		bits &= ~names->bit;
	}
	if (bits && n < size)
		snprintf(text + n, size - n, "%s0x%x", n ? " | " : "", bits);
	return text;
}

void check_bits(uint32_t seen, uint32_t expected, const struct lib_bit *names, const char *what)
{
	char text[256], line[384];

	if (seen == expected)
		return;
	snprintf(line, sizeof(line), "%s: %s", what, bits_text(expected, names, text, sizeof(text)));
	broken(line, "%s: %s", what, bits_text(seen, names, text, sizeof(text)));
}

void lib_check_flags(struct agate_bo *bo, uint32_t expected)
{
	static const struct lib_bit names[] = {
		{ AGATE_ALLOC_EXECUTE, "EXECUTE" }, { AGATE_ALLOC_GROWABLE, "GROWABLE" },
		{ AGATE_ALLOC_INVISIBLE, "INVISIBLE" }, { AGATE_ALLOC_DELAY_MMAP, "DELAY_MMAP" },
		{ AGATE_ALLOC_SHARED, "SHARED" }, { AGATE_ALLOC_CPU_READONLY, "CPU_READONLY" },
		{ AGATE_ALLOC_GPU_READONLY, "GPU_READONLY" },
		{ AGATE_ALLOC_CONTIGUOUS, "CONTIGUOUS" }, { AGATE_ALLOC_VRAM, "VRAM" },
		{ AGATE_ALLOC_SPILL, "SPILL" }, { 0, NULL },
	};

	check_bits(agate_bo_flags(bo), expected, names, "agate_bo_flags()");
}

bool lib_listed(const char *text)
{
	return guest_debugfs_says("bos", text);
}

/* ---- Jobs ------------------------------------------------------------------- */

void lib_submit(struct agate_bo *jobs, struct agate_bo *bo, uint32_t access, int timeline)
{
	struct agate_device *dev = agate_bo_device(bo);
	const struct agate_write_value_payload payload = {
		.address = agate_bo_address(access & AGATE_ACCESS_WRITE ? bo : jobs) +
			   PAGE - JOB_DATA,
		.type = AGATE_WRITE_IMMEDIATE_64,
		.immediate = 1,
	};
	const struct agate_submit_bo bos[] = { { jobs, AGATE_ACCESS_RW }, { bo, access } };
	const struct drm_agate_sync in = {
		.handle = timeline < 0 ? 0 : guest_timeline_syncobj(agate_device_fd(dev), timeline),
	};
	struct agate_submit args = {
		.bos = bos, .bo_count = 2, .in_syncs = &in, .in_sync_count = timeline >= 0,
	};
	struct agate_chain chain;

	check_lib(agate_chain_begin(&chain, jobs, 0), 0, "agate_chain_begin()");
	check_lib(agate_chain_write_value(&chain, 0, &payload), 0, "agate_chain_write_value()");
	args.jc = agate_chain_address(&chain);
	check_lib(agate_submit(dev, &args), 0, "agate_submit()");
}

/* ---- A race that is held open --------------------------------------------- */

static struct {
	unsigned long request;
	enum call_when when;
	void (*run)(void);
	pthread_t first, thread;
	sem_t done;
	atomic_int tid;		/* of the other thread */
	unsigned int patience_ms;
	bool started, in_time;
} race;

static void *run_other(void *arg)
{
	atomic_store(&race.tid, gettid());
	race.run();
	sem_post(&race.done);
	return arg;
}

bool lib_wait(sem_t *sem, unsigned int ms)
{
	struct timespec limit;
	bool in_time;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += ms / 1000;
	limit.tv_nsec += ms % 1000 * 1000000l;
	if (limit.tv_nsec >= 1000000000) {
		limit.tv_nsec -= 1000000000;
		limit.tv_sec++;
	}
	do
		in_time = !sem_timedwait(sem, &limit);
	while (!in_time && errno == EINTR);
	return in_time;
}

/* In a lock or a condition of the C library: only another thread can wake it. */
static bool waits_for_a_thread(int tid)
{
	char path[64];
	long number = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	file = fopen(path, "re");
	if (file && fscanf(file, "%ld", &number) != 1)
		number = -1;
	if (file)
		fclose(file);
	return number == SYS_futex;
}

bool lib_wait_for(sem_t *sem, unsigned int ms, const atomic_int *tid)
{
	struct sleep_rest rest = { 0 };

	for (int64_t end = guest_deadline(ms); guest_deadline(0) < end;) {
		if (lib_wait(sem, 1))
			return true;
		if (sleep_rests(atomic_load(tid), REST_LOOKS, &rest) &&
		    waits_for_a_thread(atomic_load(tid)))
			return lib_wait(sem, 0);
	}
	return false;
}

static void interfere(unsigned long request, enum call_when when, void *arg)
{
	(void)arg;
	if (request != race.request || when != race.when || race.started ||
	    !pthread_equal(pthread_self(), race.first))
		return;
	race.started = true;
	if (pthread_create(&race.thread, NULL, run_other, NULL))
		abort();
	race.in_time = lib_wait_for(&race.done, race.patience_ms, &race.tid);
}

void lib_join(pthread_t thread)
{
	struct timespec limit;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += JOIN_MS / 1000;
	if (!pthread_timedjoin_np(thread, NULL, &limit))
		return;
	rule("a call in another thread comes to its end");
	broken("the end of the call, and of its thread",
	       "the call still waits after %d s: for a lock, or for a thread that wakes it",
	       JOIN_MS / 1000);
}

void race_begin(unsigned long request, enum call_when when, void (*run)(void))
{
	race.request = request;
	race.when = when;
	race.run = run;
	race.patience_ms = PATIENCE_MS;
	race.first = pthread_self();
	race.started = race.in_time = false;
	atomic_store(&race.tid, 0);
	sem_init(&race.done, 0, 0);
	calls_hook(interfere);
}

void race_patience(unsigned int ms)
{
	race.patience_ms = ms;
}

bool race_end(void)
{
	calls_hook(NULL);
	/* The first thread did not make that call: the other one runs now. */
	if (race.started)
		lib_join(race.thread);
	else
		race.run();
	sem_destroy(&race.done);
	return race.in_time || !race.started;
}

/* ---- Eight threads --------------------------------------------------------- */

static struct {
	void (*run)(unsigned int thread, void *arg);
	void *arg;
	pthread_barrier_t start;
} threads;

static void *run_thread(void *arg)
{
	pthread_barrier_wait(&threads.start);
	threads.run((unsigned int)(uintptr_t)arg, threads.arg);
	return NULL;
}

void crowd(void (*run)(unsigned int thread, void *arg), void *arg)
{
	pthread_t thread[LIB_THREADS];

	both_processors();
	threads.run = run;
	threads.arg = arg;
	pthread_barrier_init(&threads.start, NULL, LIB_THREADS);
	for (uintptr_t t = 0; t < LIB_THREADS; t++) {
		if (pthread_create(&thread[t], NULL, run_thread, (void *)t))
			abort();
	}
	for (unsigned int t = 0; t < LIB_THREADS; t++)
		pthread_join(thread[t], NULL);
	pthread_barrier_destroy(&threads.start);
}
