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

# What a command takes: a name that was given and does nothing would mislead.
TAKES_grade	:= LAB TEST STEP FROM DEBUG CHAIN SEED OUT
TAKES_watch	:= $(TAKES_grade)
TAKES_hint	:= LAB TEST OUT
TAKES_check	:= LAB FROM
TAKES_start	:= LAB STEP FORCE
TAKES_gdb	:= LAB TEST FROM DEBUG
TAKES_shell	:= LAB FROM DEBUG DEMO DRIVER GPU GPUS VRAM VISIBLE PUT
TAKES_demo	:= GPU COHERENCY CACHE BOS VRAM VISIBLE FLIP VM SUSPEND OVERCOMMIT
TAKES_capstone	:= GPU FRAMES
TAKES_doctor	:=
TAKES_test	:= LAB

# What a person types is data: make expands none of it, and recipes have it from the
# environment, as "$$LAB", where it is no part of what the shell reads as commands.
TYPED		:= $(sort $(foreach name,$(filter TAKES_%,$(.VARIABLES)),$($(name))))
# Those that stand in the command itself: one in the environment may be for another.
GIVEN		:= $(foreach name,$(TYPED),$(if $(filter line,$(origin $(name))),$(name)))
$(foreach name,$(TYPED),$(if $(filter-out undefined,$(origin $(name))), \
	$(eval override export $(name) := $$(value $(name)))))

COMMANDS	:= $(filter grade watch hint check start gdb shell demo capstone doctor test,$(MAKECMDGOALS))
ignored		:= $(if $(COMMANDS),$(filter-out $(foreach c,$(COMMANDS),$(TAKES_$(c))),$(GIVEN)))
$(if $(ignored),$(error make $(COMMANDS) does not take $(ignored), only \
	$(or $(foreach c,$(COMMANDS),$(TAKES_$(c))),what stands in `make help`)))

# A name that nothing reads is misspelt.  These the build and the scripts read.
READ		:= V DEPS BUILD JOBS SUITE_JOBS FRESH MUTANTS KERNEL KERNEL_SRC ACCEL CC AR FUZZ_CC TARGET \
		   SECONDS PREFIX DESTDIR FUZZ_SECONDS FUZZ_SEED
# These are for scripts, for the makes that make starts, and for trying things.
READ_INSIDE	:= WITHOUT NAMES CFLAGS_% AGATE_% XDG_CACHE_HOME HOME PATH TMPDIR NO_COLOR TERM SHELL \
		   MAKE% GNUMAKEFLAGS MFLAGS LABS LIMIT RUNS COLD EXTRA KEEP_% PROGRESS_SECONDS \
		   QUEUE_EVERY COMPOSE_CFLAGS BOX_CPU_S
unread		:= $(filter-out $(TYPED) $(READ) $(READ_INSIDE),$(foreach name,$(.VARIABLES), \
		     $(if $(filter line,$(origin $(name))),$(name))))
$(if $(unread),$(error make does not know $(unread), only \
	$(if $(COMMANDS),$(foreach c,$(COMMANDS),$(TAKES_$(c))),$(TYPED)) $(READ)))

# One C dialect and one set of warnings for everything that runs on the host.
CFLAGS_HOST	:= -std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Wshadow -Werror -Iinclude
CFLAGS_SAN	:= -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
CFLAGS_TSAN	:= -fsanitize=thread -fno-omit-frame-pointer
# Takes the place of CFLAGS_SAN where lines are counted: one statement must stay one.
CFLAGS_COVERAGE	:= --coverage -O0 -g0

# One line a step; V=1 shows the commands.
Q		:= $(if $(V),,@)
say		= $(if $(V),,@printf '  %-8s %s\n' '$(1)' '$(2)')

# A stamp tells what something was made from that has no useful time of its own.
# Its recipe runs every time and writes $@.new, which takes the stamp's place
# only when it says something else.
stamp		= { cmp -s $@.new $@ || mv $@.new $@; }
# For recipes that run before every command: no program runs if the folder is there.
make_folder	= { [ -d $(@D) ] || mkdir -p $(@D); }
.PHONY: FORCE
FORCE:

