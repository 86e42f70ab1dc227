// SPDX-License-Identifier: MIT
/*
 * The results of a run so far (result.h).
 */
#include "result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool result_init(struct result_lab *result, const struct lab *lab)
{
	int f;

	memset(result, 0, sizeof(*result));
	result->lab = lab;
	result->selected = calloc(lab->test_count, sizeof(*result->selected));
	for (f = 0; f < FLAVOURS; f++)
		result->outcomes[f] = calloc(lab->test_count, sizeof(*result->outcomes[f]));
	if (result->selected && result->outcomes[FLAVOUR_FAST] && result->outcomes[FLAVOUR_DEBUG])
		return true;
	result_free(result);
	return false;
}

void result_free(struct result_lab *result)
{
	int f;

	for (f = 0; f < FLAVOURS; f++)
		free(result->outcomes[f]);
	free(result->selected);
	memset(result, 0, sizeof(*result));
}

void result_take(struct result_lab *result, enum flavour flavour, size_t test,
		 const struct verdict *verdict)
{
	struct outcome *outcome = &result->outcomes[flavour][test];

	outcome->there = true;
	outcome->given_up = false;
	outcome->verdict = *verdict;
	outcome->held = verdict->status == VERDICT_PASS;
	/* A pass earns no points until the guest's end record arrives. */
	if (outcome->held)
		verdict_set(&outcome->verdict, VERDICT_NOT_RUN, "", "",
			    "the guest has no end record so far, and a pass counts once it has one");
}

void result_seal(struct result_lab *result, enum flavour flavour, const bool *tests, bool counts)
{
	struct outcome *outcomes = result->outcomes[flavour];
	size_t i;

	for (i = 0; i < result->lab->test_count; i++) {
		if (!outcomes[i].held || (tests && !tests[i]))
			continue;
		outcomes[i].held = false;
		if (counts)
			verdict_set(&outcomes[i].verdict, VERDICT_PASS, "", "", "%s", "");
		else
			verdict_set(&outcomes[i].verdict, VERDICT_FAIL,
				    "a pass counts once its guest has an end record",
				    "the end record", "the guest's stream just ended");
	}
}

void result_give_up(struct result_lab *result, enum flavour flavour, const char *why)
{
	struct outcome *outcomes = result->outcomes[flavour];
	size_t i;

	for (i = 0; i < result->lab->test_count; i++) {
		if (!outcomes[i].held)
			continue;
		outcomes[i].held = false;
		outcomes[i].given_up = true;
		verdict_set(&outcomes[i].verdict, VERDICT_NOT_RUN, "", "", "%s", why);
	}
}

static const unsigned int kernels[FLAVOURS] = { LAB_FAST, LAB_DEBUG };

bool result_settled(const struct result_lab *result, size_t test)
{
	const struct lab_test *t = &result->lab->tests[test];
	int f;

	for (f = 0; result->selected[test] && f < FLAVOURS; f++) {
		const struct outcome *outcome = &result->outcomes[f][test];

		if (t->kernels & kernels[f] && result->ran[f] && (!outcome->there || outcome->held))
			return false;
	}
	return true;
}

void result_standing(const struct result_lab *result, size_t test, struct standing *standing)
{
	const struct lab_test *t = &result->lab->tests[test];
	struct standing unjudged = { .status = VERDICT_NOT_RUN };
	bool waits = false;
	int f;

	*standing = unjudged;
	if (!result->selected[test])
		return;
	for (f = 0; f < FLAVOURS; f++) {
		const struct outcome *outcome = &result->outcomes[f][test];

		if (!(t->kernels & kernels[f]) || !result->ran[f])
			continue;
		if (!outcome->there) {
			waits = true;
		} else if (outcome->verdict.status == VERDICT_NOT_RUN) {
			waits = true;
			unjudged.outcome = outcome;
			unjudged.flavour = f;
		} else if (outcome->verdict.status > standing->status) {
			standing->status = outcome->verdict.status;
			standing->outcome = outcome;
			standing->flavour = f;
		}
	}
	if (waits && standing->status <= VERDICT_PASS)
		*standing = unjudged;
	if (standing->status == VERDICT_PASS)
		standing->points = t->points;
}

void result_score(const struct result_lab *result, unsigned int *score, unsigned int *max)
{
	struct standing standing;
	size_t i;

	*score = 0;
	*max = 0;
	for (i = 0; i < result->lab->test_count; i++) {
		result_standing(result, i, &standing);
		*score += standing.points;
		if (standing.status != VERDICT_NOT_RUN)
			*max += result->lab->tests[i].points;
	}
}

void result_message(const struct standing *standing, bool hidden, char *text, size_t size)
{
	const struct verdict *v;
	size_t n;

	text[0] = '\0';
	if (!standing->outcome || standing->status == VERDICT_PASS)
		return;
	v = &standing->outcome->verdict;
	if (hidden)
		snprintf(text, size, "A test that is not shown %s.",
			 standing->status == VERDICT_NOT_RUN ? "could not be judged" : "did not pass");
	else if (!v->rule[0])
		snprintf(text, size, "%s", v->seen);
	else
		snprintf(text, size, "%s%s %s, seen: %s", v->rule,
			 v->rule[strlen(v->rule) - 1] == '.' ? " Expected" : ": expected",
			 v->expected[0] ? v->expected : "it to hold",
			 v->seen[0] ? v->seen : "it does not");
	n = strlen(text);
	if (!hidden && standing->outcome->freed_count)
		snprintf(text + n, size - n, "; freed at %s", standing->outcome->freed[0]);
}
