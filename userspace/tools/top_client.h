/* SPDX-License-Identifier: MIT */
/*
 * What agate-top knows of the GPUs' clients, and how it gets it out of text.
 *
 * The text of /proc/PID/fdinfo/FD has the keys of drm-usage-stats.rst, which all drivers
 * share.  A client is an open file of a DRM device; several descriptors, also of several
 * processes, can name the same one.
 */
#ifndef TOP_CLIENT_H
#define TOP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOP_NAME	64
#define TOP_ENGINES	16
#define TOP_REGIONS	8

/* One part of the GPU that executes a client's work. */
struct top_engine {
	char name[TOP_NAME];
	uint64_t capacity;		/* how many of it there are, at least 1 */
	uint64_t busy_ns;
	uint64_t cycles, total_cycles;
	uint64_t max_hz, now_hz;	/* 0: not told */
	bool has_ns, has_cycles, has_total;
};

/* Bytes of a client's memory of one kind. */
struct top_region {
	char name[TOP_NAME];
	uint64_t total, shared, resident, purgeable, active;
};

/* A client's BOs, which only debugfs of agate tells. */
struct top_bos {
	uint32_t paged, heap, contiguous, imported;
	uint32_t cached;		/* those of them that wait in libagate's cache */
	uint32_t purged;
};

struct top_client {
	char driver[TOP_NAME], device[TOP_NAME], command[TOP_NAME];
	uint64_t id;
	int pid, fd;
	bool has_id, has_bos;
	uint32_t engine_count, region_count;
	struct top_engine engine[TOP_ENGINES];
	struct top_region region[TOP_REGIONS];
	struct top_bos bos;
};

/*
 * Read what one fdinfo file says; false when the file is no DRM client's.  Unknown keys
 * and malformed lines are ignored, and so are engines and regions beyond the limits.
 * Leaves pid, fd, command and the BOs alone.
 */
bool top_parse_fdinfo(const char *text, struct top_client *client);

/*
 * Copy a name of len bytes into a field of TOP_NAME bytes.  A process chooses its name
 * itself, so what a terminal could take for a command, and what is not ASCII, becomes '?'.
 */
void top_copy(char to[TOP_NAME], const char *from, size_t len);

/* Do two descriptors name the same client? */
bool top_same_client(const struct top_client *a, const struct top_client *b);

/* The BOs of the client with this id in the text of agate's debugfs file "bos". */
struct top_bos top_parse_bos(const char *text, uint64_t id);

/* Two numbers of agate's debugfs file "busy", in nanoseconds; false if they are not there. */
bool top_parse_busy(const char *text, uint64_t *busy_ns, uint64_t *idle_ns);

/* A sum that stays at the largest number instead of beginning anew. */
uint64_t top_sum(uint64_t a, uint64_t b);

/* Sums over a client's regions. */
struct top_region top_memory(const struct top_client *client);

#endif /* TOP_CLIENT_H */
