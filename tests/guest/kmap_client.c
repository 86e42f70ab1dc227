// SPDX-License-Identifier: MIT
/* A client whose BOs the kernel looks at; see kmap_client.h. */
#include "graded.h"

#include <fcntl.h>
#include <unistd.h>

#include "kmap_client.h"

#define KMAPS		"/sys/kernel/debug/agate_kmaps"
#define UNCACHED	"/sys/module/agate/parameters/vram_uncached"
/* The client's own two, and the one that a test looks at. */
#define BOS		3

struct kmap_client kmap_open(void)
{
	struct kmap_client world;

	world.client = placed_open_on(gpus_open_named(0, world.gpu), LARGE);
	world.kmaps = inject_open(KMAPS, O_RDWR);
	world.mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	assert_true(world.kmaps >= 0 && world.mem >= 0);
	return world;
}

void kmap_close(struct kmap_client *world)
{
	close(world->kmaps);
	close(world->mem);
	placed_close(&world->client);
	guest_assert_nothing_left();
}

uint32_t kmap_vram_caching(void)
{
	return guest_file_says(UNCACHED, "Y") ? AGATE_CACHING_UC : AGATE_CACHING_WC;
}

/* ---- Bytes -------------------------------------------------------------------- */

/* Different in every word, and in every byte of it. */
uint64_t kmap_word(uint64_t index, uint64_t seed)
{
	return (index + 1) * 0x9e3779b97f4a7c15 + seed;
}

uint64_t kmap_word_at(uint64_t offset, uint64_t seed)
{
	unsigned int bits = offset % 8 * 8;

	if (!bits)
		return kmap_word(offset / 8, seed);
	return kmap_word(offset / 8, seed) >> bits | kmap_word(offset / 8 + 1, seed) << (64 - bits);
}

static void write_words(const struct bo *bo, uint64_t seed)
{
	volatile uint64_t *words = bo->cpu;

	for (uint64_t i = 0; i < bo->size / 8; i++)
		words[i] = kmap_word(i, seed);
}

void kmap_check(struct kmap_client *world, const struct bo *bo, uint64_t seed)
{
	const volatile uint64_t *seen = world->client.seen.cpu, *words = bo->cpu;

	assert_int_equal(placed_run(&world->client, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_COPY, .dst = world->client.seen.va, .src = bo->va,
		.size = bo->size,
	}, bo, &world->client.seen), 1);
	for (uint64_t i = 0; i < bo->size / 8; i++) {
		assert_int_equal(words[i], kmap_word(i, seed));
		assert_int_equal(seen[i], kmap_word(i, seed));
	}
}

/* A mapped BO with memory, and something in it. */
static struct bo written_bo(const struct kmap_client *world, uint64_t size, uint32_t placement,
			    uint32_t caching, uint64_t seed)
{
	struct bo bo;

	assert_int_equal(placed_create(world->client.fd, size,
				       AGATE_BO_CPU_VISIBLE | AGATE_BO_POPULATE, placement,
				       caching, &bo), 0);
	guest_map(&bo);
	write_words(&bo, seed);
	return bo;
}

struct bo kmap_vram_bo(const struct kmap_client *world, uint64_t size, uint64_t seed)
{
	return written_bo(world, size, VRAM, AGATE_CACHING_WC, seed);
}

struct bo kmap_system_bo(const struct kmap_client *world, uint64_t size, uint32_t caching,
			 uint64_t seed)
{
	return written_bo(world, size, SYSTEM, caching, seed);
}

void kmap_push_out(struct kmap_client *world)
{
	enum { COUNT = 8 };
	struct bo others[COUNT];

	for (unsigned int i = 0; i < COUNT; i++) {
		others[i] = placed_bo(&world->client, VISIBLE / COUNT,
				      AGATE_BO_CPU_VISIBLE | AGATE_BO_POPULATE, VRAM);
		placed_fill(&world->client, &others[i], i);
	}
	for (unsigned int i = 0; i < COUNT; i++)
		guest_destroy(&others[i]);
	/* Their jobs keep them a little longer. */
	guest_wait_counter("bos", BOS);
}

/* ---- What others see ------------------------------------------------------------ */

struct kmaps_look kmap_look(const struct kmap_client *world, uint64_t first, uint64_t n,
			    uint64_t at)
{
	struct kmaps_look look = { .first = first, .n = n, .at = at };

	assert_int_equal(guest_ioctl(world->kmaps, KMAPS_LOOK, &look), 0);
	return look;
}

void kmap_check_part(const struct kmap_client *world, uint64_t first, uint64_t n, uint64_t at,
		     enum kmap_kind kind, uint32_t caching, uint64_t seed)
{
	struct kmaps_look seen = kmap_look(world, first, n, at);

	assert_int_equal(guest_counter("kmaps"), 0);
	assert_int_equal(seen.result, 0);
	assert_int_equal(seen.kind, kind);
	assert_int_equal(seen.caching, caching);
	assert_int_equal(seen.left, 0);
	assert_int_equal(seen.word, kmap_word_at(first * PAGE + at, seed));
}

void kmap_check_bytes(const unsigned char *bytes, uint64_t offset, uint64_t len, uint64_t seed)
{
	for (uint64_t i = 0; i < len; i++)
		assert_int_equal(bytes[i], (unsigned char)kmap_word_at(offset + i, seed));
}

ssize_t kmap_debug_read(const struct kmap_client *world, const struct bo *bo, void *to,
			uint64_t offset, uint64_t len)
{
	return pread(world->mem, to, len, (off_t)((uintptr_t)bo->cpu + offset));
}

void kmap_debug_check(const struct kmap_client *world, const struct bo *bo, uint64_t offset,
		      uint64_t len, uint64_t seed)
{
	unsigned char bytes[3 * PAGE];

	assert_in_range(len, 1, sizeof(bytes));
	assert_int_equal(kmap_debug_read(world, bo, bytes, offset, len), len);
	kmap_check_bytes(bytes, offset, len, seed);
}
