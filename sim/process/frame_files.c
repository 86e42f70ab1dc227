// SPDX-License-Identifier: MIT
/*
 * Starting the writer of frames, and speaking to it (frame_files.h).
 */
#include "frame_files.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The writer's descriptors, after those of standard input, output and error. */
enum { WRITER_IN = 3, WRITER_OUT, WRITER_FOLDER, WRITER_END };

/* So that none of them overwrites another before it is moved. */
static int out_of_the_way(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, WRITER_END);
}

/*
 * It must keep nothing of the launcher's open: those on the other end wait for the process
 * that serves the guest to be gone.
 */
static void writer_run(int folder, int in, int out, uint64_t limit, unsigned int gpu)
{
	folder = out_of_the_way(folder);
	in = out_of_the_way(in);
	out = out_of_the_way(out);
	if (dup2(in, WRITER_IN) < 0 || dup2(out, WRITER_OUT) < 0 ||
	    dup2(folder, WRITER_FOLDER) < 0 || close_range(WRITER_END, UINT_MAX, 0))
		exit(1);
	prctl(PR_SET_NAME, "agate-frames");
	/* Encoding takes long, and nothing of it is urgent. */
	sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 });
	/* It ends when the other one does, and not before. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	exit(frames_serve(WRITER_FOLDER, WRITER_IN, WRITER_OUT, limit, gpu));
}

/* Neither side has a signal handler: no call is interrupted. */
static const char *writer_fork(struct frames *frames, int folder, uint64_t limit,
			       unsigned int gpu)
{
	int to[2], from[2];
	pid_t pid;

	/* The caller ends the process, and with it the pipe that there may be. */
	if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
		return "no pipe for frames";
	pid = fork();
	if (!pid)
		writer_run(folder, to[0], from[1], limit, gpu);
	close(to[0]);
	close(from[1]);
	frames->to = to[1];
	frames->from = from[0];
	return pid < 0 ? "no process for frames" : NULL;
}

const char *frames_open(struct frames *frames, const char *folder, uint64_t limit,
			unsigned int gpu)
{
	const char *why;
	int fd;

	*frames = (struct frames){ .to = -1, .from = -1 };
	if (!folder)
		return NULL;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return "--scanout-dir names no folder";
	why = writer_fork(frames, fd, limit, gpu);
	close(fd);
	return why;
}

static void frames_lost(struct frames *frames)
{
	fputs("agate-sim: the writer of frames is gone\n", stderr);
	close(frames->to);
	close(frames->from);
	frames->to = -1;
}

static bool frames_send(struct frames *frames, const void *from, size_t len)
{
	const uint8_t *at = from;

	while (frames->to >= 0 && len) {
		ssize_t n = write(frames->to, at, len);

		if (n <= 0) {
			frames_lost(frames);
			return false;
		}
		at += n;
		len -= (size_t)n;
	}
	return frames->to >= 0;
}

void frames_begin(struct frames *frames, uint32_t number, uint32_t width, uint32_t height)
{
	const struct frames_message message = { FRAMES_BEGIN, number, width, height };

	frames->width = width;
	frames_send(frames, &message, sizeof(message));
}

void frames_row(struct frames *frames, const uint8_t *rgba)
{
	const struct frames_message message = { .kind = FRAMES_ROW };

	if (frames_send(frames, &message, sizeof(message)))
		frames_send(frames, rgba, (size_t)frames->width * 4);
}

void frames_end(struct frames *frames, bool shown)
{
	const struct frames_message message = { .kind = shown ? FRAMES_SHOWN : FRAMES_DROPPED };
	char done;

	if (frames_send(frames, &message, sizeof(message)) && read(frames->from, &done, 1) != 1)
		frames_lost(frames);
}
