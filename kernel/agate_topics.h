/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topics: the parts of the driver that can be present or absent.
 *
 * After first contact the frame starts the topics in the table's order.  A topic
 * that returns -EOPNOTSUPP is absent: its feature bit stays clear, the log says so
 * once, its ioctls return EOPNOTSUPP, and the probe goes on.  Any other error ends
 * the probe.  So the rest of the driver works even when one part is unfinished.
 *
 * A topic that keeps something in the GPU suspends and resumes it: the GPU forgets
 * everything when its power goes.  Each topic relies on those before it in the table,
 * which are awake when it is told to suspend and when it is told to resume.
 */
#ifndef AGATE_TOPICS_H
#define AGATE_TOPICS_H

#include <linux/types.h>

struct agate_device;

int agate_topics_init(struct agate_device *adev);
void agate_topics_fini(struct agate_device *adev);

/**
 * agate_topics_suspend - put all topics to sleep, the last one first
 * @adev: the device
 *
 * Afterwards the GPU has no power.  Jobs that ran, or were queued, go on after
 * agate_topics_resume(); new ones are queued.
 *
 * Context: may sleep; under unplug_lock.
 * Return: 0; or the error of the topic that cannot sleep now, and then all topics are awake.
 */
int agate_topics_suspend(struct agate_device *adev);

/**
 * agate_topics_resume - wake all topics, the first one first
 * @adev: the device, whose GPU has been reset
 *
 * Context: may sleep; under unplug_lock.
 * Return: 0; or the error of the topic that does not wake, and then all topics are asleep.
 */
int agate_topics_resume(struct agate_device *adev);

/** agate_topic_present - did these topics (AGATE_FEATURE_*) initialise? */
bool agate_topic_present(const struct agate_device *adev, u64 feature);

#endif /* AGATE_TOPICS_H */
