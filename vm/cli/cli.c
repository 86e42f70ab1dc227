// SPDX-License-Identifier: MIT
/*
 * agate-vm: start a guest, do some steps in it, report, stop.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "agate_stdio.h"
#include "cli.h"

#define SIM_ARGS_MAX	32
#define TAIL_LINES	60
#define CONSOLE_MAX	(64u << 20)
#define OUTPUT_MIB	64

static const char usage[] =
"usage: agate-vm run|shell --kernel DIR --initramfs FILE [OPTION]... [STEP]...\n"
"\n"
"  --kernel DIR       what guest/build-kernel.sh printed\n"
"  --initramfs FILE   what guest/mkinitramfs.sh made\n"
"  --sim PROGRAM      the GPU's process; without it the guest has no GPU\n"
"  --gpus N           1 or 2 GPUs, a process each (default 1)\n"
"  --card             each GPU is a card (hardware.md, section 6); of which there is:\n"
"  --vram MIB         its memory\n"
"  --vram-visible MIB what the guest's CPUs see of that\n"
"  --dma-bits N       how wide the addresses are that it can use\n"
"  --ggtt-64k         its engines use VRAM in groups of 64 KiB\n"
"  --sim-arg ARG      one further argument for each (may be repeated)\n"
"  --sim-log FILE     the event log; FILE.1 is the second GPU's\n"
"  --sim-trace FILE   the same as a trace, for ui.perfetto.dev\n"
"  --seed N           the seed, 32 bits (default 1); the second GPU's is one more\n"
"  --cold             boot, instead of restoring the snapshot\n"
"  --ram MIB          instead of what the kernel's build wants\n"
"  --append TEXT      more for the kernel's command line\n"
"  --accel auto|tcg|kvm   default: $ACCEL, else auto\n"
"  --realtime         QEMU and the GPU go before all usual processes, if permitted\n"
"  --timeout S        end the run after S seconds, not counting those in which it makes\n"
"                     a snapshot, or the guest waits for a processor\n"
"  --output-max MIB   drop what programs write beyond (default 64)\n"
"  --console FILE     what the guest's kernel prints; - for standard error\n"
"  --gdb SOCKET       serve a debugger there: gdb -ex 'target remote SOCKET' vmlinux\n"
"  --gdb-wait         and the guest stands still until it is told to go on\n"
"  --timings FILE     write how long each part took, as JSON\n"
"\n"
"Steps, done in order; the first that fails ends the run:\n"
"  put:SRC:DST[:MODE]     host file into the guest (mode octal, default 755)\n"
"  get:SRC:DST            guest file to the host\n"
"  exec:COMMAND           by the guest's /bin/sh; output to ours\n"
"  exec-within:MS:COMMAND the same, killed after MS milliseconds, not counting those in\n"
"                         which the guest waits for a processor\n"
"  health                 how the guest's kernel is: its checks, and the memory left\n"
"  kill-sim[=N]           SIGKILL the process of GPU N now: 0, the default, or 1\n"
"  kill-sim-on[=N]:TEXT   ... when TEXT is in the output of the next exec\n"
"  gpu[=N]:REQUEST        one for the process of GPU N, as JSON (hardware.md, section 8.4)\n"
"  poweroff               switch the guest off in good order; the last step\n"
"`shell` ends with an interactive shell after the steps.\n"
"\n"
"Exit status: that of the exec that failed (signals: 128 + n), or 240 guest kernel\n"
"panicked or reset, 241 out of time, 242 QEMU ended or the guest switched off, 243\n"
"failure on the host's side (a file, QEMU, a GPU process that ended), 244 refused by\n"
"the guest, 245 usage, 246 interrupted.\n";

static int console_fd = -1;
static size_t console_left = CONSOLE_MAX;

/* A driver in a loop can print for ever: keep the beginning, which shows the cause. */
static void console(void *arg, const char *text, size_t len)
{
	static const char dropped[] = "\n[agate-vm: too much output, the rest is dropped]\n";

	if (len >= console_left) {
		if (console_left)
			cli_write(arg, console_fd, dropped, sizeof(dropped) - 1);
		len = console_left = 0;
	}
	console_left -= len;
	cli_write(arg, console_fd, text, len);
}

static void progress(void *arg, const char *what)
{
	(void)arg;
	fprintf(stderr, "  %-8s %s\n", "VM", what);
}

