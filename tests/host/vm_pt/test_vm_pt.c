// SPDX-License-Identifier: MIT
/*
 * agate_vm_pt.c, step by step: how many tables a change shares, what it makes aside, and what it
 * leaves when it is given up.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <linux/errno.h>

#include "agate_card.h"
#include "agate_vm_pt.h"
#include "locks.h"
#include "runs.h"
#include "table_mem.h"

#define KIB(n)	((u64)(n) << 10)
#define MIB(n)	((u64)(n) << 20)
#define GIB(n)	((u64)(n) << 30)
#define TOP	(1ull << 48)
#define RW	(AGATE_PROT_READ | AGATE_PROT_WRITE)

struct fixture {
	struct table_mem mem;
	struct agate_pgtable pgt;
	struct locks locks;
	struct agate_pt_stage stage;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	if (!f)
		return -1;
	table_mem_init(&f->mem);
	f->mem.queued = true;
	locks_hold(&f->locks, &f->pgt);
	return agate_pgtable_init(&f->pgt, &agate_pgtable_lpae, &table_mem_ops, &f->mem);
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	unsigned int live;

	agate_pgtable_fini(&f->pgt);
	live = f->mem.live;
	free(f);
	return live ? -1 : 0;
}

static int stage_map(struct fixture *f, u64 va, u64 pa, u64 size)
{
	return agate_pt_stage_map(&f->stage, &f->pgt, va, runs_of_one(pa, size), RW);
}

static int stage_unmap(struct fixture *f, u64 va, u64 size)
{
	return agate_pt_stage_unmap(&f->stage, &f->pgt, va, size);
}

static void finish(struct fixture *f)
{
	agate_pt_commit(&f->stage);
	agate_pt_write_cpu(&f->stage);
	agate_pt_stage_fini(&f->stage);
}

static void map(struct fixture *f, u64 va, u64 pa, u64 size)
{
	assert_int_equal(stage_map(f, va, pa, size), 0);
	finish(f);
}

static void unmap(struct fixture *f, u64 va, u64 size)
{
	assert_int_equal(stage_unmap(f, va, size), 0);
	finish(f);
}

static u64 hash(const struct fixture *f)
{
	return table_mem_hash(&f->mem, f->pgt.root->phys, 0);
}

/* What the walker finds at an address; 0: nothing. */
static u64 walk(const struct fixture *f, u64 va, int *level)
{
	u64 leaf = 0;

	*level = table_mem_walk(&f->mem, f->pgt.root->phys, va, &leaf);
	return leaf & LPAE_ADDR;
}

static void assert_walks_to(const struct fixture *f, u64 va, u64 pa, int want)
{
	int level;

	assert_int_equal(walk(f, va, &level), pa);
	assert_int_equal(level, want);
}

/* ---- What is shared ---------------------------------------------------- */

/* Nothing is mapped: one entry of the root changes, and three tables are made aside. */
static void test_first_mapping(void **state)
{
	struct fixture *f = *state;
	u64 before = hash(f);

	assert_int_equal(stage_map(f, GIB(3), MIB(64), KIB(8)), 0);
	assert_int_equal(f->stage.updates, 1);
	assert_ptr_equal(f->stage.update[0].table, f->pgt.root);
	assert_int_equal(f->stage.update[0].count, 1);
	assert_int_equal(f->mem.live, 1 + 3 + 1);
	assert_int_equal(hash(f), before);
	agate_pt_commit(&f->stage);
	assert_int_equal(hash(f), before);
	assert_int_equal(agate_pgtable_translate(&f->pgt, GIB(3), NULL, NULL), 0);
	agate_pt_write_cpu(&f->stage);
	agate_pt_stage_fini(&f->stage);
	assert_walks_to(f, GIB(3) + KIB(4), MIB(64) + KIB(4), 3);
	assert_int_equal(f->pgt.pages, 4);
	/* The tables that become empty need no update of their own. */
	assert_int_equal(stage_unmap(f, GIB(3), KIB(8)), 0);
	assert_int_equal(f->stage.updates, 1);
	finish(f);
	assert_int_equal(f->pgt.pages, 1);
}

