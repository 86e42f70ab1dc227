# SPDX-License-Identifier: MIT
# The launcher: a library that the grader links as well, and a program.

AGATE_VM := $(BUILD)/bin/agate-vm
LIBAGATE_VM := $(BUILD)/sim/vm/libagate-vm.a
SIM_VM_SRCS := $(sort $(wildcard sim/vm/*.c))
SIM_VM_OBJS := $(SIM_VM_SRCS:%.c=$(BUILD)/%.o)
SIM_VM_CLI_SRCS := $(sort $(wildcard sim/vm/cli/*.c))
SIM_VM_CLI_OBJS := $(SIM_VM_CLI_SRCS:%.c=$(BUILD)/%.o)

$(SIM_VM_OBJS) $(SIM_VM_CLI_OBJS): $(BUILD)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -Isim/vm -Iguest/init -MMD -MP -c $< -o $@

SIM_VM_LIST := $(BUILD)/sim/vm.list
$(eval $(call listed,$(SIM_VM_LIST),$(SIM_VM_SRCS) $(SIM_VM_CLI_SRCS)))

$(LIBAGATE_VM): $(SIM_VM_OBJS) $(SIM_VM_LIST)
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(SIM_VM_OBJS)

$(AGATE_VM): $(SIM_VM_CLI_OBJS) $(LIBAGATE_VM) $(SIM_VM_LIST)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -o $@ $(SIM_VM_CLI_OBJS) $(LIBAGATE_VM) -ljansson

-include $(SIM_VM_OBJS:.o=.d) $(SIM_VM_CLI_OBJS:.o=.d)
