// SPDX-License-Identifier: MIT
/* Helpers of lab 04's tests; see shmem.h. */
#include "shmem.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../kmod/topic.h"
#include "sleeps.h"

#define LOOK		"/sys/kernel/debug/agate_shmem"
#define TOPIC_FILE	"/sys/kernel/debug/agate_topic"
#define GRACE_MS	40
#define SLEEP_MS	1000
#define SLEEPS		5
#define SHRINKS		100

int shmem_open(void)
{
	struct drm_agate_get_param arg = { .param = DRM_AGATE_PARAM_FEATURES };
	int fd = guest_open();

	rule("the driver has the topic shmem: agate_shmem_topic_init() returns 0");
	check_errno(guest_ioctl(fd, DRM_IOCTL_AGATE_GET_PARAM, &arg), 0, "GET_PARAM of FEATURES");
	check_true(arg.value & AGATE_FEATURE_SHMEM, "the bit AGATE_FEATURE_SHMEM",
		   "the topic is absent");
	return fd;
}

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

void fill(const struct bo *bo, uint64_t salt)
{
	uint64_t seen;

	rule("a CPU that touches a page of a mapped BO finds it there");
	check_true(can_read(word(bo->cpu, 0), &seen), "a page", "SIGBUS");
	for (unsigned int i = 0; i < bo->size / PAGE; i++) {
		check_true(can_read(word(bo->cpu, i), &seen), "a page", "SIGBUS");
		*word(bo->cpu, i) = salt + i;
	}
}

void check_filled(void *cpu, unsigned int pages, uint64_t salt, const char *when)
{
	uint64_t seen;

	for (unsigned int i = 0; i < pages; i++) {
		if (!can_read(word(cpu, i), &seen))
			broken("what was written into the page", "SIGBUS at page %u, %s", i, when);
		if (seen != salt + i)
			broken("what was written into the page",
			       "page %u has %#llx instead of %#llx, %s", i, (unsigned long long)seen,
			       (unsigned long long)(salt + i), when);
	}
}

static sigjmp_buf no_bus;

static void on_bus(int number)
{
	(void)number;
	siglongjmp(no_bus, 1);
}

bool can_read(const volatile uint64_t *at, uint64_t *value)
{
	const struct sigaction action = { .sa_handler = on_bus };
	struct sigaction before;
	bool ok = false;

	sigaction(SIGBUS, &action, &before);
	if (!sigsetjmp(no_bus, 1)) {
		*value = *at;
		ok = true;
	}
	sigaction(SIGBUS, &before, NULL);
	return ok;
}

bool can_copy(const volatile uint64_t *at)
{
	int ends[2];
	ssize_t n;

	if (pipe(ends))
		fail_msg("pipe");
	n = write(ends[1], (const void *)at, sizeof(*at));
	close(ends[0]);
	close(ends[1]);
	return n == sizeof(*at);
}

/* ---- The kernel's view ---------------------------------------------------- */

int look_at_newest(void)
{
	int file = inject_open(LOOK, O_RDWR);

	if (file < 0)
		fail_msg(LOOK ": %s", strerror(errno));
	return file;
}

void done_with(int fd, int file, const struct bo *bo)
{
	close(file);
	check_errno(guest_close_handle(fd, bo->handle), 0, "GEM_CLOSE");
	close(fd);
	check_nothing_left();
}

void done_with_device(void)
{
	close(shmem_open());
	check_nothing_left();
}

static bool find(const char *text, const char *name, long *value)
{
	char key[32];

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (sscanf(text, "%31s %ld", key, value) == 2 && !strcmp(key, name))
			return true;
	}
	return false;
}

long look(int file, const char *name)
{
	char text[1024];
	ssize_t n = pread(file, text, sizeof(text) - 1, 0);
	long value;

	text[n > 0 ? n : 0] = '\0';
	if (find(text, "locked", &value) && value) {
		rule("every way out of a call gives back the lock that it took");
		broken("a backing.lock that nobody has",
		       "a backing.lock that is taken, although no call is under way");
	}
	if (!find(text, name, &value))
		fail_msg("no %s in " LOOK, name);
	return value;
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
	check_errno(tell(file, "%s", command), 0, command);
}

void check_present(int file, unsigned int pages, const char *when)
{
	char what[128];

	/* Only then is the count itself the mistake, and not what the call took. */
	if (look(file, "resident") > look(file, "held") && look(file, "held") == pages)
		rule("a page that is present is counted once, however often it is asked for");
	snprintf(what, sizeof(what), "pages that are counted as present, %s", when);
	check_equal(look(file, "resident"), pages, what);
	snprintf(what, sizeof(what), "pages of the file that somebody holds, %s", when);
	check_equal(look(file, "held"), pages, what);
}

void check_maps(int file)
{
	rule("each vmap gives its caller the address, also the second one: iosys_map_set_vaddr()");
	check_equal(look(file, "vmap_unset"), 0, "callers of vmap without an address");
	rule("one mapping serves all users of it, and stays until the last one has gone");
	check_equal(look(file, "vmap_apart"), 0, "callers of vmap with another address than the first");
	rule("the kernel's mapping shows the pages of the BO in their order");
	check_equal(look(file, "vmap_wrong"), 0, "pages that the kernel's mapping shows elsewhere");
}

