// SPDX-License-Identifier: MIT
/* One call: its fields are drawn, it is made, and what it did is checked. */
#include "fuzz.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

#define GUARD		0x5a	/* bytes behind a struct */
#define LONGER		64u

uint64_t fuzz_get(const void *arg, const struct fuzz_field *field)
{
	uint64_t value = 0;

	memcpy(&value, (const uint8_t *)arg + field->offset, field->size);
	return value;
}

void fuzz_set(void *arg, const struct fuzz_field *field, uint64_t value)
{
	memcpy((uint8_t *)arg + field->offset, &value, field->size);
}

void fuzz_wrong(const struct fuzz_client *client, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	printf("# fuzz: seed %llu, client %u%s, step %llu: ", (unsigned long long)client->seed,
	       client->number, client->child ? "'s child" : "", (unsigned long long)client->step);
	vprintf(format, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	_exit(1);
}

/* ---- The arguments ------------------------------------------------------ */

/* Two fields whose sum is just below, at or above the end of all numbers. */
static void overflow(struct fuzz_client *client, const struct fuzz_call *call, void *arg)
{
	const struct fuzz_field *pair[8];
	unsigned int n = 0, one;
	uint64_t sum;

	for (unsigned int f = 0; f < call->fields && n < 8; f++) {
		const enum fuzz_kind kind = call->field[f].kind;

		if (kind >= FUZZ_SIZE && kind <= FUZZ_OFFSET)
			pair[n++] = &call->field[f];
	}
	if (n < 2)
		return;
	one = fuzz_any(client, n);
	sum = (fuzz_any(client, 5) - 2ull) * (fuzz_any(client, 2) ? PAGE : 64);
	fuzz_set(arg, pair[(one + 1 + fuzz_any(client, n - 1)) % n],
		 sum - fuzz_get(arg, pair[one]));
}

/* Most calls make sense; in others one field has a value at an edge, or several have. */
static void draw(struct fuzz_client *client, const struct fuzz_call *call, void *arg)
{
	const unsigned int how = fuzz_any(client, 16);

	for (unsigned int f = 0; f < call->fields; f++)
		fuzz_set(arg, &call->field[f], fuzz_value(client, &call->field[f], arg, false));
	if (call->fit)
		call->fit(client, arg);
	if (how < 9)
		return;
	if (how == 9) {
		overflow(client, call, arg);
		return;
	}
	for (unsigned int times = how < 14 ? 1 : 1 + fuzz_any(client, 4); times; times--) {
		const struct fuzz_field *field = &call->field[fuzz_any(client, call->fields)];

		fuzz_set(arg, field, fuzz_value(client, field, arg, true));
	}
}

static bool is_in(enum fuzz_kind kind)
{
	return kind != FUZZ_OUT && kind != FUZZ_IN_OUT;
}

static bool field_is_forbidden(const struct fuzz_field *field, uint64_t value)
{
	switch (field->kind) {
	case FUZZ_PAD:
		return value;
	case FUZZ_FLAGS:
		return value & ~field->most;
	case FUZZ_CHOICE:
		return value >= field->most;
	case FUZZ_COUNT:
		return value > field->most;
	case FUZZ_HANDLE:
		return value >= UINT32_MAX / 2;
	default:
		return false;
	}
}

/* What each field alone forbids, and what the call does.  Sync objects are not this driver's. */
static bool is_forbidden(const struct fuzz_call *call, const void *arg)
{
	if (!strncmp(call->name, "SYNC", 4))
		return false;
	for (unsigned int f = 0; f < call->fields; f++)
		if (field_is_forbidden(&call->field[f], fuzz_get(arg, &call->field[f])))
			return true;
	return call->forbidden && call->forbidden(arg);
}

/* ---- The check ---------------------------------------------------------- */

static uint64_t bit_of(int err)
{
	switch (err) {
	case EOPNOTSUPP:
		return 1ull << 63;
	case ETIMEDOUT:
		return 1ull << ETIME;
	default:
		return err <= ETIME ? 1ull << err : 0;
	}
}

static const char *text_of(const struct fuzz_call *call, const uint8_t *arg)
{
	static char text[1024];
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int f = 0; f < call->fields; f++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, " %s=%#llx",
					 call->field[f].name,
					 (unsigned long long)fuzz_get(arg, &call->field[f]));
	return text;
}

/* @size bytes were passed: only their fields that the call writes may have changed. */
static bool kept(const struct fuzz_call *call, const uint8_t *before, const uint8_t *after,
		 unsigned int size)
{
	for (unsigned int f = 0; f < call->fields; f++) {
		const struct fuzz_field *field = &call->field[f];

		if ((field->offset >= size || is_in(field->kind)) &&
		    fuzz_get(before, field) != fuzz_get(after, field))
			return false;
	}
	for (unsigned int b = call->size; b < FUZZ_ARG; b++)
		if (after[b] != GUARD)
			return false;
	return true;
}

