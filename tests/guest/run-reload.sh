#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run-reload.sh: load and unload the driver fifty times, as TAP.
#
# usage: tests/guest/run-reload.sh fast|debug
#
# Each time one client runs a job, so that there is something to unload.
set -u

flavour=$1 program=reload
. "$(dirname "$0")/guest.sh"

guest_run "put:$BUILD/tests/guest/reload:$GUEST/reload:0755" \
	"exec:CMOCKA_MESSAGE_OUTPUT=TAP $GUEST/reload $GUEST/agate.ko 50; insmod $GUEST/agate.ko"
guest_verdict
