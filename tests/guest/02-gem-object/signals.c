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

static pid_t start_child(const struct bo *bo)
{
	pid_t child = fork();

	if (child < 0)
		fail_msg("fork: %s", strerror(errno));
	if (!child) {
		guest_close_handle(bo->fd, bo->handle);
		_exit(0);
	}
	return child;
}

void check_killed_closer(int fd)
{
	struct live before = live_now();
	struct look look;
	struct bo bo;
	pid_t child;

	rule("CREATE_BO makes a BO and returns 0");
	bo = make_bo(fd, SIGNAL_PAGES * PAGE, 0);
	hold_list(&look, bo.size);
	child = start_child(&bo);
	child_ends(child, ASLEEP_MS);
	kill(child, SIGKILL);
	child_ends(child, ASLEEP_MS);
	let_list_go(&look);
	waitpid(child, NULL, 0);
	inject_clear();
	rule("gem_free() cannot fail: a process that is killed while it waits for gem.lock leaves nothing");
	check_live(&before);
}

/*
 * The call is made again when it says EINTR, so it succeeds in the end: all objects that it
 * began but one were released.
 */
void check_interrupted_create(int fd)
{
	unsigned int begun, inits, released;
	struct creation creation;
	struct look look;

	inject_count("drm_gem_private_object_init");
	inject_count("drm_gem_object_init");
	inject_count("drm_gem_object_release");
	hold_list(&look, PAGE);
	start_creation(&creation, fd, PAGE, 0);
	aside_ends(&creation.aside, ASLEEP_MS);
	aside_signal(&creation.aside);
	let_list_go(&look);
	aside_join(&creation.aside);
	begun = inject_hits("drm_gem_private_object_init");
	inits = inject_hits("drm_gem_object_init");
	released = inject_hits("drm_gem_object_release");
	inject_clear();
	rule("CREATE_BO makes a BO and returns 0, also when a signal comes while it waits");
	check_errno(creation.err, 0, "CREATE_BO");
	rule("a CREATE_BO that a signal interrupts undoes all it did: drm_gem_object_release()");
	check_equal(released + 1, begun > inits ? begun : inits,
		    "GEM objects that live or were released");
	check_errno(guest_close_handle(fd, creation.bo.handle), 0, "GEM_CLOSE");
}
