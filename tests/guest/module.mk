# SPDX-License-Identifier: MIT
# Guest tests: cmocka programs that run in a guest, each in a fresh one.

GUEST_TESTS	:= uapi-bo uapi-submit mmap jobs races gone reload failnth failnth-two stale fences stats \
		   compute closed listed many absent coherency queued runtime-pm storm caught reservations \
		   readers lock-order parked probed backing spaces heaps asleep contiguous prime \
		   strangers dvfs two-gpus one-goes power-sticks restart trips own-vram limit placed pool tt mover-ends \
		   victims cards failnth-card failnth-vm vm-bind vm-shared vm-random vm-strain vm-tables userptr pages-go long-running long-ends fault-mode stalled wired regions residency kmap debugged flip flip-ends suspend fuzz \
		   gpu-off sleep-ends outlived
# Those with libagate inside.
GUEST_LIB_TESTS	:= bo-cache scanout vm-library
GUEST_TEST_DIR	:= $(BUILD)/tests/guest
# The one of agate-top, which reads its JSON.
GUEST_TOP_TEST	:= $(GUEST_TEST_DIR)/top
GUEST_PROGRAMS	:= $(GUEST_TESTS:%=$(GUEST_TEST_DIR)/%) $(GUEST_LIB_TESTS:%=$(GUEST_TEST_DIR)/%) \
		   $(GUEST_TOP_TEST) $(GUEST_TEST_DIR)/one-job
# A 32-bit program, with no library: it takes a compiler and headers for 64 bits alone.
GUEST_COMPAT	:= $(GUEST_TEST_DIR)/compat
GUEST_PROGRAMS_64 := $(GUEST_PROGRAMS)
GUEST_PROGRAMS	+= $(GUEST_COMPAT)

$(GUEST_COMPAT): tests/guest/compat.c include/agate_drm.h include/agate_job.h
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -m32 -ffreestanding -fno-stack-protector -fno-pic \
		-isystem /usr/include/$$($(CC) -print-multiarch) $$(pkg-config --cflags libdrm) \
		-nostdlib -static -no-pie -o $@ $<

$(GUEST_TEST_DIR)/%.o: tests/guest/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -Itests/guest -Iuserspace $$(pkg-config --cflags libdrm) -MMD -MP -c -o $@ $<

$(GUEST_PROGRAMS_64): $(GUEST_TEST_DIR)/%: $(GUEST_TEST_DIR)/%.o \
		$(addprefix $(GUEST_TEST_DIR)/,guest.o guest_debugfs.o clients.o)
	$(call say,LD,$@)
	$(Q)$(CC) -o $@ $^ -lcmocka -pthread $(GUEST_LIBS)

$(GUEST_LIB_TESTS:%=$(GUEST_TEST_DIR)/%): $(LIBAGATE_OBJS)
$(GUEST_LIB_TESTS:%=$(GUEST_TEST_DIR)/%): GUEST_LIBS = $$(pkg-config --libs libdrm) -lm
$(GUEST_TEST_DIR)/scanout.o: CFLAGS_HOST += -Iuserspace/tools
$(GUEST_TEST_DIR)/scanout: $(filter-out %/gem_image.o %/agate-gem.o,$(GEM_OBJS))
$(GUEST_TOP_TEST): GUEST_LIBS = $$(pkg-config --libs jansson)
$(addprefix $(GUEST_TEST_DIR)/,asleep dvfs trips): $(GUEST_TEST_DIR)/devfreq.o
$(addprefix $(GUEST_TEST_DIR)/,failnth failnth-card failnth-two failnth-vm): $(GUEST_TEST_DIR)/fail_nth.o
$(addprefix $(GUEST_TEST_DIR)/,cards debugged failnth failnth-two failnth-vm flip kmap limit one-goes outlived prime regions scanout storm \
		strangers tt two-gpus uapi-bo vm-bind vm-shared): \
		$(GUEST_TEST_DIR)/dmabuf.o
$(addprefix $(GUEST_TEST_DIR)/,cards debugged failnth-two kmap limit one-goes storm tt two-gpus): $(GUEST_TEST_DIR)/gpus.o
$(addprefix $(GUEST_TEST_DIR)/,absent asleep backing caught contiguous dvfs heaps one-goes parked \
		power-sticks prime probed reservations runtime-pm spaces strangers trips own-vram limit placed pool tt \
		debugged failnth failnth-card failnth-two failnth-vm fault-mode flip flip-ends gpu-off kmap long-ends mover-ends outlived regions residency sleep-ends stalled suspend victims vm-bind vm-shared vm-strain vm-tables wired): \
		$(addprefix $(GUEST_TEST_DIR)/,graded.o graded_kept.o graded_kernel.o graded_module.o graded_report.o)

