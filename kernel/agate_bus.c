// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bus: register access through the queue in BAR2.
 *
 * A write appends one entry; a read appends one entry and waits for its answer. The
 * other side is another process, so this file uses the virt_ barriers, which exist
 * whatever CONFIG_SMP says.  Every wait ends: the answer arrives, the launcher
 * clears the ALIVE word, or bus_timeout_ms runs out for a GPU that is alive but
 * stuck.
 */
#include <linux/io.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/rcupdate.h>
#include <asm/barrier.h>

#include "agate_bus.h"
#include "agate_card.h"
#include "agate_device.h"
#include "agate_lock_order.h"
#include "agate_regs.h"

#define BAR_REGS	0
#define BAR_SHARED	2

/*
 * A waiter polls in bursts: the answer takes some microseconds, and cpu_relax() is
 * expensive in a virtual machine.  Reading the clock may be slow, so it happens
 * more rarely still.
 */
#define LOOKS_PER_BURST		64
#define BURSTS_PER_CLOCK	64

static unsigned int bus_timeout_ms = 10000;
module_param(bus_timeout_ms, uint, 0644);
MODULE_PARM_DESC(bus_timeout_ms, "Milliseconds until a GPU that does not answer counts as lost");

static void bus_mark_lost(struct agate_device *adev)
{
	lockdep_assert_held(&adev->bus.lock);

	if (adev->bus.lost)
		return;
	WRITE_ONCE(adev->bus.lost, true);
	agate_device_lost(adev);
}

static bool bus_has_room(const struct agate_bus *bus)
{
	/* Acquire: the GPU read the entries before it counted them as consumed. */
	return bus->tail - virt_load_acquire(&bus->ctrl->head) < bus->queue_len;
}

static bool bus_is_drained(const struct agate_bus *bus)
{
	/* Acquire: the GPU's answers are visible before the index. */
	return virt_load_acquire(&bus->ctrl->head) == bus->tail;
}

static bool bus_has_answer(const struct agate_bus *bus)
{
	/* Acquire: reply_value was written before reply_seq. */
	return virt_load_acquire(&bus->ctrl->reply_seq) == bus->seq;
}

static bool bus_look(const struct agate_bus *bus, bool (*done)(const struct agate_bus *bus))
{
	unsigned int i;

	for (i = 0; i < LOOKS_PER_BURST; i++)
		if (done(bus))
			return true;
	return false;
}

/* Spin until a condition holds.  Return false when the GPU is lost. */
static bool bus_wait(struct agate_device *adev, bool (*done)(const struct agate_bus *bus))
{
	struct agate_bus *bus = &adev->bus;
	unsigned int bursts = 0;
	ktime_t deadline = 0;

	while (!bus_look(bus, done)) {
		if (!READ_ONCE(bus->ctrl->alive)) {
			bus_mark_lost(adev);
			return false;
		}
		cpu_relax();
		if (++bursts % BURSTS_PER_CLOCK)
			continue;
		if (!deadline) {
			deadline = ktime_add_ms(ktime_get(), READ_ONCE(bus_timeout_ms));
		} else if (ktime_after(ktime_get(), deadline)) {
			dev_err(&adev->pdev->dev, "the GPU does not answer\n");
			bus_mark_lost(adev);
			return false;
		}
	}
	return true;
}

/*
 * Ring if the GPU's process sleeps, after the entries are published: this order loses no
 * wake-up.  Take its request back first, so that the entries until it runs do not ring, too:
 * the doorbell rings after that, and covers them.
 */
static void bus_ring(struct agate_bus *bus)
{
	lockdep_assert_held(&bus->lock);

	/*
	 * Full: pairs with the GPU's barrier between its write of asleep and its
	 * read of tail.
	 */
	virt_mb();
	if (!READ_ONCE(bus->ctrl->asleep))
		return;
	WRITE_ONCE(bus->ctrl->asleep, 0);
	writel(bus->doorbell, bus->regs + AGATE_IVSHMEM_DOORBELL);
}

static struct agate_bar2_entry *bus_entry(const struct agate_bus *bus, u32 index)
{
	return &bus->queue[index & (bus->queue_len - 1)];
}

