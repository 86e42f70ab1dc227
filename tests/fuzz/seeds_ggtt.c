// SPDX-License-Identifier: MIT
/*
 * Inputs for the GGTT: entries in GSM and through the port, groups, uses, losses.
 */
#include "actions.h"
#include "seeds.h"

enum { IN_RAM = 0, IN_VRAM = 0x40, NOWHERE = 0x81, ANY = 0xc0 };

/* Entry n of the first usable ones: page of RAM, or of VRAM. */
static void entry(unsigned int n, unsigned int kind, unsigned int page)
{
	p8(GGTT_ACT_ENTRY);
	p8(n);
	p8(kind);
	if (kind != NOWHERE)
		p8(page);
}

static void use(unsigned int n, unsigned int vf)
{
	p8(GGTT_ACT_USE);
	p16(64);
	p8(7);
	p8(n);
	p8(vf);
	p64(0x1122334455667788);
}

static void group(unsigned int page)
{
	p8(GGTT_ACT_GROUP);
	p8(0);
	p8(IN_VRAM);
	p8(page);
	p8(0);
}

static void entries(unsigned int kind, const char *name)
{
	p8(kind);
	entry(0, IN_RAM, 20);
	entry(1, IN_VRAM, 2);
	entry(2, IN_VRAM, 70);
	p8(GGTT_ACT_INVALIDATE);
	use(0, 0);
	use(1, 0);
	use(2, 0);
	use(1, 0xc1);
	entry(0, NOWHERE, 0);
	use(0, 0);
	p8(GGTT_ACT_SYNC);
	use(0, 0);
	p8(GGTT_ACT_INVALIDATE);
	use(0, 0);
	p8(GGTT_ACT_USABLE);
	p8(1);
	use(0xff, 0);
	save("ggtt", name);
}

static void groups(void)
{
	p8(KIND_MIDGARD | KIND_GGTT_64K);
	group(0);
	use(5, 0);
	p8(GGTT_ACT_INVALIDATE);
	group(16);
	use(5, 0);
	entry(3, IN_RAM, 9);
	p8(GGTT_ACT_INVALIDATE);
	use(5, 0);
	use(3, 0);
	save("ggtt", "groups");
}

static void too_many_commits(void)
{
	unsigned int i;

	p8(KIND_BIFROST);
	for (i = 0; i < 70; i++)
		entry(i % 32, IN_VRAM, i % 16);
	p8(GGTT_ACT_SYNC);
	use(3, 0);
	save("ggtt", "too-many-commits");
}

static void power(unsigned int kind, const char *name)
{
	p8(kind);
	entry(0, IN_VRAM, 0);
	use(0, 0);
	p8(GGTT_ACT_POWER);
	p8(0);
	entry(0, IN_VRAM, 0);
	use(0, 0);
	p8(GGTT_ACT_POWER);
	p8(1);
	use(0, 0);
	p8(GGTT_ACT_POWER);
	p8(3);
	p8(GGTT_ACT_REGISTER);
	p8(4);
	p8(3);
	p8(GGTT_ACT_POWER);
	p8(2);
	entry(0, IN_VRAM, 0);
	p8(GGTT_ACT_INVALIDATE);
	use(0, 0);
	save("ggtt", name);
}

/* A job that copies into VRAM, and loses it. */
static void job(void)
{
	unsigned int i;

	p8(KIND_MIDGARD | KIND_NONE);
	for (i = 0; i < 2; i++) {
		p8(GGTT_ACT_PT_ENTRY);
		p8(3);			/* the last level: page 3 is VRAM */
		p16(3);
		p8(0x82);
		p16(0x0c1);
		p8(GGTT_ACT_COMPUTE);
		p8(0);			/* header: place 0, no next */
		p8(0);
		p8(1);
		va(0x3000);
		size(0x40);
		p8(0x33);
		p8(GGTT_ACT_START);
		p8(1);
		p8(0);
		p8(0);
		p8(GGTT_ACT_STEP);
		p8(20);
		p8(GGTT_ACT_POWER);
		p8(0);
	}
	save("ggtt", "job");
}

void ggtt_seeds(void)
{
	entries(KIND_MIDGARD, "gsm");
	entries(KIND_BIFROST, "port");
	groups();
	too_many_commits();
	power(KIND_MIDGARD, "power-gsm");
	power(KIND_BIFROST, "power-port");
	job();
}
