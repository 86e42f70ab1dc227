#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run-gone.sh: the GPU's process is killed while a job runs, as TAP.
#
# usage: tests/guest/run-gone.sh fast|debug
#
# The client says BUSY when its job runs.  The job timeout is set out of reach,
# so that it is the loss of the GPU which ends the waits, and not a reset.
set -u

flavour=$1 program=gone
. "$(dirname "$0")/guest.sh"

guest_run "put:$BUILD/tests/guest/gone:$GUEST/gone:0755" \
	"exec:insmod $GUEST/agate.ko timeout_ms=600000" "kill-sim-on:BUSY" \
	"exec:CMOCKA_MESSAGE_OUTPUT=TAP $GUEST/gone; true"
guest_verdict