static int bad_usage(const char *what, const char *arg)
{
	fprintf(stderr, "agate-vm: %s%s%s\n\n%s", what, arg ? ": " : "", arg ? arg : "", usage);
	return EXIT_USAGE;
}

static bool number(const char *text, unsigned long max, unsigned long *value)
{
	char *end;

	errno = 0;
	*value = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *value <= max;
}

static bool parse_accel(const char *text, enum vm_accel *accel)
{
	static const char *const names[] = { "auto", "tcg", "kvm" };

	for (int i = 0; i < 3; i++) {
		if (!strcmp(text, names[i])) {
			*accel = (enum vm_accel)i;
			return true;
		}
	}
	return false;
}

enum { OPT_KERNEL = 256, OPT_INITRAMFS, OPT_SIM, OPT_GPUS, OPT_CARD, OPT_SIM_ARG, OPT_SIM_LOG,
       OPT_SIM_TRACE, OPT_SEED, OPT_COLD, OPT_RAM, OPT_APPEND, OPT_ACCEL, OPT_REALTIME,
       OPT_TIMEOUT, OPT_OUTPUT_MAX, OPT_CONSOLE, OPT_GDB, OPT_GDB_WAIT, OPT_TIMINGS };

static const struct option options[] = {
	{ "kernel", required_argument, NULL, OPT_KERNEL },
	{ "initramfs", required_argument, NULL, OPT_INITRAMFS },
	{ "sim", required_argument, NULL, OPT_SIM },
	{ "gpus", required_argument, NULL, OPT_GPUS },
	{ "card", no_argument, NULL, OPT_CARD },
	{ "vram", required_argument, NULL, OPT_CARD },
	{ "vram-visible", required_argument, NULL, OPT_CARD },
	{ "dma-bits", required_argument, NULL, OPT_CARD },
	{ "ggtt-64k", no_argument, NULL, OPT_CARD },
	{ "sim-arg", required_argument, NULL, OPT_SIM_ARG },
	{ "sim-log", required_argument, NULL, OPT_SIM_LOG },
	{ "sim-trace", required_argument, NULL, OPT_SIM_TRACE },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "cold", no_argument, NULL, OPT_COLD },
	{ "ram", required_argument, NULL, OPT_RAM },
	{ "append", required_argument, NULL, OPT_APPEND },
	{ "accel", required_argument, NULL, OPT_ACCEL },
	{ "realtime", no_argument, NULL, OPT_REALTIME },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "output-max", required_argument, NULL, OPT_OUTPUT_MAX },
	{ "console", required_argument, NULL, OPT_CONSOLE },
	{ "gdb", required_argument, NULL, OPT_GDB },
	{ "gdb-wait", no_argument, NULL, OPT_GDB_WAIT },
	{ "timings", required_argument, NULL, OPT_TIMINGS },
	{ "help", no_argument, NULL, 'h' },
	{ 0 }
};

static bool open_console(const char *path)
{
	console_fd = STDERR_FILENO;
	if (strcmp(path, "-"))
		console_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return console_fd >= 0;
}

/* An option with a number; NULL, or what is wrong with it. */
static const char *number_option(struct cli *cli, int opt)
{
	struct vm_config *cfg = &cli->cfg;
	unsigned long n = 0;

	switch (opt) {
	case OPT_GPUS:
		if (!number(optarg, VM_GPUS_MAX, &n) || !n)
			return "--gpus is not 1 or 2";
		cfg->gpus = (unsigned int)n;
		return NULL;
	case OPT_SEED:
		if (!number(optarg, UINT32_MAX, &n))
			return "--seed is not a number below 2^32";
		cfg->seed = (uint32_t)n;
		return NULL;
	case OPT_RAM:
		if (!number(optarg, VM_RAM_MAX_MIB, &n) || !n)
			return "--ram is not 1 to 2047";
		cfg->ram_mib = (unsigned int)n;
		return NULL;
	case OPT_TIMEOUT:
		if (!number(optarg, 4000000, &n))
			return "--timeout is not a number of seconds";
		cfg->timeout_ms = (unsigned int)n * 1000;
		return NULL;
	case OPT_OUTPUT_MAX:
		if (!number(optarg, 4095, &n))
			return "--output-max is not a number of MiB";
		cli->output_max = n << 20;
		return NULL;
	}
	return "unknown option";
}

