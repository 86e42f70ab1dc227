/* SPDX-License-Identifier: MIT */
/* The CRC-32 of Ethernet and zlib, bit by bit, without a table. */
#ifndef CRC_SLOWLY_H
#define CRC_SLOWLY_H

#include <stddef.h>
#include <stdint.h>

static inline uint32_t crc_slowly(const uint8_t *bytes, size_t size)
{
	uint32_t crc = UINT32_MAX;
	size_t i, bit;

	for (i = 0; i < size; i++) {
		crc ^= bytes[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
	}
	return ~crc;
}

#endif /* CRC_SLOWLY_H */
