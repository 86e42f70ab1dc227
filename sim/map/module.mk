# SPDX-License-Identifier: MIT
# agate-map: pictures of GPU address spaces, from the event log.

AGATE_MAP	:= $(BUILD)/bin/agate-map
SIM_MAP_SRCS	:= $(sort $(wildcard sim/map/*.c))
SIM_MAP_OBJS	:= $(SIM_MAP_SRCS:%.c=$(BUILD)/%.o)

$(SIM_MAP_OBJS): $(BUILD)/%.o: %.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -Isim/map -MMD -MP -c $< -o $@

SIM_MAP_LIST	:= $(BUILD)/sim/map.list
$(eval $(call listed,$(SIM_MAP_LIST),$(SIM_MAP_SRCS)))

$(AGATE_MAP): $(SIM_MAP_OBJS) $(SIM_MAP_LIST)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -o $@ $(SIM_MAP_OBJS) -ljansson -lm

# The demo draws its own run, and its test checks the picture.
demo-build test-build: $(AGATE_MAP)

-include $(if $(BUILDING),$(SIM_MAP_OBJS:.o=.d))
