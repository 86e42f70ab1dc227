# SPDX-License-Identifier: MIT
# The helpers of the scripts here that have to be compiled.

AGATE_LAB_INFO	:= $(BUILD)/bin/agate-lab-info

$(AGATE_LAB_INFO): scripts/lab-info.c include/agate_stdio.h
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -o $@ $< $(shell pkg-config --cflags --libs jansson)

AGATE_TAKE_FILES := $(BUILD)/bin/agate-take-files
AGATE_SCANS	:= $(BUILD)/bin/agate-scan-source $(BUILD)/bin/agate-scan-expanded

$(AGATE_TAKE_FILES) $(AGATE_SCANS): $(BUILD)/bin/agate-%: scripts/%.c scripts/scan-words.h \
		include/agate_stdio.h
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -o $@ $(filter %.c,$^)

$(BUILD)/bin/agate-scan-source: scripts/scan-text.c scripts/scan-text.h
$(BUILD)/bin/agate-scan-expanded: scripts/scan-macros.c scripts/scan-macros.h

# The programs for composing a driver or a library from a lab's files.
COMPOSE_TOOLS	:= $(AGATE_LAB_INFO) $(AGATE_TAKE_FILES) $(AGATE_SCANS)

AGATE_WATCH	:= $(BUILD)/bin/agate-watch

$(AGATE_WATCH): scripts/agate_watch.c include/agate_stdio.h
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -o $@ $<

AGATE_FW	:= $(BUILD)/bin/agate-fw

$(AGATE_FW): scripts/agate-fw.c include/agate_card.h include/agate_stdio.h
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -o $@ $<

# What a driver asks request_firmware() for: agate/card.fw, in the guest's /lib/firmware.
CARD_FIRMWARE	:= $(BUILD)/firmware/agate/card.fw

$(CARD_FIRMWARE): $(AGATE_FW)
	$(call say,FW,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$< --version 0x0100 $@
