// SPDX-License-Identifier: MIT
/*
 * Turn measurements into a table and a JSON file.
 *
 *   report OUT.json < samples
 *
 * Reads one JSON object per line, {"name", "unit", "samples": [...]}, and joins lines
 * with the same name.  A line may have "against": NAME, a measurement with as many
 * samples; next to minimum, median and maximum the report then shows how many times as
 * fast it is, as the median of the ratios of sample to sample.
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

/* Minimum, median and maximum of n numbers, which this sorts; n is not 0. */
static void summarise(double *v, size_t n, double out[3])
{
	qsort(v, n, sizeof(*v), by_value);
	out[0] = v[0];
	out[1] = n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
	out[2] = v[n - 1];
}

/* The samples of a measurement, *n of them; NULL when there are none. */
static double *samples_of(const json_t *entry, size_t *n)
{
	const json_t *samples = json_object_get(entry, "samples");
	double *v;

	*n = json_array_size(samples);
	v = *n ? calloc(*n, sizeof(*v)) : NULL;
	for (size_t i = 0; v && i < *n; i++)
		v[i] = json_number_value(json_array_get(samples, i));
	return v;
}

/* How many times as fast a measurement is as the other; for a time, less is faster. */
static double speed(const json_t *entry, double own, double other)
{
	const char *unit = json_string_value(json_object_get(entry, "unit"));
	bool time = unit && (!strcmp(unit, "ns") || !strcmp(unit, "ms"));

	return time ? other / own : own / other;
}

/*
 * Minimum, median and maximum of the ratios, sample by sample: samples with the same
 * number were taken one after the other, while the machine was equally busy.
 */
static bool compare(const json_t *entry, const json_t *other, double out[3])
{
	size_t n = 0, m = 0;
	double *v = samples_of(entry, &n), *w = samples_of(other, &m);
	bool comparable = v && w && n == m;

	for (size_t i = 0; comparable && i < n; i++)
		v[i] = speed(entry, v[i], w[i]);
	if (comparable)
		summarise(v, n, out);
	free(v);
	free(w);
	return comparable;
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

static void print_ratio(json_t *all, json_t *entry)
{
	const char *against = json_string_value(json_object_get(entry, "against"));
	double r[3];

	if (!against || !compare(entry, json_object_get(all, against), r))
		return;
	json_object_set_new(entry, "ratio", json_real(r[1]));
	printf(" %.2f x as fast as %s (%.2f .. %.2f)", r[1], against, r[0], r[2]);
}

static void print_table(json_t *all)
{
	const char *name;
	json_t *entry;

	printf("%-26s %14s %14s %14s  %-12s %s\n", "what", "minimum", "median", "maximum", "unit",
	       "pair by pair");
	json_object_foreach(all, name, entry) {
		double s[3], *v;
		size_t n;

		v = samples_of(entry, &n);
		if (!v)
			continue;
		summarise(v, n, s);
		free(v);
		json_object_set_new(entry, "median", json_real(s[1]));
		printf("%-26s %14.1f %14.1f %14.1f  %-12s", name, s[0], s[1], s[2],
		       json_string_value(json_object_get(entry, "unit")));
		print_ratio(all, entry);
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
