// SPDX-License-Identifier: MIT
/*
 * A walk through the calls that change masks, in an order that nobody wrote down: after
 * each step every mask has to be as three flags say, and nothing else.
 */
#include <stdio.h>
#include <stdlib.h>

#include "graded.h"
#include "tests.h"
#include "topic.h"

#define BLOCKS	3
#define STEPS	120
#define TOLD	3		/* steps that a message names */

/* Bits that the registers have; those that a reset or a cache command sets stay closed. */
static const uint32_t bits_of[BLOCKS] = {
	GPU_IRQ_FAULT | GPU_IRQ_MULTIPLE_FAULT | GPU_IRQ_POWER_CHANGED_SINGLE |
		GPU_IRQ_POWER_CHANGED_ALL | GPU_IRQ_PERFCNT_SAMPLE_COMPLETED,
	0x00070007,		/* an end and a failure of each job slot */
	0x00ff00ff,		/* a page fault and a bus error of each address space */
};

struct block {
	uint32_t mask;
	bool served, suspended;
};

static const struct call {
	const char *name;
	enum topic_op op;
	unsigned int weight;
} calls[] = {
	{ "enable", TOPIC_ENABLE_AGAIN, 3 },
	{ "enable without serve()", TOPIC_DISABLE, 2 },
	{ "suspend", TOPIC_SUSPEND, 4 },
	{ "resume", TOPIC_RESUME, 4 },
	{ "set_mask", TOPIC_SET_MASK, 3 },
	{ "set_mask with interrupts off", TOPIC_SET_MASK_ATOMIC, 2 },
	{ "reset", TOPIC_RESET, 2 },
};

static uint32_t state;		/* of the generator, which every run begins with its own seed */

static uint32_t draw(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state % below;
}

static const struct call *draw_call(void)
{
	unsigned int all = 0, at;

	for (unsigned int i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		all += calls[i].weight;
	at = draw(all);
	for (const struct call *call = calls;; call++) {
		if (at < call->weight)
			return call;
		at -= call->weight;
	}
}

/* One bit, all bits, no bit, or some. */
static uint32_t draw_mask(unsigned int vector)
{
	switch (draw(4)) {
	case 0:
		return bits_of[vector] & 1u << draw(32);
	case 1:
		return bits_of[vector];
	case 2:
		return draw(4) ? bits_of[vector] & state : 0;
	default:
		return bits_of[vector] & state;
	}
}

static void follow(struct block *block, enum topic_op op, uint32_t mask)
{
	switch (op) {
	case TOPIC_ENABLE_AGAIN:
		*block = (struct block){ .mask = mask, .served = true };
		break;
	case TOPIC_DISABLE:
		block->served = false;
		block->suspended = false;
		break;
	case TOPIC_SUSPEND:
		block->suspended = true;
		break;
	case TOPIC_RESUME:
		block->suspended = false;
		break;
	case TOPIC_SET_MASK:
	case TOPIC_SET_MASK_ATOMIC:
		block->mask = mask;
		break;
	default:
		break;
	}
}

/* The last steps, as text: "suspend(1), suspend(1), resume(1)". */
static void tell(char *story, size_t size, const struct call *call, unsigned int vector)
{
	static char last[TOLD][48];
	static unsigned int count;

	if (call->op == TOPIC_RESET)
		snprintf(last[count++ % TOLD], sizeof(last[0]), "%s", call->name);
	else
		snprintf(last[count++ % TOLD], sizeof(last[0]), "%s(%u)", call->name, vector);
	story[0] = '\0';
	for (unsigned int i = count < TOLD ? 0 : count - TOLD; i < count; i++) {
		size_t n = strlen(story);

		snprintf(story + n, size - n, "%s%s", n ? ", " : "", last[i % TOLD]);
	}
}

static void take_step(const struct call *call, unsigned int vector, uint32_t mask)
{
	int err = -topic(call->op, vector, mask);

	rule("a call that takes irq->lock leaves interrupts as it found them");
	if (call->op == TOPIC_SET_MASK_ATOMIC && err)
		broken("agate_irq_set_mask(), called with interrupts off: they are off afterwards",
		       "they are on");
	rule("a GPU that is well can be reset at any time");
	check_errno(err, 0, "agate_gpu_soft_reset()");
}

void walk_masks(uint32_t seed)
{
	struct block blocks[BLOCKS] = { 0 };
	char story[TOLD * 48 + 16];
	unsigned int vector = 0;

	state = seed | 1;
	for (unsigned int v = 0; v < BLOCKS; v++)
		topic(TOPIC_DISABLE, v, 0);
	for (unsigned int i = 0; i < STEPS; i++) {
		const struct call *call = draw_call();
		/* The display has no registers, and no serve() either. */
		unsigned int vectors = call->op == TOPIC_ENABLE_AGAIN ? BLOCKS : BLOCKS + 1;
		uint32_t mask;

		if (vector >= vectors || !draw(4))
			vector = draw(vectors);
		mask = vector < BLOCKS ? draw_mask(vector) : 1;

		take_step(call, vector, mask);
		if (vector < BLOCKS)
			follow(&blocks[vector], call->op, mask);
		tell(story, sizeof(story), call, vector);
		for (unsigned int v = 0; v < BLOCKS; v++) {
			const struct block *b = &blocks[v];

			rule("vector %u %s a serve() and is %ssuspended, after: %s", v,
			     b->served ? "has" : "has not", b->suspended ? "" : "not ", story);
			check_mask(v, b->served && !b->suspended ? b->mask : 0);
		}
	}
	rule("the display's vector has no registers: base 0 is not the address of any");
	check_equal(topic_seen().strange_writes, 0, "writes to registers that cannot be written");
}
