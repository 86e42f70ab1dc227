// SPDX-License-Identifier: MIT
/*
 * Frames name a symbol; addr2line wants a section and an offset.  The module's own table
 * of symbols has both.  The module was made from a student's code, so everything in the
 * table is checked.
 */
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "decode_priv.h"

struct table {
	Elf *elf;
	Elf_Data *symbols;
	size_t count;
	size_t names;		/* index of the section that holds the symbols' names */
	size_t section_names;
};

static bool find_table(Elf *elf, struct table *table)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	table->elf = elf;
	if (elf_getshdrstrndx(elf, &table->section_names))
		return false;
	while ((section = elf_nextscn(elf, section)) != NULL) {
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB ||
		    !header.sh_entsize)
			continue;
		table->symbols = elf_getdata(section, NULL);
		table->count = header.sh_size / header.sh_entsize;
		table->names = header.sh_link;
		return table->symbols != NULL;
	}
	return false;
}

/*
 * The kernel takes a symbol's size to be the distance to the next one, padding
 * included: of several static functions of one name the best fit is the right one.
 */
static bool find_symbol(const struct table *table, const struct splat_frame *frame, GElf_Sym *best)
{
	uint64_t least = UINT64_MAX, spare;
	const char *name;
	GElf_Sym sym;
	size_t i;

	for (i = 0; i < table->count && i < INT_MAX; i++) {
		if (!gelf_getsym(table->symbols, (int)i, &sym) ||
		    GELF_ST_TYPE(sym.st_info) != STT_FUNC || sym.st_size > frame->size)
			continue;
		name = elf_strptr(table->elf, table->names, sym.st_name);
		if (!name || strcmp(name, frame->symbol) != 0)
			continue;
		spare = frame->size - sym.st_size;
		if (spare < least) {
			least = spare;
			*best = sym;
		}
	}
	return least != UINT64_MAX;
}

static bool address_of(const struct table *table, const struct splat_frame *frame,
		       struct decode_address *address)
{
	const char *name;
	Elf_Scn *section;
	GElf_Shdr header;
	GElf_Sym sym;

	if (!frame->module || !find_symbol(table, frame, &sym))
		return false;
	section = elf_getscn(table->elf, sym.st_shndx);
	if (!section || !gelf_getshdr(section, &header))
		return false;
	name = elf_strptr(table->elf, table->section_names, header.sh_name);
	if (!name || strlen(name) >= sizeof(address->section))
		return false;
	strcpy(address->section, name);
	address->offset = sym.st_value + frame->offset;
	/* A return address already belongs to the line after the call. */
	if (!frame->exact && frame->offset)
		address->offset--;
	return true;
}

bool decode_addresses(const char *module, const struct splat_frame *frames, size_t count,
		      struct decode_address *addresses, bool *found)
{
	struct table table = { 0 };
	Elf *elf = NULL;
	bool ok = false;
	size_t i;
	int fd;

	memset(found, 0, count * sizeof(*found));
	if (elf_version(EV_CURRENT) == EV_NONE)
		return false;
	fd = open(module, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && find_table(elf, &table)) {
		for (i = 0; i < count; i++)
			found[i] = address_of(&table, &frames[i], &addresses[i]);
		ok = true;
	}
	elf_end(elf);
	close(fd);
	return ok;
}
