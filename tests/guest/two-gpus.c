// SPDX-License-Identifier: MIT
/*
 * Two GPUs in one guest: side by side, and with BOs of one that the other uses.
 */
#include "gpus.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define DATA		2048u

/* Frames that go round, how often, and how far apart the jobs of two turns are. */
#define FRAMES		4u
#define ROUNDS		1000u
#define STRIDE		512u
/* A job that bounces copies the whole BO: of a log for some rounds, not for all. */
#define LOG_ROUNDS	40u
#define LOGS		(ROUNDS / LOG_ROUNDS)

static const uint32_t kinds[] = { 0, AGATE_BO_CONTIGUOUS };

#define KINDS	(sizeof(kinds) / sizeof(kinds[0]))

/* ---- Side by side ------------------------------------------------------ */

/* Neither GPU appears in the files and counters of the other one. */
static void side_by_side(void **state)
{
	int fd[2] = { gpus_open(0), gpus_open(1) };
	struct bo bo[2];

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		bo[i] = guest_bo(fd[i], GPUS_SIZE, 0);
		guest_job_write64(&bo[i], 0, 0, bo[i].va + DATA, 7 + i);
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(guest_submit(fd[i], bo[i].va, 0, &bo[i].handle, 1, 0), 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct bo more = guest_bo(fd[i], PAGE, 0);

		assert_int_equal(guest_wait(fd[i], bo[i].handle, FOREVER), 0);
		assert_int_equal(((uint64_t *)bo[i].cpu)[DATA / 8], 7 + i);
		guest_look_at(fd[i]);
		assert_int_equal(guest_counter("bos"), 2);
		guest_look_at(fd[!i]);
		assert_int_equal(guest_counter("bos"), 1);
		guest_destroy(&more);
	}
	/* A handle of one GPU's file says nothing to the other one. */
	guest_destroy(&bo[0]);
	assert_int_equal(guest_close_handle(fd[0], bo[1].handle), EINVAL);
	guest_destroy(&bo[1]);
	close(fd[0]);
	close(fd[1]);
}

/* ---- BOs of the other one ---------------------------------------------- */

/* The reader's GPU sees what the other one, or its CPUs, wrote since it looked last. */
static void check_copy(int reader, struct bo *copies, struct bo *copy, const struct bo *from,
		       uint64_t value)
{
	const uint32_t handles[] = { copies->handle, from->handle, copy->handle };

	gpus_copy_job(copies, 0, 0, copy, 0, from);
	assert_int_equal(guest_submit(reader, copies->va, 0, handles, 3, 0), 0);
	assert_int_equal(guest_wait(reader, copy->handle, FOREVER), 0);
	gpus_check_words(copy->cpu, value);
}

static void rendered_and_read(int renderer, int reader, uint32_t flags)
{
	struct bo bo = guest_bo(renderer, GPUS_SIZE, flags), theirs = gpus_import(reader, &bo), back;
	struct bo jobs = guest_bo(renderer, PAGE, 0), copies = guest_bo(reader, PAGE, 0);
	struct bo copy = guest_bo(reader, GPUS_SIZE, 0);
	uint64_t value = 0x1000 + flags;

	guest_map(&theirs);
	/* Rendered on one, read on the other: by its GPU, and by the CPU through its map. */
	for (int i = 0; i < 3; i++, value++) {
		gpus_fill_job(&jobs, 0, &bo, value);
		assert_int_equal(gpus_submit(&jobs, 0, &bo, AGATE_SUBMIT_BO_WRITE, 0), 0);
		check_copy(reader, &copies, &copy, &theirs, value);
		gpus_check_words(theirs.cpu, value);
		gpus_check_words(bo.cpu, value);
	}
	/* And the other way round. */
	gpus_fill_job(&copies, 0, &theirs, value);
	assert_int_equal(gpus_submit(&copies, 0, &theirs, AGATE_SUBMIT_BO_WRITE, 0), 0);
	assert_int_equal(guest_wait(renderer, bo.handle, FOREVER), 0);
	gpus_check_words(bo.cpu, value);

	/* The import's dma-buf is the exporter's: it comes back as the BO itself. */
	back = gpus_import(renderer, &theirs);
	assert_int_equal(back.handle, bo.handle);
	guest_destroy(&copy);
	guest_destroy(&copies);
	guest_destroy(&jobs);
	/* The import outlives the BO's handle. */
	munmap(bo.cpu, bo.size);
	assert_int_equal(guest_close_handle(renderer, bo.handle), 0);
	gpus_check_words(theirs.cpu, value);
	guest_destroy(&theirs);
}

