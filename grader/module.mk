# SPDX-License-Identifier: MIT
# The grader.

AGATE_GRADE	:= $(BUILD)/bin/agate-grade
GRADER_SRCS	:= $(sort $(wildcard grader/*.c))
GRADER_OBJS	:= $(GRADER_SRCS:%.c=$(BUILD)/%.o)
# The simulator's names of its counters, for lab.json.
GRADER_NAMES	:= $(BUILD)/sim/model/names.o
GRADER_INCLUDES	:= -Igrader -Isim/model -Ivm

$(GRADER_OBJS): $(BUILD)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) $(GRADER_INCLUDES) -MMD -MP -c $< -o $@

GRADER_LIST	:= $(BUILD)/grader.list
$(eval $(call listed,$(GRADER_LIST),$(GRADER_SRCS)))

$(AGATE_GRADE): $(GRADER_OBJS) $(GRADER_NAMES) $(LIBAGATE_VM) $(GRADER_LIST)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -o $@ $(GRADER_OBJS) $(GRADER_NAMES) $(LIBAGATE_VM) \
		-ljansson -lelf -lxxhash -pthread

-include $(if $(BUILDING),$(GRADER_OBJS:.o=.d))
