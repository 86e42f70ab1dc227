#!/bin/sh
# SPDX-License-Identifier: MIT
#
# typed.sh: what a person types after `make` arrives as it was typed, and nothing of
# it is run, by make or by a shell; as TAP.
#
# usage: tests/labs/typed.sh
#
# In a project of its own, with this Makefile, where nothing is to be built and the
# programs write down what they were given.
set -u
. tests/tap.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

lab=02-gem-object
mkdir -p "$work/scripts" "$work/labs/$lab" "$work/tests/host"
cp Makefile "$work"
cp tests/suites.mk tests/lab-suites.sh "$work/tests"
cp scripts/lab.sh scripts/build-lock.sh "$work/scripts"
cp scripts/which-tests.sh "$work/asks-for-tests"
cp scripts/compose-lib.sh scripts/box-lib.sh "$work/scripts"
cd "$work" || exit 1
# Whatever is asked for is there, so that it gets to those who are meant to have it.
printf '#!/bin/sh\n' >scripts/which-tests.sh
chmod +x scripts/which-tests.sh
echo '{}' >labs/$lab/lab.json
for file in bin/agate-vm guest/kernel-fast driver/fast/agate.ko parts/fast/symvers \
	tests/kmod/fast/agate_inject.ko; do
	mkdir -p "build/${file%/*}"
	: >"build/$file"
done
: >tests/host/module.mk
cat >scripts/module.mk <<'END'
AGATE_GRADE	:= build/bin/agate-grade
AGATE_LAB_INFO	:= scripts/lab.sh
AGATE_WATCH	:= scripts/lab.sh
END

# recorder PROGRAM NAME...: writes down its arguments, and variables of those names
recorder()
{
	program=$1
	shift
	{
		echo '#!/bin/sh'
		echo '{ [ $# = 0 ] || printf "<%s>\n" "$@"'
		for name; do
			echo "printf '$name=<%s>\\n' \"\${$name-}\""
		done
		echo '} >given'
	} >"$program"
	chmod +x "$program"
}

recorder build/bin/agate-grade
recorder scripts/check.sh
recorder scripts/start.sh FORCE
recorder scripts/watch.sh TEST FROM
recorder scripts/gdb.sh LAB TEST FROM
recorder scripts/shell.sh LAB FROM DEBUG DEMO DRIVER GPU GPUS VRAM VISIBLE PUT
recorder scripts/demo.sh GPU COHERENCY CACHE BOS VRAM VISIBLE FLIP VM SUSPEND OVERCOMMIT
recorder scripts/demo-grade.sh GPU COHERENCY CACHE BOS VRAM VISIBLE FLIP VM SUSPEND OVERCOMMIT
mkdir -p scripts/capstone
recorder scripts/capstone/run.sh GPU FRAMES

# Not those of the make that runs this.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
unset LAB TEST FROM DEBUG CHAIN SEED OUT STEP FORCE GPU GPUS COHERENCY CACHE BOS VRAM VISIBLE FLIP VM \
	SUSPEND OVERCOMMIT DEMO DRIVER FRAMES PUT BUILD LABS

complain()
{
	tail -n 20 said expected given 2>&1
}

# goal GOAL VARIABLE=VALUE...: make it, with what was typed where $how says
goal()
{
	goal=$1
	shift
	rm -f given ran
	case $how in
	typed) make DEPS=skip "$goal" "$@" ;;
	exported) env "$@" make DEPS=skip "$goal" ;;
	esac >said 2>&1
}

# expect LINE...: what was written down, and nobody made the file that the values name
expect()
{
	printf '%s\n' "$@" >expected
	cmp -s expected given && [ ! -e ran ]
}

# refused TEXT: not made, for this reason, and nothing was run
refused()
{
	printf '%s\n' "$@" >expected
	grep -qxF "$1" said && [ ! -e given ] && [ ! -e ran ]
}

