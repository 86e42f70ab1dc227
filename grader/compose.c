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
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* "FILE:LINE:COLUMN: error: TEXT": the first such line, taken apart. */
static bool first_error(FILE *log, char *where, size_t size, char *text, size_t text_size)
{
	char line[1024];

	while (fgets(line, sizeof(line), log)) {
		char *mark = strstr(line, "error: "), *colon = strchr(line, ':');

		if (!mark)
			continue;
		mark += strlen("error: ");
		text_clean(text, text_size, mark, strcspn(mark, "\n"));
		where[0] = '\0';
		if (colon && colon < mark && strspn(colon + 1, "0123456789"))
			text_clean(where, size, line, (size_t)(colon - line) + 1 +
				   strspn(colon + 1, "0123456789"));
		return true;
	}
	return false;
}

static bool first_line(FILE *log, char *text, size_t size)
{
	char line[1024];

	if (!fgets(line, sizeof(line), log))
		return false;
	text_clean(text, size, line, strcspn(line, "\n"));
	return true;
}

void compose_explain(const struct compose *compose, enum compose_end end,
		     struct verdict *why, char *where, size_t size)
{
	char path[COMPOSE_PATH + 32], text[400] = "";
	FILE *log;

	memset(why, 0, sizeof(*why));
	where[0] = '\0';
	snprintf(path, sizeof(path), "%s/%s", compose->out,
		 end == COMPOSE_SOURCE ? "compile.log" : "symbols.log");
	log = fopen(path, "re");
	if (end == COMPOSE_SOURCE) {
		if (!log || !first_error(log, where, size, text, sizeof(text)))
			snprintf(text, sizeof(text), "the compiler's words are in %.300s",
				 path);
		verdict_set(why, VERDICT_FAIL, "The file compiles without a warning.",
			    "an object file", "%s", text);
	} else {
		if (!log || !first_line(log, text, sizeof(text)))
			snprintf(text, sizeof(text), "the list is in %.300s", path);
		verdict_set(why, VERDICT_FAIL,
			    "The file defines what the lab asks for, and uses what it allows.",
			    "no other symbols", "%s", text);
	}
	if (log)
		fclose(log);
}
