// SPDX-License-Identifier: MIT
/*
 * Which slot runs which job type (hardware.md, section 3).  GPU_JS_FEATURES and the
 * job manager read the same table, so they cannot disagree.
 */
#include "jobs_compute.h"
#include "jobs_simple.h"
#include "model.h"

#define ON_FRAGMENT	(1u << 0)
#define ON_TILER	(1u << 1)
#define ON_COMPUTE	(1u << 1 | 1u << 2)
#define ON_ALL		((1u << AGATE_MAX_SLOTS) - 1)

static const struct jobtype {
	unsigned int type;
	unsigned int slots;
	const struct agate_job_ops *ops;
} jobtypes[] = {
	{ AGATE_JOB_NULL, ON_ALL, &null_ops },
	{ AGATE_JOB_WRITE_VALUE, ON_ALL, &write_value_ops },
	{ AGATE_JOB_CACHE_FLUSH, ON_ALL, &cache_flush_ops },
	{ AGATE_JOB_COMPUTE, ON_COMPUTE, &compute_ops },
	{ AGATE_JOB_TILER, ON_TILER, &agate_tiler_ops },
	{ AGATE_JOB_FRAGMENT, ON_FRAGMENT, &agate_fragment_ops },
};

#define NUM_JOBTYPES	(sizeof(jobtypes) / sizeof(jobtypes[0]))

const struct agate_job_ops *jobtype_find(unsigned int slot, unsigned int type)
{
	unsigned int i;

	for (i = 0; i < NUM_JOBTYPES; i++)
		if (jobtypes[i].type == type && (jobtypes[i].slots & (1u << slot)))
			return jobtypes[i].ops;
	return NULL;
}

uint32_t slot_features(unsigned int slot)
{
	uint32_t features = 0;
	unsigned int i;

	for (i = 0; i < NUM_JOBTYPES && slot < AGATE_MAX_SLOTS; i++)
		if (jobtypes[i].slots & (1u << slot))
			features |= 1u << jobtypes[i].type;
	return features;
}
