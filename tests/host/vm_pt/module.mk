# SPDX-License-Identifier: MIT
# Host tests of page tables that change in two steps: the driver's own file, through the shim,
# on lab 10's tables.
#
# AGATE_LAB_25 selects another version of lab 25's file; each version has objects of its own.

AGATE_LAB_25	?= solutions/25-vm-tables
VM_PT_BUILD	:= $(BUILD)/tests/host/vm_pt
VM_PT_LAB	:= $(VM_PT_BUILD)/$(subst /,_,$(AGATE_LAB_25))
VM_PT_TESTS	:= $(patsubst tests/host/vm_pt/test_%.c,%,$(wildcard tests/host/vm_pt/test_*.c))
VM_PT_COMMON	:= $(VM_PT_LAB)/agate_vm_pt.o $(VM_PT_BUILD)/runs.o \
		   $(addprefix $(VM_PT_BUILD)/,agate_pgtable.o agate_pgtable_lpae.o \
		   agate_pgtable_aarch64.o) $(PGTABLE_TEST_BUILD)/table_mem.o
VM_PT_CFLAGS	= $(CFLAGS_HOST) $(CFLAGS_SAN) -Itests/host/shim -Ikernel -Itests/host/pgtable \
		  -Itests/host/vm_pt
# Warnings are not errors here, because the file may be a student's.
VM_PT_KERNEL_CFLAGS = $(filter-out -Werror,$(VM_PT_CFLAGS)) -Wno-unused-parameter \
		  -DLAB10=99 -DLAB25=99

$(VM_PT_LAB)/%.o: $(AGATE_LAB_25)/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(VM_PT_KERNEL_CFLAGS) -MMD -MP -c -o $@ $<

$(VM_PT_BUILD)/agate_%.o: solutions/10-page-tables/agate_%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(VM_PT_KERNEL_CFLAGS) -MMD -MP -c -o $@ $<

$(VM_PT_BUILD)/%.o: tests/host/vm_pt/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(VM_PT_CFLAGS) -MMD -MP -c -o $@ $<

VM_PT_PROGRAMS := $(VM_PT_TESTS:%=$(VM_PT_BUILD)/%)
$(eval $(call listed,$(VM_PT_BUILD)/common.list,$(VM_PT_COMMON)))
$(VM_PT_PROGRAMS): $(VM_PT_BUILD)/%: $(VM_PT_BUILD)/test_%.o $(VM_PT_COMMON) \
		$(VM_PT_BUILD)/common.list
	$(call say,LD,$@)
	$(Q)$(CC) $(VM_PT_CFLAGS) -o $@ $(filter %.o,$^) -lcmocka

.SECONDARY: $(VM_PT_TESTS:%=$(VM_PT_BUILD)/test_%.o)
-include $(wildcard $(VM_PT_BUILD)/*.d $(VM_PT_LAB)/*.d)

HOST_TESTS	+= $(VM_PT_PROGRAMS)
