# SPDX-License-Identifier: MIT
#
# The grader's own tests, on guests that exist only on paper: under ASan and UBSan, and
# tests with two kernels at the same time under TSan, too.

GRADE_TEST	:= $(BUILD)/tests/grader/grade
GRADE_TESTS	:= $(patsubst tests/grader/grade/test_%.c,%,$(sort $(wildcard tests/grader/grade/test_*.c)))
GRADE_TESTS_TSAN := run run_pair live grade_labs
# All of the grader except its main() and the files that need a launcher; of others what it links.
GRADE_PARTS	:= $(filter-out agate_grade guest_vm,$(GRADER_SRCS:grader/%.c=%)) names gpu_control
GRADE_COMMON	:= canned lab_text play run_fixture

# $(1): asan or tsan; $(2): its flags; $(3): the folder of sources.
define grade_test_rule
$(GRADE_TEST)/$(1)/%.o: $(3)/%.c
	$$(call say,CC,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(CFLAGS_HOST) $(2) $$(GRADER_INCLUDES) -Itests/grader/grade -MMD -MP -c -o $$@ $$<

endef

define grade_test_rules
$(foreach dir,grader sim/model vm tests/grader/grade,$(call grade_test_rule,$(1),$(2),$(dir)))
$(call listed,$(GRADE_TEST)/$(1).list,$(GRADE_PARTS) $(GRADE_COMMON))
$(GRADE_TEST)/$(1)/grader.a: $(patsubst %,$(GRADE_TEST)/$(1)/%.o,$(GRADE_PARTS) $(GRADE_COMMON)) \
		$(GRADE_TEST)/$(1).list
	$$(call say,AR,$$@)
	$$(Q)rm -f $$@
	$$(Q)$$(AR) rcs $$@ $$(filter %.o,$$^)
endef

$(eval $(call grade_test_rules,asan,$(CFLAGS_SAN)))
$(eval $(call grade_test_rules,tsan,$(CFLAGS_TSAN)))

GRADE_LIBS	:= -lcmocka -ljansson -lelf -pthread

GRADE_ASAN_PROGRAMS := $(GRADE_TESTS:%=$(GRADE_TEST)/grader-%)
$(GRADE_ASAN_PROGRAMS): $(GRADE_TEST)/grader-%: $(GRADE_TEST)/asan/test_%.o $(GRADE_TEST)/asan/grader.a
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_SAN) -Wl,--build-id -o $@ $^ $(GRADE_LIBS)

GRADE_TSAN_PROGRAMS := $(GRADE_TESTS_TSAN:%=$(GRADE_TEST)/grader-%-tsan)
$(GRADE_TSAN_PROGRAMS): $(GRADE_TEST)/grader-%-tsan: $(GRADE_TEST)/tsan/test_%.o \
		$(GRADE_TEST)/tsan/grader.a
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_TSAN) -Wl,--build-id -o $@ $^ $(GRADE_LIBS)

.SECONDARY: $(GRADE_TESTS:%=$(GRADE_TEST)/asan/test_%.o) $(GRADE_TESTS_TSAN:%=$(GRADE_TEST)/tsan/test_%.o)
-include $(wildcard $(GRADE_TEST)/*/*.d)

HOST_TESTS	+= $(GRADE_ASAN_PROGRAMS) $(GRADE_TSAN_PROGRAMS)
