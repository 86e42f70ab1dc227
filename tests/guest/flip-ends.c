// SPDX-License-Identifier: MIT
/*
 * FLIP waits, and ends when it cannot go on: a signal, a display that fails or never ends, a
 * driver that leaves, a GPU or a card that is gone.
 */
#include "graded.h"

#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agate_bar2.h"
#include "flips.h"

/* The global table's entries, and those of addresses that the driver gives out. */
#define GGTT_COUNT	65536u
#define GGTT_FIRST	(0x00800000u / PAGE)
#define GGTT_END	(0x0fe00000u / PAGE)

/* A flip whose message comes takes less, and one whose message is lost takes more. */
#define LOST_MS		1500

/* ---- Waiting ------------------------------------------------------------------------ */

struct waiter {
	pthread_t thread;
	int fd;
	struct drm_agate_flip arg;
	int err;
	volatile bool done;
};

static void *wait_thread(void *arg)
{
	struct waiter *waiter = arg;

	waiter->err = flip_once(waiter->fd, waiter->arg);
	waiter->done = true;
	return NULL;
}

static void waiter_start(struct waiter *waiter, int fd, struct drm_agate_flip arg)
{
	*waiter = (struct waiter){ .fd = fd, .arg = arg };
	assert_int_equal(pthread_create(&waiter->thread, NULL, wait_thread, waiter), 0);
}

static int waiter_end(struct waiter *waiter)
{
	for (int64_t end = guest_deadline(20000); !waiter->done; usleep(1000))
		assert_true(guest_deadline(0) < end);
	assert_int_equal(pthread_join(waiter->thread, NULL), 0);
	return waiter->err;
}

static void interrupt(int number)
{
	(void)number;
}

/* Submit a job on a BO that begins when the timeline goes on. */
static int submit_later(struct client *client, const struct bo *bo, uint32_t access,
			const struct agate_compute_payload *payload)
{
	const uint32_t handles[] = { client->jobs.handle, bo->handle, client->source.handle };
	const uint32_t flags[] = {
		AGATE_SUBMIT_BO_READ, access, AGATE_SUBMIT_BO_READ | AGATE_SUBMIT_BO_WRITE,
	};
	int timeline = guest_timeline();

	guest_job(&client->jobs, 0, AGATE_JOB_COMPUTE, 0, payload, sizeof(*payload));
	assert_int_equal(guest_submit_bos(client->fd, client->jobs.va, 0, handles, flags, 3,
					  guest_timeline_syncobj(client->fd, timeline)), 0);
	return timeline;
}

static int draw_later(struct client *client, const struct bo *to, unsigned int picture)
{
	const struct agate_compute_payload payload = copy_job(client, to);

	paint(client->source.cpu, STRIDE, AGATE_FORMAT_R8G8B8A8, picture);
	return submit_later(client, to, AGATE_SUBMIT_BO_READ | AGATE_SUBMIT_BO_WRITE, &payload);
}

static int read_later(struct client *client, const struct bo *from)
{
	const struct agate_compute_payload payload = {
		.op = AGATE_COMPUTE_COPY, .dst = client->source.va, .src = from->va, .size = FRAME,
	};

	return submit_later(client, from, AGATE_SUBMIT_BO_READ, &payload);
}

static void writer_waits(void **state)
{
	const struct sigaction action = { .sa_handler = interrupt };
	struct client client = client_open();
	struct bo bo = placed(client.fd, FRAME, 0, VRAM);
	const int64_t end = guest_deadline(20000);
	struct waiter waiter;
	int timeline;

	(void)state;
	draw(&client, &bo, 3);
	timeline = draw_later(&client, &bo, 4);
	/* A signal ends the wait, and nothing is shown. */
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	waiter_start(&waiter, client.fd, whole(&bo, 0));
	while (!waiter.done) {
		assert_true(guest_deadline(0) < end);
		usleep(20000);
		pthread_kill(waiter.thread, SIGUSR1);
	}
	assert_int_equal(waiter_end(&waiter), EINTR);
	waiter_start(&waiter, client.fd, whole(&bo, 0));
	usleep(100000);
	assert_false(waiter.done);
	guest_timeline_advance(timeline);
	assert_int_equal(waiter_end(&waiter), 0);
	shown(4);
	close(timeline);
	/* Nobody waits for one that only reads it. */
	timeline = read_later(&client, &bo);
	waiter_start(&waiter, client.fd, whole(&bo, 0));
	assert_int_equal(waiter_end(&waiter), 0);
	shown(4);
	guest_timeline_advance(timeline);
	close(timeline);
	guest_destroy(&bo);
	client_close(&client);
}

