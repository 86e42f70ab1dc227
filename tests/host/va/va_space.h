/* SPDX-License-Identifier: MIT */
/*
 * An address space whose records change as VM_BIND changes them, and beside it what each of its
 * pages has to be.
 */
#ifndef VA_SPACE_H
#define VA_SPACE_H

#include "agate_vm.h"
#include "agate_vm_bind.h"

#define SPACE_PAGES	64u
#define SPACE_BOS	3u
#define SPACE_START	(AGATE_VA_START >> PAGE_SHIFT)

/**
 * struct space_page - what a page has to be
 * @id: of the change that has mapped it; 0: it maps nothing.  Pages that are side by side are in
 *	one mapping if and only if their ids are equal
 * @bo: whose memory
 * @offset: which page of it
 * @prot: AGATE_PROT_*
 * @active: it has its entry
 */
struct space_page {
	unsigned int id;
	unsigned int bo;
	u64 offset;
	u32 prot;
	bool active;
};

/* A change: @count pages from @page on; @to.id says whether it maps, and is given anew. */
struct space_change {
	unsigned int page, count;
	struct space_page to;
};

struct space {
	struct agate_device adev;
	struct agate_vm vm;
	struct agate_bo bos[SPACE_BOS];
	struct agate_vm_bo records[SPACE_BOS];
	struct space_page pages[SPACE_PAGES];
	unsigned int changes;
	struct agate_va_steps steps;	/* of the change that was begun last */
};

void space_init(struct space *space);

/* Free all mappings: none is left of any change. */
void space_fini(struct space *space);

/* agate_va_split(), which has to leave all records as they are, and the new mapping. */
void space_begin(struct space *space, const struct space_change *change);

/* agate_va_apply(), and then VM_BIND's part; everything has to be as the pages say. */
void space_commit(struct space *space, const struct space_change *change);

/* In place of that: nothing changes. */
void space_give_up(struct space *space);

/* An eviction takes the entries of all mappings of a page's record, or they come back. */
void space_set_active(struct space *space, unsigned int page, bool active);

/* Map or unmap; @to.prot is what @bo's number makes it. */
void space_map(struct space *space, unsigned int page, unsigned int count, unsigned int bo,
	       u64 offset);
void space_unmap(struct space *space, unsigned int page, unsigned int count);

/* The mapping of a page, or NULL. */
struct agate_mapping *space_mapping(struct space *space, unsigned int page);

#endif /* VA_SPACE_H */
