// SPDX-License-Identifier: MIT
/*
 * Lab 02: BOs of every kind, what may become of them, and where they may end.  Tests watch
 * promises meanwhile (promises.c).
 */
#include "clients.h"
#include "dmabuf.h"
#include "gem.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define KIND_PAGES	201
#define LIVES		4
#define RUN		"agate_slot_run"
#define SHRINKS		50

unsigned int kinds(uint32_t flags[KINDS])
{
	unsigned int n = 0;

	for (uint32_t f = 0; f < KINDS_END; f++)
		if (!(f & AGATE_BO_HEAP) || (f & AGATE_BO_NOEXEC))
			flags[n++] = f;
	return n;
}

/* The BO has pages as long as it is mapped, if a CPU may write to it. */
static void touch(struct bo *bo, uint32_t flags)
{
	if (flags & (AGATE_BO_HEAP | AGATE_BO_CPU_READONLY))
		return;
	guest_map(bo);
	memset(bo->cpu, 1, PAGE);
}

static void unmap_kinds(struct bo *bo, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (bo[i].cpu)
			munmap(bo[i].cpu, bo[i].size);
		bo[i].cpu = NULL;
	}
}

/* The shrinker passes over a BO whose locks it does not get at once. */
static void purge_kinds(const struct bo *bo)
{
	for (int i = 0; i < SHRINKS && strcmp(listed(bo).madv, "purged"); i++)
		shrink();
}

void close_kinds(const struct bo *bo, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		check_errno(guest_close_handle(bo[i].fd, bo[i].handle), 0, "GEM_CLOSE");
}

/* BOs that were never used, that were, that can be purged, that were purged. */
static unsigned int make_life(int fd, unsigned int life, struct bo bo[KINDS])
{
	static const struct {
		bool touched, unneeded, purged;
	} lives[LIVES] = {
		{ false, false, false }, { true, false, false }, { true, true, false },
		{ true, true, true },
	};
	uint32_t flags[KINDS];
	unsigned int n = kinds(flags);

	rule("CREATE_BO makes a BO and returns 0");
	for (unsigned int i = 0; i < n; i++) {
		bo[i] = make_bo(fd, (KIND_PAGES + i) * PAGE - 1, flags[i]);
		if (lives[life].touched)
			touch(&bo[i], flags[i]);
		if (lives[life].unneeded)
			advise(&bo[i], AGATE_MADV_DONTNEED);
	}
	if (lives[life].purged)
		purge_kinds(bo);
	unmap_kinds(bo, n);
	return n;
}

/* A handle means its BO until it is closed; SET_LABEL comes with step 4. */
static void found_and_labelled(const struct bo *bo, unsigned int n, const char *when)
{
	char what[80];
	uint64_t offset;
	int err;

	for (unsigned int i = 0; i < n; i++) {
		rule("agate_gem_lookup() finds the BO behind a handle, whatever became of the BO");
		snprintf(what, sizeof(what), "GET_BO_OFFSET of a BO %s", when);
		check_errno(get_offset(bo[i].fd, bo[i].handle, &offset), 0, what);
		check_equal((int64_t)offset, (int64_t)bo[i].va, "the offset it gives");
		rule("a BO can have a label, whatever became of it");
		snprintf(what, sizeof(what), "SET_LABEL of a BO %s", when);
		err = set_label(bo[i].fd, bo[i].handle, "alive", 5);
		if (err != EOPNOTSUPP)
			check_errno(err, 0, what);
	}
}

unsigned int make_and_use(int fd, unsigned int life, struct bo bo[KINDS])
{
	static const char *const when[LIVES] = {
		"that was just made", "that was used", "that can be purged", "that was purged",
	};
	unsigned int n = make_life(fd, life, bo);

	found_and_labelled(bo, n, when[life]);
	return n;
}

void live_and_die(int fd)
{
	struct bo bo[KINDS];

	for (unsigned int life = 0; life < LIVES; life++)
		close_kinds(bo, make_and_use(fd, life, bo));
}