struct creation {
	int fd;
	int err;
	struct bo bo;
};

static void *create_large(void *arg)
{
	struct creation *creation = arg;

	creation->err = try_placed(creation->fd, LARGE, AGATE_BO_POPULATE, VRAM, &creation->bo);
	return NULL;
}

/*
 * As long as FLIP waits for a writer its BO may leave for another one, which waits for the writer,
 * too, instead of being refused.
 */
static void waiter_pins_nothing(void **state)
{
	struct client client = client_open();
	struct bo large = placed(client.fd, LARGE, 0, SYSTEM | VRAM);
	struct creation creation = { .fd = client.fd, .err = -1 };
	int64_t end = guest_deadline(10000);
	int timeline = draw_later(&client, &large, 5);
	struct waiter waiter;
	pthread_t thread;

	(void)state;
	waiter_start(&waiter, client.fd, whole(&large, 0));
	usleep(100000);
	assert_false(waiter.done);
	inject_count("placed_move_notify");
	assert_int_equal(pthread_create(&thread, NULL, create_large, &creation), 0);
	while (!inject_hits("placed_move_notify") && guest_deadline(0) < end)
		usleep(10000);
	assert_int_equal(inject_hits("placed_move_notify"), 1);
	inject_clear();
	guest_timeline_advance(timeline);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(creation.err, 0);
	guest_destroy(&creation.bo);
	assert_int_equal(waiter_end(&waiter), 0);
	shown(5);
	close(timeline);
	guest_destroy(&large);
	client_close(&client);
}

/* The mover has not cleared the BO yet, and its memory holds another picture. */
static void move_ends_first(void **state)
{
	struct client client = client_open();
	struct bo before = placed(client.fd, FRAME, 0, VRAM), bo;
	struct waiter waiter;

	(void)state;
	draw(&client, &before, 8);
	guest_destroy(&before);
	bo = placed(client.fd, FRAME, 0, VRAM);
	inject_anybody(true);
	inject_hold_entry("mover_run", 1, INJECT_BOUND_MS);
	inject_anybody(false);
	waiter_start(&waiter, client.fd, whole(&bo, 0));
	assert_true(inject_await_held("mover_run", 10000));
	usleep(100000);
	assert_false(waiter.done);
	assert_true(inject_let_go("mover_run"));
	assert_int_equal(waiter_end(&waiter), 0);
	inject_clear();
	shown(BLACK);
	guest_destroy(&bo);
	client_close(&client);
}

/* ---- When it goes wrong ------------------------------------------------------------- */

/* run.sh has every second flip fail: what was shown before stays, and nothing else does. */
static void fault(void **state)
{
	int fd = guest_open();
	struct bo large = placed(fd, LARGE, 0, VRAM), small = placed(fd, FRAME, 0, SYSTEM);

	(void)state;
	show(fd, whole(&large, 0), BLACK);
	assert_int_equal(flip(fd, whole(&small, 0)), EIO);
	assert_false(has_room(fd));
	assert_int_equal(stop(fd), 0);
	assert_true(has_room(fd));
	show(fd, whole(&small, 0), BLACK);
	assert_int_equal(flip(fd, whole(&large, 0)), EIO);
	assert_true(has_room(fd));
	assert_int_equal(stop(fd), 0);
	guest_destroy(&large);
	guest_destroy(&small);
	close(fd);
	guest_assert_nothing_left();
}

