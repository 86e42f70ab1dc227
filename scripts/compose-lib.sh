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

# abi_defined: linker options that define it for the labs' objects
abi_defined()
{
	for abi_lab in $labs; do
		echo "--defsym=$(abi_symbol "$abi_lab" "$abi")=0"
	done
}

# abi_check FILE TARGET: FILE may not speak of any part's; TARGET is made anew
abi_check()
{
	abi_wrong=
	for abi_part in "$parts"/[0-9]*.o; do
		abi_part=${abi_part##*/}
		abi_part=${abi_part%.o}
		! grep -q "$(abi_symbol "$abi_part" '')" "$1" || abi_wrong="$abi_wrong $abi_part"
	done
	[ -z "$abi_wrong" ] ||
		die "made for another kernel, or from other headers:$abi_wrong; run make $2"
}

# part_exports LAB DECLARED OBJECT...: the symbols of a part that others may use: as
# its lab.json says, or else all that the contract's headers, in DECLARED, name
part_exports()
{
	part_lab=$1 part_declared=$2
	shift 2
	if [ -e "$LABS/$part_lab/lab.json" ]; then
		lab_info "$part_lab" | sed -n 's/^exports //p'
	else
		nm -P -g --defined-only "$@" | sed -n 's/^\([^ :]*\) .*/\1/p' |
			grep -xF -f "$part_declared"
	fi
}

# make_part LAB DECLARED OBJECT...: parts/LAB.o, and the checksums of its sources
make_part()
{
	part_name=$1
	part_exports "$@" >"$parts/exports"
	abi_symbol "$part_name" "$abi" >>"$parts/exports"
	shift 2
	ld -r --defsym="$(abi_symbol "$part_name" "$abi")=0" -o "$parts/$part_name.o" "$@"
	objcopy --keep-global-symbols="$parts/exports" "$parts/$part_name.o"
	rm "$parts/exports"
	sha256sum "solutions/$part_name"/agate_*.c >"$parts/$part_name.sum"
}

# compose_begin PARTS TARGET OUT [LAB=DIR...]: look at the arguments, before anything
# is made.  TARGET is what make makes last in PARTS.  Sets parts, out and labs, and
# keeps "LAB DIR" for each lab in OUT/labs.
compose_begin()
{
	parts=$1 parts_target=$2 out=$3
	shift 3
	[ -e "$parts_target" ] || die "there is no $parts_target: run make $parts_target"
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
		die "$parts is older than its sources: run make $parts_target"
}

# compose_compile TRUSTED KEY: compile what has changed.  TRUSTED is an extended
# regular expression: what a file may include besides the lab's own files.  KEY and
# abi stand for the content of all that.
# Diagnostics go to OUT/compile.log.  Exit status 10: something does not compile.
compose_compile()
{
	export COMPOSE_TRUSTED="$1" COMPOSE_PARTS="$parts" COMPOSE_CFLAGS="${COMPOSE_CFLAGS:-}"
	COMPOSE_KEY=$({ echo "$2 $abi $COMPOSE_CFLAGS"; cat "$parts/compile"; } | sha256sum)
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

# What is linked, besides the labs' objects.
reference()
{
	echo "$parts/frame.o"
	for part in "$parts"/[0-9]*.o; do
		lab=${part##*/}
		case " $labs " in
		*" ${lab%.o} "*) ;;
		*) echo "$part" ;;
		esac
	done
}

# link_key FILE...: says from which objects and other files something was linked
link_key()
{
	while read -r object; do
		cat "$object.key"
	done <"$out/objects"
	echo "$abi"
	{ reference; printf '%s\n' "$@"; } | xargs -d '\n' stat -L -c '%n %i %s %y'
}
