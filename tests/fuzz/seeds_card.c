// SPDX-License-Identifier: MIT
/*
 * Inputs for the card's mover, scanout and firmware.
 */
#include "actions.h"
#include "agate_card.h"
#include "agate_job.h"
#include "seeds.h"

#define SRC(mode)	(mode)
#define DST(mode)	((mode) << 2)

/* Page of the data, and 64 bytes in it. */
static void at(unsigned int page, unsigned int line)
{
	p8(page);
	p8(line);
}

static void cmd(unsigned int action, unsigned int op, unsigned int modes, unsigned int seqno)
{
	p8(action);
	p8(op);
	p8(modes);
	p8(seqno);
}

static void copy(unsigned int modes, unsigned int src, unsigned int dst, unsigned int length)
{
	cmd(MOVER_ACT_CHECKED, AGATE_MOVER_COPY, modes, 3);
	at(src, 1);
	at(dst, 2);
	p8(length);
}

static void fill(unsigned int action, unsigned int modes, unsigned int dst, unsigned int length)
{
	cmd(action, AGATE_MOVER_FILL, modes, 9);
	at(0, 0);
	at(dst, 0);
	p8(length);
}

static void fence(unsigned int action, unsigned int seqno)
{
	cmd(action, AGATE_MOVER_FENCE, 0x80, seqno);
	at(0, 0);
	at(0, 0);
	p8(0);
}

static void store(unsigned int modes, unsigned int src, unsigned int dst, unsigned int length)
{
	cmd(MOVER_ACT_CHECKED, AGATE_MOVER_STORE, modes, 1);
	at(src, 3);
	at(dst, 5);
	p8(length);
}

static void list(unsigned int first, unsigned int count, unsigned int stride, unsigned int kind)
{
	p8(MOVER_ACT_LIST);
	p16(first);
	p8(count);
	p8(stride);
	p8(kind);
}

static void work(unsigned int units)
{
	p8(MOVER_ACT_WORK);
	p8(units);
}

static void mover_seeds(void)
{
	p8(KIND_MIDGARD);
	fill(MOVER_ACT_CHECKED, DST(AGATE_MOVER_PHYS), 0, 200);
	copy(SRC(AGATE_MOVER_PHYS) | DST(AGATE_MOVER_GGTT), 0, 9, 100);
	copy(SRC(AGATE_MOVER_GGTT) | DST(AGATE_MOVER_PHYS), 9, 20, 239);
	copy(SRC(AGATE_MOVER_PHYS) | DST(AGATE_MOVER_PHYS), 9, 0xc1, 100);
	copy(SRC(AGATE_MOVER_PHYS) | DST(AGATE_MOVER_PHYS), 0xc1, 3, 100);
	store(SRC(AGATE_MOVER_GGTT), 9, 25, 80);
	fence(MOVER_ACT_CHECKED, 7);
	p8(MOVER_ACT_INTERRUPTS);
	save("mover", "each-command");

	p8(KIND_MIDGARD | KIND_DIRECT);
	list(0, 32, 1, 0);
	list(512, 32, 1, 32);
	fill(MOVER_ACT_CHECKED, DST(AGATE_MOVER_PAGES), 0, 3);
	copy(SRC(AGATE_MOVER_PAGES) | DST(AGATE_MOVER_PHYS), 0, 20, 7);
	copy(SRC(AGATE_MOVER_PAGES) | DST(AGATE_MOVER_PAGES), 0, 1, 3);
	save("mover", "lists");

	p8(KIND_MIDGARD);
	fill(MOVER_ACT_QUEUE, DST(AGATE_MOVER_PHYS), 0, 200);
	fence(MOVER_ACT_QUEUE, 1);
	work(1);
	p8(MOVER_ACT_RESET);
	work(15);
	cmd(MOVER_ACT_QUEUE, 5, 0, 0);
	at(0, 0);
	at(0, 0);
	p8(0);
	work(15);
	p8(MOVER_ACT_INTERRUPTS);
	p8(MOVER_ACT_MEND);
	fence(MOVER_ACT_CHECKED, 2);
	p8(MOVER_ACT_RING);
	p8(200);
	p8(MOVER_ACT_MEND);
	p8(MOVER_ACT_CONTEXT);
	p16(0x5504);
	fence(MOVER_ACT_QUEUE, 3);
	work(15);
	p8(MOVER_ACT_MEND);
	fence(MOVER_ACT_CHECKED, 4);
	save("mover", "faults");

	p8(KIND_MIDGARD);
	p8(MOVER_ACT_ENTRY);
	p8(0xc0);
	p8(20);
	fill(MOVER_ACT_QUEUE, DST(AGATE_MOVER_GGTT), 12, 200);
	work(15);
	p8(MOVER_ACT_INVALIDATE);
	p8(MOVER_ACT_MEND);
	p8(MOVER_ACT_INJECT);
	p8(0);
	p8(0);
	p8(4);
	fence(MOVER_ACT_QUEUE, 3);
	work(15);
	p8(MOVER_ACT_POWER);
	p8(0);
	p8(MOVER_ACT_POWER);
	p8(1);
	p8(MOVER_ACT_FIRMWARE);
	p8(0x80);
	fence(MOVER_ACT_CHECKED, 4);
	save("mover", "entries-and-power");

	/* A job's turns come between those of a long command. */
	p8(KIND_MIDGARD);
	p8(MOVER_ACT_COMPUTE);
	p8(0);			/* header: place 0, no next */
	p8(0);
	p8(AGATE_COMPUTE_FILL);
	va(0x2000);
	size(0x3000);
	p8(5);
	p8(MOVER_ACT_START);
	p8(1);
	p8(0);
	p8(0);
	fill(MOVER_ACT_QUEUE, DST(AGATE_MOVER_PHYS), 24, 240);
	fill(MOVER_ACT_QUEUE, DST(AGATE_MOVER_GGTT), 24, 240);
	work(15);
	save("mover", "beside-a-job");

	p8(KIND_MIDGARD);
	p8(MOVER_ACT_FLIP);
	p8(3);
	at(0, 0);
	p8(20);
	p8(20);
	p8(4);
	work(15);
	p8(MOVER_ACT_INTERRUPTS);
	p8(MOVER_ACT_FLIP);
	p8(4);
	at(3, 1);
	p8(10);
	p8(100);
	p8(8);
	p8(MOVER_ACT_FLIP);
	p8(0xff);
	p8(0xff);
	p8(0);
	p64(~0ull);
	p32(0x10001000);
	p32(0x4000);
	work(15);
	save("mover", "flips");
}

