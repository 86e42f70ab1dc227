// SPDX-License-Identifier: MIT
/*
 * agate-fw: make firmware for a card (hardware.md, section 6.5), or say what a file is.
 *
 * usage: agate-fw [--version N] [--reserved BYTES] [--payload FILE] OUT
 *        agate-fw --check FILE
 *
 * The card interprets nothing of the payload; without FILE it is a fixed pattern of 64 KiB,
 * so that a driver has something to load whose CRC means something.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agate_card.h"
#include "agate_stdio.h"

#define PATTERN_SIZE	65536u
#define MAX_PAYLOAD	(AGATE_FW_MAX_SIZE - sizeof(struct agate_fw_header))
#define MAX_RESERVED	0x00800000u	/* GGTT_RESERVED_MAX */
#define PAGE		4096u

static const char usage[] =
	"usage: agate-fw [--version N] [--reserved BYTES] [--payload FILE] OUT\n"
	"       agate-fw --check FILE\n"
	"Makes firmware for a card: with version N (1), which takes BYTES (0x400000) of the GGTT,\n"
	"with the bytes of FILE, or with a pattern of 64 KiB.  --check says whether a card would\n"
	"run the firmware in FILE.\n";

static struct {
	struct agate_fw_header header;
	uint8_t payload[MAX_PAYLOAD];
	uint8_t more;		/* a byte too many has room, so that reading notices it */
} blob;

static uint32_t crc_of(const uint8_t *bytes, size_t size)
{
	uint32_t crc = UINT32_MAX;
	unsigned int bit;

	while (size--) {
		crc ^= *bytes++;
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
	}
	return ~crc;
}

static int fail(const char *path, const char *why)
{
	fprintf(stderr, "agate-fw: %s: %s\n", path, why);
	return 1;
}

static bool parse(const char *text, uint32_t max, uint32_t *value)
{
	char *end;
	unsigned long long number = strtoull(text, &end, 0);

	*value = (uint32_t)number;
	return *text != '-' && end != text && !*end && number <= max;
}

/* Returns how many bytes the file has, or -1; most + 1 stands for any larger one. */
static long read_file(const char *path, void *to, size_t most)
{
	FILE *file = fopen(path, "rb");
	size_t size;
	bool good;

	if (!file)
		return -1;
	size = fread(to, 1, most + 1, file);
	good = !ferror(file);
	fclose(file);
	return good ? (long)size : -1;
}

static void put_pattern(void)
{
	uint32_t number = 1;
	size_t i;

	for (i = 0; i < PATTERN_SIZE; i++) {
		number = number * 1664525u + 1013904223u;
		blob.payload[i] = number >> 24;
	}
}

static const char *check(size_t size)
{
	const struct agate_fw_header *header = &blob.header;

	if (size < sizeof(*header) || size > AGATE_FW_MAX_SIZE)
		return "no firmware has this size";
	if (header->magic != AGATE_FW_HEADER_MAGIC)
		return "no firmware: the magic is wrong";
	if (header->version >> 16 != AGATE_FW_MAJOR)
		return "firmware for another kind of card";
	if (header->size != size)
		return "the header has another size than the file";
	if (header->reserved_bytes % PAGE || header->reserved_bytes > MAX_RESERVED)
		return "it takes a part of the GGTT that no firmware may take";
	if (header->crc32 != crc_of(blob.payload, size - sizeof(*header)))
		return "the CRC is wrong";
	return NULL;
}

static int check_file(const char *path)
{
	long size = read_file(path, &blob, AGATE_FW_MAX_SIZE);
	const char *why = size < 0 ? "cannot be read" : check((size_t)size);

	if (why)
		return fail(path, why);
	printf("version %u, %u bytes, takes 0x%x bytes of the GGTT\n",
	       blob.header.version & 0xffff, blob.header.size, blob.header.reserved_bytes);
	return 0;
}

static int write_file(const char *path)
{
	FILE *file = fopen(path, "wb");
	bool good;

	if (!file)
		return fail(path, "cannot be written");
	good = fwrite(&blob, 1, blob.header.size, file) == blob.header.size;
	good = !fclose(file) && good;
	return good ? 0 : fail(path, "cannot be written");
}

static int make_file(const char *path, const char *payload, uint32_t version, uint32_t reserved)
{
	long size = PATTERN_SIZE;

	if (payload)
		size = read_file(payload, blob.payload, MAX_PAYLOAD);
	else
		put_pattern();
	if (size < 0)
		return fail(payload, "cannot be read");
	if ((size_t)size > MAX_PAYLOAD)
		return fail(payload, "too large for firmware");
	blob.header = (struct agate_fw_header){
		.magic = AGATE_FW_HEADER_MAGIC,
		.version = AGATE_FW_MAJOR << 16 | version,
		.size = (uint32_t)(sizeof(blob.header) + (size_t)size),
		.crc32 = crc_of(blob.payload, (size_t)size),
		.reserved_bytes = reserved,
	};
	return write_file(path);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "version", required_argument, NULL, 'v' },
		{ "reserved", required_argument, NULL, 'r' },
		{ "payload", required_argument, NULL, 'p' },
		{ "check", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	const char *payload = NULL, *checked = NULL;
	uint32_t version = 1, reserved = 0x400000;
	bool good = true;
	int id;

	if (!stdio_fill())
		return 1;
	while (good && (id = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (id) {
		case 'v':
			good = parse(optarg, 0xffff, &version);
			break;
		case 'r':
			good = parse(optarg, MAX_RESERVED, &reserved) && reserved % PAGE == 0;
			break;
		case 'p':
			payload = optarg;
			break;
		case 'c':
			checked = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			good = false;
		}
	}
	if (!good || optind + !checked != argc) {
		fputs(usage, stderr);
		return 2;
	}
	return checked ? check_file(checked) :
			 make_file(argv[optind], payload, version, reserved);
}
