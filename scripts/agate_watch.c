// SPDX-License-Identifier: MIT
/*
 * agate-watch: run a command, and again whenever one of some files was saved.
 *
 * usage: agate-watch FILE... -- COMMAND [ARG]...
 *
 * It watches the files' folders, because many editors write a new file and give it the
 * old one's name.  A file that is saved while the command runs makes it run once more,
 * however often it was saved.  Between the runs a line shows since when it waits, and for
 * which files.  Ends with SIGINT or SIGTERM (exit status 0), or when a folder is gone
 * (1); the command's own exit status does not matter.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agate_stdio.h"

#define FILES_MAX	64
/* An editor's save is a handful of events; it is over when none has come for this long. */
#define QUIET_MS	50

struct watch {
	int fd;			/* inotify */
	int signals;
	sigset_t old_mask;
	int count;
	const char *paths[FILES_MAX];
	const char *names[FILES_MAX];	/* the paths' last parts */
	int folders[FILES_MAX];		/* inotify's descriptor of each path's folder */
	const char *saved;		/* the file that was saved last */
	bool gone;
};

static bool watch_file(struct watch *w, const char *path)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int id;

	if (w->count == FILES_MAX || strlen(path) >= sizeof(folder))
		return false;
	strcpy(folder, slash ? path : ".");
	if (slash)
		folder[slash == path ? 1 : slash - path] = '\0';
	id = inotify_add_watch(w->fd, folder, IN_CLOSE_WRITE | IN_MOVED_TO | IN_ONLYDIR |
			       IN_DELETE_SELF | IN_MOVE_SELF);
	if (id < 0) {
		fprintf(stderr, "agate-watch: %s: %s\n", folder, strerror(errno));
		return false;
	}
	w->paths[w->count] = path;
	w->names[w->count] = slash ? slash + 1 : path;
	w->folders[w->count++] = id;
	return true;
}

/* Is this event about one of the files? */
static bool is_ours(struct watch *w, const struct inotify_event *event)
{
	int i;

	if (event->mask & (IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT))
		w->gone = true;
	/* Events were lost: one of our files may have been among them. */
	if (event->mask & IN_Q_OVERFLOW) {
		w->saved = "something";
		return true;
	}
	for (i = 0; event->len && i < w->count; i++) {
		if (event->wd == w->folders[i] && strcmp(event->name, w->names[i]) == 0) {
			w->saved = w->names[i];
			return true;
		}
	}
	return false;
}

/* Reads all pending events; true when one of the files is among them. */
static bool take_events(struct watch *w)
{
	char buf[16 << 10] __attribute__((aligned(__alignof__(struct inotify_event))));
	bool ours = false;
	ssize_t n, at;

	while ((n = read(w->fd, buf, sizeof(buf))) > 0) {
		for (at = 0; at < n;) {
			const struct inotify_event *event = (const void *)(buf + at);

			ours |= is_ours(w, event);
			at += (ssize_t)(sizeof(*event) + event->len);
		}
	}
	return ours;
}

/* Is the signal one that ends the program?  The end of a child does not. */
static bool is_end(struct watch *w)
{
	struct signalfd_siginfo info;

	return read(w->signals, &info, sizeof(info)) != sizeof(info) || info.ssi_signo != SIGCHLD;
}

/* "  WAIT     12:04:31, until agate_gem.c is saved; ^C ends" */
static void tell_wait(const struct watch *w)
{
	time_t now = time(NULL);
	struct tm tm;
	int i;

	if (localtime_r(&now, &tm))
		printf("  WAIT     %02d:%02d:%02d, until ", tm.tm_hour, tm.tm_min, tm.tm_sec);
	else
		printf("  WAIT     until ");
	for (i = 0; i < w->count; i++)
		printf("%s%s", i ? " or " : "", w->names[i]);
	puts(" is saved; ^C ends");
	fflush(stdout);
}

/* Waits until a save is over; false when the program has to end. */
static bool wait_for_save(struct watch *w)
{
	struct pollfd fds[2] = {
		{ .fd = w->fd, .events = POLLIN },
		{ .fd = w->signals, .events = POLLIN },
	};
	bool saved = take_events(w);
	int n;

	if (!saved)
		tell_wait(w);
	while (!w->gone) {
		n = poll(fds, 2, saved ? QUIET_MS : -1);
		if (n < 0 && errno != EINTR)
			return false;
		if (n < 0)
			continue;
		if (n == 0)
			return true;
		if (fds[1].revents && is_end(w))
			return false;
		saved |= take_events(w);
	}
	fprintf(stderr, "agate-watch: the folder of %s is gone\n", w->paths[0]);
	return false;
}

/* Runs it to its end; false when a signal came meanwhile. */
static bool run(struct watch *w, char **argv, bool again)
{
	struct signalfd_siginfo info;
	pid_t pid;
	int status;

	/* Do not clear the screen the first time: it may have text that the user wants to read. */
	if (isatty(STDOUT_FILENO) && again)
		fputs("\033[H\033[2J", stdout);
	if (again)
		printf("  RUN      %s was saved\n", w->saved);
	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		perror("agate-watch: fork");
		return false;
	}
	if (pid == 0) {
		sigprocmask(SIG_SETMASK, &w->old_mask, NULL);
		execvp(argv[0], argv);
		fprintf(stderr, "agate-watch: %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	for (;;) {
		if (read(w->signals, &info, sizeof(info)) != sizeof(info))
			continue;
		if (info.ssi_signo != SIGCHLD) {
			/*
			 * The terminal has sent the signal to the command as well;
			 * another sender has not.
			 */
			if (info.ssi_code != SI_KERNEL)
				kill(pid, SIGTERM);
			waitpid(pid, &status, 0);
			return false;
		}
		if (waitpid(pid, &status, WNOHANG) == pid)
			return true;
	}
}

static bool begin(struct watch *w)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGCHLD);
	w->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w->fd < 0 || sigprocmask(SIG_BLOCK, &mask, &w->old_mask)) {
		perror("agate-watch");
		return false;
	}
	w->signals = signalfd(-1, &mask, SFD_CLOEXEC);
	return w->signals >= 0;
}

int main(int argc, char **argv)
{
	struct watch w = { 0 };
	bool again;
	int i;

	if (!stdio_fill() || !begin(&w))
		return 1;
	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (!watch_file(&w, argv[i]))
			return 1;
	}
	if (!w.count || i + 1 >= argc) {
		fputs("usage: agate-watch FILE... -- COMMAND [ARG]...\n", stderr);
		return 1;
	}
	for (again = false; run(&w, argv + i + 1, again) && wait_for_save(&w); again = true)
		;
	return w.gone ? 1 : 0;
}
