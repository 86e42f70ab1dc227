// SPDX-License-Identifier: MIT
/*
 * The steps of a run, in the words of the command line.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "gpu_control.h"

#define GET_MAX		(1ull << 30)
/* How often a write that waits for its reader looks at the time. */
#define LOOK_MS		100

/* Splits "a:b:c" in place into at most @max parts; returns their number. */
static size_t split(char *text, char **part, size_t max)
{
	size_t n = 0;

	for (char *p = text; p && n < max; n++) {
		part[n] = p;
		p = n + 1 < max ? strchr(p, ':') : NULL;
		if (p)
			*p++ = '\0';
	}
	return n;
}

/* The text may come in pieces, so the match continues where it stopped. */
static void watch(struct cli *cli, const char *data, size_t len)
{
	size_t want = cli->kill_on ? strlen(cli->kill_on) : 0;

	for (size_t i = 0; i < len && want; i++) {
		if (data[i] == cli->kill_on[cli->matched])
			cli->matched++;
		else
			cli->matched = data[i] == cli->kill_on[0];
		if (cli->matched == want) {
			cli->kill_on = NULL;
			vm_kill_sim(cli->vm, cli->kill_gpu);
			return;
		}
	}
}

static bool out_of_time(void *arg)
{
	const struct cli *cli = arg;

	return cli->vm && vm_out_of_time(cli->vm);
}

/*
 * The reader of our output may have stopped: even then we must end in time and react
 * to an interrupt.  A pipe that poll() calls writable takes PIPE_BUF bytes; we drop
 * the bytes that the reader does not take in time.
 */
