/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topics: the parts of the driver that can be present or absent.
 *
 * After first contact the frame starts the topics in the table's order.  A topic
 * that returns -EOPNOTSUPP is absent: its feature bit stays clear, the log says so
 * once, its ioctls return EOPNOTSUPP, and the probe goes on.  Any other error ends
 * the probe.  So the rest of the driver works even when one part is unfinished.
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
