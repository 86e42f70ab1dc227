// SPDX-License-Identifier: MIT
/*
 * From a trace to the student's line.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "decode_priv.h"

#define OUTPUT_MAX	(128u << 10)

#define FILES_MAX	16

/* State of the search for the place, while it goes through the frames. */
struct search {
	char real_tree[PATH_MAX];
	const char *const *files;
	char *real_files[FILES_MAX];	/* NULL if it does not exist */
	struct decode_place *place;	/* the best place so far */
	size_t frame;			/* its frame; valid if @any */
	bool any;
	bool chosen;			/* it is in one of @files */
	struct decode_place inner;	/* the innermost place of all; its line 0: none so far */
	size_t inner_frame;
};

static bool search_begin(struct search *search, const char *tree, const char *const *files)
{
	char path[PATH_MAX];
	size_t i;

	if (!realpath(tree, search->real_tree))
		return false;
	search->files = files;
	for (i = 0; files && files[i] && i < FILES_MAX; i++) {
		if ((size_t)snprintf(path, sizeof(path), "%s%s%s", files[i][0] == '/' ? "" : tree,
				     files[i][0] == '/' ? "" : "/", files[i]) < sizeof(path))
			search->real_files[i] = realpath(path, NULL);
	}
	return true;
}

static void search_end(struct search *search)
{
	size_t i;

	for (i = 0; i < FILES_MAX; i++)
		free(search->real_files[i]);
}

/*
 * The name under which to show the file: the name in @files if it is one of them
 * (@chosen), otherwise relative to the tree.  Follows links.  False if it is neither.
 */
static bool call_file(const struct search *search, const char *name, char *out, size_t size,
		      bool *chosen)
{
	size_t n = strlen(search->real_tree), i;
	char path[PATH_MAX], real[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s%s%s", name[0] == '/' ? "" : search->real_tree,
			     name[0] == '/' ? "" : "/", name) >= sizeof(path) ||
	    !realpath(path, real))
		return false;
	for (i = 0; i < FILES_MAX; i++) {
		if (search->real_files[i] && strcmp(search->real_files[i], real) == 0) {
			*chosen = true;
			return (size_t)snprintf(out, size, "%s", search->files[i]) < size;
		}
	}
	*chosen = false;
	return strncmp(real, search->real_tree, n) == 0 && real[n] == '/' &&
	       (size_t)snprintf(out, size, "%s", real + n + 1) < size;
}

/* One line of source, printable; empty when there is none. */
static void copy_source(char *out, size_t size, const char *line)
{
	size_t n = strcspn(line, "\r\n"), i;

	if (n >= size)
		n = size - 1;
	/* Do not begin in the middle of a multi-byte character. */
	while (n && ((unsigned char)line[n] & 0xc0) == 0x80)
		n--;
	for (i = 0; i < n; i++) {
		unsigned char c = (unsigned char)line[i];

		out[i] = (c < ' ' && c != '\t') || c == 0x7f ? '?' : line[i];
	}
	out[n] = '\0';
}

void decode_source(const char *tree, struct decode_place *place)
{
	/* A tree of copies has files of other folders, too. */
	bool outside = place->file[0] == '/' && strcmp(tree, ".") == 0;
	char path[PATH_MAX], *line = NULL;
	unsigned int number = 0;
	size_t room = 0;
	FILE *f;

	memset(place->source, 0, sizeof(place->source));
	if ((size_t)snprintf(path, sizeof(path), "%s%s%s", outside ? "" : tree,
			     outside ? "" : "/", place->file) >= sizeof(path))
		return;
	f = fopen(path, "re");
	if (!f)
		return;
	while (number <= place->line && getline(&line, &room, f) >= 0) {
		number++;
		if (number + 1 >= place->line && number <= place->line + 1)
			copy_source(place->source[number + 1 - place->line],
				    sizeof(place->source[0]), line);
	}
	free(line);
	fclose(f);
}

/* "FILE:LINE" or "FILE:LINE (discriminator 2)". */
static bool parse_place(char *text, unsigned int *line)
{
	char *colon = strrchr(text, ':'), *end;
	unsigned long n;

	if (!colon)
		return false;
	n = strtoul(colon + 1, &end, 10);
	if (end == colon + 1 || (*end && *end != ' ') || !n || n > INT_MAX)
		return false;
	*colon = '\0';
	*line = (unsigned int)n;
	return true;
}

