// SPDX-License-Identifier: MIT
/*
 * The access queue and guest RAM in the GPU's process, with a guest that writes
 * anything into BAR2.
 */
#include "gpu_bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bus.h"
#include "guest_bus.h"
#include "names.h"
#include "ram.h"

struct rig {
	struct bench *bench;
	struct bus bus;
	uint8_t *bar2;
	int fd;
};

/* Hints about the queue itself, not about the registers. */
static unsigned int complaints(const struct rig *rig)
{
	unsigned int i, n = 0;

	for (i = 0; i < rig->bench->events; i++) {
		const struct agate_sim_event *event = &rig->bench->event[i];

		if (event->kind == AGATE_EV_HINT && strstr(event->text, "queue")) {
			assert_int_equal(event->a, 100);	/* section 1 */
			n++;
		}
	}
	return n;
}

static struct rig *rig_new(void)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	assert_non_null(rig);
	rig->bench = bench_new();
	rig->fd = guest_bus_create(&rig->bar2);
	assert_null(bus_open(&rig->bus, rig->bar2, BAR2_TEST_SIZE));
	return rig;
}

static void rig_free(struct rig *rig)
{
	munmap(rig->bar2, BAR2_TEST_SIZE);
	close(rig->fd);
	bench_free(rig->bench);
	free(rig);
}

static void push(struct rig *rig, uint32_t op, uint32_t offset, uint32_t value, uint32_t seq)
{
	guest_bus_push(rig->bar2, (struct agate_bar2_entry){ op, offset, value, seq });
}

static unsigned int run_all(struct rig *rig)
{
	return bus_run(&rig->bus, rig->bench->sim, 1u << 20);
}

static void test_accesses_in_order(void **state)
{
	struct rig *rig = rig_new();
	struct agate_bar2_ctrl *ctrl = guest_bus_ctrl(rig->bar2);

	(void)state;
	push(rig, AGATE_BAR2_WRITE, GPU_TILER_CONFIG, 1, 0);
	push(rig, AGATE_BAR2_WRITE, GPU_TILER_CONFIG, 2, 0);
	push(rig, AGATE_BAR2_READ, GPU_TILER_CONFIG, 0, 77);
	push(rig, AGATE_BAR2_WRITE, GPU_TILER_CONFIG, 3, 0);
	assert_int_equal(run_all(rig), 4);
	assert_int_equal(ctrl->reply_seq, 77);
	assert_int_equal(ctrl->reply_value, 2);
	assert_int_equal(ctrl->head, 4);
	assert_int_equal(rd(rig->bench, GPU_TILER_CONFIG), 3);
	assert_int_equal(complaints(rig), 0);
	rig_free(rig);
}

/* A guest that waits for the last of several reads finds the other answers in their entries. */
static void test_answers_stay_in_their_entries(void **state)
{
	struct rig *rig = rig_new();
	struct agate_bar2_ctrl *ctrl = guest_bus_ctrl(rig->bar2);
	const struct agate_bar2_entry *queue = (void *)(rig->bar2 + AGATE_BAR2_QUEUE);
	const uint32_t last = AGATE_BAR2_QUEUE_LEN - 1;

	(void)state;
	ctrl->tail = last;
	rig->bus.head = last;
	push(rig, AGATE_BAR2_READ, GPU_ID, 0, 1);
	push(rig, AGATE_BAR2_WRITE, GPU_TILER_CONFIG, 5, 0);
	push(rig, AGATE_BAR2_READ, GPU_TILER_CONFIG, 0, 2);
	assert_int_equal(run_all(rig), 3);
	assert_int_equal(ctrl->reply_seq, 2);
	assert_int_equal(ctrl->reply_value, 5);
	assert_int_equal(queue[last].value, 0x0a860010);
	assert_int_equal(queue[0].value, 5);
	assert_int_equal(queue[1].value, 5);
	/* Nothing else in them has changed. */
	assert_int_equal(queue[last].op, AGATE_BAR2_READ);
	assert_int_equal(queue[last].offset, GPU_ID);
	assert_int_equal(queue[last].seq, 1);
	rig_free(rig);
}

