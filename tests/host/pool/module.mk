# SPDX-License-Identifier: MIT
# Host tests of the pool of pages: the driver's own file, through the shim.
#
# AGATE_LAB_22 selects another version of lab 22's files; each version has objects of its own.

AGATE_LAB_22	?= solutions/22-tt
POOL_TEST_BUILD := $(BUILD)/tests/host/pool
POOL_LAB	:= $(POOL_TEST_BUILD)/$(subst /,_,$(AGATE_LAB_22))
POOL_TESTS	:= $(patsubst tests/host/pool/test_%.c,%,$(wildcard tests/host/pool/test_*.c))
POOL_COMMON	:= $(POOL_LAB)/agate_ttm_pool.o
POOL_CFLAGS	= $(CFLAGS_HOST) $(CFLAGS_SAN) -Itests/host/shim -Ikernel -Itests/host/pool
# Warnings are not errors here, because the file may be a student's.
POOL_KERNEL_CFLAGS = $(filter-out -Werror,$(POOL_CFLAGS)) -Wno-unused-parameter -DLAB22=99

$(POOL_LAB)/%.o: $(AGATE_LAB_22)/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(POOL_KERNEL_CFLAGS) -MMD -MP -c -o $@ $<

$(POOL_TEST_BUILD)/%.o: tests/host/pool/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(POOL_CFLAGS) -MMD -MP -c -o $@ $<

POOL_PROGRAMS := $(POOL_TESTS:%=$(POOL_TEST_BUILD)/%)
$(eval $(call listed,$(POOL_TEST_BUILD)/common.list,$(POOL_COMMON)))
$(POOL_PROGRAMS): $(POOL_TEST_BUILD)/%: $(POOL_TEST_BUILD)/test_%.o $(POOL_COMMON) \
		$(POOL_TEST_BUILD)/common.list
	$(call say,LD,$@)
	$(Q)$(CC) $(POOL_CFLAGS) -o $@ $(filter %.o,$^) -lcmocka

.SECONDARY: $(POOL_TESTS:%=$(POOL_TEST_BUILD)/test_%.o)
-include $(wildcard $(POOL_TEST_BUILD)/*.d $(POOL_LAB)/*.d)

HOST_TESTS	+= $(POOL_PROGRAMS)
