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
	struct top_memory_text text = { .vram = "-" };
	uint64_t vram;

	top_bytes(text.total, memory.total);
	top_bytes(text.resident, memory.resident);
	if (top_vram(client, &vram))
		top_bytes(text.vram, vram);
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

void top_device_power_text(char text[TOP_POWER_TEXT], const struct top_device *device,
			   const struct top_sample *before)
{
	const struct top_device *old = top_find_device(before, device);

	top_power_text(text, &device->power, old ? &old->power : NULL);
}

static void print_device(FILE *out, const struct top_sample *before,
			 const struct top_device *device, double busy)
{
	char clock[40], power[TOP_POWER_TEXT], regions[TOP_REGIONS_TEXT], ggtt[TOP_GGTT_TEXT];

	top_clock_text(clock, device);
	top_device_power_text(power, device, before);
	top_regions_text(regions, &device->regions);
	top_ggtt_text(ggtt, &device->ggtt);
	if (busy < 0.0 && !clock[0] && !power[0] && !regions[0] && !ggtt[0])
		return;
	fprintf(out, "%s %s:", device->driver, device->device);
	if (busy >= 0.0)
		fprintf(out, " %.0f%% busy%s", 100 * busy, clock[0] ? "," : "");
	fprintf(out, "%s%s\n", clock[0] ? " " : "", clock);
	if (power[0])
		fprintf(out, "  power: %s\n", power);
	if (regions[0])
		fprintf(out, "  memory: %s\n", regions);
	if (ggtt[0])
		fprintf(out, "  global table: %s\n", ggtt);
}

static void print_client(FILE *out, const struct top_client *client,
			 const struct top_client *before, uint64_t dt_ns)
{
	const struct top_memory_text memory = top_memory_text(client);
	char bos[96];
	uint32_t i;

	top_bos_text(bos, sizeof(bos), client);
	fprintf(out, "%7d %-16.16s %-10.10s %7s %8s %7s %7s %9s ", client->pid, client->command,
		client->driver, memory.total, memory.resident, memory.vram, memory.shared,
		memory.purgeable);
	for (i = 0; i < client->engine_count; i++)
		fprintf(out, " %s %.0f%%", client->engine[i].name,
			100 * top_engine_busy(&client->engine[i], before, dt_ns));
	fprintf(out, "%s%s\n", bos[0] ? "  BOs: " : "", bos);
}

int top_print_table(FILE *out, const struct top_sample *now, const struct top_sample *before)
{
	const uint64_t dt_ns = now->time_ns - before->time_ns;
	size_t i;

	for (i = 0; i < now->device_count; i++)
		print_device(out, before, &now->device[i],
			     top_device_busy(now, before, &now->device[i]));
	fprintf(out, "%7s %-16s %-10s %7s %8s %7s %7s %9s  %s\n", "PID", "COMMAND", "DRIVER",
		"TOTAL", "RESIDENT", "VRAM", "SHARED", "PURGEABLE", "BUSY");
	for (i = 0; i < now->count; i++)
		print_client(out, &now->clients[i], top_find(before, &now->clients[i]), dt_ns);
	return fflush(out) || ferror(out) ? -EIO : 0;
}

/* JSON's integers are signed here; what a driver says may be more than they hold. */
static json_int_t whole(uint64_t number)
{
	return number > INT64_MAX ? INT64_MAX : (json_int_t)number;
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
					      "total", whole(region->total),
					      "resident", whole(region->resident),
					      "shared", whole(region->shared),
					      "purgeable", whole(region->purgeable),
					      "active", whole(region->active)));
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
					    json_integer(whole(engine->busy_ns)));
		if (engine->now_hz)
			json_object_set_new(one, "hz", json_integer(whole(engine->now_hz)));
		if (engine->max_hz)
			json_object_set_new(one, "max_hz", json_integer(whole(engine->max_hz)));
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
		json_object_set_new(one, "id", json_integer(whole(client->id)));
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

static json_t *power_json(const struct top_power *power, const struct top_power *before)
{
	json_t *one = json_pack("{s:s}", "status", power->status);
	double active = top_power_active(power, before);
	json_t *domains;
	uint32_t i;

	if (active >= 0.0)
		json_object_set_new(one, "active", json_real(active));
	if (power->has_times) {
		json_object_set_new(one, "active_ms", json_integer(whole(power->active_ms)));
		json_object_set_new(one, "suspended_ms",
				    json_integer(whole(power->suspended_ms)));
	}
	if (power->has_autosuspend)
		json_object_set_new(one, "autosuspend_ms", json_integer(power->autosuspend_ms));
	if (power->has_counts) {
		json_object_set_new(one, "resumes", json_integer(whole(power->resumes)));
		json_object_set_new(one, "failures", json_integer(whole(power->failures)));
	}
	domains = power->domain_count ? json_object() : NULL;
	for (i = 0; domains && i < power->domain_count; i++)
		json_object_set_new(domains, power->domain[i].name,
				    json_boolean(power->domain[i].on));
	if (domains)
		json_object_set_new(one, "domains", domains);
	return one;
}

static json_t *regions_json(const struct top_regions *regions)
{
	json_t *all = json_object();
	uint32_t i;

	for (i = 0; i < regions->count; i++) {
		const struct top_device_region *region = &regions->region[i];

		json_object_set_new(all, region->name,
				    json_pack("{s:I, s:I, s:I, s:I}",
					      "size", whole(region->size),
					      "used", whole(region->used),
					      "visible", whole(region->visible),
					      "visible_used", whole(region->visible_used)));
	}
	return all;
}

static json_t *device_json(const struct top_device *device, const struct top_device *before,
			   double busy)
{
	json_t *one = json_pack("{s:s, s:s}", "driver", device->driver, "device", device->device);

	if (busy >= 0.0)
		json_object_set_new(one, "busy", json_real(busy));
	if (device->now_hz)
		json_object_set_new(one, "hz", json_integer(whole(device->now_hz)));
	if (device->max_hz)
		json_object_set_new(one, "max_hz", json_integer(whole(device->max_hz)));
	if (device->power.status[0])
		json_object_set_new(one, "power",
				    power_json(&device->power, before ? &before->power : NULL));
	if (device->regions.count)
		json_object_set_new(one, "regions", regions_json(&device->regions));
	if (device->ggtt.size)
		json_object_set_new(one, "ggtt",
				    json_pack("{s:I, s:I, s:I}",
					      "size", whole(device->ggtt.size),
					      "used", whole(device->ggtt.used),
					      "largest_hole", whole(device->ggtt.largest_hole)));
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

		err |= json_array_append_new(devices,
					     device_json(device, top_find_device(before, device),
							 top_device_busy(now, before, device)));
	}
	root = json_pack("{s:I, s:o, s:o}", "interval_ns", whole(dt_ns), "devices", devices,
			 "clients", clients);
	if (!root || err)
		err = -ENOMEM;
	else if (json_dumpf(root, out, JSON_COMPACT | JSON_PRESERVE_ORDER) || putc('\n', out) == EOF ||
		 fflush(out))
		err = -EIO;
	json_decref(root);
	return err;
}
