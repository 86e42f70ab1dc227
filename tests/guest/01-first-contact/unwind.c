// SPDX-License-Identifier: MIT
/* Every step of the probe fails once, and nothing of those before it is left. */
#include <stdio.h>

#include "function.h"
#include "graded.h"
#include "tests.h"

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
	FAIL_EACH(steps);
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

	(void)state;
	FAIL_EACH(steps);
	driver_take("success after failures");
}
