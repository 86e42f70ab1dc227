// SPDX-License-Identifier: MIT
/*
 * The process's side of BAR2: headers that a launcher would never write, and a
 * queue whose other end does anything; with the event log and the trace of the
 * consequences.
 */
#include <stdio.h>
#include <stdlib.h>

#include "actions.h"
#include "bus.h"
#include "log.h"
#include "ram.h"
#include "script.h"
#include "trace.h"

#define BAR2_SIZE	0x10000u
#define BAR2_CTRL	0x1000u
#define BAR2_QUEUE	0x2000u
#define BAR2_QUEUE_LEN	64u
#define BAR2_VRAM	0x8000u
#define LOG_LIMIT	0x40000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct side {
	uint8_t *bar2;		/* exactly as large as the header says */
	struct bus bus;
	struct log log;
	struct trace trace;
	struct ram ram;
	uint8_t ram_map[3 * GUEST_PAGE];
};

static struct side side;

/* Whatever the guest did, the log is text, and each whole line is an object. */
static ssize_t log_text(void *cookie, const char *text, size_t len)
{
	size_t i;

	(void)cookie;
	for (i = 0; i < len; i++)
		REQUIRE(text[i] == '\n' || (text[i] >= ' ' && text[i] <= '~'));
	return len;
}

static void on_event(const struct agate_sim_event *event)
{
	log_event(&side.log, event);
	trace_event(&side.trace, event);
}

static void first_time(void)
{
	static char buffer[4096];

	side.bar2 = aligned_alloc(GUEST_PAGE, BAR2_SIZE);
	REQUIRE(side.bar2);
	side.log.file = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = log_text });
	REQUIRE(side.log.file);
	setvbuf(side.log.file, buffer, _IOFBF, sizeof(buffer));
	side.ram = (struct ram){
		.map = side.ram_map, .map_size = sizeof(side.ram_map), .count = 2,
		.range = { { 0, 2 * GUEST_PAGE, 0 }, { 1ull << 32, GUEST_PAGE, 2 * GUEST_PAGE } },
	};
}

/* A length, a position at either end of the BAR, or any number. */
static uint32_t take_field(struct input *in)
{
	unsigned int kind = take8(in);

	switch (kind >> 6) {
	case 0:
		return 1u << kind % 32;
	case 1:
		return kind % 64 * 0x400;
	case 2:
		return BAR2_SIZE - kind % 64 * 0x10;
	default:
		return take32(in);
	}
}

/* A good header, with some of its fields changed. */
static void put_bar2(struct input *in)
{
	static const struct agate_bar2_header good = {
		.magic = AGATE_BAR2_MAGIC,
		.version = AGATE_BAR2_VERSION,
		.bar_size = BAR2_SIZE,
		.ctrl_offset = BAR2_CTRL,
		.queue_offset = BAR2_QUEUE,
		.queue_len = BAR2_QUEUE_LEN,
		.vram_offset = BAR2_VRAM,
		.vram_size = BAR2_SIZE - BAR2_VRAM,
	};
	unsigned int n = take8(in) % 8;

	memset(side.bar2, 0, BAR2_SIZE);
	memcpy(side.bar2, &good, sizeof(good));
	while (n--) {
		unsigned int offset = take8(in) % (sizeof(good) / 4) * 4;
		uint32_t value = take_field(in);

		memcpy(side.bar2 + offset, &value, sizeof(value));
	}
}

/* ---- What the guest does to BAR2 ---- */

/* Append at the tail in the control page, wherever the header has put page and queue. */
static void push(const struct agate_bar2_entry *entry)
{
	uint32_t tail = side.bus.ctrl->tail;
	struct agate_bar2_entry *queue = side.bus.queue;

	queue[tail & (side.bus.len - 1)] = *entry;
	side.bus.ctrl->tail = tail + 1;
}

