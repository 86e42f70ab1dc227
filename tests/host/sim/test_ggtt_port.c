// SPDX-License-Identifier: MIT
/*
 * The GGTT's port on bifrost, which has a write buffer; that midgard has none; and the CRC of
 * the table on both.
 */
#include "ggtt_bench.h"

#include <string.h>

#include "crc_slowly.h"

static struct bench *set_up_gsm(void)
{
	const struct agate_sim_config config = {
		.gpu = AGATE_SIM_MIDGARD, .card = true, .vram_total = VRAM_TOTAL, .seed = 1,
	};

	return bench_new_with(&config);
}

static struct bench *set_up_port(void)
{
	const struct agate_sim_config config = {
		.gpu = AGATE_SIM_BIFROST, .card = true, .vram_total = VRAM_TOTAL, .seed = 1,
	};

	return bench_new_with(&config);
}

static void commit(struct bench *b, uint64_t entry)
{
	wr(b, GGTT_PTE_LO, (uint32_t)entry);
	wr(b, GGTT_PTE_HI, entry >> 32);
}

static void test_the_port(void **state)
{
	struct bench *b = set_up_port();
	const struct agate_sim_event *event;

	(void)state;
	put64(b, RAM_BASE, 1);
	put64(b, RAM_BASE + 0x1000, 2);
	wr(b, GGTT_PTE_INDEX, FIRST);
	commit(b, IN_RAM | AGATE_GGTT_PAT(3));
	event = last_event(b, AGATE_EV_GGTT_COMMIT);
	assert_int_equal(event->a, FIRST);
	assert_int_equal(event->b, 1);
	assert_int_equal(event->c, IN_RAM | AGATE_GGTT_PAT(3));
	commit(b, IN_RAM + 0x1000);
	wr(b, GGTT_PTE_REPEAT, 3);
	assert_int_equal(last_event(b, AGATE_EV_GGTT_COMMIT)->b, 3);
	assert_int_equal(rd(b, GGTT_PTE_INDEX), FIRST + 5);
	assert_int_equal(rd(b, GGTT_PTE_LO), (uint32_t)IN_RAM + 0x1000);
	assert_int_equal(rd(b, GGTT_PTE_HI), 0);
	assert_int_equal(rd(b, GGTT_PTE_REPEAT), 0);
	assert_int_equal(rd(b, GGTT_COMMITS), 3);
	assert_int_equal(rd(b, GGTT_SYNC), 0);
	assert_int_equal(engine_reads(b, ADDR, 0), 1);
	assert_int_equal(engine_reads(b, ADDR + 0x1000, 0), 2);
	assert_int_equal(engine_reads(b, ADDR + 0x4000, 0), 2);
	engine_fails(b, ADDR + 0x5000, 0, AGATE_REASON_ENTRY);
	no_hint(b);
	assert_int_equal(rd(b, GGTT_COMMITS), 3);
	bench_free(b);
}

/* A commit that is pending is not in the table: an engine does not see it. */
static void test_pending_commits(void **state)
{
	struct bench *b = set_up_port();

	(void)state;
	put64(b, RAM_BASE, 1);
	wr(b, GGTT_PTE_INDEX, FIRST);
	commit(b, IN_RAM);
	engine_fails(b, ADDR, 0, AGATE_REASON_ENTRY);
	assert_true(hinted(b, "a GGTT entry was used that changed without INVALIDATE"));
	assert_int_equal(counter(b, AGATE_CNT_GGTT_STALE), 2);
	rd(b, GGTT_SYNC);	/* in the table now, but the cache has the old one */
	engine_fails(b, ADDR, 0, AGATE_REASON_ENTRY);
	wr(b, GGTT_INVALIDATE, 1);
	assert_int_equal(engine_reads(b, ADDR, 0), 1);
	forget_events(b);
	/* INVALIDATE drains, too, and the newest of two commits counts. */
	wr(b, GGTT_PTE_INDEX, FIRST);
	commit(b, IN_VRAM);
	commit(b, IN_RAM);
	wr(b, GGTT_PTE_INDEX, FIRST);
	commit(b, IN_RAM);
	assert_int_equal(engine_reads(b, ADDR, 0), 1);
	no_hint(b);
	wr(b, GGTT_INVALIDATE, 1);
	assert_int_equal(engine_reads(b, ADDR, 0), 1);
	assert_int_equal(engine_reads(b, ADDR + 0x1000, 0), 1);
	/* A pending commit concerns its own entries only. */
	wr(b, GGTT_PTE_INDEX, FIRST);
	commit(b, IN_VRAM);
	assert_int_equal(engine_reads(b, ADDR + 0x1000, 0), 1);
	no_hint(b);
	bench_free(b);
}

