# SPDX-License-Identifier: MIT
# The GPU model as a library: every block of hardware.md is one file here.

LIBAGATE_SIM := $(BUILD)/lib/libagate-sim.a
SIM_MODEL_SRCS := $(sort $(wildcard sim/model/*.c))
SIM_MODEL_OBJS := $(SIM_MODEL_SRCS:%.c=$(BUILD)/%.o)

$(SIM_MODEL_OBJS): $(BUILD)/%.o: %.c
	@echo "  CC      $<"
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -Isim/model -MMD -MP -c $< -o $@

$(LIBAGATE_SIM): $(SIM_MODEL_OBJS)
	@echo "  AR      $@"
	$(Q)mkdir -p $(@D)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(SIM_MODEL_OBJS)

-include $(SIM_MODEL_OBJS:.o=.d)