void label_every_kind(int fd)
{
	uint32_t flags[KINDS];
	unsigned int n = kinds(flags);
	struct bo bo[KINDS];

	for (unsigned int i = 0; i < n; i++) {
		rule("CREATE_BO makes a BO and returns 0");
		bo[i] = make_bo(fd, (KIND_PAGES + i) * PAGE, flags[i]);
		rule("a BO of any kind can have a label");
		check_errno(set_label(fd, bo[i].handle, "of any kind", 11), 0, "SET_LABEL");
		if (strcmp(listed(&bo[i]).label, "of any kind"))
			broken("label \"of any kind\"", "flags %#x, label \"%s\"", flags[i],
			       listed(&bo[i]).label);
	}
	close_kinds(bo, n);
}

/* Memory of another driver as a BO; 0 or the errno. */
static int import_bo(int fd, uint64_t size, struct bo *bo)
{
	void *memory;
	int dmabuf = dmabuf_of_memory(size, &memory), err;

	*bo = (struct bo){ .fd = fd, .size = size };
	err = dmabuf_try_import(fd, dmabuf, &bo->handle);
	munmap(memory, size);
	close(dmabuf);
	return err;
}

void other_kinds(int fd)
{
	struct live before = live_now();
	struct bo bo;

	rule("agate_gem_create() takes all flags of AGATE_BO_FLAGS, also those that no client may ask for");
	check_errno(import_bo(fd, KIND_PAGES * PAGE, &bo), 0,
		    "PRIME_FD_TO_HANDLE, with memory of another driver");
	rule("a BO that is memory of another driver is listed as any other");
	check_true(look_for(bo.size).found, "the BO on the list", "it is not there");
	check_equal(live_now().bos, before.bos + 1, "BOs that AGATE_STAT_BOS counts");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	rule("CREATE_BO makes a BO and returns 0");
	bo = make_bo(fd, KIND_PAGES * PAGE, AGATE_BO_CONTIGUOUS);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
}

/* ---- Where they end -------------------------------------------------------- */

/* A process has BOs of every kind in a file of its own, one of them mapped. */
static void make_lives(void *unused)
{
	int fd = guest_try_open();
	struct bo bo[KINDS];

	(void)unused;
	make_life(fd, 0, bo);
	make_life(fd, LIFE_PURGEABLE, bo);
	guest_bo(fd, PAGE, 0);
}

/* A BO whose last reference is a mapping in a process. */
static void end_with_munmap(int fd)
{
	struct bo bo;

	rule("CREATE_BO makes a BO and returns 0");
	bo = guest_bo(fd, PAGE, 0);
	memset(bo.cpu, 1, PAGE);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	munmap(bo.cpu, bo.size);
}

/*
 * BOs of every kind are listed by a job that is about to run, and lose their names.  What is
 * left of them goes with the job, in a thread of the kernel.
 */
static void end_with_a_job(int fd)
{
	uint32_t handles[KINDS + 1];
	struct bo bo[KINDS + 1];
	unsigned int n;
	bool held;

	n = make_life(fd, 0, bo);
	rule("CREATE_BO makes a BO and returns 0");
	bo[n] = guest_bo(fd, PAGE, 0);
	guest_job_write64(&bo[n], 0, 0, bo[n].va + 128, 1);
	for (unsigned int i = 0; i <= n; i++)
		handles[i] = bo[i].handle;
	inject_anybody(true);
	inject_hold_entry(RUN, 1, INJECT_BOUND_MS);
	inject_anybody(false);
	check_errno(guest_submit(fd, bo[n].va, 0, handles, n + 1, 0), 0, "SUBMIT");
	do
		held = inject_await_held(RUN, 2);
	while (!held);
	found_and_labelled(bo, n + 1, "that a job uses");
	rule("GEM_CLOSE of a BO that a job uses takes its name and its address");
	close_kinds(bo, n + 1);
	let_go(RUN);
	munmap(bo[n].cpu, bo[n].size);
	inject_clear();
}

void end_everywhere(int fd)
{
	struct live before = live_now();

	end_with_munmap(fd);
	check_live(&before);
	other_kinds(fd);
	rule("free does the same for every BO, wherever its memory comes from");
	check_live(&before);
	clients_end(make_lives, NULL, false);
	clients_end(make_lives, NULL, true);
	rule("a process that ends leaves nothing, killed or not");
	check_live(&before);
	end_with_a_job(fd);
	rule("a BO whose name was closed while a job used it goes with the job");
	check_live(&before);
}
