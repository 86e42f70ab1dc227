# SPDX-License-Identifier: MIT
#
# compose-lib.sh: what the driver and the library have in common when they are put
# together from reference parts and a student's files.  Sourced, in the project's
# folder, by kernel/compose-lab.sh, userspace/compose-lab.sh and what makes the parts.

export LC_ALL=C
BUILD=${BUILD:-build}
export BUILD
# Where the descriptions are; the tests of these scripts bring their own.
LABS=${LABS:-labs}

. scripts/box-lib.sh

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" | printable >&2
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

# of_parts COMMAND...: run COMMAND with the lists of checksums of the parts that are not replaced,
# and the sources that these lists name, as further arguments; not at all where there are no
# lists, because someone has only the parts
of_parts()
{
	lists=
	for part in "$parts"/*.sum; do
		lab=${part##*/}
		case " $labs " in
		*" ${lab%.sum} "*) ;;
		*) [ ! -e "$part" ] || lists="${lists:+$lists$newline}$part" ;;
		esac
	done
	[ -n "$lists" ] || return 0
	split_lines "$lists$newline$(split_lines "$lists" sed 's/^[^ ]* [ *]//')" "$@"
}

# sums_hold FILE...: do the checksums in those FILEs that are lists (.sum) hold?
sums_hold()
{
	for summed; do
		case $summed in
		*.sum) cat "$summed" ;;
		esac
	done | sha256sum --check --status
}

# of_tools COMMAND...: run COMMAND with what compiles as further arguments
of_tools()
{
	"$@" "$parts/compile" scripts/compile-boxed.sh "$BUILD"/bin/agate-scan-*
}

# look_at FILE...: looks at all that a result is made of besides the labs' files: headers and
# what else abi_hash reads (FILE...), the parts, and what compiles.  Sets $abi, and $tools, which
# stands for what compiles.  Files that have the sizes and times of the last look are not read
# again; these are taken first, because what changes meanwhile has not been seen.
look_at()
{
	{
		gcc -dumpfullversion
		of_tools stat -L -c '%n %i %s %z' "$@"
		of_parts stat -L -c '%n %i %s %z'
	} >"$out/looked.new" 2>&1
	if ! cmp -s "$out/looked.new" "$out/looked"; then
		of_parts sums_hold || die "$parts is older than its sources: run make $parts_target"
		# A run that is killed here has not looked.
		rm -f "$out/looked"
		{ abi_hash "$@" && of_tools cat | sha256sum; } >"$out/known" ||
			die "$out/known cannot be written"
		mv "$out/looked.new" "$out/looked"
	fi
	{ read -r abi && read -r tools; } <"$out/known" || die "$out/known is damaged: remove $out"
}

# abi_symbol LAB HASH: the symbol that says what a part was made for
abi_symbol()
{
	abi_name=agate_abi_$1_$2
	while :; do
		case $abi_name in
		*-*) abi_name=${abi_name%%-*}_${abi_name#*-} ;;
		*) break ;;
		esac
	done
	echo "$abi_name"
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
	sha256sum "solutions/$part_name"/agate_*.[ch] >"$parts/$part_name.sum"
}

# plain_path PATH: a name that no tool takes for an option or a list of options
plain_path()
{
	case $1 in
	[-@]*) echo "./$1" ;;
	*) echo "${1#"$PWD/"}" ;;
	esac
}

# plain_folder PATH: the same for one that is there; below another folder it leads to
# nowhere else.  Its last part stays, because a folder that is a link is refused.
plain_folder()
{
	case $1 in
	.. | */..) cd -- "$1" && pwd -P ;;
	../* | */../*)
		plain_above=$(cd -- "${1%/*}" && pwd -P) || return
		echo "${plain_above%/}/${1##*/}"
		;;
	*) plain_path "$1" ;;
	esac
}

# compose_begin PARTS TARGET OUT [LAB=DIR...]: look at the arguments, before anything
# is made.  TARGET is what make makes last in PARTS.  Sets parts, out and labs, and
# keeps "LAB DIR" for each lab in OUT/labs.
compose_begin()
{
	parts=$1 parts_target=$2 out=$(plain_path "$3")
	shift 3
	[ -e "$parts_target" ] || die "there is no $parts_target: run make $parts_target"
	[ -d "$out/tree" ] || mkdir -p "$out/tree"
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
		[ -d "$out/$lab" ] || mkdir -p "$out/$lab"
		lab_info "$lab" >"$out/$lab/info" || exit 1
		dir=$(plain_folder "$dir") || exit 1
		echo "$lab $dir" >>"$out/labs"
		labs="$labs $lab"
	done
}

# lab_files LAB: the files of a lab, one a line
lab_files()
{
	while read -r said listed; do
		[ "$said" != files ] || echo "$listed"
	done <"$out/$1/info"
}

