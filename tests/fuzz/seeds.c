// SPDX-License-Identifier: MIT
/*
 * seeds.c: the inputs that fuzzing starts from, written in terms of the guest.
 *
 * usage: seeds FOLDER		writes FOLDER/TARGET/seed-*
 *
 * Each function is one input; input.h, hostile_guest.c, script.c and the targets define the
 * meaning of its numbers.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "seeds.h"

static const char *folder;
static uint8_t buffer[4096];
static size_t used;

void put(const void *from, size_t len)
{
	if (len > sizeof(buffer) - used)
		abort();
	memcpy(buffer + used, from, len);
	used += len;
}

void p8(unsigned int value)
{
	uint8_t byte = value;

	put(&byte, 1);
}

void p16(uint16_t value)
{
	put(&value, 2);
}

void p32(uint32_t value)
{
	put(&value, 4);
}

void p64(uint64_t value)
{
	put(&value, 8);
}

void save(const char *target, const char *name)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, target);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/%s/seed-%s", folder, target, name);
	file = fopen(path, "w");
	if (!file || fwrite(buffer, 1, used, file) != used || fclose(file)) {
		perror(path);
		exit(1);
	}
	used = 0;
}

void va(uint32_t offset)
{
	p8(offset / 4096);
	p16(offset % 4096);
}

void size(uint32_t bytes)
{
	if (bytes < 0x60) {
		p8(bytes);
		return;
	}
	p8(0x60);
	p16(bytes);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: seeds FOLDER\n");
		return 2;
	}
	folder = argv[1];
	chain_seeds();
	tables_seeds();
	compute_seeds();
	tiler_seeds();
	queue_seeds();
	range_seeds();
	ggtt_seeds();
	card_seeds();
	return 0;
}
