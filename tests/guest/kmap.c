// SPDX-License-Identifier: MIT
/*
 * BOs with a placement as the kernel sees them: by a mapping of the kind that fits the place, and
 * for other drivers that have a dma-buf.
 */
#include "graded.h"

#include <sys/mman.h>
#include <unistd.h>

#include "dmabuf.h"
#include "kmap_client.h"

#define PAGES		4u

/* ---- Kinds -------------------------------------------------------------------- */

/* The newest BO, of that many pages: one page, several, all; also over the end of a page. */
static void check_parts(const struct kmap_client *world, uint64_t pages, enum kmap_kind one,
			enum kmap_kind more, uint32_t caching, uint64_t seed)
{
	kmap_check_part(world, 0, 1, 0, one, caching, seed);
	kmap_check_part(world, 0, 1, PAGE - 8, one, caching, seed);
	kmap_check_part(world, 2, 1, 13, one, caching, seed);
	kmap_check_part(world, pages - 1, 1, 1001, one, caching, seed);
	kmap_check_part(world, 1, 2, PAGE - 3, more, caching, seed);
	kmap_check_part(world, pages - 3, 3, 2 * PAGE - 1, more, caching, seed);
	kmap_check_part(world, 0, pages, pages * PAGE - 15, more, caching, seed);
}

static void system_kinds(void **state)
{
	struct kmap_client world = kmap_open();

	(void)state;
	for (uint32_t caching = 0; caching < 3; caching++) {
		struct bo bo = kmap_system_bo(&world, PAGES * 16 * PAGE, caching, caching);

		check_parts(&world, PAGES * 16, caching == AGATE_CACHING_WB ? BY_PAGE : BY_VMAP,
			    BY_VMAP, caching, caching);
		guest_destroy(&bo);
	}
	kmap_close(&world);
}

static void vram_kinds(void **state)
{
	struct kmap_client world = kmap_open();
	struct bo low = kmap_vram_bo(&world, PAGES * 16 * PAGE, 1), high;

	(void)state;
	check_parts(&world, PAGES * 16, PREMAPPED, PREMAPPED, kmap_vram_caching(), 1);
	high = kmap_vram_bo(&world, LARGE, 2);
	check_parts(&world, LARGE / PAGE, BY_IOMEM, BY_IOMEM, kmap_vram_caching(), 2);
	guest_destroy(&low);
	guest_destroy(&high);
	kmap_close(&world);
}

static void check_refused(const struct kmap_client *world, uint64_t first, uint64_t n)
{
	struct kmaps_look seen = kmap_look(world, first, n, 0);

	assert_int_equal(seen.result, -EINVAL);
	assert_int_equal(seen.kind, NONE);
	assert_int_equal(seen.left, 0);
	assert_int_equal(guest_counter("kmaps"), 0);
}

static void check_ranges(const struct kmap_client *world, uint64_t pages)
{
	check_refused(world, 0, 0);
	check_refused(world, 1, 0);
	check_refused(world, pages, 0);
	check_refused(world, pages, 1);
	check_refused(world, pages - 1, 2);
	check_refused(world, 0, pages + 1);
	check_refused(world, 1, UINT64_MAX);
	check_refused(world, UINT64_MAX, 2);
	check_refused(world, 0, 1ull << 52);
}

static void parts_refused(void **state)
{
	struct kmap_client world = kmap_open();
	/* Pages behind the end of this one are there, at least. */
	struct bo bo = kmap_vram_bo(&world, PAGES * 16 * PAGE, 0);

	(void)state;
	check_ranges(&world, PAGES * 16);
	guest_destroy(&bo);
	bo = kmap_system_bo(&world, PAGES * 16 * PAGE, AGATE_CACHING_WB, 0);
	check_ranges(&world, PAGES * 16);
	guest_destroy(&bo);
	/* Nobody has used it, so it is nowhere. */
	bo = placed_bo(&world.client, PAGE, 0, SYSTEM);
	check_refused(&world, 0, 1);
	guest_destroy(&bo);
	/* At the end of VRAM, which no CPU reaches. */
	bo = placed_bo(&world.client, PAGE, AGATE_BO_POPULATE, VRAM);
	check_refused(&world, 0, 1);
	guest_destroy(&bo);
	kmap_close(&world);
}

/* ---- Other drivers ------------------------------------------------------------- */

static void hold(const struct kmap_client *world, int dmabuf, uint32_t caching)
{
	struct kmaps_hold hold = { .fd = dmabuf };

	assert_int_equal(guest_ioctl(world->kmaps, KMAPS_HOLD, &hold), 0);
	assert_int_equal(hold.result, 0);
	assert_int_equal(hold.same, 1);
	assert_int_equal(hold.caching, caching);
	assert_int_equal(guest_counter("kmaps"), 1);
}

static void let_go(const struct kmap_client *world)
{
	assert_int_equal(guest_ioctl(world->kmaps, KMAPS_LET_GO, NULL), 0);
	assert_int_equal(guest_counter("kmaps"), 0);
}

static uint64_t peek(const struct kmap_client *world, uint64_t at)
{
	struct kmaps_bytes bytes = { .at = at };

	assert_int_equal(guest_ioctl(world->kmaps, KMAPS_PEEK, &bytes), 0);
	return bytes.word;
}

static void poke(const struct kmap_client *world, uint64_t at, uint64_t value)
{
	struct kmaps_bytes bytes = { .at = at, .word = value };

	assert_int_equal(guest_ioctl(world->kmaps, KMAPS_POKE, &bytes), 0);
}

