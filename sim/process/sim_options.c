// SPDX-License-Identifier: MIT
/*
 * The process's command line.  The launcher writes it, so there are no short
 * options and every needed one must be there.
 */
#include "sim_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_LOG_LIMIT_MIB	256
#define MAX_VRAM_MIB		512	/* a loss of power fills it all: well below a second */
#define MIN_DMA_BITS		24

enum option_id {
	OPT_BAR2_FD,
	OPT_DOORBELL_FD,
	OPT_VECTOR_FDS,
	OPT_RAM_FD,
	OPT_RAM,
	OPT_READY_FD,
	OPT_CONTROL_FD,
	OPT_GPU,
	OPT_GPU_ID,
	OPT_LOG,
	OPT_LOG_LEVEL,
	OPT_LOG_LIMIT,
	OPT_TRACE,
	OPT_SEED,
	OPT_POWER_IN,
	OPT_POWER_LATENCY,
	OPT_RESET_LATENCY,
	OPT_HARD_RESET_LATENCY,
	OPT_AS_LATENCY,
	OPT_STOP_LATENCY,
	OPT_INJECT,
	OPT_TLB_ENTRIES,
	OPT_COHERENCY,
	OPT_L2_SIZE,
	OPT_IDLE_FROM_HOST,
	OPT_CARD,
	OPT_VRAM,
	OPT_VRAM_VISIBLE,
	OPT_DMA_BITS,
	OPT_GGTT_64K,
	OPT_SCANOUT_DIR,
	OPT_NUMBER,
};

static const struct option option_table[] = {
	{ "bar2-fd", required_argument, NULL, OPT_BAR2_FD },
	{ "doorbell-fd", required_argument, NULL, OPT_DOORBELL_FD },
	{ "vector-fds", required_argument, NULL, OPT_VECTOR_FDS },
	{ "ram-fd", required_argument, NULL, OPT_RAM_FD },
	{ "ram", required_argument, NULL, OPT_RAM },
	{ "ready-fd", required_argument, NULL, OPT_READY_FD },
	{ "control-fd", required_argument, NULL, OPT_CONTROL_FD },
	{ "gpu", required_argument, NULL, OPT_GPU },
	{ "gpu-id", required_argument, NULL, OPT_GPU_ID },
	{ "log", required_argument, NULL, OPT_LOG },
	{ "log-level", required_argument, NULL, OPT_LOG_LEVEL },
	{ "log-limit", required_argument, NULL, OPT_LOG_LIMIT },
	{ "trace", required_argument, NULL, OPT_TRACE },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "power-in", required_argument, NULL, OPT_POWER_IN },
	{ "power-latency", required_argument, NULL, OPT_POWER_LATENCY },
	{ "reset-latency", required_argument, NULL, OPT_RESET_LATENCY },
	{ "hard-reset-latency", required_argument, NULL, OPT_HARD_RESET_LATENCY },
	{ "as-latency", required_argument, NULL, OPT_AS_LATENCY },
	{ "stop-latency", required_argument, NULL, OPT_STOP_LATENCY },
	{ "inject", required_argument, NULL, OPT_INJECT },
	{ "tlb-entries", required_argument, NULL, OPT_TLB_ENTRIES },
	{ "coherency", required_argument, NULL, OPT_COHERENCY },
	{ "l2-size", required_argument, NULL, OPT_L2_SIZE },
	{ "idle-from-host", no_argument, NULL, OPT_IDLE_FROM_HOST },
	{ "card", no_argument, NULL, OPT_CARD },
	{ "vram", required_argument, NULL, OPT_VRAM },
	{ "vram-visible", required_argument, NULL, OPT_VRAM_VISIBLE },
	{ "dma-bits", required_argument, NULL, OPT_DMA_BITS },
	{ "ggtt-64k", no_argument, NULL, OPT_GGTT_64K },
	{ "scanout-dir", required_argument, NULL, OPT_SCANOUT_DIR },
	{ "number", required_argument, NULL, OPT_NUMBER },
	{ 0 }
};

