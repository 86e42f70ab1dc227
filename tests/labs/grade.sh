# SPDX-License-Identifier: MIT
#
# grade.sh: what the scripts here share.  Source it from bash, in the tree's top, with
# the lab's number in $lab.
#
# grade DIR FROM OPTION...: grades lab $lab into DIR; sets $score, $max, $first (the first test
# that failed, or -) and $unexplained.  Returns 1, having said why, when there
# is no verdict.
. tests/keep.sh

folder=$(scripts/lab.sh "$lab") || exit 1
# One verdict each: mutants, and what was there before the last change or two.
KEEP_MOST=400

grade()
{
	into=$1 from=$2
	shift 2
	mkdir -p "$into"
	if ! NO_COLOR=1 "$BUILD/bin/agate-grade" --lab "$lab" --from "$from" --out "$into" "$@" \
		>"$into/grade.log" 2>&1; then
		echo "# the grader failed:"
		tail -n 20 "$into/grade.log" | sed 's/^/# /'
		return 1
	fi
	if ! "$BUILD/tests/labs/verdict" "$into/result.json" >"$into/verdict" 2>&1; then
		echo "# the verdict cannot be read:"
		sed 's/^/# /' "$into/verdict"
		return 1
	fi
	score=$(sed -n 's/^score \([0-9]*\) of .*/\1/p' "$into/verdict")
	max=$(sed -n 's/^score [0-9]* of //p' "$into/verdict")
	first=$(sed -n 's/^first-failed //p' "$into/verdict")
	unexplained=$(sed -n 's/^unexplained //p' "$into/verdict")
}

# The part of the terminal's report about one test, as comments.
told()
{
	sed -nE "/^[A-Z]+ .* $2( .*)?\$/,/^[A-Z]+ +[0-9]+\/|^$/p" "$1/grade.log" |
		head -n 16 | sed 's/^/# /'
}

lab_says()
{
	"$BUILD/bin/agate-lab-info" "labs/$folder/lab.json" | sed -n "s/^$1 //p"
}

# Of a folder of parts: what they are linked from, but not the lab's own part, which is
# left out, nor the lines that debug information names.  The debug kernel's parts have line
# numbers in their code, too, so their sources stand for them.
parts_inputs()
{
	local file
	for file in "$BUILD/parts/$1"/*; do
		case $1:$file in
		*/"$folder".o | *.sum) ;;
		debug:*/[0-9][0-9]-*.o | debug:*/frame.o) echo "symbols:$file" ;;
		*.o) echo "code:$file" ;;
		*) echo "$file" ;;
		esac
	done
	[ "$1" = debug ] || return 0
	for file in "$BUILD/driver/debug"/{kernel,include,solutions/*}; do
		[ "${file##*/}" = "$folder" ] || echo "sources:$file"
	done
}

# grade_inputs FLAVOUR...: what a verdict depends on besides the files that are graded.  The
# grader's time limits follow what make doctor measured of this machine.
grade_inputs()
{
	local program
	program=$(lab_says program)
	echo "$BUILD/bin/agate-grade" "$BUILD/bin/agate-sim" "$BUILD/tests/labs/verdict" \
		"$BUILD/bin/agate-lab-info" "$BUILD/tests/labs/${program:-$folder}" \
		"$BUILD/guest/initramfs.cpio.gz" "lab:labs/$folder/lab.json" \
		scripts include tests/labs/grade.sh tests/tap.sh "$0" \
		"maybe:${XDG_CACHE_HOME:-$HOME/.cache}/agate/doctor.json"
	printf '%s\n' kernel/* | grep -v '\.c$'
	for flavour; do
		echo "$BUILD/guest/kernel-$flavour.id" "$BUILD/guest/kernel-$flavour/bzImage" \
			"$BUILD/guest/kernel-$flavour/ram" "$BUILD/tests/kmod/$flavour/agate_inject.ko"
		parts_inputs "$flavour"
	done
	if [ "$(lab_says kind)" = library ]; then
		echo userspace/*.sh userspace/*.h
		parts_inputs library
	fi
}

# same_for_all INPUT...: what all of a script's verdicts depend on, for kept().
same_for_all()
{
	inputs=("$@")
	common=$(keep_key -- "${inputs[@]}")
}

# kept NAME COMMAND INPUT...: one test, which passes when the COMMAND says nothing; it is
# not run when it passed with these inputs before.
kept()
{
	local name=$1 command=$2 key findings
	shift 2
	key=$([ -z "$common" ] || keep_key "$name" "$command" "$common" -- "$@")
	if keep_get "verdicts-$lab" "$key" >/dev/null; then
		result 0 "$name # kept"
		return
	fi
	findings=$($command)
	no_findings "$name" "$findings"
	[ -n "$findings" ] || [ -z "$key" ] || {
		# If an input changed meanwhile, nobody knows which version was graded.
		[ "$common" = "$(keep_key -- "${inputs[@]}")" ] &&
			[ "$key" = "$(keep_key "$name" "$command" "$common" -- "$@")" ] &&
			keep_put "verdicts-$lab" "$key" /dev/null
	}
}
