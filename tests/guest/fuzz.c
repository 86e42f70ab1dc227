// SPDX-License-Identifier: MIT
/*
 * Calls of the driver with any arguments, by two processes at once that share a file and BOs:
 * fuzz SECONDS [card] [seed=N] [calls=N] [trace].
 *
 * A seed gives each process its steps; the results of calls, and which process is first, differ
 * from run to run.  Each call may only fail with an error that agate_drm.h lists for it, must
 * fail if the header forbids its arguments, and leaves alone what it does not write.  Beside
 * the two a third process runs jobs of its own, whose results must be right.  Afterwards nothing may
 * be left, the GPU must work, and the kernel's log must be silent.
 */
#include "fuzz.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_PAGES	8192	/* of all clients: then they let go */
#define ENOUGH_CALLS	20000	/* for each to have succeeded once */
#define WITNESS_SIZE	(64 * 1024u)

static struct fuzz_client client;
static unsigned int seconds;
static uint64_t calls = UINT64_MAX;

/* ---- The clients -------------------------------------------------------- */

/* Each step has its own numbers, whatever the steps before it did. */
static void begin_step(void)
{
	client.step++;
	client.random = client.seed ^ (client.number + 1) * 0x9e3779b97f4a7c15u ^
			client.step * 0xbf58476d1ce4e5b9u;
	for (int i = 0; i < 3; i++)
		fuzz_any64(&client);
	if (!client.random)
		client.random = 1;
}

void fuzz_step(struct fuzz_client *c)
{
	if (!c->child)
		begin_step();
	c->now = &c->file[fuzz_any(c, FUZZ_FILES)];
	if (fuzz_any(c, 8))
		fuzz_make_call(c);
	else
		fuzz_do_other(c);
}

static void on_alarm(int number)
{
	(void)number;
}

static _Noreturn void run_client(unsigned int number, int peer)
{
	const int64_t end = guest_deadline(1000 * (int64_t)seconds);
	struct sigaction action = { .sa_handler = on_alarm };

	sigaction(SIGALRM, &action, NULL);
	/* Not cmocka's: what happens here is no test. */
	signal(SIGSEGV, SIG_DFL);
	signal(SIGBUS, SIG_DFL);
	client.number = number;
	client.peer = peer;
	for (int i = 1; i < FUZZ_FILES; i++)
		if (!fuzz_open(&client, &client.file[i]))
			fuzz_wrong(&client, "the device does not open: %s", strerror(errno));
	for (int i = 0; i < FUZZ_FDS; i++)
		client.dmabuf[i] = client.sync_file[i] = -1;
	while (client.step < calls && guest_deadline(0) < end) {
		fuzz_step(&client);
		if (client.step % 64 == 0 && guest_counter("pages") > MOST_PAGES)
			fuzz_let_go(&client);
	}
	_exit(0);
}

/* ---- The witness ---------------------------------------------------------- */

/* A job that nobody else may disturb: its memory is its own. */
static void witness_job(int fd, struct bo *jobs, struct bo *bo, uint64_t value)
{
	struct agate_compute_payload payload = {
		.op = AGATE_COMPUTE_FILL, .dst = bo->va, .size = WITNESS_SIZE, .value = value,
	};
	const uint32_t handles[] = { jobs->handle, bo->handle };
	const volatile uint64_t *words = bo->cpu;
	int status = guest_compute(jobs, &payload, handles, 2);

	/* Where the host is busy a job may run for too long. */
	if (status != -ETIME)
		assert_int_equal(status, 1);
	assert_int_equal(guest_wait(fd, bo->handle, FOREVER), 0);
	for (unsigned int i = 0; status == 1 && i < WITNESS_SIZE / sizeof(*words); i++)
		assert_int_equal(words[i], value);
}

static bool all_ended(const pid_t *pid, bool *ended)
{
	int status;

	for (int i = 0; i < 2; i++) {
		if (ended[i] || waitpid(pid[i], &status, WNOHANG) != pid[i])
			continue;
		ended[i] = true;
		if (status)
			fail_msg("client %d ended with %#x", i, status);
	}
	return ended[0] && ended[1];
}

