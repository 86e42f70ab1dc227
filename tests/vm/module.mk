# SPDX-License-Identifier: MIT
# Tests of the launcher's library: with a guest, and with frames that a guest may send.

VM_TEST_DIR	:= $(BUILD)/tests/vm
VM_TESTS	:= $(addprefix $(VM_TEST_DIR)/,programs forked prepared hung debugger grading)
HANG_MODULE	:= $(VM_TEST_DIR)/kmod/agate_hang.ko
VM_HOST_TESTS	:= $(addprefix $(VM_TEST_DIR)/,frames parts)

$(VM_TEST_DIR)/%.o: tests/vm/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -Ivm -Iguest/init -MMD -MP -c -o $@ $<

$(VM_TESTS): $(VM_TEST_DIR)/%: $(VM_TEST_DIR)/%.o $(LIBAGATE_VM)
	$(call say,LD,$@)
	$(Q)$(CC) -o $@ $^ -lcmocka -ljansson -lxxhash

$(VM_TEST_DIR)/hung: | $(HANG_MODULE)
$(VM_TEST_DIR)/grading: | $(VM_TEST_DIR)/sample $(INJECT_MODULES)

$(VM_TEST_DIR)/sample: $(sort $(wildcard tests/vm/graded/*.c)) $(GRADED_OBJS) \
		tests/vm/graded/gates.h
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -Itests/guest $$(pkg-config --cflags libdrm) -MMD -MP -o $@ \
		$(filter %.c %.o,$^) -lcmocka -pthread

$(VM_TEST_DIR)/forked $(VM_TEST_DIR)/prepared: | $(VM_TEST_DIR)/keeper

$(VM_TEST_DIR)/keeper: tests/vm/forked/keeper.c tests/guest/graded_kept.c tests/guest/graded_kept.h \
		guest/init/kept_proto.h
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -Itests/guest -Iguest/init -o $@ $(filter %.c,$^)

$(HANG_MODULE): tests/vm/kmod/agate_hang.c tests/vm/kmod/Kbuild $(BUILD)/guest/kernel-fast.id
	$(call say,MODULE,$@)
	$(Q)rm -rf $(@D) && mkdir -p $(@D) && cp $(filter-out %.id,$^) $(@D)
	$(Q)guest/kernel-make.sh $(BUILD)/guest/kernel-fast M=$(abspath $(@D)) modules \
		>$(@D)/build.log 2>&1 || { cat $(@D)/build.log >&2; exit 1; }

# The launcher's own files once more, with sanitizers: nobody may trust a guest.
$(VM_HOST_TESTS): $(VM_TEST_DIR)/%: tests/vm/%.c $(LIBAGATE_VM_SRCS) $(wildcard vm/*.h guest/init/*.h)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) $(CFLAGS_SAN) -Ivm -Iguest/init -o $@ $(filter %.c,$^) \
		-lcmocka -ljansson -lxxhash

HOST_TESTS	+= $(VM_HOST_TESTS)
.SECONDARY: $(VM_TESTS:%=%.o)
-include $(if $(BUILDING),$(wildcard $(VM_TEST_DIR)/*.d))
