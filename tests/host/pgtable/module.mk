# SPDX-License-Identifier: MIT
# Host tests of the page tables: the driver's own files, through the shim.
#
# AGATE_LAB_10 selects another version of lab 10's files, a student's; each version has
# objects of its own.

AGATE_LAB_10	?= solutions/10-page-tables
PGTABLE_TEST_BUILD := $(BUILD)/tests/host/pgtable
PGTABLE_LAB	:= $(PGTABLE_TEST_BUILD)/$(subst /,_,$(AGATE_LAB_10))
PGTABLE_TESTS	:= $(patsubst tests/host/pgtable/test_%.c,%,$(wildcard tests/host/pgtable/test_*.c))
PGTABLE_COMMON	:= $(PGTABLE_LAB)/agate_pgtable.o $(PGTABLE_LAB)/agate_pgtable_lpae.o \
		   $(PGTABLE_LAB)/agate_pgtable_aarch64.o \
		   $(PGTABLE_TEST_BUILD)/table_mem.o $(PGTABLE_TEST_BUILD)/fixture.o
# Callbacks of kernel code often leave an argument unused; the kernel's build allows it.
PGTABLE_CFLAGS	= $(CFLAGS_HOST) $(CFLAGS_SAN) -Itests/host/shim -Ikernel -Itests/host/pgtable
# Warnings are not errors here, because the file may be a student's.
PGTABLE_KERNEL_CFLAGS = $(filter-out -Werror,$(PGTABLE_CFLAGS)) -Wno-unused-parameter -DLAB10=99

$(PGTABLE_LAB)/%.o: $(AGATE_LAB_10)/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(PGTABLE_KERNEL_CFLAGS) -MMD -MP -c -o $@ $<

$(PGTABLE_TEST_BUILD)/%.o: tests/host/pgtable/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(PGTABLE_CFLAGS) -MMD -MP -c -o $@ $<

PGTABLE_PROGRAMS := $(PGTABLE_TESTS:%=$(PGTABLE_TEST_BUILD)/%)
$(eval $(call listed,$(PGTABLE_TEST_BUILD)/common.list,$(PGTABLE_COMMON)))
$(PGTABLE_PROGRAMS): $(PGTABLE_TEST_BUILD)/%: $(PGTABLE_TEST_BUILD)/test_%.o $(PGTABLE_COMMON) \
		$(PGTABLE_TEST_BUILD)/common.list
	$(call say,LD,$@)
	$(Q)$(CC) $(PGTABLE_CFLAGS) -o $@ $(filter %.o,$^) -lcmocka

.SECONDARY: $(PGTABLE_TESTS:%=$(PGTABLE_TEST_BUILD)/test_%.o)
-include $(wildcard $(PGTABLE_TEST_BUILD)/*.d $(PGTABLE_LAB)/*.d)

HOST_TESTS	+= $(PGTABLE_PROGRAMS)
