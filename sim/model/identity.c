// SPDX-License-Identifier: MIT
/*
 * Identity (hardware.md, section 2.1): two GPUs, one with the features of a
 * Mali-T860, one with those of a G31, and the read-only registers that report them.
 */
#include "model.h"

#define GPU_ID_OF(product)	((uint32_t)(product) << 16 | 0u << 12 | 1u << 4)	/* r0p1 */

/* How far a group of threads can be split, entries of the task queue, registers of a core. */
#define THREAD_FEATURES(split, queue, registers)	((split) << 24 | (queue) << 16 | (registers))

static const struct identity identities[] = {
	[AGATE_SIM_MIDGARD] = {
		.id = GPU_ID_OF(AGATE_PRODUCT_MIDGARD),
		.l2_size = 512u << 10,
		/* smallest bin 2^9 bytes, 8 hierarchy levels at once */
		.tiler_features = 8u << 8 | 9u,
		.threads = 256,
		.thread_features = THREAD_FEATURES(10u, 4u, 1024u),
		.shaders = 0xf,
	},
	[AGATE_SIM_BIFROST] = {
		.id = GPU_ID_OF(AGATE_PRODUCT_BIFROST),
		.l2_size = 128u << 10,
		.core_features = 2,
		/* smallest bin 2^9 bytes, 2 hierarchy levels at once */
		.tiler_features = 2u << 8 | 9u,
		.threads = 384,
		.thread_features = THREAD_FEATURES(10u, 4u, 8192u),
		.shaders = 0x3,
		.table_formats = true,
	},
};

const struct identity *identity_of(enum agate_sim_gpu gpu)
{
	if ((unsigned int)gpu >= sizeof(identities) / sizeof(identities[0]))
		return NULL;
	return &identities[gpu];
}

/* log2 of the bus width in bits, the size, the ways and the line in bytes. */
static uint32_t l2_features(const struct l2 *l2)
{
	uint32_t size = __builtin_ctz(l2_size(l2));

	return 7u << 24 | size << 16 | 2u << 8 | 6u;
}

uint32_t identity_coherency(const struct agate_sim *sim)
{
	switch (sim->coherency) {
	case AGATE_SIM_COHERENCY_ACE:
		return GPU_COHERENCY_FEATURE_ACE | GPU_COHERENCY_FEATURE_ACE_LITE;
	case AGATE_SIM_COHERENCY_ACE_LITE:
		return GPU_COHERENCY_FEATURE_ACE_LITE;
	case AGATE_SIM_COHERENCY_NONE:
		break;
	}
	return 0;
}

/* A value that the launcher made up replaces the GPU's own. */
static bool made_up_read(const struct agate_sim *sim, uint32_t offset, uint32_t *value)
{
	static const uint32_t offsets[AGATE_SIM_IDENTITIES] = {
		[AGATE_SIM_GPU_ID] = GPU_ID,
		[AGATE_SIM_L2_FEATURES] = GPU_L2_FEATURES,
		[AGATE_SIM_CORE_FEATURES] = GPU_CORE_FEATURES,
		[AGATE_SIM_TILER_FEATURES] = GPU_TILER_FEATURES,
		[AGATE_SIM_MEM_FEATURES] = GPU_MEM_FEATURES,
		[AGATE_SIM_MMU_FEATURES] = GPU_MMU_FEATURES,
		[AGATE_SIM_THREAD_FEATURES] = GPU_THREAD_FEATURES,
		[AGATE_SIM_THREAD_MAX_THREADS] = GPU_THREAD_MAX_THREADS,
		[AGATE_SIM_THREAD_MAX_WORKGROUP_SIZE] = GPU_THREAD_MAX_WORKGROUP_SIZE,
		[AGATE_SIM_THREAD_MAX_BARRIER_SIZE] = GPU_THREAD_MAX_BARRIER_SIZE,
	};
	unsigned int i;

	for (i = 0; i < AGATE_SIM_IDENTITIES; i++)
		if (offsets[i] == offset && (sim->made_up.said & (1u << i))) {
			*value = sim->made_up.identity[i];
			return true;
		}
	return false;
}

static bool identity_read(struct agate_sim *sim, uint32_t offset, uint32_t *value)
{
	const struct identity *identity = sim->identity;

	if (made_up_read(sim, offset, value))
		return true;
	if (offset >= GPU_JS_FEATURES(0) && offset <= GPU_JS_FEATURES(15)) {
		*value = slot_features((offset - GPU_JS_FEATURES(0)) / 4);
		return true;
	}
	switch (offset) {
	case GPU_ID:
		*value = sim->id;
		return true;
	case GPU_L2_FEATURES:
		*value = l2_features(&sim->l2);
		return true;
	case GPU_CORE_FEATURES:
		*value = identity->core_features;
		return true;
	case GPU_TILER_FEATURES:
		*value = identity->tiler_features;
		return true;
	case GPU_MEM_FEATURES:
		*value = 1;	/* one coherent core group */
		return true;
	case GPU_MMU_FEATURES:
		*value = AGATE_PHYS_BITS << 8 | AGATE_VA_BITS;
		return true;
	case GPU_AS_PRESENT:
		*value = (1u << MMU_NUM_AS) - 1;
		return true;
	case GPU_JS_PRESENT:
		*value = (1u << AGATE_MAX_SLOTS) - 1;
		return true;
	case GPU_THREAD_MAX_THREADS:
	case GPU_THREAD_MAX_WORKGROUP_SIZE:
	case GPU_THREAD_MAX_BARRIER_SIZE:
		*value = identity->threads;
		return true;
	case GPU_THREAD_FEATURES:
		*value = identity->thread_features;
		return true;
	case GPU_COHERENCY_FEATURES:
		*value = identity_coherency(sim);
		return true;
	case GPU_TEXTURE_FEATURES(0):
	case GPU_TEXTURE_FEATURES(1):
	case GPU_TEXTURE_FEATURES(2):
	case GPU_TEXTURE_FEATURES(3):
	case GPU_AFBC_FEATURES:
	case GPU_THREAD_TLS_ALLOC:
	case GPU_STACK_PRESENT_LO:
	case GPU_STACK_PRESENT_HI:
	case GPU_STACK_READY_LO:
	case GPU_STACK_READY_HI:
		*value = 0; /* no textures, no AFBC, no stack */
		return true;
	}
	return false;
}

const struct block identity_block = {
	.first = 0x000,
	.last = 0xfff,
	.read = identity_read,
	.section = 2,
};
