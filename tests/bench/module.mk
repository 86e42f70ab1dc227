# SPDX-License-Identifier: MIT
# The parts of `make bench`: a program and a module in the guest, programs that drive the
# model on the host, and the report.

BENCH_DIR	:= $(BUILD)/tests/bench
MODEL_BENCHES	:= $(addprefix $(BENCH_DIR)/,raster-bench copy-bench mover-bench translate-bench null-bench)
BENCH_PROGRAMS	:= $(BENCH_DIR)/guest-bench $(BENCH_DIR)/driver-bench $(BENCH_DIR)/card-bench \
		   $(BENCH_DIR)/vm-bench $(BENCH_DIR)/cache-bench \
		   $(BENCH_DIR)/lookup-bench $(MODEL_BENCHES) $(BENCH_DIR)/report

# Upstream's uAPI header comes with the tests of upstream's driver.
DRIVER_BENCHES	:= $(addprefix $(BENCH_DIR)/,card-bench guest-bench driver-bench vm-bench)

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

# The driver's page tables and io-pgtable, its range allocator and global table and drm_mm; the
# modules for the guest have no debug information.
MODULE_BENCHES	:= $(addprefix $(BENCH_DIR)/,agate_ggtt_bench.ko agate_pgtable_bench.ko agate_range_bench.ko)
MODULE_BENCH_SOURCES := $(wildcard tests/bench/kmod/*) kernel/agate_pgtable.h include/agate_regs.h \
		   kernel/agate_ggtt.h kernel/agate_kmem.h kernel/agate_range.h kernel/agate_tree.h \
		   include/agate_card.h \
		   $(wildcard solutions/10-page-tables/agate_*.c solutions/19-ranges/agate_*.c \
		   solutions/20-ggtt/agate_*.c)

$(eval $(call listed,$(BENCH_DIR)/kmod.list,$(MODULE_BENCH_SOURCES)))
$(MODULE_BENCHES) &: $(MODULE_BENCH_SOURCES) $(BUILD)/guest/kernel-fast.id $(BENCH_DIR)/kmod.list
	$(call say,MODULE,$(MODULE_BENCHES))
	$(Q)rm -rf $(BENCH_DIR)/kmod && mkdir -p $(BENCH_DIR)/kmod
	$(Q)cp $(MODULE_BENCH_SOURCES) $(BENCH_DIR)/kmod
	$(Q)guest/kernel-make.sh $(BUILD)/guest/kernel-fast M=$(abspath $(BENCH_DIR))/kmod modules \
		>$(BENCH_DIR)/kmod.log 2>&1 || { cat $(BENCH_DIR)/kmod.log >&2; exit 1; }
	$(Q)for ko in $(MODULE_BENCHES); do \
		objcopy --strip-debug $(BENCH_DIR)/kmod/$${ko##*/} $$ko || exit 1; done

-include $(if $(BUILDING),$(wildcard $(BENCH_DIR)/*.d))
