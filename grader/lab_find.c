// SPDX-License-Identifier: MIT
/*
 * Lists the labs, and finds the one that a person means.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab.h"
#include "lab_json.h"

/* A lab's folder: NN-topic, or a topic alone (the capstone), with a lab.json. */
static bool is_lab(const char *labs_dir, const char *name)
{
	char path[4096];

	if (!reader_is_name(name))
		return false;
	return snprintf(path, sizeof(path), "%s/%s/lab.json", labs_dir, name) <
		(int)sizeof(path) && !access(path, F_OK);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

int lab_names(const char *labs_dir, char (**names)[LAB_NAME])
{
	DIR *dir = opendir(labs_dir);
	struct dirent *entry;
	int n = 0, error = 0;

	*names = NULL;
	if (!dir)
		return -1;
	while (!error && (entry = readdir(dir))) {
		char (*more)[LAB_NAME];

		if (!is_lab(labs_dir, entry->d_name))
			continue;
		more = realloc(*names, (size_t)(n + 1) * sizeof(**names));
		if (!more) {
			error = ENOMEM;
			break;
		}
		*names = more;
		strcpy(more[n++], entry->d_name);
	}
	closedir(dir);
	if (error) {
		free(*names);
		*names = NULL;
		errno = error;
		return -1;
	}
	if (n)
		qsort(*names, (size_t)n, sizeof(**names), by_name);
	return n;
}

/* 05, 5, mmap and 05-mmap all mean 05-mmap. */
static bool means(const char *name, const char *word)
{
	size_t digits = strspn(name, "0123456789");
	char *end;

	if (!strcmp(name, word))
		return true;
	if (!digits || name[digits] != '-')
		return false;
	if (!strcmp(name + digits + 1, word))
		return true;
	if (!isdigit((unsigned char)*word) || strlen(word) > 4)
		return false;
	return strtoul(word, &end, 10) == strtoul(name, NULL, 10) && !*end;
}

bool lab_find(const char *labs_dir, const char *word, char name[LAB_NAME], char error[LAB_ERROR])
{
	char (*names)[LAB_NAME];
	int n = lab_names(labs_dir, &names), i, found = 0;

	if (n < 0) {
		snprintf(error, LAB_ERROR, "%.200s: %s", labs_dir, strerror(errno));
		return false;
	}
	for (i = 0; i < n; i++) {
		if (!means(names[i], word))
			continue;
		strcpy(name, names[i]);
		found++;
	}
	free(names);
	if (found == 1)
		return true;
	snprintf(error, LAB_ERROR, found ? "\"%.60s\" can mean %d labs: write the whole name" :
		 "there is no lab \"%.60s\": `agate-grade list` shows what there is", word, found);
	return false;
}
