/* SPDX-License-Identifier: MIT */
/*
 * Guest RAM: a file mapped once, and the guest-physical ranges that show it.
 */
#ifndef AGATE_PROCESS_RAM_H
#define AGATE_PROCESS_RAM_H

#include <stddef.h>
#include <stdint.h>

#define RAM_MAX_RANGES	8

struct ram_range {
	uint64_t gpa;
	uint64_t size;
	uint64_t offset;	/* in the file */
};

struct ram {
	uint8_t *map;
	size_t map_size;
	struct ram_range range[RAM_MAX_RANGES];
	unsigned int count;
};

/* Parse "GPA:SIZE:OFFSET[,...]"; returns NULL, or what is wrong. */
const char *ram_parse(struct ram *ram, const char *text);

/* Map the file behind fd, check every range against it; the same result. */
const char *ram_map(struct ram *ram, int fd);

/* Where guest-physical pa is, or NULL unless every byte lies in one range. */
void *ram_at(const struct ram *ram, uint64_t pa, size_t len);

/*
 * Copy from or to guest-physical pa.  Return 0, or -1 unless every byte lies
 * in one range.
 */
int ram_read(const struct ram *ram, uint64_t pa, void *buf, size_t len);
int ram_write(const struct ram *ram, uint64_t pa, const void *buf, size_t len);

#endif /* AGATE_PROCESS_RAM_H */
