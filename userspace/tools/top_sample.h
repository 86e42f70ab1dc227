/* SPDX-License-Identifier: MIT */
/*
 * All clients at one moment, and what two such moments say about the time between them.
 */
#ifndef TOP_SAMPLE_H
#define TOP_SAMPLE_H

#include "top_client.h"
#include "top_power.h"
#include "top_regions.h"

#define TOP_DEVICES	8

/*
 * A device.  debugfs tells how busy it was, and of agate's the memory and the global table; devfreq
 * tells its frequency, and runtime PM its power; the load and the frequency that nobody tells follow
 * from its clients.
 */
struct top_device {
	char driver[TOP_NAME], device[TOP_NAME];
	uint64_t busy_ns, idle_ns;
	uint64_t now_hz, max_hz;	/* 0: not known */
	bool has_busy;
	struct top_power power;
	struct top_regions regions;
	struct top_ggtt ggtt;
};

struct top_sample {
	uint64_t time_ns;
	struct top_client *clients;
	size_t count;
	struct top_device device[TOP_DEVICES];
	size_t device_count;
};

/* Add a client, unless the sample has it already; false when memory ran out. */
bool top_sample_add(struct top_sample *sample, const struct top_client *client);
void top_sample_clear(struct top_sample *sample);

/* The same client, or device, in another sample; NULL when it was not there. */
const struct top_client *top_find(const struct top_sample *sample, const struct top_client *client);
const struct top_device *top_find_device(const struct top_sample *sample,
					 const struct top_device *device);

/*
 * How busy an engine was with a client's work, 0 to 1: of all engines of that name.
 * before is NULL, or the same client dt_ns earlier.  0 when nothing is known.
 */
double top_engine_busy(const struct top_engine *engine, const struct top_client *before,
		       uint64_t dt_ns);

/* The busiest engine of a client. */
double top_client_busy(const struct top_client *client, const struct top_client *before,
		       uint64_t dt_ns);

/* Add the devices that only their clients name, and the frequencies that only clients tell. */
void top_sample_add_devices(struct top_sample *sample);

/*
 * How busy a device of the sample now was, 0 to 1: its own figure, or that of its busiest
 * engine, with the work of all clients together; negative when neither is known.
 */
double top_device_busy(const struct top_sample *now, const struct top_sample *before,
		       const struct top_device *device);

/* Sort the clients for people: the busiest first, or those with most memory. */
void top_sort(struct top_sample *sample, const struct top_sample *before, bool by_memory);

#endif /* TOP_SAMPLE_H */