/* One START with breaks: each a kind, a number's kind and what else they take. */
static void start(unsigned int breaks, unsigned int payload)
{
	p8(breaks);
	p8(0x5a);
	p16(payload);
}

static void firmware_seeds(void)
{
	p8(KIND_MIDGARD);
	start(0, 1000);
	start(0, 0);
	start(1, 100);
	p8(0);		/* a byte of the header */
	p8(0);
	p16(0);
	p8(1);
	start(1, 100);
	p8(1);		/* a byte of the payload */
	p8(0);
	p16(40);
	p8(1);
	save("firmware", "good-and-broken");

	p8(KIND_MIDGARD);
	start(1, 100);
	p8(3 + 8 * 3);	/* ring_order */
	p8(0xff);
	p32(5);
	start(1, 100);
	p8(4);		/* FW_BASE */
	p8(0x40);
	start(1, 100);
	p8(5);		/* reserved_bytes */
	p8(0xff);
	p32(0x801000);
	start(1, 4000);
	p8(7);		/* an entry */
	p8(0);
	save("firmware", "fields");

	p8(KIND_MIDGARD);
	start(2, 100);
	p8(6);		/* a size of several pages */
	p8(0xff);
	p32(9000);
	p8(7 + 8);
	p8(0);
	start(1, 100);
	p8(2);		/* a byte of the ADS */
	p8(0);
	p16(20);
	p8(0xff);
	save("firmware", "sizes");

	p8(KIND_MIDGARD);
	start(1, 100);
	p8(0x97);	/* the entry of the blob: VRAM */
	p8(0);
	p64(AGATE_GGTT_PRESENT | AGATE_GGTT_VRAM);
	start(1, 100);
	p8(0x97);	/* VRAM that no CPU sees, and VRAM that is not there */
	p8(0);
	p64(AGATE_GGTT_PRESENT | AGATE_GGTT_VRAM | 0x5000);
	start(1, 100);
	p8(0x97);
	p8(0);
	p64(AGATE_GGTT_PRESENT | AGATE_GGTT_VRAM | 0x40000);
	save("firmware", "vram");
}

void card_seeds(void)
{
	mover_seeds();
	firmware_seeds();
}
