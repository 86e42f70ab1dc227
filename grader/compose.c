// SPDX-License-Identifier: MIT
/*
 * Building the driver (compose.h).
 */
#include "compose.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "explain.h"
#include "text.h"

#define TIME_LIMIT_MS	120000

extern char **environ;

/* A group of its own, which can be killed as one, and no signal blocked. */
static bool spawn(pid_t *pid, const char *const *argv, const char *log)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none;
	int error;

	sigemptyset(&none);
	if (posix_spawn_file_actions_init(&actions))
		return false;
	if (posix_spawnattr_init(&attr)) {
		posix_spawn_file_actions_destroy(&actions);
		return false;
	}
	error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) ?:
		posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC,
						 0644) ?:
		posix_spawn_file_actions_adddup2(&actions, 1, 2) ?:
		posix_spawnattr_setsigmask(&attr, &none) ?:
		posix_spawnattr_setpgroup(&attr, 0) ?:
		posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP) ?:
		posix_spawnp(pid, argv[0], &actions, &attr, (char *const *)argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	errno = error;
	return !error;
}

bool compose_start(struct compose *compose, const char *const *argv, const char *out)
{
	char log[COMPOSE_PATH + 16];

	memset(compose, 0, sizeof(*compose));
	if (snprintf(compose->out, sizeof(compose->out), "%s", out) >= (int)sizeof(compose->out)) {
		errno = ENAMETOOLONG;
		return false;
	}
	if (mkdir(out, 0777) && errno != EEXIST)
		return false;
	snprintf(log, sizeof(log), "%s/compose.log", out);
	if (!spawn(&compose->pid, argv, log)) {
		compose->pid = 0;
		return false;
	}
	compose->pidfd = (int)syscall(SYS_pidfd_open, compose->pid, 0);
	return true;
}

enum compose_end compose_wait(struct compose *compose, int interrupt_fd)
{
	struct pollfd p[2] = {
		{ .fd = compose->pidfd, .events = POLLIN },
		{ .fd = interrupt_fd, .events = POLLIN },
	};
	int status = 0, n;

	if (!compose->pid)
		return COMPOSE_HOST;
	do {
		n = poll(p, 2, TIME_LIMIT_MS);
	} while (n < 0 && errno == EINTR);
	if (!p[0].revents)
		kill(-compose->pid, SIGKILL);
	while (waitpid(compose->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (compose->pidfd >= 0)
		close(compose->pidfd);
	compose->pid = 0;
	if (!p[0].revents && p[1].revents)
		return COMPOSE_INTERRUPTED;
	if (WIFEXITED(status) && (WEXITSTATUS(status) == COMPOSE_OK ||
				  WEXITSTATUS(status) == COMPOSE_SOURCE ||
				  WEXITSTATUS(status) == COMPOSE_SYMBOLS))
		return (enum compose_end)WEXITSTATUS(status);
	return COMPOSE_HOST;
}

/* The beginning of a log: the first error counts, and it is there. */
static size_t read_log(const char *path, char *text, size_t size)
{
	FILE *log = fopen(path, "re");
	size_t n;

	if (!log)
		return 0;
	n = fread(text, 1, size, log);
	fclose(log);
	return n;
}

void compose_explain(const struct compose *compose, enum compose_end end,
		     const char *const *files, struct verdict *why, struct decode_place *place)
{
	char path[COMPOSE_PATH + 32], said[sizeof(((struct explanation *)0)->said)];
	bool source = end == COMPOSE_SOURCE, found;
	struct explanation explanation;
	static const size_t room = 1 << 20;
	char *log = malloc(room);
	size_t len = 0;

	memset(why, 0, sizeof(*why));
	snprintf(path, sizeof(path), "%s/%s", compose->out,
		 source ? "compile.log" : "symbols.log");
	if (log)
		len = read_log(path, log, room);
	found = len && (source ? explain_compile(log, len, ".", files, &explanation) :
				 explain_symbols(log, len, ".", files, &explanation));
	free(log);
	if (!found) {
		memset(place, 0, sizeof(*place));
		verdict_set(why, VERDICT_FAIL, "the file compiles, and uses what the lab allows",
			    "an object file", "what is written in %.300s", path);
		return;
	}
	*place = explanation.place;
	snprintf(why->log, sizeof(why->log), "%s", path);
	text_clean(said, sizeof(said), explanation.said, strlen(explanation.said));
	if (explanation.more)
		verdict_set(why, VERDICT_FAIL, explanation.rule, source ?
			    "no error and no warning" : "the lab's symbols",
			    "%s (and %u more, in %.300s)", said, explanation.more, path);
	else
		verdict_set(why, VERDICT_FAIL, explanation.rule, source ?
			    "no error and no warning" : "the lab's symbols", "%s", said);
}

void compose_last_words(const struct compose *compose, char *text, size_t size)
{
	char path[COMPOSE_PATH + 32], line[512];
	FILE *log;

	text_clean(text, size, "it said nothing", 15);
	snprintf(path, sizeof(path), "%s/compose.log", compose->out);
	log = fopen(path, "re");
	if (!log)
		return;
	while (fgets(line, sizeof(line), log))
		text_clean(text, size, line, strcspn(line, "\n"));
	fclose(log);
}
