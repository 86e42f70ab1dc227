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

/* A client that does not name its device belongs to the one of its driver. */
static bool is_of(const struct top_client *client, const struct top_device *device)
{
	return !strcmp(client->driver, device->driver) &&
	       (!client->device[0] || !strcmp(client->device, device->device));
}

static void add_device_of(struct top_sample *sample, const struct top_client *client)
{
	struct top_device *device;
	size_t i;

	for (i = 0; i < sample->device_count; i++) {
		if (is_of(client, &sample->device[i]))
			return;
	}
	if (i == TOP_DEVICES)
		return;
	device = &sample->device[sample->device_count++];
	*device = (struct top_device){ .has_busy = false };
	top_copy(device->driver, client->driver, strlen(client->driver));
	top_copy(device->device, client->device, strlen(client->device));
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void ask_clients(const struct top_sample *sample, struct top_device *device)
{
	uint64_t now_hz = 0, max_hz = 0;
	size_t i;
	uint32_t n;

	for (i = 0; i < sample->count; i++) {
		const struct top_client *client = &sample->clients[i];

		for (n = 0; is_of(client, device) && n < client->engine_count; n++) {
			now_hz = larger(now_hz, client->engine[n].now_hz);
			max_hz = larger(max_hz, client->engine[n].max_hz);
		}
	}
	device->now_hz = device->now_hz ? device->now_hz : now_hz;
	device->max_hz = device->max_hz ? device->max_hz : max_hz;
}

void top_sample_add_devices(struct top_sample *sample)
{
	size_t i;

	for (i = 0; i < sample->count; i++)
		add_device_of(sample, &sample->clients[i]);
	for (i = 0; i < sample->device_count; i++)
		ask_clients(sample, &sample->device[i]);
}

/* One engine with the work of all clients; negative when the device has none of this name. */
static double all_clients_busy(const struct top_sample *now, const struct top_sample *before,
			       const struct top_device *device, const char *name)
{
	const uint64_t dt_ns = now->time_ns - before->time_ns;
	double sum = -1.0;
	size_t i;

	for (i = 0; i < now->count; i++) {
		const struct top_client *client = &now->clients[i];
		const struct top_engine *engine = find_engine(client, name);

		if (!engine || !is_of(client, device))
			continue;
		sum = sum < 0.0 ? 0.0 : sum;
		sum += top_engine_busy(engine, top_find(before, client), dt_ns);
	}
	return sum > 1.0 ? 1.0 : sum;
}

static double busiest_engine(const struct top_sample *now, const struct top_sample *before,
			     const struct top_device *device)
{
	double most = -1.0;
	size_t i;
	uint32_t n;

	for (i = 0; i < now->count; i++) {
		const struct top_client *client = &now->clients[i];

		for (n = 0; is_of(client, device) && n < client->engine_count; n++) {
			double busy = all_clients_busy(now, before, device, client->engine[n].name);

			most = busy > most ? busy : most;
		}
	}
	return most;
}

double top_device_busy(const struct top_sample *now, const struct top_sample *before,
		       const struct top_device *device)
{
	const struct top_device *old = top_find_device(before, device);
	uint64_t busy, idle;

	if (!device->has_busy)
		return busiest_engine(now, before, device);
	if (!old || !old->has_busy || device->busy_ns < old->busy_ns ||
	    device->idle_ns < old->idle_ns)
		return -1.0;
	busy = device->busy_ns - old->busy_ns;
	idle = device->idle_ns - old->idle_ns;
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
