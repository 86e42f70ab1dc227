// SPDX-License-Identifier: MIT
/*
 * PID 1 makes the kernel print two things on its console: marks, and where each task
 * hangs.
 *
 * The kernel prints in order, so a reader that sees a mark has seen all lines before it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "init.h"

#define THREADS_MAX	64	/* of one child: enough to see why they wait */

/* One record of the kernel's log, at a level that the console shows. */
static int log_line(const char *text, size_t len)
{
	char record[CTL_MARK_MAX + 16];
	int fd, n, error = 0;

	n = snprintf(record, sizeof(record), "<5>%.*s\n", (int)len, text);
	if (n >= (int)sizeof(record))
		return EMSGSIZE;
	/* Opened each time: the kernel limits how much one open file may write. */
	fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	if (write(fd, record, (size_t)n) != n)
		error = errno;
	close(fd);
	return error;
}

static int mark(const uint8_t *text, size_t len)
{
	if (!len || len > CTL_MARK_MAX || memchr(text, '\n', len) || memchr(text, '\0', len))
		return EINVAL;
	return log_line((const char *)text, len);
}

void where_mark(const struct ctl_header *hdr, const uint8_t *data)
{
	port_ack(hdr->id, mark(data, hdr->len));
}

/* Logs the functions to which the kernel would return, from the innermost call on. */
static void log_stack(pid_t group, const char *thread)
{
	char path[300], line[CTL_MARK_MAX], name[32] = "?";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/comm", (int)group, thread);
	f = fopen(path, "re");
	if (f) {
		if (!fgets(name, sizeof(name), f))
			name[0] = '\0';
		name[strcspn(name, "\n")] = '\0';
		fclose(f);
	}
	snprintf(path, sizeof(path), "/proc/%d/task/%s/stack", (int)group, thread);
	f = fopen(path, "re");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		if (name[0]) {
			snprintf(path, sizeof(path), "where: thread %.20s (%s) is in:", thread, name);
			log_line(path, strlen(path));
			name[0] = '\0';
		}
		log_line(line, strcspn(line, "\n"));
	}
	fclose(f);
}

/* The kernel's own report has the tasks that no signal can wake; this one has the others. */
static void log_threads(pid_t group)
{
	char path[64];
	struct dirent *de;
	int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)group);
	dir = opendir(path);
	if (!dir)
		return;
	while (n < THREADS_MAX && (de = readdir(dir))) {
		if (de->d_name[0] != '.') {
			log_stack(group, de->d_name);
			n++;
		}
	}
	closedir(dir);
}

void where_hung(const struct ctl_header *hdr, const uint8_t *data)
{
	int error = files_poke("/proc/sysrq-trigger", "l");

	if (!error)
		error = files_poke("/proc/sysrq-trigger", "w");
	children_each(log_threads);
	port_ack(hdr->id, error ? error : mark(data, hdr->len));
}
