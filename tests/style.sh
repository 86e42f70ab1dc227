#!/bin/sh
# SPDX-License-Identifier: MIT
#
# style.sh: what a machine can see of the house's rules, as TAP.
#
# usage: tests/style.sh
#
# Looks at the files git knows.  Findings stand before the line of their test.
set -u
. tests/tap.sh

BUILD=${BUILD:-build}
kernel=$BUILD/guest/kernel-fast

# Without git's list of files every check would look at nothing and be content.
git ls-files --error-unmatch Makefile sim/model/gpu.c kernel/agate_drv.c >/dev/null || {
	echo "Bail out! git does not list this tree's files"
	exit 1
}

# Code of the driver, of whatever completeness, and modules that test it; labs 08
# and 09 are libagate's.
kernel_sources()
{
	git ls-files 'kernel/*.[ch]' 'solutions/*.[ch]' 'labs/*.[ch]' 'tests/alternatives/*.[ch]' \
		'tests/guest/kmod/*.[ch]' 'tests/bench/kmod/*.[ch]' 'tests/vm/kmod/*.[ch]' 'tests/upstream/kmod/*.[ch]' |
		grep -Ev '^(solutions|labs|tests/alternatives)/0[89]-'
}

# JSON has no comments; a patch is part of what it patches; the fuzzers' inputs are bytes.
spdx()
{
	kernel=$(kernel_sources)
	git ls-files | grep -Ev '\.(md|png|txt|json|patch)$|^\.gitignore$|^LICENSES/|^tests/fuzz/corpus/' |
		awk -v kernel="$kernel" '
			BEGIN { n = split(kernel, names, "\n"); while (n) gpl[names[n--]] = 1 }
			{
				want = $0 in gpl || /^kernel\/Kbuild|\/kmod\// ? "GPL-2.0-only" : "MIT"
				found = missing = 0
				for (i = 0; i < 3 && (missing = getline line <$0) > 0; i++)
					found = found || index(line, "SPDX-License-Identifier: " want)
				close($0)
				if (!found && missing >= 0)
					print $0 ": no " want
			}'
}

# A path of one machine, a registry's host name: neither belongs in the tree.
paths()
{
	git grep -nIE '(^|[^A-Za-z0-9_./-])/(work|root|home|farm)/|deb\.debian\.org' -- \
		. ':!tests/style.sh'
}

# A file in which nothing was found needs no second look until it changes.
checkpatch()
{
	perl=$kernel/source/scripts/checkpatch.pl
	clean=$BUILD/style/checkpatch-$(cat "$perl" tests/style.sh | sha256sum | cut -c 1-16)
	[ -e "$clean" ] || : >"$clean"
	kernel_sources | xargs sha256sum | grep -vxFf "$clean" >"$clean.new"
	sed 's/^[^ ]*  //' "$clean.new" | xargs -r perl "$perl" --no-tree --strict --terse \
		--quiet --show-types --max-line-length=100 --ignore FILE_PATH_CHANGES -f \
		>"$clean.found" 2>&1 || {
		grep -v '^total:' "$clean.found" || echo "checkpatch failed, and does not say why"
		return
	}
	cat "$clean.new" >>"$clean"
}

sparse()
{
	log=$BUILD/driver/sparse.log
	make "$log" >/dev/null 2>&1 || echo "the sparse build failed"
	grep -E '(warning|error):' "$log"
	grep -q 'CHECK.*agate' "$log" || echo "sparse looked at nothing, see $log"
}

# Tests: one that gets no memory may end by a NULL pointer, and `assert_false(fclose(file))`
# is, for cppcheck, a use of the file after its end.
cppcheck_host()
{
	git ls-files 'sim/*.c' 'vm/*.c' 'grader/*.c' 'userspace/*.c' 'solutions/08-*/*.c' 'solutions/09-*/*.c' 'guest/*.c' 'tests/*.c' |
		xargs -r cppcheck --cppcheck-build-dir="$BUILD/style" --quiet --std=c11 \
			--enable=warning,portability --inline-suppr \
			--suppress=missingInclude --suppress=unknownMacro \
			--suppress=normalCheckLevelMaxBranches \
			--suppress='nullPointerOutOfMemory:tests/*' \
			--suppress='nullPointerOutOfResources:tests/*' \
			--suppress='ctunullpointerOutOfMemory:tests/*' \
			--suppress='deallocuse:tests/*' --error-exitcode=0 -Iinclude \
			--template='{file}:{line}: {id}: {message}' 2>&1
}

# Memory that the driver allocates for a client is charged to the client.  The guest's kernel
# has no memory cgroups that could show it.  Not charged: what exists once for a device,
# and the struct of a BO (lab 02), beside which its shmem file, which is charged, is large.
accounted()
{
	git grep -nwE 'GFP_KERNEL' -- 'kernel/*.c' 'solutions/*.c' |
		grep -vE '^kernel/agate_sched\.c:|^solutions/02-|fs_reclaim_(acquire|release)\('
}

# One room, one subject.  The uAPI stays one header, as every driver's does: its readers look for
# one file, and most of it is documentation.
large()
{
	git ls-files '*.c' '*.h' '*.sh' | grep -vx include/agate_drm.h | xargs -r wc -l |
		awk '$2 != "total" && $1 > 600 { print $2 ": " $1 " lines" }'
}

# A name says which file is meant.  A lab's files are called by its topic, in each folder that
# has a version of them.
unique_names()
{
	git ls-files '*.c' '*.h' | grep -vE '/[0-9][0-9]-[^/]+/' | awk -F/ '
		{ files[$NF] = files[$NF] " " $0; count[$NF]++ }
		END { for (name in count) if (count[name] > 1) print "two files of one name:" files[name] }'
}

