// SPDX-License-Identifier: MIT
/*
 * From frames to lines, with an object made of source/: a relocatable one, like a module.
 * The test makes up the frames from its symbols.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "decode.h"

#define SOURCE	"tests/grader/explain/source/"
#define CODE	SOURCE "code.c"
#define MORE	SOURCE "more.c"

static const char *const code_only[] = { CODE, NULL };
static const char *const header_only[] = { SOURCE "code.h", NULL };
static const char *const neither[] = { "labs/02-gem-object/agate_gem.c", NULL };

static const char *object;	/* path of the object, from the command line */

/* The number of the line of @file that ends with this comment. */
static unsigned int line_of(const char *file, const char *comment)
{
	char line[256], want[128];
	unsigned int number = 0;
	FILE *f = fopen(file, "re");

	assert_non_null(f);
	snprintf(want, sizeof(want), "/* %s */", comment);
	while (fgets(line, sizeof(line), f)) {
		number++;
		if (strstr(line, want)) {
			fclose(f);
			return number;
		}
	}
	fclose(f);
	fail_msg("%s has no line with \"%s\"", file, comment);
	return 0;
}

/* The size of the @nth symbol of that name, from nm. */
static unsigned long size_of(const char *symbol, int nth)
{
	char command[512], name[128], type;
	unsigned long value, size;
	FILE *nm;

	snprintf(command, sizeof(command), "nm -S --defined-only '%s'", object);
	nm = popen(command, "re");
	assert_non_null(nm);
	while (fscanf(nm, "%lx", &value) == 1) {
		if (fscanf(nm, " %lx %c %127s", &size, &type, name) != 3) {
			assert_int_equal(fscanf(nm, " %c %127s", &type, name), 2);
			continue;
		}
		if (strcmp(name, symbol) == 0 && nth-- == 0) {
			pclose(nm);
			return size;
		}
	}
	pclose(nm);
	fail_msg("%s is not in %s", symbol, object);
	return 0;
}

/* For the compiler a function begins at the { below its name. */
static unsigned int body_of(const char *file, const char *comment)
{
	return line_of(file, comment) + 1;
}

static struct splat with_frame(const char *symbol, unsigned long offset, unsigned long size,
			       bool exact)
{
	struct splat splat = { .kind = SPLAT_OOPS, .frame_count = 1 };
	struct splat_frame *frame = &splat.frames[0];

	snprintf(frame->symbol, sizeof(frame->symbol), "%s", symbol);
	frame->offset = offset;
	frame->size = size;
	frame->module = true;
	frame->exact = exact;
	return splat;
}

static void test_exact(void **state)
{
	struct splat splat = with_frame("after_last_call", 0, size_of("after_last_call", 0), true);
	struct decode_place place;

	(void)state;
	assert_true(decode_splat(&splat, object, ".", code_only, &place));
	assert_string_equal(place.file, CODE);
	assert_int_equal(place.line, body_of(CODE, "after the last call"));
	assert_string_equal(place.function, "after_last_call");
	assert_non_null(strstr(place.source[0], "int after_last_call(int n)"));
	assert_string_equal(place.source[1], "{");
	assert_string_equal(place.source[2], "\treturn n + sink;");
}

/* The return address of a function's last call is no longer in the function. */
static void test_return_address(void **state)
{
	unsigned long size = size_of("last_call", 0);
	struct splat splat = with_frame("last_call", size, size, false);
	struct decode_place place;

	(void)state;
	assert_true(decode_splat(&splat, object, ".", code_only, &place));
	assert_int_equal(place.line, line_of(CODE, "last call"));
	assert_non_null(strstr(place.source[1], "leave();"));
}

/* The kernel's size of a symbol includes the padding after it. */
static void test_same_name(void **state)
{
	struct decode_place place;
	struct splat splat;

	(void)state;
	assert_int_not_equal(size_of("same_name", 0), size_of("same_name", 1));
	splat = with_frame("same_name", 0, (size_of("same_name", 0) + 15) & ~15ul, true);
	assert_true(decode_splat(&splat, object, ".", code_only, &place));
	assert_string_equal(place.file, CODE);
	assert_int_equal(place.line, body_of(CODE, "same_name, the first"));

	splat = with_frame("same_name", 0, (size_of("same_name", 1) + 15) & ~15ul, true);
	assert_true(decode_splat(&splat, object, ".", neither, &place));
	assert_string_equal(place.file, MORE);
	assert_int_equal(place.line, body_of(MORE, "same_name, the second"));
}