/* Neighbours at both ends: two tables of each level are shared, and the root. */
static void test_most_updates(void **state)
{
	struct fixture *f = *state;
	const u64 middle = GIB(512);
	const u64 va = middle - GIB(3) - MIB(6) - KIB(16);
	const u64 size = 2 * (middle - va);
	unsigned int i, j;

	map(f, va - KIB(4), MIB(1), KIB(4));
	map(f, va + size, MIB(2), KIB(4));
	assert_int_equal(f->pgt.pages, 7);
	assert_int_equal(stage_map(f, va, GIB(64) - MIB(6) - KIB(16), size), 0);
	assert_int_equal(f->stage.updates, 6);	/* the root changes no entry */
	/* Children come before their parents. */
	for (i = 0; i < f->stage.updates; i++) {
		const struct agate_pgtable_page *parent = f->stage.update[i].table;

		for (j = i + 1; j < f->stage.updates; j++)
			if (parent->child)
				assert_true(f->stage.update[j].level <= f->stage.update[i].level ||
					    f->stage.update[j].table != parent);
	}
	finish(f);
	assert_walks_to(f, va, GIB(64) - MIB(6) - KIB(16), 3);
	assert_walks_to(f, va + size - KIB(4), GIB(64) - MIB(6) - KIB(16) + size - KIB(4), 3);
	assert_walks_to(f, va - KIB(4), MIB(1), 3);
	assert_walks_to(f, va + size, MIB(2), 3);
	unmap(f, va, size);
	assert_int_equal(f->pgt.pages, 7);
	unmap(f, 0, TOP);
}

/* The same with whole 512 GiB between the ends: there is no table more. */
static void test_root_between_two_ends(void **state)
{
	struct fixture *f = *state;
	const u64 end = GIB(1) + MIB(2) + KIB(4);

	map(f, GIB(512) - end - KIB(4), MIB(1), KIB(4));
	map(f, GIB(1024) + end, MIB(2), KIB(4));
	assert_int_equal(stage_map(f, GIB(512) - end, GIB(4) - end, GIB(512) + 2 * end), 0);
	assert_int_equal(f->stage.updates, AGATE_PT_UPDATES);
	finish(f);
	assert_walks_to(f, GIB(512) - end, GIB(4) - end, 3);
	assert_walks_to(f, GIB(512), GIB(4), 1);
	assert_walks_to(f, GIB(1024) + end - KIB(4), GIB(516) + end - KIB(4), 3);
	unmap(f, 0, TOP);
}

/* ---- Blocks ------------------------------------------------------------ */

static void test_block_is_split_at_both_ends(void **state)
{
	struct fixture *f = *state;
	u64 before;

	map(f, GIB(1), GIB(8), GIB(1));
	assert_walks_to(f, GIB(1), GIB(8), 1);
	before = hash(f);
	assert_int_equal(stage_unmap(f, GIB(1) + MIB(2) + KIB(4), MIB(4)), 0);
	assert_int_equal(hash(f), before);
	finish(f);
	assert_walks_to(f, GIB(1), GIB(8), 2);
	assert_walks_to(f, GIB(1) + MIB(2), GIB(8) + MIB(2), 3);
	assert_walks_to(f, GIB(1) + MIB(2) + KIB(4), 0, -1);
	assert_walks_to(f, GIB(1) + MIB(4), 0, -1);
	assert_walks_to(f, GIB(1) + MIB(6), 0, -1);
	assert_walks_to(f, GIB(1) + MIB(6) + KIB(4), GIB(8) + MIB(6) + KIB(4), 3);
	assert_walks_to(f, GIB(1) + MIB(8), GIB(8) + MIB(8), 2);
	unmap(f, GIB(1), GIB(1));
	assert_int_equal(f->pgt.pages, 1);
}

