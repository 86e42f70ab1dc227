// SPDX-License-Identifier: MIT
/* Lab 07: a machine with little memory, and a client that wants more than there is left. */
#include "purge.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define BO_PAGES	256u
#define MOST		200
/* On a busy host kswapd, too, has to wait for a processor. */
#define PATIENCE_MS	10000

static long meminfo(const char *name)
{
	char line[128], key[32];
	FILE *f = fopen("/proc/meminfo", "re");
	long kib = 0, value;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%31[^:]: %ld kB", key, &value) == 2 && !strcmp(key, name))
			kib = value;
	if (f)
		fclose(f);
	return kib;
}

/* MiB that the kernel could still give to a BO: none of them from the area for CMA. */
static long available(void)
{
	long kib = meminfo("MemAvailable") - meminfo("CmaFree");

	if (kib < 10240)
		fail_msg("there are only %ld KiB of memory", kib);
	return kib / 1024;
}

/* kswapd begins when a tenth of the memory is left, and not only with the last MiB. */
static void reclaim_early(void)
{
	int fd = open("/proc/sys/vm/watermark_scale_factor", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "1000", 4) != 4)
		fail_msg("watermark_scale_factor: %s", strerror(errno));
	close(fd);
}

/*
 * While kswapd is about to purge a BO, a fault may find no memory, and say so: a client that
 * tries again gets it.
 */
static struct bo patient_bo(int fd, uint64_t salt)
{
	const struct timespec pause = { .tv_nsec = 5000000 };
	struct bo bo = make_bo(fd, BO_PAGES);

	bo.cpu = map_more(&bo, BO_PAGES);
	for (unsigned int i = 0; i < BO_PAGES; i++) {
		const int64_t end = guest_deadline(PATIENCE_MS);

		while (!can_read(word(bo.cpu, i)) && guest_deadline(0) < end)
			nanosleep(&pause, NULL);
		if (!can_read(word(bo.cpu, i)))
			broken("memory for a BO, from those that nobody needs", "SIGBUS");
		*word(bo.cpu, i) = salt + i;
	}
	return bo;
}

/*
 * A cache of BOs that nobody needs takes most of the memory; then a client fills new BOs.  Its
 * faults allocate under the driver's locks, and the kernel has nothing else to take.
 */
void test_pressure(void **state)
{
	static struct bo cache[MOST], wanted[MOST];
	static int files[MOST];
	int fd = purge_open(), kept_file, purged = 0;
	long cached = available() * 6 / 10, more;
	struct bo jobs = guest_bo(fd, PAGE, 0), kept = used_bo(&jobs, 2 * BO_PAGES, 1000);

	(void)state;
	kept_file = look_at(true);
	reclaim_early();
	if (cached > MOST)
		cached = MOST;
	more = cached;
	rule("retained is 1 as long as the BO was not purged, whatever the advice");
	for (long i = 0; i < cached; i++) {
		cache[i] = i % 8 ? full_bo(fd, BO_PAGES, 0) : used_bo(&jobs, BO_PAGES, 0);
		files[i] = look_at(true);
		dontneed(&cache[i]);
	}
	rule("when memory runs short the kernel takes BOs that nobody needs, also for the driver's own allocations");
	for (long i = 0; i < more; i++)
		wanted[i] = patient_bo(fd, (uint64_t)i * BO_PAGES);
	for (long i = 0; i < cached; i++)
		purged += is_purged(files[i]);
	check_at_least(purged, 1, "BOs that were purged");
	rule("BOs that are needed keep their pages, however short memory is");
	check_kept(kept_file, "a BO that is needed");
	check_full(kept.cpu, 2 * BO_PAGES, 1000, "of a BO that is needed");
	for (long i = 0; i < more; i++) {
		check_full(wanted[i].cpu, BO_PAGES, (uint64_t)i * BO_PAGES, "of a BO that is needed");
		guest_destroy(&wanted[i]);
	}
	rule("retained tells the truth: it is 0 for a BO that was purged");
	for (long i = 0; i < cached; i++) {
		advised(&cache[i], AGATE_MADV_WILLNEED, !is_purged(files[i]), "after the pressure");
		close(files[i]);
		guest_destroy(&cache[i]);
	}
	close(kept_file);
	guest_destroy(&kept);
	guest_destroy(&jobs);
	close(fd);
	check_nothing_left();
}