# arrives VALUE: at each command, for each variable that is not a yes or no
arrives()
{
	goal grade LAB=02 FROM="$1" TEST="$1" SEED="$1" OUT="$1" STEP="$1" &&
		expect '<--lab>' '<02>' '<--from>' "<$1>" '<--test>' "<$1>" '<--seed>' "<$1>" \
			'<--out>' "<$1>" '<--step>' "<$1>" '<--guests>' '<2>' &&
	goal check LAB=02 FROM="$1" && expect '<02>' "<$1>" &&
	goal hint LAB=02 TEST="$1" OUT="$1" &&
		expect '<hint>' '<--lab>' '<02>' '<--test>' "<$1>" '<--out>' "<$1>" &&
	goal start LAB=02 STEP="$1" FORCE="$1" && expect '<02>' "<$1>" "FORCE=<$1>" &&
	goal watch LAB=02 TEST="$1" FROM="$1" && expect '<02>' "TEST=<$1>" "FROM=<$1>" &&
	goal gdb LAB=02 TEST="$1" FROM="$1" && expect 'LAB=<02>' "TEST=<$1>" "FROM=<$1>" &&
	goal shell LAB=02 FROM="$1" DEMO="$1" DRIVER="$1" GPU="$1" GPUS="$1" \
		VRAM="$1" VISIBLE="$1" PUT="$1" &&
		expect 'LAB=<02>' "FROM=<$1>" 'DEBUG=<>' "DEMO=<$1>" "DRIVER=<$1>" "GPU=<$1>" \
			"GPUS=<$1>" "VRAM=<$1>" "VISIBLE=<$1>" "PUT=<$1>" &&
	goal demo GPU="$1" COHERENCY="$1" CACHE="$1" BOS="$1" VRAM="$1" VISIBLE="$1" FLIP="$1" \
		VM="$1" SUSPEND="$1" OVERCOMMIT="$1" &&
		expect '<build/demo/grading>' "GPU=<$1>" "COHERENCY=<$1>" "CACHE=<$1>" "BOS=<$1>" "VRAM=<$1>" "VISIBLE=<$1>" \
			"FLIP=<$1>" "VM=<$1>" "SUSPEND=<$1>" "OVERCOMMIT=<$1>" &&
	goal capstone GPU="$1" FRAMES="$1" &&
		expect '<build/capstone>' "GPU=<$1>" "FRAMES=<$1>"
}

# The values of which any word means yes, and the lab, which has to be one.
is_no_command()
{
	goal grade LAB=02 DEBUG="$1" CHAIN="$1" &&
		expect '<--lab>' '<02>' '<--debug>' '<--chain>' || return
	for command in grade check hint start watch gdb shell; do
		! goal $command LAB="$1" &&
			refused "There is no lab $1.  There are: $lab" || return
	done
}

# value NAME VALUE
value()
{
	for how in typed exported; do
		arrives "$2"
		result $? "$1, $how: arrives"
		is_no_command "$2"
		result $? "$1, $how: is no command, and no lab"
	done
}

mkdir -p build/tests/kmod/debug build/parts/debug
: >build/tests/kmod/debug/agate_inject.ko
: >build/parts/debug/symvers

value "a quote" "it's"
value "a quote that ends ours" "'; touch ran; '"
value "a double quote" '"; touch ran; "'
value "a command to insert" '$(touch ran)`touch ran`${ran:=1}$$'
value "a function of make's" '$(shell touch ran)$(ran)$(error no)$@'
value "what has a meaning to both" '* ? [a-z] \ ~ # ! ; & | < > % = : ( ) a  b'
value "options" '--help -j9 -- -n'

for how in typed exported; do
	arrives 'two
lines'
	result $? "two lines, $how: arrive"
done

how=typed
! goal grade && grep -q '^Which lab?' said
result $? "grade without a lab asks for one"
! goal hint LAB=02 && grep -q '^Which test?' said
result $? "hint without a test asks for one"
printf '#!/bin/sh\necho host_tests x\n' >build/bin/agate-lab-info
chmod +x build/bin/agate-lab-info
printf '%s|1|2|-|true\n' style scores/02 scores/12 mutants/02/7 mutants/02/debug/7 mutants/01/2 \
	labs/starters/02 host/x host/xy host-mutants/20/2 labs/check >table
[ "$(sh tests/lab-suites.sh table gem-object | xargs)" = \
	"style scores/02 mutants/02/7 mutants/02/debug/7 labs/starters/02 host/x" ]
