#!/bin/sh
# SPDX-License-Identifier: MIT
#
# story.sh: what happens in the capstone's guest.
#
# usage: story.sh CLIENTS SPACES OPTION..., in the guest
#
# CLIENTS programs draw at the same time, with OPTIONs of agate-gem, all but the first one in SPACES
# address spaces of their own.  When the first one has its first frame, and has drawn a part of its
# second one, the system goes to sleep.  Leaves frames.tar, with a folder for each client.
set -u

clients=$1 spaces=$2
shift 2
top=/run/agate
cd "$top" || exit

# draw FOLDER OPTION...
draw()
{
	mkdir "$1"
	cd "$1" || exit
	shift
	"$top/bin/agate-gem" -o gem.png "$@" >said 2>&1 &
	echo $! >pid
	wait $!
	echo $? >status
}

# How long the FRAGMENT jobs of the first client have run by now.
drawn()
{
	cat "/proc/$(cat client-1/pid)/fdinfo/"* 2>/dev/null | grep '^drm-engine-fragment:' |
		sort -u | tail -n 1
}

# until_first CONDITION: or until the first client has ended
until_first()
{
	until [ -e client-1/status ] || eval "$1"; do sleep 0.05; done
}

(draw client-1 "$@") &
for c in $(seq 2 "$clients"); do
	(draw "client-$c" --vm="$spaces" "$@") &
done
until_first '[ -e client-1/gem-0000.png ]'
before=$(drawn)
until_first '[ "$(drawn)" != "$before" ]'
echo mem >/sys/power/state || exit
wait
for c in $(seq "$clients"); do
	[ "$(cat "client-$c/status")" = 0 ] && continue
	echo "client $c ended with $(cat "client-$c/status"):"
	cat "client-$c/said"
	exit 1
done
tar -cf frames.tar client-*/gem*.png
