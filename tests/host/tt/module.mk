# SPDX-License-Identifier: MIT
# Host tests of the pages of a placed BO: the driver's own file, on a fake kernel.
#
# AGATE_LAB_22 selects another version of lab 22's files, and AGATE_FRAME one of the frame's; each
# version has objects of its own.

AGATE_LAB_22	?= solutions/22-tt
AGATE_FRAME	?= kernel
TT_TEST_BUILD	:= $(BUILD)/tests/host/tt
TT_LAB		:= $(TT_TEST_BUILD)/$(subst /,_,$(AGATE_LAB_22))
TT_TESTS	:= $(patsubst tests/host/tt/test_%.c,%,$(wildcard tests/host/tt/test_*.c))
TT_FRAME	:= $(TT_TEST_BUILD)/$(subst /,_,$(AGATE_FRAME))
TT_COMMON	:= $(TT_LAB)/agate_ttm_tt.o $(TT_FRAME)/agate_tt_life.o \
		   $(TT_FRAME)/agate_tt_lists.o $(TT_TEST_BUILD)/fake_pages.o
TT_CFLAGS	= $(CFLAGS_HOST) $(CFLAGS_SAN) -I$(TT_TEST_BUILD)/empty -Itests/host/shim -Ikernel \
		  -Itests/host/tt -include fake_pages.h
# Warnings are not errors here, because the file may be a student's.
TT_KERNEL_CFLAGS = $(filter-out -Werror,$(TT_CFLAGS)) -Wno-unused-parameter -DLAB22=99

# Headers that the driver's include, and whose names fake_pages.h has.
TT_HEADERS	:= $(patsubst %,$(TT_TEST_BUILD)/empty/%.h,drm/drm_drv drm/drm_prime linux/atomic linux/bug \
		   linux/dma-fence linux/dma-mapping linux/file linux/highmem linux/iosys-map linux/llist linux/mm \
		   linux/pagemap linux/scatterlist linux/shmem_fs linux/slab linux/workqueue)

$(TT_HEADERS):
	$(Q)mkdir -p $(@D)
	$(Q): >$@

$(TT_LAB)/%.o: $(AGATE_LAB_22)/%.c | $(TT_HEADERS)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(TT_KERNEL_CFLAGS) -MMD -MP -c -o $@ $<

$(TT_FRAME)/%.o: $(AGATE_FRAME)/%.c | $(TT_HEADERS)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(TT_KERNEL_CFLAGS) -MMD -MP -c -o $@ $<

$(TT_TEST_BUILD)/%.o: tests/host/tt/%.c | $(TT_HEADERS)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(TT_CFLAGS) -MMD -MP -c -o $@ $<

TT_PROGRAMS := $(TT_TESTS:%=$(TT_TEST_BUILD)/%)
$(eval $(call listed,$(TT_TEST_BUILD)/common.list,$(TT_COMMON)))
$(TT_PROGRAMS): $(TT_TEST_BUILD)/%: $(TT_TEST_BUILD)/test_%.o $(TT_COMMON) \
		$(TT_TEST_BUILD)/common.list
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_HOST) $(CFLAGS_SAN) -o $@ $(filter %.o,$^) -lcmocka

.SECONDARY: $(TT_TESTS:%=$(TT_TEST_BUILD)/test_%.o)
-include $(wildcard $(TT_TEST_BUILD)/*.d $(TT_LAB)/*.d $(TT_FRAME)/*.d)

HOST_TESTS	+= $(TT_PROGRAMS)
