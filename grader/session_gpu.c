// SPDX-License-Identifier: MIT
/*
 * The part of the GPU's event log for one test, from GO to the end.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session_priv.h"

/*
 * Makes the GPU's process log the beginning or the end of a test, and write out all the
 * events that it still keeps in memory.
 */
static bool mark(struct state *st, const char *what)
{
	char text[LAB_NAME + 16];
	json_t *request, *answer;
	bool ok;

	snprintf(text, sizeof(text), "%s %s", what, st->evidence.test->name);
	request = json_pack("{s:s, s:s}", "cmd", "mark", "text", text);
	answer = request ? st->ops->control(st->guest, request) : NULL;
	ok = json_is_true(json_object_get(answer, "ok"));
	json_decref(answer);
	json_decref(request);
	return ok;
}

void state_gpu_log_begin(struct state *st)
{
	const char *path = st->ops->gpu_log(st->guest);
	struct stat sb;

	if (path && !st->evidence.gpu_failed && mark(st, "begin") && !stat(path, &sb))
		st->gpu_log_at = sb.st_size;
}

/* If the GPU's process ended, the log has the events that it had written before. */
void state_gpu_log_end(struct state *st)
{
	const char *path = st->ops->gpu_log(st->guest);
	struct evidence *e = &st->evidence;
	ssize_t n;
	int fd;

	if (!path || st->gpu_log_at < 0)
		return;
	if (!st->killed && !e->gpu_failed)
		mark(st, "end");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = pread(fd, st->gpu_log, sizeof(st->gpu_log), st->gpu_log_at);
	close(fd);
	e->gpu_log = st->gpu_log;
	e->gpu_log_len = n > 0 ? (size_t)n : 0;
}
