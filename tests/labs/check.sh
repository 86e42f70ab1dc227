#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check.sh: what `make check` says of files that are right, and of others, as TAP.
#
# usage: tests/labs/check.sh
set -u
. tests/labs/check-lib.sh

describe 02-gem-object '' '"agate_*", "drm_*"' agate_gem.c

echo 1..26

gem=$work/02-gem-object/agate_gem.c
start 02-gem-object
check_lab gem-object
check "a solution is in order" 0 $? said "OK       $work/02-gem-object compiles"
check "and nothing is to be advised" 0 0 unsaid ADVICE

sed -i 's/^static bool label_valid(/static int spare(void) { return 1; }\n&/' "$gem"
check_lab 02
check "a warning is advice" 0 $? said ADVICE "$gem:" "'spare' defined but not used"
start 02-gem-object
sed -i 's/^static bool label_valid(/static inline int spare(int a) { if (a); return a; }\n&/' "$gem"
check_lab 02
check "also one that the kernel's build leaves out" 0 $? said ADVICE 'empty body'

start 02-gem-object
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
	echo "/* style */static  int __maybe_unused  style$i( void ){ return  $i ; }"
done >>"$gem"
touch "$work/02-gem-object/notes.c"
check_lab 02
check "style is advice, not too much at once" 0 $? \
	[ "$(grep -cE ": (ERROR|WARNING|CHECK):" "$work/said")" = 10 ]
check "a file that is not the lab's is named" 0 0 said 'notes.c is not among lab 02'

start 02-gem-object
echo 'int broken(void) { return nothing; }' >>"$gem"
check_lab 02
check "what does not compile fails" 1 $? said FAIL "$gem:$(wc -l <"$gem"):"
rm "$gem"
check_lab 02
check "so does what is not there" 1 $? said FAIL 'agate_gem.c: not there'

start 02-gem-object
printf '#include <linux/fs.h>\nstatic void *volatile peek __used = filp_open;\n' >>"$gem"
check_lab 02
check "so does a symbol that is not allowed" 1 $? said FAIL 'uses filp_open, which lab 02'

start 02-gem-object
sed -i 's/^static bool label_valid(/static int spare(char *c) { return "\x1b]0;\x9b\xc2\x9b31m" > 1; }\n&/' "$gem"
check_lab 02
check "orders for a terminal in the text stay text" 0 $? said "$gem:" 'spare'
! LC_ALL=C grep -q "$(printf '\033\|\233')" "$work/said"
result $? "and are not passed on"
rm "$gem"
mkfifo "$gem"
timeout 400 scripts/check.sh 02 "$work" >"$work/said" 2>&1
check "a pipe is not waited for" 1 $? said FAIL "$gem: error: agate_gem.c: is not a regular file"
rm "$gem"
ln -s "$PWD/solutions/02-gem-object/agate_gem.c" "$gem"
check_lab 02
check "a link is not followed" 1 $? said FAIL 'is a symbolic link'
rm "$gem"

# Two of one lab at the same time, with different files.
start 02-gem-object
mkdir -p "$work/other/02-gem-object"
sed '$a int broken(void) { return nothing; }' "$gem" >"$work/other/02-gem-object/agate_gem.c"
scripts/check.sh 02 "$work/other" >"$work/said-other" 2>&1 &
other=$!
check_lab 02
right=$?
wait $other
check "two at once have their own verdicts" "0 1" "$right $?" said "OK       $work/02-gem-object"

sed -i 's/^static bool label_valid(/static int spareName(void) { return 1; }\n&/' "$gem"
rm -f .checkpatch-camelcase.*
check_lab 02
check "checkpatch leaves nothing in the project's folder" 0 $? \
	[ -z "$(ls -d .checkpatch-camelcase.* 2>/dev/null)" ]
start 02-gem-object

# What lies beside the lab's files, under names that a shell or a terminal would take apart.
start 02-gem-object
esc=$(printf '\033]0;x\007\302\233')
touch "$work/02-gem-object/ * .c" "$work/02-gem-object/-rf.c" "$work/02-gem-object/$esc.c"
check_lab 02
check "a file's name is text" 0 $? said "02-gem-object/ * .c is not among" '/-rf.c is not among' \
	"02-gem-object/?]0;x?"
[ "$(grep -c 'is not among' "$work/said")" = 3 ] && ! LC_ALL=C grep -q "$esc" "$work/said"
result $? "and the only ones that are named are those of the folder"
(cd "$work/02-gem-object" && seq 3000 | sed 's/.*/x&.c/' | xargs touch)
check_lab 02
check "of very many files only some are named" 0 $? said 'so are 2993 more files'
[ "$(grep -c 'is not among' "$work/said")" = 10 ]
result $? "and the others are counted"
rm "$work/02-gem-object"/x*.c
mkdir -p "$work/$esc/02-gem-object"
scripts/check.sh 02 "$work/$esc" >"$work/said" 2>&1
check "a refusal is text, too" 1 $? said 'FROM is a path without spaces'
FROM="$work/$esc" scripts/watch.sh 02 >>"$work/said" 2>&1
"$BUILD/bin/agate-grade" --lab 02 --from "$work/$esc" --out "$work/out" >>"$work/said" 2>&1
"$BUILD/bin/agate-grade" --lab 02 --step "$esc" >>"$work/said" 2>&1
"$BUILD/bin/agate-grade" hint --lab 02 --test "$esc" >>"$work/said" 2>&1
LABS=labs scripts/lab.sh "$esc" >>"$work/said" 2>&1
LABS=labs TEST="$esc" scripts/which-tests.sh 02 >>"$work/said" 2>&1
[ "$(wc -l <"$work/said")" -ge 6 ] && ! LC_ALL=C grep -q "$(printf '\033\|\007\|\302\233')" "$work/said"
result $? "and so is every other one"
"$BUILD/bin/agate-grade" --lab 02 --from solutions --out "$work/two
lines" >"$work/said" 2>&1
check "a folder for results with a newline is refused" 2 $? said 'OUT is a path without'

# A folder of the lab that is a link, by a path that leads up.
mkdir "$work/linked"
ln -s "$PWD/solutions/02-gem-object" "$work/linked"
scripts/check.sh 02 "$work/labs/../linked" >"$work/said" 2>&1
check "a linked folder is not followed" 1 $? said FAIL 'its folder is no folder, or a symbolic link'

# Checkpatch needs time that grows with the square of such a line, which the compiler skips.
start 02-gem-object
awk 'BEGIN {
	print "#if 0"
	printf "static int deep __used = "
	for (i = 0; i < 110000; i++) printf "("
	printf "1"
	for (i = 0; i < 110000; i++) printf ")"
	print ";"
	print "#endif" }' >>"$gem"
check_lab 02
said 'checkpatch: WARNING: does not come to its end'
result $? "checkpatch has a limit of processor time"

start 02-gem-object
make check LAB=2 FROM="$work" DEPS=skip >"$work/said" 2>&1
check "make check does all that" 0 $? said "OK       $work/02-gem-object compiles"
rm -r "$work/02-gem-object"
make check LAB=2 FROM="$work" DEPS=skip >"$work/said" 2>&1
check "and fails as it does" 2 $? said 'there is no'