/*
 * run.sh has the display's next message be lost: FLIP looks for itself before it gives up, and
 * its frame is shown.  The frames after it have messages again.
 */
static void lost_interrupt(void **state)
{
	int fd = guest_open();
	struct bo small = placed(fd, FRAME, 0, SYSTEM);
	int64_t early = guest_deadline(LOST_MS);

	(void)state;
	show(fd, whole(&small, 0), BLACK);
	/* The message was lost. */
	assert_true(guest_deadline(0) >= early);
	show(fd, whole(&small, 0), BLACK);
	assert_int_equal(stop(fd), 0);
	guest_destroy(&small);
	close(fd);
	guest_assert_nothing_left();
}

/* Frames that wait for their turn have addresses already: that many large ones do not fit. */
#define CROWD		8

static struct drm_agate_flip all_of_it(const struct bo *large)
{
	struct drm_agate_flip arg = whole(large, 0);

	arg.stride = LARGE / HEIGHT;
	return arg;
}

static atomic_bool table_was_full;

static void *flip_in_vain(void *arg)
{
	struct waiter *waiter = arg;

	for (int64_t end = guest_deadline(60000); !table_was_full && guest_deadline(0) < end;) {
		waiter->err = flip_once(waiter->fd, waiter->arg);
		if (waiter->err == ENOSPC)
			table_was_full = true;
		else if (waiter->err != ETIMEDOUT)
			break;
	}
	return NULL;
}

static void table_gets_full(int fd, const struct bo *large)
{
	struct waiter crowd[CROWD];

	for (unsigned int i = 0; i < CROWD; i++) {
		/* A thread that begins when the table was full calls nothing. */
		crowd[i] = (struct waiter){
			.fd = fd, .arg = all_of_it(large), .err = ETIMEDOUT,
		};
		assert_int_equal(pthread_create(&crowd[i].thread, NULL, flip_in_vain, &crowd[i]),
				 0);
	}
	for (unsigned int i = 0; i < CROWD; i++) {
		assert_int_equal(pthread_join(crowd[i].thread, NULL), 0);
		assert_true(crowd[i].err == ENOSPC || crowd[i].err == ETIMEDOUT);
	}
	assert_true(table_was_full);
}

/* A flip never ends: nobody waits for ever, and its frame stays as long as it may be read. */
static void stuck(void **state)
{
	int fd = guest_open(), other = guest_open();
	struct bo large = placed(fd, LARGE, 0, VRAM), small = placed(fd, FRAME, 0, SYSTEM);
	struct waiter waiter;

	(void)state;
	waiter_start(&waiter, fd, whole(&large, 0));
	assert_int_equal(waiter_end(&waiter), ETIMEDOUT);
	assert_int_equal(flip(fd, whole(&small, 0)), ETIMEDOUT);
	table_gets_full(fd, &large);
	assert_int_equal(stop(fd), 0);
	close(fd);
	assert_false(has_room(other));
	close(other);
}

/* run.sh has let it end. */
static void ends_late(void **state)
{
	int fd = guest_open();
	int64_t end = guest_deadline(10000);

	(void)state;
	shown(BLACK);
	while (!has_room(fd) && guest_deadline(0) < end)
		usleep(10000);
	assert_true(has_room(fd));
	close(fd);
	guest_assert_nothing_left();
}

static void *unbind_thread(void *err)
{
	*(int *)err = device_unbind();
	return NULL;
}

/* A part of BAR2, which no driver uses; @at and @size are whole pages. */
static void *map_bar2(uint64_t at, uint64_t size)
{
	glob_t found;
	void *part;
	int fd;

	assert_int_equal(glob("/sys/bus/pci/devices/*/resource2_wc", 0, NULL, &found), 0);
	fd = open(found.gl_pathv[0], O_RDONLY | O_CLOEXEC);
	globfree(&found);
	assert_true(fd >= 0);
	part = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, (off_t)at);
	assert_true(part != MAP_FAILED);
	close(fd);
	return part;
}

