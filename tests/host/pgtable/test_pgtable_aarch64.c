// SPDX-License-Identifier: MIT
/*
 * agate_pgtable.c with AArch64 entries, against tables worked out by hand from
 * hardware.md section 4.  test_pgtable.c has the tests that do not depend on the
 * format.
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
	/* Access flag, bit 10; a table is type 3. */
	assert_int_equal(entry(f->pgt.root, 1), l1->phys | 0x403);
	assert_int_equal(entry(l1, 2), l2->phys | 0x403);
	assert_int_equal(entry(l2, 3), l3->phys | 0x403);
	/* XN; address; access flag; outer shareable; AP 1; attribute 3; a page is type 3. */
	assert_int_equal(entry(l3, 4), 0x004000001234564f);
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
	/* AP 3 is read-only, AP 1 read and write: no memory is write-only. */
	assert_leaf(f, 0x1000, 3, 0x56cf);
	assert_leaf(f, 0x2000, 3, 0x664f);
	assert_leaf(f, 0x3000, 3, 0x764f);
	assert_leaf(f, 0x4000, 3, 0x00400000000086cf);

	assert_int_equal(agate_pgtable_translate(&f->pgt, 0x1abc, NULL, &prot), 0);
	assert_int_equal(prot, AGATE_PROT_READ);
	assert_int_equal(agate_pgtable_translate(&f->pgt, 0x2abc, NULL, &prot), 0);
	assert_int_equal(prot, RW);
	assert_int_equal(agate_pgtable_translate(&f->pgt, 0x4abc, NULL, &prot), 0);
	assert_int_equal(prot, AGATE_PROT_READ | AGATE_PROT_NOEXEC);
}

/* A block is type 1; in LPAE a page is, too. */
static void blocks_bit_for_bit(void **state)
{
	struct fixture *f = *state;
	u64 pa;

	assert_int_equal(map(f, MIB(2), MIB(1024), MIB(2), RW), 0);
	assert_leaf(f, MIB(2), 2, 0x4000064d);
	assert_int_equal(map(f, GIB(1), GIB(2), GIB(1), RW), 0);
	assert_leaf(f, GIB(2) - 1, 1, 0x8000064d);
	assert_int_equal(agate_pgtable_translate(&f->pgt, GIB(1) + 0x1234567, &pa, NULL), 0);
	assert_int_equal(pa, GIB(2) + 0x1234567);
	/* 4 KiB before a 2 MiB boundary, two blocks, and 4 KiB behind */
	assert_int_equal(map(f, MIB(6) - KIB(4), MIB(100) - KIB(4), MIB(4) + KIB(8), RW), 0);
	assert_leaf(f, MIB(6) - KIB(4), 3, 0x63ff64f);
	assert_leaf(f, MIB(6), 2, 0x640064d);
	assert_leaf(f, MIB(8), 2, 0x660064d);
	assert_leaf(f, MIB(10), 3, 0x680064f);
	assert_unmapped(f, MIB(10) + KIB(4));
}

static void overlap_refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(map(f, MIB(4), MIB(64), MIB(2), RW), 0);
	assert_int_equal(map(f, KIB(4), MIB(32), KIB(4), RW), 0);
	assert_int_equal(map(f, KIB(4), MIB(96), KIB(4), RW), -EEXIST);
	assert_int_equal(map(f, MIB(4) + KIB(8), MIB(96), KIB(4), RW), -EEXIST);
	assert_int_equal(map(f, 0, MIB(96), MIB(2), RW), -EEXIST);
	assert_leaf(f, KIB(4), 3, 0x200064f);
	assert_leaf(f, MIB(4), 2, 0x400064d);
}

static void page_out_of_a_gib_block(void **state)
{
	struct fixture *f = *state;
	const u64 hole = GIB(1) + MIB(6) + KIB(12);

	assert_int_equal(map(f, GIB(1), GIB(2), GIB(1), AGATE_PROT_READ | AGATE_PROT_NOEXEC), 0);
	assert_int_equal(unmap(f, hole, KIB(4)), 0);
	assert_int_equal(f->pgt.pages, 4);
	assert_unmapped(f, hole);
	assert_leaf(f, hole - 1, 3, 0x00400000806026cf);
	assert_leaf(f, hole + KIB(4), 3, 0x00400000806046cf);
	assert_leaf(f, GIB(1), 2, 0x00400000800006cd);
	assert_leaf(f, GIB(2) - 1, 2, 0x00400000bfe006cd);
}

static void empty_tables_are_given_up(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(map(f, MIB(2) - KIB(4), KIB(4), KIB(8), RW), 0);
	assert_int_equal(f->pgt.pages, 5);
	assert_int_equal(unmap(f, MIB(2), KIB(4)), 0);
	assert_int_equal(f->pgt.pages, 4);
	assert_int_equal(unmap(f, 0, GIB(1)), 0);
	assert_int_equal(f->pgt.pages, 1);
	assert_int_equal(entry(f->pgt.root, 0), 0);
}

/* Entries that look like a leaf or a table, but are not one at their level. */
static void types_by_level(void **state)
{
	const struct agate_pgtable_format *format = &agate_pgtable_aarch64;

	(void)state;
	assert_false(format->ate_is_valid(0x64d, 0));
	assert_true(format->ate_is_valid(0x64d, 1));
	assert_true(format->ate_is_valid(0x64d, 2));
	assert_false(format->ate_is_valid(0x64d, 3));
	assert_false(format->ate_is_valid(0x64f, 2));
	assert_true(format->ate_is_valid(0x64f, 3));
	assert_true(format->pte_is_valid(0x403, 0));
	assert_true(format->pte_is_valid(0x403, 2));
	assert_false(format->pte_is_valid(0x403, 3));
	assert_false(format->pte_is_valid(0x401, 2));
	assert_false(format->ate_is_valid(0, 3));
	assert_false(format->ate_is_valid(2, 3));
	assert_int_equal(format->pte_to_phy_addr(0xfff0123456789fff), 0x0000123456789000);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup_aarch64, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_page_bit_for_bit),
		TEST(permissions_bit_for_bit),
		TEST(blocks_bit_for_bit),
		TEST(overlap_refused),
		TEST(page_out_of_a_gib_block),
		TEST(empty_tables_are_given_up),
		cmocka_unit_test(types_by_level),
	};

	return cmocka_run_group_tests_name("pgtable_aarch64", tests, NULL, NULL);
}