static void check(struct fuzz_client *client, const struct fuzz_call *call, const uint8_t *sent,
		  const uint8_t *got, unsigned int size, int err)
{
	uint64_t errors = call->errors;
	uint8_t seen[FUZZ_ARG];
	char name[32];

	/* A shorter struct: the missing end is zero. */
	memcpy(seen, sent, FUZZ_ARG);
	if (size < call->size)
		memset(seen + size, 0, call->size - size);
	if (call->absent && !client->card)
		errors = 1ull << 63;
	if (client->trace)
		printf("# %u %llu %s%s size=%u: %s\n", client->number,
		       (unsigned long long)client->step, call->name, text_of(call, seen), size,
		       guest_errno_name(err, name, sizeof(name)));
	if (err && !(bit_of(err) & errors))
		fuzz_wrong(client, "%s gives %s:%s", call->name,
			   guest_errno_name(err, name, sizeof(name)), text_of(call, seen));
	if (!err && is_forbidden(call, seen))
		fuzz_wrong(client, "%s succeeds:%s", call->name, text_of(call, seen));
	if (!kept(call, sent, got, size))
		fuzz_wrong(client, "%s changes its arguments:%s", call->name, text_of(call, got));
}

/* ---- The call ------------------------------------------------------------ */

/* Sometimes a signal comes early; always before somebody waits for ever. */
static void alarm_in(struct fuzz_client *client)
{
	const bool early = fuzz_once_in(client, 32);
	const struct itimerval time = {
		.it_value.tv_usec = early ? 100 + fuzz_any(client, 2000) : 100000,
		.it_interval.tv_usec = 100000,
	};

	setitimer(ITIMER_REAL, &time, NULL);
}

static int make(struct fuzz_client *client, unsigned long request, void *arg)
{
	int ret;

	alarm_in(client);
	ret = ioctl(client->now->fd, request, arg);
	if (ret > 0)
		fuzz_wrong(client, "ioctl %#lx returns %d", request, ret);
	return ret ? errno : 0;
}

/* The struct itself is where nobody can read or write all of it. */
static void call_badly(struct fuzz_client *client, const struct fuzz_call *call, void *arg)
{
	const uint64_t may = bit_of(EFAULT) | bit_of(EINTR) | call->errors;
	void *at = fuzz_place(client, arg, call->size, true);
	int err = make(client, call->request, at);

	if (err && !(may & bit_of(err)) && !(err == EOPNOTSUPP && call->absent))
		fuzz_wrong(client, "%s gives errno %d for a bad pointer", call->name, err);
	/* What it made, if anything, has a name that nobody got: it goes with the file. */
	if (!err && is_forbidden(call, at))
		fuzz_wrong(client, "%s at a bad pointer succeeds:%s", call->name, text_of(call, at));
}

/* DRM takes any size: that of a client which is older or newer. */
static unsigned int any_size(struct fuzz_client *client, const struct fuzz_call *call)
{
	if (!fuzz_once_in(client, 32) || strncmp(call->name, "AGATE", 5))
		return call->size;
	if (fuzz_any(client, 2))
		return call->size + 8 * (1 + fuzz_any(client, LONGER / 8));
	return call->size - 8 * fuzz_any(client, call->size / 8);
}

static const struct fuzz_call *any_call(struct fuzz_client *client)
{
	unsigned int all = 0, pick, i;

	for (i = 0; i < fuzz_table_size; i++)
		all += fuzz_table[i].weight;
	pick = fuzz_any(client, all);
	for (i = 0; pick >= fuzz_table[i].weight; i++)
		pick -= fuzz_table[i].weight;
	/* Those that a GPU does not have need no second look. */
	if (fuzz_table[i].absent && !client->card && fuzz_any(client, 16))
		return any_call(client);
	return &fuzz_table[i];
}

void fuzz_make_call(struct fuzz_client *client)
{
	const struct fuzz_call *call = any_call(client);
	struct fuzz_count *count = &client->shared->count[client->number][call - fuzz_table];
	const unsigned int size = any_size(client, call);
	const unsigned long request = (call->request & ~(_IOC_SIZEMASK << (unsigned long)_IOC_SIZESHIFT)) |
				      (unsigned long)size << _IOC_SIZESHIFT;
	_Alignas(8) uint8_t sent[FUZZ_ARG], got[FUZZ_ARG];
	int err;

	memset(sent, GUARD, sizeof(sent));
	draw(client, call, sent);
	count->made++;
	if (fuzz_once_in(client, 64)) {
		call_badly(client, call, sent);
		return;
	}
	memcpy(got, sent, sizeof(got));
	err = make(client, request, got);
	check(client, call, sent, got, size, err);
	count->went_well += !err;
	if (call->after && size == call->size)
		call->after(client, got, sent, err);
}
