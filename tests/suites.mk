# SPDX-License-Identifier: MIT
#
# The suites of `make test`, one line each in build/tests/suites, for tests/queue.sh:
#
#   NAME|CPUS|SECONDS|INPUTS|COMMAND
#
# CPUS is how many processors the suite keeps busy: 1, or those of its guests if these compute most
# of the time; with a d where one of them has the debug kernel.  SECONDS is how long it may say
# nothing.  INPUTS are all that its verdict depends on (tests/keep.sh), or "-" for a suite that is
# never kept as a whole; tests/inputs.sh compares them with what the suite opens.  Those that take
# longest come first.

# What takes long takes turns, so that a run of all suites stays short.  The number of commits says
# whose turn it is: everybody who tests one commit tries the same.  With MUTANTS=all nobody waits
# for a turn, and so it is in test-long.
#
# $(call turn,N): which of 1 to N has its turn.  $(call turns,N): that one, or all of them.
SHARDS		:= 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24
# A word N.TURN for each N, from one program.  The suites that make allocations fail run at one commit
# in four, so their turn changes after four.
TURN_OF		:= $(shell n=$$(git rev-list --count HEAD 2>/dev/null || echo 0); \
		   echo 2.$$((n % 2 + 1)) 4.$$((n % 4 + 1)) 24.$$((n % 24 + 1)) failnth.$$((n / 4 % 6 + 1)))
turn		= $(patsubst $(1).%,%,$(filter $(1).%,$(TURN_OF)))
turns		= $(if $(filter all,$(MUTANTS)),$(wordlist 1,$(1),$(SHARDS)),$(call turn,$(1)))
# $(call shard,N): a script's arguments SHARD SHARDS; none with MUTANTS=all, and it takes all.
shard		= $(if $(filter all,$(MUTANTS)),,$(call turn,$(1)) $(1))

# Suites of the project's own tools, in two halves.  In a clean clone one half has its turn; where
# they have run before, all of them look at what has changed.
TOOLS_1		:= labs/check labs/check-host labs/kept vm/hung labs/crashes labs/typed
TOOLS_2		:= vm/launcher vm/grading kept capstone labs/page labs/machine labs/compose
WAITING		:= $(foreach s,$(filter-out $(foreach h,$(call turns,2),$(TOOLS_$(h))),$(TOOLS_1) $(TOOLS_2)), \
		   $(if $(wildcard $(BUILD)/tests/kept/$(subst /,-,$(s))),,$(s)))

# $(call suite,NAME,CPUS,SECONDS,INPUTS,COMMAND)
#
# The names of files are among these words.  `$$` keeps them from being expanded until make
# has read the line, so a name with a `$` in it stays a name.
SUITES		:=
define suite_line
SUITES += $$(filter-out $(WAITING),$$(strip $$(1)))
SUITE_$$(strip $$(1)) := $$(strip $$(1))|$$(strip $$(2))|$$(strip $$(3))|$$(strip $$(4))|$$(strip $$(5))
endef
suite = $(eval $(suite_line))

# $(call plain,NAMES): those with no other characters than PLAIN.  Others could divide a line
# of the table, or be a command where a shell reads them.
PLAIN		:= a b c d e f g h i j k l m n o p q r s t u v w x y z \
		   A B C D E F G H I J K L M N O P Q R S T U V W X Y Z 0 1 2 3 4 5 6 7 8 9 . _ -
without_plain	= $(if $(2),$(call $(0),$(subst $(firstword $(2)),,$(1)),$(wordlist 2,99,$(2))),$(1))
plain		= $(foreach name,$(1),$(if $(call without_plain,$(name),$(PLAIN)),,$(name)))

# $(call number_of,NN-TOPIC...): NN of each.  $(call solution_of,NN-TOPIC): the folder of its solution.
number_of	= $(foreach lab,$(1),$(firstword $(subst -, ,$(lab))))
solution_of	= $(wildcard solutions/$(call number_of,$(1))-*)
GRADED_LABS	:= $(call plain,$(patsubst labs/%/lab.json,%, \
		   $(filter labs/%/lab.json,$(wildcard labs/[0-9][0-9]-*/lab.json))))

