// SPDX-License-Identifier: MIT
/*
 * The table and the JSON: top_print.h.
 */
#include "top_print.h"

#include <errno.h>
#include <string.h>

#include <jansson.h>

void top_bytes(char text[8], uint64_t bytes)
{
	static const char units[] = "BKMGTPE";
	double value = (double)bytes;
	int unit = 0;

	while (value >= 999.5 && units[unit + 1]) {
		value /= 1024;
		unit++;
	}
	snprintf(text, 8, unit && value < 99.95 ? "%.1f%c" : "%.0f%c", value, units[unit]);
}

void top_bos_text(char *text, size_t size, const struct top_client *client)
{
	const struct top_bos *bos = &client->bos;
	const struct {
		uint32_t count;
		const char *name;
	} parts[] = {
		{ bos->paged, "paged" }, { bos->heap, "heap" }, { bos->contiguous, "contiguous" },
		{ bos->imported, "imported" }, { bos->cached, "cached" }, { bos->purged, "purged" },
	};
	size_t len = 0, i;

	text[0] = '\0';
	for (i = 0; client->has_bos && i < sizeof(parts) / sizeof(parts[0]) && len < size; i++) {
		if (parts[i].count)
			len += (size_t)snprintf(text + len, size - len, "%s%u %s", len ? ", " : "",
						parts[i].count, parts[i].name);
	}
}

struct top_memory_text top_memory_text(const struct top_client *client)
{
	const struct top_region memory = top_memory(client);
	struct top_memory_text text = { 0 };

	top_bytes(text.total, memory.total);
	top_bytes(text.resident, memory.resident);
	top_bytes(text.shared, memory.shared);
	top_bytes(text.purgeable, memory.purgeable);
	return text;
}

void top_clock_text(char text[40], const struct top_device *device)
{
	const double mega = 1e6;

	text[0] = '\0';
	if (device->now_hz && device->max_hz)
		snprintf(text, 40, "%.0f of %.0f MHz", (double)device->now_hz / mega,
			 (double)device->max_hz / mega);
	else if (device->now_hz)
		snprintf(text, 40, "%.0f MHz", (double)device->now_hz / mega);
}

static void print_device(FILE *out, const struct top_device *device, double busy)
{
	char clock[40];

	top_clock_text(clock, device);
	if (busy < 0.0 && !clock[0])
		return;
	fprintf(out, "%s %s:", device->driver, device->device);
	if (busy >= 0.0)
		fprintf(out, " %.0f%% busy%s", 100 * busy, clock[0] ? "," : "");
	fprintf(out, "%s%s\n", clock[0] ? " " : "", clock);
}

static void print_client(FILE *out, const struct top_client *client,
			 const struct top_client *before, uint64_t dt_ns)
{
	const struct top_memory_text memory = top_memory_text(client);
	char bos[96];
	uint32_t i;

	top_bos_text(bos, sizeof(bos), client);
	fprintf(out, "%7d %-16.16s %-10.10s %7s %8s %7s %9s ", client->pid, client->command,
		client->driver, memory.total, memory.resident, memory.shared, memory.purgeable);
	for (i = 0; i < client->engine_count; i++)
		fprintf(out, " %s %.0f%%", client->engine[i].name,
			100 * top_engine_busy(&client->engine[i], before, dt_ns));
	fprintf(out, "%s%s\n", bos[0] ? "  BOs: " : "", bos);
}

void top_print_table(FILE *out, const struct top_sample *now, const struct top_sample *before)
{
	const uint64_t dt_ns = now->time_ns - before->time_ns;
	size_t i;

	for (i = 0; i < now->device_count; i++)
		print_device(out, &now->device[i],
			     top_device_busy(now, before, &now->device[i]));
	fprintf(out, "%7s %-16s %-10s %7s %8s %7s %9s  %s\n", "PID", "COMMAND", "DRIVER", "TOTAL",
		"RESIDENT", "SHARED", "PURGEABLE", "BUSY");
	for (i = 0; i < now->count; i++)
		print_client(out, &now->clients[i], top_find(before, &now->clients[i]), dt_ns);
}

