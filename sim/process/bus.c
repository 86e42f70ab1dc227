// SPDX-License-Identifier: MIT
/*
 * The GPU's end of the access queue in BAR2.
 *
 * The guest can write all of BAR2 at any time.  So the layout is read once, the
 * head lives here, each index and entry is copied once and checked, and the process never
 * reads back a value that it wrote.
 */
#include "bus.h"

#include <stdatomic.h>
#include <string.h>

#define BUS_MAX_QUEUE	65536u

static bool bus_inside(uint64_t offset, uint64_t size, uint64_t align, uint64_t bar)
{
	return offset % align == 0 && size <= bar && offset <= bar - size;
}

const char *bus_open(struct bus *bus, void *bar2, size_t size)
{
	struct agate_bar2_header header;
	uint8_t *base = bar2;

	if (size < sizeof(header))
		return "BAR2 is too small for its header";
	memcpy(&header, bar2, sizeof(header));
	if (header.magic != AGATE_BAR2_MAGIC)
		return "BAR2 has no header";
	if (header.version != AGATE_BAR2_VERSION)
		return "BAR2 has another version";
	if (header.bar_size > size)
		return "BAR2 is smaller than its header says";
	if (header.queue_len < 2 || header.queue_len > BUS_MAX_QUEUE ||
	    (header.queue_len & (header.queue_len - 1)))
		return "the queue's length is no power of two";
	if (!bus_inside(header.ctrl_offset, sizeof(struct agate_bar2_ctrl), 64, header.bar_size) ||
	    !bus_inside(header.queue_offset,
			header.queue_len * sizeof(struct agate_bar2_entry), 16, header.bar_size) ||
	    !bus_inside(header.gsm_offset, header.gsm_size, 4096, header.bar_size) ||
	    !bus_inside(header.vram_offset, header.vram_size, 4096, header.bar_size))
		return "a region lies outside BAR2";

	bus->ctrl = (struct agate_bar2_ctrl *)(base + header.ctrl_offset);
	bus->queue = (struct agate_bar2_entry *)(base + header.queue_offset);
	bus->len = header.queue_len;
	bus->head = 0;
	bus->header = bar2;
	bus->gsm = base + header.gsm_offset;
	bus->gsm_size = header.gsm_size;
	bus->vram = base + header.vram_offset;
	bus->vram_size = header.vram_size;
	return NULL;
}

void bus_hide_gsm(struct bus *bus)
{
	bus->header->gsm_size = 0;
	bus->gsm_size = 0;
}

void bus_hide_vram(struct bus *bus, uint64_t size)
{
	bus->header->vram_size = size;
	bus->vram_size = size;
}

static uint32_t bus_tail(const struct bus *bus)
{
	return __atomic_load_n(&bus->ctrl->tail, __ATOMIC_ACQUIRE);
}

static void bus_publish_head(struct bus *bus)
{
	__atomic_store_n(&bus->ctrl->head, bus->head, __ATOMIC_RELEASE);
}

/* One copy, whatever the guest does to the original meanwhile. */
static struct agate_bar2_entry bus_copy(const struct bus *bus)
{
	const struct agate_bar2_entry *from = &bus->queue[bus->head & (bus->len - 1)];

	return (struct agate_bar2_entry){
		.op = __atomic_load_n(&from->op, __ATOMIC_RELAXED),
		.offset = __atomic_load_n(&from->offset, __ATOMIC_RELAXED),
		.value = __atomic_load_n(&from->value, __ATOMIC_RELAXED),
		.seq = __atomic_load_n(&from->seq, __ATOMIC_RELAXED),
	};
}

/* The entry keeps its answer for a guest that waits for a later one. */
static void bus_reply(struct bus *bus, uint32_t seq, uint32_t value)
{
	__atomic_store_n(&bus->queue[bus->head & (bus->len - 1)].value, value, __ATOMIC_RELAXED);
	__atomic_store_n(&bus->ctrl->reply_value, value, __ATOMIC_RELAXED);
	__atomic_store_n(&bus->ctrl->reply_seq, seq, __ATOMIC_RELEASE);
}

unsigned int bus_run(struct bus *bus, struct agate_sim *sim, unsigned int max)
{
	uint32_t tail = bus_tail(bus);
	unsigned int n;

	if (tail - bus->head > bus->len) {
		agate_sim_hint(sim, 1, "the queue's tail is further ahead than the queue is long");
		bus->head = tail;
		bus_publish_head(bus);
		return 0;
	}
	for (n = 0; n < max && bus->head != tail; n++) {
		struct agate_bar2_entry entry = bus_copy(bus);

		if (entry.op == AGATE_BAR2_WRITE)
			agate_sim_write32(sim, entry.offset, entry.value);
		else if (entry.op == AGATE_BAR2_READ)
			bus_reply(bus, entry.seq, agate_sim_read32(sim, entry.offset));
		else
			agate_sim_hint(sim, 1, "a queue entry is neither a read nor a write");
		bus->head++;
		bus_publish_head(bus);	/* last: all accesses of a drained queue have been
					 * carried out */
	}
	return n;
}

bool bus_pending(const struct bus *bus)
{
	return bus_tail(bus) != bus->head;
}

bool bus_sleep(struct bus *bus)
{
	__atomic_store_n(&bus->ctrl->asleep, 1, __ATOMIC_RELAXED);
	/*
	 * Pairs with the guest's barrier between its store of tail and its read of
	 * asleep: at least one side sees the other's store.
	 */
	atomic_thread_fence(memory_order_seq_cst);
	if (!bus_pending(bus))
		return true;
	bus_wake(bus);
	return false;
}

void bus_wake(struct bus *bus)
{
	__atomic_store_n(&bus->ctrl->asleep, 0, __ATOMIC_RELAXED);
}
