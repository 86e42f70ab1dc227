/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lists by which the mover finds the pages of a placed BO: one page of
 * AGATE_TT_LIST_PAGES addresses for each so many pages.
 */
#ifndef AGATE_TT_LISTS_H
#define AGATE_TT_LISTS_H

struct agate_tt;

/**
 * agate_tt_lists_make - write the lists of pages, and map them for the device
 * @tt: without lists; @tt->sgt is mapped
 *
 * Context: process; may sleep.
 *
 * Return: 0; -ENOMEM, and then agate_tt_lists_free() frees what there is.
 */
int agate_tt_lists_make(struct agate_tt *tt);

/**
 * agate_tt_lists_free - free the lists
 * @tt: whether it has all of its lists, some or none
 */
void agate_tt_lists_free(struct agate_tt *tt);

#endif /* AGATE_TT_LISTS_H */
