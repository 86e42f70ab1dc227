#!/bin/bash
# SPDX-License-Identifier: MIT
#
# kept.sh: what tests/keep.sh, suite.sh and queue.sh promise: a suite whose inputs did not
# change is not run, any other is, and a failure is never kept; as TAP.
#
# usage: tests/kept.sh
#
# In a project of its own, with suites that write down each of their runs.
set -u
. tests/tap.sh

prose=$(realpath "${BUILD:-build}/tests/labs/without-prose")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

mkdir -p "$work/tests" "$work/tools" "$work/build/tests/labs" "$work/data/deep" "$work/labs" "$work/home"
cp tests/keep.sh tests/suite.sh tests/queue.sh tests/score.sh tests/busy.sh "$work/tests"
cp "$prose" "$work/build/tests/labs"
cd "$work" || exit 1
unset BUILD FRESH KEEP_WORLD KERNEL KERNEL_SRC MAKEFLAGS SUITE_JOBS XDG_CACHE_HOME
export PATH="$work/tools:$PATH" HOME="$work/home"

complain()
{
	cat said build/logs/*.log
}

echo one >data/file
echo one >data/deep/file
echo '{"title": "t", "tests": [{"name": "a", "points": 3, "hints": ["h"]}]}' >labs/lab.json
echo 'int f(void) { return 1; }' >object.c
# The lines that debug information names are one thing, the code is another.
object() { gcc -g -c -o object.o object.c; }
object
printf '#!/bin/sh\necho fake 1\n' >tools/qemu-system-x86_64
chmod +x tools/*
cat >program <<'END'
#!/bin/sh
echo "$*" >>runs
echo 1..1
[ -z "${EXTRA-}" ] || echo "# a stranger in the environment"
[ -e wrong ] && echo "not ok 1 - it" || echo "ok 1 - it"
[ ! -e meanwhile ] || echo changed >>data/file
END
chmod +x program
git init -q .
git config user.name t && git config user.email t@t
git add -A && git commit -qm one

inputs="program data code:object.o lab:labs/lab.json committed:labs listed:data"

# ran [OPTION=VALUE]: whether the suite runs when it is asked for now
ran()
{
	rm -f runs
	env "$@" tests/suite.sh a/suite 20 "$inputs" ./program word >said 2>&1
	[ -e runs ]
}

# again NAME: it runs, and then it is kept
again()
{
	local status=0
	ran || status=1
	! ran || status=2
	grep -q 'OK *a/suite .* 1 tests (kept)$' said || status=3
	result $status "it runs again when $1 changes, and only then"
}

again nothing
echo two >data/file
again "an input file"
echo two >data/deep/file
again "a file in a folder"
mv data/deep/file data/deep/other
again "a file's name"
echo three >data/new
again "what there is in a folder"
git add -A
again "what git lists"
git commit -qm two
! ran
result $? "not when something else is committed"
echo '{"title": "t", "tests": [{"name": "a", "points": 4, "hints": ["h"]}]}' >labs/lab.json
again "what a lab.json says of a test"
git add -A && git commit -qm three
again "what is committed"
echo '{"title": "u", "tests": [{"hints": ["i"], "points": 4, "name": "a"}]}' >labs/lab.json
! ran
result $? "not when only its prose does"
printf '\n\n%s\n' "$(cat object.c)" >object.c && object
! ran
result $? "not when only an object's line numbers do"
echo 'int f(void) { return 2; }' >object.c && object
again "an object's code"
echo '# more' >>program
again "the program"
# The kernel keeps the line of a WARN_ON() in a table of its own: two numbers, line, flags.
warn() { sed -i '2,$d' object.c; printf '%s\n' '__asm__(".pushsection __bug_table,\"aw\"\n.long 1,2\n"' \
	"\".word $1,$2\n.long 3,4\n.word $1,5\n.popsection\");" >>object.c; object; }
warn 7 1
again "a warning"
warn 8 1
! ran
result $? "not when only the line of a warning does"
warn 8 2
again "its kind"
mkdir parts && cp object.o parts && echo 1 >parts/source.sum && echo 1 >parts/list
inputs="$inputs code:parts"
again "the list of inputs"
echo 2 >parts/source.sum && printf '\n\n%s\n' "$(cat object.c)" >object.c && object && cp object.o parts
! ran
result $? "not when only line numbers in a folder of objects, or checksums of sources, do"
echo 2 >parts/list
again "another file there"
warn 8 3 && cp object.o parts
again "code there"
mkdir -p module/kernel tree
# module BEFORE CODE: a module, and the symbolic link to its source
module()
{
	printf "$1"'int f(void) { return %s; }\n' "$2" >tree/a.c
	gcc -DBEFORE="\"$1\"" -c -o module/a.ko -x c - <<<'char line[] = BEFORE;'
	sha256sum tree/a.c >module/a.sum
}
ln -s ../../tree/a.c module/kernel/a.c
module '' 1 && echo 'int g(void);' >module/kernel/a.h && echo 'ccflags-y := -O0' >module/Kbuild
inputs="$inputs sources:module summed:module"
again "the list of inputs"
module '/* one */\n' 1 && date >module/build.log && date >module/a.mod.c
! ran
result $? "not when only comments of a module's sources do, and the module with them"
module '' 2
again "a module's source"
echo 'int h(void);' >module/kernel/a.h
again "a header"
echo 'ccflags-y := -O1' >module/Kbuild
again "how it is built"
echo '/* not built */' >>tree/a.c
again "a source that the module is not made of"
echo three | sha256sum | sed 's|-|tree/a.c|' >module/a.sum
again "what it is made of instead"
mkdir linked
link_object() { gcc -c -o linked/object.o -x c - <<<"$1"; }
link_object 'int f(void) { return 1; }'
echo one >source && sha256sum source >linked/source.sum
inputs="$inputs symbols:linked summed:linked"
again "the list of inputs"
link_object 'int f(void) { return 2; }'
! ran
result $? "not when only the code of what is linked, but never runs, does"
link_object 'int g(void); int f(void) { return g(); }'
again "what an object needs"
link_object 'int g(void); int f(void) { return g(); } int h;'
again "what it defines"
echo two >source
again "a source that does not agree with its checksum any more"
sha256sum source >linked/source.sum
! ran
result $? "not when it changed with its checksum: what was made of it is an input"
printf '%s\n' 'int g(void)' '{' '	return 1;' '}' >words.c
inputs="$inputs words:words.c"
again "the list of inputs"
sed -i -e '1i /* a comment */' -e 's|return 1;|& // why|' -e 's|^}|\n&|' words.c
! ran
result $? "not when only comments and empty lines do"
sed -i 's|return 1|return 2|' words.c
again "what is not in a comment"
sed -i 's|// why|& __LINE__|' words.c
again "that a file may ask for its lines"
sed -i 's|a comment|& more|' words.c
again "then also a comment"
sed -i -e 's|__LINE__|\\ |' words.c
again "that a comment goes on in the next line"
sed -i 's|a comment|& more|' words.c
again "then also another comment"
sed -i -e 's|// why.*||' -e 's|a comment|STEP 1: it|' words.c
again "a step"
words() { printf '/* %s */\nint g(void);\n' "$1" >words.c; }
words one && ran && words two && ! ran && echo 'keep_words() { sha256sum <"$1"; }' >>tests/keep.sh &&
	ran && words one && ran
result $? "it runs again when keep.sh sees more, also in a file that it has seen before"
inputs="$inputs object.c"
again "the list of inputs"
echo '# more' >>tests/suite.sh
again "suite.sh"
echo '# more' >>tests/keep.sh
again "keep.sh"
printf '#!/bin/sh\necho fake 22\n' >tools/qemu-system-x86_64
again "a tool"
printf '#!/bin/sh\n%s "$@"; echo one more package\n' "$(type -P dpkg-query)" >tools/dpkg-query
chmod +x tools/dpkg-query
again "a package"
inputs="$inputs maybe:$work/measured"
again "the list once more"
echo '{"scale": 2}' >measured
again "a file that need not be there"
ran ACCEL=tcg && ! ran ACCEL=tcg
result $? "and for another environment"
ran KERNEL=6.12 && ! ran KERNEL=6.12 && ran KERNEL=6.1 && ! ran KERNEL=6.12
result $? "such as another course kernel, whose results stay beside the first one's"
ran MAKEFLAGS=' -- CC=other' && ! ran MAKEFLAGS=' -- CC=other'
result $? "or when make was given a variable"
! ran EXTRA=1 && ran EXTRA=1 FRESH=1 && ! grep -q stranger build/logs/*.log
result $? "no other variable reaches a suite"
ran FRESH=1
result $? "FRESH=1 runs it anyway"

echo 5 >data/file
touch wrong
ran && grep -q FAIL said && ran
result $? "a failure is not kept"
rm wrong
ran && ! ran
result $? "and what passes afterwards is"
sed -i 's/^ok/not ok/' build/tests/kept/a-suite/*
ran
result $? "a kept log that is no pass is not believed"

echo 6 >data/file
touch meanwhile
ran
rm meanwhile
echo 6 >data/file
ran
result $? "nor is one of inputs that changed while it ran"
mv data/file elsewhere
ln -s nowhere data/file
ran && ran
result $? "an input that cannot be read is not taken for one that did not change"
rm data/file
mv elsewhere data/file
inputs="$inputs not-there"
ran && ran
result $? "nor is one that is not there"
inputs=-
ran && ran
result $? "a suite without a list always runs"
printf '#!/bin/sh\nexit 1\n' >tools/dpkg-query
inputs="program data"
ran && ran
result $? "and so does everything where nobody knows the packages"
rm tools/dpkg-query

# The queue: short and long are suites that ran before, and took that long.
cat >table <<'END'
new|1|20|-|./program new
short|1|20|-|./program short
long|1|20|-|./program long
END
printf '%s\n' 'long 1.0 1' 'short 5.0 1' 'long 90.5 1' >build/tests/times
rm -f runs build/tests/score
SUITE_JOBS=1 tests/queue.sh table >said 2>&1
[ "$(xargs <runs)" = "new long short" ]
result $? "the queue begins with what was never run, and then with the longest"
tests/score.sh new short long >said
[ "$(tail -n 1 said)" = "3 passed, 0 failed" ]
result $? "all are counted once"
tests/queue.sh table short none >said 2>&1
[ $? = 2 ] && grep -q 'no suite none' said
result $? "a suite that is not in the table is told of"

# Each holds a place until all that may run beside it were seen to run.
cat >busy <<'END'
#!/bin/sh
echo "$1 $(ls inside | xargs)" >>runs
: >inside/$1
sleep 1
rm inside/$1
echo 1..1; echo "ok 1 - it"
END
chmod +x busy
mkdir inside
cat >tools/nproc <<'END'
#!/bin/sh
echo 2
END
chmod +x tools/nproc
rm -f runs
printf '%s|20|-|./busy %s\n' 'debug|2d' debug 'both|4d' both 'guest|2' guest 'other|2' other 'host|1' host >table
SUITE_JOBS=9 tests/queue.sh table >said 2>&1
awk '{ seen[$1] = 1; n[$1] = NF }
     / both|^both/ && / (debug|guest|other)|^(debug|guest|other)/ { bad = 1 }
     /debug/ && NF > 2 && /guest.*other|other.*guest/ { bad = 1 }
     END { exit bad || length(seen) != 5 }' runs
result $? "with a debug guest no more virtual processors than twice what there are, and one"
# The quick ones fit beside both guests and would end in time.  The hosts would make `both` wait.
printf '%s|20|-|./busy %s\n' 'guest|2' guest 'other|2' other 'both|4d' both >table
for name in host1 host2 host3 host4 quick1 quick2; do
	echo "$name|1|20|-|./busy $name" >>table
done
printf '%s 1\n' 'guest 1000.9' 'other 1000.9' 'both 1000.5' 'host1 1000.1' 'host2 1000.1' \
	'host3 1000.1' 'host4 1000.1' 'quick1 1' 'quick2 1' >build/tests/times
rm -f runs
SUITE_JOBS=9 tests/queue.sh table >said 2>&1
# One host fits beside it.
awk '{ place[$1] = NR } END { exit !(NR == 9 && place["both"] <= 6) }' runs
result $? "a large suite waits for those that end before it could start, and for no others"

# They all take longer than last time.
printf '%s 1\n' 'guest 0.4' 'other 0.4' 'both 0.3' 'host1 0.2' 'host2 0.2' >build/tests/times
printf '%s|20|-|./busy %s\n' 'guest|2' guest 'other|2' other 'both|4d' both 'host1|1' host1 \
	'host2|1' host2 >table
rm -f runs
SUITE_JOBS=9 tests/queue.sh table >said 2>&1
awk '{ place[$1] = NR } END { exit !(NR == 5 && place["both"] == 5) }' runs
result $? "nor do suites that are late keep all others from starting"

# A suite on a busy machine takes longer as a whole, one that hangs says nothing.
cat >slow <<'END'
#!/bin/sh
echo 1..8
for i in 1 2 3 4 5 6 7 8; do sleep 1; echo "ok $i - slow"; done
END
cat >hangs <<'END'
#!/bin/sh
printf '1..2\nok 1 - before\n'
exec sleep 1000
END
cat >complains <<'END'
#!/bin/sh
printf '1..4\nok 1 - a\n# of no use\nnoise\n# saw 3\nnot ok 2 - b\nok 3 - c\nnot ok 4 - d\n# saw 5\n'
END
chmod +x slow hangs complains
tests/suite.sh a/suite 5 - ./complains >said 2>&1
[ "$(grep -c '^ *# saw' said)" = 2 ] && ! grep -q 'of no use' said
result $? "a failed test is told with the comments beside it, before it or after it"
tests/suite.sh a/suite 5 - ./slow >said 2>&1
grep -q 'OK *a/suite .* 8 tests' said
result $? "a suite may take longer than it may say nothing"
tests/suite.sh a/suite 2 - ./hangs >said 2>&1
grep -q 'FAIL *a/suite .* 1 of 2 failed' said && grep -qE 'nothing was said for ([2-9]|[1-9][0-9]+) s' said &&
	grep -q 'the one after "ok 1 - before"' said
result $? "a suite that says nothing any more is ended"
cat >quiet <<'END'
#!/bin/sh
sleep 8
echo 1..1; echo "ok 1 - at last"
END
chmod +x quiet
tests/busy.sh 40 tests/suite.sh a/suite 3 - ./quiet >said 2>&1
grep -q 'OK *a/suite' said
result $? "on a busy machine it may say nothing for longer"

# gone OPTION...: within a minute nothing is left that runs, of what pgrep finds
gone()
{
	local i
	for i in $(seq 600); do
		! pgrep -r R,S,D "$@" >/dev/null && return
		sleep 0.1
	done
	return 1
}

# Of a length that nobody else sleeps.
long="1000$$"
printf '%s|1|600|-|sleep %s\n' a "$long" b "$long" >table
QUEUE_EVERY=1 timeout 300 tests/queue.sh table >said 2>&1 &
queue=$!
for i in $(seq 600); do
	! grep -q '0 of 2 suites done; running: [ab] [0-9]* s, [ab] [0-9]* s$' said || break
	sleep 0.1
done
[ "$i" != 600 ]
result $? "while suites run, it says which and since when"
kill "$queue"
wait "$queue"
[ $? != 0 ] && gone -x -f "sleep $long"
result $? "interrupted, it takes them along"

timeout 60 tests/busy.sh 3 sh -c 'until [ "$(pgrep -c -f "^sh -c while kill -0" -P "$PPID")" = 3 ]; do
	sleep 0.1
done; exit 7'
[ $? = 7 ]
result $? "busy.sh: as many busy processes as were asked for, and the command's status"
for signal in TERM KILL; do
	setsid tests/busy.sh 3 sleep "$long" &
	group=$!
	until pgrep -g "$group" -f "^sleep $long\$" >/dev/null; do sleep 0.1; done
	kill -s "$signal" "$group"
	# A killed shell cannot end the command that it was to run.
	[ "$signal" != KILL ] || pkill -g "$group" -x sleep
	gone -g "$group"
	result $? "which end with it, also by $signal"
done

# Two suites that keep a verdict at the same time remove the same old ones.
mkdir -p bin
printf '#!/bin/sh\n%s "$@"\nexit 1\n' "$(command -v find)" >bin/find
chmod +x bin/find
: >verdict
(
	set -e -o pipefail
	PATH=$PWD/bin:$PATH BUILD=build
	. tests/keep.sh
	for key in 1 2 3; do KEEP_MOST=3 keep_put both $key verdict; done
)
[ $? = 0 ] && [ "$(ls build/tests/kept/both | wc -l)" = 2 ]
result $? "old verdicts go, also when another suite has just removed them"

echo "1..$number"
