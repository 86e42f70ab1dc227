# SPDX-License-Identifier: MIT
#
# compose-lib.sh: what the driver and the library have in common when they are put
# together from reference parts and a student's files.  Sourced, in the project's
# folder, by kernel/compose-lab.sh, userspace/compose-lab.sh and what makes the parts.

export LC_ALL=C
BUILD=${BUILD:-build}
# Where the descriptions are; the tests of these scripts bring their own.
LABS=${LABS:-labs}

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# lab_info LAB: its lab.json, a line "KEY VALUE" for each thing it says
lab_info()
{
	"$BUILD/bin/agate-lab-info" "$LABS/$1/lab.json"
}

# abi_hash FILE...: what a part must agree on with all others: headers, those that
# were made for this kernel among them, its configuration, the compiler
abi_hash()
{
	{
		cat "$@"
		gcc -dumpfullversion
	} | sha256sum | cut -c 1-16
}

# abi_symbol LAB HASH: the symbol that says what a part was made for
abi_symbol()
{
	echo "agate_abi_$1_$2" | tr - _
}

# abi_parts FILE: the parts whose such symbols are listed in FILE
abi_parts()
{
	for abi_part in "$parts"/[0-9]*.o; do
		abi_part=${abi_part##*/}
		abi_part=${abi_part%.o}
		! grep -q "^$(abi_symbol "$abi_part" '')" "$1" || printf ' %s' "$abi_part"
	done
}

# compose_begin PARTS OUT [LAB=DIR...]: look at the arguments, before anything is
# made.  Sets parts, out and labs, and keeps "LAB DIR" for each lab in OUT/labs.
compose_begin()
{
	parts=$1 out=$2
	shift 2
	mkdir -p "$out"
	: >"$out/labs"
	labs=
	for arg; do
		lab=${arg%%=*} dir=${arg#*=}
		case $lab in
		*[!a-z0-9-]* | '') die "$arg: not NN-topic=DIR" ;;
		esac
		case " $labs " in
		*" $lab "*) die "$lab: named twice" ;;
		esac
		[ "$arg" != "$lab" ] && [ -d "$dir" ] || die "$arg: not a folder"
		[ -e "$parts/$lab.o" ] || die "$lab: not a part of what is in $parts"
		mkdir -p "$out/$lab"
		lab_info "$lab" >"$out/$lab/info" || exit 1
		echo "$lab ${dir#"$PWD/"}" >>"$out/labs"
		labs="$labs $lab"
	done
	check_parts
}

# The parts that are not replaced have to be made of the sources that are here, if
# they are: who only has the parts has no checksums.
check_parts()
{
	for part in "$parts"/*.sum; do
		lab=${part##*/}
		case " $labs " in
		*" ${lab%.sum} "*) ;;
		*) [ ! -e "$part" ] || cat "$part" ;;
		esac
	done >"$out/sums"
	[ ! -s "$out/sums" ] || sha256sum --check --status "$out/sums" ||
		die "$parts is older than its sources: run make $parts/symvers"
}

# compose_compile TRUSTED ABI: compile what has changed.  TRUSTED is an extended
# regular expression: what a file may include besides the lab's own files.
# Diagnostics go to OUT/compile.log.  Exit status 10: something does not compile.
compose_compile()
{
	export COMPOSE_TRUSTED="$1" COMPOSE_PARTS="$parts" COMPOSE_CFLAGS="${COMPOSE_CFLAGS:-}"
	COMPOSE_KEY=$({ echo "$2 $COMPOSE_CFLAGS"; cat "$parts/compile"; } | sha256sum)
	export COMPOSE_KEY
	: >"$out/compile.log"
	: >"$out/objects"
	while read -r lab dir; do
		sed -n 's/^files \(.*\.c\)$/\1/p' "$out/$lab/info" | while read -r file; do
			printf '%s\n' "$out/$lab" "$dir" "$file"
		done
	done <"$out/labs" >"$out/work"
	status=0
	xargs -r -d '\n' -n 3 -P "$(nproc)" scripts/compile-one.sh <"$out/work" || status=10
	while read -r folder && read -r dir && read -r file; do
		cat "$folder/${file%.c}.log"
		echo "$folder/${file%.c}.o" >>"$out/objects"
	done <"$out/work" >"$out/compile.log"
	return $status
}

# compose_symbols COMMON: do the labs' objects define what they must, and use only
# what they may?  What is wrong goes to OUT/symbols.log.  Exit status 11: it is.
compose_symbols()
{
	: >"$out/symbols.log"
	for lab in $labs; do
		grep "^$out/$lab/" "$out/objects" | xargs -d '\n' nm -P -A -g >"$out/$lab/symbols" ||
			die "nm failed on lab $lab's objects"
		awk -v lab="$lab" -f scripts/symbols.awk "$out/$lab/info" "$1" "$out/$lab/symbols" \
			>>"$out/symbols.log"
	done
	[ ! -s "$out/symbols.log" ] || return 11
}
