# SPDX-License-Identifier: MIT
# Host tests of the tree and of the range allocator: the driver's own files, through the shim.
#
# AGATE_LAB_19 selects another version of lab 19's file; each version has objects of its own.

AGATE_LAB_19	?= solutions/19-ranges
RANGE_TEST_BUILD := $(BUILD)/tests/host/range
RANGE_LAB	:= $(RANGE_TEST_BUILD)/$(subst /,_,$(AGATE_LAB_19))
RANGE_TESTS	:= $(patsubst tests/host/range/test_%.c,%,$(wildcard tests/host/range/test_*.c))
RANGE_COMMON	:= $(RANGE_LAB)/agate_range.o \
		   $(RANGE_TEST_BUILD)/range_helpers.o $(RANGE_TEST_BUILD)/range_model.o
RANGE_CFLAGS	= $(CFLAGS_HOST) $(CFLAGS_SAN) -Itests/host/shim -Ikernel -Itests/host/range
# Warnings are not errors here, because the file may be a student's.
RANGE_KERNEL_CFLAGS = $(filter-out -Werror,$(RANGE_CFLAGS)) -Wno-unused-parameter -DLAB19=99

$(RANGE_LAB)/%.o: $(AGATE_LAB_19)/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(RANGE_KERNEL_CFLAGS) -MMD -MP -c -o $@ $<

$(RANGE_TEST_BUILD)/%.o: tests/host/range/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(RANGE_CFLAGS) -MMD -MP -c -o $@ $<

RANGE_PROGRAMS := $(RANGE_TESTS:%=$(RANGE_TEST_BUILD)/%)
$(eval $(call listed,$(RANGE_TEST_BUILD)/common.list,$(RANGE_COMMON)))
$(RANGE_PROGRAMS): $(RANGE_TEST_BUILD)/%: $(RANGE_TEST_BUILD)/test_%.o $(RANGE_COMMON) \
		$(RANGE_TEST_BUILD)/common.list
	$(call say,LD,$@)
	$(Q)$(CC) $(RANGE_CFLAGS) -o $@ $(filter %.o,$^) -lcmocka

.SECONDARY: $(RANGE_TESTS:%=$(RANGE_TEST_BUILD)/test_%.o)
-include $(wildcard $(RANGE_TEST_BUILD)/*.d $(RANGE_LAB)/*.d)

HOST_TESTS	+= $(RANGE_PROGRAMS)
