// SPDX-License-Identifier: MIT
/*
 * The memory of BOs with a placement as a client sees it: how much there is, who may map it,
 * and what becomes of a BO that another driver imports.
 */
#include "graded.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dmabuf.h"
#include "drm.h"
#include "placed_client.h"

#define COUNT		2u

static int query(int fd, void *regions, uint32_t *count, uint32_t *size)
{
	struct drm_agate_query_regions arg = {
		.regions = (uintptr_t)regions, .count = *count, .region_size = *size,
	};
	int err = guest_ioctl(fd, DRM_IOCTL_AGATE_QUERY_REGIONS, &arg);

	assert_int_equal(arg.regions, (uintptr_t)regions);
	*count = arg.count;
	*size = arg.region_size;
	return err;
}

static struct drm_agate_region region(int fd, enum drm_agate_region_type type)
{
	struct drm_agate_region regions[COUNT];
	uint32_t count = COUNT, size = sizeof(regions[0]);

	memset(regions, 0xff, sizeof(regions));
	assert_int_equal(query(fd, regions, &count, &size), 0);
	assert_int_equal(count, COUNT);
	assert_int_equal(size, sizeof(regions[0]));
	assert_int_equal(regions[type].type, type);
	assert_int_equal(regions[type].id, type);
	assert_int_equal(regions[type].pad, 0);
	return regions[type];
}

static struct bo placed(int fd, uint64_t size, uint32_t flags, uint32_t placement)
{
	struct drm_agate_create_bo arg = {
		.size = size, .flags = flags, .placement = placement,
		.caching = placement & VRAM ? AGATE_CACHING_WC : AGATE_CACHING_WB,
	};
	struct bo bo;

	assert_int_equal(guest_create_with(fd, &arg, &bo), 0);
	return bo;
}

/* Fill a BO by a job. */
static void fill(struct bo *jobs, const struct bo *bo, uint64_t value)
{
	const struct agate_compute_payload payload = {
		.op = AGATE_COMPUTE_FILL, .dst = bo->va, .size = bo->size, .value = value,
	};
	const uint32_t handles[] = { jobs->handle, bo->handle };

	assert_int_equal(guest_compute(jobs, &payload, handles, 2), 1);
}

/* ---- QUERY_REGIONS -------------------------------------------------------------- */

static void counts(void **state)
{
	int fd = guest_open();
	struct drm_agate_region vram = region(fd, DRM_AGATE_REGION_VRAM), then;
	struct drm_agate_region system = region(fd, DRM_AGATE_REGION_SYSTEM);
	struct bo hidden, seen, ram;
	uint64_t ram_used;

	(void)state;
	assert_int_equal(vram.size, VRAM_SIZE);
	assert_int_equal(vram.cpu_visible, VISIBLE);
	assert_true(vram.min_align == PAGE || vram.min_align == 16 * PAGE);
	/* The driver's own memory is taken, and the CPUs reach all of it. */
	assert_true(vram.used && vram.used == vram.cpu_visible_used && vram.used < MIB);
	assert_int_equal(system.min_align, PAGE);
	assert_true(system.size > MIB && system.cpu_visible == system.size);
	ram_used = system.used;

	hidden = placed(fd, 4 * MIB, AGATE_BO_POPULATE, VRAM);
	seen = placed(fd, MIB, AGATE_BO_POPULATE | AGATE_BO_CPU_VISIBLE, VRAM);
	ram = placed(fd, 3 * PAGE, AGATE_BO_POPULATE, SYSTEM);
	then = region(fd, DRM_AGATE_REGION_VRAM);
	assert_int_equal(then.used, vram.used + 5 * MIB);
	assert_int_equal(then.cpu_visible_used, vram.cpu_visible_used + MIB);
	then = region(fd, DRM_AGATE_REGION_SYSTEM);
	assert_int_equal(then.used, ram_used + 3 * PAGE);
	assert_int_equal(then.cpu_visible_used, then.used);
	guest_destroy(&hidden);
	guest_destroy(&seen);
	guest_destroy(&ram);
	close(fd);
	guest_assert_nothing_left();
}