/* The driver holds the BO where all see it, whatever else wants the memory. */
static void hold_and_use(struct kmap_client *world, struct bo bo, uint32_t caching, uint64_t seed)
{
	int dmabuf = dmabuf_export(&bo);

	hold(world, dmabuf, caching);
	for (uint64_t at = 0; at < bo.size - 8; at += 1021)
		assert_int_equal(peek(world, at), kmap_word_at(at, seed));
	for (uint64_t i = 0; i < bo.size / 8; i += 512)
		poke(world, 8 * i, kmap_word(i, seed));
	kmap_check(world, &bo, seed);
	poke(world, bo.size - 8, 1);
	assert_int_equal(((volatile uint64_t *)bo.cpu)[bo.size / 8 - 1], 1);
	kmap_push_out(world);
	placed_fill(&world->client, &bo, seed);
	for (uint64_t at = 0; at < bo.size; at += PAGE)
		assert_int_equal(peek(world, at), seed);
	let_go(world);
	close(dmabuf);
	placed_check(&world->client, &bo, seed);
	guest_destroy(&bo);
}

static void shared(void **state)
{
	struct kmap_client world = kmap_open();

	(void)state;
	for (uint32_t caching = 0; caching < 3; caching++) {
		hold_and_use(&world, kmap_system_bo(&world, PAGES * PAGE, caching, 120), caching, 120);
		hold_and_use(&world, kmap_system_bo(&world, PAGE, caching, 130), caching, 130);
	}
	hold_and_use(&world, kmap_vram_bo(&world, LARGE, 140), AGATE_CACHING_WC, 140);
	kmap_close(&world);
}

/* It leaves VRAM for that driver, no job brings it back meanwhile, and the next one does. */
static void shared_leaves_vram(void **state)
{
	struct kmap_client world = kmap_open();
	struct bo bo = kmap_vram_bo(&world, LARGE, 150);
	int dmabuf = dmabuf_export(&bo);
	struct kmaps_look seen;

	(void)state;
	kmap_check_part(&world, 0, 2, 0, BY_IOMEM, kmap_vram_caching(), 150);
	hold(&world, dmabuf, AGATE_CACHING_WC);
	kmap_check(&world, &bo, 150);
	/* Another mapping beside the driver's. */
	seen = kmap_look(&world, 0, 2, 5);
	assert_int_equal(seen.result, 0);
	assert_int_equal(seen.kind, BY_VMAP);
	assert_int_equal(seen.word, kmap_word_at(5, 150));
	assert_int_equal(seen.left, 1);
	assert_int_equal(guest_counter("kmaps"), 1);
	let_go(&world);
	kmap_check(&world, &bo, 150);
	kmap_check_part(&world, 0, 2, 0, BY_IOMEM, kmap_vram_caching(), 150);
	close(dmabuf);
	guest_destroy(&bo);
	kmap_close(&world);
}

/* The CPUs reach a BO of hidden VRAM, too, once it has left that. */
static void shared_hidden(void **state)
{
	struct kmap_client world = kmap_open();
	struct bo bo = placed_bo(&world.client, PAGES * PAGE, 0, VRAM);
	int dmabuf = dmabuf_export(&bo);

	(void)state;
	placed_fill(&world.client, &bo, 160);
	hold(&world, dmabuf, AGATE_CACHING_WC);
	assert_int_equal(peek(&world, 3 * PAGE), 160);
	let_go(&world);
	close(dmabuf);
	guest_destroy(&bo);
	kmap_close(&world);
}

/* ---- Without the device ---------------------------------------------------------- */

/* What is in system memory stays, also for that driver; what was in VRAM is gone. */
static void unbound(void **state)
{
	struct kmap_client world = kmap_open();
	struct bo lost = kmap_vram_bo(&world, PAGE, 170), kept = kmap_vram_bo(&world, LARGE, 171);
	int dmabuf = dmabuf_export(&kept);
	unsigned char byte;

	(void)state;
	hold(&world, dmabuf, AGATE_CACHING_WC);
	assert_int_equal(device_unbind_one(world.gpu), 0);
	assert_int_equal(peek(&world, PAGE - 1), kmap_word_at(PAGE - 1, 171));
	kmap_debug_check(&world, &kept, PAGE - 1, PAGE, 171);
	assert_int_equal(kmap_debug_read(&world, &lost, &byte, 0, 1), -1);
	assert_int_equal(errno, EIO);
	assert_int_equal(guest_ioctl(world.kmaps, KMAPS_LET_GO, NULL), 0);
	kmap_debug_check(&world, &kept, 1, PAGE, 171);
	close(dmabuf);
	munmap(lost.cpu, lost.size);
	munmap(kept.cpu, kept.size);
	munmap(world.client.jobs.cpu, world.client.jobs.size);
	munmap(world.client.seen.cpu, world.client.seen.size);
	close(world.client.fd);
	close(world.kmaps);
	close(world.mem);
	assert_int_equal(device_bind_one(world.gpu), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(system_kinds, guest_teardown),
		cmocka_unit_test_teardown(vram_kinds, guest_teardown),
		cmocka_unit_test_teardown(parts_refused, guest_teardown),
		cmocka_unit_test_teardown(shared, guest_teardown),
		cmocka_unit_test_teardown(shared_leaves_vram, guest_teardown),
		cmocka_unit_test_teardown(shared_hidden, guest_teardown),
		cmocka_unit_test(unbound),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("kmap", tests, NULL, NULL);
}
