// SPDX-License-Identifier: MIT
/*
 * Prints the grader's explanation of a kernel's log, for crashes.sh and for people.
 *
 * usage: explain_log LOG MODULE TREE FILE...
 */
#include <stdio.h>
#include <stdlib.h>

#include "decode.h"

#define LOG_MAX	(16u << 20)

int main(int argc, char **argv)
{
	struct decode_place place;
	struct splat splat;
	char *text;
	size_t len;
	FILE *f;

	if (argc < 5) {
		fputs("usage: explain_log LOG MODULE TREE FILE...\n", stderr);
		return 2;
	}
	f = fopen(argv[1], "re");
	text = malloc(LOG_MAX);
	if (!f || !text) {
		perror(argv[1]);
		return 2;
	}
	len = fread(text, 1, LOG_MAX, f);
	fclose(f);
	if (!splat_find(text, len, &splat)) {
		puts("silent");
		free(text);
		return 1;
	}
	printf("kind: %s\nseen: %s\nrule: %s\n", splat_name(splat.kind), splat.headline,
	       splat_rule(&splat));
	if (decode_splat(&splat, argv[2], argv[3], (const char *const *)argv + 4, &place))
		printf("where: %s:%u, in %s()\nsource: %s\n", place.file, place.line,
		       place.function, place.source[1]);
	free(text);
	return 0;
}