static void asks(void **state)
{
	int fd = guest_open();
	struct {
		struct drm_agate_region region;
		uint64_t more[2];
	} longer[COUNT + 1];
	uint32_t count = 77, size = 0;

	(void)state;
	/* How many there are. */
	assert_int_equal(query(fd, NULL, &count, &size), 0);
	assert_int_equal(count, COUNT);
	assert_int_equal(size, sizeof(struct drm_agate_region));
	/* Room for one, and for three; of a client whose struct is longer. */
	for (uint32_t room = 0; room <= COUNT + 1; room++) {
		memset(longer, 0xff, sizeof(longer));
		count = room;
		size = sizeof(longer[0]);
		assert_int_equal(query(fd, longer, &count, &size), 0);
		assert_int_equal(count, COUNT);
		assert_int_equal(size, sizeof(struct drm_agate_region));
		for (uint32_t i = 0; i < COUNT + 1; i++) {
			bool there = i < room && i < COUNT;

			assert_int_equal(longer[i].region.id, there ? i : UINT32_MAX);
			assert_int_equal(longer[i].more[0], there ? 0 : UINT64_MAX);
			assert_int_equal(longer[i].more[1], there ? 0 : UINT64_MAX);
		}
	}
	close(fd);
}

static void query_refuses(void **state)
{
	int fd = guest_open();
	struct drm_agate_region regions[COUNT];
	uint32_t count = COUNT, size = sizeof(regions[0]) - 1;
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_int_equal(query(fd, regions, &count, &size), EINVAL);
	size = PAGE + 1;
	assert_int_equal(query(fd, regions, &count, &size), EINVAL);
	size = sizeof(regions[0]);
	assert_int_equal(query(fd, (void *)PAGE, &count, &size), EFAULT);
	assert_true(pages != MAP_FAILED);
	assert_int_equal(munmap(pages + PAGE, PAGE), 0);
	/* The second one, or only its end, is where nothing is. */
	assert_int_equal(query(fd, pages + PAGE - sizeof(regions[0]), &count, &size), EFAULT);
	count = 1;
	size = sizeof(regions[0]) + 8;
	assert_int_equal(query(fd, pages + PAGE - sizeof(regions[0]), &count, &size), EFAULT);
	size = sizeof(regions[0]);
	count = 1;
	assert_int_equal(query(fd, pages + PAGE - sizeof(regions[0]), &count, &size), 0);
	munmap(pages, PAGE);
	close(fd);
}

/* ---- Mappings and advice --------------------------------------------------------- */

static int mmap_bo(const struct bo *bo)
{
	struct drm_agate_mmap_bo arg = { .handle = bo->handle };

	return guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MMAP_BO, &arg);
}

static void check_rules(int fd, uint32_t flags, uint32_t placement, int err)
{
	struct bo bo = placed(fd, PAGE, flags, placement);
	struct drm_agate_madvise dontneed = { .handle = bo.handle, .madv = AGATE_MADV_DONTNEED };
	int dmabuf = dmabuf_export(&bo);
	void *cpu = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, dmabuf, 0);

	assert_int_equal(mmap_bo(&bo), err);
	assert_int_equal(cpu == MAP_FAILED, err != 0);
	if (!err)
		munmap(cpu, PAGE);
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_MADVISE, &dontneed), EINVAL);
	close(dmabuf);
	guest_destroy(&bo);
}

static void map_rules(void **state)
{
	int fd = guest_open();

	(void)state;
	check_rules(fd, 0, VRAM, EINVAL);
	check_rules(fd, 0, VRAM | SYSTEM, EINVAL);
	check_rules(fd, AGATE_BO_CPU_VISIBLE, VRAM, 0);
	check_rules(fd, AGATE_BO_CPU_VISIBLE, VRAM | SYSTEM, 0);
	check_rules(fd, 0, SYSTEM, 0);
	check_rules(fd, AGATE_BO_CPU_VISIBLE, SYSTEM, 0);
	close(fd);
}

