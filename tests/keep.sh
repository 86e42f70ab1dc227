# SPDX-License-Identifier: MIT
#
# keep.sh: what a verdict depends on, as one number, and the verdicts kept under such
# numbers.  Sourced by bash scripts, in the project's folder.
#
# An input of a verdict is a word:
#
#   PATH          the content of a file, or of all files in a folder, with their names
#   code:PATH     an object file or a program without its debug information, its build id, and the
#                 lines that its warnings name; of all files in a folder, with the words of sources
#                 there, and without the checksums of sources (*.sum)
#   symbols:PATH  of an object file, or of all in a folder, only the symbols that it defines and
#                 needs: for a suite that links the objects and never runs them
#   summed:PATH   whether the checksums in a folder's lists (*.sum) hold, and if not, which ones are
#                 wrong and the lists: for a suite that uses or checks what was made of these files
#   sources:PATH  of a folder in which kbuild has built a module, the sources and Kbuild files, as
#                 words: for modules of the debug kernel, which have line numbers in their code
#   words:PATH    what the compiler makes code of, in a C file or in all files of a folder:
#                 without comments and empty lines
#   lab:PATH      a lab.json without the prose, on which no verdict depends
#   committed:PATH  what git has committed there
#   listed:PATH   the names that git lists there
#   maybe:PATH    a file's content, or that there is none
#
# Besides these the number covers keep.sh itself and the world: all packages that are
# installed, the tools in use, the host's kernel, the environment.

set -o pipefail
BUILD=${BUILD:-build}
KEEP_SELF=$(sha256sum <tests/keep.sh)

# The variables that reach a suite, no others do, so that these are all it can depend on.
KEEP_ENVIRONMENT=(PATH HOME USER LANG LC_ALL TMPDIR XDG_CACHE_HOME ACCEL KERNEL KERNEL_SRC
	ASAN_OPTIONS TSAN_OPTIONS UBSAN_OPTIONS BUILD MAKEFLAGS)
KEEP_TOOLS=(ar awk bash bwrap clang cppcheck gcc gcov gdb git ld make nm objcopy perl
	pkg-config qemu-system-x86_64 readelf sed sh strip unifdef)

keep_world()
{
	local name file
	# The rest may be absent, this not.
	dpkg-query -W -f '${Package} ${Architecture} ${Version}\n' && uname -srm && nproc || return
	for name in "${KEEP_TOOLS[@]}"; do
		file=$(type -P "$name") && stat -L -c '%n %s %Y' "$file"
	done
	for name in "${KEEP_ENVIRONMENT[@]}"; do
		[ "$name" = MAKEFLAGS ] || [ -z "${!name+set}" ] || echo "$name=${!name}"
	done
	# Whether make looks for packages changes nothing once they are there.
	xargs -n 1 <<<"${MAKEFLAGS-}" | sed '/^DEPS=skip$/d; /^--$/d' | xargs echo MAKEFLAGS
}

# The world as a number; "unknown", where nothing is kept, when it cannot be told.
keep_world_key()
{
	local key
	key=$(keep_world 2>/dev/null | sha256sum) && echo "${key%% *}" || echo unknown
}

# The kernel's WARN_ON() keeps its line in a table of entries of 12 bytes, at the ninth.
KEEP_NO_LINES='
	use Fcntl;
	my ($file, $at, $size) = @ARGV;
	open(my $f, "+<:raw", $file) or die;
	for (my $entry = hex $at; $entry + 12 <= hex($at) + hex $size; $entry += 12) {
		sysseek($f, $entry + 8, SEEK_SET) and syswrite($f, "\0\0") == 2 or die;
	}'

keep_code()
{
	local copy table status=1
	copy=$(mktemp) || return
	if objcopy -g -R .note.gnu.build-id "$1" "$copy" && table=$(readelf -SW "$copy"); then
		table=$(sed -nE 's/^.* __bug_table +PROGBITS +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+) .*/\1 \2/p' <<<"$table")
		# shellcheck disable=SC2086 # two words, or none
		{ [ -z "$table" ] || perl -e "$KEEP_NO_LINES" "$copy" $table; } && sha256sum <"$copy"
		status=$?
	fi
	rm -f "$copy"
	return $status
}

# Of a file in which a comment could matter all is printed: one that is near the limit of
# what the grader takes, that has bytes which other programs read differently, that asks for its
# lines, or that has a backslash at the end of a line with a string or a comment.  "STEP 3:" tells
# the grader what is not written yet, by the #if around it.
keep_words()
{
	if [ "$(wc -c <"$1")" -gt 131072 ] || LC_ALL=C grep -q '[^[:print:][:space:]]' "$1" ||
		LC_ALL=C grep -q $'\r\|\f\|\v\|__LINE__\|??/\|\(//\|"\).*\\\\[[:space:]]*$' "$1"; then
		sha256sum <"$1"
		return
	fi
	{
		gcc -fpreprocessed -dD -E -P -x c "$1" | sed 's/[[:space:]]*$//; /^$/d' &&
			sed -nE '/STEP [0-9]|^[[:space:]]*#/p' "$1"
	} | sha256sum
}

