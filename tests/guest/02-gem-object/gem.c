// SPDX-License-Identifier: MIT
/* Helpers of lab 02's tests; see gem.h. */
#include "gem.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Rounds of waiting, not time: on a busy machine each of them takes longer. */
#define ROUNDS		500

int gem_open(void)
{
	struct drm_agate_get_param arg = { .param = DRM_AGATE_PARAM_FEATURES };
	static bool begun;
	int fd = guest_open();

	rule("the driver has the topic gem: agate_gem_topic_init() returns 0");
	check_errno(guest_ioctl(fd, DRM_IOCTL_AGATE_GET_PARAM, &arg), 0, "GET_PARAM of FEATURES");
	check_true(arg.value & AGATE_FEATURE_GEM, "the bit AGATE_FEATURE_GEM",
		   "the topic is absent");
	if (!begun)
		check_list();
	begun = true;
	return fd;
}

static FILE *open_file(const char *path)
{
	FILE *file = fopen(path, "re");

	if (!file)
		fail_msg("%s: %s", path, strerror(errno));
	return file;
}

static FILE *open_debugfs(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%d/%s", guest_minor(), name);
	return open_file(path);
}

/* How many BOs the driver counts, and how many entries gem.bos has, as the injection module tells. */
static void count_listed(long *counted, long *on_list)
{
	FILE *file;

	inject_load();
	file = open_file("/sys/kernel/debug/agate_listed");
	if (fscanf(file, "%ld %ld", counted, on_list) != 2)
		fail_msg("agate_listed makes no sense");
	fclose(file);
}

/* A BO that is on its way out may still be listed for a moment. */
void check_list(void)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	long counted, on_list;

	count_listed(&counted, &on_list);
	for (int i = 0; i < ROUNDS && on_list > counted; i++) {
		nanosleep(&pause, NULL);
		count_listed(&counted, &on_list);
	}
	if (on_list <= counted)
		return;
	rule("a BO that was freed is no longer on gem.bos: gem_free() takes it off");
	broken("no more entries on gem.bos than BOs that are counted",
	       "BOs that are counted: %ld, and gem.bos has more", counted);
}

struct live live_now(void)
{
	struct live live = { .bos = -1, .handles = -1, .va_nodes = -1, .vms = -1 };
	const struct {
		const char *name;
		long *value;
	} wanted[] = {
		{ "bos", &live.bos }, { "handles", &live.handles },
		{ "va_nodes", &live.va_nodes }, { "vms", &live.vms },
	};
	FILE *file = open_debugfs("counters");
	char key[64];
	long value;

	while (guest_next_number(file, key, &value))
		for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
			if (!strcmp(key, wanted[i].name))
				*wanted[i].value = value;
	fclose(file);
	return live;
}

static bool same(const struct live *a, const struct live *b)
{
	return a->bos == b->bos && a->handles == b->handles && a->va_nodes == b->va_nodes &&
	       a->vms == b->vms;
}

void check_live(const struct live *before)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	struct live now = live_now();
	char expected[128];

	for (int i = 0; i < ROUNDS && !same(&now, before); i++) {
		nanosleep(&pause, NULL);
		now = live_now();
	}
	if (same(&now, before)) {
		check_list();
		return;
	}
	snprintf(expected, sizeof(expected), "as before: bos %ld, handles %ld, va_nodes %ld, vms %ld",
		 before->bos, before->handles, before->va_nodes, before->vms);
	broken(expected, "bos %ld, handles %ld, va_nodes %ld, vms %ld", now.bos, now.handles,
	       now.va_nodes, now.vms);
}

/* ---- debugfs ---------------------------------------------------------- */

static unsigned long long read_client(int fd)
{
	unsigned long long id = 0;
	char path[64], line[128];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = open_file(path);
	while (fgets(line, sizeof(line), file) && sscanf(line, "drm-client-id: %llu", &id) != 1)
		;
	fclose(file);
	return id;
}

/*
 * drm-client-id of a file: what debugfs calls its address space.  It is remembered until a node is
 * opened, because the descriptor may be that one's then.
 */
