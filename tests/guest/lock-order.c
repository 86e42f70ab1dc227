// SPDX-License-Identifier: MIT
/*
 * Does lockdep know the order of the driver's locks from the moment at which the module is
 * loaded?  /proc/lockdep lists each class of locks, and the classes that were taken directly
 * under it.
 */
#include "guest.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LOCKDEP	"/proc/lockdep"

/* The second one is directly under the first one. */
static const char *const order[][2] = {
	{ "agate unplug_lock", "agate vm->lock" },
	{ "agate vm->lock", "agate bound.userptr_lock" },
	{ "agate bound.userptr_lock", "&mm->mmap_lock" },
	{ "&mm->mmap_lock", "agate prime.lock" },
	{ "agate prime.lock", "reservation_ww_class_acquire" },
	{ "reservation_ww_class_mutex", "agate entities->lock" },
	{ "agate entities->lock", "agate backing.lock" },
	{ "agate backing.lock", "agate purge.lock" },
	{ "agate purge.lock", "fs_reclaim" },
	{ "fs_reclaim", "agate man->lock" },
	{ "fs_reclaim", "agate card.kmem_lock" },
	{ "agate card.kmem_lock", "agate man->lock" },
	{ "agate card.kmem_lock", "agate ggtt.lock" },
	{ "fs_reclaim", "agate userptr_lock" },
	{ "fs_reclaim", "agate ggtt.lock" },
	{ "fs_reclaim", "agate ttm.bound_lock" },
	{ "fs_reclaim", "agate ttm.lru_lock" },
	{ "fs_reclaim", "agate pool lists" },
	{ "fs_reclaim", "agate scan.lock" },
	{ "fs_reclaim", "dma_fence_map" },
	{ "agate unplug_lock", "agate reset.lock" },
	{ "agate reset.lock", "dma_fence_map" },
	{ "dma_fence_map", "agate pm.lock" },
	{ "agate pm.lock", "agate vm->pt_lock" },
	{ "agate vm->pt_lock", "agate hand_over_lock" },
	{ "agate hand_over_lock", "agate mover.push_lock" },
	{ "agate mover.push_lock", "agate toucher.lock" },
	{ "agate toucher.lock", "agate lng.lock" },
	{ "agate lng.lock", "agate slots.lock" },
	{ "agate slots.lock", "agate mmu.lock" },
	{ "agate mmu.lock", "agate mover.lock" },
	{ "agate mover.lock", "agate bus.lock" },
};

/* The names that the locks of a driver would have which forgot to say what they are. */
static const char *const strangers[] = {
	"&adev->unplug_lock", "&adev->prime.lock", "&entities->lock", "&bo->backing.lock",
	"&adev->purge.lock", "&vm->lock", "&vm->pt_lock", "&adev->reset.lock", "&adev->pm.lock",
	"&adev->hand_over_lock", "&adev->slots.lock", "&mmu->lock", "&bus->lock",
	"&man->lock", "&g->lock", "&ttm->bound_lock", "&ttm->lru_lock", "&mover->push_lock",
	"&mover->lock", "&scan->lock", "&pool->lists[i].lock", "&bound->userptr_lock",
	"&adev->userptr_lock", "&lng->lock", "&toucher->lock", "&card->kmem_lock",
};

/* The file's text. */
static char *read_lockdep(void)
{
	FILE *file = fopen(LOCKDEP, "re");
	size_t size = 4 << 20, len;
	char *text;

	assert_non_null(file);
	text = malloc(size);
	assert_non_null(text);
	len = fread(text, 1, size - 1, file);
	fclose(file);
	assert_in_range(len, 1, size - 2);
	text[len] = '\0';
	return text;
}

/* "ADDRESS ...: NAME" and lines " -> [ADDRESS] NAME" to the next empty one; NULL: none. */
static const char *find_class(const char *text, const char *name)
{
	char line[128];
	const char *found;

	snprintf(line, sizeof(line), ": %s\n", name);
	found = strstr(text, line);
	return found ? found + strlen(line) : NULL;
}

static bool is_under(const char *text, const char *outer, const char *inner)
{
	const char *at = find_class(text, outer);
	char line[128];

	snprintf(line, sizeof(line), "] %s\n", inner);
	while (at && *at && *at != '\n') {
		const char *end = strchr(at, '\n') + 1;
		const char *found = strstr(at, line);

		if (found && found + strlen(line) == end)
			return true;
		at = end;
	}
	return false;
}

static void known_at_once(void **state)
{
	char *text = read_lockdep();

	(void)state;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (!is_under(text, order[i][0], order[i][1]))
			fail_msg("lockdep has not seen \"%s\" under \"%s\"", order[i][1], order[i][0]);
	free(text);
}

/* After a job has taken them all, none has a class that the order does not know. */
static void of_these_classes(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);
	char *text;

	(void)state;
	guest_job_write64(&bo, 0, 0, bo.va + 2048, 1);
	assert_int_equal(guest_submit(fd, bo.va, 0, &bo.handle, 1, 0), 0);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	guest_destroy(&bo);
	close(fd);
	text = read_lockdep();
	for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++)
		if (find_class(text, strangers[i]))
			fail_msg("\"%s\" is of a class of its own", strangers[i]);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_at_once),
		cmocka_unit_test_teardown(of_these_classes, guest_teardown),
	};

	return cmocka_run_group_tests_name("lock-order", tests, NULL, NULL);
}
