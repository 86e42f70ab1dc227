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

static bool is_64_bits(const struct fuzz_field *field)
{
	return field->kind >= FUZZ_SIZE && field->kind <= FUZZ_OFFSET;
}

/* Two fields whose sum is just below, at or above the end of all numbers; or one that is. */
static void overflow(struct fuzz_client *client, const struct fuzz_call *call, void *arg)
{
	const uint64_t step = fuzz_any(client, 8) ? PAGE : 64;
	const struct fuzz_field *field[8];
	unsigned int n = 0, one;
	uint64_t sum;

	for (unsigned int f = 0; f < call->fields && n < 8; f++)
		if (is_64_bits(&call->field[f]))
			field[n++] = &call->field[f];
	if (!n)
		return;
	if (n == 1) {
		fuzz_set(arg, field[0], (uint64_t)-64 * fuzz_any(client, 32));
		return;
	}
	one = fuzz_any(client, n);
	sum = (fuzz_any(client, 6) - 2ull) * step;
	fuzz_set(arg, field[(one + 1 + fuzz_any(client, n - 1)) % n],
		 sum - fuzz_get(arg, field[one]));
}

/* Most calls make sense; in others one field has a value at an edge, or several have. */
static void draw(struct fuzz_client *client, const struct fuzz_call *call, void *arg)
{
	const unsigned int how = fuzz_any(client, 16);

	client->placed = 0;
	for (unsigned int f = 0; f < call->fields; f++)
		fuzz_set(arg, &call->field[f], fuzz_value(client, &call->field[f], arg, false));
	if (call->fit)
		call->fit(client, arg);
	if (how < 8)
		return;
	if (how < 10) {
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
static bool is_forbidden(const struct fuzz_client *client, const struct fuzz_call *call,
			 const void *arg)
{
	if (!strncmp(call->name, "SYNC", 4))
		return false;
	for (unsigned int f = 0; f < call->fields; f++) {
		const struct fuzz_field *field = &call->field[f];

		if (field_is_forbidden(field, fuzz_get(arg, field)))
			return true;
		if (field->kind >= FUZZ_SYNCS && fuzz_array_forbidden(client, field, arg))
			return true;
	}
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
	case ECANCELED:
		return 1ull << 61;
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
	if (!err && is_forbidden(client, call, seen))
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
		.it_value.tv_usec = early ? 100 + fuzz_any(client, 2000) : 20000,
		.it_interval.tv_usec = 20000,
	};

	setitimer(ITIMER_REAL, &time, NULL);
}

static int make(struct fuzz_client *client, unsigned long request, void *arg)
{
	const int64_t begun = guest_deadline(0);
	int64_t took;
	int ret;

	alarm_in(client);
	ret = ioctl(client->now->fd, request, arg);
	took = (guest_deadline(0) - begun) / 1000000;
	if (client->trace && took > 100)
		printf("# %u %llu takes %lld ms\n", client->number,
		       (unsigned long long)client->step, (long long)took);
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
	/* If it made something, nobody got its name, and it goes with the file. */
	if (!err && is_forbidden(client, call, at))
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

/*
 * A BO that is as large as the memory is closed at once: whoever used it would leave no memory for
 * others.  So it has to have a handle that this client gets and nobody else guesses.
 */
static bool is_large(struct fuzz_client *client, const struct fuzz_call *call, void *arg)
{
	struct drm_agate_create_bo *create = arg;

	if (call->request != DRM_IOCTL_AGATE_CREATE_BO || create->size <= FUZZ_LARGE ||
	    create->size > AGATE_BO_MAX_SIZE)
		return false;
	create->flags &= ~(AGATE_BO_POPULATE | AGATE_BO_CONTIGUOUS);
	if (client->now == client->file)
		create->size = FUZZ_LARGE;
	return true;
}

void fuzz_make_call(struct fuzz_client *client)
{
	const struct fuzz_call *call = any_call(client);
	struct fuzz_count *count = &client->shared->count[client->number][call - fuzz_table];
	unsigned int size = any_size(client, call);
	unsigned long request;
	_Alignas(8) uint8_t sent[FUZZ_ARG], got[FUZZ_ARG];
	int err;

	memset(sent, GUARD, sizeof(sent));
	draw(client, call, sent);
	count->made++;
	if (is_large(client, call, sent)) {
		size = call->size;
	} else if (fuzz_once_in(client, 64)) {
		call_badly(client, call, sent);
		return;
	}
	memcpy(got, sent, sizeof(got));
	request = (call->request & ~((unsigned long)_IOC_SIZEMASK << _IOC_SIZESHIFT)) |
		  (unsigned long)size << _IOC_SIZESHIFT;
	err = make(client, request, got);
	check(client, call, sent, got, size, err);
	count->went_well += !err;
	if (call->after && size == call->size)
		call->after(client, got, sent, err);
}