static unsigned long long client_of(int fd)
{
	static struct {
		unsigned long long id;
		unsigned int opens;
	} known[64];

	if (fd < 0 || (size_t)fd >= sizeof(known) / sizeof(known[0]))
		return read_client(fd);
	if (!known[fd].id || known[fd].opens != guest_opens()) {
		known[fd].id = read_client(fd);
		known[fd].opens = guest_opens();
	}
	return known[fd].id;
}

/* The text behind KEY on a line, up to @end; "" when there is none. */
static void text_after(const char *line, const char *key, char end, char *text, size_t size)
{
	const char *begin = strstr(line, key);
	const char *stop;

	text[0] = '\0';
	if (!begin)
		return;
	begin += strlen(key);
	stop = end == '"' ? strrchr(begin, end) : strchr(begin, end);
	if (stop && (size_t)(stop - begin) < size) {
		memcpy(text, begin, (size_t)(stop - begin));
		text[stop - begin] = '\0';
	}
}

/* The number behind KEY, where *@at is; false when something else is there.  Moves *@at on. */
static bool number_at(const char **at, const char *key, int base, unsigned long long *number)
{
	const char *begin;
	char *end;

	if (strncmp(*at, key, strlen(key)) != 0)
		return false;
	begin = *at + strlen(key);
	*number = strtoull(begin, &end, base);
	*at = end;
	return end != begin;
}

/* A line of a mapping of the BO on the line before. */
static bool parse_mapping(const char *line, unsigned long long *client, unsigned long long *address)
{
	line += strspn(line, " ");
	return number_at(&line, "client=", 10, client) && number_at(&line, " va=", 16, address);
}

static bool parse_bo(const char *line, struct listed *bo)
{
	unsigned long long size, resident, handles, refs;
	const char *at = line;

	if (!number_at(&at, "size=", 10, &size) || !number_at(&at, " resident=", 10, &resident) ||
	    !number_at(&at, " handles=", 10, &handles) || !number_at(&at, " refs=", 10, &refs))
		return false;
	bo->size = size;
	bo->resident = resident;
	bo->handles = (unsigned int)handles;
	bo->refs = (unsigned int)refs;
	text_after(line, " madv=", ' ', bo->madv, sizeof(bo->madv));
	text_after(line, " flags=", ' ', bo->flags, sizeof(bo->flags));
	text_after(line, " label=\"", '"', bo->label, sizeof(bo->label));
	return true;
}

bool find_listed(int fd, uint64_t va, struct listed *bo)
{
	unsigned long long client, id = client_of(fd), address;
	FILE *file = open_debugfs("bos");
	bool found = false;
	char line[1024];

	while (!found && fgets(line, sizeof(line), file)) {
		if (!parse_bo(line, bo) && parse_mapping(line, &client, &address))
			found = client == id && address == va;
	}
	bo->va = va;
	fclose(file);
	return found;
}

struct listed listed(const struct bo *bo)
{
	struct listed found;

	if (!find_listed(bo->fd, bo->va, &found))
		broken("the BO in debugfs' list", "no BO at GPU address %#llx of this file",
		       (unsigned long long)bo->va);
	return found;
}

unsigned int list_bos(int fd, struct listed *bos, unsigned int max)
{
	unsigned long long client, id = client_of(fd), address;
	FILE *file = open_debugfs("bos");
	struct listed bo = { 0 };
	unsigned int n = 0;
	char line[1024];

	while (fgets(line, sizeof(line), file)) {
		if (parse_bo(line, &bo) || !parse_mapping(line, &client, &address) || client != id)
			continue;
		bo.va = address;
		if (n < max)
			bos[n] = bo;
		n++;
	}
	fclose(file);
	return n;
}

void read_bos(uint64_t size, struct look *look)
{
	FILE *file = open_debugfs("bos");
	struct listed bo;
	char line[1024];

	look->found = false;
	look->all = 0;
	look->sizeless = 0;
	while (fgets(line, sizeof(line), file)) {
		if (!parse_bo(line, &bo))
			continue;
		look->all++;
		look->sizeless += !bo.size;
		if (bo.size == size) {
			look->found = true;
			look->bo = bo;
		}
	}
	fclose(file);
}