# take_files: copy the labs' files to OUT/tree/DIR.  Everything after this reads
# the copies.  Says what is refused.  Exit status 10: something is.
take_files()
{
	taken=0
	while read -r lab dir; do
		[ -d "$out/tree/$dir" ] || mkdir -p "$out/tree/$dir"
		names=$(lab_files "$lab")
		split_lines "$names" "$BUILD/bin/agate-take-files" "$dir" "$out/tree/$dir"
		case $? in
		0) ;;
		10) taken=10 ;;
		*) die "the files in $dir could not be copied" ;;
		esac
	done <"$out/labs"
	return $taken
}

# trusted_headers KERNEL SOURCE: sets $trusted, an extended regular expression for what a
# driver's file may include besides the lab's own
trusted_headers()
{
	trusted="($1|$2)/(include|arch/x86/include)/|(kernel|include|$parts/include)/[a-z0-9_]+\\.h\$"
}

# compile_each: compile the files that OUT/work lists; one alone needs no xargs
compile_each()
{
	if [ "$sources" = 1 ]; then
		{ read -r folder && read -r dir && read -r file; } <"$out/work"
		scripts/compile-one.sh "$folder" "$dir" "$file" </dev/null
	else
		xargs -r -d '\n' -n 3 -P "$(nproc)" scripts/compile-one.sh <"$out/work"
	fi
}

# compose_compile TRUSTED KEY READABLE...: compile what has changed.  TRUSTED is an
# extended regular expression: what a file may include besides the lab's own files, which
# is in the folders READABLE.  KEY, abi and tools stand for the content of all that.
# Diagnostics go to OUT/compile.log.  Exit status 10: something does not compile.
compose_compile()
{
	export COMPOSE_TRUSTED="$1" COMPOSE_PARTS="$parts" COMPOSE_CFLAGS="${COMPOSE_CFLAGS:-}"
	export COMPOSE_TREE="$out/tree" COMPOSE_BOX="$out/box"
	compose_key=$2
	shift 2
	export COMPOSE_KEY="$compose_key $abi $tools $COMPOSE_CFLAGS" COMPOSE_ABI="$abi"
	export COMPOSE_PCH="${COMPOSE_PCH-$BUILD/pch/${parts##*/}}"
	[ ! -d "$COMPOSE_PCH" ] || set -- "$@" "$COMPOSE_PCH"
	: >"$out/compile.log"
	: >"$out/objects"
	rm -f "$COMPOSE_BOX.none"
	take_files >"$out/compile.log" || return
	box_options scripts/compile-boxed.sh "$BUILD/bin/agate-scan-source" \
		"$BUILD/bin/agate-scan-expanded" "$parts/compile" "$@" >"$COMPOSE_BOX"
	sources=0
	while read -r lab dir; do
		while read -r said file; do
			[ "$said" = files ] || continue
			failed=$out/$lab/${file%.c}.failed
			[ ! -e "$failed" ] || rm "$failed"
			[ "$file" != "${file%.c}" ] || continue
			printf '%s\n' "$out/$lab" "$dir" "$file"
			sources=$((sources + 1))
		done <"$out/$lab/info"
	done <"$out/labs" >"$out/work"
	status=0
	compile_each || status=10
	[ ! -e "$COMPOSE_BOX.none" ] || [ "${TRUST_CONTAINER:-}" = 1 ] || die "$(box_missing)"
	while read -r folder && read -r dir && read -r file; do
		[ ! -e "$folder/${file%.c}.failed" ] || die "$(cat "$folder/${file%.c}.failed")"
		[ ! -s "$folder/${file%.c}.log" ] || cat "$folder/${file%.c}.log"
		echo "$folder/${file%.c}.o" >>"$out/objects"
	done <"$out/work" >"$out/compile.log" || exit
	[ ! -e "$COMPOSE_BOX.none" ] || box_none
	return $status
}

