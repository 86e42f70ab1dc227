// SPDX-License-Identifier: MIT
/*
 * Sessions on paper (play.h).
 */
#include "play.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lab_text.h"

const char *const abc[] = { "a", "b", "c", NULL };

static bool wanted(void *arg, size_t test)
{
	const struct outcome *o = arg;

	return !o->stop_at || test < o->stop_at;
}

static bool module(void *arg, struct verdict *why)
{
	struct outcome *o = arg;

	o->puts_before = o->guest->puts;
	if (o->no_module)
		verdict_set(why, VERDICT_FAIL, "It compiles.", "an object", "x.c:1: error");
	return !o->no_module;
}

static bool building(void *arg)
{
	struct outcome *o = arg;

	return o->building && o->building--;
}

static void verdict(void *arg, size_t test, const struct verdict *v)
{
	static const char letters[] = "NpFTC";
	struct outcome *o = arg;

	/* No test gets two verdicts, unless the machine lost the guest that gave a pass. */
	if (o->letters[test] != 'p')
		assert_int_equal(o->letters[test], '-');
	o->letters[test] = letters[v->status];
	o->verdicts[test] = *v;
}

static void sealed(void *arg, bool counts)
{
	struct outcome *o = arg;
	char *p;

	o->seals++;
	while ((p = strchr(o->letters, 'p')))
		*p = counts ? 'P' : 'V';
}

static void failed(void *arg, const char *why)
{
	struct outcome *o = arg;

	snprintf(o->why, sizeof(o->why), "%s", why);
}

static void remark(void *arg, const char *text)
{
	struct outcome *o = arg;

	snprintf(o->remarks, sizeof(o->remarks), "%s", text);
}

enum session_end run_in(struct canned *c, const struct lab *lab, struct outcome *o)
{
	const struct guest guest = { .ops = &canned_ops, .ctx = c };
	const struct session session = {
		.lab = lab, .kernel = LAB_FAST, .seed = 7, .scale = 1, .guest = &guest,
		.files = { .program = "program", .module = "/proc/self/exe",
			   .inject = o->inject ? "inject" : NULL,
			   .library = o->library ? "library" : NULL },
		.test_log = o->log, .order = o->order, .wanted = wanted, .module = module, .verdict = verdict,
		.building = building, .sealed = sealed, .failed = failed, .remark = remark,
		.arg = o,
	};
	enum session_end end;

	o->guest = c;
	memset(o->letters, 0, sizeof(o->letters));
	memset(o->letters, '-', lab->test_count);
	if (!c->module)
		c->module = "/proc/self/exe";
	end = session_run(&session);
	assert_true(c->stops > 0);
	return end;
}

void play(struct canned *c, const struct act *acts, struct outcome *o, const char *letters)
{
	struct lab *lab = lab_of(abc);

	c->acts = acts;
	assert_int_equal(run_in(c, lab, o), SESSION_DONE);
	assert_string_equal(o->letters, letters);
	lab_free(lab);
}

void play_one(struct act act, const char *letters, const char *ran, const char *seen)
{
	struct act acts[2] = { act };
	struct canned c = { .acts = acts };
	struct outcome o = { .seals = 0 };

	if (!acts[0].test)
		acts[0].test = "b";
	play(&c, acts, &o, letters);
	assert_string_equal(c.ran, ran);
	if (!strstr(o.verdicts[1].seen, seen))
		fail_msg("seen \"%s\", not \"%s\"", o.verdicts[1].seen, seen);
}
