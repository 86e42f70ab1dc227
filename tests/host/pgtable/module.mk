# SPDX-License-Identifier: MIT
# Host tests of the page tables: the driver's own files, through the shim.

PGTABLE_TEST_BUILD := $(BUILD)/tests/host/pgtable
PGTABLE_TESTS	:= $(patsubst tests/host/pgtable/test_%.c,%,$(wildcard tests/host/pgtable/test_*.c))
PGTABLE_COMMON	:= $(PGTABLE_TEST_BUILD)/agate_pgtable.o $(PGTABLE_TEST_BUILD)/agate_pgtable_lpae.o \
		   $(PGTABLE_TEST_BUILD)/agate_pgtable_aarch64.o \
		   $(PGTABLE_TEST_BUILD)/table_mem.o
# Callbacks of kernel code often leave an argument unused; the kernel's build allows it.
PGTABLE_CFLAGS	= $(CFLAGS_HOST) $(CFLAGS_SAN) -Itests/host/shim -Ikernel -Itests/host/pgtable
PGTABLE_KERNEL_CFLAGS = $(PGTABLE_CFLAGS) -Wno-unused-parameter

$(PGTABLE_TEST_BUILD)/%.o: solutions/10-page-tables/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(PGTABLE_KERNEL_CFLAGS) -MMD -MP -c -o $@ $<

$(PGTABLE_TEST_BUILD)/%.o: tests/host/pgtable/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(PGTABLE_CFLAGS) -MMD -MP -c -o $@ $<

PGTABLE_PROGRAMS := $(PGTABLE_TESTS:%=$(PGTABLE_TEST_BUILD)/%)
$(PGTABLE_PROGRAMS): $(PGTABLE_TEST_BUILD)/%: $(PGTABLE_TEST_BUILD)/test_%.o $(PGTABLE_COMMON)
	$(call say,LD,$@)
	$(Q)$(CC) $(PGTABLE_CFLAGS) -o $@ $^ -lcmocka

.SECONDARY: $(PGTABLE_TESTS:%=$(PGTABLE_TEST_BUILD)/test_%.o)
-include $(wildcard $(PGTABLE_TEST_BUILD)/*.d)

HOST_TESTS	+= $(PGTABLE_PROGRAMS)
