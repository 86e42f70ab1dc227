// SPDX-License-Identifier: MIT
/*
 * Lab 02: what holds for every BO, whatever its flags and whatever became of it.
 *
 * The injection module checks promises of kernel/agate_gem.h at each call of some functions
 * while a file of its is open; BOs of every kind live and die meanwhile.
 */
#include "gem.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define PROMISES	"/sys/kernel/debug/agate_promises"
#define KIND_PAGES	201

static const struct {
	const char *name;	/* as the module calls it */
	const char *rule;
	const char *expected;
} promises[] = {
	{ "complete", "a BO is complete when gem.lock is given back with the BO on gem.bos",
	  "every field as agate_gem_create() has to set it" },
	{ "asked", "the BO that joins gem.bos is the one that CREATE_BO asked for",
	  "the flags of the call, and its size in whole pages" },
	{ "order", "gem.bos begins with the oldest BO, and no BO changes its place",
	  "BOs that join at the end, or leave" },
	{ "listed", "gem.bos is changed under gem.lock only", "gem.lock held at each change" },
	{ "free", "free does the same for every BO",
	  "agate_purge_forget(), agate_shmem_release(), out of gem.bos, drm_gem_object_release(), each once" },
	{ "unlocked", "no lock is held where the driver may wait for the GPU",
	  "no lock at agate_vm_close_bo(), and none at agate_mapping_put() in CREATE_BO" },
	{ "lookup", "a lookup finds the object and takes its reference under the table's lock",
	  "file->table_lock held for both" },
	{ "label", "label_lock is held for as long as a label is copied, and no longer",
	  "nothing that may sleep under label_lock" },
	{ "fetch", "SET_LABEL holds no lock while it reads user memory", "no lock" },
};

FILE *promises_watch(void)
{
	FILE *file;

	inject_load();
	file = fopen(PROMISES, "re");
	if (!file)
		fail_msg(PROMISES ": %s", strerror(errno));
	return file;
}

static void check_promise(const char *name, unsigned int checks, unsigned int failed,
			  const char *seen)
{
	for (size_t i = 0; failed && i < sizeof(promises) / sizeof(promises[0]); i++) {
		if (strcmp(promises[i].name, name))
			continue;
		rule("%s", promises[i].rule);
		broken(promises[i].expected, "%s (%u of %u times)", seen, failed, checks);
	}
}

void promises_kept(FILE *file, const char *which)
{
	char line[256], name[16], seen[200], names[128];
	unsigned int checks, failed;

	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%15s %u %u %199[^\n]", name, &checks, &failed, seen) != 4)
			fail_msg(PROMISES ": %s", line);
		snprintf(names, sizeof(names), " %s ", name);
		if (!which || strstr(which, names))
			check_promise(name, checks, failed, seen);
	}
	fclose(file);
}

/* ---- Every kind of BO ---------------------------------------------------------- */

unsigned int kinds(uint32_t flags[KINDS])
{
	unsigned int n = 0;

	for (uint32_t f = 0; f < KINDS_END; f++)
		if (!(f & AGATE_BO_HEAP) || (f & AGATE_BO_NOEXEC))
			flags[n++] = f;
	return n;
}

/* The BO has pages that the kernel can take, if a CPU may touch it. */
static void touch(struct bo *bo, uint32_t flags)
{
	if (flags & (AGATE_BO_HEAP | AGATE_BO_CPU_READONLY))
		return;
	guest_map(bo);
	memset(bo->cpu, 1, PAGE);
	munmap(bo->cpu, bo->size);
	bo->cpu = NULL;
}

static void close_kinds(struct bo *bo, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		check_errno(guest_close_handle(bo[i].fd, bo[i].handle), 0, "GEM_CLOSE");
}

/* BOs that were never used, that were, that can be purged, that were purged. */
void live_and_die(int fd)
{
	static const struct {
		bool touched, unneeded, purged;
	} lives[] = {
		{ false, false, false }, { true, false, false }, { true, true, false },
		{ true, true, true },
	};
	uint32_t flags[KINDS];
	unsigned int n = kinds(flags);
	struct bo bo[KINDS];

	for (size_t life = 0; life < sizeof(lives) / sizeof(lives[0]); life++) {
		rule("CREATE_BO makes a BO and returns 0");
		for (unsigned int i = 0; i < n; i++) {
			bo[i] = make_bo(fd, (KIND_PAGES + i) * PAGE - 1, flags[i]);
			if (lives[life].touched)
				touch(&bo[i], flags[i]);
			if (lives[life].unneeded)
				advise(&bo[i], AGATE_MADV_DONTNEED);
		}
		if (lives[life].purged)
			shrink();
		close_kinds(bo, n);
	}
}

void label_every_kind(int fd)
{
	uint32_t flags[KINDS];
	unsigned int n = kinds(flags);
	struct bo bo[KINDS];

	for (unsigned int i = 0; i < n; i++) {
		rule("CREATE_BO makes a BO and returns 0");
		bo[i] = make_bo(fd, (KIND_PAGES + i) * PAGE, flags[i]);
		rule("a BO of any kind can have a label");
		check_errno(set_label(fd, bo[i].handle, "of any kind", 11), 0, "SET_LABEL");
		if (strcmp(listed(&bo[i]).label, "of any kind"))
			broken("label \"of any kind\"", "flags %#x, label \"%s\"", flags[i],
			       listed(&bo[i]).label);
	}
	close_kinds(bo, n);
}
