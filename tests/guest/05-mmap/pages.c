// SPDX-License-Identifier: MIT
/* Which page is at which address, and for how long. */
#include "maps.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dmabuf.h"

#define RW	(PROT_READ | PROT_WRITE)

void test_faults(void **state)
{
	int fd = maps_open();
	struct bo bo = make_bo(fd, SIZE, 0);
	volatile uint8_t *cpu = map_bo(&bo, RW);

	(void)state;
	rule("a page that the CPU touches appears, and it is zero");
	check_equal(cpu[2 * PAGE], 0, "the first byte of the BO's page 2");
	cpu[2 * PAGE] = 7;
	check_equal(cpu[2 * PAGE], 7, "the byte that was written");
	rule("only pages that were touched are taken");
	check_more("pages", 1, "pages after one touch");
	rule("the last page of the BO can be touched, and no page of it is at two places");
	cpu[SIZE - 1] = 9;
	check_equal(cpu[2 * PAGE], 7, "page 2 after a write to the last page");
	check_equal(cpu[0], 0, "page 0 after a write to the last page");
	munmap((void *)(uintptr_t)cpu, SIZE);
	done_with(&bo);
}

#define CUT_RULE	"a mapping that was cut shows in each part the pages of that part"

static void split_by_munmap(const struct bo *bo)
{
	char *cpu = map_bo(bo, PROT_READ);

	rule(CUT_RULE);
	cut(cpu, PAGE);
	check_numbers(cpu, 1, PAGES - 1, "after munmap() of the first page");
	munmap(cpu + PAGE, SIZE - PAGE);
	cpu = map_bo(bo, PROT_READ);
	rule(CUT_RULE);
	cut(cpu + PAGE, PAGE);
	check_numbers(cpu, 2, 2, "after munmap() of the second page");
	check_numbers(cpu, 0, 1, "after munmap() of the second page");
	munmap(cpu, SIZE);
}

/* The VMA comes to the driver by another way, and need not begin where the BO does. */
static void part_of_dmabuf(const struct bo *bo)
{
	int dmabuf = dmabuf_export(bo);
	char *cpu = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, dmabuf, 2 * PAGE);

	rule("a map of the BO's dma-buf shows the pages of the BO from where it begins");
	check_errno(cpu == MAP_FAILED ? errno : 0, 0, "mmap() of the dma-buf from page 2 on");
	check_numbers(cpu - 2 * PAGE, 2, 2, "in a map of the dma-buf that begins at page 2");
	munmap(cpu, 2 * PAGE);
	close(dmabuf);
}

void test_split(void **state)
{
	int fd = maps_open();
	struct bo bo = numbered_bo(fd, 0);
	char *cpu, *place;
	void *moved;

	(void)state;
	split_by_munmap(&bo);
	cpu = map_bo(&bo, RW);
	rule("mprotect() of a part changes no page");
	check_errno(mprotect(cpu, 2 * PAGE, PROT_READ) ? errno : 0, 0, "mprotect() of a part");
	check_numbers(cpu, 2, 2, "after mprotect() of the first two");
	check_numbers(cpu, 0, 2, "after mprotect() of the first two");
	munmap(cpu, SIZE);
	cpu = map_bo(&bo, PROT_READ);
	rule("a part that is moved shows the same pages at its new place");
	place = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(place, MAP_FAILED);
	moved = mremap(cpu + 2 * PAGE, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place);
	check_errno(moved == MAP_FAILED ? errno : 0, 0, "mremap() of the second half");
	check_numbers(place - 2 * PAGE, 2, 2, "after mremap() of the second half");
	munmap(place, SIZE);
	munmap(cpu, 2 * PAGE);
	part_of_dmabuf(&bo);
	done_with(&bo);
}

/* The child waits for the parent's count, and then looks at the pages. */
static void look_in_child(const volatile uint8_t *cpu, int wait_for)
{
	char go;

	signal(SIGSEGV, SIG_DFL);
	signal(SIGBUS, SIG_DFL);
	if (read(wait_for, &go, 1) != 1)
		_exit(0);	/* the parent has failed */
	for (int n = 0; n < PAGES; n++)
		if (cpu[n * PAGE] != 0x10 + n)
			_exit(1);
	_exit(0);
}

