// SPDX-License-Identifier: MIT
/*
 * Draws the live line (live.h) in a thread of its own, because the others wait while a test
 * hangs.
 */
#include "live.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "timing.h"

#define LINE_LEN	240
/* Two labs side by side, each on both kernels. */
#define TASKS		(2 * FLAVOURS)
/* The line names a time only for a task that takes longer. */
#define QUIET_NS	2000000000ull
#define SECOND_NS	1000000000ull

static struct {
	char lab[LAB_NAME];
	unsigned int done, all;
	struct task {
		char lab[LAB_NAME];
		enum flavour flavour;
		char what[2 * LAB_NAME];	/* empty: nothing, and free for any lab */
		unsigned int limit_ms;
		uint64_t begun;
	} tasks[TASKS];
	bool drawing, stop;
	pthread_t thread;
} live;

/* Guards all of this and the terminal, from live_hide() to live_show(). */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t stopped = PTHREAD_COND_INITIALIZER;

static size_t add_task(const struct task *task, uint64_t now, char *text, size_t size)
{
	bool other = strcmp(task->lab, live.lab);
	uint64_t since = now - task->begun;
	size_t n;

	n = (size_t)snprintf(text, size, "  %s%s%s%s", other ? task->lab : "", other ? "/" : "",
			     task->what, task->flavour == FLAVOUR_DEBUG ? " (debug kernel)" : "");
	if (since < QUIET_NS || n >= size)
		return n;
	n += (size_t)snprintf(text + n, size - n, ": no answer for %u s",
			      (unsigned int)(since / SECOND_NS));
	if (task->limit_ms && n < size)
		n += (size_t)snprintf(text + n, size - n, " of at most %u s",
				      (task->limit_ms + 999) / 1000);
	return n;
}

void live_text(uint64_t now, char *text, size_t size)
{
	size_t n = (size_t)snprintf(text, size, "  %s %u/%u", live.lab, live.done, live.all), i;

	for (i = 0; i < TASKS && n < size; i++)
		if (live.tasks[i].what[0])
			n += add_task(&live.tasks[i], now, text + n, size - n);
}

/* The caller holds the lock. */
static void draw(void)
{
	char text[LINE_LEN];

	if (!live.drawing || live.done == live.all)
		return;
	live_text(timing_now(), text, sizeof(text));
	/* Without wrapping, so that one line can be erased. */
	fprintf(stderr, "\r\033[K\033[?7l%s\033[?7h", text);
}

static void erase(void)
{
	if (live.drawing)
		fputs("\r\033[K", stderr);
}

static void *redraw(void *arg)
{
	struct timespec next;

	(void)arg;
	pthread_mutex_lock(&lock);
	clock_gettime(CLOCK_REALTIME, &next);
	while (!live.stop) {
		next.tv_sec++;
		if (pthread_cond_timedwait(&stopped, &lock, &next) == ETIMEDOUT)
			draw();
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

void live_begin(void)
{
	pthread_mutex_lock(&lock);
	live.stop = false;
	live.drawing = isatty(STDERR_FILENO) && !pthread_create(&live.thread, NULL, redraw, NULL);
	pthread_mutex_unlock(&lock);
}

void live_end(void)
{
	bool drawn;

	live_hide();
	drawn = live.drawing;
	live.drawing = false;
	live.stop = true;
	pthread_cond_signal(&stopped);
	live_show();
	if (drawn)
		pthread_join(live.thread, NULL);
}

void live_hide(void)
{
	pthread_mutex_lock(&lock);
	erase();
}

void live_show(void)
{
	draw();
	pthread_mutex_unlock(&lock);
}

void live_count(const char *lab, unsigned int done, unsigned int all)
{
	live_hide();
	snprintf(live.lab, sizeof(live.lab), "%s", lab);
	live.done = done;
	live.all = all;
	live_show();
}

/* The place of this kernel and lab, or a free one; NULL if all are taken. */
static struct task *find_task(const char *lab, enum flavour flavour)
{
	struct task *found = NULL;
	size_t i;

	for (i = 0; i < TASKS; i++) {
		struct task *t = &live.tasks[i];

		if (!t->what[0])
			found = found ?: t;
		else if (t->flavour == flavour && !strcmp(t->lab, lab))
			return t;
	}
	return found;
}

void live_task(const char *lab, enum flavour flavour, const char *what, unsigned int limit_ms)
{
	struct task *task;

	live_hide();
	task = find_task(lab, flavour);
	if (task) {
		snprintf(task->lab, sizeof(task->lab), "%s", lab);
		snprintf(task->what, sizeof(task->what), "%s", what ?: "");
		task->flavour = flavour;
		task->limit_ms = limit_ms;
		task->begun = timing_now();
	}
	live_show();
}
