# SPDX-License-Identifier: MIT
# Upstream's Panfrost, unmodified, on this GPU: its module.

UPSTREAM_MODULES := $(DRIVER_FLAVOURS:%=$(BUILD)/upstream/%/agate_panfrost.ko)
UPSTREAM_SHIM	:= $(sort $(wildcard tests/upstream/kmod/*)) kernel/agate_bus.c

$(eval $(call listed,$(BUILD)/upstream/sources.list,$(UPSTREAM_SHIM)))

# Our driver comes first: its build makes the header about this kernel.  When the driver changes,
# and that header does not, this module stays.  Links are made anew each time, because the kernel
# that they lead to may be another one.
$(UPSTREAM_MODULES): $(BUILD)/upstream/%/agate_panfrost.ko: $(UPSTREAM_SHIM) \
		$(BUILD)/parts/%/headers $(BUILD)/guest/kernel-%.id $(BUILD)/upstream/sources.list \
		tests/upstream/module.mk guest/kernel-make.sh
	$(call say,MODULE,$@)
	$(Q)rm -rf $(@D)/kbuild && mkdir -p $(@D)/kbuild
	$(Q)ln -s $(abspath $(UPSTREAM_SHIM)) \
		$(abspath $(BUILD))/guest/kernel-$*/source/drivers/gpu/drm/panfrost/*.[ch] $(@D)/kbuild
	$(Q)guest/kernel-make.sh $(BUILD)/guest/kernel-$* M=$(abspath $(@D))/kbuild \
		AGATE=$(CURDIR) COMPAT=$(abspath $(BUILD))/driver/$* modules \
		>$(@D)/build.log 2>&1 || { cat $(@D)/build.log >&2; exit 1; }
	$(Q)objcopy --strip-debug $(@D)/kbuild/agate_panfrost.ko $@

# The tests: cmocka programs like those of tests/guest.  The uAPI's header belongs to no
# Debian package, but the kernel's source has it.
UPSTREAM_TESTS	:= $(patsubst tests/upstream/%.c,%,$(wildcard tests/upstream/panfrost-*.c))
UPSTREAM_TEST_DIR := $(BUILD)/tests/upstream
UPSTREAM_PROGRAMS := $(UPSTREAM_TESTS:%=$(UPSTREAM_TEST_DIR)/%)

$(UPSTREAM_TEST_DIR)/include/panfrost_drm.h: $(BUILD)/guest/kernel-fast.id
	$(Q)mkdir -p $(@D)
	$(Q)cp $(BUILD)/guest/kernel-fast/source/include/uapi/drm/panfrost_drm.h $@

$(UPSTREAM_TEST_DIR)/%.o: tests/upstream/%.c | $(UPSTREAM_TEST_DIR)/include/panfrost_drm.h
	$(call say,CC,$@)
	$(Q)$(CC) $(CFLAGS_HOST) -Itests/guest $$(pkg-config --cflags libdrm) \
		-isystem $(UPSTREAM_TEST_DIR)/include -MMD -MP -c -o $@ $<

$(UPSTREAM_PROGRAMS): $(UPSTREAM_TEST_DIR)/%: $(UPSTREAM_TEST_DIR)/%.o $(UPSTREAM_TEST_DIR)/panfrost.o \
		$(addprefix $(GUEST_TEST_DIR)/,guest.o guest_debugfs.o clients.o)
	$(call say,LD,$@)
	$(Q)$(CC) -o $@ $^ -lcmocka -pthread

.SECONDARY: $(UPSTREAM_PROGRAMS:%=%.o) $(UPSTREAM_TEST_DIR)/panfrost.o
-include $(if $(BUILDING),$(wildcard $(UPSTREAM_TEST_DIR)/*.d))

# All that a run on either kernel needs.
UPSTREAM_FAST	:= $(AGATE_SIM) $(AGATE_VM) $(INITRAMFS) $(BUILD)/guest/kernel-fast \
		   $(BUILD)/upstream/fast/agate_panfrost.ko $(UPSTREAM_PROGRAMS)
UPSTREAM_DEBUG	:= $(subst fast,debug,$(UPSTREAM_FAST))
