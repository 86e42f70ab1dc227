// SPDX-License-Identifier: MIT
/* A function that is on, a GPU that said who it is, and what stays of both. */
#include <stdio.h>
#include <unistd.h>

#include "function.h"
#include "graded.h"
#include "hardware.h"
#include "tests.h"
#include "work.h"

void test_function(void **state)
{
	(void)state;
	driver_load();
	driver_take("function");

	rule("a driver that uses a function enables it, once");
	check_equal(function_number("enable"), 1, "how often the function is enabled");
	check_true(function_decodes(), "memory decoding is on", "it is off");
	rule("whoever uses a region of the bus requests it, so that nobody else does");
	check_true(function_claimed(0), "BAR0 is requested", "nobody has requested it");
	check_true(function_claimed(2), "BAR2 is requested", "nobody has requested it");
	rule("both DMA masks are as wide as the GPU's physical addresses: AGATE_PHYS_BITS");
	check_equal(function_number("dma_mask_bits"), AGATE_PHYS_BITS, "the streaming mask's bits");
	check_equal(function_number("consistent_dma_mask_bits"), AGATE_PHYS_BITS,
		    "the coherent mask's bits");
	rule("a GPU that reads and writes memory masters the bus");
	check_true(function_masters(), "bus mastering is on", "it is off");
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
	driver_take("identity");
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
}

/* What a driver opens or starts is closed and stopped when it goes. */
void test_quiet_leave(void **state)
{
	(void)state;
	hardware_open();
	hardware_write(GPU_TILER_CONFIG, 0xa6a7e);
	hardware_close();

	driver_load();
	driver_take("way down");
	rule("the driver lets the GPU go");
	check_errno(driver_unbind(), 0, "unbinding");
	check_left_clean("unbound from the GPU");

	hardware_open();
	rule("a GPU that is left has its interrupts masked: nobody would hear them");
	check_equal(hardware_read(GPU_INT_MASK), 0, "GPU_INT_MASK");
	check_equal(hardware_read(JOB_INT_MASK), 0, "JOB_INT_MASK");
	check_equal(hardware_read(MMU_INT_MASK), 0, "MMU_INT_MASK");
	rule("a GPU is reset before it is used: what it did before, nobody knows");
	check_equal(hardware_read(GPU_TILER_CONFIG), 0, "GPU_TILER_CONFIG, set before the probe");
	hardware_close();
}

void test_reload(void **state)
{
	int64_t rounds = param("rounds");

	(void)state;
	module_unload();
	for (int64_t i = 0; i < rounds; i++) {
		int fd;

		rule("the module loads, and takes the GPU, as often as one likes");
		bus_autoprobe(true);
		check_errno(module_load("timeout_ms=600000"), 0, "insmod agate.ko");
		check_true(driver_bound(), "the GPU is bound to the driver", "it is not");
		fd = guest_open();
		check_jobs(fd, 1, "loaded again");
		close(fd);
		check_nothing_left();
		rule("the module unloads when nobody uses the GPU");
		check_errno(module_unload(), 0, "rmmod agate");
		check_left_clean("unloaded");

		rule("the GPU is reset on leaving, and forgets the job's flushes");
		hardware_open();
		check_equal(hardware_read(GPU_LATEST_FLUSH_ID), 0, "GPU_LATEST_FLUSH_ID");
		hardware_close();
	}
}
