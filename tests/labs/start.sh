#!/bin/sh
# SPDX-License-Identifier: MIT
#
# start.sh: how starters are made, and what `make start` does to a student's work,
# as TAP.
#
# usage: tests/labs/start.sh
#
# In a project of its own, with one lab of two files.
set -u
. tests/tap.sh

build=$(realpath "${BUILD:-build}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

lab=02-gem-object
mkdir -p "$work/labs/$lab" "$work/labs/11-empty" "$work/solutions/$lab"
cp -r scripts "$work"
cd "$work" || exit 1
export BUILD="$build" LABS=labs
unset FORCE

cat >labs/$lab/lab.json <<END
{"schema": "agate/lab/v1", "lab": "$lab", "files": ["one.c", "two.c"], "steps": 2}
END

# solution WORD: with a word that tells one from another
solution()
{
	cat >solutions/$lab/one.c <<END
#include "$1.h"

#ifdef CONFIG_OTHER
int other;
#endif

#if LAB02 >= 1
static int helper(void)
{
	return 1;
}
#endif

int first(void)
{
#if LAB02 >= 1
	return helper();
#else
	/*
	 * STEP 1: what has to hold here.
	 */
	return -1;
#endif
}
#if defined(CONFIG_OTHER) && BITS > 32
#define WIDE 1
#endif
END
	cat >solutions/$lab/two.c <<END
int second(void)
{
#if LAB02 >= 2
	return 2;
#else
	/* STEP 2: and here. */
	return -2;
#endif
}
END
}

complain()
{
	cat said
}

starter()
{
	scripts/starter.sh $lab "$@" >said 2>&1
}

start()
{
	scripts/start.sh "$@" >said 2>&1
}

said()
{
	grep -qF "$1" said
}

# has FILE TEXT..., lacks FILE TEXT...: all of them, none of them
has()
{
	has_file=$1
	shift
	for text; do
		grep -qF "$text" "$has_file" || return
	done
}
lacks()
{
	lacks_file=$1
	shift
	for text; do
		! grep -qF "$text" "$lacks_file" || return
	done
}
both()
{
	eval "$1" && eval "$2"
}
backups()
{
	find labs/$lab/.backup -type f 2>/dev/null
}

solution before
git init -q . && git add . &&
	git -c user.name=t -c user.email=t@t commit -qm t >/dev/null || exit 1

echo 1..27

for name in 02 2 gem-object 02-gem-object; do
	check "LAB=$name is a lab's name" 0 0 [ "$(scripts/lab.sh $name)" = $lab ]
done
scripts/lab.sh 11 >said 2>&1
check "a folder without a description is no lab" 1 $? said "There are: $lab"
scripts/lab.sh 2>said >/dev/null
check "a lab must be named" 1 $? said "one of: $lab"

starter 0 made
check "the starter has every stub" 0 $? has made/one.c 'STEP 1' 'return -1;'
check "and no solution" 0 0 lacks made/one.c helper LAB02
check "in every file" 0 0 has made/two.c 'STEP 2' 'return -2;'
check "other conditions stay" 0 0 has made/one.c '#ifdef CONFIG_OTHER' '&& BITS > 32' '#include'
check "and no gap is left where something was" 0 0 both '! grep -q "^$" made/two.c' \
	'[ "$(grep -c "^$" made/one.c)" = 2 ]'
starter 1 made
check "a step that is solved has its code" 0 $? has made/one.c 'return helper();' 'return 1;'
check "and a later one its stub" 0 0 both 'lacks made/one.c STEP return\ -1' \
	'has made/two.c "STEP 2"'
starter 2 made
check "the last step is the solution" 0 $? both 'lacks made/two.c STEP' 'has made/two.c "return 2;"'
starter 3 made
check "there is none beyond" 1 $? said 'steps 0 to 2, not 3'
sed -i 's/^#if LAB02 >= 2/#if LAB02 >= 2 \&\& BITS > 32/' solutions/$lab/two.c
starter 2 made
check "a step's condition that would stay is an error" 1 $? said 'step 2 leaves these lines'
solution before

start 02
check "start makes what is not there" 0 $? has labs/$lab/one.c 'STEP 1'
start 02
check "and says when nothing changes" 0 $? said "SAME     labs/$lab/one.c"
start gem-object 1
check "goes on to another step" 0 $? both "has labs/$lab/one.c 'return helper();'" '[ -z "$(backups)" ]'

echo '/* mine */' >>labs/$lab/two.c
before=$(cat labs/$lab/*.c)
start 02
check "but not over somebody's work" 1 $? said "There is work in labs/$lab/two.c; nothing was changed"
check "nor over the file beside it" 0 0 [ "$before" = "$(cat labs/$lab/*.c)" ]
FORCE=1 start 02
check "unless it is told to" 0 $? has labs/$lab/two.c 'STEP 2'
check "and the work is kept" 0 0 has "$(backups)" mine
echo '/* again */' >>labs/$lab/two.c
FORCE=1 start 02
check "each time" 0 $? [ "$(backups | wc -l)" = 2 ]

solution after
start 02
check "a starter from before the solution changed is nobody's work" 0 $? has labs/$lab/one.c after.h
git add labs && git -c user.name=t -c user.email=t@t commit -qm t >/dev/null
solution later
start 02
check "nor is a starter as it was committed" 0 $? has labs/$lab/one.c later.h

rm solutions/$lab/two.c
start 02 1
check "without a solution there is no starter" 1 $? said "solutions/$lab/two.c: not there"