/* The inlined function's line or that of its call, whichever is in the student's file. */
static void test_inline(void **state)
{
	unsigned long size = size_of("with_inline", 0), offset;
	struct decode_place place;
	struct splat splat;
	bool trap = false;

	(void)state;
	for (offset = 0; offset < size && !trap; offset++) {
		splat = with_frame("with_inline", offset, size, true);
		trap = decode_splat(&splat, object, ".", header_only, &place) &&
		       strcmp(place.file, header_only[0]) == 0 &&
		       place.line == line_of(header_only[0], "inline function");
	}
	assert_true(trap);
	assert_string_equal(place.function, "add_inline");
	assert_true(decode_splat(&splat, object, ".", code_only, &place));
	assert_string_equal(place.file, CODE);
	assert_int_equal(place.line, line_of(CODE, "call of the inline function"));
	/* If no frame is in the files: the innermost one, and none of its source is shown. */
	assert_true(decode_splat(&splat, object, ".", neither, &place));
	assert_string_equal(place.file, header_only[0]);
	assert_string_equal(place.source[1], "");
}

static void test_other_section(void **state)
{
	struct splat splat = with_frame("in_init", 0, size_of("in_init", 0), true);
	struct decode_place place;

	(void)state;
	assert_true(decode_splat(&splat, object, ".", code_only, &place));
	assert_int_equal(place.line, body_of(CODE, "in another section"));
}

/* With the student's frame also the one further in where the module stopped. */
static void test_further_in(void **state)
{
	struct splat splat = with_frame("caller_two", 0, size_of("caller_two", 0), true);
	struct splat second = with_frame("in_init", 0, size_of("in_init", 0), true);
	struct decode_place place, inner;

	(void)state;
	splat.frames[1] = second.frames[0];
	splat.frame_count = 2;
	assert_true(decode_both(&splat, object, ".", code_only, &place, &inner));
	assert_string_equal(place.file, CODE);
	assert_string_equal(inner.file, MORE);
	assert_string_equal(inner.function, "caller_two");
	assert_string_equal(inner.source[1], "");
	/* Nothing is further in than the innermost frame. */
	assert_true(decode_both(&second, object, ".", code_only, &place, &inner));
	assert_int_equal(inner.line, 0);
	assert_true(decode_both(&splat, object, ".", neither, &place, &inner));
	assert_string_equal(place.file, MORE);
	assert_int_equal(inner.line, 0);
}

/* The innermost frame that is in the student's files, not the innermost of all. */
static void test_choice(void **state)
{
	struct splat splat = with_frame("caller_two", 0, size_of("caller_two", 0), true);
	struct splat second = with_frame("in_init", 0, size_of("in_init", 0), true);
	struct splat third = with_frame("after_last_call", 0, size_of("after_last_call", 0), true);
	struct decode_place place;

	(void)state;
	splat.frames[1] = second.frames[0];
	splat.frames[2] = third.frames[0];
	splat.frame_count = 3;
	assert_true(decode_splat(&splat, object, ".", code_only, &place));
	assert_int_equal(place.line, body_of(CODE, "in another section"));
	assert_true(decode_splat(&splat, object, ".", neither, &place));
	assert_string_equal(place.file, MORE);
}

/* All frames in the student's files, in their order, and no others. */
static void test_freed(void **state)
{
	struct splat splat = with_frame("not_there", 0, 0x20, true);
	struct decode_place places[DECODE_FREED];
	struct splat other;

	(void)state;
	splat.freed[0] = with_frame("caller_two", 0, size_of("caller_two", 0), true).frames[0];
	other = with_frame("in_init", 0, size_of("in_init", 0), true);
	splat.freed[1] = other.frames[0];
	other = with_frame("after_last_call", 0, size_of("after_last_call", 0), true);
	splat.freed[2] = other.frames[0];
	splat.freed_count = 3;
	assert_int_equal(decode_freed(&splat, object, ".", code_only, places), 2);
	assert_string_equal(places[0].function, "in_init");
	assert_int_equal(places[0].line, body_of(CODE, "in another section"));
	assert_int_equal(places[1].line, body_of(CODE, "after the last call"));
	assert_int_equal(decode_freed(&splat, object, ".", neither, places), 0);
	splat.freed_count = 0;
	assert_int_equal(decode_freed(&splat, object, ".", code_only, places), 0);
}

