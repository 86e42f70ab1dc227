# SPDX-License-Identifier: MIT
#
# packages.sh: the packages that Agate needs, under the names that this system gives them.
# Sourced, in the project's folder, by install-deps.sh and doctor.sh.

OS_RELEASE=${AGATE_OS_RELEASE:-/etc/os-release}

# The list; `make book` has its own, for it needs what nothing else does.
PACKAGE_LIST=scripts/packages.txt

# For a system that has no package with the source of the course kernel.
KERNEL_ADVICE="KERNEL_SRC= names its tarball, the latest linux-6.12.*.tar.xz of kernel.org"

# package_system: whose names the packages have here: debian, fedora or arch; `other` where
# nobody knows
package_system()
{
	for id in $(. "$OS_RELEASE" 2>/dev/null; echo "${ID:-} ${ID_LIKE:-}"); do
		case $id in
		debian | ubuntu) echo debian; return ;;
		fedora | rhel) echo fedora; return ;;
		arch) echo arch; return ;;
		esac
	done
	echo other
}

# packages_of SYSTEM [NAME]: all packages, or the one that Debian calls NAME; Debian's names
# where nobody knows better
packages_of()
{
	awk -v whose="$1" -v only="${2-}" '
		BEGIN { column = whose == "fedora" ? 2 : whose == "arch" ? 3 : 1 }
		!/^#/ && NF == 3 && $column != "-" && (only == "" || only == $1) {
			gsub(",", " ", $column)
			print $column
		}' $PACKAGE_LIST
}

# install_command SYSTEM: what to type before packages' names
install_command()
{
	case $1 in
	debian) echo "apt-get install" ;;
	fedora) echo "dnf install" ;;
	arch) echo "pacman -S" ;;
	*) echo install ;;
	esac
}