/* The arguments of the GPU's process that the command line gives. */
struct sim_args {
	const char **list;
	size_t n;
};

static const char *sim_arg(struct sim_args *args, const char *text)
{
	if (args->n == SIM_ARGS_MAX)
		return "too many --sim-arg";
	args->list[args->n++] = text;
	return NULL;
}

/* An option that the GPU's process has, too: it judges the value. */
static const char *card_option(struct sim_args *args, int index)
{
	static char names[sizeof(options) / sizeof(options[0])][32];
	const char *wrong;

	snprintf(names[index], sizeof(names[index]), "--%s", options[index].name);
	wrong = sim_arg(args, names[index]);
	if (!wrong && options[index].has_arg)
		wrong = sim_arg(args, optarg);
	return wrong;
}

/* One option; NULL, or what is wrong with it. */
static const char *option(struct cli *cli, int opt, int index, struct sim_args *sim_args)
{
	struct vm_config *cfg = &cli->cfg;

	switch (opt) {
	case OPT_KERNEL:
		cfg->kernel_dir = optarg;
		return NULL;
	case OPT_INITRAMFS:
		cfg->initramfs = optarg;
		return NULL;
	case OPT_SIM:
		cfg->sim = optarg;
		return NULL;
	case OPT_SIM_ARG:
		return sim_arg(sim_args, optarg);
	case OPT_CARD:
		return card_option(sim_args, index);
	case OPT_SIM_LOG:
		cfg->sim_log = optarg;
		return NULL;
	case OPT_SIM_TRACE:
		cfg->sim_trace = optarg;
		return NULL;
	case OPT_COLD:
		cfg->cold = true;
		return NULL;
	case OPT_APPEND:
		cfg->append = optarg;
		return NULL;
	case OPT_ACCEL:
		return parse_accel(optarg, &cfg->accel) ? NULL : "unknown --accel";
	case OPT_REALTIME:
		cfg->realtime = true;
		return NULL;
	case OPT_CONSOLE:
		return open_console(optarg) ? NULL : "cannot write --console";
	case OPT_GDB:
		cfg->gdb = optarg;
		return NULL;
	case OPT_GDB_WAIT:
		cfg->gdb_wait = true;
		return NULL;
	case OPT_TIMINGS:
		cli->timings = optarg;
		return NULL;
	}
	return number_option(cli, opt);
}

/* 0, or the exit status. */
static int parse(struct cli *cli, int argc, char **argv, const char **sim_args)
{
	const char *env = getenv("ACCEL"), *wrong;
	struct sim_args args = { .list = sim_args };
	int opt, index = 0;

	if (argc < 2 || (strcmp(argv[1], "run") && strcmp(argv[1], "shell")))
		return bad_usage("the first word is run or shell", NULL);
	cli->shell = !strcmp(argv[1], "shell");
	if (env && *env && !parse_accel(env, &cli->cfg.accel))
		return bad_usage("unknown ACCEL", env);
	opterr = 0;
	optind = 2;
	while ((opt = getopt_long(argc, argv, "+h", options, &index)) != -1) {
		if (opt == 'h') {
			fputs(usage, stdout);
			exit(0);
		}
		if (opt == '?')
			return bad_usage("unknown or incomplete option", argv[optind - 1]);
		wrong = option(cli, opt, index, &args);
		if (wrong)
			return bad_usage(wrong, NULL);
	}
	for (; optind < argc; optind++) {
		if (!step_valid(argv[optind]))
			return bad_usage("not a step", argv[optind]);
		if (cli->nsteps == STEPS_MAX)
			return bad_usage("too many steps", NULL);
		cli->steps[cli->nsteps++].text = argv[optind];
	}
	if (!cli->cfg.kernel_dir || !cli->cfg.initramfs)
		return bad_usage("--kernel and --initramfs are needed", NULL);
	if (cli->cfg.gpus && !cli->cfg.sim)
		return bad_usage("--gpus needs --sim", NULL);
	if (args.n && !cli->cfg.sim)
		return bad_usage("an option of the GPU's process needs --sim", NULL);
	if (cli->cfg.gdb_wait && !cli->cfg.gdb)
		return bad_usage("--gdb-wait needs --gdb", NULL);
	return 0;
}

