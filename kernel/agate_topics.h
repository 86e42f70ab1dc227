/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topics: the parts of the driver that can be there or not.
 *
 * After first contact the frame starts each topic in the table's order.  One
 * that returns -EOPNOTSUPP is absent: its feature bit stays clear, the log says
 * so once, its ioctls give EOPNOTSUPP, and the probe goes on; any other error
 * ends the probe.  So an unfinished part costs only itself.
 */
#ifndef AGATE_TOPICS_H
#define AGATE_TOPICS_H

#include <linux/types.h>

struct agate_device;

int agate_topics_init(struct agate_device *adev);
void agate_topics_fini(struct agate_device *adev);

/** agate_topic_present - did a topic (AGATE_FEATURE_*) initialise? */
bool agate_topic_present(const struct agate_device *adev, u64 feature);

#endif /* AGATE_TOPICS_H */
