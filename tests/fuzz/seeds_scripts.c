// SPDX-License-Identifier: MIT
/*
 * Inputs that are scripts: job chains, page tables, the access queue.
 */
#include "actions.h"
#include "agate_bar2.h"
#include "agate_job.h"
#include "agate_regs.h"
#include "seeds.h"

/* ---- chain: and the two others that are scripts ---- */

enum { FLAG_NEXT = 4, FLAG_DEPENDS = 0x10 };

static void header(unsigned int op, unsigned int type, unsigned int place, int next)
{
	p8(op);
	p8(type);
	p8(place);
	p8(next < 0 ? 0 : FLAG_NEXT);
	if (next >= 0)
		p8(next);
}

static void write_value(unsigned int op, unsigned int place, int next, uint32_t to)
{
	p8(op);
	p8(place);
	p8(next < 0 ? 0 : FLAG_NEXT);
	if (next >= 0)
		p8(next);
	p8(AGATE_WRITE_IMMEDIATE_64);
	va(to);
	p64(0x600d600d);
}

static void start(unsigned int op, unsigned int slot, unsigned int place)
{
	p8(op);
	p8(slot);
	p8(place);
	p8(0);
}

static void two(unsigned int op, unsigned int value)
{
	p8(op);
	p8(value);
}

static void reg_write(uint32_t reg, uint32_t value)
{
	p8(CHAIN_WRITE);
	p8(0);
	p8(0);
	p32(reg);
	p8(0);
	p32(value);
}

static void copy_job(unsigned int place, uint32_t dst, uint32_t src, uint32_t bytes)
{
	p8(CHAIN_COMPUTE);
	p8(place);
	p8(0);
	p8(AGATE_COMPUTE_COPY);
	va(dst);
	size(bytes);
	va(src);
}

