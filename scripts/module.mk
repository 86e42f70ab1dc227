# SPDX-License-Identifier: MIT
# The one helper of the scripts here that has to be compiled.

AGATE_LAB_INFO	:= $(BUILD)/bin/agate-lab-info

$(AGATE_LAB_INFO): scripts/lab-info.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -o $@ $< $(shell pkg-config --cflags --libs jansson)