void cli_write(struct cli *cli, int fd, const char *data, size_t len)
{
	struct pollfd p[2] = {
		{ .fd = fd, .events = POLLOUT },
		{ .fd = cli->cfg.interrupt_fd, .events = POLLIN },
	};
	int ready;
	ssize_t n;

	while (len) {
		ready = poll(p, 2, LOOK_MS);
		if (ready < 0 || p[1].revents || (!ready && out_of_time(cli)))
			return;		/* drop it */
		if (!ready)
			continue;
		n = write(fd, data, len < PIPE_BUF ? len : PIPE_BUF);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return;		/* the reader is gone: do not leave a guest behind */
		data += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
}

/* A program in a loop can print for ever, and logs are kept: a run has a limit for output. */
static void output(void *arg, enum vm_stream stream, const char *data, size_t len)
{
	int fd = stream == VM_STDOUT ? STDOUT_FILENO : STDERR_FILENO;
	struct cli *cli = arg;
	size_t part = cli->output_max - cli->written;

	if (part > len)
		part = len;
	cli->written += part;
	cli_write(cli, fd, data, part);
	if (part < len && !cli->dropped) {
		cli->dropped = true;
		fputs("agate-vm: too much output, the rest is dropped\n", stderr);
	}
	watch(cli, data, len);
}

static enum vm_status run_exec(struct cli *cli, const char *command, unsigned int timeout_ms,
			       int *exit_code)
{
	const char *const argv[] = { "/bin/sh", "-c", command, NULL };
	struct vm_exec exec = {
		.argv = argv, .output = output, .output_arg = cli, .timeout_ms = timeout_ms,
	};
	enum vm_status st = vm_exec(cli->vm, &exec);

	if (st != VM_OK)
		return st;
	if (exec.timed_out) {
		fprintf(stderr, "agate-vm: killed after %u ms: %s\n", timeout_ms, command);
		*exit_code = EXIT_TIMED_OUT;
	} else if (exec.signaled) {
		fprintf(stderr, "agate-vm: ended by signal %d: %s\n", exec.value, command);
		*exit_code = 128 + exec.value;
	} else {
		*exit_code = exec.value > EXIT_GUEST_MAX ? EXIT_GUEST_MAX : exec.value;
	}
	return VM_OK;
}

static enum vm_status run_put(struct cli *cli, char *args)
{
	char *part[3], *end;
	unsigned long mode = 0755;
	size_t n = split(args, part, 3);

	if (n < 2)
		return VM_HOST;
	if (n == 3) {
		mode = strtoul(part[2], &end, 8);
		if (*end || mode > 07777)
			return VM_HOST;
	}
	return vm_put(cli->vm, part[0], part[1], (unsigned int)mode);
}

/* Truncates the file at our position; a pipe or a device cannot be truncated. */
static bool cut_here(int fd)
{
	off_t at = lseek(fd, 0, SEEK_CUR);

	if (at < 0 || !ftruncate(fd, at) || errno == EINVAL)
		return true;
	perror("agate-vm: get");
	return false;
}

static enum vm_status run_get(struct cli *cli, char *args)
{
	bool made = false;
	enum vm_status st;
	char *part[2];
	int fd;

	if (split(args, part, 2) != 2)
		return VM_HOST;
	/* The old content stays until the guest sends a replacement. */
	fd = open(part[1], O_WRONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		fd = open(part[1], O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
		made = fd >= 0;
	}
	if (fd < 0) {
		fprintf(stderr, "agate-vm: %s: %s\n", part[1], strerror(errno));
		return VM_HOST;
	}
	st = vm_get(cli->vm, part[0], fd, GET_MAX);
	if (st == VM_OK && !cut_here(fd))
		st = VM_HOST;
	if (close(fd) && st == VM_OK) {
		fprintf(stderr, "agate-vm: %s: %s\n", part[1], strerror(errno));
		st = VM_HOST;
	}
	if (st != VM_OK && made)
		unlink(part[1]);
	return st;
}

/* exec-within:MS:COMMAND */
static enum vm_status run_exec_within(struct cli *cli, char *args, int *exit_code)
{
	char *part[2], *end;
	unsigned long ms;

	if (split(args, part, 2) != 2)
		return VM_HOST;
	ms = strtoul(part[0], &end, 10);
	if (*end || !ms || ms > 3600000)
		return VM_HOST;
	return run_exec(cli, part[1], (unsigned int)ms, exit_code);
}

/*
 * A request to the GPU's process.  A checksum that it answers is printed; a refusal is, too,
 * and fails the step.
 */
static enum vm_status run_gpu(struct cli *cli, unsigned int gpu, const char *text)
{
	struct gpu_control control = { .fd = vm_sim_control(cli->vm, gpu) };
	json_t *request = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *answer = NULL;
	enum vm_status st = VM_HOST;
	const json_t *crc;
	const char *why;

	if (request && control.fd >= 0)
		answer = gpu_control_ask(&control, request, out_of_time, cli);
	if (json_is_true(json_object_get(answer, "ok"))) {
		crc = json_object_get(answer, "crc");
		if (crc)
			printf("# crc %" JSON_INTEGER_FORMAT "\n", json_integer_value(crc));
		fflush(stdout);
		st = VM_OK;
	} else {
		why = json_string_value(json_object_get(answer, "error"));
		fprintf(stderr, "agate-vm: gpu: %s\n", why ? why :
			request ? "no answer" : "the request is not JSON");
	}
	json_decref(answer);
	json_decref(request);
	return st;
}

static const char *argument(const char *text, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(text, name, len) && text[len] == ':' && text[len + 1] ?
		text + len + 1 : NULL;
}

/* Behind a step's name, "=N" selects a GPU; returns what follows, or NULL. */
static const char *parse_gpu_number(const char *text, unsigned int *gpu)
{
	*gpu = 0;
	if (*text != '=')
		return text;
	*gpu = (unsigned int)text[1] - '0';
	return *gpu < VM_GPUS_MAX ? text + 2 : NULL;
}

/* The request of "gpu:REQUEST" or "gpu=N:REQUEST"; NULL for another step. */
static const char *parse_request(const char *text, unsigned int *gpu)
{
	static const char name[] = "gpu";

	if (strncmp(text, name, sizeof(name) - 1))
		return NULL;
	text = parse_gpu_number(text + sizeof(name) - 1, gpu);
	return text && text[0] == ':' && text[1] ? text + 1 : NULL;
}

/* "kill-sim" and "kill-sim-on:TEXT", each perhaps with "=N" behind its name. */
struct kill_step {
	unsigned int gpu;
	const char *on;		/* NULL: now */
};

static bool parse_kill(const char *text, struct kill_step *step)
{
	static const char now[] = "kill-sim", on[] = "kill-sim-on";
	bool waits = !strncmp(text, on, sizeof(on) - 1);

	*step = (struct kill_step){ .gpu = 0 };
	if (!waits && strncmp(text, now, sizeof(now) - 1))
		return false;
	text = parse_gpu_number(text + (waits ? sizeof(on) : sizeof(now)) - 1, &step->gpu);
	if (!text)
		return false;
	if (waits && text[0] == ':' && text[1])
		step->on = text + 1;
	return waits ? step->on != NULL : !*text;
}

static enum vm_status run_kill(struct cli *cli, const struct kill_step *step)
{
	if (!step->on)
		return vm_kill_sim(cli->vm, step->gpu);
	cli->kill_on = step->on;
	cli->kill_gpu = step->gpu;
	cli->matched = 0;
	return VM_OK;
}

bool step_valid(const char *text)
{
	static const char *const with[] = { "put", "get", "exec", "exec-within" };
	struct kill_step kill;
	const char *colon;
	unsigned int gpu;

	if (!strcmp(text, "poweroff") || !strcmp(text, "health") || parse_kill(text, &kill) ||
	    parse_request(text, &gpu))
		return true;
	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++) {
		const char *arg = argument(text, with[i]);

		if (!arg)
			continue;
		colon = strchr(arg, ':');
		return i == 2 || (colon && colon != arg && colon[1]);
	}
	return false;
}

enum vm_status step_run(struct cli *cli, const char *text, int *exit_code)
{
	enum vm_status st = VM_HOST;
	struct kill_step kill;
	unsigned int gpu;
	const char *arg;
	char *copy;

	if (parse_kill(text, &kill))
		return run_kill(cli, &kill);
	if (!strcmp(text, "poweroff"))
		return vm_poweroff(cli->vm);
	if (!strcmp(text, "health"))
		return vm_health(cli->vm, true, STDOUT_FILENO);
	arg = argument(text, "exec");
	if (arg)
		return run_exec(cli, arg, 0, exit_code);
	arg = parse_request(text, &gpu);
	if (arg)
		return run_gpu(cli, gpu, arg);
	copy = strdup(strchr(text, ':') + 1);
	if (!copy)
		return VM_HOST;
	if (argument(text, "put"))
		st = run_put(cli, copy);
	else if (argument(text, "get"))
		st = run_get(cli, copy);
	else
		st = run_exec_within(cli, copy, exit_code);
	free(copy);
	return st;
}