/* The guest's view of the queue while the GPU carries out an access. */
struct witness {
	struct agate_bar2_ctrl *ctrl;
	uint32_t head[3];
	unsigned int accesses;
};

static int no_ram(void *ctx, uint64_t pa, void *buf, size_t len)
{
	(void)ctx, (void)pa, (void)buf, (void)len;
	return -1;
}

static int no_ram_write(void *ctx, uint64_t pa, const void *buf, size_t len)
{
	(void)ctx, (void)pa, (void)buf, (void)len;
	return -1;
}

static void no_message(void *ctx, unsigned int vector)
{
	(void)ctx, (void)vector;
}

static void see_head(void *ctx, const struct agate_sim_event *event)
{
	struct witness *w = ctx;

	assert_true(event->kind == AGATE_EV_REG_WRITE || event->kind == AGATE_EV_REG_READ);
	assert_true(w->accesses < 3);
	w->head[w->accesses++] = w->ctrl->head;
}

static void test_head_counts_what_is_done(void **state)
{
	static const struct agate_sim_host_ops ops = {
		.mem_read = no_ram, .mem_write = no_ram_write, .raise = no_message,
		.event = see_head,
	};
	struct agate_sim_config config = { .gpu = AGATE_SIM_MIDGARD };
	struct rig *rig = rig_new();
	struct witness w = { .ctrl = guest_bus_ctrl(rig->bar2) };
	struct agate_sim *sim = agate_sim_create(&config, &ops, &w);
	unsigned int i;

	(void)state;
	assert_non_null(sim);
	push(rig, AGATE_BAR2_WRITE, GPU_TILER_CONFIG, 1, 0);
	push(rig, AGATE_BAR2_READ, GPU_TILER_CONFIG, 0, 1);
	push(rig, AGATE_BAR2_WRITE, GPU_TILER_CONFIG, 2, 0);
	assert_int_equal(bus_run(&rig->bus, sim, 3), 3);
	assert_int_equal(w.accesses, 3);
	for (i = 0; i < 3; i++)
		assert_int_equal(w.head[i], i);		/* not this one yet */
	assert_int_equal(w.ctrl->head, 3);
	agate_sim_destroy(sim);
	rig_free(rig);
}

static void test_a_bounded_number_at_a_time(void **state)
{
	struct rig *rig = rig_new();
	unsigned int i;

	(void)state;
	for (i = 0; i < 10; i++)
		push(rig, AGATE_BAR2_WRITE, GPU_TILER_CONFIG, i, 0);
	assert_int_equal(bus_run(&rig->bus, rig->bench->sim, 3), 3);
	assert_int_equal(rd(rig->bench, GPU_TILER_CONFIG), 2);
	assert_true(bus_pending(&rig->bus));
	assert_int_equal(run_all(rig), 7);
	assert_false(bus_pending(&rig->bus));
	rig_free(rig);
}

static void test_a_full_queue_and_wrap_around(void **state)
{
	struct rig *rig = rig_new();
	struct agate_bar2_ctrl *ctrl = guest_bus_ctrl(rig->bar2);
	unsigned int i, round;

	(void)state;
	/* near the end of 32 bits, as after four thousand million accesses */
	ctrl->tail = 0xfffffc00;
	rig->bus.head = 0xfffffc00;
	for (round = 0; round < 3; round++) {
		for (i = 0; i < AGATE_BAR2_QUEUE_LEN; i++)
			push(rig, AGATE_BAR2_WRITE, GPU_TILER_CONFIG, round * 10000 + i, 0);
		assert_int_equal(run_all(rig), AGATE_BAR2_QUEUE_LEN);
		assert_int_equal(rd(rig->bench, GPU_TILER_CONFIG), round * 10000 + 2047);
	}
	assert_int_equal(ctrl->head, 0xfffffc00 + 3 * 2048);
	assert_int_equal(complaints(rig), 0);
	rig_free(rig);
}

