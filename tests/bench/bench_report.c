// SPDX-License-Identifier: MIT
/*
 * Turn measurements into a table and a JSON file.
 *
 *   report OUT.json < samples
 *
 * Reads one JSON object per line, {"name", "unit", "samples": [...]}, and joins lines
 * with the same name.  A line may have "against": NAME, a measurement with as many
 * samples; next to minimum, median and maximum the report then shows how many times as
 * fast it is, as the median of the ratios of sample to sample.  Some have a target: a row whose
 * ratio is below it ends with the word MISSED, and that is all, because a busy machine may be why.
 */
#include <fnmatch.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many times as fast as the other these are meant to be. */
static const struct {
	const char *rows;	/* a pattern */
	double ratio;
} targets[] = {
	{ "range_*", 1.0 },			/* as drm_mm */
	{ "evict", 0.7 },			/* as the guest's memcpy() */
	{ "bo_create_close", 1.0 },		/* as vgem, whose BOs have no GPU address */
	/* As without the cache; a BO that nobody maps has no file, and so costs little. */
	{ "bo_cached_unmapped", 2.0 },
	{ "bo_cached_mapped", 1.3 },
	{ "bo_cached_written", 1.3 },
	{ "sparse_array_8_threads", 5.0 },	/* as an array under a mutex */
};

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
	bool time = unit && (!strcmp(unit, "ns") || !strcmp(unit, "ms") || !strcmp(unit, "ms/MiB"));

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

/* Does it miss a target? */
static bool print_target(json_t *entry, const char *name, double ratio)
{
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		if (fnmatch(targets[i].rows, name, 0))
			continue;
		json_object_set_new(entry, "target", json_real(targets[i].ratio));
		if (ratio >= targets[i].ratio)
			return false;
		printf("  target %.2f MISSED", targets[i].ratio);
		return true;
	}
	return false;
}

static bool print_ratio(json_t *all, json_t *entry, const char *name)
{
	const char *against = json_string_value(json_object_get(entry, "against"));
	double r[3];

	if (!against || !compare(entry, json_object_get(all, against), r))
		return false;
	json_object_set_new(entry, "ratio", json_real(r[1]));
	printf(" %.2f x as fast as %s (%.2f .. %.2f)", r[1], against, r[0], r[2]);
	return print_target(entry, name, r[1]);
}

/* Small numbers need digits. */
static int digits(double median)
{
	return median < 10 ? 3 : 1;
}

static void print_table(json_t *all)
{
	unsigned int missed = 0;
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
		printf("%-26s %14.*f %14.*f %14.*f  %-12s", name, digits(s[1]), s[0], digits(s[1]),
		       s[1], digits(s[1]), s[2], json_string_value(json_object_get(entry, "unit")));
		missed += print_ratio(all, entry, name);
		putchar('\n');
	}
	if (missed)
		printf("%u of these rows missed their target\n", missed);
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