# $(eval $(call listed,STAMP,FILES)): a stamp that changes with the list.  Where a
# file is gone, nothing is newer than what was made from it.  Make compares the lists
# itself: there are many, and a shell for each would take longer than all else.
define listed
ifneq ($$(strip $$(file <$(1))),$(strip $(2)))
$(1): FORCE
endif
$(1):
	$$(Q)mkdir -p $$(@D)
	$$(Q)echo '$(strip $(2))' >$$@
endef

# These commands build nothing themselves.  They start another make, and so need not read what gcc
# has written down of dependencies (.d), which takes as long as all else.
STARTING	:= grade check hint watch start which-lab which-tests deps
BUILDING	:= $(filter-out $(STARTING),$(or $(MAKECMDGOALS),help))

MODULES		:= scripts book guest sim/model sim/process sim/map vm grader userspace kernel tests/guest tests/vm \
		   tests/bench tests/labs tests/strangers tests/upstream
include $(wildcard $(addsuffix /module.mk,$(MODULES)))

# What a student types all day, and what that builds, needs neither the tests that run on the
# host nor the suites.  Make would take longer to read those than all else.
WITHOUT_SUITES	:= $(STARTING) grade-build check-build hint-build $(AGATE_LAB_INFO) $(AGATE_WATCH)
ifneq ($(filter-out $(WITHOUT_SUITES),$(or $(MAKECMDGOALS),help)),)
include $(wildcard tests/host/*/module.mk tests/grader/*/module.mk tests/fuzz/module.mk)
# The last ones, for they run what the others added to HOST_TESTS.
include tests/host/module.mk $(wildcard tests/suites.mk)
endif

# gcc's records of dependencies (.d) may name a source that has moved since they were
# written.  It counts as changed then, so that what was made from it is made anew; without
# this rule make stops, and only `make clean` would help.
%.c: ;

JOBS		?= $(shell nproc)
# Of suites two more run: some wait more than they compute.
SUITE_JOBS	?= $(shell expr $(JOBS) + 2)

