# SPDX-License-Identifier: MIT
# The host tests alone, without a kernel or a virtual machine.
#
# Each folder here has a module.mk that says how its programs are built and
# adds their paths to HOST_TESTS; the program's file name is the suite's name.

## make test-host   only the tests that need no virtual machine
.PHONY: test-host
test-host: $(HOST_TESTS)
	$(Q)mkdir -p $(BUILD)/tests && rm -f $(BUILD)/tests/score
	$(Q)for p in $(HOST_TESTS); do tests/suite.sh host/$${p##*/} 300 $$p; done
	$(Q)tests/score.sh $(foreach p,$(HOST_TESTS),host/$(notdir $(p)))
