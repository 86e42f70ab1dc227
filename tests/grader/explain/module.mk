# SPDX-License-Identifier: MIT
# Tests of how the grader explains a kernel's and a compiler's output.

EXPLAIN_BUILD	:= $(BUILD)/tests/grader/explain
EXPLAIN_TESTS	:= $(EXPLAIN_BUILD)/test_splat $(EXPLAIN_BUILD)/test_decode \
		   $(EXPLAIN_BUILD)/test_explain
EXPLAIN_PARTS	:= $(patsubst grader/%.c,$(EXPLAIN_BUILD)/%.o, \
		   $(sort $(wildcard grader/splat*.c grader/decode*.c grader/explain*.c)))
EXPLAIN_SOURCES	:= $(sort $(wildcard tests/grader/explain/source/*.c))
EXPLAIN_CFLAGS	= $(CFLAGS_HOST) $(CFLAGS_SAN) -Igrader

$(EXPLAIN_BUILD)/%.o: grader/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(EXPLAIN_CFLAGS) -MMD -MP -c -o $@ $<

$(EXPLAIN_BUILD)/%.o: tests/grader/explain/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(EXPLAIN_CFLAGS) -MMD -MP -c -o $@ $<

EXPLAIN_LOG	:= $(EXPLAIN_BUILD)/explain_log
$(EXPLAIN_TESTS) $(EXPLAIN_LOG): %: %.o $(EXPLAIN_PARTS)
	$(call say,LD,$@)
	$(Q)$(CC) $(EXPLAIN_CFLAGS) -o $@ $(filter %.o,$^) -lcmocka -lelf

# Like a module: relocatable, its files' names relative to this tree.
$(EXPLAIN_BUILD)/source/%.o: tests/grader/explain/source/%.c \
		tests/grader/explain/source/code.h tests/grader/explain/module.mk
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O0 -g -c -o $@ $<

$(EXPLAIN_BUILD)/test_decode.ko: $(EXPLAIN_SOURCES:tests/grader/explain/%.c=$(EXPLAIN_BUILD)/%.o)
	$(call say,LD,$@)
	$(Q)$(LD) -r -o $@ $^

$(EXPLAIN_BUILD)/test_decode: $(EXPLAIN_BUILD)/test_decode.ko

-include $(wildcard $(EXPLAIN_BUILD)/*.d)

HOST_TESTS	+= $(EXPLAIN_TESTS)