/* The GPU has answered the posted read: keep the answer before its entry is used again. */
static void bus_keep_posted(struct agate_bus *bus)
{
	lockdep_assert_held(&bus->lock);

	if (bus->posted_open)
		bus->posted_value = READ_ONCE(bus_entry(bus, bus->posted_at)->value);
	bus->posted_open = false;
}

/*
 * The card has a supply of its own, so its registers answer while the GPU is off, but not
 * while the system sleeps.
 */
static bool bus_has_power(const struct agate_device *adev, u32 reg)
{
	if (!adev->bus.asleep)
		return true;
	return reg >= CARD_BASE && reg < CARD_END && !READ_ONCE(adev->asleep);
}

/* Publish one entry; bus_ring() has to follow. */
static bool bus_append(struct agate_device *adev, u32 op, u32 reg, u32 value, u32 seq)
{
	struct agate_bus *bus = &adev->bus;
	struct agate_bar2_entry *entry;

	lockdep_assert_held(&bus->lock);

	if (bus->lost || WARN_ON_ONCE(!bus_has_power(adev, reg)))
		return false;
	/* The entries that fill the queue may not have rung yet. */
	if (!bus_has_room(bus))
		bus_ring(bus);
	if (!bus_wait(adev, bus_has_room))
		return false;

	if (bus->tail - bus->posted_at == bus->queue_len)
		bus_keep_posted(bus);
	entry = bus_entry(bus, bus->tail);
	WRITE_ONCE(entry->op, op);
	WRITE_ONCE(entry->offset, reg);
	WRITE_ONCE(entry->value, value);
	WRITE_ONCE(entry->seq, seq);
	bus->tail++;
	/* Release: the entry is complete before the index says so. */
	virt_store_release(&bus->ctrl->tail, bus->tail);
	return true;
}

void gpu_write_list(struct agate_device *adev, const struct agate_reg_write *writes,
		    unsigned int count)
{
	struct agate_bus *bus = &adev->bus;
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&bus->lock, flags);
	for (i = 0; i < count; i++) {
		if (!bus_append(adev, AGATE_BAR2_WRITE, writes[i].reg, writes[i].value, 0))
			break;
	}
	if (i)
		bus_ring(bus);
	spin_unlock_irqrestore(&bus->lock, flags);
}

void gpu_write(struct agate_device *adev, u32 reg, u32 value)
{
	const struct agate_reg_write write = { reg, value };

	gpu_write_list(adev, &write, 1);
}

/*
 * The power input belongs to the board and not to the GPU, which answers nobody without it.
 * So it comes on before the first access to a register of the GPU, and goes off after the last.
 */
static void bus_power_input(struct agate_device *adev, bool on)
{
	lockdep_assert_held(&adev->bus.lock);

	if (bus_append(adev, AGATE_BAR2_WRITE, AGATE_POWER_IN, on, 0))
		bus_ring(&adev->bus);
}

void agate_bus_sleep(struct agate_device *adev)
{
	unsigned long flags;

	spin_lock_irqsave(&adev->bus.lock, flags);
	bus_power_input(adev, false);
	adev->bus.asleep = true;
	spin_unlock_irqrestore(&adev->bus.lock, flags);
}

void agate_bus_wake(struct agate_device *adev)
{
	unsigned long flags;

	spin_lock_irqsave(&adev->bus.lock, flags);
	adev->bus.asleep = false;
	bus_power_input(adev, true);
	spin_unlock_irqrestore(&adev->bus.lock, flags);
}

static bool bus_append_read(struct agate_device *adev, u32 reg)
{
	if (!bus_append(adev, AGATE_BAR2_READ, reg, 0, adev->bus.seq + 1))
		return false;
	adev->bus.seq++;
	return true;
}

/* Wait for the newest read.  The GPU answers in order, so a posted one has its answer, too. */
static bool bus_wait_read(struct agate_device *adev)
{
	struct agate_bus *bus = &adev->bus;

	bus_ring(bus);
	if (!bus_wait(adev, bus_has_answer))
		return false;
	bus_keep_posted(bus);
	return true;
}

u32 gpu_read(struct agate_device *adev, u32 reg)
{
	struct agate_bus *bus = &adev->bus;
	unsigned long flags;
	u32 value = ~0u;

	spin_lock_irqsave(&bus->lock, flags);
	if (bus_append_read(adev, reg) && bus_wait_read(adev))
		value = READ_ONCE(bus->ctrl->reply_value);
	spin_unlock_irqrestore(&bus->lock, flags);
	return value;
}

