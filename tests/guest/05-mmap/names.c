// SPDX-License-Identifier: MIT
/* Offsets: what MMAP_BO answers and refuses, and which file may use the answer. */
#include "maps.h"

#include "fail_nth.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define RW	(PROT_READ | PROT_WRITE)

/* Where a neighbour has left room in front of it, a range that is made anew would move. */
static void stays_beside_a_gap(int fd)
{
	struct bo before = make_bo(fd, 8 * PAGE, 0), bo = make_bo(fd, SIZE, 0);
	uint64_t offset;

	offset_of(&before);
	offset = offset_of(&bo);
	check_errno(guest_close_handle(fd, before.handle), 0, "GEM_CLOSE of the BO made before");
	rule("the offset of a BO stays, whatever becomes of other BOs");
	check_equal((int64_t)offset_of(&bo), (int64_t)offset,
		    "the offset, asked once more when another BO has gone");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
}

void test_offset(void **state)
{
	int fd = maps_open();
	struct bo bo = make_bo(fd, SIZE, 0), other = make_bo(fd, SIZE, AGATE_BO_CONTIGUOUS);
	uint64_t offset = offset_of(&bo), second = offset_of(&other);

	(void)state;
	rule("a fake offset is a place on the device's file, at 4 GiB or above, in whole pages");
	check_true(offset >= 1ull << 32 && second >= 1ull << 32, "offsets of 4 GiB or more",
		   "a smaller one");
	check_equal((int64_t)((offset | second) % PAGE), 0, "offset modulo the page size");
	rule("the offset of a BO stays, and no two BOs have the same");
	check_equal((int64_t)offset_of(&bo), (int64_t)offset, "the offset, asked a second time");
	check_true(second >= offset + SIZE || offset >= second + SIZE, "two ranges that are apart",
		   "ranges that overlap");
	check_errno(guest_close_handle(fd, other.handle), 0, "GEM_CLOSE");
	stays_beside_a_gap(fd);
	done_with(&bo);
}

/* The BO whose MMAP_BO failed goes with its handle; @others are still there. */
static void close_refused(const struct bo *bo, int others, const char *what)
{
	char text[96];

	rule("MMAP_BO puts the reference of its lookup when it fails, too");
	check_errno(guest_close_handle(bo->fd, bo->handle), 0, "GEM_CLOSE");
	snprintf(text, sizeof(text), "BOs that are left, after %s", what);
	check_more("bos", others, text);
}

void test_bad_calls(void **state)
{
	int fd = maps_open(), stranger = guest_open();
	struct bo bo = make_bo(fd, SIZE, 0), poor = make_bo(fd, SIZE, 0);
	struct bo heap = make_bo(fd, 2u << 20, AGATE_BO_HEAP | AGATE_BO_NOEXEC);
	struct bo unasked = make_bo(fd, SIZE, 0);
	uint64_t offset;

	(void)state;
	rule("without memory for the offset MMAP_BO gives the core's error");
	inject_fail("drm_vma_offset_add", 1, ENOMEM);
	check_errno(ask_offset(fd, poor.handle, 0, &offset), ENOMEM, "MMAP_BO without memory");
	inject_clear();
	close_refused(&poor, 3, "MMAP_BO without memory for the offset");
	offset_of(&bo);
	inject_count("drm_vma_offset_add");
	rule("flags that nobody defined are refused");
	for (int bit = 0; bit < 32; bit++)
		check_errno(ask_offset(fd, unasked.handle, 1u << bit, &offset), EINVAL,
			    "MMAP_BO with an unknown flag");
	rule("a number that is no handle of this file gives ENOENT");
	check_errno(ask_offset(fd, 0, 0, &offset), ENOENT, "MMAP_BO of handle 0");
	check_errno(ask_offset(fd, 0x7fffffff, 0, &offset), ENOENT, "MMAP_BO of no handle");
	check_errno(ask_offset(stranger, bo.handle, 0, &offset), ENOENT,
		    "MMAP_BO of another file's handle");
	rule("a BO that no CPU may see has no offset");
	check_errno(ask_offset(fd, heap.handle, 0, &offset), EINVAL, "MMAP_BO of a heap");
	rule("a call that is refused makes no range on the device's file");
	check_equal(inject_hits("drm_vma_offset_add"), 0, "ranges made by calls that were refused");
	inject_clear();
	close_refused(&heap, 2, "MMAP_BO of a heap");
	close_refused(&unasked, 1, "MMAP_BO with an unknown flag");
	close(stranger);
	done_with(&bo);
}

