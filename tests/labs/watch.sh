#!/bin/sh
# SPDX-License-Identifier: MIT
#
# watch.sh: agate-watch runs its command when a file is saved, as TAP.
#
# usage: tests/labs/watch.sh
#
# The command writes down what it saw in the file, and then waits to be let go: so
# what happens while it runs is certain, and nothing here depends on time.
set -u
. tests/tap.sh

BUILD=${BUILD:-build}
watch=$(realpath "$BUILD/bin/agate-watch")
top=$PWD
work=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill -s KILL -- "-$pid" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
cd "$work" || exit 1

complain()
{
	cat log
}

# seen TEXT: the log becomes TEXT, within a minute
seen()
{
	for i in $(seq 600); do
		[ "$(xargs <log)" = "$1" ] && return 0
		sleep 0.1
	done
	return 1
}

# The command's: what is in the file, then wait.
cat >./command <<'EOF'
#!/bin/sh
cat lab/file.c >>log
read -r go <go
EOF
chmod +x command
let_go() { echo go >go; }

mkdir lab
mkfifo go
: >log
echo 0 >lab/file.c
echo other >lab/other.c

echo "1..13"

# setsid: a group of its own, to be ended as a terminal ends one.
setsid "$watch" lab/file.c -- ./command >out 2>&1 &
pid=$!
seen "0"
result $? "runs once at the start"

for i in 1 2 3 4 5; do
	echo $i >lab/file.c
done
let_go
seen "0 5"
result $? "runs once more for what was saved meanwhile, however often"

# told PATTERN: what the terminal has gets a line like this, within a minute
told()
{
	for i in $(seq 600); do
		grep -qE "$1" out && return 0
		sleep 0.1
	done
	return 1
}

grep -qx '  RUN      file.c was saved' out && ! grep -q WAIT out
result $? "says why it runs again, and does not wait where a run is due"
let_go
told '^  WAIT     [0-2][0-9]:[0-5][0-9]:[0-5][0-9], until file.c is saved; \^C ends$'
result $? "says when a run is over that it waits, since when and for what"

echo 6 >lab/file.c
seen "0 5 6"
result $? "runs when the file is written"

let_go
echo 7 >lab/file.new
mv lab/file.new lab/file.c
seen "0 5 6 7"
result $? "runs when another file takes its name"

let_go
echo 8 >lab/file.new
mv lab/file.new lab/file.c
seen "0 5 6 7 8"
result $? "and again: it is the name that is watched"

# Were this one noticed, there would be two more runs before the 9's are over.
let_go
echo more >>lab/other.c
touch lab/third.c
rm lab/third.c
echo 9 >lab/file.c
seen "0 5 6 7 8 9"
let_go
echo 10 >lab/file.c
seen "0 5 6 7 8 9 10"
result $? "does not run for other files"

! grep -q "$(printf '\033')" out
result $? "leaves a screen alone that is none"

# The command waits: both of them end.
kill -s INT -- "-$pid"
wait $pid
result $? "^C ends it, and that is no failure"
! pgrep -g "$pid" >/dev/null
result $? "and its command"
pid=

cat >make <<'EOF'
#!/bin/sh
echo "made $*"
EOF
chmod +x make
(cd "$top" && PATH=$work:$PATH exec setsid scripts/watch.sh 02) >out 2>&1 &
pid=$!
told '^made .*grade LAB=02' && told 'WAIT' && sed 1q out |
	grep -qx '  WATCH    labs/02-gem-object/agate_gem.c: graded now, and whenever it is saved; ^C ends'
result $? "make watch says what it watches"
kill -s INT -- "-$pid"
wait $pid
pid=

"$watch" lab/no/such.c -- true >out 2>&1
[ $? = 1 ] && grep -q 'lab/no: No such file' out
result $? "says so when there is nothing to watch"