static void witness(const pid_t *pid)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	int64_t tell = guest_deadline(60000);
	bool ended[2] = { false, false };
	int fd = guest_open();
	struct bo jobs = guest_bo(fd, PAGE, 0), bo = guest_bo(fd, WITNESS_SIZE, 0);

	for (uint64_t value = 1; !all_ended(pid, ended); value++) {
		witness_job(fd, &jobs, &bo, value * 0x0101010101010101u);
		nanosleep(&pause, NULL);
		if (guest_deadline(0) < tell)
			continue;
		/* Those who look for tests that hang see that this one does not. */
		printf("# fuzz: the witness has run %llu jobs\n", (unsigned long long)value);
		fflush(stdout);
		tell = guest_deadline(60000);
	}
	guest_destroy(&bo);
	guest_destroy(&jobs);
	close(fd);
}

/* ---- The test ------------------------------------------------------------- */

/* A call that never succeeds is no test of what it does. */
static void tell_counts(void)
{
	const struct fuzz_shared *shared = client.shared;
	uint64_t all = 0;
	bool missing = false;

	for (unsigned int i = 0; i < fuzz_table_size; i++) {
		const struct fuzz_call *call = &fuzz_table[i];
		uint64_t made = shared->count[0][i].made + shared->count[1][i].made;
		uint64_t well = shared->count[0][i].went_well + shared->count[1][i].went_well;

		printf("# fuzz: %-24s %8llu calls, %8llu went well\n", call->name,
		       (unsigned long long)made, (unsigned long long)well);
		all += made;
		missing |= !well && (client.card || !call->absent);
	}
	printf("# fuzz: seed %llu, %llu calls\n", (unsigned long long)client.seed,
	       (unsigned long long)all);
	if (missing && all >= ENOUGH_CALLS)
		fail_msg("some call never succeeded");
}

static pid_t start_client(unsigned int number, int peer)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		run_client(number, peer);
	return pid;
}

static void fuzz(void **state)
{
	pid_t pid[2];
	int pair[2];

	(void)state;
	fuzz_check_table();
	client.shared = mmap(NULL, sizeof(*client.shared), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(client.shared, MAP_FAILED);
	fuzz_arena_init(&client);
	assert_true(fuzz_open(&client, &client.file[0]));
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair), 0);
	for (unsigned int i = 0; i < 2; i++)
		pid[i] = start_client(i, pair[i]);
	witness(pid);
	close(pair[0]);
	close(pair[1]);
	fuzz_close(&client, &client.file[0]);
	tell_counts();
}

/* What is left after all of it: nothing, and a GPU that works. */
static void works(void **state)
{
	int fd = guest_open();
	struct bo jobs = guest_bo(fd, PAGE, 0), bo = guest_bo(fd, WITNESS_SIZE, 0);

	(void)state;
	witness_job(fd, &jobs, &bo, 0x600d600d600d600du);
	guest_destroy(&bo);
	guest_destroy(&jobs);
	close(fd);
}

static bool read_argument(const char *text)
{
	unsigned long long number;

	if (!strcmp(text, "card"))
		client.card = true;
	else if (!strcmp(text, "trace"))
		client.trace = true;
	else if (sscanf(text, "seed=%llu", &number) == 1)
		client.seed = number;
	else if (sscanf(text, "calls=%llu", &number) == 1)
		calls = number;
	else
		return false;
	return true;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(fuzz, guest_teardown),
		cmocka_unit_test_teardown(works, guest_teardown),
	};
	bool bad = argc < 2;

	client.seed = (uint64_t)guest_deadline(0) ^ (uint64_t)time(NULL) << 20;
	if (!bad)
		seconds = (unsigned int)atoi(argv[1]);
	for (int i = 2; !bad && i < argc; i++)
		bad = !read_argument(argv[i]);
	if (bad || !seconds) {
		fprintf(stderr, "usage: fuzz SECONDS [card] [seed=N] [calls=N] [trace]\n");
		return 2;
	}
	printf("# fuzz: seed %llu\n", (unsigned long long)client.seed);
	return cmocka_run_group_tests_name("fuzz", tests, NULL, NULL);
}
