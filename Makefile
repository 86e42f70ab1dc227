# SPDX-License-Identifier: MIT
#
# Agate: the only commands a person needs.  `make help` lists them.
#
# Every folder says in its module.mk how it is built; this file only names the
# rules they share and the commands that run the result.  Everything built goes
# under build/, and the course kernels into the cache outside the tree.

MAKEFLAGS	+= --no-builtin-rules --no-print-directory
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL	:= help

BUILD		:= build
CC		?= gcc
AR		?= ar
ifeq ($(origin CC),default)
CC		:= gcc
endif
ifeq ($(origin AR),default)
AR		:= ar
endif

# One C dialect and one set of warnings for everything that runs on the host.
CFLAGS_HOST	:= -std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Wshadow -Werror -Iinclude
CFLAGS_SAN	:= -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
CFLAGS_TSAN	:= -fsanitize=thread -fno-omit-frame-pointer

# One line a step; V=1 shows the commands.
Q		:= $(if $(V),,@)
say		= $(if $(V),,@printf '  %-8s %s\n' '$(1)' '$(2)')

MODULES		:= guest sim/model sim/process sim/vm userspace kernel tests
include $(wildcard $(addsuffix /module.mk,$(MODULES)) tests/*/module.mk tests/host/*/module.mk)

.PHONY: help
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## make clean       remove build/ (the kernels stay in the cache)
.PHONY: clean
clean:
	$(call say,CLEAN,$(BUILD))
	$(Q)rm -rf $(BUILD)
