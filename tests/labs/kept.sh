#!/bin/bash
# SPDX-License-Identifier: MIT
#
# kept.sh: which verdicts on mutants, solutions and starters are asked for again, as TAP.
#
# usage: tests/labs/kept.sh
#
# In a project of its own, with a grader that writes down what it was to grade, and a lab
# of two mutants, in a driver that has a part of another lab.
set -u
. tests/tap.sh

build=$(realpath "${BUILD:-build}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

lab=02-gem-object
mkdir -p "$work"/{tests/labs,scripts,kernel,include,tests/mutants/02,home} \
	"$work"/{labs,solutions}/$lab "$work/tests/alternatives/$lab"/{one,two} \
	"$work"/build/{bin,guest/kernel-fast,guest/kernel-debug,parts/fast,parts/debug} \
	"$work"/build/driver/debug/include "$work"/build/tests/{labs,kmod/fast,kmod/debug}
cp tests/keep.sh tests/tap.sh "$work/tests"
cp tests/labs/{grade,mutants,scores}.sh "$work/tests/labs"
cp scripts/lab.sh scripts/box-lib.sh "$work/scripts"
cp "$build"/tests/labs/{verdict,without-prose} "$work/build/tests/labs"
cp "$build/bin/agate-lab-info" "$work/build/bin"
cd "$work" || exit 1
unset BUILD FRESH MAKEFLAGS XDG_CACHE_HOME LABS
# tests/kept.sh looks at what this is made of.
export HOME="$work/home" KEEP_WORLD=world

complain()
{
	cat said runs
}

cat >labs/$lab/lab.json <<END
{"lab": "$lab", "kind": "kernel", "tests": [{"name": "a", "hints": ["h"]},
 {"name": "b"}, {"name": "c", "kernels": ["debug"]}]}
END
seq 30 >solutions/$lab/agate_gem.c
cp solutions/$lab/agate_gem.c labs/$lab
for i in one two; do cp solutions/$lab/agate_gem.c tests/alternatives/$lab/$i; done
# mutant TEST LINE: another word in that line
mutant()
{
	{
		echo "--- a/solutions/$lab/agate_gem.c"
		echo "+++ b/solutions/$lab/agate_gem.c"
		diff -u solutions/$lab/agate_gem.c <(sed "$2s/\$/ $1/" solutions/$lab/agate_gem.c) |
			tail -n +3
	} >"tests/mutants/02/$1--x.patch"
}
mutant a 12
mutant b 18
mutant c 24
for file in build/bin/agate-sim build/tests/labs/$lab build/guest/initramfs.cpio.gz kernel/agate.h \
	kernel/agate.c include/agate.h scripts/compile-one.sh build/parts/{fast,debug}/{compile,symvers} \
	build/driver/debug/include/agate.h build/guest/kernel-{fast,debug}{.id,/ram,/bzImage} \
	build/tests/kmod/{fast,debug}/agate_inject.ko; do
	echo "$file" >"$file"
done
# part LAB CODE [BEFORE]: its objects.  Only the debug one has a line number in its data.
part()
{
	local source=build/driver/debug/solutions/$1/agate_part.c
	[ "$1" != frame ] || source=build/driver/debug/kernel/agate_part.c
	mkdir -p "${source%/*}"
	printf '%bint f(void) { return %s; }\nint line = LINE;\n' "${3-}" "$2" >"$source"
	gcc -g -c -DLINE=0 -o "build/parts/fast/$1.o" "$source"
	gcc -g -c -DLINE="$(wc -l <"$source")" -o "build/parts/debug/$1.o" "$source"
}
part 01-first-contact 1
part $lab 1
part frame 1

# Says what it is told to grade; a mutant fails in its test, a starter in all.
cat >build/bin/agate-grade <<'END'
#!/bin/bash
while [ $# -gt 0 ]; do
	case $1 in
	--from) from=$2 ;;
	--out) out=$2 ;;
	--test) test=$2 ;;
	esac
	shift
