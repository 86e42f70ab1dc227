// SPDX-License-Identifier: MIT
/* A function that is on, a GPU that said who it is, and what stays of both. */
#include <stdio.h>
#include <unistd.h>

#include "function.h"
#include "graded.h"
#include "hardware.h"
#include "tests.h"
#include "topic.h"
#include "work.h"

/* BAR1 has the MSI-X table, which the kernel itself uses: a driver may leave it alone. */
static void check_owner(unsigned int bar)
{
	char owner[OWNER_LEN], expected[64];
	bool claimed = function_owner(bar, owner);

	snprintf(expected, sizeof(expected), "BAR%u is requested, by agate", bar);
	if (!claimed && bar != 1)
		broken(expected, "nobody has requested it");
	if (claimed && !strstr(owner, "agate"))
		broken(expected, "/proc/iomem has it under the name %s", owner);
}

void test_function(void **state)
{
	(void)state;
	driver_load();
	topic(TOPIC_WATCH, 0, 0);
	driver_take();

	rule("a driver that uses a function enables it, once");
	check_equal(function_number("enable"), 1, "how often the function is enabled");
	check_true(function_decodes(), "memory decoding is on", "it is off");
	rule("whoever uses a region of the bus requests it, so that nobody else does");
	for (unsigned int bar = 0; bar < BARS; bar++)
		check_owner(bar);
	rule("both DMA masks are as wide as the GPU's physical addresses: AGATE_PHYS_BITS");
	check_equal(function_number("dma_mask_bits"), AGATE_PHYS_BITS, "the streaming mask's bits");
	check_equal(function_number("consistent_dma_mask_bits"), AGATE_PHYS_BITS,
		    "the coherent mask's bits");
	rule("a GPU that reads and writes memory masters the bus");
	check_true(function_masters(), "bus mastering is on", "it is off");
	rule("mastering comes last on the way up: after it the GPU can write to memory");
	check_equal(topic_seen().masters_early, 0,
		    "calls of pci_set_master() before the regions or the DMA mask");
	rule("the GPU maps each page by itself: a segment may be as long as it likes");
	if (topic_segment() != UINT32_MAX)
		broken("a segment has at most UINT_MAX bytes", "at most %u", topic_segment());
	if (topic_value(TOPIC_BOUNDARY, 0, 0) != UINT32_MAX)
		broken("segments end at no boundary below 4 GiB, as the kernel has it for every function",
		       "at multiples of %#x", topic_value(TOPIC_BOUNDARY, 0, 0) + 1);
}

struct identity {
	const char *name;
	uint32_t param;
	uint32_t reg;
	bool wide;
	const char *observed;		/* as the grader knows it, or NULL */
};

#define REG(n)		.name = #n, .reg = GPU_##n
#define WIDE(n)		.name = #n, .reg = GPU_##n##_LO, .wide = true

static const struct identity identities[] = {
	{ REG(ID), .param = DRM_AGATE_PARAM_GPU_ID, .observed = "gpu_id" },
	{ REG(L2_FEATURES), .param = DRM_AGATE_PARAM_L2_FEATURES },
	{ REG(CORE_FEATURES), .param = DRM_AGATE_PARAM_CORE_FEATURES,
	  .observed = "core_features" },
	{ REG(TILER_FEATURES), .param = DRM_AGATE_PARAM_TILER_FEATURES },
	{ REG(MEM_FEATURES), .param = DRM_AGATE_PARAM_MEM_FEATURES, .observed = "mem_features" },
	{ REG(MMU_FEATURES), .param = DRM_AGATE_PARAM_MMU_FEATURES },
	{ REG(THREAD_FEATURES), .param = DRM_AGATE_PARAM_THREAD_FEATURES },
	{ REG(THREAD_MAX_THREADS), .param = DRM_AGATE_PARAM_MAX_THREADS,
	  .observed = "max_threads" },
	{ REG(THREAD_MAX_WORKGROUP_SIZE), .param = DRM_AGATE_PARAM_THREAD_MAX_WORKGROUP_SZ,
	  .observed = "max_workgroup_size" },
	{ REG(THREAD_MAX_BARRIER_SIZE), .param = DRM_AGATE_PARAM_THREAD_MAX_BARRIER_SZ,
	  .observed = "max_barrier_size" },
	{ REG(COHERENCY_FEATURES), .param = DRM_AGATE_PARAM_COHERENCY_FEATURES },
	{ REG(AS_PRESENT), .param = DRM_AGATE_PARAM_AS_PRESENT },
	{ REG(JS_PRESENT), .param = DRM_AGATE_PARAM_JS_PRESENT },
	{ WIDE(SHADER_PRESENT), .param = DRM_AGATE_PARAM_SHADER_PRESENT },
	{ WIDE(TILER_PRESENT), .param = DRM_AGATE_PARAM_TILER_PRESENT },
	{ WIDE(L2_PRESENT), .param = DRM_AGATE_PARAM_L2_PRESENT },
};

#define IDENTITIES	(sizeof(identities) / sizeof(identities[0]))

