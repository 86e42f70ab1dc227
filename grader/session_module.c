// SPDX-License-Identifier: MIT
/*
 * The module under test: loads it, checks that it is the delivered one, unloads it.
 */
#include <string.h>

#include "module_id.h"
#include "said.h"
#include "session_priv.h"
#include "text.h"

#define LOAD_LIMIT_MS	5000
#define ARGS_MAX	32

static const char load_rule[] = "the module loads, and its driver takes the GPU";
static const char load_wish[] = "insmod succeeds and the GPU has a render node";

static void load_output(void *arg, enum guest_stream which, const char *data, size_t len)
{
	struct stream *words = arg;
	size_t n = STREAM_MAX - words->len;

	(void)which;
	n = len < n ? len : n;
	memcpy(words->text + words->len, data, n);
	words->len += n;
}

/* Runs a program that is not a test; its output goes to st->errors. */
static enum guest_status run(struct state *st, const char *const *argv, bool kept,
			     struct guest_run *run)
{
	enum guest_status end;

	*run = (struct guest_run){
		.argv = argv,
		.kept = kept,
		.limit_ms = state_limit(st, LOAD_LIMIT_MS),
		.output_max = STREAM_MAX,
		.output = load_output,
		.arg = &st->errors,
	};
	st->errors.len = 0;
	state_begin(st, run->limit_ms);
	end = st->ops->run(st->guest, run);
	if (end != GUEST_GONE && end != GUEST_HOST)
		state_note_busy(st, run->limit_ms);
	return end;
}

bool state_keeps_program(const struct state *st)
{
	return !st->s->files.library;
}

enum guest_status state_warm_up(struct state *st)
{
	static const char *const list[] = { GUEST_PROGRAM, "--list", NULL };
	struct guest_run ignored;

	if (!st->s->building || !st->s->building(st->s->arg))
		return GUEST_OK;
	return run(st, list, state_keeps_program(st), &ignored);
}

static void explain(struct state *st, enum guest_status end, const struct guest_run *run,
		    const char *what, struct verdict *why)
{
	char kernel[200], words[160];
	size_t len = run->timed_out ? st->console_at_limit : st->console_len;

	memset(why, 0, sizeof(*why));
	if (splat_find_untimed(st->console, len, &why->splat) ||
	    (end == GUEST_CRASHED && !run->timed_out)) {
		verdict_set(why, VERDICT_CRASH, why->splat.kind == SPLAT_NONE ? load_rule :
			    splat_rule(&why->splat), load_wish, "while the module is loaded: %s",
			    why->splat.kind == SPLAT_NONE ? "the kernel went down" :
			    why->splat.headline);
		return;
	}
	if (st->console_flooded) {
		verdict_set(why, VERDICT_FAIL, judge_flood_rule, judge_flood_wish,
			    "while the module is loaded: more than %zu bytes", st->console_len);
		return;
	}
	if (run->timed_out || end == GUEST_TIMEOUT) {
		splat_find(st->console, st->console_len, &why->splat);
		verdict_set(why, VERDICT_TIMEOUT, load_rule, load_wish,
			    "insmod does not come back");
		return;
	}
	said_last(st->console, st->console_len, 1, kernel, sizeof(kernel));
	text_clean(words, sizeof(words), st->errors.text,
		   st->errors.len ? strcspn(st->errors.text, "\n") : 0);
	verdict_set(why, VERDICT_FAIL, load_rule, load_wish, "%s%s%s%s%s", what,
		    *words ? ": " : "", words, *kernel ? "; the kernel said: " : "", kernel);
}

/* Reads a file of the guest, if it exists; *@end gets any status that is not an answer. */
static bool look(struct state *st, const char *path, void *data, size_t size, size_t *len,
		 enum guest_status *end)
{
	enum guest_status got = st->ops->get(st->guest, path, data, size, len);

	if (got != GUEST_OK && got != GUEST_REFUSED)
		*end = got;
	return got == GUEST_OK;
}

/* Is the loaded module the delivered one? */
static bool is_ours(struct state *st, enum guest_status *end)
{
	unsigned char delivered[MODULE_ID_MAX], loaded[MODULE_ID_MAX];
	size_t n = module_id_read(st->s->files.module, delivered), got = 0;

	return n && look(st, "/sys/module/agate/notes/.note.gnu.build-id", loaded, sizeof(loaded),
			 &got, end) && got == n && !memcmp(delivered, loaded, n);
}

static bool has_node(struct state *st, enum guest_status *end)
{
	char dev[32];
	size_t got;

	return look(st, "/sys/class/drm/renderD128/dev", dev, sizeof(dev), &got, end);
}

/*
 * Builds "insmod FILE" and the lab's parameters, which it splits in place in @args.  A program that
 * is kept does insmod's work.
 */
static void load_argv(const struct state *st, const char *argv[ARGS_MAX], char *args)
{
	char *save, *word;
	size_t n = 0;

	if (state_keeps_program(st)) {
		argv[n++] = GUEST_PROGRAM;
		argv[n++] = "--insmod";
	} else {
		argv[n++] = "/sbin/insmod";
	}
	argv[n++] = GUEST_MODULE;
	for (word = strtok_r(args, " ", &save); word && n < ARGS_MAX - 1;
	     word = strtok_r(NULL, " ", &save))
		argv[n++] = word;
	argv[n] = NULL;
}

