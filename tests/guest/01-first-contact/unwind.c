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
};

/* Each injection is for one call: it has struck when the next one is set. */
static void fail_each(const struct step *steps, unsigned int count)
{
	driver_load();
	for (unsigned int i = 0; i < count; i++) {
		const struct step *step = &steps[i];
		char after[96];
		int err;

		if (step->null)
			inject_fail_null(step->symbol, step->nth);
		else
			inject_fail(step->symbol, step->nth, step->err);
		err = driver_bind();
		rule("a probe that cannot %s fails with the error that it got", step->what);
		check_errno(err, step->err, "the probe");
		snprintf(after, sizeof(after), "a probe that cannot %s", step->what);
		check_left_clean(after);
	}
}

#define FAIL_EACH(steps)	fail_each(steps, sizeof(steps) / sizeof((steps)[0]))

void test_unwind_function(void **state)
{
	static const struct step steps[] = {
		{ "enable the function", "pcibios_enable_device", 1, EIO, false },
		{ "request its first region", "__request_region", 1, EBUSY, true },
		{ "request its second region", "__request_region", 2, EBUSY, true },
		{ "set its DMA mask", "dma_set_mask", 1, EIO, false },
	};

	(void)state;
	FAIL_EACH(steps);
}

void test_unwind_bus(void **state)
{
	static const struct step steps[] = {
		{ "attach the bus", "agate_bus_attach", 1, ENXIO, false },
	};

	(void)state;
	/* What was taken before, by whatever means: 0 microseconds only count the calls. */
	inject_delay_entry("pcibios_enable_device", 0, 0);
	inject_delay_entry("__request_region", 0, 0);
	FAIL_EACH(steps);
	rule("the bus is attached when the function is enabled and its regions are requested");
	check_at_least(inject_hits("pcibios_enable_device"), 1, "functions enabled");
	check_at_least(inject_hits("__request_region"), 2, "regions requested");
}

void test_unwind_vectors(void **state)
{
	static const struct step steps[] = {
		{ "get its vectors", "__pci_enable_msix_range", 1, ENOSPC, false },
		{ "request vector 0", "request_threaded_irq", 1, EBUSY, false },
		{ "request vector 1", "request_threaded_irq", 2, EBUSY, false },
		{ "request vector 2", "request_threaded_irq", 3, EBUSY, false },
		{ "request vector 3", "request_threaded_irq", 4, EBUSY, false },
		{ "start what needs the GPU", "agate_topics_init", 1, EIO, false },
	};

	int err;

	(void)state;
	FAIL_EACH(steps);
	topic(TOPIC_FEW_VECTORS, 0, 0);
	err = driver_bind();
	topic_end();
	rule("all four vectors or none: a function that has two is not taken");
	check_true(err, "the probe fails", "it succeeds");
	/* A driver that asks for at least four gets ENOSPC; one that counts them chooses an error. */
	rule("a probe that gets two vectors fails because of their number, and not because it asks "
	     "for a vector that is not there");
	check_true(err != EINVAL, "the probe: ENOSPC, or an error of your own choice",
		   "the probe: EINVAL, which pci_irq_vector() gives for a vector that is not there");
	check_left_clean("a probe that found two vectors");
	driver_take();
}