# Lines "FROM TO": a folder has a file that includes a header of another folder.  Tests
# include what they test, and nothing includes them.
includes()
{
	git grep -E '^#include "[^"]+"' -- '*.c' '*.h' ':!labs' ':!solutions' ':!tests' |
		sed -E 's/:#include "([^"]+)".*/ \1/' |
		awk -v headers="$(git ls-files '*.h' | grep -vE '^(labs|solutions|tests)/')" '
			function folder(path) { sub(/\/[^\/]*$/, "", path); return path }
			BEGIN {
				n = split(headers, paths, "\n")
				for (i = 1; i <= n; i++) {
					name = paths[i]
					sub(/.*\//, "", name)
					home[name] = folder(paths[i])
				}
			}
			$2 in home && folder($1) != home[$2] { print folder($1), home[$2] }'
}

# Lines "FROM TO": an object of the model calls a function of another.
model_calls()
{
	nm "$BUILD/lib/libagate-sim.a" | awk '
		/\.o:$/ { object = $1; sub(/\.o:$/, "", object) }
		NF > 1 && $(NF - 1) ~ /^[A-TV-Z]$/ { defined[$NF] = object }
		NF > 1 && $(NF - 1) == "U" { from[++n] = object; called[n] = $NF }
		END { for (i = 1; i <= n; i++) if (called[i] in defined) print from[i], defined[called[i]] }'
}

# Dependencies go one way: between folders without exception, in the model with few.
circles()
{
	make -s "$BUILD/lib/libagate-sim.a" >/dev/null 2>&1 || echo "the model cannot be built"
	[ "$(includes | wc -l)" -gt 5 ] && [ "$(model_calls | wc -l)" -gt 50 ] ||
		echo "there are hardly any dependencies: this test looks at the wrong files"
	includes | awk -v most=1 -f tests/circles.awk
	model_calls | awk -v most=7 -f tests/circles.awk
}

# A file must never get the number of a standard stream that the caller closed.
standard_streams()
{
	git grep -lE '^int main\(' -- 'sim/*.c' 'vm/*.c' 'grader/*.c' 'scripts/*.c' |
		xargs -r grep -LE 'stdio_fill\(\)' | sed 's/$/: main() does not begin with stdio_fill()/'
}

# The specification names every register of the Mali blocks and the card's, with its fields and
# commands (a pair of halves once), and every hint that the model gives.
hardware_page()
{
	page=book/hardware.md
	[ -f "$page" ] || echo "$page: not there"
	sed -nE 's/^#define +((GPU|JOB|JS|MMU|AS|CARD|GGTT|FW|MOVER|RING|SCAN)_[A-Z0-9_]+).*/\1/p' \
		include/agate_regs.h include/agate_card.h |
		grep -vE '_(BASE|STRIDE|REG)$' | sed -E 's/_(LO|HI)$//' | sort -u |
		while read -r name; do
			grep -qE "\`$name(_LO)?(\(n\))?\`" "$page" || echo "$page: no $name"
		done
	sed -nE 's/.*sim_hint\([a-z>-]*sim, [^,]+, "(.*)"\);.*/\1/p' sim/model/*.c | sort -u |
		while read -r text; do
			grep -qF "\`$text\`" "$page" || echo "$page: no hint \"$text\""
		done
}

# The rule and the wish that README.md shows of a failure are what the test of lab 02 says.
readme_sample()
{
	sed -nE 's/^       (rule|expected) +//p' README.md | while read -r text; do
		grep -rqF "$text" tests/guest/02-gem-object || echo "README.md: no test says \"$text\""
	done
}

# Each hint is given by a test that breaks its rule: the test names a part of it.
hints_tested()
{
	parts=$(git grep -hoE 'hinted\([^"]*"[^"]+"' -- 'tests/host/*.c' |
		sed -E 's/^[^"]*"//; s/"$//' | sort -u)
	sed -nE 's/.*sim_hint\([a-z>-]*sim, [^,]+, "(.*)"\);.*/\1/p' sim/model/*.c | sort -u |
		while read -r text; do
			echo "$parts" | while read -r part; do
				case $text in
				*"$part"*) echo tested ;;
				esac
			done | grep -q . || echo "no test of the hint \"$text\""
		done
}

# Bugs for the tests that cannot be put in any more; most of them are not tried today.
stale_mutants()
{
	git ls-files 'tests/mutants/*.patch' | while read -r patch; do
		patch -s -p1 -F0 --dry-run <"$patch" >/dev/null 2>&1 || echo "$patch: does not apply"
	done
}

# The files with sentences of ours, as patterns of git.
ENGLISH="kernel/* solutions/* labs/*.md labs/*.c include/*.h userspace/* sim/* vm/* book/*.md \
	guest/* grader/* scripts/* tests/*.[ch] tests/*.sh tests/*.mk tests/*.pl tests/*.awk \
	tests/*.inc tests/*.md tests/grader/*.s README.md"

# Sentences that a reader has to read twice, as far as a pattern finds them.
english()
{
	set -f	# the patterns are git's
	# shellcheck disable=SC2086 # lists of patterns
	git ls-files $ENGLISH | xargs perl tests/english.pl
}

mkdir -p "$BUILD/style"
checks="spdx paths checkpatch sparse cppcheck_host accounted large unique_names circles standard_streams hardware_page hints_tested \
	readme_sample stale_mutants english"
echo "1..$(echo "$checks" | wc -w)"
for check in $checks; do
	no_findings "$check" "$($check)"
done