void gpu_read_post(struct agate_device *adev, u32 reg)
{
	struct agate_bus *bus = &adev->bus;
	unsigned long flags;

	spin_lock_irqsave(&bus->lock, flags);
	WARN_ON_ONCE(bus->posted_open);
	bus->posted_value = ~0u;
	bus->posted_open = bus_append_read(adev, reg);
	bus->posted_at = bus->tail - 1;
	spin_unlock_irqrestore(&bus->lock, flags);
}

u32 gpu_read_posted(struct agate_device *adev)
{
	struct agate_bus *bus = &adev->bus;
	unsigned long flags;
	u32 value;

	spin_lock_irqsave(&bus->lock, flags);
	if (bus->posted_open && !bus->lost)
		bus_wait_read(adev);
	bus->posted_open = false;
	value = bus->posted_value;
	spin_unlock_irqrestore(&bus->lock, flags);
	return value;
}

int gpu_poll(struct agate_device *adev, u32 reg, u32 mask, u32 want)
{
	unsigned int reads;

	for (reads = 0; reads < AGATE_POLL_READS; reads++) {
		u32 value = gpu_read(adev, reg);

		if (agate_bus_lost(adev))
			return -ENODEV;
		if ((value & mask) == want)
			return 0;
	}
	return -ETIMEDOUT;
}

/* Every ioctl and every interrupt asks.  RCU keeps the ALIVE word mapped for them. */
static bool bus_lives(const struct agate_bus *bus)
{
	bool lives;

	rcu_read_lock();
	lives = !READ_ONCE(bus->lost) && READ_ONCE(bus->ctrl->alive);
	rcu_read_unlock();
	return lives;
}

bool agate_bus_lost(struct agate_device *adev)
{
	struct agate_bus *bus = &adev->bus;
	unsigned long flags;
	bool lost;

	if (bus_lives(bus))
		return false;
	spin_lock_irqsave(&bus->lock, flags);
	if (!bus->lost && !READ_ONCE(bus->ctrl->alive))
		bus_mark_lost(adev);
	lost = bus->lost;
	spin_unlock_irqrestore(&bus->lock, flags);
	return lost;
}

/* One region of BAR2, as the header claims it. */
struct bar2_region {
	u64 offset;
	u64 size;
};

/* Regions must lie in the BAR, on cache lines of their own, and apart; they may be empty. */
static bool bar2_regions_valid(const struct bar2_region *region, unsigned int count, u64 bar_size)
{
	unsigned int i, j;

	for (i = 0; i < count; i++) {
		if (region[i].size > bar_size ||
		    region[i].offset > bar_size - region[i].size ||
		    !IS_ALIGNED(region[i].offset, SMP_CACHE_BYTES))
			return false;
		for (j = 0; j < i; j++)
			if (region[i].offset < region[j].offset + region[j].size &&
			    region[j].offset < region[i].offset + region[i].size)
				return false;
	}
	return true;
}

/* Every ivshmem device has this PCI id, so check everything in the header. */
static bool bar2_header_valid(const struct agate_bar2_header *header, u64 bar_size)
{
	const struct bar2_region region[] = {
		{ 0, sizeof(*header) },
		{ header->ctrl_offset, sizeof(struct agate_bar2_ctrl) },
		{ header->queue_offset, (u64)header->queue_len * sizeof(struct agate_bar2_entry) },
		{ header->gsm_offset, header->gsm_size },
		{ header->vram_offset, header->vram_size },
	};

	/* Each of these two has pages of its own, and so its own caching mode. */
	if (!IS_ALIGNED(header->gsm_offset | header->gsm_size, PAGE_SIZE) ||
	    !IS_ALIGNED(header->vram_offset | header->vram_size, PAGE_SIZE))
		return false;
	/* Only GSM may be empty: a card may have its table elsewhere. */
	return header->magic == AGATE_BAR2_MAGIC && header->vram_size &&
	       header->version == AGATE_BAR2_VERSION &&
	       header->bar_size == bar_size &&
	       header->sim_peer <= U16_MAX &&
	       is_power_of_2(header->queue_len) &&
	       bar2_regions_valid(region, ARRAY_SIZE(region), bar_size);
}