/* An import that is for reading: its exporter writes again and again. */
static void import_for_reading(int owner, int reader)
{
	struct bo bo = guest_bo(owner, GPUS_SIZE, 0), jobs = guest_bo(owner, PAGE, 0), theirs;
	struct bo copies = guest_bo(reader, PAGE, 0), copy = guest_bo(reader, GPUS_SIZE, 0);
	int dmabuf;

	assert_int_equal(dmabuf_try_export(owner, bo.handle, 0, &dmabuf), 0);
	theirs = dmabuf_import(reader, dmabuf);
	close(dmabuf);
	for (uint64_t value = 1; value <= 4; value++) {
		if (value % 2) {
			for (size_t i = 0; i < GPUS_SIZE / 8; i++)
				((volatile uint64_t *)bo.cpu)[i] = value;
		} else {
			gpus_fill_job(&jobs, 0, &bo, value);
			assert_int_equal(gpus_submit(&jobs, 0, &bo, AGATE_SUBMIT_BO_WRITE, 0), 0);
		}
		check_copy(reader, &copies, &copy, &theirs, value);
	}
	guest_destroy(&copy);
	guest_destroy(&copies);
	assert_int_equal(guest_close_handle(reader, theirs.handle), 0);
	guest_destroy(&jobs);
	guest_destroy(&bo);
}

/* A BO that its own clients' CPUs only read: the other GPU writes it again and again. */
static void written_by_the_other(int owner, int writer)
{
	struct bo bo, theirs, jobs = guest_bo(writer, PAGE, 0);
	struct bo copies = guest_bo(owner, PAGE, 0), copy = guest_bo(owner, GPUS_SIZE, 0);

	assert_int_equal(guest_create(owner, GPUS_SIZE, AGATE_BO_CPU_READONLY, &bo), 0);
	theirs = gpus_import(writer, &bo);
	for (uint64_t value = 11; value < 14; value++) {
		gpus_fill_job(&jobs, 0, &theirs, value);
		assert_int_equal(gpus_submit(&jobs, 0, &theirs, AGATE_SUBMIT_BO_WRITE, 0), 0);
		check_copy(owner, &copies, &copy, &bo, value);
	}
	guest_destroy(&copy);
	guest_destroy(&copies);
	assert_int_equal(guest_close_handle(writer, theirs.handle), 0);
	guest_destroy(&jobs);
	assert_int_equal(guest_close_handle(owner, bo.handle), 0);
}

static void readonly(void **state)
{
	int first = gpus_open(0), second = gpus_open(1);

	(void)state;
	import_for_reading(first, second);
	import_for_reading(second, first);
	written_by_the_other(first, second);
	written_by_the_other(second, first);
	close(first);
	close(second);
}

static void bos(void **state)
{
	int first = gpus_open(0), second = gpus_open(1);

	(void)state;
	for (size_t i = 0; i < KINDS; i++) {
		rendered_and_read(first, second, kinds[i]);
		rendered_and_read(second, first, kinds[i]);
	}
	close(first);
	close(second);
}

/* ---- Fences ------------------------------------------------------------ */

/* Jobs of @later wait for those of @earlier, when one of the two writes. */
static void check_waits(int earlier, int later)
{
	static const uint32_t accesses[] = { AGATE_SUBMIT_BO_READ, AGATE_SUBMIT_BO_WRITE };
	struct bo bo = guest_bo(earlier, GPUS_SIZE, 0), theirs = gpus_import(later, &bo);
	struct bo first = guest_bo(earlier, PAGE, 0), second = guest_bo(later, PAGE, 0);

	for (size_t i = 0; i < 4; i++) {
		int timeline = guest_timeline();
		uint32_t gate = guest_timeline_syncobj(earlier, timeline);
		uint32_t before = accesses[i & 1], after = accesses[i >> 1];
		volatile uint64_t *seen = (volatile uint64_t *)((char *)second.cpu + DATA);

		*seen = 0;
		guest_job_write64(&first, 0, 0, first.va + DATA, 3);
		guest_job_write64(&second, 0, 0, second.va + DATA, 5);
		assert_int_equal(gpus_submit(&first, 0, &bo, before, gate), 0);
		assert_int_equal(gpus_submit(&second, 0, &theirs, after, 0), 0);
		if (before == AGATE_SUBMIT_BO_READ && after == AGATE_SUBMIT_BO_READ) {
			assert_int_equal(guest_wait(later, second.handle, FOREVER), 0);
		} else {
			assert_int_equal(guest_wait(later, second.handle, guest_deadline(100)),
					 ETIMEDOUT);
			assert_int_equal(*seen, 0);
		}
		guest_timeline_advance(timeline);
		assert_int_equal(guest_wait(later, theirs.handle, FOREVER), 0);
		assert_int_equal(guest_wait(later, second.handle, FOREVER), 0);
		assert_int_equal(*seen, 5);
		close(timeline);
	}
	guest_destroy(&second);
	guest_destroy(&first);
	guest_destroy(&theirs);
	guest_destroy(&bo);
}

static void fences(void **state)
{
	int first = gpus_open(0), second = gpus_open(1);

	(void)state;
	check_waits(first, second);
	check_waits(second, first);
	close(first);
	close(second);
}