result $? "make test LAB= has the suites of that lab"
! goal test LAB=03 && grep -q 'There is no lab 03' said
result $? "make test of a lab that is not there builds nothing"
goal grade LAB=all && expect '<--lab>' '<all>' '<--guests>' '<2>'
result $? "all labs can be graded"

# What a command would ignore it refuses; what others exported is not meant for it.
for wrong in 'hint LAB=02 TEST=x STEP=2' 'check LAB=02 DEBUG=1' 'start LAB=02 FROM=x' \
	'gdb LAB=02 STEP=2' 'shell LAB=02 TEST=x' 'demo LAB=02' 'grade LAB=02 FORCE=1' 'test LAB=02 TEST=x'; do
	name=${wrong##* }
	# shellcheck disable=SC2086 # words are meant
	! goal $wrong && grep -q "make ${wrong%% *} does not take ${name%%=*}, only" said &&
		[ ! -e given ]
	result $? "$wrong is refused"
done
for wrong in 'grade LAB=02 TST=sizes' 'check LAB=02 lab=02' 'hint LAB=02 TEST=x Q=@' \
	'doctor X=1' 'help TST=1'; do
	name=${wrong##* }
	# shellcheck disable=SC2086 # words are meant
	! goal $wrong && grep -q "make does not know ${name%%=*}, only .*V DEPS BUILD" said &&
		[ ! -e given ]
	result $? "$wrong is refused: nothing reads ${name%%=*}"
done
# The help and the list of what a command takes say the same.
for command in grade hint check start watch gdb shell demo capstone; do
	promised=$(make DEPS=skip help | awk -v command=$command '
		$1 == "make" { ours = $2 == command }
		$1 != "make" && $1 !~ /^\[/ { ours = 0 }
		ours' | grep -oE '\b[A-Z]+=' | tr -d = | sort -u)
	for name in $promised; do
		goal $command "$name=on"
		! grep -q "does not [a-z]* [^,]*\b$name\b[^,]*, only" said
		result $? "$command takes $name, as the help says"
	done
done
goal grade LAB=02 V=1 JOBS=2 BUILD=build ACCEL=tcg KERNEL=6.12 KERNEL_SRC=/x CC=gcc &&
	expect '<--lab>' '<02>' '<--guests>' '<2>'
result $? "what the build and its scripts read is not refused"
goal hint LAB=02 TEST=x && [ ! -s said ] && goal check LAB=02 && [ ! -s said ]
result $? "what is up to date is not worth a line"
how=exported
goal check LAB=02 DEBUG=1 && expect '<02>'
result $? "a variable of the environment is not refused"

# Two that build in one folder: the second says that it waits, and then goes on.
how=typed
: >build/.lock
exec 8>>build/.lock
flock 8
(exec 8>&-; goal grade LAB=02) &
second=$!
until_true grep -q WAIT said
result $? "a second make says that it waits"
[ "$(grep -c WAIT said)" = 1 ] && [ ! -e given ]
result $? "in one line, and it does not build meanwhile"
exec 8>&-
wait $second && expect '<--lab>' '<02>' '<--guests>' '<2>'
result $? "it goes on when the first is done"
timeout 300 scripts/build-lock.sh build scripts/build-lock.sh build/../build sh -c 'exit 7'
[ $? = 7 ]
result $? "a make in a make does not wait for itself"
timeout 300 scripts/build-lock.sh one scripts/build-lock.sh two scripts/build-lock.sh one true
result $? "nor does one in another one's make"
# What is left running keeps no lock.
scripts/build-lock.sh build sh -c 'sleep 1000 & echo $! >sleeper'
timeout 300 scripts/build-lock.sh build true
result $? "what a build leaves running does not keep the lock"
kill "$(cat sleeper)"
# Signals reach what is run, and the lock is kept until that has ended.
mkdir -p tests
cat >tests/queue.sh <<'END'
#!/bin/sh
trap 'until [ -e may-end ] || [ ! -e runs ]; do sleep 0.1; done; echo ended >given; exit 3' TERM
: >runs
while [ -e runs ]; do sleep 0.1; done
END
chmod +x tests/queue.sh

# ended_by_signal FOLDER COMMAND...
ended_by_signal()
{
	folder=$1
	shift
	rm -f given runs may-end
	"$@" >said 2>&1 &
	first=$!
	until_true test -e runs
	kill $first
	scripts/build-lock.sh "$folder" cat given >after 2>second &
	second=$!
	until_true grep -qs WAIT second
	result $? "when a signal ends $2, the lock is kept"
	: >may-end
	wait $first
	status=$?
	wait $second && grep -q ended after
	result $? "until what it runs has ended"
	rm -f runs
}
ended_by_signal one scripts/build-lock.sh one tests/queue.sh
[ $status = 3 ]
result $? "whose status it has"
ended_by_signal build/tests make DEPS=skip suite/x

# suites_wait GOAL: it waits while another make runs suites
suites_wait()
{
	rm -f said
	exec 8>>build/tests/.lock
	flock 8
	(exec 8>&-; goal "$1") &
	second=$!
	until_true grep -qs 'WAIT.*build/tests$' said && [ -e build ]
	result $? "make $1 waits for another one's suites"
	exec 8>&-
	wait $second
}
printf '#!/bin/sh\n' >tests/queue.sh
for waits in test suite/x long-suite/x upstream test-long test-load; do
	suites_wait $waits
done
cp -r build kept-build
suites_wait clean
[ ! -e build ]
result $? "and removes the folder, and its locks"
mv kept-build build

# The real one now, with a lab of two tests that may be named, and three steps.
how=typed
cp asks-for-tests scripts/which-tests.sh
mkdir -p build/bin
cat >build/bin/agate-lab-info <<'END'
#!/bin/sh
printf '%s\n' 'steps 3' 'test sizes' 'test labels' 'hidden-test secret'
END
chmod +x build/bin/agate-lab-info

# refused_early TEXT WORD...: by these words, before anything is built or run
refused_early()
{
	text=$1
	shift
	! goal "$@" && refused "$text" && ! grep -q BUILT said
}

none="in lab 02.  There are: sizes labels"
for name in size 'a b' '[' "it's" '$(touch ran)' '`touch ran`' '; touch ran' 'secre?x' -n; do
	refused_early "There is no test $name $none" grade LAB=02 TEST="$name"
	result $? "there is no test $name"
done
refused_early "There is no test l* $none" hint LAB=02 'TEST=l*'
result $? "a hint is one test's"
refused_early "There is no test x in lab all.  There are: sizes labels" grade LAB=all TEST=x
result $? "nor in any lab"
for step in 0 4 x -1 2x 99999999999999999999 '1 2' '$(touch ran)'; do
	refused_early "There is no step $step in lab 02: it has steps 1 to 3." grade LAB=02 \
		STEP="$step"
	result $? "there is no step $step"
done
refused_early "A step is one of a lab's: STEP goes with one LAB." grade LAB=all STEP=2
result $? "all labs have no step in common"
goal grade LAB=02 TEST='s*' STEP=3 &&
	expect '<--lab>' '<02>' '<--test>' '<s*>' '<--step>' '<3>' '<--guests>' '<2>' &&
	goal grade LAB=02 TEST=secret && expect '<--lab>' '<02>' '<--test>' '<secret>' '<--guests>' '<2>' &&
	goal hint LAB=02 TEST=02-gem-object/sizes &&
	expect '<hint>' '<--lab>' '<02>' '<--test>' '<02-gem-object/sizes>'
result $? "what is there is taken"

# Names of folders are no code either.
mkdir '$(shell touch ran)' 'a|touch${IFS}ran' 'labs/02-$(shell touch ran)' 'labs/$(x' "labs/02-'"
for odd in labs/*; do
	[ -e "$odd/lab.json" ] || echo '{}' >"$odd/lab.json"
done
goal help && [ ! -e ran ]
result $? "the names of folders are not run by make"
goal build/tests/suites && [ ! -e ran ] && grep -q 'left out: names beside the Makefile' said &&
	[ -s build/tests/suites ] && ! grep -q '[$(]' build/tests/suites
result $? "nor do they get into the table of the suites"
goal check LAB=02 && expect '<02>' && goal grade LAB=gem-object &&
	expect '<--lab>' '<gem-object>' '<--guests>' '<2>' && ! goal grade LAB=x &&
	refused "There is no lab x.  There are: $lab"
result $? "a folder with such a name is no lab"
echo "1..$number"