/*
 * The indices and the reply slot survive a reload of the driver: continue from
 * them, but only when the GPU has answered every entry that an earlier driver left.
 */
static int bus_open_queue(struct agate_device *adev)
{
	struct agate_bus *bus = &adev->bus;
	unsigned long flags;
	bool drained;

	spin_lock_irqsave(&bus->lock, flags);
	bus->lost = false;
	bus->tail = READ_ONCE(bus->ctrl->tail);
	drained = READ_ONCE(bus->ctrl->alive) && bus_wait(adev, bus_is_drained);
	bus->seq = READ_ONCE(bus->ctrl->reply_seq);
	bus->lost = !drained;
	/* The firmware may have left it off. */
	bus_power_input(adev, true);
	spin_unlock_irqrestore(&bus->lock, flags);
	return drained ? 0 : -ENODEV;
}

static void *bar2_map(struct agate_device *adev, u64 offset, u64 size)
{
	return memremap(pci_resource_start(adev->pdev, BAR_SHARED) + offset, size, MEMREMAP_WB);
}

static int bar2_read_header(struct agate_device *adev, struct agate_bar2_header *header)
{
	u64 bar_size = pci_resource_len(adev->pdev, BAR_SHARED);
	void *mapped;

	if (bar_size < sizeof(*header))
		return -ENODEV;
	mapped = bar2_map(adev, 0, sizeof(*header));
	if (!mapped)
		return -ENOMEM;
	memcpy(header, mapped, sizeof(*header));
	memunmap(mapped);
	return bar2_header_valid(header, bar_size) ? 0 : -ENODEV;
}

static int bus_map_queue(struct agate_device *adev, const struct agate_bar2_header *header)
{
	struct agate_bus *bus = &adev->bus;

	bus->ctrl = bar2_map(adev, header->ctrl_offset, sizeof(*bus->ctrl));
	if (!bus->ctrl)
		return -ENOMEM;
	bus->queue = bar2_map(adev, header->queue_offset,
			      (u64)header->queue_len * sizeof(*bus->queue));
	if (!bus->queue) {
		memunmap(bus->ctrl);
		return -ENOMEM;
	}
	bus->queue_len = header->queue_len;
	return 0;
}

static void bus_unmap_queue(struct agate_bus *bus)
{
	memunmap(bus->queue);
	memunmap(bus->ctrl);
}

int agate_bus_attach(struct agate_device *adev)
{
	struct pci_dev *pdev = adev->pdev;
	struct agate_bus *bus = &adev->bus;
	phys_addr_t bar2 = pci_resource_start(pdev, BAR_SHARED);
	struct agate_bar2_header header;
	int ret;

	if (pci_resource_len(pdev, BAR_REGS) < AGATE_IVSHMEM_DOORBELL + sizeof(u32))
		return -ENODEV;
	ret = bar2_read_header(adev, &header);
	if (ret)
		return ret;

	spin_lock_init(&bus->lock);
	agate_lock_class(&bus->lock, AGATE_LOCK_BUS);
	bus->doorbell = header.sim_peer << 16;
	bus->gsm = (struct agate_bar2_piece){ bar2 + header.gsm_offset, header.gsm_size };
	bus->vram = (struct agate_bar2_piece){ bar2 + header.vram_offset, header.vram_size };
	bus->regs = pci_iomap(pdev, BAR_REGS, 0);
	if (!bus->regs)
		return -ENOMEM;
	ret = bus_map_queue(adev, &header);
	if (ret)
		goto err_regs;
	ret = bus_open_queue(adev);
	if (ret)
		goto err_queue;
	return 0;

err_queue:
	bus_unmap_queue(bus);
err_regs:
	pci_iounmap(pdev, bus->regs);
	return ret;
}

void agate_bus_detach(struct agate_device *adev)
{
	struct agate_bus *bus = &adev->bus;
	unsigned long flags;

	spin_lock_irqsave(&bus->lock, flags);
	bus_power_input(adev, false);
	WRITE_ONCE(bus->lost, true);
	spin_unlock_irqrestore(&bus->lock, flags);
	/* A CPU that did not see this may still read the ALIVE word. */
	synchronize_rcu();
	bus_unmap_queue(bus);
	pci_iounmap(adev->pdev, bus->regs);
}
