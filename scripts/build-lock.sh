#!/bin/sh
# SPDX-License-Identifier: MIT
#
# build-lock.sh: run a command that works in a folder, while no other does.
#
# usage: scripts/build-lock.sh FOLDER COMMAND...
#
# Two makes that build the same files would take each other's half-made ones.  A make that
# is part of one that has the lock goes on at once: it would wait for itself.
set -eu

build=$1
shift
[ -d "$build" ] || mkdir -p "$build"
folder=$(CDPATH='' cd -- "$build" && pwd -P)
lock=$folder/.lock

[ "${AGATE_BUILD_LOCK-}" != "$folder" ] || exec "$@"

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

# Nothing that the command leaves running may keep the lock.
AGATE_BUILD_LOCK=$folder "$@" 9>&-
