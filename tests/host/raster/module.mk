# SPDX-License-Identifier: MIT
# Host tests of the tiler and the rasteriser, under ASan and UBSan.

RASTER_TEST_BUILD := $(BUILD)/tests/host/raster
RASTER_CFLAGS	= $(CFLAGS_HOST) $(CFLAGS_SAN) -ffp-contract=off -Isim/model -Itests/host/raster

# The model's objects are those of tests/host/sim, which are compiled in the same way.
RASTER_OBJECTS	:= $(BUILD)/tests/host/sim/obj/model

# The job types alone, over a stand-in for the core ...
RASTER_TESTS	:= coverage clip tiler fragment stalls hostile outside
RASTER_MODEL	:= clip raster shade tiler tiler_bin tiler_context fragment
RASTER_COMMON	:= $(RASTER_MODEL:%=$(RASTER_OBJECTS)/%.o) \
		   $(RASTER_TEST_BUILD)/fake_exec.o $(RASTER_TEST_BUILD)/frame.o

# ... and the whole model.
RASTER_GPU	:= $(patsubst sim/model/%.c,$(RASTER_OBJECTS)/%.o,$(wildcard sim/model/*.c)) \
		   $(RASTER_TEST_BUILD)/driver.o $(RASTER_TEST_BUILD)/reference.o

$(RASTER_TEST_BUILD)/%.o: tests/host/raster/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(RASTER_CFLAGS) -MMD -MP -c -o $@ $<

RASTER_PROGRAMS := $(RASTER_TESTS:%=$(RASTER_TEST_BUILD)/raster-%)
$(RASTER_PROGRAMS): $(RASTER_TEST_BUILD)/raster-%: $(RASTER_TEST_BUILD)/test_%.o $(RASTER_COMMON)
	$(call say,LD,$@)
	$(Q)$(CC) $(RASTER_CFLAGS) -o $@ $^ -lcmocka -lm

$(RASTER_TEST_BUILD)/raster-gpu: $(RASTER_TEST_BUILD)/test_gpu.o $(RASTER_GPU) \
		$(SIM_MODEL_LIST)
	$(call say,LD,$@)
	$(Q)$(CC) $(RASTER_CFLAGS) -o $@ $(filter %.o,$^) -lcmocka -lm

.SECONDARY: $(RASTER_TESTS:%=$(RASTER_TEST_BUILD)/test_%.o)
-include $(wildcard $(RASTER_TEST_BUILD)/*.d)

HOST_TESTS	+= $(RASTER_PROGRAMS) $(RASTER_TEST_BUILD)/raster-gpu