/*
 * Takes a function and its place in a frame, and keeps them if they are better than the
 * best so far.  The innermost function of a frame comes first.
 */
static void consider(struct search *search, size_t frame, const char *function, char *where)
{
	struct decode_place place = { 0 };
	bool chosen;

	if (!parse_place(where, &place.line) ||
	    !call_file(search, where, place.file, sizeof(place.file), &chosen))
		return;
	snprintf(place.function, sizeof(place.function), "%s", function);
	if (!search->inner.line || frame < search->inner_frame) {
		search->inner = place;
		search->inner_frame = frame;
	}
	if (search->any && (chosen < search->chosen ||
			    (chosen == search->chosen && frame >= search->frame)))
		return;
	*search->place = place;
	search->frame = frame;
	search->any = true;
	search->chosen = chosen;
}

/* Output of addr2line -a -f -i: for each frame "0x123", then pairs of lines. */
static void parse_output(struct search *search, char *text, const size_t *frames, size_t count)
{
	char *line, *function = NULL, *save = NULL;
	size_t n = 0;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (function) {
			consider(search, frames[n - 1], function, line);
			function = NULL;
		} else if (strncmp(line, "0x", 2) == 0) {
			if (n++ == count)
				return;
		} else if (n) {
			function = line;
		}
	}
}

/* Decodes all frames from @first on that lie in the section of @first, in one run of addr2line. */
static void decode_section(struct search *search, const char *module, size_t first, size_t count,
			   const struct decode_address *addresses, bool *todo)
{
	size_t frames[SPLAT_FRAMES], i, n = 0;
	uint64_t offsets[SPLAT_FRAMES];
	char *out;

	out = malloc(OUTPUT_MAX);
	for (i = first; i < count; i++) {
		if (todo[i] && strcmp(addresses[i].section, addresses[first].section) == 0) {
			frames[n] = i;
			offsets[n++] = addresses[i].offset;
			todo[i] = false;
		}
	}
	if (out && n && decode_run(module, addresses[first].section, offsets, n, out, OUTPUT_MAX))
		parse_output(search, out, frames, n);
	free(out);
}

/*
 * The best place to which the frames lead; @chosen tells if it is in one of @files.  @inner, if
 * it is not NULL, gets the innermost place of all, if that is another frame's.
 */
static bool decode_frames(const struct splat_frame *frames, size_t count, const char *module,
			  const char *tree, const char *const *files, struct decode_place *place,
			  struct decode_place *inner, bool *chosen)
{
	struct decode_address addresses[SPLAT_FRAMES];
	struct search search = { .place = place };
	bool todo[SPLAT_FRAMES];
	size_t i;

	memset(place, 0, sizeof(*place));
	*chosen = false;
	if (!decode_addresses(module, frames, count, addresses, todo) ||
	    !search_begin(&search, tree, files))
		return false;
	/* Nearly always all frames are in .text, and this loop runs once. */
	for (i = 0; i < count; i++) {
		if (todo[i])
			decode_section(&search, module, i, count, addresses, todo);
	}
	search_end(&search);
	*chosen = search.chosen;
	if (inner && search.any && search.inner_frame < search.frame)
		*inner = search.inner;
	return search.any;
}

bool decode_both(const struct splat *splat, const char *module, const char *tree,
		 const char *const *files, struct decode_place *place,
		 struct decode_place *inner)
{
	bool chosen, any;

	memset(inner, 0, sizeof(*inner));
	any = decode_frames(splat->frames, splat->frame_count, module, tree, files, place, inner,
			    &chosen);
	/*
	 * A module's debug information can name any file; show only the files of which it
	 * was really made.
	 */
	if (chosen)
		decode_source(tree, place);
	return any;
}

bool decode_splat(const struct splat *splat, const char *module, const char *tree,
		  const char *const *files, struct decode_place *place)
{
	struct decode_place inner;

	return decode_both(splat, module, tree, files, place, &inner);
}

size_t decode_freed(const struct splat *splat, const char *module, const char *tree,
		    const char *const *files, struct decode_place places[DECODE_FREED])
{
	size_t i, n = 0;
	bool chosen;

	for (i = 0; i < splat->freed_count && n < DECODE_FREED; i++) {
		decode_frames(&splat->freed[i], 1, module, tree, files, &places[n], NULL,
			      &chosen);
		n += chosen;
	}
	return n;
}
