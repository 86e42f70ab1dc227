// SPDX-License-Identifier: MIT
/*
 * Injections in words (inject_spec.h).
 */
#include "inject_spec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agate_card.h"
#include "names.h"

#define MAX_FIELDS	4
#define MAX_TEXT	64
#define MAX_CYCLES	1000000000u

static bool inject_number(const char *text, uint32_t max, uint32_t *value)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || !number || number > max)
		return false;
	*value = (uint32_t)number;
	return true;
}

static bool inject_vector(const char *text, uint32_t *vectors)
{
	static const char *const names[] = {
		[AGATE_VECTOR_GPU] = "gpu", [AGATE_VECTOR_JOB] = "job", [AGATE_VECTOR_MMU] = "mmu",
		[AGATE_VECTOR_CARD] = "card",
	};
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(text, names[i])) {
			*vectors = 1u << i;
			return true;
		}
	return false;
}

static bool inject_kind(const char *name, enum agate_sim_injection_kind *kind)
{
	unsigned int i;

	for (i = 0; i < AGATE_SIM_INJECTION_KINDS; i++)
		if (!strcmp(name, name_injection(i))) {
			*kind = i;
			return true;
		}
	return false;
}

/* The fields after N; field[count] and beyond are absent. */
static bool inject_arguments(struct agate_sim_injection *injection, char *const *field,
			     unsigned int count)
{
	switch (injection->kind) {
	case AGATE_SIM_INJECT_DROP_IRQ:
		return count == 2 || (count == 3 && inject_vector(field[2], &injection->vectors));
	case AGATE_SIM_INJECT_DELAY_IRQ:
		return count >= 3 && inject_number(field[2], MAX_CYCLES, &injection->arg) &&
		       (count == 3 || inject_vector(field[3], &injection->vectors));
	case AGATE_SIM_INJECT_CORRUPT_HEADER:
		injection->arg = 0xff;
		return count == 2 ||
		       (count == 3 && inject_number(field[2], UINT32_MAX, &injection->arg));
	case AGATE_SIM_INJECT_FAIL_MOVER:
		return count == 2 ||
		       (count == 3 && inject_number(field[2], AGATE_REASON_INJECTED,
						    &injection->arg));
	default:
		return count == 2;
	}
}

static const char *inject_one(char *text, struct injections *out)
{
	struct agate_sim_injection injection = { 0 };
	char *field[MAX_FIELDS], *rest = text;
	unsigned int count = 0;

	while (rest && count < MAX_FIELDS)
		field[count++] = strsep(&rest, ":");
	if (rest)
		return "an injection has too many arguments";
	if (count == 1 && !strcmp(field[0], "none")) {
		*out = (struct injections){ .none = true };
		return NULL;
	}
	if (count < 2 || !inject_number(field[1], UINT32_MAX, &injection.n))
		return "an injection is KIND:N, N from 1";
	if (!strcmp(field[0], "die")) {
		out->die = injection.n;
		return count == 2 ? NULL : "die takes no argument";
	}
	if (!inject_kind(field[0], &injection.kind))
		return "unknown kind of injection";
	if (!inject_arguments(&injection, field, count))
		return "an injection's arguments make no sense";
	if (out->count == AGATE_SIM_MAX_INJECTIONS)
		return "too many injections";
	out->list[out->count++] = injection;
	return NULL;
}

const char *inject_parse(const char *text, struct injections *out)
{
	const char *why = NULL;

	*out = (struct injections){ 0 };
	while (!why) {
		size_t len = strcspn(text, ",");
		char one[MAX_TEXT];

		if (len >= sizeof(one))
			return "an injection is too long";
		memcpy(one, text, len);
		one[len] = '\0';
		why = inject_one(one, out);
		if (!text[len])
			break;
		text += len + 1;
	}
	return why;
}

bool inject_set(struct agate_sim *sim, const struct injections *injections)
{
	unsigned int i;

	if (injections->none)
		agate_sim_inject_none(sim);
	if (injections->count > agate_sim_inject_room(sim))
		return false;
	for (i = 0; i < injections->count; i++)
		agate_sim_inject(sim, &injections->list[i]);
	return true;
}
