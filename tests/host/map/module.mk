# SPDX-License-Identifier: MIT
# Host tests of agate-map, under ASan and UBSan.

MAP_TEST_BUILD	:= $(BUILD)/tests/host/map
MAP_TEST_CFLAGS	= $(CFLAGS_HOST) $(CFLAGS_SAN) -Isim/map
MAP_TESTS	:= $(patsubst tests/host/map/test_%.c,%,$(sort $(wildcard tests/host/map/test_*.c)))

# The program again, from the same sources, with sanitizers.
AGATE_MAP_SAN	:= $(MAP_TEST_BUILD)/agate-map
MAP_TEST_MAIN	:= $(MAP_TEST_BUILD)/obj/agate_map.o
MAP_TEST_OBJS	:= $(filter-out $(MAP_TEST_MAIN),$(SIM_MAP_SRCS:sim/map/%.c=$(MAP_TEST_BUILD)/obj/%.o))

$(MAP_TEST_MAIN) $(MAP_TEST_OBJS): $(MAP_TEST_BUILD)/obj/%.o: sim/map/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(MAP_TEST_CFLAGS) -MMD -MP -c -o $@ $<

$(AGATE_MAP_SAN): $(MAP_TEST_MAIN) $(MAP_TEST_OBJS) $(SIM_MAP_LIST)
	$(call say,LD,$@)
	$(Q)$(CC) $(MAP_TEST_CFLAGS) -o $@ $(filter %.o,$^) -ljansson -lm

$(MAP_TEST_BUILD)/%.o: tests/host/map/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(MAP_TEST_CFLAGS) -DAGATE_MAP_SAN='"$(AGATE_MAP_SAN)"' -MMD -MP -c -o $@ $<

MAP_PROGRAMS	:= $(MAP_TESTS:%=$(MAP_TEST_BUILD)/sim-%)
$(MAP_PROGRAMS): $(MAP_TEST_BUILD)/sim-%: $(MAP_TEST_BUILD)/test_%.o \
		$(MAP_TEST_BUILD)/map_log.o $(MAP_TEST_OBJS)
	$(call say,LD,$@)
	$(Q)$(CC) $(MAP_TEST_CFLAGS) $(LINK_OPTIONS) -o $@ $^ -lcmocka -ljansson -lm

$(MAP_TEST_BUILD)/sim-map_edges: LINK_OPTIONS := -Wl,--wrap=realloc

# These tests run the program itself.
$(addprefix $(MAP_TEST_BUILD)/,sim-map_card sim-map_program): | $(AGATE_MAP_SAN)

.SECONDARY: $(MAP_TESTS:%=$(MAP_TEST_BUILD)/test_%.o)
-include $(wildcard $(MAP_TEST_BUILD)/*.d $(MAP_TEST_BUILD)/obj/*.d)

HOST_TESTS	+= $(MAP_PROGRAMS)