/* In the order of struct topic_identity, and of struct agate_identity. */
static const struct {
	const char *name;
	uint32_t reg;
} words[] = {
	{ "gpu_id", GPU_ID },
	{ "l2_features", GPU_L2_FEATURES },
	{ "core_features", GPU_CORE_FEATURES },
	{ "tiler_features", GPU_TILER_FEATURES },
	{ "mem_features", GPU_MEM_FEATURES },
	{ "mmu_features", GPU_MMU_FEATURES },
	{ "thread_features", GPU_THREAD_FEATURES },
	{ "max_threads", GPU_THREAD_MAX_THREADS },
	{ "max_workgroup_size", GPU_THREAD_MAX_WORKGROUP_SIZE },
	{ "max_barrier_size", GPU_THREAD_MAX_BARRIER_SIZE },
	{ "coherency_features", GPU_COHERENCY_FEATURES },
	{ "as_present", GPU_AS_PRESENT },
	{ "js_present", GPU_JS_PRESENT },
};

static const struct {
	const char *name;
	uint32_t reg;
} pairs[] = {
	{ "shader_present", GPU_SHADER_PRESENT_LO },
	{ "tiler_present", GPU_TILER_PRESENT_LO },
	{ "l2_present", GPU_L2_PRESENT_LO },
};

static void check_field(const char *field, uint64_t seen, uint64_t real)
{
	char expected[64];

	rule("adev->id.%s has what the register of that name says", field);
	if (seen == real)
		return;
	snprintf(expected, sizeof(expected), "%#llx, as the register reads",
		 (unsigned long long)real);
	broken(expected, "%#llx", (unsigned long long)seen);
}

/* The registers read topic_forged() of a seed, and one of them that of another seed. */
struct forgery {
	uint32_t seed;
	uint32_t odd_reg, odd_seed;
};

static uint32_t forged(const struct forgery *f, uint32_t reg)
{
	return topic_forged(reg == f->odd_reg ? f->odd_seed : f->seed, reg);
}

