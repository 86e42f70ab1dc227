#!/bin/bash
# SPDX-License-Identifier: MIT
#
# busy.sh: run a command on a busy machine.
#
# usage: tests/busy.sh COUNT COMMAND...
#
# Runs COMMAND with COUNT processes beside it that do nothing but compute, and exits with
# its status.  They end with this script, however it ends: when it is killed the kernel
# kills them, and one that started too late for that looks for itself.
set -u

count=$1
shift
busy=()
command=

stop()
{
	[ ${#busy[@]} = 0 ] || kill -KILL "${busy[@]}" 2>/dev/null
	wait 2>/dev/null
}
trap stop EXIT
trap '[ -z "$command" ] || { kill "$command"; wait "$command"; }; exit 130' INT TERM HUP

# shellcheck disable=SC2016 # for the shell that is started
for ((i = 0; i < count; i++)); do
	setpriv --pdeathsig KILL sh -c 'while kill -0 "$1" 2>/dev/null; do
		n=0
		while [ $n -lt 1000000 ]; do n=$((n + 1)); done
	done' busy $$ </dev/null >/dev/null 2>&1 &
	busy+=($!)
done

"$@" &
command=$!
wait "$command"
status=$?
command=
exit $status
