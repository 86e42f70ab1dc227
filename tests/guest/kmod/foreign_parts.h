/* SPDX-License-Identifier: GPL-2.0-only */
/* Lab 06: what the file of foreign.c does by other files. */
#ifndef AGATE_TESTS_FOREIGN_PARTS_H
#define AGATE_TESTS_FOREIGN_PARTS_H

#include <linux/types.h>

struct foreign_import;

/* foreign_importer.c: 0 or a negative errno. */
int importer_init(void);
void importer_exit(void);
long importer_import(struct foreign_import *import);

/* foreign_mapper.c: a file whose mmap() maps the dma-buf, or a negative errno. */
long mapper_open(unsigned long fd);

/* imports.c.  Watch the list of imports of the GPU, which a driver has, or watch no list. */
int imports_watch(bool on);
/* How often the list was seen to have changed since, while prime.lock was free. */
u32 imports_unlocked(void);

#endif /* AGATE_TESTS_FOREIGN_PARTS_H */