void test_who(void **state)
{
	int fd = maps_open(), other = guest_open();
	struct bo bo = make_bo(fd, SIZE, AGATE_BO_CONTIGUOUS);
	uint64_t offset = offset_of(&bo);
	void *kept = map_bo(&bo, RW);

	(void)state;
	rule("only a file with a handle to the BO may map it");
	check_errno(try_map(other, offset, SIZE, RW, MAP_SHARED, NULL), EACCES,
		    "mmap() by a file without a handle");
	rule("a mapping begins at the BO's first page, and is not longer than the BO");
	check_errno(try_map(fd, offset, SIZE - PAGE, RW, MAP_SHARED, NULL), 0, "a shorter mapping");
	check_errno(try_map(fd, offset, SIZE + PAGE, RW, MAP_SHARED, NULL), EINVAL,
		    "a mapping that is a page too long");
	check_errno(try_map(fd, offset + PAGE, PAGE, RW, MAP_SHARED, NULL), EINVAL,
		    "a mapping that begins at the second page");
	rule("after its handle was closed a file may not map a BO, even if the BO lives on");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	check_errno(try_map(fd, offset, SIZE, RW, MAP_SHARED, NULL), EACCES,
		    "mmap() after GEM_CLOSE");
	munmap(kept, SIZE);
	close(fd);
	close(other);
}

/* ---- Debug kernel ------------------------------------------------------ */

struct asking {
	struct bo bo;
	uint64_t offset;
	int err;
	atomic_bool done;
};

static void *ask(void *arg)
{
	struct asking *asking = arg;

	asking->err = ask_offset(asking->bo.fd, asking->bo.handle, 0, &asking->offset);
	atomic_store(&asking->done, true);
	return NULL;
}

/* Hold MMAP_BO there, close the handle, and let it go on. */
static void close_meanwhile(const char *gate, const char *expected, const char *missed)
{
	struct asking asking = { 0 };
	pthread_t thread;
	int fd = maps_open();

	asking.bo = make_bo(fd, SIZE, 0);
	rule("MMAP_BO holds a reference to the BO for as long as it uses the BO");
	inject_hold_return(gate, 1, INJECT_BOUND_MS);
	assert_int_equal(pthread_create(&thread, NULL, ask, &asking), 0);
	if (!inject_await_held(gate, 10000))
		broken(expected, "%s", missed);
	check_errno(guest_close_handle(fd, asking.bo.handle), 0, "GEM_CLOSE meanwhile");
	if (!inject_let_go(gate))
		could_not_look("the gate gave up");
	pthread_join(thread, NULL);
	inject_clear();
	if (asking.err && asking.err != ENOENT)
		check_errno(asking.err, 0, "MMAP_BO whose handle was closed meanwhile");
	if (!asking.err)
		check_true(asking.offset >= 1ull << 32, "the offset", "none");
	close(fd);
	check_gone();
}

void test_closed_early(void **state)
{
	(void)state;
	/* The BO was found, and the core makes the offset next. */
	close_meanwhile("drm_gem_object_lookup", "a call of agate_gem_lookup()",
			"MMAP_BO did not look for the BO");
	close_meanwhile("drm_vma_offset_add", "a call of drm_gem_create_mmap_offset()",
			"MMAP_BO did not make the offset");
}

static struct bo nth_bo;
static void *nth_cpu;

static void nth_before(void)
{
	nth_bo = make_bo(maps_open(), SIZE, 0);
	nth_cpu = NULL;
}

static int nth_call(void)
{
	uint64_t offset;
	int err = ask_offset(nth_bo.fd, nth_bo.handle, 0, &offset);

	return err ? err : try_map(nth_bo.fd, offset, SIZE, RW, MAP_SHARED, &nth_cpu);
}

static void nth_after(void)
{
	if (nth_cpu)
		munmap(nth_cpu, SIZE);
	done_with(&nth_bo);
}

/* Lockdep watches the process that gets a signal for its touch. */
static void touch_without_memory(void)
{
	struct bo bo = make_bo(maps_open(), SIZE, 0);
	void *cpu = map_bo(&bo, RW);

	rule("a fault that fails leaves nothing: no reference, and no section that was entered");
	inject_fail(INJECT_READS, 0, ENOMEM);
	(void)touch(cpu, false);
	inject_clear();
	munmap(cpu, SIZE);
	done_with(&bo);
}

void test_allocations(void **state)
{
	const struct fail_nth_call call = {
		"MMAP_BO and mmap()", nth_before, nth_call, nth_after,
	};

	(void)state;
	close(maps_open());
	rule("when an allocation fails, the call fails and leaves nothing");
	fail_nth_each(&call);
	touch_without_memory();
}