$(addprefix $(GUEST_TEST_DIR)/,cards debugged failnth-card gpu-off kmap limit mover-ends outlived placed pool regions residency sleep-ends victims): $(GUEST_TEST_DIR)/placed_client.o
$(addprefix $(GUEST_TEST_DIR)/,limit victims): $(GUEST_TEST_DIR)/victims_call.o
$(addprefix $(GUEST_TEST_DIR)/,caught mover-ends): $(GUEST_TEST_DIR)/bus_master.o
$(addprefix $(GUEST_TEST_DIR)/,debugged kmap): $(GUEST_TEST_DIR)/kmap_client.o
$(addprefix $(GUEST_TEST_DIR)/,gpu-off parked power-sticks runtime-pm sleep-ends vm-strain): $(GUEST_TEST_DIR)/domains.o
$(addprefix $(GUEST_TEST_DIR)/,flip flip-ends gpu-off residency sleep-ends suspend victims): $(GUEST_TEST_DIR)/flips.o
$(addprefix $(GUEST_TEST_DIR)/,failnth-vm fault-mode gpu-off limit long-ends long-running pages-go placed stalled userptr vm-bind vm-shared vm-random vm-strain vm-tables): $(GUEST_TEST_DIR)/vm_client.o
$(addprefix $(GUEST_TEST_DIR)/,fault-mode long-ends long-running stalled): $(GUEST_TEST_DIR)/endless.o
$(addprefix $(GUEST_TEST_DIR)/,fault-mode gpu-off long-ends sleep-ends stalled suspend vm-tables): $(GUEST_TEST_DIR)/system_sleep.o
$(addprefix $(GUEST_TEST_DIR)/,failnth-vm sleep-ends vm-tables): $(GUEST_TEST_DIR)/kernel_memory.o
$(GUEST_TEST_DIR)/pages-go: $(GUEST_TEST_DIR)/swap_space.o
$(GUEST_TEST_DIR)/fuzz: $(addprefix $(GUEST_TEST_DIR)/fuzz_,calls.o memory.o structs.o values.o world.o)

# They include kept_proto.h.
$(addprefix $(GUEST_TEST_DIR)/,graded.o graded_kept.o): CFLAGS_HOST += -Iguest/init

.SECONDARY: $(GUEST_TESTS:%=$(GUEST_TEST_DIR)/%.o) $(addprefix $(GUEST_TEST_DIR)/,guest.o guest_debugfs.o clients.o)
-include $(if $(BUILDING),$(wildcard $(GUEST_TEST_DIR)/*.d $(GUEST_TEST_DIR)/*/*.d))

# Graded tests: one program a lab, from that lab's folder.
LAB_TEST_NAMES	:= $(sort $(notdir $(patsubst %/,%,$(dir $(wildcard tests/guest/[0-9][0-9]-*/*.c)))))
LAB_TESTS	:= $(LAB_TEST_NAMES:%=$(BUILD)/tests/labs/%)
GRADED_OBJS	:= $(addprefix $(GUEST_TEST_DIR)/,graded.o graded_kept.o graded_kernel.o graded_module.o graded_report.o guest.o \
		   guest_debugfs.o clients.o fail_nth.o sleeps.o)

# The labs in libagate: their programs are linked with the library, and see all of its calls.
LIBRARY_LABS	:= $(filter $(LIBRARY_PARTS),$(LAB_TEST_NAMES))
LIBRARY_OBJS	:= $(addprefix $(GUEST_TEST_DIR)/,calls.o dmabuf.o library.o)

# $(eval $(call lab_test,NAME)): the program of one lab, made anew when a file goes.
define lab_test
$(call listed,$(GUEST_TEST_DIR)/$(1).list,$(sort $(wildcard tests/guest/$(1)/*.c)))
$(BUILD)/tests/labs/$(1): $(patsubst tests/%.c,$(BUILD)/tests/%.o,$(wildcard tests/guest/$(1)/*.c)) \
		$(GRADED_OBJS) $(GUEST_TEST_DIR)/$(1).list
	$$(call say,LD,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) -o $$@ $$(filter %.o,$$^) $$(LAB_LIBS) -lcmocka -pthread
endef
$(foreach lab,$(LAB_TEST_NAMES),$(eval $(call lab_test,$(lab))))
$(LIBRARY_LABS:%=$(BUILD)/tests/labs/%): $(LIBRARY_OBJS) | $(LIBAGATE_LABS)
$(LIBRARY_LABS:%=$(BUILD)/tests/labs/%): LAB_LIBS = $(LIBAGATE_LABS) $$(pkg-config --libs libdrm)

# Labs 03 and 07 use dma-bufs of their own BOs, and labs 02, 05 and 06 the memory of another driver.
$(addprefix $(BUILD)/tests/labs/,02-gem-object 03-cma 05-mmap 06-prime 07-purge): $(GUEST_TEST_DIR)/dmabuf.o

# The module that makes kernel functions fail; what is delivered has no debug information, and keeps
# its lock prefixes (kernel/parts.sh).
INJECT_MODULES	:= $(BUILD)/tests/kmod/fast/agate_inject.ko $(BUILD)/tests/kmod/debug/agate_inject.ko

$(INJECT_MODULES): $(BUILD)/tests/kmod/%/agate_inject.ko: \
		$(sort $(wildcard tests/guest/kmod/*.[ch])) tests/guest/kmod/Kbuild \
		$(BUILD)/parts/%/headers $(BUILD)/guest/kernel-%.id guest/kernel-make.sh
	$(call say,MODULE,$@)
	$(Q)rm -rf $(@D)/kbuild && mkdir -p $(@D)/kbuild && cp $(filter tests/%,$^) $(@D)/kbuild
	$(Q)guest/kernel-make.sh $(BUILD)/guest/kernel-$* M=$(abspath $(@D))/kbuild \
		AGATE=$(CURDIR) PARTS=$(abspath $(BUILD))/parts/$* modules \
		>$(@D)/build.log 2>&1 || { cat $(@D)/build.log >&2; exit 1; }
	$(Q)objcopy --strip-debug -R .smp_locks -R .rela.smp_locks $(@D)/kbuild/agate_inject.ko $@

.PHONY: lab-tests
lab-tests: $(LAB_TESTS) $(INJECT_MODULES)
