# SPDX-License-Identifier: MIT
# Host tests: cmocka programs under ASan and UBSan.
#
# Each folder here has a module.mk that says how its programs are built and
# adds their paths to HOST_TESTS; the program's file name is the suite's name.

HOST_TEST_SECONDS := 120

# The score is added up by whoever runs more than this: exits 0 once all ran.
.PHONY: run-host-tests
run-host-tests: host-tests
	$(Q)mkdir -p $(BUILD)/tests
	$(Q)touch $(BUILD)/tests/score
	$(Q)sed -i '/^host\//d' $(BUILD)/tests/score
	$(Q)for t in $(HOST_TESTS); do \
		BUILD=$(BUILD) tests/suite.sh host/$${t##*/} $(HOST_TEST_SECONDS) $$t; \
	done

.PHONY: host-tests
.SECONDEXPANSION:
host-tests: $$(HOST_TESTS)

## make test-host   the tests that need no virtual machine
.PHONY: test-host
test-host: run-host-tests
	$(Q)awk '/^host\// { passed += $$2; failed += $$3 } \
		END { printf "%d passed, %d failed\n", passed, failed; \
		      exit failed || !passed }' $(BUILD)/tests/score
