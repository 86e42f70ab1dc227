# SPDX-License-Identifier: MIT
#
# Host tests of agate-top's parsing and rates, on the texts of several drivers, and of its
# screen, under ASan and UBSan.

TOP_TEST	:= $(BUILD)/tests/host/top
TOP_TESTS	:= $(patsubst tests/host/top/test_%.c,%,$(wildcard tests/host/top/test_*.c))
TOP_TEST_PROGRAMS := $(TOP_TESTS:%=$(TOP_TEST)/%)
TOP_TEST_SOURCES := $(addprefix userspace/tools/,top_client.c top_draw.c top_power.c top_print.c \
		   top_regions.c top_sample.c top_scan.c top_screen.c)

$(TOP_TEST_PROGRAMS): $(TOP_TEST)/%: tests/host/top/test_%.c $(TOP_TEST_SOURCES)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) $(CFLAGS_SAN) -Iuserspace/tools -MMD -MP -MF $@.d -o $@ \
		$(filter %.c,$^) $(call US_PKG_LIBS,jansson ncursesw) -lcmocka

-include $(wildcard $(TOP_TEST)/*.d)

HOST_TESTS	+= $(TOP_TEST_PROGRAMS)
