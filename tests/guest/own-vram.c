// SPDX-License-Identifier: MIT
/*
 * The card's VRAM: jobs and CPUs use the same bytes of it, jobs also those that BAR2 does
 * not show, and nobody after its supply has gone.  tests/guest/kmod/own_vram.c puts BOs there.
 */
#include "graded.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define VRAM		"/sys/kernel/debug/agate_vram"
#define MIB		(1ull << 20)
#define VRAM_SIZE	(64 * MIB)	/* as run.sh makes the card ... */
#define VISIBLE		(16 * MIB)	/* ... and what BAR2 shows */
#define PAGES		4u
#define FILLED		0x5eed5eed5eed5eedull

/* One client, whose jobs lie in system memory. */
struct client {
	int fd;
	int control;
	struct bo jobs;
};

static struct client client_open(void)
{
	struct client client = { .fd = guest_open() };

	client.jobs = guest_bo(client.fd, PAGE, 0);
	inject_load();
	client.control = open(VRAM, O_RDWR | O_CLOEXEC);
	assert_true(client.control >= 0);
	return client;
}

static void client_close(struct client *client)
{
	close(client->control);
	guest_destroy(&client->jobs);
	close(client->fd);
	guest_assert_nothing_left();
}

static void check_file(const struct client *client, const char *want)
{
	char text[64] = "";

	assert_true(pread(client->control, text, sizeof(text) - 1, 0) > 0);
	assert_string_equal(text, want);
}

/* A BO of some pages from that byte of VRAM on, not mapped. */
static struct bo vram_bo(const struct client *client, uint64_t place)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%llu", (unsigned long long)place);
	struct bo bo;

	assert_int_equal(write(client->control, text, (size_t)len), len);
	assert_int_equal(guest_create(client->fd, PAGES * PAGE, AGATE_BO_NOEXEC, &bo), 0);
	return bo;
}

/* Run one job on these BOs: 1, or its fence's error. */
static int run(struct client *client, const struct agate_compute_payload *payload,
	       const struct bo *bo, const struct bo *other)
{
	uint32_t handles[] = { client->jobs.handle, bo->handle, other ? other->handle : 0 };

	return guest_compute(&client->jobs, payload, handles, other ? 3 : 2);
}

static int fill(struct client *client, const struct bo *bo, uint64_t value)
{
	return run(client, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = bo->va, .size = PAGES * PAGE, .value = value,
	}, bo, NULL);
}

static int copy(struct client *client, const struct bo *to, const struct bo *from)
{
	return run(client, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_COPY, .dst = to->va, .src = from->va, .size = PAGES * PAGE,
	}, to, from);
}

static void check_words(const struct bo *bo, unsigned int first_page, unsigned int pages,
			uint64_t want)
{
	const volatile uint64_t *words = bo->cpu;

	for (unsigned int i = first_page * PAGE / 8; i < (first_page + pages) * PAGE / 8; i++)
		assert_int_equal(words[i], want);
}

/* ---- Tests -------------------------------------------------------------------- */

static void shared(void **state)
{
	struct client client = client_open();
	struct bo bo = vram_bo(&client, 0), next = vram_bo(&client, PAGES * PAGE);
	volatile uint64_t *words;

	(void)state;
	check_file(&client, "16777216 2\n");
	guest_map(&bo);
	guest_map(&next);
	words = bo.cpu;
	for (unsigned int i = 0; i < PAGES * PAGE / 8; i++)
		words[i] = i;
	assert_int_equal(copy(&client, &next, &bo), 1);
	words = next.cpu;
	for (unsigned int i = 0; i < PAGES * PAGE / 8; i++)
		assert_int_equal(words[i], i);
	assert_int_equal(fill(&client, &bo, FILLED), 1);
	check_words(&bo, 0, PAGES, FILLED);
	assert_int_equal(words[1], 1);	/* the other BO is another part */
	guest_destroy(&bo);
	guest_destroy(&next);
	client_close(&client);
}

/* Does a CPU that reads this word live on? */
static bool readable(const volatile uint64_t *word)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child) {
		signal(SIGBUS, SIG_DFL);
		_exit(*word == FILLED ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status);
}

static void hidden(void **state)
{
	struct client client = client_open();
	/* Half of the first one, and all of the second, lies behind what BAR2 shows. */
	struct bo half = vram_bo(&client, VISIBLE - 2 * PAGE);
	struct bo last = vram_bo(&client, VRAM_SIZE - PAGES * PAGE), seen = vram_bo(&client, 0);

	(void)state;
	guest_map(&half);
	guest_map(&last);
	guest_map(&seen);
	assert_int_equal(fill(&client, &half, FILLED), 1);
	check_words(&half, 0, 2, FILLED);
	assert_false(readable((const volatile uint64_t *)half.cpu + 2 * PAGE / 8));
	assert_false(readable(last.cpu));
	assert_int_equal(copy(&client, &last, &half), 1);
	assert_int_equal(fill(&client, &seen, 0), 1);
	assert_int_equal(copy(&client, &seen, &last), 1);
	check_words(&seen, 0, PAGES, FILLED);
	guest_destroy(&half);
	guest_destroy(&last);
	guest_destroy(&seen);
	client_close(&client);
}

static void beyond(void **state)
{
	struct client client = client_open();
	struct bo bo = vram_bo(&client, VRAM_SIZE);

	(void)state;
	assert_int_equal(fill(&client, &bo, FILLED), -EIO);
	guest_destroy(&bo);
	client_close(&client);
}

/* Between power-cut and power-back. */
static void unpowered(void **state)
{
	struct client client = client_open();
	struct bo bo = vram_bo(&client, 0), other;

	(void)state;
	assert_int_equal(fill(&client, &bo, FILLED), -EIO);
	close(client.control);
	other = guest_bo(client.fd, PAGES * PAGE, 0);
	assert_int_equal(fill(&client, &other, FILLED), 1);
	guest_destroy(&other);
	guest_destroy(&bo);
	client.control = -1;
	client_close(&client);
}

/* After power-back. */
static void lost(void **state)
{
	struct client client = client_open();
	struct bo bo = vram_bo(&client, 0), last = vram_bo(&client, VRAM_SIZE - PAGES * PAGE);

	(void)state;
	guest_map(&bo);
	check_words(&bo, 0, PAGES, 0xa5a5a5a5a5a5a5a5);
	assert_int_equal(fill(&client, &bo, FILLED), 1);
	assert_int_equal(copy(&client, &bo, &last), 1);
	check_words(&bo, 0, PAGES, 0xa5a5a5a5a5a5a5a5);
	guest_destroy(&bo);
	guest_destroy(&last);
	client_close(&client);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared),
		cmocka_unit_test(hidden),
		cmocka_unit_test(beyond),
		cmocka_unit_test(unpowered),
		cmocka_unit_test(lost),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("own-vram", tests, NULL, NULL);
}
