// SPDX-License-Identifier: MIT
/*
 * One request in flight, one line for an answer (gpu_control.h).
 */
#include "gpu_control.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* How often to ask whether the answer is late: the clock that decides may stand still. */
#define LOOK_MS		100

struct wait {
	bool (*late)(void *arg);
	void *arg;
};

/* Waits until the socket is ready; false when that takes too long. */
static bool wait_for(int fd, short events, const struct wait *wait)
{
	struct pollfd p = { .fd = fd, .events = events };

	while (poll(&p, 1, LOOK_MS) <= 0)
		if (wait->late(wait->arg))
			return false;
	return true;
}

static bool send_all(int fd, const char *text, size_t len, const struct wait *wait)
{
	ssize_t n;

	while (len) {
		n = send(fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		text += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
		if (len && !wait_for(fd, POLLOUT, wait))
			return false;
	}
	return true;
}

/* The length of the next whole line, which stays in @control->in; 0: there is none. */
static size_t next_line(struct gpu_control *control, const struct wait *wait)
{
	char *end;
	ssize_t n;

	for (;;) {
		end = memchr(control->in, '\n', control->used);
		if (end)
			return (size_t)(end - control->in) + 1;
		if (control->used == sizeof(control->in) ||
		    !wait_for(control->fd, POLLIN, wait))
			return 0;
		n = recv(control->fd, control->in + control->used,
			 sizeof(control->in) - control->used, MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return 0;
		control->used += n > 0 ? (size_t)n : 0;
	}
}

static json_t *answer_to(struct gpu_control *control, json_int_t id, const struct wait *wait)
{
	json_t *answer;
	size_t len;

	while ((len = next_line(control, wait))) {
		answer = json_loadb(control->in, len, JSON_REJECT_DUPLICATES, NULL);
		control->used -= len;
		memmove(control->in, control->in + len, control->used);
		if (!answer || json_integer_value(json_object_get(answer, "id")) == id)
			return answer;
		json_decref(answer);
	}
	return NULL;
}

json_t *gpu_control_ask(struct gpu_control *control, const json_t *request,
			bool (*late)(void *arg), void *arg)
{
	const struct wait wait = { .late = late, .arg = arg };
	json_t *numbered = json_copy((json_t *)request), *answer = NULL;
	json_int_t id = ++control->last_id;
	char *text = NULL;
	size_t len;

	if (numbered && !json_object_set_new(numbered, "id", json_integer(id)))
		text = json_dumps(numbered, JSON_COMPACT);
	if (text) {
		len = strlen(text);
		text[len] = '\n';	/* in place of the terminator */
		if (send_all(control->fd, text, len + 1, &wait))
			answer = answer_to(control, id, &wait);
	}
	free(text);
	json_decref(numbered);
	return answer;
}