# What several of them read.
TOP_NAMES	:= $(wildcard *)
TOP_PLAIN	:= $(call plain,$(TOP_NAMES))
ALL_SOURCES	:= $(filter-out $(BUILD) book docs,$(TOP_PLAIN)) book/hardware.md book/module.mk
VM_INPUTS	:= $(AGATE_VM) $(AGATE_SIM) $(INITRAMFS)
FAST_INPUTS	:= $(VM_INPUTS) $(KERNEL_FAST).id $(KERNEL_FAST)/bzImage $(KERNEL_FAST)/ram
DEBUG_INPUTS	:= $(VM_INPUTS) $(KERNEL_DEBUG).id $(KERNEL_DEBUG)/bzImage $(KERNEL_DEBUG)/ram
# What time limits of the grader follow.
MEASURED	:= maybe:$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/agate/doctor.json
LINK_FILES	:= scripts kernel userspace include $(COMPOSE_TOOLS) $(KERNEL_IDS) tests/tap.sh
# What stands for a module: for the fast kernel its code; for the debug kernel its sources, whether it
# is made of them, and what compiles and links it.
MODULE_fast	:= code:$(BUILD)/driver/fast/agate.ko
DEBUG_SOURCES	:= sources:$(BUILD)/driver/debug summed:$(BUILD)/driver/debug
MODULE_debug	:= $(DEBUG_SOURCES) $(BUILD)/parts/debug/compile guest/kernel-make.sh $(KERNEL_DEBUG).id
# For a suite that runs what it links, and for one that only links.
LAB_INPUTS	:= $(LINK_FILES) code:$(BUILD)/parts/fast code:$(BUILD)/parts/library \
		   symbols:$(BUILD)/parts/debug $(DEBUG_SOURCES)
LINK_INPUTS	:= $(LINK_FILES) symbols:$(BUILD)/parts summed:$(BUILD)/parts
# $(call lab_tests,NN...): the test programs of these labs.
lab_tests	= $(foreach lab,$(1),$(patsubst %,code:%,$(filter $(BUILD)/tests/labs/$(lab)-%,$(LAB_TESTS))))
# The parts of each lab.json that verdicts depend on.
LAB_JSONS	:= $(GRADED_LABS:%=lab:labs/%/lab.json)
# What make itself reads, and what it builds host tests from.
MAKEFILES_HERE	:= $(filter-out $(BUILD)/%,$(filter Makefile %.mk,$(MAKEFILE_LIST)))
HOST_SOURCES	:= $(MAKEFILES_HERE) kernel include userspace sim grader vm scripts tests/host tests/grader tests/tap.sh

# Guests with the debug kernel, each alone with its kind: of guests that share processors
# each spends much of its time waiting for a lock whose holder is not running.  A word behind
# the name of a suite is its argument.
guest_suite = $(call suite,guest-$(1)/$(firstword $(2)),$(3),900,$($(4)_INPUTS) $(MODULE_$(1)) \
	$(BUILD)/tests/kmod/$(1)/agate_inject.ko $(BUILD)/guest/kernel-$(1)/modules $(GUEST_PROGRAMS) $(CARD_FIRMWARE) $(BUILD)/bin/agate-info $(BUILD)/bin/agate-map $(BUILD)/bin/agate-top $(LIBAGATE) tests/guest/run.sh tests/guest/run-card.sh tests/guest/run-lib.sh tests/guest/run-checks.sh tests/guest/address.awk tests/guest/turns.awk tests/guest/supplies.awk tests/guest/victims.awk, \
	tests/guest/run.sh $(1) $(2))
