// SPDX-License-Identifier: MIT
/*
 * Lab 02: what holds for every BO, whatever its flags and whatever became of it.
 *
 * The injection module checks promises of kernel/agate_gem.h at each call of some functions
 * while a file of its is open; BOs of every kind live and die meanwhile.
 */
#include "gem.h"

#include <stdio.h>

#define PROMISES	"/sys/kernel/debug/agate_promises"

static const struct {
	const char *name;	/* as the module calls it */
	const char *rule;
	const char *expected;
} promises[] = {
	{ "listed", "gem.bos is changed under gem.lock only", "gem.lock held at each change" },
	{ "backing", "agate_backing_init() gets a BO whose GEM object is initialised",
	  "a call after agate_backing_object_init()" },
	{ "flags", "the flags of CREATE_BO choose the kind of the BO's backing",
	  "the flags of the call, in agate_backing_object_init() and in agate_backing_init()" },
	{ "complete", "a BO is complete when gem.lock is given back with the BO on gem.bos",
	  "every field as agate_gem_create() has to set it" },
	{ "classes", "gem.lock and a BO's locks are initialised on lines of their own: for lockdep all "
	  "locks of one mutex_init() line are one lock",
	  "a class of its own for each" },
	{ "asked", "the BO that joins gem.bos is the one that CREATE_BO asked for",
	  "the flags of the call, and its size in whole pages" },
	{ "order", "gem.bos begins with the oldest BO, and no BO changes its place",
	  "BOs that join at the end, or leave" },
	{ "ended", "gem_free() gives back what agate_backing_object_init() has made, the BO's mmap offset "
	  "included", "drm_gem_object_release() of each BO that ends" },
	{ "free", "free does the same for every BO, in whatever thread it runs",
	  "agate_purge_forget(), agate_backing_release(), out of gem.bos, drm_gem_object_release(), each once" },
	{ "outer", "agate_backing_release() takes locks that come before gem.lock", "gem.lock not held" },
	{ "undone", "what was done is undone, latest first, for a BO that is not on gem.bos yet",
	  "agate_backing_release(), and then drm_gem_object_release()" },
	{ "names", "open and close of a handle change no field of the BO", "the same fields as before" },
	{ "unlocked", "no lock is held where the driver may wait for the GPU",
	  "no lock at agate_vm_close_bo(), and none at agate_mapping_put() in CREATE_BO" },
	{ "lookup", "a lookup finds the object and takes its reference under the table's lock",
	  "file->table_lock held for both" },
	{ "label", "label_lock is held for as long as a label is copied, and no longer",
	  "nothing that may sleep under label_lock" },
	{ "fetch", "SET_LABEL holds no lock while it reads user memory", "no lock" },
	{ "signal", "a call whose wait a signal ends says so",
	  "0, -EINTR or -ERESTARTSYS" },
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