/* ---- Frames that go round ---------------------------------------------- */

/* One of the two clients. */
struct client {
	int fd;
	uint32_t number;
	int sock;			/* to the other one */
	struct bo frame[FRAMES];
	struct bo jobs, log[LOGS];
};

/* Of the two turns of each round, the first is that of client 0. */
static uint64_t turn_of(const struct client *c, uint32_t round)
{
	return 2 * (round / FRAMES) + c->number + 1;
}

/*
 * In each of its turns a client's GPU keeps what it finds in the frame, and then draws
 * another picture there.  All chains are written before the first one runs: a CPU that
 * bounces DMA cannot write to a BO that the GPU uses.
 */
static void write_turns(struct client *c)
{
	for (uint32_t round = 0; round < ROUNDS; round++) {
		const uint32_t jobs = STRIDE * round;
		struct bo *frame = &c->frame[round % FRAMES];

		gpus_copy_job(&c->jobs, jobs, c->jobs.va + jobs + STRIDE / 2,
			      &c->log[round / LOG_ROUNDS],
			      (uint64_t)GPUS_SIZE * (round % LOG_ROUNDS), frame);
		gpus_fill_job(&c->jobs, jobs + STRIDE / 2, frame, turn_of(c, round));
	}
}

/*
 * The client tells the other one of each turn that it has submitted; it never waits for a
 * GPU.
 */
static void go_round(struct client *c)
{
	for (uint32_t round = 0; round < ROUNDS; round++) {
		const uint32_t handles[] = {
			c->jobs.handle, c->frame[round % FRAMES].handle,
			c->log[round / LOG_ROUNDS].handle
		};
		const bool waits = c->number || round >= FRAMES;
		char token;

		if (waits)
			assert_int_equal(read(c->sock, &token, 1), 1);
		assert_int_equal(guest_submit(c->fd, c->jobs.va + STRIDE * round, 0, handles, 3, 0),
				 0);
		assert_int_equal(write(c->sock, "", 1), 1);
	}
	/* The other one may still be writing when this one is done. */
	for (uint32_t i = 0; !c->number && i < FRAMES; i++)
		assert_int_equal(read(c->sock, &(char){ 0 }, 1), 1);
	assert_int_equal(guest_wait(c->fd, c->jobs.handle, FOREVER), 0);
}

static void check_log(const struct client *c)
{
	for (uint32_t round = 0; round < ROUNDS; round++) {
		const uint64_t *words = c->log[round / LOG_ROUNDS].cpu;

		gpus_check_words(words + (size_t)GPUS_WORDS * (round % LOG_ROUNDS),
				 turn_of(c, round) - 1);
	}
}

static void client_run(struct client *c)
{
	c->jobs = guest_bo(c->fd, STRIDE * ROUNDS, 0);
	for (uint32_t i = 0; i < LOGS; i++)
		c->log[i] = guest_bo(c->fd, GPUS_SIZE * LOG_ROUNDS, 0);
	write_turns(c);
	go_round(c);
	check_log(c);
	for (uint32_t i = 0; i < LOGS; i++)
		guest_destroy(&c->log[i]);
	guest_destroy(&c->jobs);
	for (uint32_t i = 0; i < FRAMES; i++)
		guest_destroy(&c->frame[i]);
	close(c->fd);
	close(c->sock);
}

/* The second client is a process of its own: the frames come through the socket. */
static _Noreturn void second_client(int sock)
{
	struct client c = { .fd = gpus_open(1), .number = 1, .sock = sock };

	for (uint32_t i = 0; i < FRAMES; i++) {
		int dmabuf = dmabuf_receive(sock);

		c.frame[i] = dmabuf_import(c.fd, dmabuf);
		close(dmabuf);
	}
	client_run(&c);
	_exit(0);
}

static void frames(void **state)
{
	struct client c = { .number = 0 };
	int socks[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		close(socks[0]);
		second_client(socks[1]);
	}
	close(socks[1]);
	c.sock = socks[0];
	c.fd = gpus_open(0);
	for (uint32_t i = 0; i < FRAMES; i++) {
		int dmabuf;

		c.frame[i] = guest_bo(c.fd, GPUS_SIZE, kinds[i % KINDS]);
		dmabuf = dmabuf_export(&c.frame[i]);
		dmabuf_send(c.sock, dmabuf);
		close(dmabuf);
	}
	client_run(&c);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(side_by_side, gpus_nothing_left),
		cmocka_unit_test_teardown(bos, gpus_nothing_left),
		cmocka_unit_test_teardown(readonly, gpus_nothing_left),
		cmocka_unit_test_teardown(fences, gpus_nothing_left),
		cmocka_unit_test_teardown(frames, gpus_nothing_left),
	};

	return cmocka_run_group_tests_name("two-gpus", tests, NULL, NULL);
}
