# SPDX-License-Identifier: MIT
#
# The labs themselves under test: solutions, starters, mutants, other correct files.

LAB_VERDICT	:= $(BUILD)/tests/labs/verdict

$(LAB_VERDICT): tests/labs/verdict.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -MMD -MP -o $@ $< -ljansson

-include $(LAB_VERDICT).d
