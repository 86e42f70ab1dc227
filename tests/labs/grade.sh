# SPDX-License-Identifier: MIT
#
# grade.sh: what the scripts here share.  Source it from the tree's top.
#
# grade DIR FROM OPTION...: grades lab $lab into DIR; sets $score, $max, $first (the first test
# that failed, or -) and $unexplained.  Returns 1, having said why, when there
# is no verdict.
BUILD=${BUILD:-build}

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
	"$BUILD/tests/labs/verdict" "$into/result.json" >"$into/verdict" || return 1
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
