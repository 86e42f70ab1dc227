/* SPDX-License-Identifier: MIT */
/*
 * The CRC-32 of Ethernet and zlib, without the inversions at start and end.
 */
#ifndef AGATE_MODEL_CRC32_H
#define AGATE_MODEL_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that one step takes, lanes that step side by side, and the bytes of a lane. */
#define CRC32_STEP	8u
#define CRC32_LANES	4u
#define CRC32_LANE	1024u

/* The tables; nothing changes them after crc32_init(). */
struct crc32 {
	uint32_t step[CRC32_STEP][256];	/* [n][b]: of byte b and n zero bytes after it */
	uint32_t skip[4][256];	/* [n][b]: byte n of a CRC, after CRC32_LANE zero bytes */
};

void crc32_init(struct crc32 *tables);

/* The CRC of what crc stands for and of len more bytes. */
uint32_t crc32_update(const struct crc32 *tables, uint32_t crc, const void *bytes, size_t len);

#endif /* AGATE_MODEL_CRC32_H */
