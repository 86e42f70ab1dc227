// SPDX-License-Identifier: MIT
/*
 * Guest RAM. Every address from the guest is checked to lie inside one of the ranges
 * before it is used in the mapping.
 */
#include "ram.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static bool ram_number(const char **text, char end, uint64_t *value)
{
	char *after;

	errno = 0;
	*value = strtoull(*text, &after, 0);
	if (errno || after == *text || **text == '-')
		return false;
	if (*after != end && !(end == ',' && *after == '\0'))
		return false;
	*text = *after ? after + 1 : after;
	return true;
}

const char *ram_parse(struct ram *ram, const char *text)
{
	ram->count = 0;
	while (*text) {
		struct ram_range *r = &ram->range[ram->count];

		if (ram->count == RAM_MAX_RANGES)
			return "too many ranges of RAM";
		if (!ram_number(&text, ':', &r->gpa) || !ram_number(&text, ':', &r->size) ||
		    !ram_number(&text, ',', &r->offset))
			return "a range of RAM is GPA:SIZE:OFFSET";
		if (!r->size || r->size > UINT64_MAX - r->gpa)
			return "a range of RAM is empty or wraps";
		ram->count++;
	}
	return ram->count ? NULL : "no range of RAM";
}

const char *ram_map(struct ram *ram, int fd)
{
	struct stat st;
	unsigned int i;

	if (fstat(fd, &st) || st.st_size <= 0)
		return "the file of guest RAM has no size";
	for (i = 0; i < ram->count; i++) {
		const struct ram_range *r = &ram->range[i];

		if (r->size > (uint64_t)st.st_size || r->offset > st.st_size - r->size)
			return "a range of RAM lies outside its file";
	}
	ram->map_size = st.st_size;
	ram->map = mmap(NULL, ram->map_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return ram->map == MAP_FAILED ? "guest RAM cannot be mapped" : NULL;
}

void *ram_at(const struct ram *ram, uint64_t pa, size_t len)
{
	unsigned int i;

	for (i = 0; i < ram->count; i++) {
		const struct ram_range *r = &ram->range[i];
		uint64_t within = pa - r->gpa;

		if (pa >= r->gpa && len <= r->size && within <= r->size - len)
			return ram->map + r->offset + within;
	}
	return NULL;
}

int ram_read(const struct ram *ram, uint64_t pa, void *buf, size_t len)
{
	const uint8_t *from = ram_at(ram, pa, len);

	if (!from)
		return -1;
	if (len == 8 && pa % 8 == 0) {
		/* A page-table entry: the CPU may be writing it just now. */
		uint64_t value = __atomic_load_n((const uint64_t *)from, __ATOMIC_RELAXED);

		memcpy(buf, &value, 8);
		return 0;
	}
	memcpy(buf, from, len);
	return 0;
}

int ram_write(const struct ram *ram, uint64_t pa, const void *buf, size_t len)
{
	uint8_t *to = ram_at(ram, pa, len);

	if (!to)
		return -1;
	memcpy(to, buf, len);
	return 0;
}
