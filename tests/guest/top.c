// SPDX-License-Identifier: MIT
/*
 * agate-top on the driver: a client that works beside one that only holds BOs.  And what
 * agate-info says of memory.
 *
 * usage: top AGATE-TOP AGATE-INFO
 */
#include "guest.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#define DATA	2048u
#define JOBS	8u

static const char *program, *info_program;

/* Jobs one after another until it is killed; tells through the pipe when the first is done. */
static _Noreturn void work(int pipe)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);
	bool told = false;

	for (uint32_t i = 0; i < JOBS; i++)
		guest_job_write64(&bo, 128 * i, i + 1 < JOBS ? bo.va + 128 * (i + 1) : 0,
				  bo.va + DATA, i);
	for (;;) {
		/* Always one more than the GPU works on, so its slot is not empty for long. */
		if (guest_submit(fd, bo.va, 0, &bo.handle, 1, 0) ||
		    guest_submit(fd, bo.va, 0, &bo.handle, 1, 0) ||
		    guest_wait(fd, bo.handle, FOREVER))
			_exit(1);
		if (!told && write(pipe, "w", 1) == 1)
			told = true;
	}
}

/* A child that works; returns when it does. */
static pid_t start_worker(void)
{
	int ends[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		work(ends[1]);
	close(ends[1]);
	assert_int_equal(read(ends[0], &c, 1), 1);
	close(ends[0]);
	return pid;
}

static void end(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

/* What a program prints. */
static json_t *json_of(const char *path, const char *arguments)
{
	char command[128];
	json_t *root;
	FILE *out;

	snprintf(command, sizeof(command), "%s %s", path, arguments);
	out = popen(command, "r");
	assert_non_null(out);
	root = json_loadf(out, 0, NULL);
	assert_int_equal(pclose(out), 0);
	assert_non_null(root);
	return root;
}

static json_t *look(void)
{
	return json_of(program, "--once --json --interval 1000");
}

static json_t *client_of(json_t *root, pid_t pid)
{
	json_t *client;
	size_t i;

	json_array_foreach(json_object_get(root, "clients"), i, client) {
		if (json_integer_value(json_object_get(client, "pid")) == pid)
			return client;
	}
	fail_msg("agate-top does not show process %d", pid);
	return NULL;
}

static double busy_of(json_t *client, const char *engine)
{
	json_t *one = json_object_get(json_object_get(client, "engines"), engine);

	assert_non_null(one);
	return json_real_value(json_object_get(one, "busy"));
}

static long number(json_t *client, const char *one, const char *two, const char *three)
{
	json_t *value = json_object_get(json_object_get(client, one), two);

	if (three)
		value = json_object_get(value, three);
	assert_true(json_is_integer(value));
	return (long)json_integer_value(value);
}

static void set_label(const struct bo *bo, const char *label)
{
	struct drm_agate_set_label arg = {
		.handle = bo->handle, .label = (uintptr_t)label, .len = (uint32_t)strlen(label),
	};

	assert_int_equal(guest_ioctl(bo->fd, DRM_IOCTL_AGATE_SET_LABEL, &arg), 0);
}

static void busy_and_idle(void **state)
{
	int fd = guest_open();
	pid_t worker = start_worker();
	json_t *root, *client, *device;

	(void)state;
	root = look();
	client = client_of(root, worker);
	assert_string_equal(json_string_value(json_object_get(client, "driver")), "agate");
	assert_string_equal(json_string_value(json_object_get(client, "command")), "top");
	print_message("# busy: %f\n", busy_of(client, "vertex-tiler"));
	assert_true(busy_of(client, "vertex-tiler") > 0.0);
	assert_true(busy_of(client, "vertex-tiler") <= 1.0);
	assert_true(busy_of(client, "fragment") == 0.0);
	/* The busiest client is the first. */
	assert_ptr_equal(json_array_get(json_object_get(root, "clients"), 0), client);

	client = client_of(root, getpid());
	assert_true(busy_of(client, "vertex-tiler") == 0.0);
	device = json_array_get(json_object_get(root, "devices"), 0);
	assert_true(json_real_value(json_object_get(device, "busy")) > 0.0);
	assert_int_equal(json_integer_value(json_object_get(device, "max_hz")), 800000000);
	assert_true(json_integer_value(json_object_get(device, "hz")) >= 200000000);
	json_decref(root);
	end(worker);
	close(fd);
}

static void memory(void **state)
{
	int fd = guest_open();
	struct bo used = guest_bo(fd, 3 * PAGE, 0), cached = guest_bo(fd, 2 * PAGE, 0), heap;
	struct drm_agate_madvise advice = { .handle = cached.handle, .madv = AGATE_MADV_DONTNEED };
	struct drm_prime_handle export = { .handle = used.handle, .flags = DRM_CLOEXEC };
	struct bo contiguous;
	json_t *root, *client;

	(void)state;
	assert_int_equal(guest_create(fd, 4u << 20, AGATE_BO_HEAP | AGATE_BO_NOEXEC, &heap), 0);
	memset(used.cpu, 1, used.size);
	memset(cached.cpu, 1, cached.size);
	assert_int_equal(guest_create(fd, 4 * PAGE, AGATE_BO_CONTIGUOUS, &contiguous), 0);
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &export), 0);
	set_label(&cached, "Unused (BO cache)");
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_MADVISE, &advice), 0);

	root = look();
	client = client_of(root, getpid());
	assert_int_equal(number(client, "memory", "memory", "total"), 9 * PAGE + (4 << 20));
	assert_int_equal(number(client, "memory", "memory", "resident"), 9 * PAGE);
	assert_int_equal(number(client, "memory", "memory", "purgeable"), 2 * PAGE);
	assert_int_equal(number(client, "memory", "memory", "shared"), 3 * PAGE);
	assert_int_equal(number(client, "bos", "paged", NULL), 2);
	assert_int_equal(number(client, "bos", "cached", NULL), 1);
	assert_int_equal(number(client, "bos", "heap", NULL), 1);
	assert_int_equal(number(client, "bos", "contiguous", NULL), 1);
	json_decref(root);
	close(export.fd);
	assert_int_equal(guest_close_handle(fd, contiguous.handle), 0);
	assert_int_equal(guest_close_handle(fd, heap.handle), 0);
	guest_destroy(&cached);
	guest_destroy(&used);
	close(fd);
}