uint64_t cli_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static bool write_timings(const struct cli *cli, uint64_t total)
{
	const struct vm_times *t = vm_start_times(cli->vm);
	json_t *steps = json_array(), *all;
	bool ok;

	for (size_t i = 0; i < cli->done; i++)
		json_array_append_new(steps, json_pack("{s:s, s:I}", "step", cli->steps[i].text,
						       "ns", (json_int_t)cli->steps[i].ns));
	all = json_pack("{s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:o, s:I}",
			"accel", t->kvm ? "kvm" : "tcg", "cold", cli->cfg.cold,
			"snapshot_made_ns", (json_int_t)t->snapshot_made,
			"sim_ready_ns", (json_int_t)t->sim_ready,
			"restored_ns", (json_int_t)t->restored,
			"plugged_ns", (json_int_t)t->plugged,
			"ready_ns", (json_int_t)t->ready,
			"steps", steps, "total_ns", (json_int_t)total);
	ok = all && !json_dump_file(all, cli->timings, JSON_INDENT(2));
	json_decref(all);
	if (!ok)
		fprintf(stderr, "agate-vm: cannot write %s\n", cli->timings);
	return ok;
}

/* The end of the kernel's log: a panic's reason is there. */
static void print_tail(const char *log)
{
	const char *p = log + strlen(log);
	int lines = 0;

	while (p > log && (p[-1] != '\n' || ++lines <= TAIL_LINES))
		p--;
	fprintf(stderr, "--- the guest's console, last lines\n%s---\n", p);
}

static int exit_status(const struct cli *cli, enum vm_status st)
{
	static const int status[] = {
		[VM_OK] = 0, [VM_HOST] = EXIT_HOST, [VM_REFUSED] = EXIT_REFUSED,
		[VM_CRASHED] = EXIT_CRASHED, [VM_TIMEOUT] = EXIT_TIMED_OUT,
		[VM_LOST] = EXIT_LOST, [VM_POWEROFF] = EXIT_LOST,
		[VM_INTERRUPTED] = EXIT_INTERRUPTED,
	};

	if (st == VM_OK)
		return 0;
	fprintf(stderr, "agate-vm: %s\n", cli->vm ? vm_error(cli->vm) : "out of memory");
	if (cli->vm && (st == VM_CRASHED || st == VM_TIMEOUT) && console_fd != STDERR_FILENO)
		print_tail(vm_console(cli->vm));
	return status[st];
}

static enum vm_status run_shell(struct cli *cli, int *exit_code)
{
	const char *const argv[] = { "/bin/sh", "-l", NULL };
	enum vm_status st = vm_shell(cli->vm, argv, exit_code);

	if (st == VM_POWEROFF) {	/* a way to leave a shell like any other */
		*exit_code = 0;
		st = VM_OK;
	}
	return st;
}

static int run(struct cli *cli)
{
	uint64_t start = cli_now(), step;
	int exit_code = 0, status;
	enum vm_status st;

	st = vm_start(&cli->cfg, &cli->vm);
	for (size_t i = 0; st == VM_OK && !exit_code && i < cli->nsteps; i++) {
		cli->done = i + 1;
		step = cli_now();
		st = step_run(cli, cli->steps[i].text, &exit_code);
		cli->steps[i].ns = cli_now() - step;
	}
	if (st == VM_OK && !exit_code && cli->shell)
		st = run_shell(cli, &exit_code);
	status = exit_status(cli, st);
	if (cli->vm && vm_sim_failed(cli->vm)) {
		fprintf(stderr, "agate-vm: a GPU's process ended before the run did\n");
		status = status ? status : EXIT_HOST;
	}
	if (cli->vm && cli->timings && !write_timings(cli, cli_now() - start) && !status)
		status = EXIT_HOST;
	vm_stop(cli->vm);
	return status ? status : exit_code;
}

int main(int argc, char **argv)
{
	static const char *sim_args[SIM_ARGS_MAX + 1];
	static struct cli cli = { .cfg = { .seed = 1, .sim_args = sim_args, .progress = progress },
				  .output_max = (size_t)OUTPUT_MIB << 20 };
	sigset_t set;
	int status;

	if (!stdio_fill())
		return EXIT_HOST;
	/* The reader of our output may go away; that must not make us leave a guest behind. */
	signal(SIGPIPE, SIG_IGN);
	status = parse(&cli, argc, argv, sim_args);
	if (status)
		return status;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	cli.cfg.interrupt_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	cli.cfg.arg = &cli;
	if (console_fd >= 0)
		cli.cfg.console = console;
	return run(&cli);
}