/* A mapping takes the place of others, whatever they were made of. */
static void test_replaces(void **state)
{
	struct fixture *f = *state;

	map(f, MIB(2), MIB(64), MIB(2));
	map(f, MIB(4), MIB(128) + KIB(4), MIB(2));
	assert_int_equal(f->pgt.pages, 4);
	map(f, MIB(3), MIB(256), MIB(3));
	assert_walks_to(f, MIB(2), MIB(64), 3);
	assert_walks_to(f, MIB(3), MIB(256), 3);
	assert_walks_to(f, MIB(4), MIB(257), 3);
	map(f, MIB(2), MIB(32), MIB(4));
	assert_walks_to(f, MIB(2), MIB(32), 2);
	assert_walks_to(f, MIB(4), MIB(34), 2);
	assert_int_equal(f->pgt.pages, 3);
	unmap(f, MIB(2), MIB(4));
}

/*
 * Until the caller has flushed the GPU, a walk may be on its way through a table that goes: it
 * stays when the change is committed, and when it is written.
 */
static void test_gone_stays(void **state)
{
	struct fixture *f = *state;
	const u64 empty = hash(f);
	unsigned int live;

	map(f, MIB(2), MIB(64), KIB(4));
	map(f, MIB(4), MIB(128), KIB(4));
	live = f->mem.live;
	assert_int_equal(stage_unmap(f, MIB(2), MIB(4)), 0);
	agate_pt_commit(&f->stage);
	assert_true(f->mem.live >= live);
	assert_walks_to(f, MIB(2), MIB(64), 3);
	agate_pt_write_cpu(&f->stage);
	assert_true(f->mem.live >= live);
	assert_int_equal(hash(f), empty);
	agate_pt_stage_fini(&f->stage);
	assert_int_equal(f->mem.live, 1);
}

static void test_several_runs(void **state)
{
	struct scatterlist sg[] = {
		{ { MIB(512), MIB(2) + KIB(4) }, }, { { MIB(700), MIB(2) - KIB(4) }, },
		{ { MIB(900), MIB(2) }, },
	};
	struct fixture *f = *state;

	assert_int_equal(agate_pt_stage_map(&f->stage, &f->pgt, MIB(8), runs_of(sg, 3), RW), 0);
	finish(f);
	assert_walks_to(f, MIB(8), MIB(512), 2);
	assert_walks_to(f, MIB(10), MIB(514), 3);
	assert_walks_to(f, MIB(10) + KIB(4), MIB(700), 3);
	assert_walks_to(f, MIB(12) - KIB(4), MIB(702) - KIB(8), 3);
	assert_walks_to(f, MIB(12), MIB(900), 2);
	unmap(f, MIB(8), MIB(6));
}

/* ---- Errors ------------------------------------------------------------ */

static void test_bad_ranges(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(stage_map(f, KIB(4), KIB(4), 0), -EINVAL);
	assert_int_equal(stage_map(f, 0x1001, KIB(4), KIB(4)), -EINVAL);
	assert_int_equal(stage_map(f, TOP - KIB(4), KIB(4), KIB(8)), -EINVAL);
	assert_int_equal(stage_unmap(f, KIB(4), 0), -EINVAL);
	assert_int_equal(stage_unmap(f, KIB(4), 4097), -EINVAL);
	assert_int_equal(stage_unmap(f, TOP, KIB(4)), -EINVAL);
	assert_int_equal(stage_unmap(f, KIB(4), ~0ull & ~0xfffull), -EINVAL);
	assert_int_equal(f->mem.live, 1);
}