# The suites of guests in four groups, which take about equally long.  One group runs on the debug
# kernel and the next group on the fast kernel: so a suite runs on the fast kernel at one commit, and
# on the debug kernel at the commit after it.
BOTH_KERNELS_1	:= moves
BOTH_KERNELS_2	:= swiotlb reset reload wired
BOTH_KERNELS_3	:=
BOTH_KERNELS_4	:= dvfs long card power gpu-off shared
ON_DEBUG_1	:= fuzz
ON_DEBUG_2	:= card-failnth
ON_DEBUG_3	:= calls jobs two fuzz-card
ON_DEBUG_4	:=
ON_FAST_1	:=
ON_FAST_2	:= suspend-port lite
ON_FAST_3	:= moves-port suspend
ON_FAST_4	:= card-port bifrost
# These run with every commit.
ON_FAST		:= calls jobs two two-none swiotlb-two swiotlb-card cards victims
# Of the allocations that have to fail every sixth one has its turn.
FAILNTH_SUITES	:= calls two card-failnth
$(foreach g,$(call turns,4),$(foreach s,$(BOTH_KERNELS_$(g)) $(ON_DEBUG_$(g)), \
	$(call guest_suite,debug,$(s) $(if $(filter $(FAILNTH_SUITES),$(s)),$(call turn,failnth)),2d,DEBUG)))

# Tests that nobody here wrote.
$(call suite,strangers,2,600,$(FAST_INPUTS) $(MODULE_fast) $(KERNEL_FAST)/modules $(STRANGERS) \
	maybe:/usr/bin/drmdevice tests/guest/run-lib.sh tests/strangers,tests/strangers/strangers.sh)

# Every lab that can be graded: its scores, and its mutants, which those who keep single
# verdicts keep themselves.
LAB_NUMBERS	= $(call number_of,$(GRADED_LABS))

# Of the bugs that the tests have to find one in 24 has its turn, and of the other right programs one
# in four.
TURNS		:= $(call turns,24)
# $(call by_turn,RULE,PART/SHARD/SHARDS...): RULE with PART, SHARD and SHARDS, for each word that has
# its turn.
by_turn		= $(foreach s,$(TURNS),$(call by_word,$(1),$(subst /, ,$(word $(s),$(2)))))
by_word		= $(call $(1),$(word 1,$(2)),$(word 2,$(2)),$(word 3,$(2)))

$(foreach lab,$(LAB_NUMBERS), \
	$(call suite,scores/$(lab),2d,900,-,tests/labs/scores.sh $(lab) $(if $(call shard,4),$(call shard,4) $(call turn,24))) \
	$(foreach s,$(TURNS),$(call suite,mutants/$(lab)/debug/$(s),1d,900,-, \
		tests/labs/mutants.sh $(lab) debug $(s) $(words $(SHARDS)))) \
	$(foreach s,$(TURNS),$(call suite,mutants/$(lab)/$(s),1,900,-, \
		tests/labs/mutants.sh $(lab) fast $(s) $(words $(SHARDS)))))

# Bugs in what guest tests alone look at, as long as there is no lab for it: $(1) is the number of
# the part, $(2) the script, $(3) its arguments.
guest_mutants	= $(call suite,guest-mutants/$(1)/$(word 1,$(3)),2,1800,$(FAST_INPUTS) code:$(BUILD)/parts/fast $(GUEST_PROGRAMS) \
	$(MODULE_fast) $(BUILD)/tests/kmod/fast/agate_inject.ko \
	$(BUILD)/guest/kernel-fast/modules $(CARD_FIRMWARE) $(BUILD)/bin/agate-info $(BUILD)/bin/agate-map $(BUILD)/bin/agate-top $(LIBAGATE) kernel include \
	$(call solution_of,$(1)) \
	tests/mutants/$(1) $(2) tests/guest/part-lib.sh tests/guest/run.sh tests/guest/run-card.sh tests/guest/run-lib.sh tests/guest/run-checks.sh \
	tests/guest/address.awk tests/guest/supplies.awk tests/guest/victims.awk tests/tap.sh, \
	$(2) $(if $(filter 22-tt,$(1)),,$(1)) $(3))
