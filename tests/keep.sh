# SPDX-License-Identifier: MIT
#
# keep.sh: what a verdict depends on, as one number, and the verdicts kept under such
# numbers.  Sourced by bash scripts, in the project's folder.
#
# An input of a verdict is a word:
#
#   PATH          the content of a file, or of all files in a folder, with their names
#   code:PATH     an object file without its debug information and its build id
#   lab:PATH      a lab.json without the prose, on which no verdict depends
#   committed:PATH  what git has committed there
#   listed:PATH   the names that git lists there
#   maybe:PATH    a file's content, or that there is none
#
# Besides these the number covers keep.sh itself and the world: all packages that are
# installed, the tools in use, the host's kernel, the environment.

set -o pipefail
BUILD=${BUILD:-build}

# The variables that reach a suite, no others do, so that these are all it can depend on.
KEEP_ENVIRONMENT=(PATH HOME USER LANG LC_ALL TMPDIR XDG_CACHE_HOME ACCEL KERNEL_SRC
	ASAN_OPTIONS TSAN_OPTIONS UBSAN_OPTIONS BUILD MAKEFLAGS)
KEEP_TOOLS=(ar awk bash bwrap clang cppcheck gcc gcov gdb git ld make nm objcopy perl
	pkg-config qemu-system-x86_64 sh strip unifdef)

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

# One input that is not a plain path.
keep_special()
{
	local path=${1#*:} copy status
	case $1 in
	code:*)
		copy=$(mktemp) || return
		objcopy -g -R .note.gnu.build-id "$path" "$copy" && sha256sum <"$copy"
		status=$?
		rm -f "$copy"
		return $status
		;;
	lab:*) "$BUILD/tests/labs/without-prose" "$path" ;;
	committed:*) git rev-parse --verify -q "HEAD:$path" ;;
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
	find "$folder" -type f -printf '%T@ %p\n' | sort -rn | tail -n "+${KEEP_MOST:-9}" |
		cut -d ' ' -f 2- | xargs -r rm -f
}