/* Each allocation fails in turn: nothing has changed, neither for walkers nor for the CPU. */
static void test_memory_runs_out(void **state)
{
	struct fixture *f = *state;
	const u64 va = GIB(1) - MIB(2) - KIB(8);
	unsigned int live, pages;
	u64 before;
	int allowed, ret = -ENOMEM;

	map(f, GIB(1), GIB(8), GIB(1));
	map(f, va - KIB(4), MIB(1), KIB(4));
	before = hash(f);
	live = f->mem.live;
	pages = f->pgt.pages;
	for (allowed = 0; ret; allowed++) {
		f->mem.fail_after = allowed;
		ret = stage_map(f, va, MIB(64), MIB(8));
		if (ret) {
			assert_int_equal(ret, -ENOMEM);
			assert_int_equal(f->mem.live, live);
		}
		assert_int_equal(hash(f), before);
		assert_int_equal(agate_pgtable_translate(&f->pgt, va, NULL, NULL), -ENOENT);
		/* The CPU still finds what it would replace, and its neighbour. */
		assert_int_equal(agate_pgtable_translate(&f->pgt, GIB(1), NULL, NULL), 0);
		assert_int_equal(agate_pgtable_translate(&f->pgt, va - KIB(4), NULL, NULL), 0);
		assert_int_equal(f->pgt.pages, pages);
	}
	assert_true(allowed > 8);
	f->mem.fail_after = -1;
	agate_pt_abort(&f->stage);
	assert_int_equal(f->mem.live, live);
	/* Tables have counted nothing of it, so these are empty again. */
	unmap(f, va - KIB(4), KIB(4));
	assert_int_equal(f->pgt.pages, 2);
	unmap(f, 0, TOP);
}

/* ---- What waits -------------------------------------------------------- */

/* The second change begins where the first one will end, though no walker sees that yet. */
static void test_two_wait(void **state)
{
	struct fixture *f = *state;
	struct agate_pt_stage first;

	map(f, MIB(8), MIB(32), MIB(2));
	assert_int_equal(agate_pt_stage_map(&first, &f->pgt, MIB(2),
					    runs_of_one(MIB(64), MIB(2)), RW), 0);
	agate_pt_commit(&first);
	assert_int_equal(stage_unmap(f, MIB(3), KIB(4)), 0);
	agate_pt_commit(&f->stage);
	assert_walks_to(f, MIB(2), 0, -1);
	agate_pt_write_cpu(&first);
	agate_pt_stage_fini(&first);
	assert_walks_to(f, MIB(3), MIB(64), 2);
	agate_pt_write_cpu(&f->stage);
	agate_pt_stage_fini(&f->stage);
	assert_walks_to(f, MIB(3), 0, -1);
	assert_walks_to(f, MIB(2), MIB(64), 3);
	unmap(f, MIB(2), MIB(8));
}

/* A neighbour is zapped, and its table stays for the change that waits. */
static void test_zap_beside_what_waits(void **state)
{
	struct fixture *f = *state;

	map(f, MIB(2), MIB(64), KIB(4));
	map(f, MIB(2) + KIB(8), MIB(65), KIB(4));
	assert_int_equal(stage_unmap(f, MIB(2), KIB(4)), 0);
	agate_pt_commit(&f->stage);
	assert_true(agate_pt_zap(&f->pgt, MIB(2) + KIB(8), KIB(4)));
	assert_false(agate_pt_zap(&f->pgt, MIB(2) + KIB(8), KIB(4)));
	/* The change that waits is still not shown. */
	assert_walks_to(f, MIB(2), MIB(64), 3);
	assert_walks_to(f, MIB(2) + KIB(8), 0, -1);
	assert_int_equal(f->pgt.pages, 4);
	agate_pt_write_cpu(&f->stage);
	agate_pt_stage_fini(&f->stage);
	assert_walks_to(f, MIB(2), 0, -1);
	/* The mapping comes back, and goes. */
	map(f, MIB(2) + KIB(8), MIB(66), KIB(4));
	assert_walks_to(f, MIB(2) + KIB(8), MIB(66), 3);
	agate_pt_zap(&f->pgt, MIB(2) + KIB(8), KIB(4));
	unmap(f, MIB(2) + KIB(8), KIB(4));
	assert_int_equal(f->pgt.pages, 1);
}

