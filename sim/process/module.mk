# SPDX-License-Identifier: MIT
# The process that attaches the GPU model to a virtual machine.

AGATE_SIM := $(BUILD)/bin/agate-sim
SIM_PROCESS_SRCS := $(sort $(wildcard sim/process/*.c))
SIM_PROCESS_OBJS := $(SIM_PROCESS_SRCS:%.c=$(BUILD)/%.o)

$(SIM_PROCESS_OBJS): $(BUILD)/%.o: %.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -Isim/model -Isim/process -MMD -MP -c $< -o $@

SIM_PROCESS_LIST := $(BUILD)/sim/process.list
$(eval $(call listed,$(SIM_PROCESS_LIST),$(SIM_PROCESS_SRCS)))

$(AGATE_SIM): $(SIM_PROCESS_OBJS) $(LIBAGATE_SIM) $(SIM_PROCESS_LIST)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -o $@ $(SIM_PROCESS_OBJS) $(LIBAGATE_SIM) -ljansson -lpng -lm

-include $(if $(BUILDING),$(SIM_PROCESS_OBJS:.o=.d))
