# SPDX-License-Identifier: MIT
# Host tests of what is purged: the driver's own file, on a fake driver.
#
# AGATE_LAB_07 selects another version of lab 07's file; each version has objects of its own.

AGATE_LAB_07	?= solutions/07-purge
PURGE_TEST_BUILD := $(BUILD)/tests/host/purge
PURGE_LAB	:= $(PURGE_TEST_BUILD)/$(subst /,_,$(AGATE_LAB_07))
PURGE_TESTS	:= $(patsubst tests/host/purge/test_%.c,%,$(wildcard tests/host/purge/test_*.c))
PURGE_COMMON	:= $(PURGE_LAB)/agate_gem_purge.o $(PURGE_TEST_BUILD)/fake_driver.o
PURGE_CFLAGS	= $(CFLAGS_HOST) $(CFLAGS_SAN) -I$(PURGE_TEST_BUILD)/empty -Itests/host/shim -Ikernel \
		  -Itests/host/purge $$(pkg-config --cflags libdrm) -include fake_driver.h
# Warnings are not errors here, because the file may be a student's.
PURGE_KERNEL_CFLAGS = $(filter-out -Werror,$(PURGE_CFLAGS)) -Wno-unused-parameter -DLAB07=99

# Headers that the file may include, and whose names fake_driver.h has.
PURGE_HEADERS	:= $(patsubst %,$(PURGE_TEST_BUILD)/empty/%.h,drm/drm_device drm/drm_drv drm/drm_file drm/drm_gem \
		   drm/drm_print drm/drm_vma_manager linux/atomic linux/bug linux/dma-fence linux/dma-resv \
		   linux/gfp linux/jiffies linux/mm linux/pagemap linux/printk linux/shrinker linux/slab)

$(PURGE_HEADERS):
	$(Q)mkdir -p $(@D)
	$(Q): >$@

$(PURGE_LAB)/%.o: $(AGATE_LAB_07)/%.c | $(PURGE_HEADERS)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(PURGE_KERNEL_CFLAGS) -MMD -MP -c -o $@ $<

$(PURGE_TEST_BUILD)/%.o: tests/host/purge/%.c | $(PURGE_HEADERS)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(PURGE_CFLAGS) -MMD -MP -c -o $@ $<

PURGE_PROGRAMS := $(PURGE_TESTS:%=$(PURGE_TEST_BUILD)/%)
$(eval $(call listed,$(PURGE_TEST_BUILD)/common.list,$(PURGE_COMMON)))
$(PURGE_PROGRAMS): $(PURGE_TEST_BUILD)/%: $(PURGE_TEST_BUILD)/test_%.o $(PURGE_COMMON) \
		$(PURGE_TEST_BUILD)/common.list
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_HOST) $(CFLAGS_SAN) -o $@ $(filter %.o,$^) -lcmocka

.SECONDARY: $(PURGE_TESTS:%=$(PURGE_TEST_BUILD)/test_%.o)
-include $(wildcard $(PURGE_TEST_BUILD)/*.d $(PURGE_LAB)/*.d)

HOST_TESTS	+= $(PURGE_PROGRAMS)