/* The CPUs' way to a BO fails once: then that access fails, and the next one finds the BO. */
static void way_fails_once(void **state)
{
	int fd = guest_open();
	struct bo jobs = guest_bo(fd, PAGE, 0), bo = placed(fd, MIB, 0, SYSTEM);

	(void)state;
	fill(&jobs, &bo, 0x3333);
	guest_map(&bo);
	inject_fail("placed_io_reserve", 1, EINVAL);
	assert_false(placed_readable(&bo));
	assert_int_equal(inject_hits("placed_io_reserve"), 1);
	assert_int_equal(*(volatile uint64_t *)bo.cpu, 0x3333);
	assert_int_equal(inject_hits("placed_io_reserve"), 2);
	inject_clear();
	guest_destroy(&bo);
	guest_destroy(&jobs);
	close(fd);
	guest_assert_nothing_left();
}

/* ---- PRIME ------------------------------------------------------------------------ */

/* How much VRAM clients have. */
static uint64_t vram_used(int fd)
{
	return region(fd, DRM_AGATE_REGION_VRAM).used;
}

static void wait_for_vram(int fd, uint64_t used)
{
	int64_t end = guest_deadline(10000);

	while (vram_used(fd) != used && guest_deadline(0) < end)
		usleep(1000);
	assert_int_equal(vram_used(fd), used);
}

static void check_words(const volatile uint64_t *words, uint64_t size, uint64_t want)
{
	for (uint64_t i = 0; i < size / 8; i++)
		assert_int_equal(words[i], want);
}

/*
 * A BO of VRAM alone leaves it when another driver imports it, is used in system memory by both,
 * and comes back when that driver has let it go.
 */
static void imported(void **state)
{
	int fd = guest_open(), vgem = stranger_open("vgem"), dmabuf;
	struct bo jobs = guest_bo(fd, PAGE, 0), bo = placed(fd, MIB, AGATE_BO_CPU_VISIBLE, VRAM);
	const uint64_t before = vram_used(fd);
	struct drm_gem_close end = { 0 };
	const volatile uint64_t *seen;

	(void)state;
	fill(&jobs, &bo, 0x1111);
	assert_int_equal(vram_used(fd), before + MIB);
	dmabuf = dmabuf_export(&bo);
	/* So far nobody uses it. */
	assert_int_equal(vram_used(fd), before + MIB);
	assert_int_equal(dmabuf_try_import(vgem, dmabuf, &end.handle), 0);
	wait_for_vram(fd, before);
	seen = dmabuf_map(dmabuf);
	check_words(seen, MIB, 0x1111);
	fill(&jobs, &bo, 0x2222);
	assert_int_equal(vram_used(fd), before);
	check_words(seen, MIB, 0x2222);
	assert_int_equal(guest_ioctl(vgem, DRM_IOCTL_GEM_CLOSE, &end), 0);
	fill(&jobs, &bo, 0x3333);
	assert_int_equal(vram_used(fd), before + MIB);
	check_words(seen, MIB, 0x3333);
	munmap((void *)seen, MIB);
	close(dmabuf);
	close(vgem);
	guest_destroy(&bo);
	guest_destroy(&jobs);
	close(fd);
	guest_assert_nothing_left();
	stranger_unload("vgem");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(counts, guest_teardown),
		cmocka_unit_test_teardown(asks, guest_teardown),
		cmocka_unit_test_teardown(query_refuses, guest_teardown),
		cmocka_unit_test_teardown(map_rules, guest_teardown),
		cmocka_unit_test_teardown(way_fails_once, guest_teardown),
		cmocka_unit_test_teardown(imported, guest_teardown),
	};

	return cmocka_run_group_tests_name("regions", tests, NULL, NULL);
}