done
name=${out%/results}
echo "${name##*/}" >>runs
file=$(cat "$from"/*/*.c)
status=pass score=100
case $out in
*mutants*) status=fail; grep -q ' [abc]$' <<<"$file" || status=pass ;;
*starter*) status=fail score=0 ;;
esac
[ ! -e wrong ] || { status=pass score=50; }
cat >"$out/result.json" <<JSON
{"schema": "agate/result/v1", "score": $score, "max": 100, "labs": [{"tests": [
{"id": "02-gem-object/${test-a}", "status": "$status", "message": "m", "hints": 3}]}]}
JSON
printf '%s\n' FAIL "  rule  a rule"
END
chmod +x build/bin/agate-grade
git init -q .
git config user.name t && git config user.email t@t
printf '%s\n' build home runs said wrong >.gitignore
git add -A && git commit -qm one

all="a--x alternative-one alternative-two b--x c--x order-7 solution starter"

# That there are too few mutants for a lab is not the question here.
# graded NAME EXPECTED: these, and no other, are graded now; and where these are some of them,
# nothing after that.  That all verdicts are kept once they were made anew shows in the tests behind.
graded()
{
	local status=0 round rounds=("$2")
	[ -z "$2" ] || [ "$2" = "$all" ] || rounds+=("")
	for round in "${rounds[@]}"; do
		: >runs
		{
			tests/labs/mutants.sh 02 fast
			tests/labs/mutants.sh 02 debug
			tests/labs/scores.sh 02 1 1 7
		} >said 2>&1
		[ "$(sort runs | xargs)" = "$round" ] && ! grep '^not ok' said | grep -qv 'every test has' || status=1
		[ -z "$round" ] && [ "$(grep -c '^ok .* # kept$' said)" != 8 ] && status=1
	done
	result $status "$1"
}

graded "at first all" "$all"
echo 2 >build/tests/labs/$lab
graded "a test program: all" "$all"
for file in build/bin/agate-sim build/guest/initramfs.cpio.gz kernel/agate.h include/agate.h \
	scripts/compile-one.sh build/guest/kernel-fast.id build/parts/fast/compile; do
	echo 2 >"$file"
	graded "$file: all" "$all"
done
echo '# more' >>build/bin/agate-grade
graded "the grader: all" "$all"
mkdir -p home/.cache/agate && echo '{"scale": 2}' >home/.cache/agate/doctor.json
graded "what was measured of this machine: all" "$all"
part 01-first-contact 2
graded "another lab's part of the driver: all" "$all"
part $lab 2
graded "the lab's own part, which is left out: none" ""
part 01-first-contact 2 '/* one */\n\n'
graded "only lines of another part: none" ""
part frame 2
graded "the frame: all" "$all"
on_debug="alternative-one alternative-two c--x order-7 solution starter"
echo 2 >build/guest/kernel-debug.id
graded "the debug kernel: what runs on it" "$on_debug"
for file in include/agate.h kernel/agate_part.c solutions/01-first-contact/agate_part.c; do
	echo 'int more;' >>"build/driver/debug/$file"
	graded "only the debug kernel's $file: what runs there" "$on_debug"
done
echo 3 >build/parts/debug/compile
graded "how its parts are compiled: what runs there" "$on_debug"
echo '/* more */' >>build/driver/debug/kernel/agate_part.c
graded "a comment in one of them: none" ""
# The course kernel changes, and changes back.
for flavour in fast debug; do
	cp build/guest/kernel-$flavour.id build/$flavour.first
	echo another >build/guest/kernel-$flavour.id
done
graded "another course kernel: all" "$all"
for flavour in fast debug; do
	cp build/$flavour.first build/guest/kernel-$flavour.id
done
graded "and the first one again, whose verdicts are still there: none" ""
sed -i '1s/$/ /' tests/mutants/02/b--x.patch
graded "one mutant: that one" "b--x"
echo four >>solutions/$lab/agate_gem.c
graded "the solution: it and its mutants" "a--x b--x c--x order-7 solution"
sed -i '30s|$| /* a comment */|' solutions/$lab/agate_gem.c
graded "a comment in it: none" ""
sed -i '5i /* one more */' solutions/$lab/agate_gem.c
graded "one with a line of its own, which moves the mutants' places: none" ""
sed -i '31s|a comment|STEP 2: to do|' solutions/$lab/agate_gem.c
graded "but what the grader reads as a step that is left: all of them" "a--x b--x c--x order-7 solution"
echo '/* a b c */' >>tests/alternatives/$lab/two/agate_gem.c
graded "a comment in an alternative: none" ""
echo five >>tests/alternatives/$lab/one/agate_gem.c
graded "an alternative: that one" "alternative-one"
echo six >>labs/$lab/agate_gem.c
graded "a student's file: none" ""
git add -A && git commit -qm two
graded "but what is committed as the starter: that" "starter"
sed -i 's/"h"/"another"/' labs/$lab/lab.json
graded "a hint: the starter, whose failures are explained" "starter"
sed -i 's/"name": "b"/"name": "b", "limit_ms": 9000/' labs/$lab/lab.json
graded "what a test is given: all" "$all"

: >runs
touch wrong
echo seven >>solutions/$lab/agate_gem.c
tests/labs/mutants.sh 02 debug >said
tests/labs/mutants.sh 02 debug >>said
rm wrong
[ "$(grep -c '^not ok 1 - 02/c--x' said)" = 2 ] && [ "$(grep -c . runs)" = 2 ]
result $? "a mutant that survived is not kept"

# The text around a change belongs to a patch.
: >runs
sed -i '24s|$| /* a comment */|' solutions/$lab/agate_gem.c
tests/labs/mutants.sh 02 debug >said
grep -q '^not ok 1 - 02/c--x' said && grep -q 'does not apply' said && [ ! -s runs ]
result $? "a mutant whose patch does not apply any more is not kept"

echo "1..$number"
