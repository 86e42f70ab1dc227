# SPDX-License-Identifier: MIT
# What `make bench` runs: a program in the guest, those that drive the model on
# the host, and the report.

BENCH_DIR	:= $(BUILD)/tests/bench
MODEL_BENCHES	:= $(BENCH_DIR)/raster-bench $(BENCH_DIR)/copy-bench
BENCH_PROGRAMS	:= $(BENCH_DIR)/guest-bench $(MODEL_BENCHES) $(BENCH_DIR)/report

$(BENCH_DIR)/guest-bench: tests/bench/guest-bench.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) $$(pkg-config --cflags libdrm) -MMD -MP -MF $@.d -o $@ $<

$(BENCH_DIR)/model.o: tests/bench/model.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -Isim/model -MMD -MP -MF $@.d -c -o $@ $<

$(MODEL_BENCHES): $(BENCH_DIR)/%: tests/bench/%.c $(BENCH_DIR)/model.o $(LIBAGATE_SIM)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -Isim/model -MMD -MP -MF $@.d -o $@ $< $(BENCH_DIR)/model.o \
		$(LIBAGATE_SIM) -lm

$(BENCH_DIR)/report: tests/bench/report.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -MMD -MP -MF $@.d -o $@ $< -ljansson

-include $(wildcard $(BENCH_DIR)/*.d)