static void test_a_tail_too_far_ahead(void **state)
{
	static const uint32_t tails[] = { 2049, 0x7fffffff, 0x80000000, 0xffffffff };
	struct rig *rig = rig_new();
	struct agate_bar2_ctrl *ctrl = guest_bus_ctrl(rig->bar2);
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		ctrl->tail = rig->bus.head + tails[i];
		assert_int_equal(run_all(rig), 0);
		assert_int_equal(complaints(rig), i + 1);
		assert_false(bus_pending(&rig->bus));
		/* and the queue works again from there */
		push(rig, AGATE_BAR2_READ, GPU_ID, 0, 100 + i);
		assert_int_equal(run_all(rig), 1);
		assert_int_equal(ctrl->reply_seq, 100 + i);
		assert_int_equal(ctrl->reply_value, 0x0a860010);
	}
	rig_free(rig);
}

static void test_entries_that_are_neither(void **state)
{
	struct rig *rig = rig_new();
	struct agate_bar2_ctrl *ctrl = guest_bus_ctrl(rig->bar2);

	(void)state;
	push(rig, 0, GPU_TILER_CONFIG, 1, 5);
	push(rig, 3, GPU_TILER_CONFIG, 1, 5);
	push(rig, 0xffffffff, GPU_TILER_CONFIG, 1, 5);
	push(rig, AGATE_BAR2_READ, 0xffffffff, 0, 6);
	assert_int_equal(run_all(rig), 4);
	assert_int_equal(complaints(rig), 3);
	assert_int_equal(counter(rig->bench, AGATE_CNT_HINTS), 4);	/* and the unknown register */
	assert_int_equal(ctrl->reply_seq, 6);
	assert_int_equal(ctrl->reply_value, 0);
	assert_int_equal(rd(rig->bench, GPU_TILER_CONFIG), 0);
	rig_free(rig);
}

static void test_what_was_written_is_never_read_back(void **state)
{
	struct rig *rig = rig_new();
	struct agate_bar2_ctrl *ctrl = guest_bus_ctrl(rig->bar2);

	(void)state;
	push(rig, AGATE_BAR2_WRITE, GPU_TILER_CONFIG, 1, 0);
	run_all(rig);
	ctrl->head = 0xdead;
	ctrl->reply_seq = 0xdead;
	/* overwrite the header, too: the GPU read the layout when it started */
	memset(rig->bar2, 0xff, sizeof(struct agate_bar2_header));
	push(rig, AGATE_BAR2_READ, GPU_TILER_CONFIG, 0, 9);
	assert_int_equal(run_all(rig), 1);
	assert_int_equal(ctrl->head, 2);
	assert_int_equal(ctrl->reply_seq, 9);
	assert_int_equal(ctrl->reply_value, 1);
	rig_free(rig);
}

static void test_sleep_only_with_an_empty_queue(void **state)
{
	struct rig *rig = rig_new();
	struct agate_bar2_ctrl *ctrl = guest_bus_ctrl(rig->bar2);

	(void)state;
	assert_true(bus_sleep(&rig->bus));
	assert_int_equal(ctrl->asleep, 1);
	bus_wake(&rig->bus);
	assert_int_equal(ctrl->asleep, 0);
	push(rig, AGATE_BAR2_READ, GPU_ID, 0, 1);
	assert_false(bus_sleep(&rig->bus));
	assert_int_equal(ctrl->asleep, 0);
	rig_free(rig);
}

