// SPDX-License-Identifier: MIT
/*
 * Inputs for the range allocator, see fuzz_range.c.
 */
#include "seeds.h"

/* The kind of an insert: its mode, and which bounds it has. */
#define FIRST	0x40
#define LAST	0x80

static void insert(unsigned int node, unsigned int kind, unsigned int bytes, unsigned int shift)
{
	p8(node);
	p8(kind);
	p8(bytes);
	p8(shift);
}

static void reserve(unsigned int node, uint16_t offset, unsigned int bytes)
{
	p8(0x80 | node);
	p16(offset);
	p8(bytes);
}

/* Fill a space from both ends, open holes, and fill them in every mode. */
static void fragments(unsigned int space, const char *name)
{
	unsigned int i;

	p8(space);
	for (i = 0; i < 30; i++)
		insert(i, i % 3, 20 + i % 3, 0);
	for (i = 0; i < 30; i += 2)
		p8(i);				/* remove */
	for (i = 0; i < 30; i += 2)
		insert(i, i % 3, 5 + i % 9, i % 4);
	for (i = 0; i < 30; i += 3)
		p8(i);
	save("range", name);
}

static void bounds(void)
{
	unsigned int i;

	p8(1);
	for (i = 0; i < 12; i++) {
		insert(i, FIRST | LAST | i % 4, 9, i % 5);
		p16(40 * i);
		p16(40 * i + 30);
	}
	insert(12, FIRST, 250, 63);
	p16(0);
	insert(13, LAST, 0, 0);
	p16(100);
	save("range", "bounds");
}

static void reserved(void)
{
	unsigned int i;

	p8(2);
	for (i = 0; i < 20; i++)
		reserve(i, 37 * i, 30);
	reserve(20, 590, 20);
	reserve(21, 5, 0);
	reserve(22, 700, 1);
	reserve(23, 0, 0xff);			/* 64 bits follow */
	p64(~0ull);
	for (i = 0; i < 20; i++)
		p8(i * 7 % 20);
	save("range", "reserved");
}

void range_seeds(void)
{
	fragments(0, "fragments");
	fragments(2, "fragments-at-the-top");
	bounds();
	reserved();
}
