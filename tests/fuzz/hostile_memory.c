// SPDX-License-Identifier: MIT
/*
 * The hostile guest's memory, a driver's structures in it, and the numbers of an
 * input that refer to it; see hostile_guest.h.
 */
#include "hostile_guest.h"

#include <sanitizer/asan_interface.h>

/* Bytes between the pages of RAM that nobody may touch. */
#define GAP		64u

static uint8_t ram[GUEST_PAGES * (GUEST_PAGE + GAP)];

void guest_clear_ram(void)
{
	unsigned int page;

	for (page = 0; page < GUEST_PAGES; page++) {
		uint8_t *at = ram + page * (GUEST_PAGE + GAP);

		memset(at, 0, GUEST_PAGE);
		ASAN_POISON_MEMORY_REGION(at + GUEST_PAGE, GAP);
	}
}

uint8_t *guest_ram(uint64_t pa, size_t len)
{
	uint64_t page = (pa - GUEST_RAM) / GUEST_PAGE;

	REQUIRE(len > 0 && len <= GUEST_PAGE);
	REQUIRE(pa / GUEST_PAGE == (pa + len - 1) / GUEST_PAGE);
	if (pa < GUEST_RAM || page >= GUEST_PAGES)
		return NULL;
	return ram + page * (GUEST_PAGE + GAP) + pa % GUEST_PAGE;
}

static uint64_t va_to_pa(uint64_t va)
{
	REQUIRE(va >= GUEST_VA && va < GUEST_VA_END);
	return GUEST_RAM + GUEST_DATA * GUEST_PAGE + (va - GUEST_VA);
}

void guest_put(uint64_t va, const void *from, size_t len)
{
	const uint8_t *bytes = from;

	while (len) {
		size_t n = GUEST_PAGE - va % GUEST_PAGE;

		n = n < len ? n : len;
		memcpy(guest_ram(va_to_pa(va), n), bytes, n);
		va += n;
		bytes += n;
		len -= n;
	}
}

void guest_get(uint64_t va, void *to, size_t len)
{
	uint8_t *bytes = to;

	while (len) {
		size_t n = GUEST_PAGE - va % GUEST_PAGE;

		n = n < len ? n : len;
		memcpy(bytes, guest_ram(va_to_pa(va), n), n);
		va += n;
		bytes += n;
		len -= n;
	}
}

void guest_set_entry(unsigned int table, unsigned int index, uint64_t entry)
{
	uint64_t pa = GUEST_RAM + (uint64_t)table * GUEST_PAGE + index * sizeof(entry);

	memcpy(guest_ram(pa, sizeof(entry)), &entry, sizeof(entry));
}

void guest_map(struct guest *g, unsigned int n, enum guest_access access)
{
	uint64_t entry = GUEST_RAM + (GUEST_DATA + n) * GUEST_PAGE;

	if (g->aarch64)
		entry |= AARCH64_TYPE_PAGE | AARCH64_AF |
			 (access == GUEST_WRITE ? AARCH64_AP_RW : AARCH64_AP_RO);
	else
		entry |= LPAE_TYPE_LEAF | LPAE_RD | (access == GUEST_WRITE ? LPAE_WR : 0);
	guest_set_entry(3, n, access == GUEST_NONE ? 0 : entry);
}

/* GUEST_VA is entry 1 of level 0, 2 of level 1, 3 of level 2. */
void guest_put_tables(struct guest *g)
{
	unsigned int level, n;

	for (level = 0; level < 3; level++)
		guest_set_entry(level, level + 1, (GUEST_RAM + (level + 1) * GUEST_PAGE) |
				LPAE_TYPE_TABLE);
	for (n = 0; n < GUEST_MAPPED; n++)
		guest_map(g, n, GUEST_WRITE);
}

void put_header(uint64_t va, unsigned int type, uint64_t next)
{
	struct agate_job_header header = {
		.control = AGATE_JOB_64BIT | AGATE_JOB_TYPE(type),
		.next = next,
	};

	guest_put(va, &header, sizeof(header));
}

void guest_check_unmapped(void)
{
	static const uint8_t zeroes[GUEST_PAGE];
	unsigned int page;

	for (page = 4; page < GUEST_PAGES; page++)
		if (page < GUEST_DATA || page >= GUEST_DATA + GUEST_MAPPED)
			REQUIRE(!memcmp(ram + page * (GUEST_PAGE + GAP), zeroes, GUEST_PAGE));
}

/* ---- What the input says ---- */

/* Mostly a mapped address; else one next to it, at an edge, or anywhere. */
uint64_t take_va(struct input *in)
{
	static const uint64_t edge[] = {
		0, GUEST_VA - GUEST_PAGE, 1ull << 32, 1ull << 39, 1ull << 47,
		(1ull << 48) - GUEST_PAGE, 1ull << 48, ~0ull - GUEST_PAGE + 1,
	};
	unsigned int kind = take8(in);

	if (kind < 0xe0)
		return GUEST_VA + kind % (GUEST_MAPPED + 4) * GUEST_PAGE +
		       take16(in) % GUEST_PAGE;
	if (kind < 0xf0)
		return edge[kind % 8] + take16(in) % GUEST_PAGE;
	return take64(in);
}

/* Mostly some pages, often some bytes, sometimes any number. */
uint64_t take_size(struct input *in)
{
	unsigned int kind = take8(in);

	if (kind < 0x60)
		return kind;
	if (kind < 0xf0)
		return take16(in) % (8 * GUEST_PAGE);
	return take64(in);
}
