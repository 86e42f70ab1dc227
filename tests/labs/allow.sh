#!/bin/sh
# SPDX-License-Identifier: MIT
#
# allow.sh: are the lists of allowed symbols those that scripts/allow-lists.sh makes, and
# is nothing in them that no list may have?  As TAP.
#
# usage: tests/labs/allow.sh
set -u
. tests/tap.sh

BUILD=${BUILD:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
complain() { cat "$work/said"; }

words() { sed 's/#.*//' "$@" | tr -s ' ' '\n' | sed '/^$/d'; }
release() { sed -n 's/.* Linux \([0-9.]*[0-9]\)\.$/\1/p' "$1"; }

# overlap PATTERNS LIST: what both could mean; either may end in a star.
overlap()
{
	awk '
		FILENAME == ARGV[1] { never[$0]; next }
		{
			word = $0
			open_word = sub(/\*$/, "", word)
			for (n in never) {
				p = n
				open_p = sub(/\*$/, "", p)
				if (word == p || (open_p && index(word, p) == 1) ||
				    (open_word && index(p, word) == 1))
					print $0 ", which is never allowed: " n
			}
		}' "$1" "$2"
}

echo 1..5
scripts/allow-lists.sh common >"$work/common" 2>"$work/said"
result $? "the list can be made"
# Another release of the kernel may export more; what it exports less is found below.
list=kernel/allow-common.txt
case $(release "$work/common") in
6.12*) list=kernel/allow-6.12.txt ;;
esac
if [ "$(release "$work/common")" = "$(release $list)" ]; then
	diff -u $list "$work/common" >"$work/said"
else
	: >"$work/said"
fi
result $? "and is the one in kernel/, for the release that this was made for"

scripts/allow-lists.sh never >"$work/never"
words kernel/allow-common.txt kernel/allow-6.12.txt >"$work/words"
for lab in labs/*/lab.json; do
	"$BUILD/bin/agate-lab-info" "$lab" | sed -n 's/^allow //p'
done >>"$work/words"
overlap "$work/never" "$work/words" >"$work/said"
[ -s "$work/never" ] && [ ! -s "$work/said" ]
result $? "no list has what no list may have, the labs' own lists neither"

# The exclusions name symbols that the sources of a topic export: a pattern that fits none
# excludes nothing, and is a mistake.
sort -u "$BUILD"/parts/*/symvers >"$work/exported"
for wanted in _ctype memparse hex_asc list_sort kstrtobool strcasecmp xa_* mutex_lock \
	dma_fence_init queue_work_on refcount_warn_saturate; do
	words kernel/allow-common.txt kernel/allow-6.12.txt | grep -qxF "$wanted" || echo "no $wanted"
done >"$work/said"
[ ! -s "$work/said" ]
result $? "helpers of every topic are in it"
for unwanted in filp_open kernel_read call_usermodehelper panic kallsyms_lookup_name \
	register_kprobe kasan_disable_current lockdep_off debug_locks_off set_memory_x \
	drm_gem_shmem_create do_settimeofday64; do
	words kernel/allow-common.txt kernel/allow-6.12.txt | sed 's/\*$//' >"$work/plain"
	words kernel/allow-common.txt kernel/allow-6.12.txt | awk -v name="$unwanted" '
		sub(/\*$/, "") ? index(name, $0) == 1 : $0 == name'
done >"$work/said"
[ ! -s "$work/said" ]
result $? "and nothing that blinds, reaches files, patches code or is a lab's work"
