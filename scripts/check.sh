#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check.sh: what can be said of a lab's files without a guest.
#
# usage: scripts/check.sh LAB [FROM], in the project's folder
#
# FROM is the folder that NN-topic is in, by default labs.  Compiles the files for the
# fast kernel (or for libagate), looks at their symbols, and runs the lab's host tests
# with them under sanitizers.  Warnings and style are advice.  Exit status 0 when all
# but the advice is in order.  Works in build/check/NN-topic.
set -u

. scripts/compose-lib.sh

lab=$(scripts/lab.sh "${1-}") || exit
dir=${2:-labs}/$lab
work=$BUILD/check/$lab
mkdir -p "$work"
case $newline${AGATE_LOCKED-}$newline in
*"$newline$(realpath "$work")$newline"*) ;;
*) exec scripts/build-lock.sh "$work" "$0" "$@" ;;
esac
host=$work/host
failed=0

# Checkpatch takes less than two seconds for a lab's solution.
STYLE_CPU_S=20

# How many files that are not handed in are named.
UNLISTED_MAX=10

# The warnings of the kernel's W=1, without those that its own headers cause.
advice="-Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers
	-Wno-type-limits -Wmaybe-uninitialized -Wunused-but-set-variable -Wmissing-prototypes"

# The student may have chosen parts of the text: print them as text and nothing else.
say() { printf '  %-8s %s\n' "$1" "$2" | printable; }

# The first lines, with the student's names for the files that were copied.
indented()
{
	head -n "$1" | printable | sed -e "s|$work/tree/||g" -e 's/^/           /' | grep .
}

# The compiler's words of one kind, each with the lines of source below it.
remarks()
{
	awk -v kind=" $1: " '
		index($0, kind) && !seen[$0]++ { print; more = 2; next }
		/^ / && more > 0 { print; more--; next }
		{ more = 0 }' "$work/compile.log"
}

compile()
{
	if [ "$kind" = library ]; then
		userspace/compose-lab.sh "$work" "$lab=$dir" >"$work/compose.log"
	else
		COMPOSE_CFLAGS=$(echo $advice) kernel/compose-lab.sh fast "$work" "$lab=$dir" \
			>"$work/compose.log"
	fi
	status=$?
	[ ! -s "$work/compose.log" ] || say NOTE "$(cat "$work/compose.log")"
	case $status in
	0) say OK "$dir compiles, with the symbols that the lab allows" ;;
	10) say FAIL "$dir does not compile:"; remarks error | indented 24 ;;
	11) say FAIL "$dir compiles, but:"; indented 24 <"$work/symbols.log" ;;
	*) exit 1 ;;
	esac
	[ $status = 0 ] || failed=1
	if [ -n "$(remarks warning)" ]; then
		say ADVICE "the compiler warns:"
		remarks warning | indented 24
	fi
}

# In a build of their own: nothing of the reference's is made from these files.
host_tests()
{
	tests=$(sed -n 's/^host_tests //p' "$work/info" | xargs)
	[ -n "$tests" ] || return 0
	mkdir -p "$work/logs"
	if ! make -s BUILD="$host" "AGATE_LAB_${lab%%-*}=$copies" NAMES="$tests" -j"$(nproc)" \
		check-host-build >"$work/logs/host-build.log" 2>&1; then
		say FAIL "the host tests do not build with $dir:"
		grep -E 'error:|undefined reference' "$work/logs/host-build.log" | indented 12 ||
			tail -n 12 "$work/logs/host-build.log" | indented 12
		failed=1
		return
	fi
	make -s BUILD="$host" "AGATE_LAB_${lab%%-*}=$copies" NAMES="$tests" check-host-run \
		>"$work/logs/host-run.log" || failed=1
	sed '$d' "$work/logs/host-run.log" | printable | sed "s|$work/tree/||g"
	for name in $tests; do
		log=$host/logs/host-$name.log
		grep -E "^# |runtime error|ERROR: |    #[0-9]+ .*$dir" "$log" |
			grep -v '^# ok' | indented 12
	done
}

# Says the same of the same files.
checkpatch()
{
	script=$(realpath "$BUILD/guest/kernel-fast/source/scripts/checkpatch.pl")
	ignore=FILE_PATH_CHANGES
	# Of the kernel's style, what is not about the kernel's types.
	[ "$kind" != library ] || ignore=$ignore,PREFER_KERNEL_TYPES,NEW_TYPEDEFS,CAMELCASE
	sed -n "s|^files |${copies#"$work/"}/|p" "$work/info" >"$work/style.files"
	(cd "$work" && xargs -d '\n' sha256sum "$script" <style.files) >"$work/style.key.new" 2>&1
	! cmp -s "$work/style.key" "$work/style.key.new" || return 0
	rm -f "$work/style.key"
	(
		ulimit -t $STYLE_CPU_S
		# In the project's folder checkpatch would leave a list of the names in its headers.
		cd "$work" && xargs -d '\n' perl "$script" --no-tree --strict --terse --quiet \
			--show-types --max-line-length=100 --ignore "$ignore" -f <style.files
	) >"$work/style.log" 2>&1
	case $? in
	0 | 123) mv "$work/style.key.new" "$work/style.key" ;;
	*) echo "checkpatch: WARNING: does not come to its end with these files" >>"$work/style.log" ;;
	esac
}

# Nobody reads what is not handed in, so its name may be anything, and there may be any number.
unlisted()
{
	# No name has a slash in it.
	listed=/$(sed -n 's/^files //p' "$work/info" | tr '\n' /) others=0
	for file in "$dir"/*.[ch]; do
		case $listed in
		*"/${file##*/}/"*) continue ;;
		esac
		[ -e "$file" ] && others=$((others + 1)) && [ $others -le $UNLISTED_MAX ] && say ADVICE \
			"$(printf %s "$file" | tr '\n' '?') is not among lab ${lab%%-*}'s files, and is left out"
	done
	[ $others -le $UNLISTED_MAX ] || say ADVICE \
		"so are $((others - UNLISTED_MAX)) more files in $dir, which are left out, too"
}

# make and checkpatch would have a shell run a part of such a name.
case $dir in
*[[:space:]\'\"\`\$\\\;\&\|\<\>\(\)\*\?\[\]\!\#:%]*)
	die "$dir: FROM is a path without spaces, quotes and what else a shell or make takes apart"
	;;
esac
[ -d "$dir" ] || die "there is no $dir: run make start LAB=${lab%%-*}, or set FROM="
dir=$(plain_folder "$dir") || exit 1
# All below reads these copies, as what a folder holds need not be files (compose-lib.sh).
copies=$work/tree/$dir
mkdir -p "$copies"
lab_info "$lab" >"$work/info" || exit 1
kind=$(sed -n 's/^kind //p' "$work/info")
sed -n 's/^files //p' "$work/info" | xargs -d '\n' "$BUILD/bin/agate-take-files" "$dir" "$copies" \
	>/dev/null

touch "$work/style.log"
checkpatch &
style=$!
compile
[ $status = 10 ] || host_tests
wait $style

grep -aE ': (ERROR|WARNING|CHECK)' "$work/style.log" | sed 's|^tree/||' >"$work/style"
if [ -s "$work/style" ]; then
	say ADVICE "style, by the kernel's checkpatch (remarks: $(wc -l <"$work/style")):"
	indented 10 <"$work/style"
fi
unlisted
exit $failed
