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

$(LIBAGATE_VM): $(SIM_VM_OBJS)
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $^

$(AGATE_VM): $(SIM_VM_CLI_OBJS) $(LIBAGATE_VM)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -o $@ $^ -ljansson

-include $(SIM_VM_OBJS:.o=.d) $(SIM_VM_CLI_OBJS:.o=.d)