static const char usage[] =
	"usage: agate-sim --bar2-fd N --doorbell-fd N --vector-fds A,B,C,D\n"
	"                 --ram-fd N --ram GPA:SIZE:OFFSET[,...] --ready-fd N\n"
	"                 [--gpu midgard|bifrost] [--gpu-id HEX] [--seed N] [--tlb-entries N]\n"
	"                 [--coherency ace|ace-lite|none] [--l2-size BYTES]\n"
	"                 [--log FILE] [--log-level events|walks|all] [--log-limit MIB]\n"
	"                 [--trace FILE]\n"
	"                 [--number N] [--control-fd N] [--power-in on|off] [--power-latency CYCLES]\n"
	"                 [--reset-latency CYCLES] [--hard-reset-latency CYCLES]\n"
	"                 [--as-latency CYCLES] [--stop-latency CYCLES]\n"
	"                 [--inject KIND:N[:ARG][,...]] [--idle-from-host]\n"
	"                 [--card [--vram MIB] [--vram-visible MIB] [--dma-bits N] [--ggtt-64k]\n"
	"                  [--scanout-dir FOLDER]]\n"
	"CYCLES is a number, 0 for the default, or \"stuck\".\n"
	"An injection strikes the N-th time, once:\n"
	"  drop-irq:N[:VECTOR]           a message is not sent\n"
	"  delay-irq:N:CYCLES[:VECTOR]   it is sent so much later\n"
	"  stick-as:N                    an AS command never completes\n"
	"  fail-power:N                  a power-up ends with the cores off\n"
	"  corrupt-header:N[:MASK]       a job header is written back wrong\n"
	"  refuse-clock:N                CLK_SELECT or VOLT_SELECT keeps its value\n"
	"  fail-mover:N[:REASON]         a command of the card's mover fails\n"
	"  fail-fw:N                     the card refuses its firmware\n"
	"  fail-flip:N                   a frame is not shown\n"
	"  die:N                         the process is killed at the N-th event\n"
	"VECTOR is gpu, job, mmu or card: only its messages count.\n"
	"--idle-from-host lets model time pass as the host's clock does while the GPU has no\n"
	"work, for people who watch: such a run cannot be repeated.\n"
	"--card makes the GPU a card: with MIB of VRAM, of which BAR2 shows the given part (by\n"
	"default both are all that BAR2 has room for), with system addresses of N bits, 24 to 40,\n"
	"and with engines that use VRAM in groups of 64 KiB.\n"
	"The frames that it shows are written to FOLDER, as frame-00001.png and so on; after\n"
	"--number 1, for a guest's second GPU, as gpu1-frame-00001.png.\n";

static bool parse_u32(const char *text, int base, uint32_t *value)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, base);
	if (errno || end == text || *end || *text == '-' || number > UINT32_MAX)
		return false;
	*value = (uint32_t)number;
	return true;
}

static bool parse_latency(const char *text, uint32_t *cycles)
{
	if (!strcmp(text, "stuck")) {
		*cycles = AGATE_SIM_LATENCY_STUCK;
		return true;
	}
	return parse_u32(text, 0, cycles) && *cycles != AGATE_SIM_LATENCY_STUCK;
}

static bool parse_fd(const char *text, int *fd)
{
	uint32_t value;

	if (!parse_u32(text, 10, &value) || value > INT32_MAX)
		return false;
	*fd = (int)value;
	return true;
}

static bool parse_vectors(const char *text, int fds[AGATE_NUM_VECTORS])
{
	char after;

	/* %c matches only when text is left over. */
	return sscanf(text, "%d,%d,%d,%d%c", &fds[0], &fds[1], &fds[2], &fds[3], &after) ==
	       AGATE_NUM_VECTORS;
}

static bool parse_gpu(const char *text, enum agate_sim_gpu *gpu)
{
	*gpu = strcmp(text, "bifrost") ? AGATE_SIM_MIDGARD : AGATE_SIM_BIFROST;
	return !strcmp(text, "bifrost") || !strcmp(text, "midgard");
}

static bool parse_coherency(const char *text, enum agate_sim_coherency *coherency)
{
	static const char *const names[] = {
		[AGATE_SIM_COHERENCY_ACE] = "ace", [AGATE_SIM_COHERENCY_ACE_LITE] = "ace-lite",
		[AGATE_SIM_COHERENCY_NONE] = "none",
	};
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(text, names[i])) {
			*coherency = i;
			return true;
		}
	return false;
}

static bool parse_level(const char *text, enum log_level *level)
{
	static const char *const names[] = {
		[LOG_EVENTS] = "events", [LOG_WALKS] = "walks", [LOG_ALL] = "all",
	};
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(text, names[i])) {
			*level = i;
			return true;
		}
	return false;
}

static bool parse_limit(const char *text, uint64_t *bytes)
{
	uint32_t mib;

	if (!parse_u32(text, 10, &mib))
		return false;
	*bytes = (uint64_t)mib << 20;
	return true;
}

/* At least 1 MiB, and at most what is sensible to allocate. */
static bool parse_vram(const char *text, uint64_t *bytes)
{
	return parse_limit(text, bytes) && *bytes && *bytes <= (uint64_t)MAX_VRAM_MIB << 20;
}

static bool parse_dma_bits(const char *text, unsigned int *bits)
{
	uint32_t n;

	if (!parse_u32(text, 10, &n) || n < MIN_DMA_BITS || n > AGATE_PHYS_BITS)
		return false;
	*bits = n;
	return true;
}

