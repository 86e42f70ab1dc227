// SPDX-License-Identifier: MIT
/*
 * The kernel's state: whether its checks are still active, and how much memory is left.
 *
 * PID 1 reads only the kernel's own files, none of a driver's: a driver that hangs must
 * not hold PID 1 up.  A file that this kernel lacks has no line.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "init.h"

#define SHMEM	"/sys/kernel/slab/shmem_inode_cache/"

static char text[4096];
static size_t text_len;

static void line(const char *key, unsigned long long value)
{
	int n = snprintf(text + text_len, sizeof(text) - text_len, "%s %llu\n", key, value);

	if (n > 0 && (size_t)n < sizeof(text) - text_len)
		text_len += (size_t)n;
}

/* The number at the beginning of a file; "Y" counts as 1 and "N" as 0. */
static void number(const char *key, const char *path)
{
	char word[32] = "";
	FILE *f = fopen(path, "re");

	if (!f)
		return;
	if (fgets(word, sizeof(word), f) && (word[0] == 'Y' || word[0] == 'N'))
		line(key, word[0] == 'Y');
	else if (word[0])
		line(key, strtoull(word, NULL, 10));
	fclose(f);
}

/* The number that follows @name and @space, in a file with one name per line. */
static void named(const char *key, const char *path, const char *name, const char *max_key)
{
	FILE *f = fopen(path, "re");
	size_t len = strlen(name);
	char *row = NULL, *p, *max;
	size_t room = 0;

	while (f && getline(&row, &room, f) > 0) {
		p = row + strspn(row, " ");
		if (strncmp(p, name, len))
			continue;
		line(key, strtoull(p + len, NULL, 10));
		max = strstr(p, "[max: ");
		if (max_key && max)
			line(max_key, strtoull(max + 6, NULL, 10));
		break;
	}
	free(row);
	if (f)
		fclose(f);
}

/*
 * Waits until RCU has freed everything that was left to it before.  Each processor frees its
 * objects in the order in which it got them, and MEMBARRIER_CMD_GLOBAL waits for an object
 * of its own on the processor on which it runs.  It does so unless grace periods are
 * expedited, as they are in these guests (rcupdate.rcu_expedited): then it only interrupts
 * the processors, and waits for no object.
 */
static void wait_for_rcu(void)
{
	cpu_set_t all, one;
	size_t cpu;

	if (sched_getaffinity(0, sizeof(all), &all))
		return;
	files_poke("/sys/kernel/rcu_normal", "1");
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (!sched_setaffinity(0, sizeof(one), &one))
			syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	}
	files_poke("/sys/kernel/rcu_normal", "0");
	sched_setaffinity(0, sizeof(all), &all);
}

/*
 * Waits for pending frees, and adds the counts that each processor keeps to the totals that
 * the files show.
 */
static void settle(void)
{
	char buf[4096];
	int fd;

	wait_for_rcu();
	files_poke(SHMEM "shrink", "1");
	fd = open("/proc/sys/vm/stat_refresh", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	while (read(fd, buf, sizeof(buf)) > 0)
		;
	close(fd);
}

void health(const struct ctl_header *hdr, const uint8_t *data)
{
	uint32_t exact;

	if (hdr->len != sizeof(exact)) {
		port_ack(hdr->id, EINVAL);
		return;
	}
	memcpy(&exact, data, sizeof(exact));
	if (exact)
		settle();
	text_len = 0;
	number("tainted", "/proc/sys/kernel/tainted");
	number("console_loglevel", "/proc/sys/kernel/printk");
	named("debug_locks", "/proc/lockdep_stats", "debug_locks:", NULL);
	named("lock_classes", "/proc/lockdep_stats", "lock-classes:", "lock_classes_max");
	number("dma_api_disabled", "/sys/kernel/debug/dma-api/disabled");
	number("kprobes", "/sys/kernel/debug/kprobes/enabled");
	number("shmem_files", SHMEM "objects");
	named("shmem_pages", "/proc/vmstat", "nr_shmem ", NULL);
	port_send(CTL_DATA, hdr->id, text, text_len);
	port_ack(hdr->id, 0);
}
