# SPDX-License-Identifier: MIT
# Host tests of the GPU model and of its process, under ASan and UBSan.

SIM_TEST_BUILD	:= $(BUILD)/tests/host/sim
# confined tests the process in its sandbox, below.
SIM_TESTS	:= $(filter-out confined,$(patsubst tests/host/sim/test_%.c,%,$(sort $(wildcard tests/host/sim/test_*.c))))
SIM_TEST_CFLAGS	= $(CFLAGS_HOST) $(CFLAGS_SAN) -ffp-contract=off -Isim/model -Isim/process \
		  -Itests/host/sim

# The model and the process again, from the same sources, with sanitizers.
LIBAGATE_SIM_SAN := $(SIM_TEST_BUILD)/libagate-sim-san.a
AGATE_SIM_SAN	:= $(SIM_TEST_BUILD)/agate-sim
SIM_SAN_MODEL	:= $(SIM_MODEL_SRCS:sim/%.c=$(SIM_TEST_BUILD)/obj/%.o)
SIM_SAN_PROCESS	:= $(SIM_PROCESS_SRCS:sim/%.c=$(SIM_TEST_BUILD)/obj/%.o)
SIM_TEST_COMMON	:= $(addprefix $(SIM_TEST_BUILD)/,gpu_bench.o guest_bus.o mover_bench.o \
		   process_bench.o trace_check.o walk_bench.o)

# The sanitizer's report needs calls that the sandbox forbids, so these run outside it.
$(SIM_SAN_PROCESS): SIM_TEST_CFLAGS += -DAGATE_INSTRUMENTED

$(SIM_SAN_MODEL) $(SIM_SAN_PROCESS): $(SIM_TEST_BUILD)/obj/%.o: sim/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(SIM_TEST_CFLAGS) -MMD -MP -c -o $@ $<

$(LIBAGATE_SIM_SAN): $(SIM_SAN_MODEL) $(SIM_MODEL_LIST)
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(SIM_SAN_MODEL)

$(AGATE_SIM_SAN): $(SIM_SAN_PROCESS) $(LIBAGATE_SIM_SAN) $(SIM_PROCESS_LIST)
	$(call say,LD,$@)
	$(Q)$(CC) $(SIM_TEST_CFLAGS) -o $@ $(SIM_SAN_PROCESS) $(LIBAGATE_SIM_SAN) -ljansson -lpng -lm

$(SIM_TEST_BUILD)/%.o: tests/host/sim/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(SIM_TEST_CFLAGS) -DAGATE_SIM_SAN='"$(AGATE_SIM_SAN)"' -MMD -MP -c -o $@ $<

SIM_PROGRAMS	:= $(SIM_TESTS:%=$(SIM_TEST_BUILD)/sim-%)
SIM_TEST_PARTS	:= $(addprefix $(SIM_TEST_BUILD)/obj/process/,bus.o frame_files.o frame_png.o inject_spec.o sim_options.o \
		   ram.o sandbox.o trace.o trace_card.o)
$(SIM_PROGRAMS): $(SIM_TEST_BUILD)/sim-%: $(SIM_TEST_BUILD)/test_%.o $(SIM_TEST_COMMON) \
		 $(SIM_TEST_PARTS) $(LIBAGATE_SIM_SAN)
	$(call say,LD,$@)
	$(Q)$(CC) $(SIM_TEST_CFLAGS) $(LINK_OPTIONS) -o $@ $^ -lcmocka -ljansson -lpng -lm

$(SIM_TEST_BUILD)/sim-no_memory: LINK_OPTIONS := -Wl,--wrap=calloc

# These tests run the process itself.
SIM_PROCESS_TESTS := card_process process control_socket trace start vanish told
$(addprefix $(SIM_TEST_BUILD)/sim-,$(SIM_PROCESS_TESTS)): | $(AGATE_SIM_SAN)

$(SIM_TEST_BUILD)/test_agate_fw.o: SIM_TEST_CFLAGS += -DAGATE_FW='"$(abspath $(AGATE_FW))"'
$(SIM_TEST_BUILD)/sim-agate_fw: | $(AGATE_FW)

# The same tests with the process that users run, in its sandbox.
SANDBOX_BUILD	:= $(BUILD)/tests/host/sandbox
SANDBOX_TESTS	:= $(SIM_PROCESS_TESTS:%=$(SANDBOX_BUILD)/sandbox-%) $(SANDBOX_BUILD)/sandbox-confined

$(SANDBOX_BUILD)/%.o: tests/host/sim/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(SIM_TEST_CFLAGS) -DAGATE_SIM_SAN='"$(AGATE_SIM)"' -MMD -MP -c -o $@ $<

$(SANDBOX_BUILD)/sandbox-%: $(SANDBOX_BUILD)/test_%.o $(SANDBOX_BUILD)/process_bench.o \
		$(SIM_TEST_COMMON) $(SIM_TEST_PARTS) $(LIBAGATE_SIM_SAN) | $(AGATE_SIM)
	$(call say,LD,$@)
	$(Q)$(CC) $(SIM_TEST_CFLAGS) -o $@ $(filter-out $(SIM_TEST_BUILD)/process_bench.o,$^) \
		-lcmocka -ljansson -lpng -lm

# For the demo's trace.
CHECK_TRACE	:= $(SIM_TEST_BUILD)/check-trace
$(CHECK_TRACE): $(SIM_TEST_BUILD)/check_trace_main.o $(SIM_TEST_BUILD)/trace_check.o
	$(call say,LD,$@)
	$(Q)$(CC) $(SIM_TEST_CFLAGS) -o $@ $^ -ljansson

test-build: $(CHECK_TRACE)

.SECONDARY: $(SIM_TESTS:%=$(SIM_TEST_BUILD)/test_%.o) $(SANDBOX_BUILD)/process_bench.o \
	$(SANDBOX_TESTS:$(SANDBOX_BUILD)/sandbox-%=$(SANDBOX_BUILD)/test_%.o)
-include $(wildcard $(SIM_TEST_BUILD)/*.d $(SANDBOX_BUILD)/*.d $(SIM_TEST_BUILD)/obj/*/*.d)

HOST_TESTS	+= $(SIM_PROGRAMS) $(SANDBOX_TESTS)
