// SPDX-License-Identifier: MIT
/*
 * How long each test took last time, and the order that follows (run_order.h).
 */
#include "run_order.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* All shorter ones stay in the lab's order, in which a reader sees their verdicts. */
#define LONG_MS		60

static bool goes_first(const struct run_order *order, size_t a, size_t b)
{
	return order->took_ms[a] >= LONG_MS && order->took_ms[a] > order->took_ms[b];
}

static void sort(struct run_order *order, size_t count)
{
	size_t i, at;

	for (i = 0; i < count; i++) {
		for (at = i; at && goes_first(order, i, order->order[at - 1]); at--)
			order->order[at] = order->order[at - 1];
		order->order[at] = i;
	}
}

static void know(struct run_order *order, const struct lab *lab, const char *name,
		 unsigned int ms)
{
	size_t i;

	for (i = 0; i < lab->test_count; i++)
		if (!strcmp(lab->tests[i].name, name))
			order->took_ms[i] = ms;
}

void run_order_load(struct run_order *order, const struct lab *lab, const char *path)
{
	FILE *file = fopen(path, "re");
	char line[200], name[200];
	unsigned int ms;

	memset(order, 0, sizeof(*order));
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%199s %u", name, &ms) == 2)
			know(order, lab, name, ms);
	if (file)
		fclose(file);
	sort(order, lab->test_count);
}

void run_order_save(const struct run_order *order, const struct lab *lab, const char *path)
{
	FILE *file = fopen(path, "we");
	size_t i;

	if (!file)
		return;
	for (i = 0; i < lab->test_count; i++)
		if (order->took_ms[i])
			fprintf(file, "%s %u\n", lab->tests[i].name, order->took_ms[i]);
	fclose(file);
}
