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

# A stamp tells what something was made from that has no useful time of its own.
# Its recipe runs every time and writes $@.new, which takes the stamp's place
# only when it says something else.
stamp		= if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
.PHONY: FORCE
FORCE:

# $(eval $(call listed,STAMP,FILES)): a stamp that changes with the list.  Where a
# file is gone, nothing is newer than what was made from it.
define listed
$(1): FORCE
	$$(Q)mkdir -p $$(@D)
	$$(Q)echo '$(2)' >$$@.new && $$(stamp)
endef

MODULES		:= guest sim/model sim/process sim/map sim/vm userspace kernel tests/guest tests/bench
include $(wildcard $(addsuffix /module.mk,$(MODULES)) tests/host/*/module.mk)
# The last one, for it runs what the others added to HOST_TESTS.
include tests/host/module.mk

JOBS		?= $(shell nproc)

# Each of these is a whole make of its own, over the same files: one at a time.
ifneq ($(filter clean demo test shell bench,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif
# Those makes share the jobs of one that was given -j, else they have their own.
parallel	= $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS))

# Programs and files that the commands below need.
HOST_PROGRAMS	 = $(AGATE_SIM) $(AGATE_VM) $(LIBAGATE) $(AGATE_TOOLS)
GUEST_FAST	 = $(HOST_PROGRAMS) $(INITRAMFS) $(BUILD)/guest/kernel-fast $(BUILD)/driver/fast/agate.ko
GUEST_DEBUG	 = $(HOST_PROGRAMS) $(INITRAMFS) $(BUILD)/guest/kernel-debug $(BUILD)/driver/debug/agate.ko

.PHONY: help
help:
	@echo "Agate: a GPU memory-management stack to learn from"
	@echo
	@sed -n 's/^## /  /p' $(filter Makefile %.mk,$(MAKEFILE_LIST))

# Packages first, then a second make that can ask pkg-config and the kernel.
.PHONY: deps
deps:
ifneq ($(DEPS),skip)
	$(Q)BUILD=$(BUILD) scripts/install-deps.sh
endif

## make demo        render build/demo/gem.png; GPU=bifrost, COHERENCY=ace-lite|none
.PHONY: demo demo-run
demo: deps
	$(Q)$(MAKE) $(parallel) demo-run

demo-run: $(GUEST_FAST)
	$(Q)scripts/demo.sh $(BUILD)/demo

## make test        run every check; the last line is "N passed, N failed"
.PHONY: test test-build test-run
test: deps
	$(Q)$(MAKE) $(parallel) test-build
	$(Q)$(MAKE) test-run

HOST_SUITES	= $(foreach p,$(HOST_TESTS),host/$(notdir $(p)))
GUEST_SUITES	= reload calls reset jobs gone
FAST_SUITES	= $(GUEST_SUITES:%=guest-fast/%) guest-fast/bifrost guest-fast/lite
DEBUG_SUITES	= $(GUEST_SUITES:%=guest-debug/%) guest-debug/failures
# The longest first: suites run side by side, one a core.
SUITES		= $(DEBUG_SUITES) style vm/launcher vm/kill demo $(FAST_SUITES) $(HOST_SUITES)

# sparse.log rebuilds what it looks at, so it comes before anybody uses that.
test-build: $(GUEST_FAST) $(GUEST_DEBUG) $(HOST_TESTS) $(GUEST_PROGRAMS) $(BUILD)/driver/sparse.log

test-run: test-build
	$(Q)mkdir -p $(BUILD)/tests && rm -f $(BUILD)/tests/score
	$(Q)$(MAKE) $(parallel) $(SUITES:%=suite/%)
	$(Q)tests/score.sh $(SUITES)

.PHONY: $(SUITES:%=suite/%)
suite/style:
	$(Q)tests/suite.sh style 900 tests/style.sh
suite/vm/kill suite/vm/launcher: suite/vm/%:
	$(Q)tests/suite.sh vm/$* 600 tests/vm/$*.sh
suite/demo:
	$(Q)tests/suite.sh demo 600 tests/demo.sh
$(HOST_SUITES:%=suite/%): suite/host/%:
	$(Q)tests/suite.sh host/$* 600 $(filter %/$*,$(HOST_TESTS))
$(FAST_SUITES:%=suite/%): suite/guest-fast/%:
	$(Q)tests/suite.sh guest-fast/$* 900 tests/guest/run.sh fast $*
$(DEBUG_SUITES:%=suite/%): suite/guest-debug/%:
	$(Q)tests/suite.sh guest-debug/$* 900 tests/guest/run.sh debug $*

## make shell       a guest with the driver loaded and a shell; ^D ends it
.PHONY: shell shell-build
shell: deps
	$(Q)$(MAKE) $(parallel) shell-build
	$(Q)scripts/shell.sh

shell-build: $(GUEST_FAST)

## make bench       measure; the table, and build/bench/bench.json
.PHONY: bench bench-build
bench: deps
	$(Q)$(MAKE) $(parallel) bench-build
	$(Q)tests/bench/bench.sh

bench-build: $(GUEST_FAST) $(GUEST_DEBUG) $(BENCH_PROGRAMS) $(GUEST_TEST_DIR)/one-job

## make clean       remove build/ (the kernels stay in the cache)
.PHONY: clean
clean:
	$(call say,CLEAN,$(BUILD))
	$(Q)rm -rf $(BUILD)
