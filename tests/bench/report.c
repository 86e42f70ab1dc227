// SPDX-License-Identifier: MIT
/*
 * Turn measurements into a table and a JSON file.
 *
 *   report OUT.json < samples
 *
 * Reads one JSON object a line, {"name", "unit", "samples": [...]}; lines of the
 * same name are joined.  A line may say "against": NAME; beside its minimum,
 * median and maximum stands then the ratio of its median to that of NAME.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Minimum, median and maximum of an array of numbers; false when it is empty. */
static bool summarise(const json_t *samples, double out[3])
{
	size_t n = json_array_size(samples);
	double *v = calloc(n ? n : 1, sizeof(*v));

	if (!v)
		return false;
	for (size_t i = 0; i < n; i++)
		v[i] = json_number_value(json_array_get(samples, i));
	qsort(v, n, sizeof(*v), by_value);
	if (n) {
		out[0] = v[0];
		out[1] = n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
		out[2] = v[n - 1];
	}
	free(v);
	return n != 0;
}

static int read_line(json_t *all, const char *line)
{
	json_error_t error;
	json_t *entry = json_loads(line, 0, &error), *known, *samples;
	const char *name = json_string_value(json_object_get(entry, "name"));

	samples = json_object_get(entry, "samples");
	if (!name || !json_is_array(samples)) {
		fprintf(stderr, "report: not a measurement: %s", line);
		json_decref(entry);
		return -1;
	}
	known = json_object_get(all, name);
	if (known)
		json_array_extend(json_object_get(known, "samples"), samples);
	else
		json_object_set(all, name, entry);
	json_decref(entry);
	return 0;
}

static void print_table(json_t *all)
{
	const char *name;
	json_t *entry;

	printf("%-26s %14s %14s %14s  %-12s %s\n", "what", "minimum", "median", "maximum", "unit",
	       "against");
	json_object_foreach(all, name, entry) {
		const char *other = json_string_value(json_object_get(entry, "against"));
		double v[3], w[3];

		if (!summarise(json_object_get(entry, "samples"), v))
			continue;
		json_object_set_new(entry, "median", json_real(v[1]));
		printf("%-26s %14.1f %14.1f %14.1f  %-12s", name, v[0], v[1], v[2],
		       json_string_value(json_object_get(entry, "unit")));
		if (other &&
		    summarise(json_object_get(json_object_get(all, other), "samples"), w)) {
			json_object_set_new(entry, "ratio", json_real(v[1] / w[1]));
			printf(" %.3g x %s", v[1] / w[1], other);
		}
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	json_t *all = json_object();
	char line[65536];
	int ret = 0;

	if (argc != 2 || !all) {
		fprintf(stderr, "usage: report OUT.json < samples\n");
		return 2;
	}
	while (fgets(line, sizeof(line), stdin))
		ret |= read_line(all, line);
	print_table(all);
	if (json_dump_file(all, argv[1], JSON_INDENT(2))) {
		fprintf(stderr, "report: cannot write %s\n", argv[1]);
		ret = 1;
	}
	json_decref(all);
	return ret ? 1 : 0;
}