void chain_seeds(void)
{
	p8(KIND_MIDGARD | KIND_DIRECT);
	header(CHAIN_HEADER, AGATE_JOB_NULL, 0, 1);
	write_value(CHAIN_WRITE_VALUE, 1, 2, 0x1000);
	header(CHAIN_HEADER, AGATE_JOB_CACHE_FLUSH, 2, -1);
	start(CHAIN_START, 0, 0);
	two(CHAIN_STEP, 20);
	p8(CHAIN_INTERRUPTS);
	save("chain", "three-jobs");

	p8(KIND_AARCH64 | KIND_NONE);
	copy_job(0, 0x3800, 0x1234, 0x2100);
	write_value(CHAIN_WRITE_VALUE, 4, -1, 0x2ff8);
	start(CHAIN_START, 1, 0);
	start(CHAIN_START, 1, 4);
	start(CHAIN_START, 2, 4);
	two(CHAIN_STEP, 60);
	p8(CHAIN_INTERRUPTS);
	save("chain", "copy-and-queue");

	p8(KIND_MIDGARD | KIND_ACE_LITE);
	write_value(CHAIN_WRITE_VALUE, 0, 1, 0x5000);
	header(CHAIN_HEADER, AGATE_JOB_NULL, 1, 0);
	start(CHAIN_START, 0, 0);
	two(CHAIN_STEP, 40);
	two(CHAIN_STOP, JS_COMMAND_SOFT_STOP << 2);
	two(CHAIN_STEP, 10);
	start(CHAIN_START, 0, 1);
	two(CHAIN_STEP, 10);
	two(CHAIN_STOP, JS_COMMAND_HARD_STOP << 2);
	p8(CHAIN_INTERRUPTS);
	save("chain", "circle-stopped");

	p8(KIND_BIFROST);
	copy_job(0, 0x8000, 0x1000, 0x4000);
	start(CHAIN_START, 2, 0);
	two(CHAIN_STEP, 2);
	two(CHAIN_GPU_COMMAND, GPU_CMD_SOFT_RESET);
	two(CHAIN_GPU_COMMAND, GPU_CMD_HARD_RESET);
	two(CHAIN_STEP, 4);
	save("chain", "reset-in-mid-job");

	/*
	 * Registers that are read-only, unknown, unaligned; power switched off
	 * while a job runs.
	 */
	p8(KIND_MIDGARD | KIND_NONE);
	copy_job(0, 0x8000, 0x1000, 0x4000);
	start(CHAIN_START, 1, 0);
	two(CHAIN_STEP, 2);
	reg_write(GPU_ID, 1);
	reg_write(0x3003, 1);
	reg_write(GPU_L2_PWROFF_LO, 1);
	p8(CHAIN_READ);
	p8(0);
	p8(0);
	p32(0xfffffffd);
	two(CHAIN_STEP, 80);
	reg_write(AGATE_POWER_IN, 0);
	reg_write(AGATE_CLK_SELECT, 1);
	p8(CHAIN_INTERRUPTS);
	save("chain", "registers");

	/*
	 * Counters dumped while a job runs, to an unmapped page, and to an address
	 * without memory.
	 */
	p8(KIND_MIDGARD | KIND_NONE);
	copy_job(0, 0x8000, 0x1000, 0x4000);
	start(CHAIN_START, 1, 0);
	two(CHAIN_DUMP, 0);
	va(0x10000);
	two(CHAIN_STEP, 40);
	p8(CHAIN_ENTRY);
	p8(3);
	p16(0x11);
	p8(0xc0);
	p16(0);
	p64(0);
	two(CHAIN_AS_COMMAND, 0);
	p8(0x80 | AS_COMMAND_UPDATE);
	two(CHAIN_DUMP, 0);
	va(0x11800);
	two(CHAIN_STEP, 40);
	p8(CHAIN_SERVE);
	two(CHAIN_STEP, 40);
	two(CHAIN_DUMP, 0x10);
	p8(0xe0);
	p16(0x40);
	two(CHAIN_STEP, 40);
	p8(CHAIN_INTERRUPTS);
	save("chain", "counters");

	/*
	 * A list that ends before the memory that a copy touches, then a list that
	 * is too long.
	 */
	p8(KIND_MIDGARD | KIND_DIRECT);
	copy_job(0, 0x8000, 0x1000, 0x4000);
	two(CHAIN_LIST, 1);
	p8(3);
	start(CHAIN_START, 1, 0);
	two(CHAIN_STEP, 40);
	two(CHAIN_LIST, 0x18 | 1);
	p8(AGATE_LISTED_RANGES + 1);
	start(CHAIN_START, 1, 0);
	two(CHAIN_STEP, 40);
	two(CHAIN_LIST, 0x80 | 1);
	p8(2);
	va(0x1000);
	size(4);
	va(0x3000);
	size(0x8000 - 0x100);
	start(CHAIN_START, 1, 0);
	two(CHAIN_STEP, 40);
	p8(CHAIN_INTERRUPTS);
	save("chain", "lists");

	/* Jobs that wait for a fault, and a job whose table is gone. */
	p8(KIND_MIDGARD);
	p8(CHAIN_ENTRY);
	p8(3);
	p16(2);
	p8(0x40);
	p16(0);
	two(CHAIN_AS_COMMAND, 0);
	p8(0x80 | AS_COMMAND_UPDATE);
	copy_job(0, 0x1f00, 0x3000, 0x1200);
	start(CHAIN_START, 1, 0);
	two(CHAIN_STEP, 10);
	p8(CHAIN_SERVE);
	two(CHAIN_STEP, 10);
	p8(CHAIN_INTERRUPTS);
	save("chain", "fault-served");

	p8(KIND_MIDGARD);
	p8(CHAIN_HEADER);
	p8(AGATE_JOB_NULL);
	p8(0);
	p8(FLAG_NEXT | FLAG_DEPENDS);
	p8(1);
	p8(1);
	p8(0);
	p8(0);
	p8(CHAIN_HEADER);
	p8(AGATE_JOB_WRITE_VALUE);
	p8(1);
	p8(FLAG_DEPENDS);
	p8(2);
	p8(1);
	p8(3);
	start(CHAIN_START, 0, 0);
	two(CHAIN_STEP, 20);
	p8(CHAIN_INTERRUPTS);
	save("chain", "dependencies");
}

/* ---- tables ---- */

enum { ENTRY_LEAF = 0x40, ENTRY_VRAM = 0x80, ENTRY_ANY = 0xc0 };

static void entry(unsigned int table, unsigned int index, unsigned int kind, uint16_t bits)
{
	p8(TABLES_ENTRY);
	p8(table);
	p16(index);
	p8(kind);
	p16(bits);
}

