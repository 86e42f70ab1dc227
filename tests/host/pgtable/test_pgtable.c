// SPDX-License-Identifier: MIT
/*
 * agate_pgtable.c against tables worked out by hand from hardware.md section 4:
 * each entry's place and bits, and the state after every error.
 */
#include <linux/errno.h>

#include "fixture.h"

/* 0x8080604000 is entry 1 of level 0, 2 of level 1, 3 of level 2, 4 of level 3. */
static void one_page_bit_for_bit(void **state)
{
	struct fixture *f = *state;
	struct agate_pgtable_page *l1, *l2, *l3;

	assert_int_equal(map(f, 0x8080604000, 0x12345000, KIB(4), RWNX), 0);
	assert_int_equal(f->pgt.pages, 4);

	l1 = f->pgt.root->child[1];
	l2 = l1->child[2];
	l3 = l2->child[3];
	/* The last level leads to no table, and wastes no memory on the list of them. */
	assert_null(l3->child);
	assert_int_equal(entry(f->pgt.root, 1), l1->phys | 3);
	assert_int_equal(entry(l1, 2), l2->phys | 3);
	assert_int_equal(entry(l2, 3), l3->phys | 3);
	/* XN; address; outer shareable; write, read; attribute 3; leaf. */
	assert_int_equal(entry(l3, 4), 0x00400000123452cd);
	assert_int_equal(f->pgt.root->used, 1);
	assert_int_equal(l3->used, 1);
	assert_int_equal(entry(l3, 3), 0);
	assert_int_equal(entry(l3, 5), 0);
}

static void permissions_bit_for_bit(void **state)
{
	struct fixture *f = *state;
	u32 prot;

	assert_int_equal(map(f, 0x1000, 0x5000, KIB(4), AGATE_PROT_READ), 0);
	assert_int_equal(map(f, 0x2000, 0x6000, KIB(4), AGATE_PROT_WRITE), 0);
	assert_int_equal(map(f, 0x3000, 0x7000, KIB(4), RW), 0);
	assert_int_equal(map(f, 0x4000, 0x8000, KIB(4), AGATE_PROT_READ | AGATE_PROT_NOEXEC), 0);
	assert_leaf(f, 0x1000, 3, 0x524d);
	assert_leaf(f, 0x2000, 3, 0x628d);
	assert_leaf(f, 0x3000, 3, 0x72cd);
	assert_leaf(f, 0x4000, 3, 0x004000000000824d);

	assert_int_equal(agate_pgtable_translate(&f->pgt, 0x2abc, NULL, &prot), 0);
	assert_int_equal(prot, AGATE_PROT_WRITE);
	assert_int_equal(agate_pgtable_translate(&f->pgt, 0x4abc, NULL, &prot), 0);
	assert_int_equal(prot, AGATE_PROT_READ | AGATE_PROT_NOEXEC);
}

static void blocks_where_all_is_aligned(void **state)
{
	struct fixture *f = *state;
	u64 pa;

	assert_int_equal(map(f, MIB(2), MIB(1024), MIB(2), RW), 0);
	assert_leaf(f, MIB(2), 2, 0x400002cd);
	assert_int_equal(f->pgt.pages, 3);

	assert_int_equal(map(f, GIB(1), GIB(2), GIB(1), RW), 0);
	assert_leaf(f, GIB(2) - 1, 1, 0x800002cd);
	assert_int_equal(f->pgt.pages, 3);
	assert_int_equal(agate_pgtable_translate(&f->pgt, GIB(1) + 0x1234567, &pa, NULL), 0);
	assert_int_equal(pa, GIB(2) + 0x1234567);

	/* 2 MiB of a physical range that is not aligned to it: 512 pages. */
	assert_int_equal(map(f, MIB(4), GIB(1) + KIB(4), MIB(2), RW), 0);
	assert_leaf(f, MIB(4), 3, 0x400012cd);
	assert_leaf(f, MIB(6) - KIB(4), 3, 0x402002cd);
	assert_int_equal(f->pgt.pages, 4);
}

/* 4 KiB before a 2 MiB boundary, two blocks, and 4 KiB behind. */
static void unaligned_ends_around_blocks(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(map(f, MIB(6) - KIB(4), MIB(100) - KIB(4), MIB(4) + KIB(8), RW), 0);
	assert_leaf(f, MIB(6) - KIB(4), 3, 0x63ff2cd);
	assert_leaf(f, MIB(6), 2, 0x64002cd);
	assert_leaf(f, MIB(8), 2, 0x66002cd);
	assert_leaf(f, MIB(10), 3, 0x68002cd);
	assert_unmapped(f, MIB(6) - KIB(8));
	assert_unmapped(f, MIB(10) + KIB(4));
}

