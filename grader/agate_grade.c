// SPDX-License-Identifier: MIT
/*
 * agate-grade: grades labs, shows hints, lists labs and tests.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agate_stdio.h"
#include "choice.h"
#include "grade_labs.h"
#include "guest_vm.h"
#include "hint.h"
#include "live.h"
#include "machine.h"
#include "params.h"
#include "report.h"

#define LABS_DIR	"labs"
/* A last resort: each step in a guest has a limit of its own.  Both count by the guest's clock. */
#define GUEST_LIMIT_MS	7200000
/* The logs of all GPUs of one kernel. */
#define GPU_LOGS_MIB	64

enum { EXIT_GRADED, EXIT_GRADER, EXIT_USAGE };

static int fail(int status, const char *what)
{
	grade_error(what);
	return status;
}

/* Paths for starting the guests of this process. */
static char kernel_dirs[FLAVOURS][RUN_PATH];
static char initramfs[RUN_PATH], sim[RUN_PATH];

static void vm_progress(void *arg, const char *what)
{
	(void)arg;
	live_hide();
	fprintf(stderr, "  %-8s %s\n", "VM", what);
	live_show();
}

static bool real_guest(const struct run_config *config, enum flavour flavour, uint64_t seed,
		       const char *gpu_log, atomic_uint *started, struct guest *guest)
{
	struct guest_vm_config vm = {
		.kernel_dir = kernel_dirs[flavour],
		.debug = flavour == FLAVOUR_DEBUG,
		.initramfs = initramfs,
		.sim = sim,
		.sim_log = gpu_log,
		.logs_mib = GPU_LOGS_MIB / (config->guests ?: 1),
		.started = started,
		.seed = seed,
		.timeout_ms = (unsigned int)(GUEST_LIMIT_MS * config->scale),
		.interrupt_fd = config->interrupt_fd,
		.progress = vm_progress,
	};

	return guest_vm_init(guest, &vm);
}

/* Checks that everything exists that make builds before a run. */
static bool find_build(const struct options *o, char error[RUN_ERROR])
{
	const char *const needed[] = { kernel_dirs[FLAVOUR_FAST], initramfs, sim,
				       o->debug ? kernel_dirs[FLAVOUR_DEBUG] : NULL };
	size_t i;
	int f;

	for (f = 0; f < FLAVOURS; f++)
		if (!run_path(kernel_dirs[f], "%s/guest/kernel-%s", o->build, flavour_names[f]))
			return false;
	if (!run_path(initramfs, "%s/guest/initramfs.cpio.gz", o->build) ||
	    !run_path(sim, "%s/bin/agate-sim", o->build))
		return false;
	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (!needed[i] || !access(needed[i], R_OK))
			continue;
		snprintf(error, RUN_ERROR, "%.400s: %s; `make grade` builds what is missing",
			 needed[i], strerror(errno));
		return false;
	}
	return true;
}

/* Reads and checks the labs that the user means; NULL with @error. */
static struct lab **load_labs(const char *word, size_t *count, char error[RUN_ERROR])
{
	char (*names)[LAB_NAME] = NULL, one[LAB_NAME], path[RUN_PATH];
	struct lab **labs = NULL;
	int n = 1, i;

	*count = 0;
	if (!strcmp(word, "all")) {
		n = lab_names(LABS_DIR, &names);
		if (n <= 0)
			snprintf(error, RUN_ERROR, "there are no labs in %s/", LABS_DIR);
	} else if (!lab_find(LABS_DIR, word, one, error)) {
		return NULL;
	}
	if (n > 0)
		labs = calloc((size_t)n, sizeof(*labs));
	for (i = 0; labs && i < n; i++) {
		const char *name = names ? names[i] : one;

		snprintf(path, sizeof(path), "%s/%s/lab.json", LABS_DIR, name);
		labs[i] = lab_load(path, name, error);
		if (!labs[i])
			break;
		(*count)++;
	}
	free(names);
	if (labs && *count == (size_t)n)
		return labs;
	while (labs && *count)
		lab_free(labs[--*count]);
	free(labs);
	return NULL;
}