/* A whole FILL job: the header's page, the range, the slot. */
static void fill_job(uint32_t to, uint32_t bytes)
{
	p8(TABLES_FILL);
	p8(0);
	va(to);
	size(bytes);
	p8(0);
}

static void lock_and_flush(uint32_t at)
{
	p8(TABLES_LOCK);
	p8(0);
	va(at);
	p8(AS_LOCK_MIN_ORDER - 1);
	/* A NOP, to wait for the LOCK. */
	p8(TABLES_AS_COMMAND);
	p8(0);
	p8(0x80 | AS_COMMAND_NOP);
	p8(TABLES_AS_COMMAND);
	p8(0);
	p8(0x80 | AS_COMMAND_FLUSH_PT);
}

static void tables_of(unsigned int kind, uint16_t read_only, const char *name)
{
	p8(kind);
	fill_job(0x1000, 0x3000);
	two(TABLES_STEP, 8);
	entry(3, 2, ENTRY_LEAF | 10, read_only);
	lock_and_flush(0x2000);
	fill_job(0x1800, 0x1800);
	two(TABLES_STEP, 8);
	p8(TABLES_SERVE);
	two(TABLES_STEP, 8);
	p8(TABLES_INTERRUPTS);
	save("tables", name);
}

void tables_seeds(void)
{
	tables_of(KIND_MIDGARD, LPAE_RD | LPAE_TYPE_LEAF, "lpae");
	tables_of(KIND_AARCH64 | KIND_DIRECT, AARCH64_AP_RO | AARCH64_AF | AARCH64_TYPE_PAGE,
		  "aarch64");
	tables_of(KIND_AARCH64 | KIND_NONE, AARCH64_AP_RW | AARCH64_TYPE_PAGE, "access-flag");

	/* A block in place of a table, a table that maps itself, VRAM. */
	p8(KIND_MIDGARD | KIND_NONE);
	entry(2, 4, ENTRY_LEAF | 0, LPAE_TYPE_LEAF | LPAE_RD | LPAE_WR);
	entry(3, 3, ENTRY_VRAM | 1, LPAE_TYPE_LEAF | LPAE_RD | LPAE_WR);
	entry(3, 4, 3, 0);
	fill_job(0x2800, 0x1800);
	two(TABLES_STEP, 16);
	p8(TABLES_UPDATE);
	p8(0);
	p8(AS_TRANSTAB_LPAE_ADRMODE_IDENTITY << 3);
	two(TABLES_STEP, 16);
	p8(TABLES_REVIVE);
	two(TABLES_STEP, 16);
	p8(TABLES_INTERRUPTS);
	save("tables", "blocks-and-vram");

	/* A job waits for a fault, and then its table disappears. */
	p8(KIND_MIDGARD);
	entry(3, 1, ENTRY_ANY, 0);
	p64(0);
	fill_job(0x1000, 0x100);
	two(TABLES_STEP, 4);
	p8(TABLES_UPDATE);
	p8(0);
	p8(0);
	two(TABLES_STEP, 16);
	p8(TABLES_INTERRUPTS);
	save("tables", "unmapped-under-a-job");

	/* An entry with an address above 40 bits; another root; UNLOCK without LOCK. */
	p8(KIND_AARCH64);
	entry(3, 1, ENTRY_ANY, 0);
	p64(0x0000ff0000000443ull | AARCH64_TYPE_PAGE);
	fill_job(0x1000, 0x100);
	two(TABLES_STEP, 4);
	p8(TABLES_AS_COMMAND);
	p8(0);
	p8(0x80 | AS_COMMAND_UNLOCK);
	p8(TABLES_UPDATE);
	p8(0);
	p8(0x40 | 1);
	p8(3);
	p64(0xc04c8d888d8f88ull);
	p8(16);
	two(TABLES_STEP, 16);
	p8(TABLES_STOP);
	p8(1 | JS_COMMAND_HARD_STOP << 2);
	two(TABLES_STEP, 4);
	save("tables", "wide-address");
}

/* ---- queue ---- */

