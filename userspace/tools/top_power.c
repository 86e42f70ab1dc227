// SPDX-License-Identifier: MIT
/*
 * A device's power, without any file: top_power.h.
 */
#include "top_power.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void top_word(char to[TOP_WORD], const char *from)
{
	size_t i;

	for (i = 0; i < TOP_WORD - 1 && from[i] && !strchr(" \t\r\n", from[i]); i++)
		to[i] = from[i] > 0x20 && from[i] < 0x7f ? from[i] : '?';
	to[i] = '\0';
}

static void parse_line(const char *text, size_t len, struct top_power *power)
{
	char line[64], name[TOP_WORD], value[24];

	snprintf(line, sizeof(line), "%.*s", (int)len, text);
	if (sscanf(line, "%15s %23s", name, value) != 2)
		return;
	if (!strcmp(value, "on") || !strcmp(value, "off")) {
		struct top_domain *domain = &power->domain[power->domain_count];

		if (power->domain_count == TOP_DOMAINS)
			return;
		top_word(domain->name, name);
		domain->on = !strcmp(value, "on");
		power->domain_count++;
	} else if (!strcmp(name, "resumes")) {
		power->has_counts = sscanf(value, "%" SCNu64, &power->resumes) == 1;
	} else if (!strcmp(name, "failures")) {
		sscanf(value, "%" SCNu64, &power->failures);
	}
}

void top_parse_power(const char *text, struct top_power *power)
{
	for (; *text; text += strspn(text, "\n")) {
		size_t len = strcspn(text, "\n");

		parse_line(text, len, power);
		text += len;
	}
}

double top_power_active(const struct top_power *now, const struct top_power *before)
{
	uint64_t active, suspended;

	if (!before || !now->has_times || !before->has_times ||
	    now->active_ms < before->active_ms || now->suspended_ms < before->suspended_ms)
		return -1.0;
	active = now->active_ms - before->active_ms;
	suspended = now->suspended_ms - before->suspended_ms;
	return active + suspended ? (double)active / (double)(active + suspended) : -1.0;
}

/* Append to a text of TOP_POWER_TEXT bytes. */
static void add(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(char *text, const char *format, ...)
{
	size_t len = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + len, TOP_POWER_TEXT - len, format, args);
	va_end(args);
}

static void add_times(char *text, const struct top_power *now, const struct top_power *before)
{
	double active = top_power_active(now, before);

	add(text, "; active %.1f s", (double)now->active_ms / 1000);
	if (active >= 0.0)
		add(text, " (%.0f%%)", 100 * active);
	add(text, ", suspended %.1f s", (double)now->suspended_ms / 1000);
}

static void add_domains(char *text, const struct top_power *now)
{
	bool any = false;
	uint32_t i;

	add(text, "; on:");
	for (i = 0; i < now->domain_count; i++) {
		if (now->domain[i].on)
			add(text, " %s", now->domain[i].name);
		any |= now->domain[i].on;
	}
	if (!any)
		add(text, " nothing");
}

void top_power_text(char text[TOP_POWER_TEXT], const struct top_power *now,
		    const struct top_power *before)
{
	text[0] = '\0';
	if (!now->status[0])
		return;
	add(text, "%s", now->status);
	if (now->has_times)
		add_times(text, now, before);
	if (now->has_autosuspend && now->autosuspend_ms < 0)
		add(text, "; no autosuspend");
	else if (now->has_autosuspend)
		add(text, "; autosuspend %" PRId64 " ms", now->autosuspend_ms);
	if (now->domain_count)
		add_domains(text, now);
}
