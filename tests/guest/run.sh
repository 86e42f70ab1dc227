#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh: run one guest test program in a fresh guest, as TAP.
#
# usage: tests/guest/run.sh fast|debug PROGRAM [MODULE_PARAMETER...]
#
# Afterwards the module must unload and the kernel's log must be silent; both
# count as tests of their own.
set -u

flavour=$1 program=$2
shift 2
. "$(dirname "$0")/guest.sh"

guest_run "put:$BUILD/tests/guest/$program:$GUEST/$program:0755" \
	"exec:insmod $GUEST/agate.ko $*" \
	"exec:CMOCKA_MESSAGE_OUTPUT=TAP $GUEST/$program; true"
guest_verdict
