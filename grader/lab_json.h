/* SPDX-License-Identifier: MIT */
/*
 * Reading one JSON object key by key, with errors that say where and what.
 *
 * A reader remembers only the first error: after it the functions return a harmless
 * value, and the caller checks once at the end.
 */
#ifndef AGATE_GRADER_LAB_JSON_H
#define AGATE_GRADER_LAB_JSON_H

#include "lab.h"

struct reader {
	const char *file;
	const char *test;	/* NULL: the lab itself */
	unsigned int steps;	/* the lab's parameters, once they are read */
	char *error;		/* LAB_ERROR bytes; empty while all is well */
};

/* Has everything been right so far? */
bool reader_ok(const struct reader *r);
void reader_fail(const struct reader *r, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Checks that every key of @object is in @keys (NULL-terminated). */
void reader_keys(const struct reader *r, const json_t *object, const char *const *keys);

/* A line of text: no control characters, at most @max bytes.  @fallback NULL: required. */
const char *reader_text(const struct reader *r, const json_t *object, const char *key,
			size_t max, const char *fallback);
/* A name: letters, digits, - and _, shorter than LAB_NAME. */
const char *reader_name(const struct reader *r, const json_t *object, const char *key,
			const char *fallback);
bool reader_is_name(const char *text);
/* A whole number within bounds.  @fallback below @lowest: required. */
int64_t reader_number(const struct reader *r, const json_t *object, const char *key,
		      int64_t lowest, int64_t highest, int64_t fallback);
/* An array of @lowest to @highest elements; NULL when it is absent and optional (@lowest 0). */
const json_t *reader_array(const struct reader *r, const json_t *object, const char *key,
			   size_t lowest, size_t highest);
/* The index in @words (NULL-terminated); 0 when the key is absent. */
unsigned int reader_word(const struct reader *r, const json_t *object, const char *key,
			 const char *const *words);

/* Fill one test (lab_test.c), its hints (lab_hints.c), and its injections (lab_inject.c). */
void lab_read_test(struct reader *r, const json_t *json, struct lab_test *test);
void lab_read_hints(const struct reader *r, const json_t *json, struct lab_test *test);
void lab_free_hints(struct lab_test *test);
void lab_read_injections(const struct reader *r, const json_t *json, struct lab_test *test);

#endif /* AGATE_GRADER_LAB_JSON_H */
