/* SPDX-License-Identifier: MIT */
/* Doubly linked lists with the kernel's names. */
#ifndef AGATE_SHIM_LIST_H
#define AGATE_SHIM_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/container_of.h>

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD_INIT(name)	{ &(name), &(name) }
#define LIST_HEAD(name)		struct list_head name = LIST_HEAD_INIT(name)

#define list_entry(ptr, type, member)		container_of(ptr, type, member)
#define list_first_entry(head, type, member)	list_entry((head)->next, type, member)
#define list_last_entry(head, type, member)	list_entry((head)->prev, type, member)
#define list_next_entry(pos, member)		list_entry((pos)->member.next, __typeof__(*(pos)), member)
#define list_prev_entry(pos, member)		list_entry((pos)->member.prev, __typeof__(*(pos)), member)

#define list_for_each_entry(pos, head, member)						\
	for (pos = list_first_entry(head, __typeof__(*pos), member);			\
	     &pos->member != (head); pos = list_next_entry(pos, member))

#define list_for_each_entry_safe(pos, tmp, head, member)				\
	for (pos = list_first_entry(head, __typeof__(*pos), member),			\
	     tmp = list_next_entry(pos, member);					\
	     &pos->member != (head);							\
	     pos = tmp, tmp = list_next_entry(tmp, member))

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

static inline void list_add(struct list_head *entry, struct list_head *head)
{
	entry->next = head->next;
	entry->prev = head;
	head->next->prev = entry;
	head->next = entry;
}

static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
	list_add(entry, head->prev);
}

/* A deleted entry is poisoned, so that a second deletion crashes. */
static inline void list_del(struct list_head *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
	entry->next = NULL;
	entry->prev = NULL;
}

#endif /* AGATE_SHIM_LIST_H */
