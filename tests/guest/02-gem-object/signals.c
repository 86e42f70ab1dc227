// SPDX-License-Identifier: MIT
/*
 * Lab 02: signals that come while a call waits for a lock.  A wait that a signal ends is
 * one more way out of the call, and each way out has to leave nothing behind.
 */
#include "gem.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define GET_LABEL	"agate_gem_get_label"
#define SIGNAL_PAGES	151
#define UNDONE_BY_HAND								\
	"a CREATE_BO that a signal interrupts undoes what it did: its BO was never on gem.bos, " \
	"so gem_free() is not for it"

/* debugfs walks the list, and is held at the first BO: it has gem.lock. */
static void hold_list(struct look *look, uint64_t size)
{
	inject_hold_entry(GET_LABEL, 1, INJECT_BOUND_MS);
	start_look(look, size);
	if (!aside_is_held(&look->aside, GET_LABEL))
		broken("debugfs comes to the BOs on the list", "it saw none");
}

static void let_list_go(struct look *look)
{
	let_go(GET_LABEL);
	aside_join(&look->aside);
}

pid_t start_child(void (*run)(const struct bo *bo), const struct bo *bo)
{
	pid_t child = fork();

	if (child < 0)
		fail_msg("fork: %s", strerror(errno));
	if (!child) {
		run(bo);
		_exit(0);
	}
	return child;
}

static void close_it(const struct bo *bo)
{
	guest_close_handle(bo->fd, bo->handle);
}

static void create_one(const struct bo *bo)
{
	struct bo more;

	gem_create(bo->fd, bo->size, 0, &more);
}

/*
 * A process that waits for gem.lock is killed.  Its file is the test's, too, and stays.
 * Returns whether the process ended before it could have gem.lock.
 */
static bool kill_waiting(void (*run)(const struct bo *bo), const struct bo *bo)
{
	struct look look;
	pid_t child;
	bool ended;

	hold_list(&look, bo->size);
	child = start_child(run, bo);
	ended = child_ends(child, ASLEEP_MS);
	if (!ended)
		kill(child, SIGKILL);
	ended = child_ends(child, ASLEEP_MS);
	let_list_go(&look);
	waitpid(child, NULL, 0);
	return ended;
}

void check_killed_closer(int fd)
{
	struct live before = live_now();
	struct bo bo;
	bool ended;

	rule("CREATE_BO makes a BO and returns 0");
	bo = make_bo(fd, SIGNAL_PAGES * PAGE, 0);
	ended = kill_waiting(close_it, &bo);
	inject_clear();
	rule("gem_free() cannot fail: a process that is killed while it waits for gem.lock leaves nothing");
	check_live(&before);
	rule("gem_free() waits until it has gem.lock: neither a signal nor a time limit ends its wait");
	check_true(!ended, "gem_free() still waits when its process is killed",
		   "it went on, and somebody else has gem.lock");
}

/* The calls that begin GEM objects and their backings, and release them. */
struct objects {
	unsigned int begun;
	unsigned int released;
	unsigned int backed;
	unsigned int unbacked;
};

static void count_objects(void)
{
	inject_count("drm_gem_private_object_init");
	inject_count("drm_gem_object_init");
	inject_count("drm_gem_object_release");
	inject_count("agate_backing_init");
	inject_count("agate_backing_release");
}

static struct objects objects_counted(void)
{
	unsigned int begun = inject_hits("drm_gem_private_object_init");
	unsigned int inits = inject_hits("drm_gem_object_init");

	return (struct objects){
		.begun = begun > inits ? begun : inits,
		.released = inject_hits("drm_gem_object_release"),
		.backed = inject_hits("agate_backing_init"),
		.unbacked = inject_hits("agate_backing_release"),
	};
}

/* The state before a CREATE_BO that gets a signal. */
struct before {
	struct live live;
	unsigned int listed;
	int topic;
};

static struct before begin_interruption(void)
{
	struct before before = {
		.live = live_now(), .listed = look_for(PAGE).all, .topic = memory_watch(),
	};

	count_objects();
	return before;
}

