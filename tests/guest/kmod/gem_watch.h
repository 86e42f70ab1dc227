/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lab 02: promises of kernel/agate_gem.h that are checked at every call of some
 * functions, whoever calls them: gem_watch.c has the probes, bos.c knows the fields.
 */
#ifndef AGATE_TESTS_GEM_WATCH_H
#define AGATE_TESTS_GEM_WATCH_H

#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/types.h>

struct agate_bo;
struct agate_device;
struct drm_agate_create_bo;

#define GEM_KNOWN_MAX	128

/* In the order of what to look at first: one mistake may break several. */
enum promise {
	LISTED, BACKING, FLAGS, COMPLETE, CLASSES, ASKED, ORDER, ENDED, FREE, OUTER, UNDONE, NAMES,
	UNLOCKED, LOOKUP, LABEL, FETCH, SIGNAL, PROMISES
};

/* bos.c */
const char *bos_wrong_field(const struct agate_bo *bo, struct agate_device *adev);

/* gem_watch.c */
/* A place for a gate, while agate_hide keeps mappings away: it does nothing. */
void agate_mappings_hidden(void);
int gem_watch_init(void);
void gem_watch_get_ready(void);
void gem_watch_exit(void);
/* Counts a check; the text of the first one that fails is kept. */
__printf(3, 4)
void gem_check(enum promise promise, bool ok, const char *fmt, ...);
bool gem_has(const struct mutex *lock);
/* The same of a lock in a BO that another CPU may free meanwhile: KASAN does not look. */
bool gem_has_of_any(const struct mutex *lock);
/* The BO at that place of gem.bos, when gem.lock was given back last; or NULL. */
struct agate_bo *gem_listed(unsigned int place);
/* The number of these places. */
unsigned int gem_places(void);
/* What the CREATE_BO of this task asks for. */
void gem_asked(const struct drm_agate_create_bo *args);
/* It is over. */
void gem_answered(int result);
/* Is it on gem.bos, as far as the lock's holders have told?  It has left the list; it ends. */
bool gem_is_known(const struct agate_bo *bo);
void gem_has_left(const struct agate_bo *bo);
void gem_has_ended(struct agate_bo *bo);
extern struct agate_device *gem_device;

/* gem_lives.c: handlers of probes; a BO has a backing, and is on gem.bos or is not yet. */
void gem_lives_begin(void);
void gem_lives_end(void);
/* Somebody else has used the memory from which the next BOs are made. */
void gem_dirty_memory(void);
void gem_begin_life(struct agate_bo *bo, bool listed);
int gem_on_forget(struct kprobe *kp, struct pt_regs *regs);
int gem_on_release(struct kprobe *kp, struct pt_regs *regs);
int gem_on_offset_free(struct kprobe *kp, struct pt_regs *regs);
int gem_on_end(struct kprobe *kp, struct pt_regs *regs);

/* gem_locks.c: likewise. */
void gem_locks_begin(void);
/* A BO has joined gem.bos. */
void gem_check_classes(const struct agate_bo *bo);
int gem_on_create(struct kretprobe_instance *ri, struct pt_regs *regs);
int gem_on_created(struct kretprobe_instance *ri, struct pt_regs *regs);
int gem_on_set_label(struct kretprobe_instance *ri, struct pt_regs *regs);
int gem_on_label_set(struct kretprobe_instance *ri, struct pt_regs *regs);
int gem_on_idr_find(struct kretprobe_instance *ri, struct pt_regs *regs);
int gem_on_idr_found(struct kretprobe_instance *ri, struct pt_regs *regs);
int gem_on_vm_close(struct kprobe *kp, struct pt_regs *regs);
int gem_on_mapping_put(struct kprobe *kp, struct pt_regs *regs);
int gem_on_lookup(struct kprobe *kp, struct pt_regs *regs);
int gem_on_spin_unlock(struct kprobe *kp, struct pt_regs *regs);
int gem_on_might_sleep(struct kprobe *kp, struct pt_regs *regs);
int gem_on_user_memory(struct kprobe *kp, struct pt_regs *regs);

/* gem_names.c: likewise. */
void gem_names_begin(void);
int gem_on_allow(struct kprobe *kp, struct pt_regs *regs);
int gem_on_idr_replace(struct kprobe *kp, struct pt_regs *regs);
int gem_on_handle_release(struct kprobe *kp, struct pt_regs *regs);
int gem_on_revoke(struct kprobe *kp, struct pt_regs *regs);

/* gem_touches.c: its file in debugfs. */
void gem_touches_init(void);
void gem_touches_exit(void);

#endif /* AGATE_TESTS_GEM_WATCH_H */
