# SPDX-License-Identifier: MIT
# The parts of `make bench`: a program and a module in the guest, programs that drive the
# model on the host, and the report.

BENCH_DIR	:= $(BUILD)/tests/bench
MODEL_BENCHES	:= $(addprefix $(BENCH_DIR)/,raster-bench copy-bench translate-bench null-bench)
BENCH_PROGRAMS	:= $(BENCH_DIR)/guest-bench $(BENCH_DIR)/driver-bench $(BENCH_DIR)/cache-bench \
		   $(BENCH_DIR)/lookup-bench $(MODEL_BENCHES) $(BENCH_DIR)/report

# Upstream's uAPI header comes with the tests of upstream's driver.
DRIVER_BENCHES	:= $(addprefix $(BENCH_DIR)/,guest-bench driver-bench)

$(BENCH_DIR)/bench.o: tests/bench/bench.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -MMD -MP -MF $@.d -c -o $@ $<

$(DRIVER_BENCHES): $(BENCH_DIR)/%: tests/bench/%.c $(BENCH_DIR)/bench.o \
		| $(BUILD)/tests/upstream/include/panfrost_drm.h
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) $$(pkg-config --cflags libdrm) -isystem $(BUILD)/tests/upstream/include \
		-MMD -MP -MF $@.d -o $@ $< $(BENCH_DIR)/bench.o

$(BENCH_DIR)/bench_model.o: tests/bench/bench_model.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -Isim/model -MMD -MP -MF $@.d -c -o $@ $<

$(MODEL_BENCHES): $(BENCH_DIR)/%: tests/bench/%.c $(BENCH_DIR)/bench.o $(BENCH_DIR)/bench_model.o \
		$(LIBAGATE_SIM)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -Isim/model -MMD -MP -MF $@.d -o $@ $(filter %.c %.o,$^) \
		$(LIBAGATE_SIM) -lm

# With the library's objects inside, so that it runs where no libagate.so is; lookup-bench
# answers for the kernel itself.
$(BENCH_DIR)/cache-bench $(BENCH_DIR)/lookup-bench: $(BENCH_DIR)/%: tests/bench/%.c \
		$(BENCH_DIR)/bench.o $(LIBAGATE_OBJS)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(US_CFLAGS) -MMD -MP -MF $@.d $(BENCH_WRAP_$*) -o $@ $(filter %.c %.o,$^) \
		$(call US_PKG_LIBS,libdrm) -pthread
BENCH_WRAP_lookup-bench := -Wl,--wrap=drmIoctl -Wl,--wrap=drmGetVersion \
		   -Wl,--wrap=drmFreeVersion

$(BENCH_DIR)/report: tests/bench/bench_report.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -MMD -MP -MF $@.d -o $@ $< -ljansson

# The driver's page tables and io-pgtable; the module for the guest has no debug
# information.
PGTABLE_BENCH	:= $(BENCH_DIR)/agate_pgtable_bench.ko
PGTABLE_BENCH_SOURCES := $(wildcard tests/bench/kmod/*) kernel/agate_pgtable.h include/agate_regs.h \
		   $(wildcard solutions/10-page-tables/agate_*.c)

$(eval $(call listed,$(BENCH_DIR)/kmod.list,$(PGTABLE_BENCH_SOURCES)))
$(PGTABLE_BENCH): $(PGTABLE_BENCH_SOURCES) $(BUILD)/guest/kernel-fast.id $(BENCH_DIR)/kmod.list
	$(call say,MODULE,$@)
	$(Q)rm -rf $(@D)/kmod && mkdir -p $(@D)/kmod && cp $(PGTABLE_BENCH_SOURCES) $(@D)/kmod
	$(Q)guest/kernel-make.sh $(BUILD)/guest/kernel-fast M=$(abspath $(@D))/kmod modules \
		>$(@D)/kmod.log 2>&1 || { cat $(@D)/kmod.log >&2; exit 1; }
	$(Q)objcopy --strip-debug $(@D)/kmod/agate_pgtable_bench.ko $@

-include $(wildcard $(BENCH_DIR)/*.d)