/* All that such a CREATE_BO began is undone, or its BO has come to be: @made BOs. */
static void check_undone(const struct objects *objects, const struct before *before, long made)
{
	uint32_t kept = made ? 0 : memory_kept(before->topic, 0);

	close(before->topic);
	rule("a CREATE_BO that a signal interrupts leaves no BO: none is listed, and none is counted");
	check_equal((long)look_for(PAGE).all - before->listed, made, "BOs more that are listed");
	check_equal(live_now().bos - before->live.bos, made, "BOs more that are counted");
	rule("a CREATE_BO that a signal interrupts undoes all it did: drm_gem_object_release()");
	check_equal((int64_t)objects->begun - objects->released, made,
		    "GEM objects begun and not released, of which as many are BOs");
	rule("a CREATE_BO that a signal interrupts undoes all it did: agate_backing_release()");
	check_equal((int64_t)objects->backed - objects->unbacked, made,
		    "calls of agate_backing_init() without agate_backing_release(), of which as many are BOs");
	rule("a CREATE_BO that a signal interrupts undoes all it did: kfree()");
	check_equal(kept, 0, "pieces of memory that are left, with no BO");
}

/* The BO has come to be, or the call has said that a signal came. */
static void interrupted_create(int fd)
{
	struct before before = begin_interruption();
	struct creation creation;
	struct objects objects;
	struct look look;

	hold_list(&look, PAGE);
	rule(UNDONE_BY_HAND);
	start_creation(&creation, fd, PAGE, 0);
	aside_ends(&creation.aside, ASLEEP_MS);
	aside_signal(&creation.aside);
	let_list_go(&look);
	aside_join(&creation.aside);
	objects = objects_counted();
	inject_clear();
	rule("a CREATE_BO that a signal interrupts leaves no handle: nothing fails once it exists");
	check_equal(live_now().handles - before.live.handles, !creation.err,
		    "handles more after a CREATE_BO that got a signal");
	rule("a CREATE_BO whose wait a signal ends gives EINTR");
	if (creation.err)
		check_errno(creation.err, EINTR, "CREATE_BO");
	check_undone(&objects, &before, !creation.err);
	if (!creation.err)
		check_errno(guest_close_handle(fd, creation.bo.handle), 0, "GEM_CLOSE");
}

/* Nobody hears the answer. */
static void killed_create(int fd)
{
	const struct bo wanted = { .fd = fd, .size = SIGNAL_PAGES * PAGE };
	struct before before = begin_interruption();
	struct objects objects;

	rule(UNDONE_BY_HAND);
	kill_waiting(create_one, &wanted);
	objects = objects_counted();
	inject_clear();
	check_undone(&objects, &before, (long)look_for(PAGE).all - before.listed);
}

void check_interrupted_creates(int fd)
{
	FILE *watched = promises_watch();

	interrupted_create(fd);
	killed_create(fd);
	promises_kept(watched, " undone signal ");
}

/* Where CREATE_BO, and then the child's end, can be when SIGKILL comes. */
static const struct {
	const char *symbol;
	bool at_return;
} insides[] = {
	{ "agate_backing_init", true },
	{ "agate_vm_open_bo", false },
	{ "drm_gem_handle_create", true },
	{ "agate_vm_close_bo", false },
};

/* Its file is its own: the kernel closes it, with all handles, when the child ends. */
static void create_in_own_file(const struct bo *bo)
{
	struct bo one = { .fd = guest_try_open(), .size = bo->size };

	create_one(&one);
	if (!gem_create(one.fd, one.size, AGATE_BO_HEAP | AGATE_BO_NOEXEC, &one))
		guest_close_handle(one.fd, one.handle);
}

void check_killed_inside(void)
{
	const struct bo wanted = { .size = SIGNAL_PAGES * PAGE };
	struct live before = live_now();
	pid_t child;

	for (size_t i = 0; i < sizeof(insides) / sizeof(insides[0]); i++) {
		if (insides[i].at_return)
			inject_hold_return(insides[i].symbol, 1, INJECT_BOUND_MS);
		else
			inject_hold_entry(insides[i].symbol, 1, INJECT_BOUND_MS);
		child = start_child(create_in_own_file, &wanted);
		while (!inject_await_held(insides[i].symbol, 2) && !child_ends(child, ASLEEP_MS))
			;
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		inject_clear();
		rule("a process that is killed in the middle of a call leaves nothing, either");
		check_live(&before);
	}
}
