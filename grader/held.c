// SPDX-License-Identifier: MIT
/*
 * Choosing among the pages that look like held lines (held.h).
 */
#include "held.h"

#include <string.h>

static bool newer(const struct held *page, const struct held *than)
{
	if (page->begun != than->begun)
		return page->begun > than->begun;
	return page->changes > than->changes;
}

void held_choose(struct held_choice *choice, const void *memory)
{
	struct held page;

	memcpy(&page, memory, sizeof(page));
	if (strncmp(page.magic, HELD_MAGIC, sizeof(page.magic)) != 0 ||
	    strncmp(page.test, choice->test, sizeof(page.test)) != 0 ||
	    page.len > sizeof(page.text) || (choice->found && !newer(&page, &choice->page)))
		return;
	choice->page = page;
	choice->found = true;
}

/* Nothing else may wait in the guest; whoever forges a page can forge no more than that. */
size_t held_lines(const struct held_choice *choice, char *text, size_t size)
{
	static const char word[] = "RULE ";
	const char *from = choice->page.text, *end;
	size_t left = choice->found ? choice->page.len : 0, len = 0, n;

	for (; (end = memchr(from, '\n', left)); from += n, left -= n) {
		n = (size_t)(end - from) + 1;
		if (n > size - len || strncmp(from, word, sizeof(word) - 1) != 0)
			break;
		memcpy(text + len, from, n);
		len += n;
	}
	return len;
}
