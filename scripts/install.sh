#!/bin/sh
# Installs the newest agent, or the version in AGENT_VERSION, for this user, on Linux and macOS:
# downloads it, compares its sum with checksums.txt of the release, and puts it into
# AGENT_BIN_DIR, else ~/.local/bin. Nothing is installed if anything fails.
# AGENT_RELEASES is where releases are, by default on GitHub.
set -eu

fail() {
	echo "install.sh: $*" >&2
	exit 1
}

# fetch ADDRESS FILE
fetch() {
	if command -v curl >/dev/null 2>&1; then
		curl -fsSL --proto "=$protocols" --proto-redir "=$protocols" -o "$2" "$1" || fail "cannot download $1"
	elif command -v wget >/dev/null 2>&1; then
		wget -q -O "$2" "$1" || fail "cannot download $1"
	else
		fail "it needs curl or wget: install one of them"
	fi
}

sum() {
	if command -v sha256sum >/dev/null 2>&1; then
		sha256sum "$1" | cut -d' ' -f1
	elif command -v shasum >/dev/null 2>&1; then
		shasum -a 256 "$1" | cut -d' ' -f1
	else
		fail "it needs sha256sum or shasum to check what it downloads: install one of them"
	fi
}

# A function, so that a download of this script that breaks off runs nothing.
main() {
	releases=${AGENT_RELEASES:-https://github.com/bb2d0cf4/agent/releases}
	version=${AGENT_VERSION:-}
	target=${AGENT_BIN_DIR:-$HOME/.local/bin}
	case $releases in
	https://*) protocols=https ;;
	*) protocols=https,http ;;
	esac

	case $(uname -s) in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	*) fail "there is no program for $(uname -s) here; for Windows use Scoop, winget, npm or a zip file of $releases" ;;
	esac
	case $(uname -m) in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail "there is no program for $(uname -m), only for x86_64 and arm64" ;;
	esac

	if [ -n "$version" ]; then
		from=$releases/download/v${version#v}
	else
		from=$releases/latest/download
	fi
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' INT TERM HUP

	fetch "$from/checksums.txt" "$work/checksums.txt"
	archive=$(awk -v end="_${os}_${arch}.tar.gz" '$2 ~ "^agent_[0-9A-Za-z.+-]*" end "$" { print $2 }' "$work/checksums.txt")
	[ "$(printf '%s\n' "$archive" | wc -w)" -eq 1 ] || fail "$from/checksums.txt does not name one archive for $os on $arch"
	fetch "$from/$archive" "$work/$archive"
	wanted=$(awk -v name="$archive" '$2 == name { print $1 }' "$work/checksums.txt")
	got=$(sum "$work/$archive")
	[ "$got" = "$wanted" ] || fail "$archive is not what the release has: its SHA-256 is $got, and checksums.txt says $wanted. Nothing was installed; try again later, and report it if it stays so"

	tar -xzf "$work/$archive" -C "$work" agent
	"$work/agent" --version >/dev/null || fail "the program in $archive does not run here"
	mkdir -p "$target"
	# Beside its place first: a running agent keeps its file.
	cp "$work/agent" "$target/.agent.new"
	chmod 755 "$target/.agent.new"
	mv "$target/.agent.new" "$target/agent"
	echo "Installed $("$target/agent" --version) as $target/agent"
	case :$PATH: in
	*:"$target":*) ;;
	*) echo "$target is not on PATH. To add it: export PATH=\"$target:\$PATH\" in your shell's profile" ;;
	esac
	echo "Next: agent demo, or agent in a project"
}

main
