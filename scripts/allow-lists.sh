#!/bin/sh
# SPDX-License-Identifier: MIT
#
# allow-lists.sh: computes the kernel symbols that a lab's file may use, from the kernel's
# exports and from the symbols that its own drivers use.  For the maintainers of the labs.
#
# usage: scripts/allow-lists.sh common    prints kernel/allow-common.txt; with another
#                                         kernel than Linux 6.1, what that list lacks:
#                                         kernel/allow-VERSION.txt
#        scripts/allow-lists.sh never     prints the patterns that no list may have
#        scripts/allow-lists.sh drivers   compiles drivers of drivers/gpu/drm and prints
#                                         what they use that no list has, with how many
#                                         of their files do; minutes
#
# In the project's folder, with build/parts of both kernels. kernel/allow-topics.txt
# assigns the kernel's sources to topics, and lists the symbols that are left out, with
# the reason.
set -eu

. scripts/compose-lib.sh

TOPICS=kernel/allow-topics.txt
DRIVERS="lima panfrost vgem v3d etnaviv scheduler virtio vkms ttm"

kernel=$(readlink -f "$BUILD/guest/kernel-fast")
source=$(readlink -f "$kernel/source")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sort -u "$BUILD"/parts/fast/symvers "$BUILD"/parts/debug/symvers >"$work/exported"

# excluded KIND...: the patterns below `never` or `lab`
excluded()
{
	awk -v kinds=" $* " '
		$1 == "never" || $1 == "lab" { on = index(kinds, " " $1 " ") }
		$1 == "symbols" && on { for (i = 2; i <= NF; i++) print $i }
		$1 == "topic" { on = 0 }' "$TOPICS"
}

# exports FILE: the exports of one of the kernel's sources, if this kernel has it
exports()
{
	[ -e "$source/$1" ] || return 0
	grep -ohE '^[[:space:]]*EXPORT_SYMBOL[A-Z_]*\([A-Za-z0-9_]+' "$source/$1" | sed 's/.*(//'
}

# without PATTERNS: the lines of standard input that match none
without()
{
	awk '
		FILENAME == ARGV[1] { if (sub(/\*$/, "")) prefix[$0]; else exact[$0]; next }
		!($0 in exact) {
			for (p in prefix)
				if (index($0, p) == 1)
					next
			print
		}' "$1" -
}

# One topic's symbols: those of its sources, and those that it lists. A listed pattern
# stays as it is; a listed symbol needs to exist in only one of the course kernels.
topic()
{
	for file in $from; do
		exports "$file"
	done | sort -u | comm -12 - "$work/exported" >"$work/found"
	printf '%s\n' $also | sort -u >"$work/also"
	grep '\*$' "$work/also" >"$work/patterns" || :
	{
		without "$work/patterns" <"$work/found" | without "$work/excluded"
		grep -v '\*$' "$work/also" | without "$work/patterns" | comm -12 - "$work/exported"
		cat "$work/patterns"
	} | sort -u | grep -vxF -f "$work/done" >"$work/words" || :
	[ -s "$work/words" ] || return 0
	cat "$work/words" >>"$work/done"
	echo
	echo "# $title"
	fmt -w 90 <"$work/words"
}

# Print the comment at the head of the list; put what the list leaves out into done.
heading()
{
	release=$(make -s -C "$source" kernelversion)
	version=$(echo "$release" | cut -d . -f 1,2)
	echo "# SPDX-License-Identifier: GPL-2.0-only"
	echo "#"
	if [ "$version" = 6.1 ]; then
		echo / >"$work/done"
		cat <<-END
		# Symbols of the kernel that any lab's file may use besides those that its lab.json
		# allows: what the compiler, the checks of both builds of the kernel and the kernel's
		# own inline functions need, and what every driver does.  A \`*\` stands for any end.
		END
	else
		sed 's/#.*//' kernel/allow-common.txt | tr -s ' ' '\n' | sed 's/^$/\//' >"$work/done"
		echo "# What Linux $version has for the same purposes as kernel/allow-common.txt, in addition."
	fi
	cat <<-END
	#
	# Made by scripts/allow-lists.sh from kernel/allow-topics.txt, which also says what
	# is not here on purpose, and why.  Linux $release.
	END
}

common()
{
	excluded never lab >"$work/excluded"
	heading
	title='' from='' also=''
	while read -r word rest; do
		case $word in
		topic | never)
			[ -z "$title" ] || topic
			title=$rest from='' also=''
			[ $word = topic ] || break ;;
		from) from="$from $rest" ;;
		also) also="$also $rest" ;;
		esac
	done <"$TOPICS"
}

# Some drivers do not compile with the course kernel's configuration; the others are
# enough.
drivers()
{
	for driver in $DRIVERS; do
		ls "$source/drivers/gpu/drm/$driver"/*.c
	done | xargs -P "$(nproc)" -I FILE sh -c '
		name=$(echo "$1" | tr / _)
		"$2/parts/fast/compile" "$1" "$3/$name.o" -pipe -w -I"${1%/*}" >/dev/null 2>&1 &&
			nm -P -u "$3/$name.o" | sed "s/ .*//" >"$3/$name.used"
		rm -f "$3/$name.o"*' compile FILE "$BUILD" "$work"
	{
		sed 's/#.*//' kernel/allow-common.txt kernel/allow-6.*.txt | tr -s ' ' '\n' | sed '/^$/d'
		for lab in "$LABS"/*/lab.json; do
			lab=${lab%/lab.json}
			lab_info "${lab##*/}" | sed -n 's/^allow //p'
		done
	} >"$work/listed"
	cat "$work"/*.used | sort | comm -12 - "$work/exported" >"$work/used" || :
	cat "$work"/*.used | sort | uniq -c | sort -rn | awk '{ print $2, $1 }' >"$work/counts"
	sed 's/ .*//' "$work/counts" | without "$work/listed" >"$work/new"
	grep -xF -f "$work/exported" "$work/new" | while read -r symbol; do
		grep "^$symbol " "$work/counts"
	done
	echo "# of $(ls "$work"/*.used | wc -l) files"
}

case ${1-} in
common) common ;;
never) excluded never ;;
drivers) drivers ;;
*) die "usage: $0 common|never|drivers" ;;
esac