# Each of these is a whole make of its own, over the same files: one at a time.
ifneq ($(filter clean demo capstone install test test-long test-load upstream coverage shell bench grade check gdb watch doctor fuzz,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif
# Those makes share the jobs of one that was given -j, else they have their own.
# $(call parallel,N): N of them instead.
parallel	= $(if $(filter -j%,$(MAKEFLAGS)),,-j$(or $(1),$(JOBS)))

# Commands that run at the same time build one after the other.
locked		= scripts/build-lock.sh $(BUILD)
# A command that runs suites takes this lock before it builds: a second one would replace files that
# the first one's suites use, and both would write to one score.
alone		= scripts/build-lock.sh $(BUILD)/tests

# Programs and files that the commands below need.
HOST_PROGRAMS	 = $(AGATE_SIM) $(AGATE_VM) $(LIBAGATE) $(AGATE_TOOLS)
GUEST_FAST	 = $(HOST_PROGRAMS) $(INITRAMFS) $(BUILD)/guest/kernel-fast $(BUILD)/driver/fast/agate.ko
GUEST_DEBUG	 = $(HOST_PROGRAMS) $(INITRAMFS) $(BUILD)/guest/kernel-debug $(BUILD)/driver/debug/agate.ko
# What grading a lab needs, besides the lab: the reference in parts, and the tests.
LAB_FAST	 = $(HOST_PROGRAMS) $(AGATE_GRADE) $(INITRAMFS) $(LAB_TESTS) \
		   $(BUILD)/parts/fast/symvers $(LIBAGATE_LINK) $(BUILD)/tests/kmod/fast/agate_inject.ko
LAB_DEBUG	 = $(BUILD)/parts/debug/symvers $(BUILD)/tests/kmod/debug/agate_inject.ko

.PHONY: help
help:
	@echo "Agate: a GPU memory-management stack to learn from"
	@echo
	@sed -n 's/^## /  /p' $(filter Makefile %.mk,$(MAKEFILE_LIST))

# Packages first, then a second make that can ask pkg-config and the kernel.
.PHONY: deps
deps:
ifneq ($(DEPS),skip)
	$(Q)scripts/install-deps.sh
endif

## make demo [GPU=bifrost] [COHERENCY=ace-lite|none] [CACHE=off] [SUSPEND=always|system]
##           [BOS=contiguous|imported|vram|spilled [VRAM=MIB] [VISIBLE=MIB] [FLIP=on] [OVERCOMMIT=N]]
##           [VM=on]
##                  render build/demo/gem.png, then grade a solution and one with a bug;
##                  BOS=imported: with memory of a second GPU; BOS=vram: with that of a card;
##                  FLIP=on: the card's display shows it, and writes build/demo/frames;
##                  VM=on: in an address space of the program's own;
##                  OVERCOMMIT=4: beside BOs that want four times the card's memory
.PHONY: demo demo-build
demo: deps
	$(Q)$(locked) $(MAKE) $(parallel) demo-build
	$(Q)scripts/demo.sh $(BUILD)/demo
	$(Q)scripts/demo-grade.sh $(BUILD)/demo/grading

## make capstone [GPU=bifrost] [FRAMES=6]
##                  render frames while memory is short, interrupts are lost and the system sleeps;
##                  build/capstone/index.html shows them, and what happened meanwhile
.PHONY: capstone
capstone: deps
	$(Q)$(locked) $(MAKE) $(parallel) demo-build
	$(Q)scripts/capstone/run.sh $(BUILD)/capstone

demo-build: $(GUEST_FAST) $(LAB_FAST) $(CARD_FIRMWARE)

# Passed on only when they were given: the grader knows the defaults.
GRADE_OPTIONS	 = --lab "$$LAB" $(if $(FROM),--from "$$FROM") $(if $(TEST),--test "$$TEST") \
		   $(if $(DEBUG),--debug) $(if $(CHAIN),--chain) $(if $(SEED),--seed "$$SEED") \
		   $(if $(OUT),--out "$$OUT") $(if $(STEP),--step "$$STEP")

# The lab's files take the place of the reference's: that one may be old.
without		 = $(if $(filter-out all,$(LAB)),WITHOUT="$$(scripts/lab.sh "$$LAB")")

.PHONY: which-lab
which-lab:
	@[ "$$LAB" = all ] || scripts/lab.sh "$$LAB" >/dev/null

# A name that is misspelt is told before minutes of building; the rest is the grader's.
.PHONY: which-tests
which-tests: which-lab
	$(if $(TEST)$(STEP),$(Q)$(locked) $(MAKE) -s $(AGATE_LAB_INFO))
	$(if $(TEST)$(STEP),$(Q)scripts/which-tests.sh "$$LAB" $(if $(filter hint gdb,$(COMMANDS)),exact))

## make grade LAB=02 [STEP=k] [TEST=glob] [DEBUG=1] [FROM=labs|solutions|DIR] [CHAIN=1] [SEED=n]
##            [OUT=dir]
##                  grade a lab, or LAB=all; STEP=k runs the tests of the first k steps alone,
##                  DEBUG=1 grades on the debug kernel as well
.PHONY: grade grade-build
grade: which-lab deps which-tests
	$(Q)$(locked) $(MAKE) $(parallel) $(without) grade-build
	$(Q)$(AGATE_GRADE) $(GRADE_OPTIONS) $(if $(DEBUG),,--guests 2)

grade-build: $(LAB_FAST) $(call precompiled,fast,$(WITHOUT)) \
		$(if $(DEBUG),$(LAB_DEBUG) $(call precompiled,debug,$(WITHOUT)))
	@:

## make check LAB=02 [FROM=..]
##                  compile, symbols, host tests, and what a reviewer would say; no guest
.PHONY: check check-build
check: which-lab deps
	$(Q)$(locked) $(MAKE) $(parallel) $(without) check-build
	$(Q)scripts/check.sh "$$LAB" $(if $(FROM),"$$FROM")

# The empty recipe: nothing to be done is nothing to be told.
check-build: $(BUILD)/parts/fast/symvers $(LIBAGATE_LINK)
	@:

## make hint LAB=02 TEST=sizes
##                  the next hint of a test
.PHONY: hint hint-build
hint: which-lab
	@test -n "$$TEST" || { echo "Which test?  Say TEST=name." >&2; exit 1; }
	$(Q)$(locked) $(MAKE) -s $(AGATE_LAB_INFO)
	$(Q)scripts/which-tests.sh "$$LAB" exact
	$(Q)$(locked) $(MAKE) $(parallel) hint-build
	$(Q)$(AGATE_GRADE) hint --lab "$$LAB" --test "$$TEST" $(if $(OUT),--out "$$OUT")

hint-build: $(AGATE_GRADE)
	@:

## make start LAB=02 [STEP=k] [FORCE=1]
##                  the starter, or with the first k steps solved
.PHONY: start
start: which-lab deps
	$(Q)$(locked) $(MAKE) -s $(AGATE_LAB_INFO)
	$(Q)scripts/start.sh "$$LAB" $(if $(STEP),"$$STEP")

## make watch LAB=02 [STEP=k] [TEST=glob] [DEBUG=1]
##                  grade whenever a file of the lab is saved; ^C ends it
.PHONY: watch
watch: which-lab deps which-tests
	$(Q)$(locked) $(MAKE) -s $(AGATE_WATCH) $(AGATE_LAB_INFO)
	$(Q)scripts/watch.sh "$$LAB"

## make gdb [LAB=02] [FROM=..] [TEST=name] [DEBUG=1]
##                  gdb on a guest, with symbols of kernel, module and the lab's file
.PHONY: gdb
gdb: $(if $(LAB),which-lab) deps $(if $(LAB),which-tests)
	$(Q)$(locked) $(MAKE) $(parallel) $(without) grade-build
	$(Q)scripts/gdb.sh

## make doctor      what this machine has, and how fast it is
.PHONY: doctor
doctor:
	$(Q)scripts/doctor.sh

## make test [LAB=02] [FRESH=1] [MUTANTS=all]
##                  every check whose inputs have changed, LAB=02: only those that look at this
##                  lab, FRESH=1: every check, MUTANTS=all: with all bugs that it has to find; the
##                  last line is "N passed, N failed"
.PHONY: test test-build test-run
# A LAB from the environment is meant for other commands.
test_lab	:= $(if $(filter LAB,$(GIVEN)),$(filter-out all,$(LAB)))
test: $(if $(test_lab),which-lab) deps
	$(Q)$(alone) $(MAKE) test-run

# sparse.log rebuilds what it looks at, so it comes before anybody uses that.
test-build: $(foreach f,fast debug,$(call precompiled,$(f),$(DRIVER_LABS))) $(GUEST_FAST) $(GUEST_DEBUG) $(CARD_FIRMWARE) $(FAKE_KERNEL) $(MAN_PAGES) $(LAB_FAST) $(LAB_DEBUG) $(LAB_VERDICT) $(WITHOUT_PROSE) $(HOST_TESTS) $(GUEST_PROGRAMS) $(STRANGERS) $(VM_TESTS) $(BUILD)/driver/sparse.log \
		$(UPSTREAM_FAST) $(FUZZ_PROGRAMS) $(DRIVER_SYMVERS) $(LIBAGATE_LINK) $(AGATE_WATCH) $(EXPLAIN_LOG) \
		coverage-build

# The suites of LAB, if there is one.
asked		= $(if $(test_lab),$$(cat $(BUILD)/tests/asked))
# The suites call commands that build, so the lock is free again when they run.
test-run:
	$(Q)$(locked) $(MAKE) $(parallel) test-build
	$(Q)$(locked) $(MAKE) -s $(SUITE_TABLE)
	$(Q)rm -f $(BUILD)/tests/score
	$(if $(test_lab),$(Q)tests/lab-suites.sh $(SUITE_TABLE) "$$LAB" >$(BUILD)/tests/asked)
	$(Q)$(run_suites) $(SUITE_TABLE) $(asked)
	$(Q)tests/score.sh $(or $(asked),$(SUITES))

## make test-long   what takes hours: every mutant by all tests, other seeds, fuzzing, races
.PHONY: test-long test-long-run
test-long: deps
	$(Q)$(alone) $(MAKE) test-long-run

test-long-run:
	$(Q)$(locked) $(MAKE) $(parallel) test-build $(UPSTREAM_DEBUG)
	$(Q)$(locked) $(MAKE) -s $(LONG_TABLE) $(SUITE_TABLE)
	$(Q)rm -f $(BUILD)/tests/score
	$(Q)$(run_suites) $(LONG_TABLE)
	$(Q)tests/score.sh $(LONG_SUITES)

## make test-load [LAB="01 02"]
##                  are the labs' verdicts the same with thirty busy processes beside them?
.PHONY: test-load test-load-build test-load-run
test-load: deps
	$(Q)$(alone) $(MAKE) test-load-run

test-load-run:
	$(Q)$(locked) $(MAKE) $(parallel) test-load-build
	$(Q)tests/labs/load.sh

test-load-build: $(LAB_FAST) $(LAB_DEBUG) $(GUEST_DEBUG) $(LAB_VERDICT)

## make upstream    upstream's Panfrost, unmodified, on this GPU: its tests, on both identities
.PHONY: upstream upstream-build upstream-run
upstream: deps
	$(Q)$(alone) $(MAKE) upstream-run

upstream-run:
	$(Q)$(locked) $(MAKE) $(parallel) upstream-build
	$(Q)$(locked) $(MAKE) -s $(UPSTREAM_TABLE)
	$(Q)rm -f $(BUILD)/tests/score
	$(Q)$(run_suites) $(UPSTREAM_TABLE)
	$(Q)tests/score.sh $(UPSTREAM_SUITES)

upstream-build: $(UPSTREAM_FAST)

## make shell [LAB=02 [FROM=labs|solutions|DIR]] [DRIVER=panfrost] [GPU=bifrost] [GPUS=2] [DEBUG=1]
##            [DEMO=1] [VRAM=MIB [VISIBLE=MIB]] [PUT="FILE..."]
##                  a guest with the driver loaded and a shell; ^D ends it.  LAB: yours,
##                  DRIVER=panfrost: upstream's, DEMO=1: agate-gem draws, for agate-top,
##                  VRAM=64: a card, for agate-map, PUT: files for the guest's /bin
.PHONY: shell shell-build
shell: $(if $(filter-out all,$(LAB)),which-lab) deps
	$(Q)[ "$$LAB" != all ] || scripts/shell.sh
	$(Q)$(locked) $(MAKE) $(parallel) $(without) shell-build
	$(Q)scripts/shell.sh

shell-build: $(if $(LAB),grade-build,$(if $(DEBUG),$(GUEST_DEBUG),$(GUEST_FAST))) \
		$(if $(DRIVER),$(if $(DEBUG),$(UPSTREAM_DEBUG),$(UPSTREAM_FAST))) $(if $(VRAM),$(CARD_FIRMWARE))

## make bench       measure; the table, build/bench/bench.json, and what make test costs by suite
.PHONY: bench bench-build
bench: deps
	$(Q)$(locked) $(MAKE) $(parallel) bench-build
	$(Q)tests/bench/bench.sh

bench-build: $(GUEST_FAST) $(GUEST_DEBUG) $(BENCH_PROGRAMS) $(MODULE_BENCHES) $(CARD_FIRMWARE) \
		$(BUILD)/upstream/fast/agate_panfrost.ko $(GUEST_TEST_DIR)/one-job

## make clean       remove build/ (the kernels stay in the cache)
.PHONY: clean
clean:
	$(call say,CLEAN,$(BUILD))
	$(Q)$(alone) $(locked) rm -rf $(BUILD)