static void push_access(struct guest *g)
{
	unsigned int kind = take8(&g->in);
	struct agate_bar2_entry entry = { .op = 1 + (kind & 1), .seq = kind };

	if (kind >= 0xf0)
		take_bytes(&g->in, &entry, sizeof(entry));
	else {
		entry.offset = take_register(&g->in);
		entry.value = take_value(&g->in);
	}
	push(&entry);
}

static void move_tail(struct guest *g)
{
	unsigned int kind = take8(&g->in);

	side.bus.ctrl->tail = kind < 0x80 ? side.bus.ctrl->tail + (kind - 0x40) : take32(&g->in);
}

static void scribble(struct guest *g)
{
	unsigned int offset = take16(&g->in), len = take8(&g->in) % 32 + 1;

	if (offset > BAR2_SIZE - len)
		offset = BAR2_SIZE - len;
	take_bytes(&g->in, side.bar2 + offset, len);
}

/* ---- What the process does ---- */

static void run(struct guest *g)
{
	unsigned int max = take8(&g->in) + 1, n;
	uint32_t head = side.bus.head;

	guest_enter();
	n = bus_run(&side.bus, g->sim, max);
	guest_leave(g);
	REQUIRE(n <= max && n <= side.bus.len);
	REQUIRE(side.bus.head == head + n || !n);
	step(g, 16);
}

static void doze(struct guest *g)
{
	(void)g;
	REQUIRE(bus_sleep(&side.bus) == (side.bus.ctrl->tail == side.bus.head));
	bus_wake(&side.bus);
	REQUIRE(!side.bus.ctrl->asleep);
}

/* Every requested access is inside the given memory. */
static void touch_ram(struct guest *g)
{
	unsigned int kind = take8(&g->in), len = take16(&g->in) % GUEST_PAGE + 1;
	uint64_t pa = kind < 0x80 ? take16(&g->in) : kind < 0xc0 ? (1ull << 32) + take16(&g->in) :
		      take64(&g->in);
	const uint8_t *at = ram_at(&side.ram, pa, len);
	uint8_t bytes[GUEST_PAGE];

	REQUIRE(!at || (at >= side.ram_map && at + len <= side.ram_map + sizeof(side.ram_map)));
	REQUIRE(!ram_read(&side.ram, pa, bytes, len) == !!at);
	REQUIRE(!ram_write(&side.ram, pa, bytes, len) == !!at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const script_action actions[QUEUE_ACTIONS] = {
		[QUEUE_ACCESS] = push_access,
		[QUEUE_RUN] = run,
		[QUEUE_MOVE_TAIL] = move_tail,
		[QUEUE_SCRIBBLE] = scribble,
		[QUEUE_DOZE] = doze,
		[QUEUE_TOUCH_RAM] = touch_ram,
		[QUEUE_HEADER] = script_header,
		[QUEUE_WRITE_VALUE] = script_write_value,
		[QUEUE_START] = script_start,
		[QUEUE_STEP] = script_step,
		[QUEUE_SERVE] = script_serve,
		[QUEUE_POKE] = script_poke,
	};
	struct guest_options options = { .event = on_event };
	struct input header = input_of(data, size);
	struct guest *g;

	if (!side.bar2)
		first_time();
	put_bar2(&header);
	if (bus_open(&side.bus, side.bar2, BAR2_SIZE))
		return 0;
	REQUIRE(side.bus.len >= 2 && !(side.bus.len & (side.bus.len - 1)));
	side.log = (struct log){ .file = side.log.file, .level = LOG_ALL, .limit = LOG_LIMIT };
	memset(&side.trace, 0, sizeof(side.trace));
	REQUIRE(!trace_open(&side.trace, "/dev/null", LOG_LIMIT));
	options.vram = side.bus.vram;
	options.vram_size = side.bus.vram_size;
	g = guest_new(header.at, header.end - header.at, &options);
	script_run(g, actions, QUEUE_ACTIONS);
	guest_end(g);
	log_flush(&side.log);
	REQUIRE(trace_close(&side.trace));
	return 0;
}