static void count_child(const void *cpu)
{
	int go[2], status;
	pid_t pid;

	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		close(go[1]);
		look_in_child(cpu, go[0]);
	}
	check_more("cpu_maps", 2, "VMAs after fork()");
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(go[0]);
	close(go[1]);
	check_true(!status, "the same pages in a child",
		   WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "another page");
}

#define COUNT_RULE	"each VMA is counted from its beginning to its end"

void test_counted(void **state)
{
	int fd = maps_open();
	struct bo bo = numbered_bo(fd, AGATE_BO_CONTIGUOUS);
	uint64_t offset;
	char *cpu;

	(void)state;
	rule(COUNT_RULE);
	check_more("cpu_maps", 0, "VMAs while nothing is mapped");
	cpu = map_bo(&bo, RW);
	rule(COUNT_RULE);
	check_more("cpu_maps", 1, "VMAs after mmap()");
	count_child(cpu);
	check_more("cpu_maps", 1, "VMAs after the child's end");
	cut(cpu + PAGE, PAGE);
	check_more("cpu_maps", 2, "VMAs after munmap() in the middle");
	munmap(cpu, SIZE);
	check_more("cpu_maps", 0, "VMAs after munmap()");
	offset = offset_of(&bo);
	rule("a call of mmap() that failed has counted nothing");
	inject_fail("dma_mmap_attrs", 1, ENOMEM);
	(void)try_map(fd, offset, SIZE, RW, MAP_SHARED, NULL);
	inject_clear();
	check_more("cpu_maps", 0, "VMAs after mmap() failed");
	done_with(&bo);
}

void test_outlives(void **state)
{
	int fd = maps_open();
	struct bo bo = numbered_bo(fd, 0);
	char *cpu = map_bo(&bo, RW);

	(void)state;
	rule("a mapping keeps the BO after its handle and its file were closed");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	check_more("bos", 1, "BOs while one is mapped, without a handle");
	check_numbers(cpu, 0, PAGES, "after GEM_CLOSE");
	cut(cpu + PAGE, PAGE);
	close(fd);
	check_more("bos", 1, "BOs while two parts are mapped");
	munmap(cpu, PAGE);
	check_more("bos", 1, "BOs while one part is mapped");
	check_numbers(cpu, 2, 2, "after the file's end");
	munmap(cpu + 2 * PAGE, 2 * PAGE);
	rule("the BO goes with its last mapping");
	check_gone();
}

static void shrink(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "2", 1) != 1)
		fail_msg("drop_caches: %s", strerror(errno));
	close(fd);
}

static uint32_t advise(const struct bo *bo, uint32_t madv)
{
	struct drm_agate_madvise arg = { .handle = bo->handle, .madv = madv };

	check_errno(guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MADVISE, &arg), 0, "MADVISE");
	return arg.retained;
}

/* Until the shrinker comes, DONTNEED changes nothing; it may come at any time. */
static void not_needed(const struct bo *bo)
{
	char *cpu = map_bo(bo, PROT_READ);
	int sig;

	advise(bo, AGATE_MADV_DONTNEED);
	sig = touch(cpu + PAGE, false);
	if (!advise(bo, AGATE_MADV_WILLNEED))
		could_not_look("the shrinker took the BO's pages");
	rule("a BO that nobody needs, and that was not purged, is touched like any other");
	check_signal(sig, 0, "in a BO with DONTNEED that has its pages");
	munmap(cpu, SIZE);
}

/* Only the pages are gone: the BO has its offset, and there is nothing to refuse. */
static void map_purged(const struct bo *bo)
{
	uint64_t offset;
	void *cpu = NULL;

	rule("a purged BO is mapped like any other, and only a touch fails");
	check_errno(ask_offset(bo->fd, bo->handle, 0, &offset), 0, "MMAP_BO of a purged BO");
	check_errno(try_map(bo->fd, offset, SIZE, RW, MAP_SHARED, &cpu), 0, "mmap() of a purged BO");
	check_signal(touch(cpu, false), SIGBUS, "in a mapping made after the purge");
	munmap(cpu, SIZE);
}

