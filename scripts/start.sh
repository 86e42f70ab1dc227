#!/bin/sh
# SPDX-License-Identifier: MIT
#
# start.sh: (re)create a lab's starter in labs/.
#
# usage: [FORCE=1] scripts/start.sh LAB [STEP], in the project's folder
#
# With STEP the first STEP steps are solved.  The script leaves an edited file alone,
# which is one that differs from every starter of this version of the project; with
# FORCE=1 it replaces the file and keeps a copy in labs/NN-topic/.backup.
set -eu

. scripts/compose-lib.sh

lab=$(scripts/lab.sh "${1-}")
step=${2:-0}
folder=$LABS/$lab
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

say() { printf '  %-8s %s\n' "$1" "$2"; }

# Make every starter of the solutions in DIR.
all_steps()
{
	for k in $(seq 0 "$steps"); do
		scripts/starter.sh "$lab" "$k" "$work/$2-$k" "$1" || return
	done
}

# A file that equals one of those, or its committed version, contains no work of a
# student.
untouched()
{
	[ -e "$folder/$1" ] || return 0
	for known in "$work"/*-*/"$1"; do
		! cmp -s "$known" "$folder/$1" || return 0
	done
	git show "HEAD:./$folder/$1" 2>/dev/null | cmp -s - "$folder/$1"
}

keep()
{
	mkdir -p "$folder/.backup"
	backup=$folder/.backup/$(date +%Y%m%d-%H%M%S)-$1
	[ ! -e "$backup" ] || backup=$backup.$$
	cp "$folder/$1" "$backup"
	say BACKUP "$backup"
}

lab_info "$lab" >"$work/info"
steps=$(sed -n 's/^steps //p' "$work/info")
files=$(sed -n 's/^files //p' "$work/info")
scripts/starter.sh "$lab" "$step" "$work/new"
all_steps solutions now
# Starters from before the solutions here were edited are known, too.
if git archive HEAD "solutions/$lab" 2>/dev/null | tar -x -C "$work" 2>/dev/null; then
	all_steps "$work/solutions" head 2>/dev/null || true
fi

edited=
for file in $files; do
	untouched "$file" || edited="$edited $folder/$file"
done
if [ -n "$edited" ] && [ "${FORCE:-}" != 1 ]; then
	echo "There is work in$edited; nothing was changed." >&2
	echo "FORCE=1 starts again, and keeps a copy in $folder/.backup." >&2
	exit 1
fi

for file in $files; do
	if [ -e "$folder/$file" ] && cmp -s "$work/new/$file" "$folder/$file"; then
		say SAME "$folder/$file (step $step of $steps)"
		continue
	fi
	case " $edited " in
	*" $folder/$file "*) keep "$file" ;;
	esac
	cp "$work/new/$file" "$folder/$file.new"
	mv "$folder/$file.new" "$folder/$file"
	say START "$folder/$file (step $step of $steps)"
done