/* The reason why a module whose insmod has ended is not accepted; NULL: it is. */
static const char *complaint(struct state *st, const struct guest_run *insmod,
			     enum guest_status *end)
{
	if (insmod->signaled || insmod->value)
		return "insmod failed";
	if (!is_ours(st, end))
		return "another module than the one delivered is loaded";
	if (!has_node(st, end))
		return "the driver's probe failed: there is no render node";
	return NULL;
}

/* Does the kernel's report show a processor in the module? */
static bool seen_inside(const struct state *st, struct splat *splat)
{
	size_t i;

	if (splat_find(st->console, st->console_len, splat))
		for (i = 0; i < splat->frame_count; i++)
			if (splat->frames[i].module)
				return true;
	return false;
}

/* insmod took too long: does the kernel, or a guest that answers, see it in the module? */
static bool stuck_inside(struct state *st, enum guest_status end)
{
	enum guest_status answer = GUEST_OK;
	struct splat splat;
	char text[32] = "";
	size_t got = 0;

	if (seen_inside(st, &splat))
		return true;
	return (end == GUEST_OK || end == GUEST_TIMEOUT) &&
	       look(st, "/sys/module/agate/initstate", text, sizeof(text), &got, &answer) &&
	       got >= 6 && !memcmp(text, "coming", 6);
}

/* Is the module to blame, or may it work in another guest? */
static enum load whose(struct state *st, enum guest_status end, const struct guest_run *insmod,
		       const char *what)
{
	struct splat splat;

	bool silent = !st->console_flooded &&
		      !splat_find_untimed(st->console, st->console_len, &splat);

	if (st->ops->gpu_failed(st->guest))
		return LOAD_VOID;
	if (end == GUEST_OK && !insmod->timed_out && !what && silent)
		return LOAD_DONE;
	if (!state_gpu_answers(st))
		return LOAD_VOID;
	if (!silent)
		return LOAD_FAILED;
	if (insmod->timed_out)
		return !st->busy && stuck_inside(st, end) ? LOAD_FAILED : LOAD_LATE;
	return end == GUEST_TIMEOUT ? LOAD_VOID : LOAD_FAILED;
}

enum guest_status state_load(struct state *st, enum load *load, struct verdict *why)
{
	const char *argv[ARGS_MAX], *what = NULL, *gpu;
	struct guest_run insmod;
	enum guest_status end;
	char args[256];

	snprintf(args, sizeof(args), "%s", st->s->lab->module_args);
	load_argv(st, argv, args);
	*load = LOAD_VOID;
	end = run(st, argv, state_keeps_program(st), &insmod);
	if (end == GUEST_OK && !insmod.timed_out)
		what = complaint(st, &insmod, &end);
	if (end == GUEST_OK && !insmod.timed_out)
		end = state_mark(st, "module loaded");
	if (end == GUEST_HOST || end == GUEST_INTERRUPTED || end == GUEST_GONE)
		return end;
	if (end == GUEST_LOST || end == GUEST_REFUSED)
		what = "the guest's stream just ended";
	*load = whose(st, end, &insmod, what);
	gpu = st->ops->gpu_failed(st->guest);
	if (*load == LOAD_VOID)
		verdict_set(why, VERDICT_NOT_RUN, "", "", "while the module is loaded: %s",
			    gpu ? gpu : "the guest, or its GPU, does not answer in time");
	else if (*load != LOAD_DONE)
		explain(st, end, &insmod, what ? what : "", why);
	return GUEST_OK;
}

bool state_blames_module(struct state *st, struct verdict *why)
{
	struct splat splat;

	/* A driver that waits for a GPU which has failed is seen in the module, too. */
	if (st->busy || st->ops->gpu_failed(st->guest) || !state_gpu_answers(st) ||
	    !seen_inside(st, &splat))
		return false;
	memset(why, 0, sizeof(*why));
	why->splat = splat;
	verdict_set(why, VERDICT_TIMEOUT, splat_rule(&splat), "a guest that answers",
		    "none in three starts: the kernel sees a processor in the module's code, which "
		    "goes on behind the end of insmod, or of a test");
	return true;
}

bool state_unload(struct state *st, struct verdict *why)
{
	static const char *const forked[] = { GUEST_PROGRAM, "--rmmod", "agate", NULL };
	static const char *const executed[] = { "/sbin/rmmod", "agate", NULL };
	const bool kept = state_keeps_program(st);
	struct guest_run rmmod = { .argv = NULL };
	enum guest_status end;
	char text[32];
	size_t got;
	bool silent;

	end = st->ops->get(st->guest, "/sys/module/agate/initstate", text, sizeof(text), &got);
	if (end == GUEST_REFUSED)
		return true;
	if (end == GUEST_OK)
		end = run(st, kept ? forked : executed, kept, &rmmod);
	if (end == GUEST_OK && !rmmod.timed_out)
		end = state_mark(st, "module unloaded");
	silent = !splat_find_untimed(st->console, st->console_len, &why->splat);
	if (end == GUEST_OK && !rmmod.timed_out && !rmmod.signaled && !rmmod.value && silent)
		return true;
	if (silent && (end == GUEST_GONE || st->ops->gpu_failed(st->guest) || st->busy)) {
		verdict_set(why, VERDICT_NOT_RUN, "", "", "the machine was in the way");
		return false;
	}
	verdict_set(why, silent ? VERDICT_FAIL : VERDICT_CRASH, "the module unloads in silence",
		    "nothing", "%s", st->console_flooded ? "it fills the kernel's log" :
		    silent ? "rmmod does not succeed" : why->splat.headline);
	return false;
}
