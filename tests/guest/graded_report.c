// SPDX-License-Identifier: MIT
/*
 * The report of a graded test; see graded_report.h.
 *
 * Lines wait in the page of agate_held.h until there is one that may not.  All of them are one
 * write to a pipe then.
 */
#include "graded_report.h"

#include <ctype.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "agate_held.h"

#define EXIT_USAGE	2

static int report_fd = REPORT_FD;
static struct held *page;	/* NULL: this program has none */
static struct held *held;	/* NULL: no line waits */
/* Threads of a test report, too; it also keeps a child from getting half of a line. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void send_text(const char *text, size_t len)
{
	if (write(report_fd, text, len) != (ssize_t)len)
		_exit(EXIT_USAGE);	/* without a report there is no test */
}

/* The grader may read the page at any time: it finds lines twice then, but never half of one. */
static void set_held(uint32_t len)
{
	held->changes++;
	__atomic_store_n(&held->len, len, __ATOMIC_RELEASE);
}

static void send_held(void)
{
	if (!held || !held->len)
		return;
	send_text(held->text, held->len);
	set_held(0);
}

static void add(const char *line, size_t len)
{
	if (!held) {
		send_text(line, len);
		return;
	}
	if (held->len + len > sizeof(held->text))
		send_held();
	memcpy(held->text + held->len, line, len);
	set_held(held->len + (uint32_t)len);
}

static void add_line(const char *fmt, va_list ap, bool now)
{
	char line[REPORT_LINE + 1];
	size_t len;

	vsnprintf(line, REPORT_LINE, fmt, ap);
	len = strlen(line);
	for (size_t i = 0; i < len; i++)
		if (iscntrl((unsigned char)line[i]))
			line[i] = ' ';
	line[len++] = '\n';
	pthread_mutex_lock(&lock);
	add(line, len);
	if (now)
		send_held();
	pthread_mutex_unlock(&lock);
}

void report_line(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_line(fmt, ap, true);
	va_end(ap);
}

void report_where(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_line(fmt, ap, false);
	va_end(ap);
}

/* What waits comes before everything that the child will say. */
static void before_fork(void)
{
	pthread_mutex_lock(&lock);
	send_held();
}

static void in_parent(void)
{
	pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
	held = NULL;
	pthread_mutex_unlock(&lock);
}

void report_prepare(void)
{
	void *map = mmap(NULL, HELD_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return;
	page = map;
	memset(page, 0, sizeof(*page));
	strcpy(page->magic, HELD_MAGIC);
}

void report_begin(const char *test, int fd, bool hold)
{
	struct timespec now;

	report_fd = fd;
	if (!hold || !page || pthread_atfork(before_fork, in_parent, in_child))
		return;
	clock_gettime(CLOCK_BOOTTIME, &now);
	held = page;
	set_held(0);
	held->begun = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	snprintf(held->test, sizeof(held->test), "%s", test);
}
