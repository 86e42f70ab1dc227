// SPDX-License-Identifier: MIT
/*
 * One run of addr2line: without a shell, with a minimal environment (it would ask servers
 * for debug information), and with limits for time, memory and output.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "decode_priv.h"

#define TIME_LIMIT_MS	10000
#define MEMORY_LIMIT	(2ul << 30)

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static _Noreturn void child(char *const *argv, int out)
{
	struct rlimit memory = { MEMORY_LIMIT, MEMORY_LIMIT };
	char path[4096] = "PATH=/usr/bin:/bin", *env[] = { path, "LC_ALL=C", NULL };
	int null = open("/dev/null", O_RDWR);

	if (getenv("PATH"))
		snprintf(path, sizeof(path), "PATH=%s", getenv("PATH"));
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_AS, &memory);
	if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(null, 2) < 0)
		_exit(127);
	execvpe(argv[0], argv, env);
	_exit(127);
}

/* Reads to the end of the output; false when the end does not come in time or within @size. */
static bool collect(int fd, char *out, size_t size)
{
	int64_t deadline = now_ms() + TIME_LIMIT_MS;
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	size_t have = 0;

	for (;;) {
		int64_t left = deadline - now_ms();
		ssize_t n;

		if (left <= 0 || have + 1 >= size)
			return false;
		n = poll(&pfd, 1, (int)left);
		if (n < 0 && errno != EINTR)
			return false;
		if (n <= 0)
			continue;
		n = read(fd, out + have, size - 1 - have);
		if (n < 0 && errno != EINTR)
			return false;
		if (n == 0) {
			out[have] = '\0';
			return true;
		}
		if (n > 0)
			have += (size_t)n;
	}
}

static bool run(char *const *argv, char *out, size_t size)
{
	int fds[2], status;
	pid_t pid;
	bool ok;

	if (pipe2(fds, O_CLOEXEC))
		return false;
	pid = fork();
	if (pid == 0)
		child(argv, fds[1]);
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return false;
	}
	ok = collect(fds[0], out, size);
	close(fds[0]);
	if (!ok)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return false;
	}
	return ok && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool decode_run(const char *module, const char *section, const uint64_t *offsets, size_t count,
		char *out, size_t size)
{
	char addresses[SPLAT_FRAMES][20];
	const char *argv[SPLAT_FRAMES + 8] = {
		"addr2line", "-a", "-f", "-i", "-e", module, "-j", section,
	};
	char *args[SPLAT_FRAMES + 9];
	size_t i, n = 8;

	if (!count || count > SPLAT_FRAMES)
		return false;
	for (i = 0; i < count; i++) {
		snprintf(addresses[i], sizeof(addresses[i]), "0x%" PRIx64, offsets[i]);
		argv[n++] = addresses[i];
	}
	/* execvpe() does not write to these strings, although its type allows it. */
	memcpy(args, argv, n * sizeof(argv[0]));
	args[n] = NULL;
	return run(args, out, size);
}