static json_t *power_of(json_t *root)
{
	json_t *device = json_array_get(json_object_get(root, "devices"), 0);
	json_t *power = json_object_get(device, "power");

	assert_non_null(power);
	return power;
}

static bool is_on(json_t *power, const char *domain)
{
	json_t *one = json_object_get(json_object_get(power, "domains"), domain);

	assert_true(json_is_boolean(one));
	return json_is_true(one);
}

static bool all_on(json_t *power)
{
	return is_on(power, "input") && is_on(power, "L2") && is_on(power, "shader");
}

static bool any_on(json_t *power)
{
	return is_on(power, "input") || is_on(power, "L2") || is_on(power, "shader");
}

/*
 * Looks until the GPU is shown with power, or without.  A worker that gets no processor for as
 * long as autosuspend_ms lets the GPU sleep, and then not every look finds it at work.
 */
static json_t *look_for(bool on)
{
	const int64_t limit = guest_deadline(30000);

	for (;;) {
		json_t *root = look(), *power = power_of(root);
		const char *status = json_string_value(json_object_get(power, "status"));

		assert_non_null(status);
		if (on ? !strcmp(status, "active") && all_on(power) :
		    !strcmp(status, "suspended") && !any_on(power))
			return root;
		if (guest_deadline(0) >= limit)
			fail_msg("the GPU is never shown with%s power", on ? "" : "out");
		json_decref(root);
	}
}

/* A GPU that works has power, one that rests has none, and to look at it does not wake it. */
static void power(void **state)
{
	int fd = guest_open();
	pid_t worker = start_worker();
	json_t *root = look_for(true), *seen = power_of(root);
	json_int_t resumes;

	(void)state;
	assert_true(json_real_value(json_object_get(seen, "active")) > 0.0);
	assert_int_equal(json_integer_value(json_object_get(seen, "autosuspend_ms")), 50);
	json_decref(root);
	end(worker);

	/* The second look begins when the GPU has long been off. */
	json_decref(look_for(false));
	root = look();
	seen = power_of(root);
	assert_string_equal(json_string_value(json_object_get(seen, "status")), "suspended");
	assert_true(json_real_value(json_object_get(seen, "active")) == 0.0);
	assert_false(any_on(seen));
	assert_int_equal(json_integer_value(json_object_get(seen, "failures")), 0);
	resumes = json_integer_value(json_object_get(seen, "resumes"));
	json_decref(root);
	root = look();
	seen = power_of(root);
	assert_int_equal(json_integer_value(json_object_get(seen, "resumes")), resumes);
	json_decref(root);
	close(fd);
}

/* A copy of a descriptor is the same client, also in another process. */
static void copies(void **state)
{
	int fd = guest_open(), copy = dup(fd);
	json_t *root, *client;
	size_t i, shown = 0;
	pid_t child = fork();

	(void)state;
	assert_true(child >= 0);
	if (!child) {
		pause();
		_exit(0);
	}
	root = look();
	json_array_foreach(json_object_get(root, "clients"), i, client)
		shown++;
	assert_int_equal(shown, 1);
	json_decref(root);
	end(child);
	close(copy);
	close(fd);
}

