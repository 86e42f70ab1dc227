// SPDX-License-Identifier: MIT
/*
 * Reading a module's build id (module_id.h).  The file was linked from somebody
 * else's objects, so every offset in it is checked.
 */
#include "module_id.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image {
	const unsigned char *data;
	size_t size;
};

static const void *at(const struct image *image, uint64_t offset, uint64_t len)
{
	return offset > image->size || len > image->size - offset ? NULL : image->data + offset;
}

static bool is_named(const struct image *image, const Elf64_Shdr *names, uint32_t offset,
		     const char *wanted)
{
	size_t n = strlen(wanted) + 1;
	const char *name;

	if (offset > names->sh_size || n > names->sh_size - offset)
		return false;
	name = at(image, names->sh_offset + offset, n);
	return name && !memcmp(name, wanted, n);
}

static size_t find(const struct image *image, unsigned char id[MODULE_ID_MAX])
{
	const Elf64_Ehdr *header = at(image, 0, sizeof(*header));
	const Elf64_Shdr *sections;
	const void *note;
	unsigned int i;

	if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shoff % 8 ||
	    header->e_shentsize != sizeof(*sections) || header->e_shstrndx >= header->e_shnum)
		return 0;
	sections = at(image, header->e_shoff, (uint64_t)header->e_shnum * sizeof(*sections));
	for (i = 0; sections && i < header->e_shnum; i++) {
		if (sections[i].sh_type != SHT_NOTE || sections[i].sh_size > MODULE_ID_MAX ||
		    !is_named(image, &sections[header->e_shstrndx], sections[i].sh_name,
			      ".note.gnu.build-id"))
			continue;
		note = at(image, sections[i].sh_offset, sections[i].sh_size);
		if (!note)
			return 0;
		memcpy(id, note, sections[i].sh_size);
		return sections[i].sh_size;
	}
	return 0;
}

size_t module_id_read(const char *path, unsigned char id[MODULE_ID_MAX])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct image image = { .size = 0 };
	struct stat sb;
	size_t n = 0;
	void *map;

	if (fd < 0)
		return 0;
	if (!fstat(fd, &sb) && sb.st_size > 0) {
		map = mmap(NULL, (size_t)sb.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map != MAP_FAILED) {
			image.data = map;
			image.size = (size_t)sb.st_size;
			n = find(&image, id);
			munmap(map, image.size);
		}
	}
	close(fd);
	return n;
}