/* Each register reads a number of its own; the probe then fails where topics start. */
static void check_fields(const struct forgery *f)
{
	struct topic_seen seen;
	const uint32_t *word = &seen.identity.gpu_id;
	const __u64 *pair = &seen.identity.shader_present;
	char name[32];

	topic(TOPIC_FORGE, 0, f->seed);
	topic(TOPIC_FORGE_ONE, f->odd_reg, f->odd_seed);
	rule("a GPU may say anything of itself: it is remembered, and the probe goes on");
	check_errno(driver_bind(), EIO, "the probe, whose next step is made to fail");
	seen = topic_seen();
	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		check_field(words[i].name, word[i], forged(f, words[i].reg));
	for (unsigned int i = 0; i < 16; i++) {
		snprintf(name, sizeof(name), "js_features[%u]", i);
		check_field(name, seen.identity.js_features[i], forged(f, GPU_JS_FEATURES(i)));
	}
	for (unsigned int i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		check_field(pairs[i].name, pair[i], forged(f, pairs[i].reg) |
			    (uint64_t)forged(f, pairs[i].reg + 4) << 32);
}

/*
 * Another GPU each time, and what the driver read of an earlier one says nothing about it:
 * not even if all but one register, or GPU_ID, is the same.
 */
static void check_forgeries(uint32_t seed)
{
	uint32_t reg = words[1 + seed % (sizeof(words) / sizeof(words[0]) - 1)].reg;
	const struct forgery forgeries[] = {
		{ seed, GPU_ID, seed },
		{ seed, reg, ~seed },
		{ ~seed, GPU_ID, seed },
	};

	for (unsigned int i = 0; i < sizeof(forgeries) / sizeof(forgeries[0]); i++)
		check_fields(&forgeries[i]);
	topic_end();
}

/* The grader made up some of the values: no document has them. */
void test_identity(void **state)
{
	uint64_t real[IDENTITIES], told;
	int fd;

	(void)state;
	hardware_open();
	for (unsigned int i = 0; i < IDENTITIES; i++) {
		real[i] = hardware_read(identities[i].reg);
		if (identities[i].wide)
			real[i] |= (uint64_t)hardware_read(identities[i].reg + 4) << 32;
	}
	hardware_close();

	driver_load();
	driver_take();
	fd = guest_open();
	for (unsigned int i = 0; i < IDENTITIES; i++) {
		rule("GET_PARAM tells what GPU_%s says", identities[i].name);
		check_errno(work_param(fd, identities[i].param, &told), 0, "GET_PARAM");
		if (identities[i].observed)
			see(identities[i].observed, (int64_t)told);
		if (told != real[i]) {
			char expected[32];

			snprintf(expected, sizeof(expected), "%#llx, as the register reads",
				 (unsigned long long)real[i]);
			broken(expected, "%#llx", (unsigned long long)told);
		}
	}
	close(fd);
	rule("the driver lets the GPU go");
	check_errno(driver_unbind(), 0, "unbinding");
	check_forgeries((uint32_t)param("seed"));
}

/* Resets on leaving do not complete: that is no reason to keep anything. */
static void check_stuck_leave(void)
{
	driver_take();
	topic(TOPIC_WATCH, 0, 0);
	topic(TOPIC_STICK, 0, 1);
	rule("a GPU that is still there is left reset: when the soft reset on leaving sticks, a hard "
	     "one follows");
	check_errno(driver_unbind(), 0, "unbinding");
	check_at_least(topic_seen().hard_resets, 1, "GPU_CMD_HARD_RESET in GPU_CMD");

	topic(TOPIC_STICK, 0, 0);
	driver_take();
	topic(TOPIC_STICK, 0, 2);
	rule("a GPU whose resets do not complete: the driver lets go of the function all the same");
	check_errno(driver_unbind(), 0, "unbinding");
	check_nothing_taken();
	topic(TOPIC_STICK, 0, 0);
	check_left_clean("unbound from a GPU whose resets do not complete");

	topic(TOPIC_WATCH, 0, 0);
	driver_take();
	rule("a reset that did not complete says nothing about the next one: that begins with a soft "
	     "reset");
	check_equal(topic_seen().hard_resets, 0, "GPU_CMD_HARD_RESET in GPU_CMD");
	rule("the driver lets the GPU go");
	check_errno(driver_unbind(), 0, "unbinding");
}

/* Somebody else has enabled the function: pci_disable_device() then leaves mastering alone. */
static void check_enabled_before(void)
{
	rule("sysfs enables the function while no driver has it");
	check_errno(function_enable("1"), 0, "a 1 in its file `enable`");
	driver_take();
	rule("the driver lets the GPU go");
	check_errno(driver_unbind(), 0, "unbinding");
	check_as_found("unbound from a function that was enabled before the probe", 1);
	check_errno(function_enable("0"), 0, "a 0 in its file `enable`");
}

/*
 * What the driver's own lines allocate on the way up, and on the way down.  The topics do
 * not start here: they give some memory back only after seconds.
 */
static void check_memory(void)
{
	topic(TOPIC_WATCH, 0, 0);
	topic(TOPIC_ACCOUNT, 0, 0);
	topic(TOPIC_REHEARSE, 0, REHEARSE_MEMORY);
	rule("the way up and the way down, once more");
	check_errno(driver_bind(), ECANCELED, "the probe, in which they were called twice");
	rule("the kernel keeps the pointer to a handler's name, and no copy of it: the name stays until "
	     "the handler has been freed");
	check_equal(topic_seen().names_freed, 0, "names freed before free_irq()");
	rule("everything that was taken goes back when the driver leaves");
	check_taken(topic_seen().rehearsed_left);
	rule("everything that was taken goes back when the driver leaves, memory, too");
	check_nothing_kept();
}

/* When a driver goes, it closes what it opened and stops what it started. */
void test_quiet_leave(void **state)
{
	struct topic_seen seen;
	bool mastered;

	(void)state;
	hardware_open();
	hardware_write(GPU_TILER_CONFIG, 0xa6a7e);
	hardware_close();

	driver_load();
	topic(TOPIC_WATCH, 0, 0);
	driver_take();
	topic(TOPIC_WATCH, 0, 0);
	mastered = function_masters();
	rule("the driver lets the GPU go");
	check_errno(driver_unbind(), 0, "unbinding");
	seen = topic_seen();
	rule("the GPU may still be at work: it is reset before its access to memory is taken "
	     "away");
	check_at_least(seen.soft_resets + seen.hard_resets, 1,
		       "resets on leaving that reached the GPU");
	if (mastered)
		check_equal(seen.resets_cut_off, 0,
			    "resets of a function that does not master the bus any more");
	rule("unbound from the GPU: nothing of the driver is left");
	check_nothing_taken();
	check_left_clean("unbound from the GPU");

	rule("what was taken is given back in reverse: handlers, bus, function");
	check_equal(seen.detaches_early, 0,
		    "agate_bus_detach() with handlers still there, or the function disabled");
	rule("irq->irq is the number of an interrupt that is requested, and otherwise 0");
	check_equal(seen.numbers_left, 0, "numbers of interrupts that were freed");
	check_equal(seen.numbers_early, 0,
		    "calls of free_irq() for an interrupt whose irq->irq was 0 already");
	rule("agate_pci_fini() closes the mask of agate-gpu before it resets the GPU, and before it gives "
	     "back the first vector: nothing opens it any more");
	check_equal(seen.freed_open, 0, "calls of free_irq() with GPU_INT_MASK open");
	check_equal(seen.opened_leaving, 0, "writes by agate_pci_fini() that opened GPU_INT_MASK");

	hardware_open();
	rule("a GPU that is left has its interrupts masked: nobody would hear them");
	check_equal(hardware_read(GPU_INT_MASK), 0, "GPU_INT_MASK");
	check_equal(hardware_read(JOB_INT_MASK), 0, "JOB_INT_MASK");
	check_equal(hardware_read(MMU_INT_MASK), 0, "MMU_INT_MASK");
	rule("a GPU is reset before it is used: what it did before, nobody knows");
	check_equal(hardware_read(GPU_TILER_CONFIG), 0, "GPU_TILER_CONFIG, set before the probe");
	hardware_close();
	check_stuck_leave();
	check_enabled_before();
	check_memory();
}
