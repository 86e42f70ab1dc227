# SPDX-License-Identifier: MIT
#
# box-lib.sh: a box for tools that work on a student's files.
#
# Sourced, in the project's folder.  In the box a tool sees the system's programs, the
# folders that the caller names, and a small folder for its work; it has limits, and
# neither a network nor other processes.  It writes its results to descriptors that were
# opened outside. bubblewrap makes the box.  If it cannot, as in some containers, nothing
# runs, unless TRUST_CONTAINER=1 says that the container is box enough: then the tool runs
# without one, with the same limits.

# A large file of the kernel takes two seconds of processor time with KASAN. The limit of
# real time is only for a tool that hangs, because a busy machine may take any time.
BOX_CPU_S=${BOX_CPU_S:-20}
BOX_WALL_S=300
BOX_MEMORY_KIB=1048576
BOX_FILE_KIB=65536
BOX_WORDS=262144

newline='
'

# split_lines LINES COMMAND...: run COMMAND with each line as one more argument.  If COMMAND is
# a function it sees IFS as a newline, and no patterns expand
split_lines()
(
	lines=$1
	shift
	IFS=$newline
	set -f
	# shellcheck disable=SC2086 # the lines
	"$@" $lines
)

# box_path PATH: its absolute path, in box_place.  A shell for each of many paths would take
# longer than what is done with them.
box_path()
{
	case $1 in
	/*) box_place=$1 ;;
	*) box_place=$PWD/$1 ;;
	esac
}

box_read_only()
{
	for box_item; do
		box_path "${box_item%% -> *}"
		case $box_item in
		*' -> '*) printf '%s\0' --symlink "${box_item#* -> }" "$box_place" ;;
		*) printf '%s\0' --ro-bind "$box_item" "$box_place" ;;
		esac
	done
}

# box_options READABLE...: the contents of the box, for bubblewrap's --args; a path, or
# "PATH -> TARGET" for a link
box_options()
{
	printf '%s\0' --unshare-all --die-with-parent --new-session --cap-drop ALL \
		--clearenv --setenv PATH /usr/local/bin:/usr/bin:/bin --setenv LC_ALL C \
		--setenv BUILD "$BUILD" --ro-bind /usr /usr --dev-bind /dev/null /dev/null \
		--ro-bind-try /etc/alternatives /etc/alternatives
	for box_item in bin lib lib32 lib64; do
		if [ -L "/$box_item" ]; then
			printf '%s\0' --symlink "usr/$box_item" "/$box_item"
		elif [ -d "/$box_item" ]; then
			printf '%s\0' --ro-bind "/$box_item" "/$box_item"
		fi
	done
	printf '%s\0' --size $((256 << 20)) --tmpfs /tmp --chdir "$PWD"
	box_read_only "$@"
}

# box_limits: set the limits of this shell and of everything that it starts.  The first of
# the two time limits asks a process to end, which the process reports; the second kills
# one that does not react.
box_limits()
{
	ulimit -c 0
	ulimit -f $((BOX_FILE_KIB * 2))
	ulimit -v "$BOX_MEMORY_KIB"
	ulimit -S -t "$BOX_CPU_S"
	ulimit -H -t $((BOX_CPU_S + 5))
}

# box_run OPTIONS FACTS FOLDER PLACE COMMAND...: run a command in the box that the file
# OPTIONS (the output of box_options) describes, with FOLDER at PLACE.
#
# The command has an empty folder for its work in $WORK. It first writes to descriptor 5,
# which is the file FACTS: if that file stays empty, the box did not work.  Then OPTIONS.none
# appears, and the command runs without a box, or not at all.
box_run()
{
	box_from=$1 box_facts=$2 box_folder=$3
	box_path "$4"
	shift 4
	(
		box_limits
		exec timeout --foreground -s KILL $BOX_WALL_S bwrap --args 9 --dir /tmp/.agate-box \
			--setenv WORK /tmp/.agate-box \
			--ro-bind "$box_folder" "$box_place" --remount-ro / -- "$@" \
			5>"$box_facts" 9<"$box_from"
	) 2>"$box_facts.said"
	box_status=$?
	if [ ! -s "$box_facts" ] && [ $box_status != 137 ]; then
		: >"$box_from.none"
		if [ "${TRUST_CONTAINER:-}" != 1 ]; then
			rm -f "$box_facts.said"
			box_missing
			return 1
		fi
		rm -rf "$box_facts.work"
		mkdir "$box_facts.work"
		(
			box_limits
			export WORK="$box_facts.work"
			exec timeout --foreground -s KILL $BOX_WALL_S "$@" 5>"$box_facts"
		) 2>"$box_facts.said"
		box_status=$?
		rm -rf "$box_facts.work"
	fi
	[ ! -s "$box_facts.said" ] || cat "$box_facts.said"
	rm -f "$box_facts.said"
	return $box_status
}

box_missing()
{
	echo "bubblewrap does not run here, so there is no sandbox to compile in (make doctor says" \
		"more); for your own files, or where a container is the sandbox, set TRUST_CONTAINER=1"
}

box_none()
{
	echo "bubblewrap does not run here: what a student wrote is compiled without a box around it"
}

# One character of UTF-8 beyond ASCII, as bytes: an extended regular expression.
box_utf8='[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}'
box_utf8="$box_utf8"'|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}'
box_utf8="$box_utf8"'|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}'

# printable: removes control sequences, and cuts off output beyond a limit.  Outside of a
# character, 0x80 to 0x9f are control sequences of terminals with 8-bit characters.  The
# first replacement leaves no byte 1, so it can mark what was found: the mark stays where no
# character is before it.
printable()
{
	head -c "$BOX_WORDS" | LC_ALL=C sed -E -e 's/[\x00-\x08\x0b-\x1f\x7f]/?/g' \
		-e "s/($box_utf8)|[\x80-\x9f]/\1\x01/g" -e "s/($box_utf8)\x01/\1/g" -e 's/\x01/?/g' \
		-e 's/\xc2[\x80-\x9f]/?/g' -e 's/\xe2\x80[\x8b-\x8f\xa8-\xae]/?/g' \
		-e 's/\xe2\x81[\xa0-\xaf]/?/g' -e 's/\xef\xbb\xbf/?/g' -e 's/\xd8\x9c/?/g' \
		-e 's/\xe1\xa0\x8e/?/g' -e 's/\xef\xbf[\xb9-\xbb]/?/g' -e 's/\xf3\xa0[\x80-\xbf]{2}/?/g'
}
