#!/bin/sh
# SPDX-License-Identifier: MIT
#
# build-lock.sh: run a command that works in a folder, while no other does.
#
# usage: scripts/build-lock.sh FOLDER COMMAND...
#
# Two makes that build the same files would take each other's half-made ones.  A make that
# is part of one that has the lock goes on at once: it would wait for itself.
#
# AGATE_LOCKED lists the folders whose locks the callers hold, one a line.
set -eu

build=$1
shift
[ -d "$build" ] || mkdir -p "$build"
folder=$(CDPATH='' cd -- "$build" && pwd -P)
lock=$folder/.lock
newline='
'

case $newline${AGATE_LOCKED-}$newline in
*"$newline$folder$newline"*) exec "$@" ;;
esac

# `make clean` removes the lock with the folder: take the one that is there now.
said=
while :; do
	[ -d "$folder" ] || mkdir -p "$folder"
	exec 9>>"$lock"
	if ! flock -n 9; then
		[ -n "$said" ] || printf '  %-8s %s\n' WAIT "another make works in $build" >&2
		said=1
		flock 9
	fi
	# shellcheck disable=SC3013 # Debian's sh has it
	[ ! "$lock" -ef /proc/self/fd/9 ] || break
done

# Nothing that the command leaves running may keep the lock, so this shell keeps it until the
# command has ended.  A shell passes a signal on at once only while its command runs in the
# background.  There the command would ignore ^C and have no terminal to read from: env and
# descriptor 8 undo this.
child='' signal=''
pass_on()
{
	signal=$1
	[ -z "$child" ] || kill -s "$signal" "$child" 2>/dev/null || :
}
trap 'pass_on TERM' TERM
trap 'pass_on HUP' HUP
# ^C reaches the command by itself.
trap : INT QUIT
export AGATE_LOCKED="${AGATE_LOCKED:+$AGATE_LOCKED$newline}$folder"
exec 8<&0
env --default-signal=INT,QUIT "$@" <&8 8<&- 9>&- &
child=$!
[ -z "$signal" ] || pass_on "$signal"
# A signal ends the wait before the command has ended.
while :; do
	status=0
	wait "$child" || status=$?
	kill -0 "$child" 2>/dev/null || exit $status
done
