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

#define list_entry_is_head(pos, head, member)	(&(pos)->member == (head))
#define list_first_entry_or_null(head, type, member)					\
	(list_empty(head) ? NULL : list_first_entry(head, type, member))

#define list_for_each_entry(pos, head, member)						\
	for (pos = list_first_entry(head, __typeof__(*pos), member);			\
	     &pos->member != (head); pos = list_next_entry(pos, member))

#define list_for_each_entry_safe(pos, tmp, head, member)				\
	for (pos = list_first_entry(head, __typeof__(*pos), member),			\
	     tmp = list_next_entry(pos, member);					\
	     &pos->member != (head);							\
	     pos = tmp, tmp = list_next_entry(tmp, member))

#define list_for_each_entry_reverse(pos, head, member)					\
	for (pos = list_last_entry(head, __typeof__(*pos), member);			\
	     &pos->member != (head); pos = list_prev_entry(pos, member))

#define list_for_each(pos, head)							\
	for (pos = (head)->next; pos != (head); pos = pos->next)

#define list_for_each_safe(pos, tmp, head)						\
	for (pos = (head)->next, tmp = pos->next; pos != (head); pos = tmp, tmp = pos->next)

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

static inline bool list_is_first(const struct list_head *entry, const struct list_head *head)
{
	return entry->prev == head;
}

static inline bool list_is_last(const struct list_head *entry, const struct list_head *head)
{
	return entry->next == head;
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

static inline void list_del_init(struct list_head *entry)
{
	list_del(entry);
	INIT_LIST_HEAD(entry);
}

static inline void list_move(struct list_head *entry, struct list_head *head)
{
	list_del(entry);
	list_add(entry, head);
}

static inline void list_move_tail(struct list_head *entry, struct list_head *head)
{
	list_del(entry);
	list_add_tail(entry, head);
}

/* All of @list, in its order, to the beginning of @head. */
static inline void list_splice(struct list_head *list, struct list_head *head)
{
	if (list_empty(list))
		return;
	list->next->prev = head;
	list->prev->next = head->next;
	head->next->prev = list->prev;
	head->next = list->next;
}

static inline void list_splice_tail(struct list_head *list, struct list_head *head)
{
	list_splice(list, head->prev);
}

static inline void list_splice_init(struct list_head *list, struct list_head *head)
{
	list_splice(list, head);
	INIT_LIST_HEAD(list);
}

static inline void list_splice_tail_init(struct list_head *list, struct list_head *head)
{
	list_splice_tail(list, head);
	INIT_LIST_HEAD(list);
}

#endif /* AGATE_SHIM_LIST_H */
