// SPDX-License-Identifier: MIT
/*
 * A step takes eight bytes, each with a table of its own, because the CRC of several bytes is
 * the exclusive or of the CRCs of each.  A step still has to wait for the one before, so
 * four lanes step side by side over four neighbouring parts of the data; in the end each
 * lane's CRC is moved past the bytes of the lane behind it and combined with that lane's.
 */
#include "crc32.h"

#include <string.h>

#define POLYNOMIAL	0xedb88320u	/* IEEE 802.3's, bits reversed */

static uint32_t crc_byte(const struct crc32 *tables, uint32_t crc, uint8_t byte)
{
	return crc >> 8 ^ tables->step[0][(crc ^ byte) & 0xff];
}

static uint32_t crc_step(const struct crc32 *tables, uint32_t crc, const uint8_t *bytes)
{
	const uint32_t (*step)[256] = tables->step;
	uint64_t word;

	/* Little-endian, like the GPU and every supported host. */
	memcpy(&word, bytes, sizeof(word));
	word ^= crc;
	return step[7][word & 0xff] ^ step[6][word >> 8 & 0xff] ^
	       step[5][word >> 16 & 0xff] ^ step[4][word >> 24 & 0xff] ^
	       step[3][word >> 32 & 0xff] ^ step[2][word >> 40 & 0xff] ^
	       step[1][word >> 48 & 0xff] ^ step[0][word >> 56];
}

/* Move a CRC past the zero bytes of a lane. */
static uint32_t crc_skip(const struct crc32 *tables, uint32_t crc)
{
	return tables->skip[0][crc & 0xff] ^ tables->skip[1][crc >> 8 & 0xff] ^
	       tables->skip[2][crc >> 16 & 0xff] ^ tables->skip[3][crc >> 24];
}

static uint32_t crc_lanes(const struct crc32 *tables, uint32_t crc, const uint8_t *bytes)
{
	uint32_t lane[CRC32_LANES] = { crc };
	size_t i;
	unsigned int n;

	for (i = 0; i < CRC32_LANE; i += CRC32_STEP)
		for (n = 0; n < CRC32_LANES; n++)
			lane[n] = crc_step(tables, lane[n], bytes + n * CRC32_LANE + i);
	crc = lane[0];
	for (n = 1; n < CRC32_LANES; n++)
		crc = crc_skip(tables, crc) ^ lane[n];
	return crc;
}

uint32_t crc32_update(const struct crc32 *tables, uint32_t crc, const void *bytes, size_t len)
{
	const size_t all_lanes = (size_t)CRC32_LANES * CRC32_LANE;
	const uint8_t *at = bytes;

	for (; len >= all_lanes; len -= all_lanes, at += all_lanes)
		crc = crc_lanes(tables, crc, at);
	for (; len >= CRC32_STEP; len -= CRC32_STEP, at += CRC32_STEP)
		crc = crc_step(tables, crc, at);
	for (; len; len--, at++)
		crc = crc_byte(tables, crc, *at);
	return crc;
}

/* ---- Tables ------------------------------------------------------------------ */

static void step_init(struct crc32 *tables)
{
	unsigned int n, b, bit;

	for (b = 0; b < 256; b++) {
		uint32_t crc = b;

		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		tables->step[0][b] = crc;
	}
	for (n = 1; n < CRC32_STEP; n++)
		for (b = 0; b < 256; b++)
			tables->step[n][b] = crc_byte(tables, tables->step[n - 1][b], 0);
}

/* Only the bytes that are a power of two take steps: the others are sums of these. */
static void skip_init(struct crc32 *tables)
{
	static const uint8_t zeroes[CRC32_LANE];
	unsigned int n, b;

	for (n = 0; n < 4; n++) {
		uint32_t *skip = tables->skip[n];

		skip[0] = 0;
		for (b = 1; b < 256; b++) {
			unsigned int low = b & -b;

			skip[b] = low == b ? crc32_update(tables, b << 8 * n, zeroes, CRC32_LANE) :
					     skip[low] ^ skip[b - low];
		}
	}
}

void crc32_init(struct crc32 *tables)
{
	step_init(tables);
	skip_init(tables);
}