# PART/SHARD/SHARDS for each of the 24 turns.  Only one part has its turn at a time, because a
# suite first has to see that its tests pass without a bug.  Every part has odd turns and even
# ones, for those who commit twice between two tests.
GUEST_TURNS	:= 24/1/6 21/3/4 23/1/3 26/2/3 21/1/4 24/4/6 17/1/2 22-tt/2/2 24/2/6 23/3/3 26/1/3 18/2/2 \
		   16/1/2 24/5/6 21/2/4 17/2/2 23/2/3 26/3/3 24/3/6 16/2/2 22-tt/1/2 21/4/4 18/1/2 24/6/6
GUEST_MUTANTS	:= $(filter-out 22-tt,$(sort $(foreach t,$(GUEST_TURNS),$(firstword $(subst /, ,$(t))))))
guest_turn	= $(call guest_mutants,$(1),tests/guest/$(if $(filter 22-tt,$(1)),tt-,)mutants.sh,$(2) $(3))
$(call by_turn,guest_turn,$(GUEST_TURNS))

$(call suite,labs/crashes,2d,600,$(FAST_INPUTS) $(DEBUG_INPUTS) tests/labs/crashes.sh tests/tap.sh \
	tests/grader/explain $(EXPLAIN_LOG) guest/kernel-make.sh,tests/labs/crashes.sh)
$(call suite,style,1,900,$(ALL_SOURCES) book docs .ci .gitignore listed:. $(KERNEL_IDS) $(MODULE_fast) \
	$(KERNEL_FAST)/source/scripts/checkpatch.pl,tests/style.sh)
