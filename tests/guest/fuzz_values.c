// SPDX-License-Identifier: MIT
/* Values for the fields of calls, and memory for their arrays. */
#include "fuzz.h"

#include <sys/mman.h>

#define COUNT_OF(array)	(sizeof(array) / sizeof((array)[0]))
#define ARENA_PAGES	32u	/* of the usual kind; see fuzz_arena_init() */
#define ARENA_AT	((void *)0x300000000000)	/* nothing else comes to lie in its hole */

static uint64_t next(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random * 0x2545f4914f6cdd1dull;
}

uint32_t fuzz_any(struct fuzz_client *client, uint32_t below)
{
	return (uint32_t)(next(&client->random) >> 33) % below;
}

uint64_t fuzz_any64(struct fuzz_client *client)
{
	return next(&client->random);
}

bool fuzz_once_in(struct fuzz_client *client, uint32_t times)
{
	return !fuzz_any(client, times);
}

/* ---- Memory ------------------------------------------------------------ */

/* Pages to write, one to read, one that is not there, and one to write. */
void fuzz_arena_init(struct fuzz_client *client)
{
	uint8_t *at = mmap(ARENA_AT, (ARENA_PAGES + 3) * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	memset(at, 0x11, (ARENA_PAGES + 3) * PAGE);
	assert_int_equal(mprotect(at + ARENA_PAGES * PAGE, PAGE, PROT_READ), 0);
	assert_int_equal(munmap(at + (ARENA_PAGES + 1) * PAGE, PAGE), 0);
	client->arena = at;
}

/* Nobody may read or write there. */
static void *bad_pointer(struct fuzz_client *client)
{
	const uint64_t bad[] = {
		0, 1, PAGE - 1, ~0ull, ~0ull - PAGE + 1, 1ull << 47, (1ull << 47) - PAGE,
		1ull << 63, 0xffff888000000000ull, 0x800000000000ull + PAGE,
		(uintptr_t)client->arena + (ARENA_PAGES + 1) * PAGE,
	};

	return (void *)(uintptr_t)bad[fuzz_any(client, COUNT_OF(bad))];
}

static void write_read_only(uint8_t *page, uint8_t *at, const void *data, size_t size)
{
	mprotect(page, PAGE, PROT_READ | PROT_WRITE);
	memcpy(at, data, size);
	mprotect(page, PAGE, PROT_READ);
}

void *fuzz_place(struct fuzz_client *client, const void *data, size_t size, bool edge)
{
	uint8_t *const read_only = client->arena + ARENA_PAGES * PAGE;
	uint8_t *at = client->arena;
	size_t copied = size;

	if (!edge) {
		/* One array behind the other, until the call is made. */
		if (client->placed + size > (ARENA_PAGES - 2) * PAGE)
			client->placed = 0;
		at += client->placed;
		client->placed += (size + 7) / 8 * 8;
	} else if (fuzz_any(client, 2)) {
		return bad_pointer(client);
	} else if (size <= PAGE) {
		/* In part, or just not, in the page that can only be read, or in none. */
		const size_t in = fuzz_any(client, 2) ? size : fuzz_any(client, (uint32_t)size + 1);

		if (fuzz_any(client, 2)) {
			at = read_only + PAGE - in;
			write_read_only(read_only, at, data, in);
			return at;
		}
		write_read_only(read_only, read_only, (const uint8_t *)data + in, size - in);
		at = read_only - in;
		copied = in;
	}
	memcpy(at, data, copied);
	return at;
}

/* ---- Arrays ------------------------------------------------------------ */

static uint32_t any_sync(struct fuzz_client *client)
{
	if (fuzz_once_in(client, 64))
		return 1 + fuzz_any(client, 2 * FUZZ_SYNC_SLOTS);
	return client->now->sync[fuzz_any(client, FUZZ_SYNC_SLOTS)];
}

static uint32_t guess(struct fuzz_client *client)
{
	return 1 + fuzz_any(client, 3 * FUZZ_BOS);
}

/* The BO with the jobs comes first, and the others one by one: each is listed once. */
static uint32_t listed(struct fuzz_client *client, const void *arg, unsigned int i)
{
	const struct drm_agate_submit *submit = arg;
	const struct fuzz_bo *bo = client->now->bo;
	unsigned int first = 0;

	while (first < FUZZ_BOS - 1 &&
	       !(bo[first].va && submit->jc - bo[first].va < bo[first].size))
		first++;
	for (unsigned int n = 0; n < FUZZ_BOS; n++) {
		const struct fuzz_bo *one = &bo[(first + n) % FUZZ_BOS];

		if (one->va && !i--)
			return one->handle;
	}
	return 0;
}

static uint64_t element(struct fuzz_client *client, const struct fuzz_field *field,
			const void *arg, unsigned int i)
{
	switch (field->kind) {
	case FUZZ_HANDLES:
		if (fuzz_once_in(client, 64))
			return guess(client);
		/* One that is there already, now and then. */
		return listed(client, arg, i && fuzz_once_in(client, 32) ? i - 1 : i);
	case FUZZ_BO_FLAGS:
		return fuzz_once_in(client, 32) ? fuzz_any(client, 16) :
		       1 + fuzz_any(client, 3) + 4 * fuzz_once_in(client, 3);
	case FUZZ_SYNC_HANDLES:
		return any_sync(client);
	case FUZZ_TEXT:
		return fuzz_once_in(client, 256) ? fuzz_any(client, 256) : 'a' + fuzz_any(client, 26);
	default:
		return fuzz_any(client, 6);
	}
}

static size_t element_size(enum fuzz_kind kind)
{
	switch (kind) {
	case FUZZ_SYNCS:
		return sizeof(struct drm_agate_sync);
	case FUZZ_POINTS:
		return 8;
	case FUZZ_TEXT:
		return 1;
	case FUZZ_REGIONS:
		return 128;
	default:
		return 4;
	}
}

static bool element_forbidden(enum fuzz_kind kind, const uint8_t *from, uint32_t i)
{
	struct drm_agate_sync sync;
	uint32_t words[2] = { 0, 0 };

	switch (kind) {
	case FUZZ_SYNCS:
		memcpy(&sync, from + i * sizeof(sync), sizeof(sync));
		return sync.pad || !sync.handle;
	case FUZZ_HANDLES:
		/* The same one twice in a row: others are somebody else's test. */
		memcpy(words, from + 4 * (i ? i - 1 : 0), i ? 8 : 4);
		return !words[i ? 1 : 0] || words[0] == words[1];
	case FUZZ_BO_FLAGS:
		memcpy(words, from + 4 * i, 4);
		return words[0] > 7 || !(words[0] & 3);
	case FUZZ_TEXT:
		return from[i] < 0x20 || from[i] == 0x7f;
	default:
		return false;
	}
}

static void fill_one(struct fuzz_client *client, const struct fuzz_field *field, const void *arg,
		     uint8_t *to, unsigned int i)
{
	struct drm_agate_sync sync;
	uint64_t value;

	if (field->kind == FUZZ_SYNCS) {
		sync = (struct drm_agate_sync){
			.handle = any_sync(client),
			.pad = fuzz_once_in(client, 64),
			.point = fuzz_once_in(client, 8) ? fuzz_any(client, 6) : 0,
		};
		memcpy(to, &sync, sizeof(sync));
		return;
	}
	value = element(client, field, arg, i);
	memcpy(to, &value, element_size(field->kind));
}

/* Can all of the array be read, and does the header forbid an element of it? */
bool fuzz_array_forbidden(const struct fuzz_client *client, const struct fuzz_field *field,
			  const void *arg)
{
	const uint64_t at = fuzz_get(arg, field) - (uintptr_t)client->arena;
	const uint8_t *from = client->arena + at;
	uint32_t count;

	if (field->kind == FUZZ_REGIONS)
		return false;
	memcpy(&count, (const uint8_t *)arg + field->count, sizeof(count));
	if (at > (ARENA_PAGES + 1) * PAGE ||
	    count * (uint64_t)element_size(field->kind) > (ARENA_PAGES + 1) * PAGE - at)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (element_forbidden(field->kind, from, i))
			return true;
	return false;
}

static uint64_t array(struct fuzz_client *client, const struct fuzz_field *field, const void *arg,
		      bool edge)
{
	static uint8_t data[8 * PAGE + 8];
	const size_t each = element_size(field->kind);
	uint32_t count;

	/* For these 0 means something. */
	if ((field->kind == FUZZ_BO_FLAGS || field->kind == FUZZ_REGIONS || field->kind == FUZZ_TEXT) &&
	    fuzz_once_in(client, 3))
		return 0;
	if (field->kind == FUZZ_REGIONS)
		count = 4;
	else
		memcpy(&count, (const uint8_t *)arg + field->count, sizeof(count));
	for (unsigned int i = 0; i < count && (i + 1) * each < sizeof(data); i++)
		fill_one(client, field, arg, data + i * each, i);
	if (count > (sizeof(data) - 8) / each)
		count = (uint32_t)((sizeof(data) - 8) / each);
	return (uintptr_t)fuzz_place(client, data, count * each, edge);
}

/* ---- Numbers ----------------------------------------------------------- */

/* DRM asks for memory for as many sync objects as it is told, and the kernel warns of too many. */
static uint64_t edge_count(struct fuzz_client *client, const struct fuzz_field *field,
			   uint64_t edge)
{
	return field->most == FUZZ_MOST_WAITS ? edge % (4 * PAGE) : edge + !fuzz_any(client, 4);
}

static uint64_t edge_number(struct fuzz_client *client, const struct fuzz_field *field)
{
	static const uint64_t edges[] = {
		0, 1, 2, 63, 64, PAGE - 1, PAGE, PAGE + 1, 1ull << 21, 1ull << 30, 1ull << 31,
		UINT32_MAX, 1ull << 32, 1ull << 39, 1ull << 47, 1ull << 48, INT64_MAX, 1ull << 63,
		~0ull - PAGE + 1, ~0ull - PAGE, ~0ull - 1, ~0ull,
	};
	const uint64_t edge = edges[fuzz_any(client, COUNT_OF(edges))];

	switch (fuzz_any(client, 8)) {
	case 0:
		return field->most + 1;
	case 1:
		return field->most;
	case 2:
		return 1ull << fuzz_any(client, field->size * 8u);
	case 3:
		return fuzz_any64(client);
	default:
		return edge;
	}
}

static uint64_t any_size(struct fuzz_client *client, uint64_t most)
{
	switch (fuzz_any(client, 64)) {
	case 0:
		return 1 + fuzz_any64(client) % most;
	case 1:
		return 2ull << 20;
	case 2:
	case 3:
		return (1 + fuzz_any(client, 256)) * (uint64_t)PAGE;
	case 4:
	case 5:
		return 1 + fuzz_any(client, 16 * PAGE);
	default:
		return (1 + fuzz_any(client, 16)) * (uint64_t)PAGE;
	}
}

static uint64_t any_count(struct fuzz_client *client, const struct fuzz_field *field)
{
	const uint64_t few = fuzz_any(client, fuzz_any(client, 2) ? 2 : 4);

	if (fuzz_once_in(client, 64))
		return fuzz_any(client, (uint32_t)field->most + 1);
	return few < field->most ? few : field->most;
}

static uint64_t any_address(struct fuzz_client *client)
{
	const uint64_t page = fuzz_any(client, 4) ? fuzz_any(client, FUZZ_AREA_PAGES) :
			      512ull * fuzz_any(client, FUZZ_AREA_PAGES / 512);

	return fuzz_once_in(client, 32) ? FUZZ_JOBS_VA : FUZZ_AREA + page * PAGE;
}

static uint64_t any_time(struct fuzz_client *client)
{
	switch (fuzz_any(client, 4)) {
	case 0:
		return 0;
	case 1:
		return fuzz_any64(client) >> 1;
	default:
		return (uint64_t)guest_deadline(0) + fuzz_any(client, 5000000);
	}
}

static uint64_t any_jc(struct fuzz_client *client, const void *arg)
{
	const uint32_t vm = ((const struct drm_agate_submit *)arg)->vm_id;
	const struct fuzz_space *space = vm ? fuzz_space_of(client, vm) : NULL;
	const struct fuzz_bo *bo = fuzz_bo(client);

	if (vm) {
		if (space && space->cpu)
			fuzz_chain(client, space->cpu, FUZZ_JOBS_VA, space);
		return fuzz_once_in(client, 16) ? any_address(client) : FUZZ_JOBS_VA;
	}
	for (int i = 0; i < FUZZ_BOS && !(bo->cpu && bo->va); i++)
		bo = &client->now->bo[i];
	if (!bo->cpu || !bo->va)
		return 64;
	fuzz_chain(client, bo->cpu, bo->va, NULL);
	return bo->va;
}

static uint64_t any_space(struct fuzz_client *client)
{
	if (!client->card || fuzz_once_in(client, 4))
		return fuzz_once_in(client, 4) ? 1 + fuzz_any(client, 2 * FUZZ_SPACES) : 0;
	return client->now->space[fuzz_any(client, FUZZ_SPACES)].vm;
}

static uint64_t flags(struct fuzz_client *client, uint64_t all)
{
	uint64_t some = fuzz_any64(client) & all;

	/* Of many flags rather a few. */
	return all > 15 && fuzz_any(client, 4) ? some & fuzz_any64(client) : some;
}

uint64_t fuzz_value(struct fuzz_client *client, const struct fuzz_field *field, const void *arg,
		    bool edge)
{
	if (field->kind >= FUZZ_SYNCS)
		return array(client, field, arg, edge);
	if (edge && field->kind == FUZZ_COUNT)
		return edge_count(client, field, edge_number(client, field));
	if (edge)
		return edge_number(client, field);
	switch (field->kind) {
	case FUZZ_CHOICE:
	case FUZZ_IN_OUT:
		return fuzz_any(client, (uint32_t)field->most);
	case FUZZ_FLAGS:
		return flags(client, field->most);
	case FUZZ_ANY:
		return fuzz_any64(client);
	case FUZZ_HANDLE:
		return fuzz_once_in(client, 8) ? guess(client) : fuzz_bo(client)->handle;
	case FUZZ_SPACE:
		return any_space(client);
	case FUZZ_SYNC:
		return any_sync(client);
	case FUZZ_DMABUF:
		return (uint64_t)client->dmabuf[fuzz_any(client, FUZZ_FDS)];
	case FUZZ_SYNC_FILE:
		return (uint64_t)client->sync_file[fuzz_any(client, FUZZ_FDS)];
	case FUZZ_SIZE:
		return any_size(client, field->most);
	case FUZZ_JC:
		return any_jc(client, arg);
	case FUZZ_ADDRESS:
		return any_address(client);
	case FUZZ_RANGE:
	case FUZZ_OFFSET:
		return (1 + fuzz_any(client, 64)) * (uint64_t)PAGE;
	case FUZZ_TIME:
		return any_time(client);
	case FUZZ_COUNT:
		return any_count(client, field);
	case FUZZ_OUT:
		return fuzz_any64(client);	/* what it holds before does not matter */
	default:
		return 0;
	}
}