static int list(const struct options *o)
{
	char (*names)[LAB_NAME], name[LAB_NAME], error[RUN_ERROR];
	int n, i;

	if (o->lab) {
		if (!lab_find(LABS_DIR, o->lab, name, error))
			return fail(EXIT_USAGE, error);
		puts(name);
		return EXIT_GRADED;
	}
	n = lab_names(LABS_DIR, &names);
	if (n < 0)
		return fail(EXIT_GRADER, "there is no folder labs/ here: run from the top of the tree");
	for (i = 0; i < n; i++)
		puts(names[i]);
	free(names);
	return EXIT_GRADED;
}

/* The folder of results. */
static bool find_out(const struct options *o, char out[RUN_PATH])
{
	return o->out ? run_path(out, "%s", o->out) : run_path(out, "%s/results", o->build);
}

static const char *hints_dir(const struct options *o, char path[RUN_PATH])
{
	bool fits = o->out ? run_path(path, "%s/hints", o->out) :
		    run_path(path, "%s/hints", o->build);

	return fits ? path : NULL;
}

static int hint(const struct options *o)
{
	char error[RUN_ERROR], dir[RUN_PATH], out[RUN_PATH];
	const char *slash = strchr(o->test, '/');
	const struct lab_test *test;
	struct lab **labs;
	size_t count;
	int status = EXIT_GRADED;

	if (o->out && !choice_out(o->out, error, sizeof(error)))
		return fail(EXIT_USAGE, error);
	labs = load_labs(o->lab, &count, error);
	if (!labs)
		return fail(EXIT_USAGE, error);
	test = choice_test(labs[0], slash ? slash + 1 : o->test, error, sizeof(error));
	if (!test) {
		status = fail(EXIT_USAGE, error);
	} else if (!hints_dir(o, dir) || !find_out(o, out)) {
		status = fail(EXIT_GRADER, "OUT is too long a path");
	} else if (!hint_show(dir, out, labs[0], test, stdout)) {
		snprintf(error, sizeof(error), "the hints in %.300s: %s", dir, strerror(errno));
		status = fail(EXIT_GRADER, error);
	}
	while (count)
		lab_free(labs[--count]);
	free(labs);
	return status;
}

/* The command that repeats this run. */
static void command_again(const struct options *o, char *text, size_t size)
{
	char step[16];

	snprintf(text, size, "make grade");
	choice_append(text, size, "LAB", o->lab);
	if (strcmp(o->from, "labs"))
		choice_append(text, size, "FROM", o->from);
	if (o->test)
		choice_append(text, size, "TEST", o->test);
	if (o->step) {
		snprintf(step, sizeof(step), "%u", o->step);
		choice_append(text, size, "STEP", step);
	}
	if (o->chain)
		choice_append(text, size, "CHAIN", "1");
}

static int grade_all(const struct options *o, struct run_config *config, struct result *result)
{
	char command[RUN_PATH], path[RUN_PATH], hints[RUN_PATH];
	struct grade grade = { .options = o, .config = config, .result = result,
			       .hints = hints_dir(o, hints), .together = config->guests };
	enum run_end end;

	/* From here on the result of an earlier run must not be taken for this run's. */
	if (!run_path(path, "%s/result.json", config->out) || !result_write(result, path))
		return fail(EXIT_GRADER, strerror(errno));
	/* The guests are for the labs side by side, or for a single one. */
	if (result->lab_count > 1)
		config->guests = 1;
	end = grade_labs(&grade);
	result->complete = end == RUN_DONE;
	if (!result_write(result, path))
		return fail(EXIT_GRADER, strerror(errno));
	if (end == RUN_INTERRUPTED)
		return fail(EXIT_GRADER, "interrupted");
	if (end == RUN_HOST)
		return EXIT_GRADER;
	command_again(o, command, sizeof(command));
	report_end(stdout, result, o->debug, command);
	return end == RUN_DONE ? EXIT_GRADED : EXIT_GRADER;
}

