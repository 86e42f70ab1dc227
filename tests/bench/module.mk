# SPDX-License-Identifier: MIT
# What `make bench` runs: a program in the guest, and the report on the host.

BENCH_DIR	:= $(BUILD)/tests/bench
BENCH_PROGRAMS	:= $(BENCH_DIR)/guest-bench $(BENCH_DIR)/report

$(BENCH_DIR)/guest-bench: tests/bench/guest-bench.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) $$(pkg-config --cflags libdrm) -MMD -MP -MF $@.d -o $@ $<

$(BENCH_DIR)/report: tests/bench/report.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -MMD -MP -MF $@.d -o $@ $< -ljansson

-include $(wildcard $(BENCH_DIR)/*.d)