int silent_mask(uint64_t size, char seen[MASK_ROOM])
{
	FILE *file = open_file("/sys/kernel/debug/agate_masks");
	char missing[128], extra[128];
	unsigned long long listed_size;
	int silent = -1;

	while (fscanf(file, "%llu %127s %127s", &listed_size, missing, extra) == 3) {
		if (listed_size != size)
			continue;
		silent = !missing[1] && !extra[1];
		snprintf(seen, MASK_ROOM, "another mask: missing bits %s, bits too many %s",
			 missing[1] ? missing + 1 : "none", extra[1] ? extra + 1 : "none");
	}
	fclose(file);
	return silent;
}

/* ---- Calls ------------------------------------------------------------ */

int gem_create(int fd, uint64_t size, uint32_t flags, struct bo *bo)
{
	struct drm_agate_create_bo arg = { .size = size, .flags = flags };
	int err = guest_create_with(fd, &arg, bo);
	char expected[80], name[32];

	if (arg.size != size || arg.flags != flags) {
		rule("size and flags are the client's: they come back as they were, also from a "
		     "call that fails");
		snprintf(expected, sizeof(expected), "size %#llx, flags %#x",
			 (unsigned long long)size, flags);
		broken(expected, "size %#llx, flags %#x, after CREATE_BO: %s",
		       (unsigned long long)arg.size, arg.flags,
		       guest_errno_name(err, name, sizeof(name)));
	}
	return err;
}

struct bo make_bo(int fd, uint64_t size, uint32_t flags)
{
	struct bo bo;
	char what[96];

	snprintf(what, sizeof(what), "CREATE_BO of %llu bytes, flags %#x",
		 (unsigned long long)size, flags);
	check_errno(gem_create(fd, size, flags, &bo), 0, what);
	return bo;
}

/* In a driver that is half done CREATE_BO has no handle to give: the BO is made all the same. */
void check_bo_is_made(int fd, uint64_t size, uint32_t flags)
{
	long before = live_now().bos;
	struct look look;
	struct bo bo;
	int err;

	rule("agate_gem_create() makes a BO, which is counted and listed");
	err = gem_create(fd, size, flags, &bo);
	if (err && err != EOPNOTSUPP)
		check_errno(err, 0, "CREATE_BO");
	check_equal(live_now().bos, before + 1, "BOs that are counted after a CREATE_BO");
	look = look_for(size);
	check_true(look.found, "the BO in debugfs' list", "no BO of its size is listed");
	if (!err) {
		rule("CREATE_BO tells the BO's handle: args->handle");
		check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE of the handle that it told");
	}
	check_list();
}

int get_offset(int fd, uint32_t handle, uint64_t *offset)
{
	struct drm_agate_get_bo_offset arg = { .handle = handle };
	int err = guest_ioctl(fd, DRM_IOCTL_AGATE_GET_BO_OFFSET, &arg);

	*offset = arg.offset;
	return err;
}

int set_label(int fd, uint32_t handle, const void *text, uint32_t len)
{
	struct drm_agate_set_label arg = {
		.handle = handle, .len = len, .label = (uintptr_t)text,
	};

	return guest_ioctl_once(fd, DRM_IOCTL_AGATE_SET_LABEL, &arg);
}

bool handle_exists(int fd, uint32_t handle)
{
	struct drm_agate_mmap_bo arg = { .handle = handle };

	return guest_ioctl(fd, DRM_IOCTL_AGATE_MMAP_BO, &arg) != ENOENT;
}

void advise(const struct bo *bo, uint32_t madv)
{
	struct drm_agate_madvise arg = { .handle = bo->handle, .madv = madv };

	check_errno(guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MADVISE, &arg), 0, "MADVISE");
}

void shrink(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "2", 1) != 1)
		fail_msg("drop_caches: %s", strerror(errno));
	close(fd);
}