/* Removes links from all that this run writes to. */
static bool own_results(const struct result *result, const char *out, char error[RUN_ERROR])
{
	size_t i;

	for (i = 0; i < result->lab_count; i++)
		if (!machine_unlink(out, result->labs[i].lab->name, error, RUN_ERROR))
			return false;
	return machine_unlink(out, "hints", error, RUN_ERROR) &&
	       machine_unlink(out, "result.json.part", error, RUN_ERROR);
}

/* Two guests on one processor would only wait for each other. */
static unsigned int guests(const struct options *o)
{
	return sysconf(_SC_NPROCESSORS_ONLN) > 1 ? o->guests : 1;
}

static int grade(const struct options *o)
{
	char error[RUN_ERROR] = "a path is too long", out[RUN_PATH], from[RUN_PATH];
	struct result result = { .lock = PTHREAD_MUTEX_INITIALIZER, .seed = o->seed };
	struct run_config config = {
		.build = o->build, .labs = LABS_DIR, .from = from, .out = out,
		.glob = o->test, .debug = o->debug, .chain = o->chain,
		.stop_on_fail = o->stop_on_fail, .guests = guests(o), .scale = machine_scale(),
		.compose_driver = "kernel/compose-lab.sh",
		.debug_info = "kernel/debug-info.sh",
		.compose_library = "userspace/compose-lab.sh",
		.guest = real_guest, .guest_done = guest_vm_fini,
	};
	int status = EXIT_GRADER;
	struct lab **labs;
	size_t count, i;

	labs = load_labs(o->lab, &count, error);
	if (!labs)
		return fail(EXIT_USAGE, error);
	config.interrupt_fd = machine_interrupts();
	result.labs = calloc(count, sizeof(*result.labs));
	for (i = 0; result.labs && i < count && result_init(&result.labs[i], labs[i]); i++)
		result.lab_count++;
	if (!find_out(o, out))
		fail(status, error);
	else if (result.lab_count < count)
		fail(status, "out of memory");
	else if (!choice_from(o->from, error, sizeof(error)) ||
		 (o->out && !choice_out(o->out, error, sizeof(error))) ||
		 !choice_apart(o->from, out, error, sizeof(error)) ||
		 !choice_tests(&result, o->test, o->step, error, sizeof(error)))
		status = fail(EXIT_USAGE, error);
	else if (!choice_plain(o->from, from, sizeof(from)))
		status = fail(EXIT_USAGE, strerror(errno));
	else if (config.interrupt_fd < 0 || (!o->seeded && !params_seed(&result.seed)))
		fail(status, strerror(errno));
	else if (!find_build(o, error) ||
		 !machine_kernel(o->build, o->debug, result.kernel, sizeof(result.kernel), error,
				 sizeof(error)) || !machine_claim(out, error, sizeof(error)) ||
		 !own_results(&result, out, error))
		fail(status, error);
	else
		status = grade_all(o, &config, &result);
	for (i = 0; i < result.lab_count; i++)
		result_free(&result.labs[i]);
	free(result.labs);
	while (count)
		lab_free(labs[--count]);
	free(labs);
	return status;
}

/*
 * Nobody has a report that could not be written.  A reader who closed the pipe has read what
 * it wanted.
 */
static int report_written(int status)
{
	struct pollfd out = { .fd = STDOUT_FILENO };
	bool failed = fflush(stdout) || ferror(stdout);

	if (!failed || (poll(&out, 1, 0) == 1 && out.revents & POLLERR))
		return status;
	return fail(status == EXIT_GRADED ? EXIT_GRADER : status, "the report could not be written");
}

int main(int argc, char **argv)
{
	struct options options;

	if (!stdio_fill())
		return EXIT_GRADER;
	if (!options_parse(&options, argc, argv))
		return EXIT_USAGE;
	switch (options.command) {
	case COMMAND_HELP:
		options_help();
		return report_written(EXIT_GRADED);
	case COMMAND_LIST:
		return report_written(list(&options));
	case COMMAND_HINT:
		return report_written(hint(&options));
	case COMMAND_GRADE:
		break;
	}
	return report_written(grade(&options));
}