$(call suite,coverage,1,600,$(COVERAGE_TESTS) $(COVERAGE_BUILD)/tests/host/sim/agate-sim \
	$(COVERAGE_BUILD)/tests/host/map/agate-map sim include tests/coverage.sh tests/coverage.awk \
	tests/README.md tests/host listed:sim $(foreach n,* */* */*/* */*/*/*,$(wildcard $(COVERAGE_BUILD)/tests/host/$(n).gcno)),tests/coverage.sh $(COVERAGE_BUILD) $(COVERAGE_TESTS))

$(foreach s,$(ON_FAST) $(foreach g,$(call turns,4),$(foreach n,$(word $(g),2 3 4 1), \
	$(BOTH_KERNELS_$(n)) $(ON_FAST_$(n)))),$(call guest_suite,fast,$(s),2,FAST))

$(foreach s,kill launcher policy,$(call suite,vm/$(s),2,600,$(FAST_INPUTS) tests/vm/$(s).sh tests/tap.sh, \
	tests/vm/$(s).sh))
$(call suite,vm/doctor,1,300,scripts tests/vm/doctor.sh tests/tap.sh,tests/vm/doctor.sh)
$(call suite,vm/kernels,1,300,guest scripts/kernel-source.sh tests/vm/kernels.sh tests/tap.sh,tests/vm/kernels.sh)
$(call suite,vm/sources,1,300,guest/kernel-make.sh scripts/install-deps.sh scripts/kernel-source.sh \
	scripts/packages.sh scripts/packages.txt tests/vm/sources.sh tests/tap.sh,tests/vm/sources.sh)
$(foreach p,$(VM_TESTS),$(call suite,vm/$(notdir $(p)),2,600,$(FAST_INPUTS) $(p) code:$(HANG_MODULE) \
	$(VM_TEST_DIR)/sample $(VM_TEST_DIR)/keeper $(INJECT_MODULES) \
	$(if $(filter %/grading,$(p)),$(DEBUG_INPUTS) $(MODULE_fast) $(MODULE_debug)),$(p)))

$(call suite,demo,2,600,$(FAST_INPUTS) scripts $(AGATE_TOOLS) $(LIBAGATE) $(MODULE_fast) \
	$(CARD_FIRMWARE) tests/demo.sh tests/tap.sh $(CHECK_TRACE) docs/gem.png,tests/demo.sh)
$(call suite,capstone,2,900,$(FAST_INPUTS) $(BUILD)/bin/agate-gem $(LIBAGATE) $(CARD_FIRMWARE) \
	$(MODULE_fast) scripts/capstone tests/capstone.sh tests/tap.sh,tests/capstone.sh)
$(call suite,labs/gdb,2d,600,$(FAST_INPUTS) $(MEASURED) $(DEBUG_INPUTS) $(LAB_INPUTS) $(AGATE_GRADE) $(LAB_JSONS) \
	words:labs/02-gem-object words:solutions \
	$(MODULE_fast) $(MODULE_debug) $(call lab_tests,01 02) $(INJECT_MODULES) tests/labs/gdb.sh,tests/labs/gdb.sh)
# Its guests wait most of the time, two of them for limits to pass.
$(call suite,labs/machine,1,600,$(FAST_INPUTS) $(MEASURED) $(LAB_INPUTS) $(AGATE_GRADE) $(LAB_JSONS) words:solutions \
	$(BUILD)/pch/includes/02-gem-object $(MODULE_fast) $(call lab_tests,02) $(INJECT_MODULES) \
	$(LAB_VERDICT) tests/keep.sh tests/labs/grade.sh tests/labs/machine.sh,tests/labs/machine.sh)
$(foreach lab,$(GRADED_LABS),$(call suite,labs/starters/$(call number_of,$(lab)),1,600,$(LINK_INPUTS) \
	$(filter %/$(lab),$(LAB_INCLUDES)) committed:labs/$(lab) committed:solutions/$(lab) tests/labs/starters.sh, \
	tests/labs/starters.sh $(lab) $(firstword $(call shard,2))))
$(call suite,labs/check,1,600,$(MAKEFILES_HERE) guest $(LINK_INPUTS) $(AGATE_GRADE) $(LAB_JSONS) $(BUILD)/pch/includes/02-gem-object solutions/02-gem-object \
	tests/labs/check-lib.sh tests/labs/check.sh,tests/labs/check.sh)
$(call suite,labs/check-host,1,600,$(HOST_SOURCES) $(LINK_INPUTS) solutions/08-bo solutions/09-bo-cache solutions/10-page-tables \
	tests/score.sh tests/labs/check-lib.sh tests/labs/check-host.sh,tests/labs/check-host.sh)
$(call suite,labs/compose,1,600,$(LAB_INPUTS) words:solutions $(MODULE_fast) $(MODULE_debug) \
	$(BUILD)/pch/includes/02-gem-object \
	code:$(BUILD)/driver/fast/solutions tests/labs/compose.sh,tests/labs/compose.sh)
$(call suite,labs/compose-library,1,600,$(LAB_INPUTS) words:solutions $(LIBAGATE) $(LIBAGATE_LABS) \
	tests/labs/compose-library.sh,tests/labs/compose-library.sh)
$(call suite,labs/start,1,600,scripts $(AGATE_LAB_INFO) tests/labs/start.sh tests/tap.sh, \
	tests/labs/start.sh)
$(call suite,labs/watch,1,600,$(AGATE_WATCH) $(AGATE_LAB_INFO) scripts labs tests/labs/watch.sh \
	tests/tap.sh,tests/labs/watch.sh)
$(call suite,labs/shell,2,600,$(FAST_INPUTS) $(LAB_INPUTS) $(LAB_JSONS) words:solutions $(LIBAGATE) $(AGATE_TOOLS) $(CARD_FIRMWARE) \
	$(LAB_INCLUDES) \
	$(MODULE_fast) \
	code:$(BUILD)/upstream/fast/agate_panfrost.ko $(UPSTREAM_PROGRAMS) tests/upstream \
	tests/labs/shell.sh,tests/labs/shell.sh)
$(call suite,kept,1,300,tests/keep.sh tests/queue.sh tests/score.sh tests/busy.sh tests/kept.sh tests/tap.sh \
	$(WITHOUT_PROSE),tests/kept.sh)
$(call suite,labs/kept,1,300,tests/labs/kept.sh tests/labs/grade.sh tests/labs/mutants.sh tests/labs/scores.sh \
	tests/keep.sh tests/tap.sh scripts/lab.sh scripts/box-lib.sh $(LAB_VERDICT) $(WITHOUT_PROSE) $(AGATE_LAB_INFO), \
	tests/labs/kept.sh)
$(call suite,attacks,1,900,$(LINK_INPUTS) $(LAB_JSONS) $(BUILD)/pch/includes/02-gem-object words:solutions/02-gem-object \
	tests/attacks,tests/attacks/run.sh $(call shard,4))
$(call suite,attacks/grader,1,600,$(FAST_INPUTS) $(MEASURED) $(LAB_INPUTS) $(AGATE_GRADE) $(call lab_tests,02) $(INJECT_MODULES) \
	$(LAB_JSONS) $(BUILD)/pch/includes/02-gem-object words:solutions tests/attacks/02 tests/attacks/grader.sh,tests/attacks/grader.sh)
# It makes a lab in a copy of the project.
$(call suite,labs/page,2,600,$(FAST_INPUTS) $(filter-out labs solutions,$(ALL_SOURCES)) words:labs words:solutions $(LAB_INPUTS) $(AGATE_GRADE) $(LAB_TESTS) $(INJECT_MODULES) \
	$(LIBAGATE_LABS) $(LAB_VERDICT) $(MEASURED),tests/labs/page.sh)
$(call suite,labs/allow,1,300,$(LINK_FILES) $(LAB_JSONS) $(DRIVER_SYMVERS) tests/labs/allow.sh,tests/labs/allow.sh)
$(call suite,labs/typed,1,600,Makefile tests/suites.mk tests/lab-suites.sh scripts/lab.sh scripts/build-lock.sh scripts/which-tests.sh scripts/compose-lib.sh scripts/box-lib.sh tests/labs/typed.sh tests/tap.sh, \
	tests/labs/typed.sh)

$(foreach t,$(FUZZ_TARGETS),$(call suite,fuzz/$(t),1,600,$(FUZZ_BUILD)/fuzz-$(t) tests/fuzz/run.sh \
	tests/fuzz/corpus/$(t),tests/fuzz/run.sh $(t) 5))

$(call suite,layout,1,300,include/agate_drm.h tests/layout.sh tests/layout.awk tests/tap.sh,tests/layout.sh)
$(call suite,book,1,300,$(ALL_SOURCES) book listed:.,tests/book.sh)
$(call suite,install,1,600,$(MAKEFILES_HERE) sim include userspace scripts words:solutions $(LIBAGATE) $(AGATE_TOOLS) \
	$(MAN_PAGES) $(FAKE_KERNEL) tests/tap.sh tests/install.sh,tests/install.sh)

# Bugs in what host tests look at: $(1) is the lab, $(2) the shard of $(3); which tests look.  One
# lab has its turn at a time, as with the guests' tests.
host_mutants	= $(call suite,host-mutants/$(1)/$(2),1,600,$(HOST_SOURCES) \
	$(call solution_of,$(1)) $(HOST_ALSO_$(1)) tests/mutants/$(1), \
	tests/host/mutants.sh $(1) $(2) $(3) $(HOST_TESTS_OF_$(1)))
HOST_TESTS_OF_19 := range_property range
HOST_TESTS_OF_20 := ggtt_table ggtt_nodes ggtt_remove
HOST_TESTS_OF_22 := pool tt
HOST_TESTS_OF_24-va := va va_property
HOST_TESTS_OF_25 := vm_pt vm_pt_property
# The other labs' files that these are built with.
HOST_ALSO_20	:= solutions/19-ranges
HOST_ALSO_25	:= solutions/10-page-tables
HOST_MUTANTS	:= 19 20 22 24-va 25
HOST_TURNS	:= 20/1/9 22/4/6 22/1/6 20/6/9 20/2/9 25/2/3 19/1/3 24-va/2/3 20/3/9 20/7/9 25/1/3 22/5/6 \
		   22/2/6 19/3/3 20/4/9 20/8/9 24-va/1/3 22/6/6 20/5/9 25/3/3 22/3/6 20/9/9 19/2/3 24-va/3/3
$(call by_turn,host_mutants,$(HOST_TURNS))

# What a host test opens besides itself, by its folder.
host_files	= $(if $(filter $(SIM_TEST_BUILD)/% $(SANDBOX_BUILD)/%,$(1)),$(AGATE_SIM_SAN) $(AGATE_SIM) $(AGATE_FW)) \
		  $(if $(filter $(BUILD)/tests/host/map/%,$(1)),$(BUILD)/tests/host/map/agate-map) \
		  $(if $(filter $(EXPLAIN_BUILD)/%,$(1)),tests/grader/explain $(EXPLAIN_BUILD)/test_decode.ko) \
		  $(if $(filter %/grader-labs,$(1)),labs book)
$(foreach p,$(HOST_TESTS),$(call suite,host/$(notdir $(p)),1,600,$(p) $(call host_files,$(p)),$(p)))

# Upstream's driver on the same GPU, `make upstream`.  Not in `make test`: its own races show
# where the host is busy.
define upstream_line
UPSTREAM_SUITES += upstream/$(1)
SUITE_upstream/$(1) := upstream/$(1)|2|600|$(FAST_INPUTS) \
	code:$(BUILD)/upstream/fast/agate_panfrost.ko $(MODULE_fast) \
	$(UPSTREAM_PROGRAMS) tests/upstream tests/guest/run-lib.sh|tests/upstream/run.sh fast $(1)
endef
$(foreach g,midgard bifrost stuck,$(eval $(call upstream_line,$(g))))

# What takes too long for every day, `make test-long`; never kept.
# $(call long,NAME,CPUS,SECONDS,COMMAND)
LONG_SUITES	:=
define long_line
LONG_SUITES += $$(strip $$(1))
SUITE_$$(strip $$(1)) := $$(strip $$(1))|$$(strip $$(2))|$$(strip $$(3))|-|$$(strip $$(4))
endef
long = $(eval $(long_line))

$(foreach s,$(foreach g,1 2 3 4,$(BOTH_KERNELS_$(g))), \
	$(call long,all-guest-fast/$(s),2,3600,tests/guest/run.sh fast $(s)) \
	$(call long,all-guest-debug/$(s),2d,3600,tests/guest/run.sh debug $(s) leaks))
$(foreach lab,$(LAB_NUMBERS), \
	$(call long,all-scores/$(lab),4d,3600,tests/labs/scores.sh $(lab)) \
	$(call long,seeds/$(lab),4d,3600,tests/labs/seeds.sh $(lab) 20) \
	$(foreach s,$(SHARDS),$(call long,first/$(lab)/$(s),4d,3600, \
		tests/labs/mutants.sh $(lab) first $(s) $(words $(SHARDS)))))
# Those of 07 and 15 need a guest of their own for a few points.
$(foreach n,07 15 $(GUEST_MUTANTS),$(call long,all-guest-mutants/$(n),2,3600,tests/guest/mutants.sh $(n) 1 1))
$(call long,all-guest-mutants/22-tt,2,3600,tests/guest/tt-mutants.sh 1 1)
$(foreach n,$(HOST_MUTANTS),$(call long,all-host-mutants/$(n),1,3600, \
	tests/host/mutants.sh $(n) 1 1 $(HOST_TESTS_OF_$(n))))
$(foreach t,$(FUZZ_TARGETS),$(call long,long-fuzz/$(t),1,3600, \
	tests/fuzz/run.sh $(t) 600 $(FUZZ_BUILD)/found/$(t)))
$(foreach s,calls jobs swiotlb reset,$(call long,repeat/guest-debug-$(s),2d,7200, \
	tests/repeat.sh 5 tests/guest/run.sh debug $(s)))
$(foreach s,calls jobs bifrost lite swiotlb reset,$(call long,repeat/guest-fast-$(s),2,3600, \
	tests/repeat.sh 10 tests/guest/run.sh fast $(s)))
$(call long,strangers/all,2,900,tests/strangers/strangers.sh --long)
$(foreach s,storm swiotlb-storm storm-two swiotlb-storm-two storm-card cards halves suspend victims,$(call long,guest-debug/$(s),2d,3600,tests/guest/run.sh debug $(s)))
$(foreach s,$(FAILNTH_SUITES),$(call long,all-$(s),2d,3600,tests/guest/run.sh debug $(s)))
$(foreach lab,$(GRADED_LABS),$(call long,all-starters/$(call number_of,$(lab)),1,3600,tests/labs/starters.sh $(lab)))
$(call long,all-attacks,1,3600,tests/attacks/run.sh)
# For how long, and which calls: FUZZ_SEED is in the log.
FUZZ_SECONDS	?= 300
FUZZ_SEED	?= $(shell date +%s)
$(foreach f,fast debug,$(foreach s,fuzz fuzz-card,$(call long,long-fuzz/ioctls-$(f)-$(s),2$(if $(filter debug,$(f)),d),900, \
	tests/guest/run.sh $(f) $(s) $(FUZZ_SECONDS) $(FUZZ_SEED))))
$(call long,guest-fast/random,2,3600,tests/guest/run.sh fast random)
$(call long,guest-fast/power-long,2,3600,tests/guest/run.sh fast power-long)
$(foreach g,$(notdir $(UPSTREAM_SUITES)), \
	$(call long,repeat/upstream-$(g),2,3600,tests/repeat.sh 10 tests/upstream/run.sh fast $(g)) \
	$(call long,upstream-debug/$(g),2d,3600,tests/upstream/run.sh debug $(g)))
$(foreach p,$(filter %-tsan $(SANDBOX_BUILD)/%,$(HOST_TESTS)),$(call long,repeat/$(notdir $(p)),1,3600, \
	tests/repeat.sh 50 $(p)))
$(call long,book/formats,1,600,tests/book.sh --long)
# It runs `make test` itself, which takes all processors.
$(call long,other-debian,4d,7200,tests/other-debian.sh)
$(call long,inputs,2d,7200,tests/inputs.sh $(BUILD)/tests/suites)

SUITE_TABLE	:= $(BUILD)/tests/suites
LONG_TABLE	:= $(BUILD)/tests/suites-long
UPSTREAM_TABLE	:= $(BUILD)/tests/suites-upstream
$(SUITE_TABLE): TABLE = $(SUITES)
$(LONG_TABLE): TABLE = $(LONG_SUITES)
$(UPSTREAM_TABLE): TABLE = $(UPSTREAM_SUITES)
$(SUITE_TABLE) $(LONG_TABLE) $(UPSTREAM_TABLE): FORCE
	$(if $(filter-out $(TOP_PLAIN),$(TOP_NAMES)),$(Q)echo \
		"  NOTE     left out: names beside the Makefile with more than A-Z a-z 0-9 . _ - in them" >&2)
	$(Q)mkdir -p $(@D)
	$(file >$@.new)
	$(foreach s,$(TABLE),$(file >>$@.new,$(SUITE_$(s))))
	$(Q)$(stamp)

# Without the words that only say how make itself runs.
suite_words	= $(filter-out FRESH=% JOBS=% LAB=% MUTANTS=% SUITE_JOBS=% V=%,$(MAKEOVERRIDES))
# No shell stands between make and what passes make's signals on.
run_suites	= exec env MAKEFLAGS=' -- $(suite_words)' SUITE_JOBS=$(SUITE_JOBS) tests/queue.sh
suite/% long-suite/%: FORCE
	$(Q)$(alone) $(MAKE) run-$@
run-suite/%: $(SUITE_TABLE)
	$(Q)$(run_suites) $< $*
run-long-suite/%: $(LONG_TABLE)
	$(Q)$(run_suites) $< $*