static void access_raw(uint32_t op, uint32_t reg, uint32_t value, uint32_t seq)
{
	p8(QUEUE_ACCESS);
	p8(0xf0);
	p32(op);
	p32(reg);
	p32(value);
	p32(seq);
}

static void header_field(size_t offset, uint32_t value)
{
	p8(offset / 4);
	p8(0xc0);
	p32(value);
}

#define HEADER_FIELD(field, value)	\
	header_field(offsetof(struct agate_bar2_header, field), value)

void queue_seeds(void)
{
	p8(0);
	p8(KIND_MIDGARD);
	access_raw(AGATE_BAR2_READ, GPU_ID, 0, 1);
	access_raw(AGATE_BAR2_WRITE, GPU_INT_MASK, 0, 0);
	access_raw(AGATE_BAR2_READ, GPU_INT_STAT, 0, 2);
	two(QUEUE_RUN, 8);
	p8(QUEUE_DOZE);
	save("queue", "accesses");

	/* A job through the queue alone. */
	p8(0);
	p8(KIND_BIFROST | KIND_DIRECT);
	write_value(QUEUE_WRITE_VALUE, 0, -1, 0x2000);
	access_raw(AGATE_BAR2_WRITE, JS_HEAD_NEXT_LO(0), 0x80600000, 0);
	access_raw(AGATE_BAR2_WRITE, JS_HEAD_NEXT_HI(0), 0x80, 0);
	access_raw(AGATE_BAR2_WRITE, JS_AFFINITY_NEXT_LO(0), 3, 0);
	access_raw(AGATE_BAR2_WRITE, JS_COMMAND_NEXT(0), JS_COMMAND_START, 0);
	two(QUEUE_RUN, 3);
	two(QUEUE_RUN, 3);
	two(QUEUE_STEP, 10);
	access_raw(AGATE_BAR2_READ, JOB_INT_RAWSTAT, 0, 3);
	two(QUEUE_RUN, 3);
	save("queue", "job");

	/* A tail too far ahead, one that went back, an entry of no kind, noise in the header. */
	p8(0);
	p8(KIND_MIDGARD | KIND_NONE);
	access_raw(3, 0, 0, 0);
	access_raw(AGATE_BAR2_READ, 3, 0, ~0u);
	two(QUEUE_RUN, 0);
	two(QUEUE_MOVE_TAIL, 0x7f);
	two(QUEUE_MOVE_TAIL, 0x7f);
	two(QUEUE_RUN, 255);
	two(QUEUE_MOVE_TAIL, 0x3c);
	two(QUEUE_RUN, 9);
	two(QUEUE_MOVE_TAIL, 0x80);
	p32(0xfffffff0);
	two(QUEUE_RUN, 255);
	p8(QUEUE_SCRIBBLE);
	p16(28);
	p8(7);
	p64(0x7fffffff7fffffffull);
	access_raw(AGATE_BAR2_READ, AGATE_COUNTER_LO(3), 0, 7);
	two(QUEUE_RUN, 3);
	save("queue", "tails");

	/* A longer queue, at another place, and one that overlaps VRAM. */
	p8(3);
	HEADER_FIELD(queue_len, 256);
	HEADER_FIELD(vram_offset, 0);
	HEADER_FIELD(ctrl_offset, 0x40);
	p8(KIND_MIDGARD);
	access_raw(AGATE_BAR2_READ, GPU_ID, 0, 1);
	two(QUEUE_RUN, 8);
	save("queue", "header-moved");

	p8(1);
	HEADER_FIELD(queue_offset, 0xfffffff0);
	save("queue", "header-outside");

	p8(1);
	HEADER_FIELD(queue_len, 0x10000);
	p8(KIND_MIDGARD);
	two(QUEUE_MOVE_TAIL, 0x7f);
	two(QUEUE_RUN, 255);
	save("queue", "header-long");

	p8(0);
	p8(KIND_MIDGARD);
	p8(QUEUE_TOUCH_RAM);
	p8(0);
	p16(7);
	p16(0x1ffc);
	p8(QUEUE_TOUCH_RAM);
	p8(0x80);
	p16(0xfff);
	p16(1);
	p8(QUEUE_TOUCH_RAM);
	p8(0xc0);
	p16(8);
	p64(0xfffffffffffffff8ull);
	save("queue", "ram");
}
