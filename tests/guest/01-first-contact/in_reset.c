// SPDX-License-Identifier: MIT
/*
 * Calls that another task makes while a reset is under way: what the reset writes at its
 * end is as they left it, and not as it was before.
 */
#include <stdio.h>

#include "function.h"
#include "graded.h"
#include "tests.h"
#include "topic.h"

#define BLOCKS		3

static const uint32_t before[BLOCKS] = { GPU_IRQ_FAULT, 0x1, 0x1 };
static const uint32_t later[BLOCKS] = { GPU_IRQ_MULTIPLE_FAULT, 0x2, 0x2 };

/* Where the reset is held: at its first read, the poll, or before it takes a lock. */
static const struct place {
	const char *symbol;
	const char *where;
} places[] = {
	{ "gpu_read", "while the reset waits for the GPU" },
	{ "_raw_spin_lock_irq", "before the reset takes irq->lock" },
	{ "_raw_spin_lock_irqsave", "before the reset takes irq->lock" },
};

/* One call for each vector. */
struct round {
	enum topic_op calls[BLOCKS];
};

static const struct round rounds[] = {
	{ { TOPIC_SET_MASK, TOPIC_SUSPEND, TOPIC_RESUME } },
	{ { TOPIC_RESUME, TOPIC_SET_MASK, TOPIC_DISABLE } },
	{ { TOPIC_ENABLE_AGAIN, TOPIC_ENABLE_AGAIN, TOPIC_SET_MASK } },
};

static const char *call_name(enum topic_op op)
{
	switch (op) {
	case TOPIC_SET_MASK:
		return "agate_irq_set_mask()";
	case TOPIC_SUSPEND:
		return "agate_irq_suspend()";
	case TOPIC_RESUME:
		return "agate_irq_resume()";
	case TOPIC_DISABLE:
		return "agate_irq_enable() without serve()";
	default:
		return "agate_irq_enable() with a serve()";
	}
}

/* A vector that is resumed was suspended, and one that is enabled was not served. */
static void prepare(const struct round *round)
{
	for (unsigned int v = 0; v < BLOCKS; v++) {
		topic(TOPIC_ENABLE, v, before[v]);
		if (round->calls[v] == TOPIC_RESUME)
			topic(TOPIC_SUSPEND, v, 0);
		if (round->calls[v] == TOPIC_ENABLE_AGAIN)
			topic(TOPIC_DISABLE, v, 0);
	}
}

static void check_round(const struct round *round, const char *where)
{
	for (unsigned int v = 0; v < BLOCKS; v++) {
		enum topic_op op = round->calls[v];
		uint32_t mask = later[v];

		if (op == TOPIC_RESUME)
			mask = before[v];
		if (op == TOPIC_SUSPEND || op == TOPIC_DISABLE)
			mask = 0;
		rule("a call that comes %s counts, here %s of vector %u: at its end the reset writes the "
		     "mask as it should be then", where, call_name(op), v);
		check_mask(v, mask);
	}
}

/* False when the reset makes no such call. */
static bool call_in_reset(const struct round *round, const struct place *place)
{
	struct waiting *resetting;
	bool held = false;

	prepare(round);
	inject_anybody(true);
	inject_within("agate_gpu_soft_reset");
	inject_hold_entry(place->symbol, 1, INJECT_BOUND_MS);
	inject_anybody(false);
	resetting = topic_start(TOPIC_RESET, 0, 0);
	for (unsigned int look = 0; look < PATIENCE_LOOKS && !held; look++) {
		held = inject_await_held(place->symbol, 1);
		if (!held && topic_ended(resetting))
			break;
	}
	for (unsigned int v = 0; v < BLOCKS && held; v++)
		topic(round->calls[v], v, later[v]);
	if (held && !inject_let_go(place->symbol))
		could_not_look("the reset went on before the test had looked");
	topic_join(resetting);
	inject_clear();
	if (held)
		check_round(round, place->where);
	return held;
}

void check_calls_in_reset(void)
{
	for (unsigned int i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++)
		for (unsigned int p = 0; p < sizeof(places) / sizeof(places[0]); p++)
			call_in_reset(&rounds[i], &places[p]);
}
