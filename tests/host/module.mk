# SPDX-License-Identifier: MIT
# The host tests alone, without a kernel or a virtual machine.
#
# Each folder here has a module.mk that says how its programs are built and
# adds their paths to HOST_TESTS; the program's file name is the suite's name.

## make test-host   only the tests that need no virtual machine
.PHONY: test-host
test-host: $(HOST_TESTS)
	$(Q)mkdir -p $(BUILD)/tests && rm -f $(BUILD)/tests/score
	$(Q)for p in $(HOST_TESTS); do tests/suite.sh host/$${p##*/} 300 - $$p; done
	$(Q)tests/score.sh $(foreach p,$(HOST_TESTS),host/$(notdir $(p)))

# The simulator's host tests again, in a separate build that counts lines.
SIMULATOR_TESTS	:= $(foreach d,sim map raster,$(filter $(BUILD)/tests/host/$(d)/%,$(HOST_TESTS)))
COVERAGE_BUILD	:= $(BUILD)/coverage
COVERAGE_TESTS	:= $(SIMULATOR_TESTS:$(BUILD)/%=$(COVERAGE_BUILD)/%)

## make coverage    lines of the simulator that the host tests run, by file; fails below 95 %
.PHONY: coverage coverage-build simulator-tests
coverage: deps
	$(Q)$(locked) $(MAKE) $(parallel) coverage-build
	$(Q)tests/coverage.sh $(COVERAGE_BUILD) $(COVERAGE_TESTS)

coverage-build:
	$(Q)$(MAKE) BUILD=$(COVERAGE_BUILD) CFLAGS_SAN='$(CFLAGS_COVERAGE)' simulator-tests

simulator-tests: $(SIMULATOR_TESTS)
	@:

# Some of the host tests, by name, for `make check`, which selects the tested files with
# AGATE_LAB_NN and sets BUILD to a folder of its own.
ifneq ($(NAMES),)
NAMED_TESTS	:= $(foreach name,$(NAMES),$(or $(filter %/$(name),$(HOST_TESTS)), \
		     $(error there is no host test $(name))))

.PHONY: check-host-build check-host-run
check-host-build: $(NAMED_TESTS)

check-host-run:
	$(Q)mkdir -p $(BUILD)/tests && rm -f $(BUILD)/tests/score
	$(Q)for p in $(NAMED_TESTS); do tests/suite.sh host/$${p##*/} 60 - $$p; done
	$(Q)tests/score.sh $(NAMES:%=host/%)
endif
