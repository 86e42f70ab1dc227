# SPDX-License-Identifier: MIT
# Host tests of agate-map, under ASan and UBSan.

MAP_TEST_BUILD	:= $(BUILD)/tests/host/map
MAP_TEST_CFLAGS	= $(CFLAGS_HOST) $(CFLAGS_SAN) -Isim/map
MAP_TEST_OBJS	:= $(patsubst sim/map/%.c,$(MAP_TEST_BUILD)/%.o,$(filter-out %/main.c,$(SIM_MAP_SRCS)))

$(MAP_TEST_OBJS): $(MAP_TEST_BUILD)/%.o: sim/map/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(MAP_TEST_CFLAGS) -MMD -MP -c -o $@ $<

$(MAP_TEST_BUILD)/test_map.o: tests/host/map/test_map.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(MAP_TEST_CFLAGS) -MMD -MP -c -o $@ $<

$(MAP_TEST_BUILD)/sim-map: $(MAP_TEST_BUILD)/test_map.o $(MAP_TEST_OBJS)
	$(call say,LD,$@)
	$(Q)$(CC) $(MAP_TEST_CFLAGS) -o $@ $^ -lcmocka -ljansson -lm

-include $(wildcard $(MAP_TEST_BUILD)/*.d)

HOST_TESTS	+= $(MAP_TEST_BUILD)/sim-map
