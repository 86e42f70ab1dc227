# SPDX-License-Identifier: MIT
# Guest tests: cmocka programs that run in a guest, each in a fresh one.

GUEST_TESTS	:= uapi-bo uapi-submit mmap jobs races gone reload failnth stale fences stats \
		   compute
GUEST_TEST_DIR	:= $(BUILD)/tests/guest
GUEST_PROGRAMS	:= $(GUEST_TESTS:%=$(GUEST_TEST_DIR)/%) $(GUEST_TEST_DIR)/one-job

$(GUEST_TEST_DIR)/%.o: tests/guest/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) $$(pkg-config --cflags libdrm) -MMD -MP -c -o $@ $<

$(GUEST_PROGRAMS): $(GUEST_TEST_DIR)/%: $(GUEST_TEST_DIR)/%.o $(GUEST_TEST_DIR)/guest.o
	$(call say,LD,$@)
	$(Q)$(CC) -o $@ $^ -lcmocka -pthread

.SECONDARY: $(GUEST_TESTS:%=$(GUEST_TEST_DIR)/%.o) $(GUEST_TEST_DIR)/guest.o
-include $(wildcard $(GUEST_TEST_DIR)/*.d)