static void test_commits_are_dropped(void **state)
{
	struct bench *b = set_up_port();
	unsigned int i;

	(void)state;
	wr(b, GGTT_PTE_INDEX, FIRST);
	for (i = 0; i < 64; i++)
		commit(b, IN_VRAM | (0x1000 * (i % 16)));
	no_hint(b);
	assert_int_equal(counter(b, AGATE_CNT_GGTT_DROPPED), 0);
	commit(b, IN_VRAM);
	wr(b, GGTT_PTE_REPEAT, 2);
	assert_true(hinted(b, "more than 64 GGTT commits without a SYNC: dropped"));
	assert_int_equal(counter(b, AGATE_CNT_GGTT_DROPPED), 2);
	assert_int_equal(rd(b, GGTT_PTE_INDEX), FIRST + 67);
	assert_int_equal(rd(b, GGTT_COMMITS), 64);
	assert_int_equal(rd(b, GGTT_SYNC), 2);
	assert_int_equal(rd(b, GGTT_SYNC), 0);
	assert_int_equal(engine_reads(b, ADDR + 63 * 0x1000, 0), 0);
	engine_fails(b, ADDR + 64 * 0x1000, 0, AGATE_REASON_ENTRY);
	/* There is room again. */
	forget_events(b);
	commit(b, IN_VRAM);
	no_hint(b);
	bench_free(b);
}

static void test_commits_beyond_the_end(void **state)
{
	struct bench *b = set_up_port();

	(void)state;
	wr(b, GGTT_PTE_INDEX, 65534);
	commit(b, IN_VRAM);
	wr(b, GGTT_PTE_REPEAT, 1);
	no_hint(b);
	assert_int_equal(rd(b, GGTT_PTE_INDEX), 65536);
	commit(b, IN_VRAM);
	assert_true(hinted(b, "a commit beyond the last GGTT entry is ignored"));
	forget_events(b);
	wr(b, GGTT_PTE_INDEX, 65535);
	wr(b, GGTT_PTE_REPEAT, UINT32_MAX);
	assert_true(hinted(b, "a commit beyond the last GGTT entry is ignored"));
	wr(b, GGTT_PTE_INDEX, UINT32_MAX);
	assert_int_equal(rd(b, GGTT_PTE_INDEX), 65536);
	assert_int_equal(rd(b, GGTT_COMMITS), 3);
	assert_int_equal(rd(b, GGTT_SYNC), 0);
	bench_free(b);
}

static void test_the_port_forgets(void **state)
{
	struct bench *b = set_up_port();

	(void)state;
	wr(b, GGTT_PTE_INDEX, FIRST);
	commit(b, IN_VRAM);
	wr(b, AGATE_CARD_POWER, 0);
	wr(b, AGATE_CARD_POWER, 1);
	assert_int_equal(rd(b, GGTT_PTE_INDEX), 0);
	assert_int_equal(rd(b, GGTT_PTE_LO), 0);
	assert_int_equal(rd(b, GGTT_COMMITS), 0);
	rd(b, GGTT_SYNC);
	engine_fails(b, ADDR, 0x169, AGATE_REASON_ENTRY);
	bench_free(b);
}