# What a linker that puts the object beside others sees of it.
keep_symbols()
{
	nm -P -g "$1" | awk '{ print $2, $1 }' | LC_ALL=C sort | sha256sum
}

# keep_derived FUNCTION SUM FILE: what FUNCTION says of FILE, whose checksum is SUM.  It is
# computed once for all suites, and again after two weeks.
keep_derived()
{
	local memo=$BUILD/tests/kept/derived/$1-$2-${KEEP_WORLD:0:16}-${KEEP_SELF:0:16} said=
	if ! { read -r said <"$memo"; } 2>/dev/null; then
		said=$("$1" "$3") || return
		# A file that has changed meanwhile has another checksum.
		[ "$(sha256sum <"$3")" = "$2  -" ] && mkdir -p "${memo%/*}" &&
			echo "$said" >"$memo.$BASHPID" && mv "$memo.$BASHPID" "$memo" || return
	fi
	echo "$said"
}

# Without agate.mod.c, which kbuild makes from the objects and the kernel.
KEEP_SOURCES=('(' -name '*.[chS]' -o -name Kbuild ')' ! -name '*.mod.c')

# keep_each FUNCTION PATH [TEST...]: of a file, or of all files in a folder with their names, or of
# those for which find's TESTs hold
keep_each()
{
	local file sums sum
	if [ ! -d "$2" ]; then
		sum=$(sha256sum <"$2") && keep_derived "$1" "${sum%% *}" "$2"
		return
	fi
	sums=$(find -L "$2" ! -type d ! -name '*.sum' "${@:3}" -print0 | LC_ALL=C sort -z |
		xargs -r -0 sha256sum) && [ -n "$sums" ] || return
	while read -r sum file; do
		echo "$file"
		case $1:$file in
		keep_code:*.[ch]) keep_derived keep_words "$sum" "$file" ;;
		keep_code:*.o | keep_code:*.ko | keep_symbols:*.o | keep_symbols:*.ko | keep_words:*.[ch])
			keep_derived "$1" "$sum" "$file" ;;
		*) echo "$sum" ;;
		esac || return
	done <<<"$sums"
}

# keep_wrong_sums FOLDER: the files with another checksum than its lists say, and then these lists
keep_wrong_sums()
{
	local lists
	lists=$(find "$1" -name '*.sum' -exec cat {} +) && [ -n "$lists" ] || return
	sha256sum --check --quiet <<<"$lists" || echo "$lists"
}

# One input that is not a plain path.
keep_special()
{
	local path=${1#*:}
	case $1 in
	code:*) keep_each keep_code "$path" ;;
	symbols:*) keep_each keep_symbols "$path" ;;
	sources:*) keep_each keep_words "$path" "${KEEP_SOURCES[@]}" ;;
	words:*) keep_each keep_words "$path" ;;
	lab:*) "$BUILD/tests/labs/without-prose" "$path" ;;
	committed:*) git rev-parse --verify -q "HEAD:$path" ;;
	summed:*) keep_wrong_sums "$path" ;;
	maybe:*) [ ! -e "$path" ] || sha256sum "$path" ;;
	listed:*) git ls-files --error-unmatch -- "$path" ;;
	*) return 1 ;;
	esac
}

# keep_print INPUT...: all that goes in, as text.  Fails when an input is not there or
# cannot be read: what is not known in full is not kept.
keep_print()
{
	local input plain=()
	for input; do
		case $input in
		*:*) echo "$input" && keep_special "$input" || return ;;
		*) plain+=("$input") ;;
		esac
	done
	[ ${#plain[@]} = 0 ] ||
		find -L "${plain[@]}" ! -type d -print0 | LC_ALL=C sort -z | xargs -r -0 sha256sum
}

# keep_key WORD... -- INPUT...: the number; the words say what is done with the inputs.
# Empty, with status 1, when there is none.
keep_key()
{
	local words=() key
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		words+=("$1")
		shift
	done
	shift
	[ "${KEEP_WORLD:=$(keep_world_key)}" != unknown ] || return
	key=$({ printf '%s\n' "$KEEP_WORLD" "${words[@]}" && keep_print tests/keep.sh "$@"; } 2>/dev/null |
		sha256sum) || return 1
	echo "${key%% *}"
}

# keep_get FOLDER KEY: the file that is kept there, if there is one.  FRESH=1: there is none.
keep_get()
{
	local file=$BUILD/tests/kept/$1/$2
	[ -z "${FRESH-}" ] && [ -n "$2" ] && [ -e "$file" ] && touch "$file" && echo "$file"
}

# keep_put FOLDER KEY FILE: keep a copy; of old ones only as many as fit.
keep_put()
{
	local folder=$BUILD/tests/kept/$1
	mkdir -p "$folder" && cp "$3" "$folder/$2.$$" && mv "$folder/$2.$$" "$folder/$2" || return
	# Another suite may remove the same ones at the same time.
	{ find "$folder" -type f -printf '%T@ %p\n' 2>/dev/null || true; } | sort -rn |
		tail -n "+${KEEP_MOST:-9}" | cut -d ' ' -f 2- | xargs -r rm -f
}
