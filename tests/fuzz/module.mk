# SPDX-License-Identifier: MIT
# Fuzz targets: libFuzzer over the model and the process, under ASan and UBSan.

FUZZ_CC		?= clang
FUZZ_BUILD	:= $(BUILD)/fuzz
FUZZ_TARGETS	:= $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_CFLAGS	= $(CFLAGS_HOST) $(CFLAGS_SAN) -fsanitize=float-cast-overflow,fuzzer-no-link \
		  -ffp-contract=off -Isim/model -Isim/process -Itests/fuzz

# The code that a guest reaches: the whole model, and the process except its options.
FUZZ_SIM	:= $(SIM_MODEL_SRCS) $(addprefix sim/process/,bus.c log.c ram.c trace.c trace_card.c)
FUZZ_SIM_OBJS	:= $(FUZZ_SIM:%.c=$(FUZZ_BUILD)/obj/%.o)
FUZZ_COMMON	:= $(addprefix $(FUZZ_BUILD)/obj/tests/fuzz/,card_memory.o hostile_guest.o \
		   hostile_memory.o script.o)
FUZZ_PROGRAMS	:= $(FUZZ_TARGETS:%=$(FUZZ_BUILD)/fuzz-%)

$(FUZZ_BUILD)/obj/%.o: %.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(FUZZ_CFLAGS) -MMD -MP -c -o $@ $<

$(FUZZ_PROGRAMS): $(FUZZ_BUILD)/fuzz-%: $(FUZZ_BUILD)/obj/tests/fuzz/fuzz_%.o $(FUZZ_COMMON) \
		$(FUZZ_SIM_OBJS) $(SIM_MODEL_LIST)
	$(call say,LD,$@)
	$(Q)$(FUZZ_CC) $(FUZZ_CFLAGS) -fsanitize=fuzzer -o $@ $(filter %.o,$^) -lm

# The driver's range allocator is no part of the model, and needs the shim of its host tests.
FUZZ_RANGE	:= $(addprefix $(FUZZ_BUILD)/obj/,solutions/19-ranges/agate_range.o \
		   tests/host/range/range_model.o)
$(FUZZ_RANGE) $(FUZZ_BUILD)/obj/tests/fuzz/fuzz_range.o: FUZZ_CFLAGS += -Itests/host/shim -Ikernel \
		-Itests/host/range -Wno-unused-parameter
$(FUZZ_BUILD)/fuzz-range: $(FUZZ_RANGE)

.SECONDARY: $(FUZZ_TARGETS:%=$(FUZZ_BUILD)/obj/tests/fuzz/fuzz_%.o)
-include $(if $(BUILDING),$(wildcard $(FUZZ_BUILD)/obj/*/*/*.d $(FUZZ_BUILD)/obj/*/*/*/*.d))

# The hand-made half of the corpus; run this when a target's input format changes.
FUZZ_SEEDS	:= $(FUZZ_BUILD)/seeds
$(FUZZ_SEEDS): $(wildcard tests/fuzz/seeds*.[ch]) tests/fuzz/actions.h
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_HOST) -Itests/fuzz -o $@ $(filter %.c,$^)

## make fuzz TARGET=chain|tables|compute|tiler|queue|ggtt|mover|firmware|range [SECONDS=1800]
##                  look for inputs that crash the GPU; continue where the last run ended
.PHONY: fuzz fuzz-seeds
fuzz: SECONDS	?= 600
fuzz: deps
	$(Q)$(if $(filter $(TARGET),$(FUZZ_TARGETS)),,echo "Which?  TARGET= one of: $(FUZZ_TARGETS)" >&2; exit 1)
	$(Q)$(locked) $(MAKE) $(parallel) $(FUZZ_BUILD)/fuzz-$(TARGET)
	$(Q)tests/fuzz/run.sh $(TARGET) $(SECONDS) $(FUZZ_BUILD)/found/$(TARGET)

fuzz-seeds: $(FUZZ_SEEDS)
	$(Q)$< tests/fuzz/corpus
