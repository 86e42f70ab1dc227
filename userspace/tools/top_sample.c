// SPDX-License-Identifier: MIT
/*
 * Samples and rates, without any file: top_sample.h.
 */
#include "top_sample.h"

#include <stdlib.h>
#include <string.h>

bool top_sample_add(struct top_sample *sample, const struct top_client *client)
{
	struct top_client *clients;

	if (top_find(sample, client))
		return true;
	clients = realloc(sample->clients, (sample->count + 1) * sizeof(*clients));
	if (!clients)
		return false;
	sample->clients = clients;
	clients[sample->count++] = *client;
	return true;
}

void top_sample_clear(struct top_sample *sample)
{
	free(sample->clients);
	memset(sample, 0, sizeof(*sample));
}

const struct top_client *top_find(const struct top_sample *sample, const struct top_client *client)
{
	size_t i;

	for (i = 0; i < sample->count; i++) {
		if (top_same_client(&sample->clients[i], client))
			return &sample->clients[i];
	}
	return NULL;
}

const struct top_device *top_find_device(const struct top_sample *sample,
					 const struct top_device *device)
{
	size_t i;

	for (i = 0; i < sample->device_count; i++) {
		if (!strcmp(sample->device[i].device, device->device))
			return &sample->device[i];
	}
	return NULL;
}

static double share(uint64_t now, uint64_t before, double whole)
{
	double part;

	/* A counter that went back belongs to a new client with an old number. */
	if (now < before || whole <= 0.0)
		return 0.0;
	part = (double)(now - before) / whole;
	return part > 1.0 ? 1.0 : part;
}

static const struct top_engine *find_engine(const struct top_client *client, const char *name)
{
	uint32_t i;

	for (i = 0; i < client->engine_count; i++) {
		if (!strcmp(client->engine[i].name, name))
			return &client->engine[i];
	}
	return NULL;
}

double top_engine_busy(const struct top_engine *engine, const struct top_client *before,
		       uint64_t dt_ns)
{
	const struct top_engine *old = before ? find_engine(before, engine->name) : NULL;
	double capacity = (double)engine->capacity;

	if (!old)
		return 0.0;
	if (engine->has_ns && old->has_ns)
		return share(engine->busy_ns, old->busy_ns, (double)dt_ns * capacity);
	if (!engine->has_cycles || !old->has_cycles)
		return 0.0;
	if (engine->has_total && old->has_total && engine->total_cycles >= old->total_cycles)
		return share(engine->cycles, old->cycles,
			     (double)(engine->total_cycles - old->total_cycles) * capacity);
	return share(engine->cycles, old->cycles,
		     (double)dt_ns / 1e9 * (double)engine->max_hz * capacity);
}

double top_client_busy(const struct top_client *client, const struct top_client *before,
		       uint64_t dt_ns)
{
	double most = 0.0;
	uint32_t i;

	for (i = 0; i < client->engine_count; i++) {
		double busy = top_engine_busy(&client->engine[i], before, dt_ns);

		most = busy > most ? busy : most;
	}
	return most;
}

double top_device_busy(const struct top_device *device, const struct top_device *before)
{
	uint64_t busy, idle;

	if (!before || !device->has_busy || !before->has_busy ||
	    device->busy_ns < before->busy_ns || device->idle_ns < before->idle_ns)
		return -1.0;
	busy = device->busy_ns - before->busy_ns;
	idle = device->idle_ns - before->idle_ns;
	return busy + idle ? (double)busy / (double)(busy + idle) : -1.0;
}

/* What qsort() needs to know. */
static struct {
	const struct top_sample *before;
	uint64_t dt_ns;
	bool by_memory;
} order;

static double key_of(const struct top_client *client)
{
	if (order.by_memory)
		return (double)top_memory(client).resident;
	return top_client_busy(client, order.before ? top_find(order.before, client) : NULL,
			       order.dt_ns);
}

static int by_key(const void *a, const void *b)
{
	const struct top_client *x = a, *y = b;
	double kx = key_of(x), ky = key_of(y);

	if (kx != ky)
		return kx < ky ? 1 : -1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

void top_sort(struct top_sample *sample, const struct top_sample *before, bool by_memory)
{
	order.before = before;
	order.dt_ns = before ? sample->time_ns - before->time_ns : 0;
	order.by_memory = by_memory;
	if (sample->count)
		qsort(sample->clients, sample->count, sizeof(*sample->clients), by_key);
}