static void test_headers_that_make_no_sense(void **state)
{
	struct rig *rig = rig_new();
	struct agate_bar2_header good = *guest_bus_header(rig->bar2), h;
	struct bus bus;

	(void)state;
#define REFUSE(field, value)							\
	do {									\
		h = good;							\
		h.field = (value);						\
		*guest_bus_header(rig->bar2) = h;				\
		assert_non_null(bus_open(&bus, rig->bar2, BAR2_TEST_SIZE));	\
	} while (0)
	REFUSE(magic, 0);
	REFUSE(version, AGATE_BAR2_VERSION + 1);
	REFUSE(version, AGATE_BAR2_VERSION - 1);
	REFUSE(bar_size, BAR2_TEST_SIZE + 1);
	REFUSE(bar_size, 0);
	REFUSE(queue_len, 0);
	REFUSE(queue_len, 1);
	REFUSE(queue_len, 2047);
	REFUSE(queue_len, 0x80000000);
	REFUSE(queue_offset, BAR2_TEST_SIZE - 16);
	REFUSE(queue_offset, 0xfffffff0);
	REFUSE(queue_offset, 0x8008);
	REFUSE(ctrl_offset, BAR2_TEST_SIZE);
	REFUSE(ctrl_offset, 0x1004);
	REFUSE(vram_size, UINT64_MAX);
	REFUSE(vram_offset, UINT64_MAX - 4095);
	REFUSE(gsm_size, UINT64_MAX);
	REFUSE(gsm_offset, 0x20008);
#undef REFUSE
	assert_non_null(bus_open(&bus, rig->bar2, 8));
	*guest_bus_header(rig->bar2) = good;
	assert_null(bus_open(&bus, rig->bar2, BAR2_TEST_SIZE));
	assert_ptr_equal(bus.vram, rig->bar2 + AGATE_BAR2_VRAM);
	assert_int_equal(bus.vram_size, 0x100000);
	assert_ptr_equal(bus.gsm, rig->bar2 + AGATE_BAR2_GSM);
	assert_int_equal(bus.gsm_size, AGATE_BAR2_GSM_SIZE);
	bus_hide_vram(&bus, 0x1000);
	assert_int_equal(bus.vram_size, 0x1000);
	assert_int_equal(guest_bus_header(rig->bar2)->vram_size, 0x1000);
	bus_hide_gsm(&bus);
	assert_int_equal(bus.gsm_size, 0);
	assert_int_equal(guest_bus_header(rig->bar2)->gsm_size, 0);
	rig_free(rig);
}

static void test_random_queues(void **state)
{
	struct rig *rig = rig_new();
	struct agate_bar2_ctrl *ctrl = guest_bus_ctrl(rig->bar2);
	uint32_t *words = (uint32_t *)rig->bar2;
	unsigned int i;

	(void)state;
	srand(1);
	for (i = 0; i < 50000; i++) {
		/* the guest may overwrite all of BAR2 below VRAM */
		words[rand() % (AGATE_BAR2_VRAM / 4)] = (uint32_t)rand();
		if (i % 7 == 0)
			push(rig, 1 + rand() % 2, rand() % 0x3000 & ~3, rand() % 16, i);
		if (i % 1000 == 0)
			ctrl->tail = (uint32_t)rand();
		bus_run(&rig->bus, rig->bench->sim, 64);
		agate_sim_step(rig->bench->sim, 4);
	}
	ctrl->tail = rig->bus.head;
	push(rig, AGATE_BAR2_READ, GPU_ID, 0, 0xabcd);
	assert_int_equal(run_all(rig), 1);
	assert_int_equal(ctrl->reply_seq, 0xabcd);
	assert_int_equal(ctrl->reply_value, 0x0a860010);
	rig_free(rig);
}

/* ---- Guest RAM ---------------------------------------------------------------- */

