// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the driver asks of the kernel's interrupts, and what its threads answer (watch.h).
 * x86-64 only, like inject_point.c.
 */
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/kprobes.h>
#include <linux/pci.h>

#include "probes.h"
#include "watch.h"

/* Numbers that irqs_scatter() takes; the next ones are found between those that it keeps. */
#define TAKEN		16

/* ---- Handlers, and the names that the kernel keeps pointers to ------------------------- */

struct handler {
	unsigned int number;		/* 0: none */
	unsigned long name;
};

static struct handler handlers[TOPIC_VECTORS];

static int __kprobes on_request(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct handler *handler = (void *)ri->data;

	*handler = (struct handler){ regs->di, regs->r8 };
	return 0;
}

static int __kprobes on_requested(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct handler *handler = (void *)ri->data;
	unsigned int i;

	for (i = 0; i < TOPIC_VECTORS && !regs->ax; i++)
		if (!cmpxchg(&handlers[i].number, 0, handler->number)) {
			WRITE_ONCE(handlers[i].name, handler->name);
			break;
		}
	return 0;
}

void __kprobes irqs_freeing(unsigned int number)
{
	unsigned int i;

	for (i = 0; i < TOPIC_VECTORS; i++)
		if (handlers[i].number == number)
			handlers[i] = (struct handler){ 0 };
}

void __kprobes irqs_memory_freed(unsigned long address)
{
	unsigned int i;

	for (i = 0; i < TOPIC_VECTORS && address; i++)
		topic_seen.names_freed += READ_ONCE(handlers[i].name) == address;
}

/* ---- Vectors --------------------------------------------------------------------- */

static int __kprobes on_vectors(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	topic_seen.vectors_got = (int)regs->ax;
	return 0;
}

/* ---- Threads --------------------------------------------------------------------- */

/*
 * The kernel's own count.  A probe of the thread's end would disturb: while the handler of
 * a return runs, an interrupt's accesses to the GPU are not seen, or faked.
 */
u32 irqs_handled(unsigned int number)
{
	struct irq_data *data = irq_get_irq_data(number);

	return data ? atomic_read(&irq_data_to_desc(data)->threads_handled) : 0;
}

/* ---- Probes ---------------------------------------------------------------------- */

static const struct {
	const char *symbol;
	kretprobe_handler_t entry, end;
	size_t data;
} watched[IRQS_PROBES] = {
	{ "request_threaded_irq", on_request, on_requested, sizeof(struct handler) },
	{ "__pci_enable_msix_range", NULL, on_vectors, 0 },
	/* Later than that, if at all: it may have tried another kind of vector as well. */
	{ "pci_alloc_irq_vectors_affinity", NULL, on_vectors, 0 },
};

static struct kretprobe probes[IRQS_PROBES];
static bool armed;

int irqs_watch(void)
{
	struct kretprobe *all[IRQS_PROBES];
	unsigned int i;
	int ret;

	if (armed)
		return 0;
	memset(handlers, 0, sizeof(handlers));
	for (i = 0; i < IRQS_PROBES; i++) {
		probes[i] = (struct kretprobe){
			.kp.symbol_name = watched[i].symbol, .entry_handler = watched[i].entry,
			.handler = watched[i].end, .data_size = watched[i].data,
		};
		all[i] = &probes[i];
	}
	ret = return_probes_arm(all, IRQS_PROBES);
	armed = !ret;
	return ret;
}

unsigned int irqs_end(struct kretprobe **ended)
{
	unsigned int i;

	for (i = 0; i < IRQS_PROBES && armed; i++)
		ended[i] = &probes[i];
	armed = false;
	return i;
}

/* ---- Numbers with gaps ------------------------------------------------------------- */

static int taken[TAKEN];

int irqs_scatter(void)
{
	unsigned int i;

	irqs_gather();
	for (i = 0; i < TAKEN; i++) {
		taken[i] = irq_alloc_desc(NUMA_NO_NODE);
		if (taken[i] < 0)
			return taken[i];
	}
	for (i = 1; i < TAKEN; i += 2) {
		irq_free_desc(taken[i]);
		taken[i] = 0;
	}
	return 0;
}

void irqs_gather(void)
{
	unsigned int i;

	for (i = 0; i < TAKEN; i++) {
		if (taken[i] > 0)
			irq_free_desc(taken[i]);
		taken[i] = 0;
	}
}
