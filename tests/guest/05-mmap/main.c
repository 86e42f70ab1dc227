// SPDX-License-Identifier: MIT
/* The graded tests of lab 05; what they share is at the end. */
#include "maps.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TOUCH_S	3	/* a touch that has not ended by then does not end */

int ask_offset(int fd, uint32_t handle, uint32_t flags, uint64_t *offset)
{
	struct drm_agate_mmap_bo arg = { .handle = handle, .flags = flags };
	int err = guest_ioctl(fd, DRM_IOCTL_AGATE_MMAP_BO, &arg);

	*offset = arg.offset;
	return err;
}

uint64_t offset_of(const struct bo *bo)
{
	uint64_t offset;

	rule("MMAP_BO answers with the BO's fake offset");
	check_errno(ask_offset(bo->fd, bo->handle, 0, &offset), 0, "MMAP_BO");
	return offset;
}

int try_map(int fd, uint64_t offset, size_t size, int prot, int flags, void **cpu)
{
	void *at = mmap(NULL, size, prot, flags, fd, (off_t)offset);

	if (at == MAP_FAILED)
		return errno;
	if (cpu)
		*cpu = at;
	else
		munmap(at, size);
	return 0;
}

void *map_bo(const struct bo *bo, int prot)
{
	uint64_t offset = offset_of(bo);
	void *cpu = NULL;

	rule("a file that has a handle to a BO can map it");
	check_errno(try_map(bo->fd, offset, bo->size, prot, MAP_SHARED, &cpu), 0,
		    "mmap() of the whole BO, shared");
	return cpu;
}

struct bo make_bo(int fd, uint64_t size, uint32_t flags)
{
	struct bo bo = { .fd = fd };

	check_errno(guest_create(fd, size, flags, &bo), 0, "CREATE_BO");
	return bo;
}

struct bo numbered_bo(int fd, uint32_t flags)
{
	struct bo bo = make_bo(fd, SIZE, flags);
	char *cpu = map_bo(&bo, PROT_READ | PROT_WRITE);

	rule("each page of a BO can be written through a mapping of it");
	for (int n = 0; n < PAGES; n++)
		memset(cpu + n * PAGE, 0x10 + n, PAGE);
	munmap(cpu, SIZE);
	return bo;
}

void check_numbers(const void *cpu, int first, int count, const char *what)
{
	char text[96];

	for (int n = first; n < first + count; n++) {
		snprintf(text, sizeof(text), "page %d of the BO, %s", n, what);
		check_equal(((const volatile uint8_t *)cpu)[n * PAGE + 123], 0x10 + n, text);
	}
}

/* The test itself touched a page that does not come. */
static void on_signal(int sig)
{
	broken("a page that can be touched", "%s", strsignal(sig));
}

static void explain_signals(void)
{
	const struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_NODEFER };

	assert_int_equal(sigaction(SIGBUS, &act, NULL), 0);
	assert_int_equal(sigaction(SIGSEGV, &act, NULL), 0);
}

void cut(void *at, size_t size)
{
	check_errno(munmap(at, size) ? errno : 0, 0, "munmap() of a part");
}

int touch(void *at, bool write)
{
	volatile uint8_t *byte = at;
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		alarm(TOUCH_S);
		if (write)
			*byte = 1;
		else
			(void)*byte;
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static const char *name_of(int sig)
{
	if (sig == SIGALRM)
		return "faults without end";
	return sig ? strsignal(sig) : "no signal";
}

void check_signal(int seen, int expected, const char *what)
{
	char wanted[96];

	snprintf(wanted, sizeof(wanted), "%s, %s", name_of(expected), what);
	check_true(seen == expected, wanted, name_of(seen));
}

/* What was there when the test began: one test's leak is not the next one's failure. */
static struct {
	const char *name;
	long value;
} begun[] = { { "bos", -1 }, { "cpu_maps", -1 }, { "pages", -1 } };

static void remember(void)
{
	for (size_t i = 0; i < sizeof(begun) / sizeof(begun[0]); i++)
		if (begun[i].value < 0)
			begun[i].value = guest_counter(begun[i].name);
}

int maps_open(void)
{
	struct drm_agate_get_param arg = { .param = DRM_AGATE_PARAM_FEATURES };
	int fd = guest_open();

	rule("the driver has the topic mmap: agate_mmap_topic_init() returns 0");
	check_errno(guest_ioctl(fd, DRM_IOCTL_AGATE_GET_PARAM, &arg), 0, "GET_PARAM of FEATURES");
	check_true(arg.value & AGATE_FEATURE_MMAP, "the bit AGATE_FEATURE_MMAP",
		   "the topic is absent");
	remember();
	explain_signals();
	return fd;
}

void check_more(const char *counter, long expected, const char *what)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	long before = 0, more;
	char seen[96];

	for (size_t i = 0; i < sizeof(begun) / sizeof(begun[0]); i++)
		if (!strcmp(begun[i].name, counter))
			before = begun[i].value;
	for (int i = 0; i < 500 && guest_counter(counter) - before != expected; i++)
		nanosleep(&pause, NULL);
	more = guest_counter(counter) - before;
	snprintf(seen, sizeof(seen), "%s: %ld fewer than at first", what, -more);
	if (more < 0)
		broken("a counter that was put up as often as down", "%s", seen);
	check_equal(more, expected, what);
}

void check_gone(void)
{
	check_more("cpu_maps", 0, "VMAs that are left");
	check_more("bos", 0, "BOs that are left");
	check_more("pages", 0, "pages that are left");
}

void done_with(const struct bo *bo)
{
	rule("when all is closed and unmapped, nothing is left");
	check_errno(guest_close_handle(bo->fd, bo->handle), 0, "GEM_CLOSE");
	close(bo->fd);
	check_gone();
}

static const struct graded_test tests[] = {
	{ "offset", test_offset, NULL },
	{ "bad-calls", test_bad_calls, NULL },
	{ "counted", test_counted, NULL },
	{ "faults", test_faults, NULL },
	{ "split", test_split, NULL },
	{ "outlives", test_outlives, NULL },
	{ "who", test_who, NULL },
	{ "refused", test_refused, NULL },
	{ "read-only", test_read_only, NULL },
	{ "whole", test_whole, NULL },
	{ "grow", test_grow, NULL },
	{ "foreign", test_foreign, NULL },
	{ "purged", test_purged, NULL },
	{ "gpu", test_gpu, NULL },
	{ "gone", test_gone, NULL },
	{ "closed-early", test_closed_early, NULL },
	{ "last-close", test_last_close, NULL },
	{ "allocations", test_allocations, NULL },
};

GRADED_MAIN(tests)
