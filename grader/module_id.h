/* SPDX-License-Identifier: MIT */
/*
 * Identifies the loaded module: its build id, from its file and from the guest.
 */
#ifndef AGATE_GRADER_MODULE_ID_H
#define AGATE_GRADER_MODULE_ID_H

#include <stddef.h>

#define MODULE_ID_MAX	128

/*
 * The section .note.gnu.build-id of an ELF file for x86-64, as the kernel shows it
 * in /sys/module/NAME/notes.  Its size, or 0 when there is none.
 */
size_t module_id_read(const char *path, unsigned char id[MODULE_ID_MAX]);

#endif /* AGATE_GRADER_MODULE_ID_H */