/* Of the addresses that engines may use, no entry leads anywhere: the card is somebody else's. */
static void check_table_empty(void)
{
	const struct agate_bar2_header *header = map_bar2(0, PAGE);
	const uint64_t offset = header->gsm_offset, size = header->gsm_size;
	const volatile uint64_t *table = map_bar2(offset, size);

	assert_int_equal(header->magic, AGATE_BAR2_MAGIC);
	assert_int_equal(size, GGTT_COUNT * sizeof(*table));
	for (unsigned int i = GGTT_FIRST; i < GGTT_END; i++)
		assert_int_equal(table[i], 0);
	munmap((void *)table, size);
	munmap((void *)header, PAGE);
}

/*
 * The driver leaves while a frame is shown, and while somebody waits to show one.  It waits for
 * jobs, and these for the timeline.
 */
static void unbound(void **state)
{
	struct client client = client_open();
	struct bo bo = placed(client.fd, FRAME, 0, VRAM), next = placed(client.fd, FRAME, 0, VRAM);
	int timeline = draw_later(&client, &next, 7);
	struct waiter waiter;
	pthread_t leaving;
	int err;

	(void)state;
	show(client.fd, whole(&bo, 0), BLACK);
	waiter_start(&waiter, client.fd, whole(&next, 0));
	usleep(100000);
	assert_false(waiter.done);
	assert_int_equal(pthread_create(&leaving, NULL, unbind_thread, &err), 0);
	assert_int_equal(waiter_end(&waiter), ENODEV);
	guest_timeline_advance(timeline);
	assert_int_equal(pthread_join(leaving, NULL), 0);
	assert_int_equal(err, 0);
	assert_int_equal(flip(client.fd, whole(&bo, 0)), ENODEV);
	client_abandon(&client);
	close(timeline);
	check_table_empty();
	assert_int_equal(device_bind(), 0);
	client = client_open();
	bo = placed(client.fd, FRAME, 0, VRAM);
	draw(&client, &bo, 7);
	show(client.fd, whole(&bo, 0), 7);
	guest_destroy(&bo);
	client_close(&client);
}

/*
 * The same when the GPU is killed: run.sh waits for READY, and has it killed then.  The next frame
 * is not in VRAM, where another client would wait for its writer to make room.
 */
static void gone(void **state)
{
	struct client client = client_open();
	struct bo bo = placed(client.fd, FRAME, 0, VRAM), next = placed(client.fd, FRAME, 0, SYSTEM);
	struct waiter waiter;
	int timeline;

	(void)state;
	show(client.fd, whole(&bo, 0), BLACK);
	timeline = draw_later(&client, &next, 7);
	waiter_start(&waiter, client.fd, whole(&next, 0));
	puts("# READY");
	fflush(stdout);
	assert_int_equal(waiter_end(&waiter), ENODEV);
	assert_int_equal(flip(client.fd, whole(&bo, 0)), ENODEV);
	close(timeline);
	client_abandon(&client);
}

/* The card has no power, or has it again, but nothing that it had. */
static void unpowered(void **state)
{
	int fd = guest_open();
	struct bo piece;

	(void)state;
	assert_int_equal(guest_create(fd, FRAME, AGATE_BO_CONTIGUOUS, &piece), 0);
	assert_int_equal(flip(fd, whole(&piece, AGATE_FLIP_PHYS)), EIO);
	assert_int_equal(stop(fd), 0);
	guest_destroy(&piece);
	close(fd);
	guest_assert_nothing_left();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(writer_waits, guest_teardown),
		cmocka_unit_test_teardown(waiter_pins_nothing, guest_teardown),
		cmocka_unit_test_teardown(move_ends_first, guest_teardown),
		cmocka_unit_test_teardown(fault, guest_teardown),
		cmocka_unit_test_teardown(lost_interrupt, guest_teardown),
		cmocka_unit_test(stuck),
		cmocka_unit_test_teardown(ends_late, guest_teardown),
		cmocka_unit_test(unbound),
		cmocka_unit_test(gone),
		cmocka_unit_test(unpowered),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("flip-ends", tests, NULL, NULL);
}