static void table(void **state)
{
	char command[128], line[512], pid[16];
	int fd = guest_open(), shown = 0, devices = 0, powers = 0;
	FILE *out;

	(void)state;
	snprintf(command, sizeof(command), "%s --once --interval 10", program);
	snprintf(pid, sizeof(pid), "%7d top ", getpid());
	out = popen(command, "r");
	assert_non_null(out);
	while (fgets(line, sizeof(line), out)) {
		devices += !strncmp(line, "agate 0000:", 11) && strstr(line, " of 800 MHz\n") != NULL;
		powers += !strncmp(line, "  power: ", 9) && strstr(line, "; autosuspend 50 ms; on: ");
		shown += !strncmp(line, pid, strlen(pid)) && strstr(line, "vertex-tiler 0%") != NULL;
	}
	assert_int_equal(pclose(out), 0);
	assert_int_equal(shown, 1);
	assert_int_equal(devices, 1);
	assert_int_equal(powers, 1);
	close(fd);
}

/* A disk that is full makes a program fail: what it printed is not complete. */
static void full_disk(void **state)
{
	char command[160];
	int status;

	(void)state;
	snprintf(command, sizeof(command), "%s --once --interval 10 >/dev/full 2>/dev/null", program);
	status = system(command);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	snprintf(command, sizeof(command), "%s >/dev/full 2>/dev/null", info_program);
	status = system(command);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

static void info(void **state)
{
	json_t *root = json_of(info_program, "--json"), *features, *area, *prime;
	char line[128];

	(void)state;
	features = json_object_get(root, "features");
	assert_true(json_is_true(json_object_get(features, "contiguous")));
	assert_true(json_is_true(json_object_get(features, "prime")));
	prime = json_object_get(root, "prime");
	assert_true(json_is_true(json_object_get(prime, "import")));
	assert_true(json_is_true(json_object_get(prime, "export")));
	area = json_object_get(root, "contiguous");
	assert_non_null(area);
	snprintf(line, sizeof(line), "CmaTotal: %14" JSON_INTEGER_FORMAT " kB\n",
		 json_integer_value(json_object_get(area, "total_kib")));
	assert_true(guest_file_says("/proc/meminfo", line));
	assert_true(json_integer_value(json_object_get(area, "free_kib")) > 0);
	json_decref(root);
}

/* All that the screen got so far: what does not change it gets only once. */
static char seen[65536];
static size_t len;

/* Read what the screen gets until a text has come, for half a minute at most. */
static bool read_until(int terminal, const char *text)
{
	struct pollfd poller = { .fd = terminal, .events = POLLIN };
	const int64_t limit = guest_deadline(30000);

	while (!strstr(seen, text) && guest_deadline(0) < limit && len < sizeof(seen) - 1) {
		ssize_t got;

		if (poll(&poller, 1, 1000) <= 0)
			continue;
		got = read(terminal, seen + len, sizeof(seen) - 1 - len);
		if (got <= 0)
			return false;
		len += (size_t)got;
		seen[len] = '\0';
	}
	return strstr(seen, text) != NULL;
}

static void screen(void **state)
{
	struct winsize size = { .ws_row = 24, .ws_col = 140 };
	int fd = guest_open(), terminal, status;
	pid_t child = forkpty(&terminal, NULL, NULL, &size);

	(void)state;
	assert_true(child >= 0);
	if (!child) {
		setenv("TERM", "xterm-256color", 1);
		execl(program, program, "--interval", "100", (char *)NULL);
		_exit(127);
	}
	assert_true(read_until(terminal, "agate-top: 1 client"));
	assert_true(read_until(terminal, " of 800 MHz"));
	assert_true(read_until(terminal, "; autosuspend 50 ms; on: "));
	assert_true(read_until(terminal, "vertex-tiler"));
	assert_int_equal(write(terminal, "m", 1), 1);
	/* "memory" becomes "busy"; the screen keeps the letter that both have. */
	assert_true(read_until(terminal, "bus"));
	assert_int_equal(write(terminal, "q", 1), 1);
	/* Read to the end: it cannot end before somebody has read what it prints. */
	read_until(terminal, "never");
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(terminal);
	close(fd);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(busy_and_idle, guest_teardown),
		cmocka_unit_test_teardown(memory, guest_teardown),
		cmocka_unit_test_teardown(power, guest_teardown),
		cmocka_unit_test_teardown(copies, guest_teardown),
		cmocka_unit_test_teardown(table, guest_teardown),
		cmocka_unit_test_teardown(full_disk, guest_teardown),
		cmocka_unit_test_teardown(screen, guest_teardown),
		cmocka_unit_test_teardown(info, guest_teardown),
	};

	if (argc != 3) {
		fprintf(stderr, "usage: top AGATE-TOP AGATE-INFO\n");
		return 2;
	}
	program = argv[1];
	info_program = argv[2];
	return cmocka_run_group_tests_name("top", tests, NULL, NULL);
}