static bool parse_ram(const char *text, struct ram *ram)
{
	const char *why = ram_parse(ram, text);

	if (why)
		fprintf(stderr, "agate-sim: %s\n", why);
	return !why;
}

static bool parse_injections(const char *text, struct injections *injections)
{
	const char *why = inject_parse(text, injections);

	if (why)
		fprintf(stderr, "agate-sim: %s\n", why);
	return !why;
}

static bool option_set(struct options *o, int id, const char *text)
{
	switch (id) {
	case OPT_BAR2_FD:
		return parse_fd(text, &o->bar2_fd);
	case OPT_DOORBELL_FD:
		return parse_fd(text, &o->doorbell_fd);
	case OPT_VECTOR_FDS:
		return parse_vectors(text, o->vector_fd);
	case OPT_RAM_FD:
		return parse_fd(text, &o->ram_fd);
	case OPT_RAM:
		return parse_ram(text, &o->ram);
	case OPT_READY_FD:
		return parse_fd(text, &o->ready_fd);
	case OPT_CONTROL_FD:
		return parse_fd(text, &o->control_fd);
	case OPT_GPU:
		return parse_gpu(text, &o->config.gpu);
	case OPT_GPU_ID:
		return parse_u32(text, 16, &o->config.gpu_id);
	case OPT_LOG:
		o->log_path = text;
		return true;
	case OPT_LOG_LEVEL:
		return parse_level(text, &o->log_level);
	case OPT_LOG_LIMIT:
		return parse_limit(text, &o->log_limit);
	case OPT_TRACE:
		o->trace_path = text;
		return true;
	case OPT_SEED:
		return parse_u32(text, 0, &o->config.seed);
	case OPT_POWER_IN:
		o->config.power_in_off = !strcmp(text, "off");
		return o->config.power_in_off || !strcmp(text, "on");
	case OPT_POWER_LATENCY:
		return parse_latency(text, &o->config.power_latency);
	case OPT_RESET_LATENCY:
		return parse_latency(text, &o->config.reset_latency);
	case OPT_HARD_RESET_LATENCY:
		return parse_latency(text, &o->config.hard_reset_latency);
	case OPT_AS_LATENCY:
		return parse_latency(text, &o->config.as_latency);
	case OPT_STOP_LATENCY:
		return parse_latency(text, &o->config.stop_latency);
	case OPT_INJECT:
		return parse_injections(text, &o->injections);
	case OPT_TLB_ENTRIES:
		return parse_u32(text, 0, &o->config.tlb_entries);
	case OPT_COHERENCY:
		return parse_coherency(text, &o->config.coherency);
	case OPT_L2_SIZE:
		return parse_u32(text, 0, &o->config.l2_size);
	case OPT_IDLE_FROM_HOST:
		o->idle_from_host = true;
		return true;
	case OPT_CARD:
		o->config.card = true;
		return true;
	case OPT_VRAM:
		return parse_vram(text, &o->config.vram_total);
	case OPT_VRAM_VISIBLE:
		return parse_vram(text, &o->vram_visible);
	case OPT_DMA_BITS:
		return parse_dma_bits(text, &o->config.dma_bits);
	case OPT_GGTT_64K:
		o->config.ggtt_64k = true;
		return true;
	case OPT_SCANOUT_DIR:
		o->scanout_dir = text;
		return true;
	case OPT_NUMBER:
		return parse_u32(text, 10, &o->number);
	}
	return false;
}

static bool options_complete(const struct options *o)
{
	return o->bar2_fd >= 0 && o->doorbell_fd >= 0 && o->vector_fd[0] >= 0 &&
	       o->ram_fd >= 0 && o->ram.count && o->ready_fd >= 0;
}

/* What is said of a card wants a card. */
static bool options_of_a_card(const struct options *o)
{
	const struct agate_sim_config *config = &o->config;

	return config->card || (!config->vram_total && !o->vram_visible && !config->dma_bits &&
				!config->ggtt_64k && !o->scanout_dir);
}

bool options_parse(struct options *o, int argc, char **argv)
{
	int id, index = 0;

	*o = (struct options){
		.bar2_fd = -1, .doorbell_fd = -1, .vector_fd = { -1, -1, -1, -1 },
		.ram_fd = -1, .ready_fd = -1, .control_fd = -1,
		.log_limit = (uint64_t)DEFAULT_LOG_LIMIT_MIB << 20,
	};
	while ((id = getopt_long(argc, argv, "", option_table, &index)) != -1) {
		if (id != '?' && option_set(o, id, optarg))
			continue;
		if (id != '?')
			fprintf(stderr, "agate-sim: wrong value for --%s: %s\n",
				option_table[index].name, optarg);
		fputs(usage, stderr);
		return false;
	}
	if (optind != argc || !options_complete(o) || !options_of_a_card(o)) {
		fputs(usage, stderr);
		return false;
	}
	return true;
}