static void ends_of_the_space(void **state)
{
	struct fixture *f = *state;
	u64 pa;

	assert_int_equal(map(f, 0, 0x1000, KIB(4), RW), 0);
	assert_int_equal(map(f, TOP - KIB(4), 0x2000, KIB(4), RW), 0);
	assert_int_equal(map(f, TOP - KIB(8), 0x3000, KIB(8), RW), -EEXIST);
	assert_int_equal(agate_pgtable_translate(&f->pgt, TOP - 1, &pa, NULL), 0);
	assert_int_equal(pa, 0x2fff);
	assert_int_equal(agate_pgtable_translate(&f->pgt, TOP, NULL, NULL), -ENOENT);
	assert_int_equal(agate_pgtable_translate(&f->pgt, ~0ull, NULL, NULL), -ENOENT);
	assert_int_equal(unmap(f, TOP - KIB(4), KIB(4)), 0);
	assert_unmapped(f, TOP - 1);
	assert_int_equal(unmap(f, 0, TOP), 0);
	assert_unmapped(f, 0);
	assert_int_equal(f->pgt.pages, 1);
}

static void bad_ranges_refused(void **state)
{
	struct fixture *f = *state;
	static const struct { u64 va, pa, size; } bad[] = {
		{ 0x1000, 0x1000, 0 },
		{ 0x1001, 0x1000, KIB(4) },
		{ 0x1000, 0x1800, KIB(4) },
		{ 0x1000, 0x1000, 4097 },
		{ TOP, 0x1000, KIB(4) },
		{ TOP - KIB(4), 0x1000, KIB(8) },
		{ 0x1000, 0x1000, ~0ull & ~0xfffull },
		{ ~0ull & ~0xfffull, 0x1000, KIB(4) },
		{ 0x1000, 1ull << 40, KIB(4) },
		{ 0x1000, (1ull << 40) - KIB(4), KIB(8) },
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(map(f, bad[i].va, bad[i].pa, bad[i].size, RW), -EINVAL);
	assert_int_equal(map(f, 0x1000, 0x1000, KIB(4), AGATE_PROT_NOEXEC), -EINVAL);
	assert_int_equal(unmap(f, 0x1000, 0), -EINVAL);
	assert_int_equal(unmap(f, 0x1001, KIB(4)), -EINVAL);
	assert_int_equal(unmap(f, TOP - KIB(4), KIB(8)), -EINVAL);
	assert_int_equal(f->pgt.pages, 1);
	assert_int_equal(f->mem.live, 1);
}

static void overlap_refused_and_nothing_changed(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(map(f, MIB(4), MIB(64), MIB(2), RW), 0);
	assert_int_equal(map(f, KIB(4), MIB(32), KIB(4), RW), 0);

	/* A page into a block; a block over a page; a long range that meets both. */
	assert_int_equal(map(f, MIB(4) + KIB(8), MIB(96), KIB(4), RW), -EEXIST);
	assert_int_equal(map(f, 0, MIB(96), MIB(2), RW), -EEXIST);
	assert_int_equal(map(f, MIB(2), MIB(96), MIB(8), RW), -EEXIST);
	assert_int_equal(map(f, 0, GIB(1), GIB(1), RW), -EEXIST);
	assert_unmapped(f, MIB(2));
	assert_unmapped(f, MIB(6));
	assert_leaf(f, MIB(4), 2, 0x40002cd);
	assert_int_equal(f->mem.live, f->pgt.pages);
	assert_int_equal(f->pgt.pages, 4);
}

static void page_out_of_a_gib_block(void **state)
{
	struct fixture *f = *state;
	const u64 hole = GIB(1) + MIB(6) + KIB(12);

	assert_int_equal(map(f, GIB(1), GIB(2), GIB(1), RWNX), 0);
	assert_int_equal(f->pgt.pages, 2);
	assert_int_equal(unmap(f, hole, KIB(4)), 0);
	assert_int_equal(f->pgt.pages, 4);
	assert_unmapped(f, hole);
	assert_leaf(f, hole - 1, 3, 0x00400000806022cd);
	assert_leaf(f, hole + KIB(4), 3, 0x00400000806042cd);
	assert_leaf(f, GIB(1), 2, 0x00400000800002cd);
	assert_leaf(f, GIB(2) - 1, 2, 0x00400000bfe002cd);
}

/* One end of the range is the block's own end: the other end still splits the block. */
static void either_end_of_a_block(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(map(f, MIB(2), GIB(1), MIB(4), RWNX), 0);
	assert_int_equal(unmap(f, MIB(2), KIB(4)), 0);
	assert_unmapped(f, MIB(2));
	assert_leaf(f, MIB(2) + KIB(4), 3, 0x00400000400012cd);
	assert_leaf(f, MIB(4), 2, 0x00400000402002cd);
	assert_int_equal(unmap(f, MIB(6) - KIB(4), KIB(4)), 0);
	assert_unmapped(f, MIB(6) - 1);
	assert_leaf(f, MIB(6) - KIB(8), 3, 0x00400000403fe2cd);
	assert_leaf(f, MIB(4), 3, 0x00400000402002cd);
}

static void no_memory_for_a_split_changes_nothing(void **state)
{
	struct fixture *f = *state;
	int n;

	assert_int_equal(map(f, GIB(1), GIB(2), GIB(1), RW), 0);
	/* One table for the block, one for each end of the range. */
	for (n = 0; n < 3; n++) {
		f->mem.fail_after = n;
		assert_int_equal(unmap(f, GIB(1) + MIB(1), MIB(4)), -ENOMEM);
		assert_leaf(f, GIB(1) + MIB(2), 1, 0x800002cd);
		assert_int_equal(f->pgt.pages, 2);
	}
	f->mem.fail_after = -1;
	assert_int_equal(unmap(f, GIB(1) + MIB(1), MIB(4)), 0);
	assert_unmapped(f, GIB(1) + MIB(1));
	assert_unmapped(f, GIB(1) + MIB(5) - 1);
	assert_leaf(f, GIB(1) + MIB(5), 3, 0x805002cd);
	assert_int_equal(f->pgt.pages, 5);
}

/* Five tables: two levels above, and one of the last level in each of three 2 MiB. */
static void no_memory_for_a_map_changes_nothing(void **state)
{
	struct fixture *f = *state;
	const u64 va = MIB(2) - KIB(4);
	const u64 size = MIB(2) + KIB(8);
	int n;

	for (n = 0; n < 5; n++) {
		f->mem.fail_after = n;
		assert_int_equal(map(f, va, KIB(4), size, RW), -ENOMEM);
		assert_int_equal(f->mem.live, 1);
		assert_int_equal(f->pgt.pages, 1);
		assert_int_equal(f->pgt.root->used, 0);
		assert_unmapped(f, va);
	}
	f->mem.fail_after = 5;
	assert_int_equal(map(f, va, KIB(4), size, RW), 0);
	assert_int_equal(f->pgt.pages, 6);
	assert_leaf(f, MIB(4), 3, 0x2022cd);
}

static void empty_tables_are_given_up(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(map(f, MIB(2) - KIB(4), KIB(4), KIB(8), RW), 0);
	assert_int_equal(f->pgt.pages, 5);
	assert_int_equal(unmap(f, MIB(2), KIB(4)), 0);
	assert_int_equal(f->pgt.pages, 4);
	/* A hole is not an error. */
	assert_int_equal(unmap(f, MIB(64), GIB(3)), 0);
	assert_int_equal(unmap(f, 0, GIB(1)), 0);
	assert_int_equal(f->pgt.pages, 1);
	assert_int_equal(entry(f->pgt.root, 0), 0);
}

/* Pages that unmap removed stay valid until the caller has flushed and frees them. */
static void gone_tables_live_until_freed(void **state)
{
	struct fixture *f = *state;
	LIST_HEAD(gone);

	assert_int_equal(map(f, 0, KIB(4), KIB(4), RW), 0);
	assert_int_equal(agate_pgtable_unmap(&f->pgt, 0, KIB(4), &gone), 0);
	assert_int_equal(f->pgt.pages, 1);
	assert_int_equal(f->mem.live, 4);
	assert_unmapped(f, 0);
	agate_pgtable_free_list(&f->pgt, &gone);
	assert_true(list_empty(&gone));
	assert_int_equal(f->mem.live, 1);
}

static void no_memory_for_the_root(void **state)
{
	struct agate_pgtable pgt;
	static struct table_mem mem;

	(void)state;
	table_mem_init(&mem);
	mem.fail_after = 0;
	assert_int_equal(agate_pgtable_init(&pgt, &agate_pgtable_lpae, &table_mem_ops, &mem),
			 -ENOMEM);
	agate_pgtable_fini(&pgt);
	assert_int_equal(mem.live, 0);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup_lpae, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_page_bit_for_bit),
		TEST(permissions_bit_for_bit),
		TEST(blocks_where_all_is_aligned),
		TEST(unaligned_ends_around_blocks),
		TEST(ends_of_the_space),
		TEST(bad_ranges_refused),
		TEST(overlap_refused_and_nothing_changed),
		TEST(page_out_of_a_gib_block),
		TEST(either_end_of_a_block),
		TEST(no_memory_for_a_split_changes_nothing),
		TEST(no_memory_for_a_map_changes_nothing),
		TEST(empty_tables_are_given_up),
		TEST(gone_tables_live_until_freed),
		cmocka_unit_test(no_memory_for_the_root),
	};

	return cmocka_run_group_tests_name("pgtable", tests, NULL, NULL);
}