/* A write that is refused drains nothing, and does not take the count of what was dropped. */
static void test_a_write_of_sync(void **state)
{
	struct bench *b = set_up_port();
	unsigned int i;

	(void)state;
	wr(b, GGTT_PTE_INDEX, FIRST);
	for (i = 0; i < AGATE_GGTT_PORT_DEPTH + 1; i++)
		commit(b, IN_VRAM);
	forget_events(b);
	wr(b, GGTT_SYNC, 0);
	assert_true(hinted(b, "a write to a read-only register is ignored"));
	assert_int_equal(b->sim->ggtt.table[FIRST], 0);
	assert_int_equal(rd(b, GGTT_SYNC), 1);
	assert_int_equal(b->sim->ggtt.table[FIRST], IN_VRAM);
	assert_int_equal(rd(b, GGTT_SYNC), 0);
	bench_free(b);
}

static void test_no_port(void **state)
{
	struct bench *b = set_up_gsm();
	uint32_t offset;

	(void)state;
	for (offset = GGTT_PTE_INDEX; offset <= GGTT_PTE_REPEAT; offset += 4) {
		forget_events(b);
		wr(b, offset, 1);
		assert_true(hinted(b, "GGTT port on a card that has GSM"));
		assert_int_equal(rd(b, offset), 0);
	}
	assert_int_equal(rd(b, GGTT_SYNC), 0);
	assert_int_equal(rd(b, GGTT_COMMITS), 0);
	assert_int_equal(b->gsm[0], 0);
	assert_int_equal(b->gsm[1], 0);
	forget_events(b);
	wr(b, GGTT_SYNC, 0);
	assert_true(hinted(b, "a write to a read-only register is ignored"));
	bench_free(b);
}

/* ---- Its CRC ------------------------------------------------------------------------ */

static void test_crc(void **state)
{
	struct bench *b = set_up_gsm(), *port = set_up_port();
	const uint64_t entries[2] = { IN_VRAM, IN_RAM };
	uint32_t crc;

	(void)state;
	b->gsm[FIRST] = entries[0];
	b->gsm[FIRST + 1] = entries[1];
	assert_int_equal(agate_sim_crc_ggtt(b->sim, FIRST, 2, &crc), 0);
	assert_int_equal(crc, crc_slowly((const uint8_t *)entries, sizeof(entries)));
	/* A pending commit is not in the table. */
	wr(port, GGTT_PTE_INDEX, FIRST);
	commit(port, entries[0]);
	commit(port, entries[1]);
	assert_int_equal(agate_sim_crc_ggtt(port->sim, FIRST, 2, &crc), 0);
	assert_int_equal(crc, crc_slowly((const uint8_t[16]){ 0 }, 16));
	rd(port, GGTT_SYNC);
	assert_int_equal(agate_sim_crc_ggtt(port->sim, FIRST, 2, &crc), 0);
	assert_int_equal(crc, crc_slowly((const uint8_t *)entries, sizeof(entries)));
	assert_int_equal(agate_sim_crc_ggtt(b->sim, 0, 65536, &crc), 0);
	assert_int_equal(agate_sim_crc_ggtt(b->sim, 65536, 0, &crc), 0);
	assert_int_equal(agate_sim_crc_ggtt(b->sim, 65535, 2, &crc), -1);
	assert_int_equal(agate_sim_crc_ggtt(b->sim, UINT32_MAX, 2, &crc), -1);
	bench_free(port);
	bench_free(b);
	b = bench_new();
	assert_int_equal(agate_sim_crc_ggtt(b->sim, 0, 0, &crc), -1);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_port),
		cmocka_unit_test(test_pending_commits),
		cmocka_unit_test(test_commits_are_dropped),
		cmocka_unit_test(test_commits_beyond_the_end),
		cmocka_unit_test(test_the_port_forgets),
		cmocka_unit_test(test_a_write_of_sync),
		cmocka_unit_test(test_no_port),
		cmocka_unit_test(test_crc),
	};

	return cmocka_run_group_tests_name("sim-ggtt_port", tests, NULL, NULL);
}
