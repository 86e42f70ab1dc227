// SPDX-License-Identifier: MIT
/* Every step of the probe fails once, and nothing of those before it is left. */
#include <stdio.h>

#include "function.h"
#include "graded.h"
#include "tests.h"
#include "topic.h"

/* A kernel function that every way of doing the step goes through. */
struct step {
	const char *what;
	const char *symbol;
	unsigned int nth;
	int err;
	bool null;		/* it returns a pointer: NULL, and the caller has the errno */
	bool optional;		/* a driver may leave BAR1 alone, and succeed */
	bool vectors;		/* the driver may try another kind of vector, and fail with that */
};

/* The driver goes on without the step, which is as good as an error that it passes on. */
static int driver_without(const struct step *step)
{
	inject_clear();
	if (driver_bound())
		driver_unbind();
	/* The topics had started, and give some memory back only after seconds. */
	topic(TOPIC_ACCOUNT, 0, 0);
	return step->err;
}

static void check_order(const char *after)
{
	struct topic_seen seen = topic_seen();

	rule("%s: what was taken before is undone in reverse, handlers, bus, function", after);
	check_equal(seen.detaches_early, 0,
		    "agate_bus_detach() with handlers still there, or the function disabled");
	rule("%s: irq->irq is the number of an interrupt that is requested, and otherwise 0", after);
	check_equal(seen.numbers_left, 0, "numbers of interrupts that were freed");
}

/* Each injection is for one call: it has struck when the next one is set. */
static void fail_each(const struct step *steps, unsigned int count)
{
	driver_load();
	topic(TOPIC_WATCH, 0, 0);
	topic(TOPIC_ACCOUNT, 0, 0);
	for (unsigned int i = 0; i < count; i++) {
		const struct step *step = &steps[i];
		char after[96];
		int err;

		if (step->null)
			inject_fail_null(step->symbol, step->nth);
		else
			inject_fail(step->symbol, step->nth, step->err);
		err = driver_bind();
		if (!err && step->optional && !function_claimed(1))
			err = driver_without(step);
		rule("a probe that cannot %s fails with the error that it got", step->what);
		check_errno(err, step->vectors ? vectors_error(step->err) : step->err, "the probe");
		snprintf(after, sizeof(after), "a probe that cannot %s", step->what);
		rule("%s: nothing of the driver is left", after);
		check_nothing_taken();
		check_left_clean(after);
		check_order(after);
		rule("%s: the memory that it had allocated until then goes back, too", after);
		check_nothing_kept();
	}
}

#define FAIL_EACH(steps)	fail_each(steps, sizeof(steps) / sizeof((steps)[0]))

void test_unwind_function(void **state)
{
	static const struct step steps[] = {
		{ "enable the function", "pcibios_enable_device", 1, EIO, false, false, false },
		{ "request its first region", "__request_region", 1, EBUSY, true, false, false },
		{ "request its second region", "__request_region", 2, EBUSY, true, false, false },
		{ "request the region of its MSI-X table", "__request_region", 3, EBUSY, true, true, false },
		{ "set its DMA mask", "dma_set_mask", 1, EIO, false, false, false },
	};

	(void)state;
	FAIL_EACH(steps);
}

/* Somebody else has enabled the function: pci_disable_device() then leaves mastering alone. */
static void check_enabled_before(void)
{
	rule("sysfs enables the function while no driver has it");
	check_errno(function_enable("1"), 0, "a 1 in its file `enable`");
	inject_fail("agate_bus_attach", 1, ENXIO);
	rule("a probe that cannot attach the bus fails with the error that it got");
	check_errno(driver_bind(), ENXIO, "the probe");
	check_as_found("a probe that cannot attach the bus, of a function that was enabled before", 1);
	check_errno(function_enable("0"), 0, "a 0 in its file `enable`");
}

void test_unwind_bus(void **state)
{
	static const struct step steps[] = {
		{ "attach the bus", "agate_bus_attach", 1, ENXIO, false, false, false },
	};

	(void)state;
	driver_load();
	/* What was taken before, by whatever means: 0 microseconds only count the calls. */
	inject_delay_entry("pcibios_enable_device", 0, 0);
	inject_delay_entry("__request_region", 0, 0);
	FAIL_EACH(steps);
	rule("the bus is attached when the function is enabled and its regions are requested");
	check_at_least(inject_hits("pcibios_enable_device"), 1, "functions enabled");
	check_at_least(inject_hits("__request_region"), 2, "regions requested");
	inject_clear();
	check_enabled_before();
}

/*
 * A call that asks for at least four gives an error.  A driver that asks for fewer, and
 * counts what it got, has no error of a call, and may choose one.
 */
static void check_fewer(unsigned int count)
{
	int err;

	topic(TOPIC_CLAIM, 0, count);
	err = driver_bind();
	rule("all four vectors or none: a function that has %u is not taken", count);
	check_true(err, "the probe fails", "it succeeds");
	rule("a probe that cannot get four vectors fails with the error that the call for them gives");
	if (topic_seen().vectors_got < 0)
		check_errno(err, vectors_error(0), "the probe");
	rule("a probe that found %u vectors: nothing of the driver is left", count);
	check_nothing_taken();
}

static void check_more(void)
{
	topic(TOPIC_CLAIM, 0, 8);
	driver_take();
	rule("all four vectors and no more, also of a function that has eight");
	check_equal(function_vectors(NULL, 0), 4, "vectors in msi_irqs");
	rule("the driver lets the GPU go");
	check_errno(driver_unbind(), 0, "unbinding");
	topic_end();
	driver_take();
}

/* The driver takes the GPU, as check_more() has seen: what fails now is due to the numbers. */
static void check_numbers(void)
{
	rule("the driver lets the GPU go");
	check_errno(driver_unbind(), 0, "unbinding");
	check_errno(-topic(TOPIC_SCATTER, 0, 0), 0, "to take numbers of interrupts");
	rule("pci_irq_vector() says which number a vector has: here the four do not follow one another");
	check_errno(driver_bind(), 0, "the probe");
	for (unsigned int v = 0; v < 4; v++)
		check_errno(-topic(TOPIC_NUMBER, v, 0), 0, "adev->irq[].irq, compared with that number");
}

void test_unwind_vectors(void **state)
{
	static const struct step steps[] = {
		{ "get its vectors", "__pci_enable_msix_range", 1, ENOMEM, false, false, true },
		{ "request vector 0", "request_threaded_irq", 1, EBUSY, false, false, false },
		{ "request vector 1", "request_threaded_irq", 2, EBUSY, false, false, false },
		{ "request vector 2", "request_threaded_irq", 3, EBUSY, false, false, false },
		{ "request vector 3", "request_threaded_irq", 4, EBUSY, false, false, false },
		{ "start what needs the GPU", "agate_topics_init", 1, EIO, false, false, false },
	};

	(void)state;
	FAIL_EACH(steps);
	inject_clear();
	for (unsigned int count = 1; count < 4; count++)
		check_fewer(count);
	check_more();
	check_numbers();
}
