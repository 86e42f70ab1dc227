# SPDX-License-Identifier: MIT
# The helpers of the scripts here that have to be compiled.

AGATE_LAB_INFO	:= $(BUILD)/bin/agate-lab-info

$(AGATE_LAB_INFO): scripts/lab-info.c include/agate_stdio.h
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -o $@ $< $(shell pkg-config --cflags --libs jansson)

AGATE_WATCH	:= $(BUILD)/bin/agate-watch

$(AGATE_WATCH): scripts/watch.c include/agate_stdio.h
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -o $@ $<