static void test_nothing(void **state)
{
	struct splat splat = with_frame("not_there", 0, 0x20, true);
	struct decode_place place;

	(void)state;
	assert_false(decode_splat(&splat, object, ".", code_only, &place));
	assert_int_equal(place.line, 0);
	/* Too small for any function of the name. */
	splat = with_frame("last_call", 0, 1, true);
	assert_false(decode_splat(&splat, object, ".", code_only, &place));
	splat = with_frame("last_call", 0, 0x1000, true);
	splat.frames[0].module = false;
	assert_false(decode_splat(&splat, object, ".", code_only, &place));
	splat = with_frame("last_call", 0, 0x1000, true);
	assert_false(decode_splat(&splat, "no/such/file.ko", ".", code_only, &place));
	assert_false(decode_splat(&splat, CODE, ".", code_only, &place));
	assert_false(decode_splat(&splat, object, "no/such/tree", code_only, &place));
	memset(&splat, 0, sizeof(splat));
	assert_false(decode_splat(&splat, object, ".", code_only, &place));
}

/* A damaged module gives a place or none, and never a crash. */
static void test_damaged_module(void **state)
{
	char path[] = "/tmp/agate-decode-XXXXXX";
	struct splat splat = with_frame("last_call", 4, 0x40, true);
	struct decode_place place;
	uint64_t seed = 42;
	FILE *f = fopen(object, "re");
	static char data[1 << 20];
	size_t len, n, i;
	int fd;

	(void)state;
	assert_non_null(f);
	len = fread(data, 1, sizeof(data), f);
	fclose(f);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	for (n = 0; n < 60; n++) {
		for (i = 0; i < 40; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			data[(seed >> 33) % (i % 2 ? len : 64)] ^= (char)(seed >> 60);
		}
		assert_int_equal(pwrite(fd, data, len - n * 100, 0), len - n * 100);
		assert_int_equal(ftruncate(fd, (off_t)(len - n * 100)), 0);
		decode_splat(&splat, path, ".", code_only, &place);
	}
	close(fd);
	unlink(path);
}

/* A file is recognised by any of its names, and shown under the caller's name for it. */
static void test_names(void **state)
{
	struct splat splat = with_frame("after_last_call", 0, size_of("after_last_call", 0), true);
	const char *names[] = { "./tests/../" CODE, NULL };
	struct decode_place place;
	char *real = realpath(CODE, NULL);

	(void)state;
	assert_true(decode_splat(&splat, object, ".", names, &place));
	assert_string_equal(place.file, names[0]);
	assert_string_equal(place.source[1], "{");
	assert_non_null(real);
	names[0] = real;
	/* Files outside the tree, too. */
	assert_true(decode_splat(&splat, object, ".", names, &place));
	assert_string_equal(place.file, real);
	assert_string_equal(place.source[1], "{");
	free(real);
}

static void test_source(void **state)
{
	struct decode_place place = { .file = CODE, .line = 1 };

	(void)state;
	decode_source(".", &place);
	assert_string_equal(place.source[0], "");
	assert_string_equal(place.source[1], "// SPDX-License-Identifier: MIT");
	assert_string_equal(place.source[2], "/*");
	place.line = 100000;
	decode_source(".", &place);
	assert_string_equal(place.source[1], "");
	snprintf(place.file, sizeof(place.file), "no/such/file.c");
	decode_source(".", &place);
	assert_string_equal(place.source[1], "");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_return_address),
		cmocka_unit_test(test_same_name),
		cmocka_unit_test(test_inline),
		cmocka_unit_test(test_other_section),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_further_in),
		cmocka_unit_test(test_freed),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_damaged_module),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_source),
	};
	char path[512];

	/* Beside this program, unless another one is named. */
	snprintf(path, sizeof(path), "%s.ko", argv[0]);
	object = argc > 1 ? argv[1] : path;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