void test_purged(void **state)
{
	int fd = maps_open();
	struct bo bo = numbered_bo(fd, 0);
	char *cpu = map_bo(&bo, RW), *part = map_bo(&bo, RW);

	(void)state;
	rule("a mapping of a BO shows its pages until they are purged");
	cut(part, PAGE);
	check_numbers(cpu, 0, PAGES, "before the purge");
	check_numbers(part, 1, PAGES - 1, "before the purge, in a cut mapping");
	not_needed(&bo);
	for (int i = 0; i < 100 && advise(&bo, AGATE_MADV_DONTNEED); i++)
		shrink();
	if (advise(&bo, AGATE_MADV_DONTNEED))
		could_not_look("the shrinker did not take the BO's pages");
	rule("a purged BO has no pages: whoever touches it gets SIGBUS, in every mapping");
	for (int n = 0; n < PAGES; n++)
		check_signal(touch(cpu + n * PAGE, false), SIGBUS, "in a whole mapping");
	for (int n = 1; n < PAGES; n++)
		check_signal(touch(part + n * PAGE, false), SIGBUS, "in a cut mapping");
	map_purged(&bo);
	munmap(cpu, SIZE);
	munmap(part + PAGE, SIZE - PAGE);
	done_with(&bo);
}

void test_gpu(void **state)
{
	int fd = maps_open();
	struct bo jobs = make_bo(fd, PAGE, 0), bo = make_bo(fd, SIZE, AGATE_BO_NOEXEC);
	char *cpu = map_bo(&bo, RW);
	uint64_t seen;
	int fence;

	(void)state;
	jobs.cpu = map_bo(&jobs, RW);
	rule("the GPU reads what the CPU wrote into a mapping, and the CPU what the GPU wrote");
	cut(cpu, PAGE);
	guest_job_write64(&jobs, 0, 0, bo.va + 2 * PAGE, 0x1122334455667788);
	check_errno(guest_submit(fd, jobs.va, 0, (uint32_t[]){ jobs.handle, bo.handle }, 2, 0), 0,
		    "SUBMIT of a job that the CPU wrote");
	fence = guest_wait(fd, bo.handle, FOREVER);
	check_errno(fence, 0, "WAIT_BO");
	memcpy(&seen, cpu + 2 * PAGE, sizeof(seen));
	check_true(seen == 0x1122334455667788, "the GPU's value at page 2",
		   seen ? "another value" : "zero");
	munmap(cpu + PAGE, SIZE - PAGE);
	munmap(jobs.cpu, PAGE);
	check_errno(guest_close_handle(fd, jobs.handle), 0, "GEM_CLOSE");
	done_with(&bo);
}

/* The core empties all page tables when the device is unplugged: each page comes anew. */
void test_gone(void **state)
{
	int fd = maps_open();
	struct bo pages = numbered_bo(fd, 0), whole = numbered_bo(fd, AGATE_BO_CONTIGUOUS);
	char *cpu = map_bo(&pages, RW), *part = map_bo(&whole, RW);

	(void)state;
	rule("what the CPUs see of a BO outlasts the device, whichever way the table was filled");
	cut(part, PAGE);
	check_errno(device_unbind(), 0, "unbinding the device");
	check_numbers(cpu, 0, PAGES, "after the device has gone");
	check_numbers(part, 1, PAGES - 1, "in a cut mapping of a contiguous BO, without a device");
	rule("VMAs are counted without the device, too: those that come, and those that end");
	cut(cpu + PAGE, PAGE);
	munmap(cpu, SIZE);
	munmap(part + PAGE, SIZE - PAGE);
	close(fd);
	check_errno(device_bind(), 0, "binding the device");
	close(maps_open());
}

/* KASAN watches: the VMA has the last reference. */
void test_last_close(void **state)
{
	(void)state;
	for (uint32_t flags = 0; flags <= AGATE_BO_CONTIGUOUS; flags += AGATE_BO_CONTIGUOUS) {
		int fd = maps_open();
		struct bo bo = numbered_bo(fd, flags);
		char *cpu = map_bo(&bo, RW);

		rule("nothing uses the BO after the reference of the last VMA was put");
		check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
		munmap(cpu, SIZE);
		close(fd);
		check_gone();
	}
}