/* A child that waits for its link is not shown by a zap of the parent's neighbour entry. */
static void test_zap_shows_no_link(void **state)
{
	struct fixture *f = *state;

	map(f, MIB(2), MIB(64), MIB(2));
	assert_int_equal(stage_map(f, MIB(4), MIB(128), KIB(4)), 0);
	agate_pt_commit(&f->stage);
	agate_pt_zap(&f->pgt, MIB(2), MIB(2));
	assert_walks_to(f, MIB(2), 0, -1);
	assert_walks_to(f, MIB(4), 0, -1);
	agate_pt_write_cpu(&f->stage);
	agate_pt_stage_fini(&f->stage);
	assert_walks_to(f, MIB(4), MIB(128), 3);
	unmap(f, 0, TOP);
}

/* One STORE for each shared table, of the entries that change and no more. */
static void test_commands(void **state)
{
	struct agate_mover_cmd cmds[AGATE_PT_UPDATES] = {};
	struct fixture *f = *state;

	map(f, MIB(2), MIB(64), KIB(4));
	assert_int_equal(stage_map(f, MIB(4) - KIB(8), MIB(128), KIB(16)), 0);
	agate_pt_commit(&f->stage);
	assert_int_equal(agate_pt_write_gpu(&f->stage, cmds), 2);
	assert_int_equal(cmds[0].op, AGATE_MOVER_STORE);
	assert_int_equal(cmds[0].length, 16);
	assert_int_equal(cmds[0].dst % 4096, 510 * 8);
	assert_int_equal(cmds[1].length, 8);
	assert_int_equal(cmds[1].dst % 4096, 2 * 8);
	table_mem_move(&f->mem, cmds[0].src, cmds[0].dst, cmds[0].length);
	table_mem_move(&f->mem, cmds[1].src, cmds[1].dst, cmds[1].length);
	agate_pt_stage_fini(&f->stage);
	assert_walks_to(f, MIB(4) - KIB(4), MIB(128) + KIB(4), 3);
	assert_walks_to(f, MIB(4) + KIB(4), MIB(128) + KIB(12), 3);
	unmap(f, 0, TOP);
}

/* ---- Locks ------------------------------------------------------------- */

static void commit(struct fixture *f)
{
	agate_pt_commit(&f->stage);
}

static void write_cpu(struct fixture *f)
{
	agate_pt_write_cpu(&f->stage);
}

static void zap(struct fixture *f)
{
	agate_pt_zap(&f->pgt, MIB(2), MIB(2));
}

/* Does a step complain?  It would end the program, so a child takes it; it says nothing. */
static bool complains(struct fixture *f, void (*step)(struct fixture *f))
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(2);
		step(f);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGABRT;
	assert_int_equal(WEXITSTATUS(status), 0);
	return false;
}

static bool complains_without(struct fixture *f, bool *lock, void (*step)(struct fixture *f))
{
	bool complained;

	*lock = false;
	complained = complains(f, step);
	*lock = true;
	return complained;
}

/* Each step says which lock its caller has forgotten, and asks for no other. */
static void test_locks(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(stage_map(f, MIB(2), GIB(1), KIB(4)), 0);
	assert_false(complains(f, commit));
	assert_true(complains_without(f, &f->locks.vm.locked, commit));
	assert_true(complains_without(f, &f->locks.resv.locked, commit));
	assert_true(complains_without(f, &f->locks.pt.locked, commit));
	commit(f);
	f->locks.vm.locked = false;
	f->locks.resv.locked = false;
	assert_true(complains_without(f, &f->locks.pt.locked, write_cpu));
	write_cpu(f);
	agate_pt_stage_fini(&f->stage);
	assert_true(complains_without(f, &f->locks.pt.locked, zap));
	zap(f);
}

int main(void)
{
#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_first_mapping),
		TEST(test_most_updates),
		TEST(test_root_between_two_ends),
		TEST(test_block_is_split_at_both_ends),
		TEST(test_replaces),
		TEST(test_gone_stays),
		TEST(test_several_runs),
		TEST(test_bad_ranges),
		TEST(test_memory_runs_out),
		TEST(test_two_wait),
		TEST(test_zap_beside_what_waits),
		TEST(test_zap_shows_no_link),
		TEST(test_locks),
		TEST(test_commands),
	};

	return cmocka_run_group_tests_name("vm_pt", tests, NULL, NULL);
}
