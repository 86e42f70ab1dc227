# SPDX-License-Identifier: MIT
# Host tests of the records of an address space: the driver's own file, on a fake kernel.
#
# AGATE_LAB_24 selects another version of lab 24's files; each version has objects of its own.

AGATE_LAB_24	?= solutions/24-vm-bind
VA_TEST_BUILD	:= $(BUILD)/tests/host/va
VA_LAB		:= $(VA_TEST_BUILD)/$(subst /,_,$(AGATE_LAB_24))
VA_TESTS	:= $(patsubst tests/host/va/test_%.c,%,$(wildcard tests/host/va/test_*.c))
VA_COMMON	:= $(VA_LAB)/agate_va.o $(addprefix $(VA_TEST_BUILD)/,fake_mm.o va_space.o)
VA_CFLAGS	= $(CFLAGS_HOST) $(CFLAGS_SAN) -I$(VA_TEST_BUILD)/empty -Itests/host/shim -Ikernel \
		  -Itests/host/va -include fake_mm.h
# Warnings are not errors here, because the file may be a student's.
VA_KERNEL_CFLAGS = $(filter-out -Werror,$(VA_CFLAGS)) -Wno-unused-parameter -DLAB24=99

# Headers that the driver's include, and whose names fake_mm.h has.
VA_HEADERS	:= $(patsubst %,$(VA_TEST_BUILD)/empty/%.h,drm/drm_mm drm/gpu_scheduler linux/atomic \
		   linux/bug linux/dma-direction linux/dma-fence linux/dma-resv linux/iosys-map linux/kref \
		   linux/ktime linux/llist linux/rwsem linux/scatterlist linux/sizes linux/slab linux/wait \
		   linux/workqueue)

$(VA_HEADERS):
	$(Q)mkdir -p $(@D)
	$(Q): >$@

$(VA_LAB)/%.o: $(AGATE_LAB_24)/%.c | $(VA_HEADERS)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(VA_KERNEL_CFLAGS) -MMD -MP -c -o $@ $<

$(VA_TEST_BUILD)/%.o: tests/host/va/%.c | $(VA_HEADERS)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(VA_CFLAGS) -MMD -MP -c -o $@ $<

VA_PROGRAMS := $(VA_TESTS:%=$(VA_TEST_BUILD)/%)
$(eval $(call listed,$(VA_TEST_BUILD)/common.list,$(VA_COMMON)))
$(VA_PROGRAMS): $(VA_TEST_BUILD)/%: $(VA_TEST_BUILD)/test_%.o $(VA_COMMON) \
		$(VA_TEST_BUILD)/common.list
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_HOST) $(CFLAGS_SAN) -o $@ $(filter %.o,$^) -lcmocka

.SECONDARY: $(VA_TESTS:%=$(VA_TEST_BUILD)/test_%.o)
-include $(wildcard $(VA_TEST_BUILD)/*.d $(VA_LAB)/*.d)

HOST_TESTS	+= $(VA_PROGRAMS)
