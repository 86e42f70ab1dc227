# SPDX-License-Identifier: MIT
#
# The labs themselves under test: solutions, starters, mutants, other correct files.

LAB_VERDICT	:= $(BUILD)/tests/labs/verdict
WITHOUT_PROSE	:= $(BUILD)/tests/labs/without-prose

$(LAB_VERDICT): tests/labs/verdict.c
$(WITHOUT_PROSE): tests/labs/without_prose.c

$(LAB_VERDICT) $(WITHOUT_PROSE):
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -MMD -MP -o $@ $< -ljansson

-include $(if $(BUILDING),$(LAB_VERDICT:=.d) $(WITHOUT_PROSE:=.d))