/* json_object_set_new() takes the value also when it fails, and accepts NULL as a failure. */
static json_t *memory_json(const struct top_client *client)
{
	json_t *all = json_object();
	uint32_t i;

	for (i = 0; i < client->region_count; i++) {
		const struct top_region *region = &client->region[i];

		json_object_set_new(all, region->name,
				    json_pack("{s:I, s:I, s:I, s:I, s:I}",
					      "total", (json_int_t)region->total,
					      "resident", (json_int_t)region->resident,
					      "shared", (json_int_t)region->shared,
					      "purgeable", (json_int_t)region->purgeable,
					      "active", (json_int_t)region->active));
	}
	return all;
}

static json_t *engines_json(const struct top_client *client, const struct top_client *before,
			    uint64_t dt_ns)
{
	json_t *all = json_object();
	uint32_t i;

	for (i = 0; i < client->engine_count; i++) {
		const struct top_engine *engine = &client->engine[i];
		json_t *one = json_pack("{s:f}", "busy", top_engine_busy(engine, before, dt_ns));

		if (engine->has_ns)
			json_object_set_new(one, "busy_ns",
					    json_integer((json_int_t)engine->busy_ns));
		if (engine->now_hz)
			json_object_set_new(one, "hz", json_integer((json_int_t)engine->now_hz));
		if (engine->max_hz)
			json_object_set_new(one, "max_hz", json_integer((json_int_t)engine->max_hz));
		json_object_set_new(all, engine->name, one);
	}
	return all;
}

static json_t *client_json(const struct top_client *client, const struct top_client *before,
			   uint64_t dt_ns)
{
	json_t *one = json_pack("{s:i, s:s, s:s, s:s, s:o, s:o}", "pid", client->pid,
				"command", client->command, "driver", client->driver,
				"device", client->device, "memory", memory_json(client),
				"engines", engines_json(client, before, dt_ns));
	const struct top_bos *bos = &client->bos;

	if (client->has_id)
		json_object_set_new(one, "id", json_integer((json_int_t)client->id));
	if (client->has_bos)
		json_object_set_new(one, "bos",
				    json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}",
					      "paged", (json_int_t)bos->paged,
					      "heap", (json_int_t)bos->heap,
					      "contiguous", (json_int_t)bos->contiguous,
					      "imported", (json_int_t)bos->imported,
					      "cached", (json_int_t)bos->cached,
					      "purged", (json_int_t)bos->purged));
	return one;
}

static json_t *device_json(const struct top_device *device, double busy)
{
	json_t *one = json_pack("{s:s, s:s}", "driver", device->driver, "device", device->device);

	if (busy >= 0.0)
		json_object_set_new(one, "busy", json_real(busy));
	if (device->now_hz)
		json_object_set_new(one, "hz", json_integer((json_int_t)device->now_hz));
	if (device->max_hz)
		json_object_set_new(one, "max_hz", json_integer((json_int_t)device->max_hz));
	return one;
}

int top_print_json(FILE *out, const struct top_sample *now, const struct top_sample *before)
{
	const uint64_t dt_ns = now->time_ns - before->time_ns;
	json_t *clients = json_array(), *devices = json_array(), *root;
	int err = 0;
	size_t i;

	for (i = 0; i < now->count; i++)
		err |= json_array_append_new(clients,
					     client_json(&now->clients[i],
							 top_find(before, &now->clients[i]), dt_ns));
	for (i = 0; i < now->device_count; i++) {
		const struct top_device *device = &now->device[i];

		err |= json_array_append_new(devices, device_json(device, top_device_busy(now, before,
											  device)));
	}
	root = json_pack("{s:I, s:o, s:o}", "interval_ns", (json_int_t)dt_ns, "devices", devices,
			 "clients", clients);
	if (!root || err)
		err = -ENOMEM;
	else if (json_dumpf(root, out, JSON_COMPACT | JSON_PRESERVE_ORDER) || putc('\n', out) == EOF ||
		 fflush(out))
		err = -EIO;
	json_decref(root);
	return err;
}
