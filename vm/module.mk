# SPDX-License-Identifier: MIT
# The launcher: a library that the grader links as well, and a program.

AGATE_VM := $(BUILD)/bin/agate-vm
LIBAGATE_VM := $(BUILD)/lib/libagate-vm.a
LIBAGATE_VM_SRCS := $(sort $(wildcard vm/*.c))
LIBAGATE_VM_OBJS := $(LIBAGATE_VM_SRCS:%.c=$(BUILD)/%.o)
AGATE_VM_SRCS := $(sort $(wildcard vm/cli/*.c))
AGATE_VM_OBJS := $(AGATE_VM_SRCS:%.c=$(BUILD)/%.o)

$(LIBAGATE_VM_OBJS) $(AGATE_VM_OBJS): $(BUILD)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -Ivm -Iguest/init -MMD -MP -c $< -o $@

AGATE_VM_LIST := $(BUILD)/vm.list
$(eval $(call listed,$(AGATE_VM_LIST),$(LIBAGATE_VM_SRCS) $(AGATE_VM_SRCS)))

$(LIBAGATE_VM): $(LIBAGATE_VM_OBJS) $(AGATE_VM_LIST)
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(LIBAGATE_VM_OBJS)

$(AGATE_VM): $(AGATE_VM_OBJS) $(LIBAGATE_VM) $(AGATE_VM_LIST)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -o $@ $(AGATE_VM_OBJS) $(LIBAGATE_VM) -ljansson -lxxhash

-include $(if $(BUILDING),$(LIBAGATE_VM_OBJS:.o=.d) $(AGATE_VM_OBJS:.o=.d))
