# SPDX-License-Identifier: MIT
# The GPU model as a library: every block of hardware.md is one file here.

LIBAGATE_SIM := $(BUILD)/lib/libagate-sim.a
SIM_MODEL_SRCS := $(sort $(wildcard sim/model/*.c))
SIM_MODEL_OBJS := $(SIM_MODEL_SRCS:%.c=$(BUILD)/%.o)

# No fused multiply-adds: a picture must have the same bytes on every host.
SIM_MODEL_CFLAGS = $(CFLAGS_HOST) -ffp-contract=off -Isim/model

$(SIM_MODEL_OBJS): $(BUILD)/%.o: %.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(SIM_MODEL_CFLAGS) -MMD -MP -c $< -o $@

SIM_MODEL_LIST := $(BUILD)/sim/model.list
$(eval $(call listed,$(SIM_MODEL_LIST),$(SIM_MODEL_SRCS)))

$(LIBAGATE_SIM): $(SIM_MODEL_OBJS) $(SIM_MODEL_LIST)
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(SIM_MODEL_OBJS)

-include $(if $(BUILDING),$(SIM_MODEL_OBJS:.o=.d))