static int memory_file(size_t size)
{
	int fd = memfd_create("ram", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	return fd;
}

static void test_ram_ranges(void **state)
{
	struct ram ram = { 0 };
	int fd = memory_file(0x6000);
	uint64_t value = 0x1122334455667788, back;

	(void)state;
	/* two ranges with a hole between, the second first in the file */
	assert_null(ram_parse(&ram, "0:0x2000:0x4000,0x100000:16384:0"));
	assert_int_equal(ram.count, 2);
	assert_null(ram_map(&ram, fd));
	assert_int_equal(ram_write(&ram, 0x1ff8, &value, 8), 0);
	assert_memory_equal(ram.map + 0x5ff8, &value, 8);
	assert_int_equal(ram_read(&ram, 0x1ff8, &back, 8), 0);
	assert_int_equal(back, value);
	assert_int_equal(ram_write(&ram, 0x103ff9, &value, 7), 0);
	/* across an end, before, behind, between and at the top of everything */
	assert_int_equal(ram_write(&ram, 0x1ff9, &value, 8), -1);
	assert_int_equal(ram_read(&ram, 0x2000, &back, 1), -1);
	assert_int_equal(ram_read(&ram, 0xfffff, &back, 2), -1);
	assert_int_equal(ram_read(&ram, 0x104000, &back, 1), -1);
	assert_int_equal(ram_read(&ram, UINT64_MAX, &back, 8), -1);
	assert_int_equal(ram_write(&ram, UINT64_MAX - 7, &value, 8), -1);
	munmap(ram.map, ram.map_size);
	close(fd);
}

static void test_ram_that_makes_no_sense(void **state)
{
	static const char *const bad[] = {
		"", "1", "1:2", "1:2:", "0:0:0", ":1:1", "0:-1:0", "a:b:c", "0:1:2:3",
		"0:1:0;0:1:0", "0xffffffffffffffff:2:0", "0:99999999999999999999:0",
		"0:1:0,0:1:0,0:1:0,0:1:0,0:1:0,0:1:0,0:1:0,0:1:0,0:1:0",
	};
	struct ram ram = { 0 };
	int fd = memory_file(0x1000);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!ram_parse(&ram, bad[i]))
			fail_msg("\"%s\" was taken", bad[i]);
	assert_null(ram_parse(&ram, "0:0x1001:0"));
	assert_non_null(ram_map(&ram, fd));
	assert_null(ram_parse(&ram, "0:1:0x1000"));
	assert_non_null(ram_map(&ram, fd));
	assert_null(ram_parse(&ram, "0:0x1000:0xfffffffffffff000"));
	assert_non_null(ram_map(&ram, fd));
	close(fd);
}

/* ---- Names ---------------------------------------------------------------------- */

static void test_names(void **state)
{
	char buf[NAME_SIZE];

	(void)state;
	assert_string_equal(name_register(0x30, buf), "GPU_CMD");
	assert_string_equal(name_register(0x1860, buf), "JS0_COMMAND_NEXT");
	assert_string_equal(name_register(0x1908, buf), "JS2_TAIL_LO");
	assert_string_equal(name_register(0x2458, buf), "AS1_COMMAND");
	assert_string_equal(name_register(0x0c8, buf), "GPU_JS_FEATURES_2");
	assert_string_equal(name_register(0x801c, buf), "COUNTER_stale_used_HI");
	assert_string_equal(name_register(0x881c, buf), "LISTED1_COMMAND");
	assert_string_equal(name_register(0x8830, buf), "0x8830");
	assert_string_equal(name_register(0x31, buf), "0x31");
	assert_string_equal(name_register(0xfffffffc, buf), "0xfffffffc");
	assert_string_equal(name_exception(0xc3), "TRANSLATION_FAULT_3");
	assert_string_equal(name_exception(0xff), "unknown");
	assert_string_equal(name_job_type(7), "TILER");
	assert_string_equal(name_vector(99), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accesses_in_order),
		cmocka_unit_test(test_answers_stay_in_their_entries),
		cmocka_unit_test(test_head_counts_what_is_done),
		cmocka_unit_test(test_a_bounded_number_at_a_time),
		cmocka_unit_test(test_a_full_queue_and_wrap_around),
		cmocka_unit_test(test_a_tail_too_far_ahead),
		cmocka_unit_test(test_entries_that_are_neither),
		cmocka_unit_test(test_what_was_written_is_never_read_back),
		cmocka_unit_test(test_sleep_only_with_an_empty_queue),
		cmocka_unit_test(test_headers_that_make_no_sense),
		cmocka_unit_test(test_random_queues),
		cmocka_unit_test(test_ram_ranges),
		cmocka_unit_test(test_ram_that_makes_no_sense),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests_name("sim-bus", tests, NULL, NULL);
}
