# SPDX-License-Identifier: MIT
# Host tests of the GGTT: the driver's own files, through the shim, on a fake card.
#
# AGATE_LAB_20 selects another version of lab 20's file; each version has objects of its own.

AGATE_LAB_20	?= solutions/20-ggtt
GGTT_TEST_BUILD	:= $(BUILD)/tests/host/ggtt
GGTT_LAB	:= $(GGTT_TEST_BUILD)/$(subst /,_,$(AGATE_LAB_20))
GGTT_TESTS	:= $(patsubst tests/host/ggtt/test_%.c,%,$(wildcard tests/host/ggtt/test_*.c))
GGTT_COMMON	:= $(GGTT_LAB)/agate_ggtt.o $(GGTT_TEST_BUILD)/agate_range.o \
		   $(GGTT_TEST_BUILD)/fake_card.o
GGTT_CFLAGS	= $(CFLAGS_HOST) $(CFLAGS_SAN) -Itests/host/shim -Ikernel -Itests/host/ggtt
# Warnings are not errors here, because the file may be a student's.
GGTT_KERNEL_CFLAGS = $(filter-out -Werror,$(GGTT_CFLAGS)) -Wno-unused-parameter -DLAB19=99 -DLAB20=99

$(GGTT_LAB)/%.o: $(AGATE_LAB_20)/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(GGTT_KERNEL_CFLAGS) -MMD -MP -c -o $@ $<

$(GGTT_TEST_BUILD)/agate_range.o: solutions/19-ranges/agate_range.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(GGTT_KERNEL_CFLAGS) -MMD -MP -c -o $@ $<

$(GGTT_TEST_BUILD)/%.o: tests/host/ggtt/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(GGTT_CFLAGS) -MMD -MP -c -o $@ $<

GGTT_PROGRAMS := $(GGTT_TESTS:%=$(GGTT_TEST_BUILD)/%)
$(eval $(call listed,$(GGTT_TEST_BUILD)/common.list,$(GGTT_COMMON)))
$(GGTT_PROGRAMS): $(GGTT_TEST_BUILD)/%: $(GGTT_TEST_BUILD)/test_%.o $(GGTT_COMMON) \
		$(GGTT_TEST_BUILD)/common.list
	$(call say,LD,$@)
	$(Q)$(CC) $(GGTT_CFLAGS) -o $@ $(filter %.o,$^) -lcmocka

.SECONDARY: $(GGTT_TESTS:%=$(GGTT_TEST_BUILD)/test_%.o)
-include $(wildcard $(GGTT_TEST_BUILD)/*.d $(GGTT_LAB)/*.d)

HOST_TESTS	+= $(GGTT_PROGRAMS)
