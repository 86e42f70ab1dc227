// SPDX-License-Identifier: MIT
/*
 * agate-map without a log: the cards of this machine, now or again and again (map_card.h).
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "map_card.h"

#define MAX_CARDS	8
/* The files of a render node are those of its primary node once more. */
#define MAX_PRIMARY	63

struct cards {
	struct card card[MAX_CARDS];
	size_t count;
};

static void cards_free(struct cards *cards)
{
	while (cards->count)
		card_free(&cards->card[--cards->count]);
}

static bool is_primary(const struct dirent *entry)
{
	char *end;
	unsigned long number = strtoul(entry->d_name, &end, 10);

	return end != entry->d_name && !*end && number <= MAX_PRIMARY;
}

static int primaries(const struct dirent *entry)
{
	return is_primary(entry);
}

/* -1 with errno when the folder cannot be read. */
static int cards_load(struct cards *cards, const char *debugfs)
{
	struct dirent **entries;
	int count = scandir(debugfs, &entries, primaries, versionsort);
	char folder[PATH_MAX];
	int i;

	if (count < 0)
		return -1;
	for (i = 0; i < count; i++) {
		snprintf(folder, sizeof(folder), "%s/%s", debugfs, entries[i]->d_name);
		if (cards->count < MAX_CARDS && card_load_folder(&cards->card[cards->count], folder))
			cards->count++;
		free(entries[i]);
	}
	free(entries);
	return 0;
}

static bool print(const struct card_options *options, const struct cards *cards)
{
	size_t i;

	if (options->json)
		return card_json(cards->card, cards->count, stdout) && !fflush(stdout);
	if (!options->once)
		fputs("\033[H\033[2J", stdout);
	if (!cards->count)
		puts("There is no card whose driver shows its memory.");
	for (i = 0; i < cards->count; i++) {
		if (i)
			putchar('\n');
		card_text(&cards->card[i], stdout);
	}
	return !fflush(stdout) && !ferror(stdout);
}

/* The first card's; one file is one trace. */
static bool write_trace(const char *path, const struct cards *cards)
{
	FILE *out = cards->count ? fopen(path, "we") : NULL;
	bool good;

	if (!cards->count) {
		fputs("agate-map: there is no card whose moves could be traced\n", stderr);
		return false;
	}
	if (!out) {
		fprintf(stderr, "agate-map: %s: %s\n", path, strerror(errno));
		return false;
	}
	card_trace(&cards->card[0], out);
	good = !ferror(out);
	good = !fclose(out) && good;
	if (!good)
		fprintf(stderr, "agate-map: %s cannot be written\n", path);
	return good;
}

static bool look(const struct card_options *options)
{
	struct cards cards = { .count = 0 };
	bool good;

	if (cards_load(&cards, options->debugfs)) {
		fprintf(stderr, "agate-map: %s: %s\n", options->debugfs, strerror(errno));
		return false;
	}
	if (options->trace) {
		good = write_trace(options->trace, &cards);
	} else {
		good = print(options, &cards);
		if (!good)
			fputs("agate-map: - cannot be written\n", stderr);
	}
	cards_free(&cards);
	return good;
}

static void sleep_ms(unsigned int ms)
{
	const struct timespec interval = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&interval, NULL);
}

int card_show(const struct card_options *options)
{
	while (look(options)) {
		if (options->once || options->trace)
			return 0;
		sleep_ms(options->interval_ms);
	}
	return 1;
}
