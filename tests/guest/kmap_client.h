/* SPDX-License-Identifier: MIT */
/*
 * A client whose BOs the kernel looks at, for drivers and debuggers, on a card as run.sh makes it,
 * which keeps 4 MiB of its VRAM mapped.  tests/guest/kmod/kmaps.c looks.
 *
 * What a BO has in it depends on a seed.
 */
#ifndef AGATE_TESTS_KMAP_CLIENT_H
#define AGATE_TESTS_KMAP_CLIENT_H

#include <sys/types.h>

#include "gpus.h"
#include "kmod/kmaps.h"
#include "placed_client.h"

/* More than the VRAM that is kept mapped, so no such BO is inside of it. */
#define LARGE		(5 * MIB)

/* As kernel/agate_kmap.h has them. */
enum kmap_kind { NONE, BY_PAGE, BY_VMAP, BY_IOMEM, PREMAPPED };

struct kmap_client {
	struct placed_client client;
	char gpu[GPUS_NAME];	/* the one at which the module looks: the first one */
	int kmaps;
	int mem;	/* this process's memory, as a debugger sees it */
};

struct kmap_client kmap_open(void);
void kmap_close(struct kmap_client *world);

/* AGATE_CACHING_*: how CPUs map VRAM. */
uint32_t kmap_vram_caching(void);

/* A mapped BO that is there, and filled. */
struct bo kmap_vram_bo(const struct kmap_client *world, uint64_t size, uint64_t seed);
struct bo kmap_system_bo(const struct kmap_client *world, uint64_t size, uint32_t caching,
			 uint64_t seed);
/* The 64 bits with that index in a filled BO. */
uint64_t kmap_word(uint64_t index, uint64_t seed);
/* The eight bytes from that one on, which may begin inside of such a word. */
uint64_t kmap_word_at(uint64_t offset, uint64_t seed);
/* CPU and GPU see that it is filled. */
void kmap_check(struct kmap_client *world, const struct bo *bo, uint64_t seed);
/*
 * Takes all of visible VRAM, for a while, from the one BO that there is; less leaves than would go
 * to a swap file.
 */
void kmap_push_out(struct kmap_client *world);

/* Look at a part of the newest BO; @at is a byte of the part. */
struct kmaps_look kmap_look(const struct kmap_client *world, uint64_t first, uint64_t n,
			    uint64_t at);
/* The same: this is how it is mapped, and what is there. */
void kmap_check_part(const struct kmap_client *world, uint64_t first, uint64_t n, uint64_t at,
		     enum kmap_kind kind, uint32_t caching, uint64_t seed);

/* As pread(), for a debugger that looks at a mapped BO. */
ssize_t kmap_debug_read(const struct kmap_client *world, const struct bo *bo, void *to,
			uint64_t offset, uint64_t len);
/* The same, of at most three pages: all of it comes, and is right. */
void kmap_debug_check(const struct kmap_client *world, const struct bo *bo, uint64_t offset,
		      uint64_t len, uint64_t seed);
void kmap_check_bytes(const unsigned char *bytes, uint64_t offset, uint64_t len, uint64_t seed);

#endif /* AGATE_TESTS_KMAP_CLIENT_H */
