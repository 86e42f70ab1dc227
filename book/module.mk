# SPDX-License-Identifier: MIT
#
# The book: HTML, EPUB and PDF from book/*.md.  All of it is made anew each time, which takes
# seconds: the code that a chapter shows may have changed without the chapter.

BOOK		:= $(BUILD)/book

## make book        the book as HTML (build/book/html/index.html), EPUB and PDF
.PHONY: book book-deps
book: book-deps
	$(call say,HTML,$(BOOK)/html)
	$(Q)scripts/book.sh html $(BOOK)/html
	$(call say,EPUB,$(BOOK)/agate.epub)
	$(Q)scripts/book.sh epub $(BOOK)/agate.epub
	$(call say,PDF,$(BOOK)/agate.pdf)
	$(Q)scripts/book.sh pdf $(BOOK)/agate.pdf

book-deps:
ifneq ($(DEPS),skip)
	$(Q)BUILD=$(BUILD) scripts/install-deps.sh --book
endif
