// SPDX-License-Identifier: MIT
/*
 * Building the driver (compose.h).
 */
#include "compose.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "explain.h"
#include "text.h"

/* The scripts have limits of their own; this one is for a script that hangs. */
#define TIME_LIMIT_MS	900000

static void end_group(int sig)
{
	(void)sig;
	kill(0, SIGKILL);
}

/*
 * The leader of a process group waits for the script, so that the group can be killed as
 * one: by us, or by the leader when we are gone, as the kernel then tells it.  @null and
 * @log become its input and output.  Runs between fork() and exit in a program with
 * threads, so only what is safe in a signal handler may be called.
 */
static void lead(const char *const *argv, pid_t parent, int null, int log) __attribute__((noreturn));

static void lead(const char *const *argv, pid_t parent, int null, int log)
{
	struct sigaction action = { .sa_handler = end_group };
	sigset_t none;
	int status = 0;
	pid_t pid;

	sigemptyset(&none);
	if (setpgid(0, 0) || sigaction(SIGTERM, &action, NULL) ||
	    prctl(PR_SET_PDEATHSIG, SIGTERM) || sigprocmask(SIG_SETMASK, &none, NULL) ||
	    dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
		_exit(COMPOSE_HOST);
	/* It was too late to be told. */
	if (getppid() != parent)
		_exit(COMPOSE_HOST);
	pid = fork();
	if (!pid) {
		signal(SIGTERM, SIG_DFL);
		/* The compiler's messages about its limits depend on it. */
		signal(SIGXFSZ, SIG_DFL);
		execv(argv[0], (char *const *)argv);
		_exit(COMPOSE_HOST);
	}
	while (pid < 0 || (waitpid(pid, &status, 0) < 0 && errno == EINTR))
		if (pid < 0)
			_exit(COMPOSE_HOST);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : COMPOSE_HOST);
}

static pid_t spawn(const char *const *argv, const char *path)
{
	int log = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), error;
	pid_t parent = getpid(), pid = -1;

	/* Report a missing script here: the child cannot. */
	if (log >= 0 && null >= 0 && !access(argv[0], X_OK))
		pid = fork();
	if (!pid)
		lead(argv, parent, null, log);
	error = errno;
	/* Also here, so that the group is there when we kill it. */
	if (pid > 0)
		setpgid(pid, pid);
	if (log >= 0)
		close(log);
	if (null >= 0)
		close(null);
	errno = error;
	return pid;
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
	compose->pid = spawn(argv, log);
	if (compose->pid < 0) {
		compose->pid = 0;
		return false;
	}
	compose->pidfd = (int)syscall(SYS_pidfd_open, compose->pid, 0);
	return true;
}

bool compose_runs(const struct compose *compose)
{
	struct pollfd p = { .fd = compose->pidfd, .events = POLLIN };

	return compose->pid && !poll(&p, 1, 0);
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

void compose_tree(const struct compose *compose, char *path, size_t size)
{
	snprintf(path, size, "%s/tree", compose->out);
}

bool compose_boxed(const struct compose *compose)
{
	char path[COMPOSE_PATH + 32];

	snprintf(path, sizeof(path), "%s/box.none", compose->out);
	return access(path, F_OK) != 0;
}

void compose_explain(const struct compose *compose, enum compose_end end,
		     const char *const *files, struct verdict *why, struct decode_place *place)
{
	char path[COMPOSE_PATH + 32], tree[COMPOSE_PATH + 32];
	char said[sizeof(((struct explanation *)0)->said)];
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
	compose_tree(compose, tree, sizeof(tree));
	found = len && (source ? explain_compile(log, len, tree, files, &explanation) :
				 explain_symbols(log, len, tree, files, &explanation));
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