void check_dirty(int file, const char *when)
{
	char what[128];

	rule("pages go back as dirty, whoever used them: what was written to them is kept");
	snprintf(what, sizeof(what), "pages in the file that are not dirty, %s", when);
	check_equal(look(file, "clean"), 0, what);
}

void count_device(void)
{
	inject_count("drm_dev_enter");
	inject_count("drm_dev_exit");
}

int64_t device_held(void)
{
	return (int64_t)inject_hits("drm_dev_enter") - inject_hits("drm_dev_exit");
}

static uint32_t topic_call(int topic, enum topic_op op)
{
	struct topic_call call = { .op = op };

	if (ioctl(topic, TOPIC_CALL, &call) || call.result)
		fail_msg(TOPIC_FILE ": %s", strerror(call.result ? -call.result : errno));
	return call.value;
}

int account_open(void)
{
	int topic;

	topic = inject_open(TOPIC_FILE, O_RDWR);
	if (topic < 0)
		fail_msg(TOPIC_FILE ": %s", strerror(errno));
	topic_call(topic, TOPIC_ACCOUNT);
	return topic;
}

unsigned int account_kept(int account)
{
	return topic_call(account, TOPIC_KEPT);
}

static void write_drop(const char *which)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, which, 1) != 1)
		fail_msg("drop_caches: %s", strerror(errno));
	close(fd);
}

void shrink(void)
{
	write_drop("2");
}

void drop_page_caches(void)
{
	write_drop("1");
}

void advise_dontneed(const struct bo *bo)
{
	struct drm_agate_madvise arg = { .handle = bo->handle, .madv = AGATE_MADV_DONTNEED };

	check_errno(guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MADVISE, &arg), 0, "MADVISE");
}

void purge(const struct bo *bo, int file)
{
	advise_dontneed(bo);
	/* The shrinker passes over a BO whose locks it does not get at once. */
	for (int i = 0; i < SHRINKS && !guest_debugfs_says("bos", "madv=purged"); i++)
		shrink();
	rule("a BO that nobody needs, and that has pages, can be purged");
	check_true(guest_debugfs_says("bos", "madv=purged"), "a BO that was purged",
		   look(file, "resident") ? "a BO that was not" : "a BO without pages");
}

void check_not_purged(void)
{
	if (guest_debugfs_says("bos", "madv=purged"))
		could_not_look("the system was short of memory, and has purged the BO");
}

void used_unneeded(const char *command, const char *undo)
{
	int fd = shmem_open(), file, err;
	struct bo bo = make_bo(fd, 5);
	char what[64];

	file = look_at_newest();
	advise_dontneed(&bo);
	err = tell(file, "%s", command);
	if (err)
		check_not_purged();
	rule("a BO that is DONTNEED is used like any other until it is purged: bo->madv is 1, and not below 0");
	snprintf(what, sizeof(what), "%s of a BO that is DONTNEED", command);
	check_errno(err, 0, what);
	if (undo)
		told(file, undo);
	done_with(fd, file, &bo);
}

int gpu_copy(struct bo *jobs, const struct bo *bo, uint64_t dst, uint64_t src)
{
	const struct agate_compute_payload copy = {
		.op = AGATE_COMPUTE_COPY, .dst = bo->va + dst, .src = bo->va + src, .size = 8,
	};
	const uint32_t handles[] = { jobs->handle, bo->handle };
	int err;

	guest_job(jobs, 0, AGATE_JOB_COMPUTE, 0, &copy, sizeof(copy));
	err = guest_submit(bo->fd, jobs->va, 0, handles, 2, 0);
	if (!err)
		err = guest_wait(bo->fd, jobs->handle, FOREVER);
	return err;
}

/* ---- Threads ---------------------------------------------------------------- */

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
	aside->run = run;
	aside->arg = arg;
	atomic_init(&aside->tid, 0);
	atomic_init(&aside->done, false);
	if (pthread_create(&aside->thread, NULL, run_aside, aside))
		fail_msg("pthread_create");
}

void aside_grace(struct aside *aside)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (int i = 0; i < GRACE_MS && !atomic_load(&aside->done); i++)
		nanosleep(&pause, NULL);
}

static void on_signal(int number)
{
	(void)number;
}

void await_asleep(int tid, const atomic_bool *done)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	unsigned int asleep = 0;

	/* It may sleep for a moment on its way; where the lock is, it stays asleep. */
	for (int i = 0; i < SLEEP_MS && asleep < SLEEPS && !(done && atomic_load(done)); i++) {
		asleep = sleeps_of(tid) >= 0 ? asleep + 1 : 0;
		nanosleep(&pause, NULL);
	}
}

void aside_signal(struct aside *aside)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	/* Without SA_RESTART: a call that ends early does not begin again by itself. */
	const struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGUSR1, &action, NULL);
	while (!atomic_load(&aside->tid))
		nanosleep(&pause, NULL);
	await_asleep(atomic_load(&aside->tid), &aside->done);
	pthread_kill(aside->thread, SIGUSR1);
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

uint32_t draw(uint64_t *seed, uint32_t limit)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % limit;
}

void run_command(void *arg)
{
	struct command *command = arg;

	command->err = tell(command->file, "%s", command->text);
}