# blame LAB DIR: the rules that a lab's objects break, in OUT/LAB/broken; with the line and
# the word that led to a symbol, where they are found, as a person who writes iscntrl()
# does not know that it uses _ctype.
blame()
{
	sed -n 's/^\([^:]*\)\.c: uses .*/\1/p' "$out/$1/broken" | sort -u | while read -r file; do
		blamed=$out/$1/$file.blamed
		cp "$COMPOSE_BOX" "$out/blame.box"
		box_read_only "$out/$1/$file.o" scripts/blame-boxed.sh scripts/blame.awk >>"$out/blame.box"
		sed -n "s/^$file\.c: uses \([^,]*\),.*/\1/p" "$out/$1/broken" | head -n 50 |
			xargs -d '\n' sh -c '. scripts/box-lib.sh; box_run "$@"' blame \
			"$out/blame.box" "$blamed.facts" "$out/tree/$2" "$2" scripts/blame-boxed.sh \
			"$parts/compile" "$2/$file.c" "$out/$1/$file.o" 3>"$blamed" >/dev/null
		sed "s/^/$file.c /" "$blamed"
	done >"$out/$1/blamed"
	awk '
		FILENAME == ARGV[1] { line[$1 $2] = $3; word[$1 $2] = $4; next }
		match($0, /^[^:]*: uses [^,]*,/) {
			split(substr($0, 1, RLENGTH - 1), part, ": uses ")
			key = part[1] part[2]
			by = word[key] == part[2] ? "" : "`" word[key] "` "
			if (key in line)
				$0 = part[1] ":" line[key] ": " by substr($0, length(part[1]) + 3)
		}
		{ print }' "$out/$1/blamed" "$out/$1/broken"
}

# compose_symbols COMMON: do the labs' objects define what they must, and use only
# what they may?  What is wrong goes to OUT/symbols.log.  Exit status 11: it is.
compose_symbols()
{
	: >"$out/symbols.log"
	common=$1
	while read -r lab dir; do
		set --
		while read -r object; do
			case $object in
			"$out/$lab/"*) set -- "$@" "${object%.o}.facts" ;;
			esac
		done <"$out/objects"
		awk -v lab="$lab" -v flavour="${flavour:-}" -f scripts/symbols.awk "$out/$lab/info" \
			"$common" "$@" >"$out/$lab/broken" || die "the rules for symbols failed on lab $lab"
		[ ! -s "$out/$lab/broken" ] || blame "$lab" "$dir" >>"$out/symbols.log"
	done <"$out/labs"
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

# The linker for a module; its script, and the name of the result, follow.
LINK_MODULE="ld -r -m elf_x86_64 -z noexecstack --no-warn-rwx-segments --build-id=sha1"

# link_boxed RESULT READABLE COMMAND...: link the reference and the labs' objects in the
# box, for those are still what a student wrote.  COMMAND gets the result's path, the objects,
# and then what OUT/options has; READABLE is what it needs besides them, one path.
# Makes OUT/RESULT and OUT/undefined, the symbols that it lacks; what is said goes to
# OUT/link.log.  Exit status 10: a limit is met, which OUT/compile.log says; any other but 0:
# there is no result.
link_boxed()
{
	link_result=$1 link_readable=$2
	shift 2
	{ reference; cat "$out/objects" "$out/options"; } >"$out/linked"
	box_options scripts/link-boxed.sh "$parts" "$link_readable" >"$out/link.box"
	link_listed "$link_result" "$@"
	link_status=$?
	link_limits && return 10
	return $link_status
}

# link_listed RESULT COMMAND...: link what OUT/linked lists, in the box of OUT/link.box
link_listed()
{
	link_result=$1
	shift
	{
		box_run "$out/link.box" "$out/undefined" "$out" "$out" scripts/link-boxed.sh \
			"$out/linked" "$link_result" "$@" 3>"$out/$link_result"
		echo $? >"$out/link.status"
	} | printable >"$out/link.log"
	sed -i 1d "$out/undefined"
	read -r linked <"$out/link.status"
	[ "$linked" = 0 ]
}

# link_limits: did the linker meet a limit of the box?  Then that is an error of the largest
# of the labs' objects, because the reference's objects link.
link_limits()
{
	[ -s "$out/link.log" ] || return
	grep -qE 'terminated (by|with) signal (24|25)|(File size|CPU time) limit exceeded|memory exhausted|out of memory|[cC]annot allocate memory|: File too large' \
		"$out/link.log" || return
	link_largest=$(xargs -d '\n' ls -S <"$out/objects" | head -n 1)
	link_largest=${link_largest#"$out/"}
	sed -n "s/^${link_largest%%/*} //p" "$out/labs" | while read -r dir; do
		echo "$dir/${link_largest##*/}" | sed 's/\.o$/.c/'
	done >"$out/link.largest"
	echo "$(cat "$out/link.largest"): error: does not link within the limits:" \
		"$BOX_CPU_S s of processor time, $((BOX_MEMORY_KIB >> 10)) MiB of memory," \
		"$((BOX_FILE_KIB >> 10)) MiB for a file" >>"$out/compile.log"
}

# link_key FILE...: says from which objects and other files something was linked
link_key()
{
	while read -r object; do
		object_key=
		[ ! -e "$object.key" ] || read -r object_key <"$object.key"
		echo "$object_key"
	done <"$out/objects"
	echo "$abi"
	{ reference; printf '%s\n' "$@"; } | xargs -d '\n' stat -L -c '%n %i %s %y'
}
