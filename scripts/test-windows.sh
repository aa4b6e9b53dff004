#!/usr/bin/env bash
# test-windows.sh [PACKAGE...] runs the tests of Windows in Wine, those of all packages or of the named
# ones, and plays agent.exe. test-windows.sh play AGENT.EXE VERSION only plays that program.
# Wine is in a Debian of its own, made once in AGENT_TEST_WINE (/var/tmp/agent-test-wine) from the mirror
# of this machine's apt, of 1.5 GiB. No run changes it or this folder. The tests have no network, and no
# process of theirs outlives the run.
# scripts/windows-exceptions.txt lists the tests that fail there, with the reasons: they must fail, and all
# others pass. Needs root on Debian.
set -euo pipefail
self=$(realpath "$0")
here=$PWD
cd "$(dirname "$self")/.."
repository=$PWD
cache=${AGENT_TEST_WINE:-/var/tmp/agent-test-wine}
# Of this run, which has the mounts for itself.
room=$cache/run
root=$room/root

# in_wine FOLDER ARGUMENT...: runs a program of Windows in a folder of this machine.
in_wine() {
	chroot "$root" /usr/bin/env -i PATH=/usr/lib/wine:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 WINEDEBUG=-all \
		XDG_RUNTIME_DIR=/tmp ${played:+"AGENT_HOME=C:\\play\\home" "AGENT_MODEL=script:C:\\play\\script.yaml"} ${AGENT_TEST_FULL:+AGENT_TEST_FULL=1} sh -c 'cd "$0" && exec wine64 "$@"' "$@"
}

# wine_root makes the system with Wine, in a folder that has its name once it is whole.
wine_root() {
	local mirror boot=debootstrap new=$cache/new
	mkdir -p "$cache"
	exec 8>"$cache/lock"
	flock 8
	[ ! -d "$cache/root" ] || return 0
	echo "installing Wine into $cache (once)"
	mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep '/debian/*$' | head -n 1)
	rm -rf "$new" "$cache/boot"
	if ! command -v debootstrap >/dev/null 2>&1; then
		mkdir -p "$cache/boot"
		(cd "$cache/boot" && { apt-get -qq download debootstrap || { apt-get -qq update && apt-get -qq download debootstrap; }; } 2>/dev/null && dpkg-deb -x debootstrap_*.deb .)
		boot=$cache/boot/usr/sbin/debootstrap
		export DEBOOTSTRAP_DIR=$cache/boot/usr/share/debootstrap
	fi
	"$boot" --variant=minbase --arch=amd64 trixie "$new" "$mirror" >"$cache/log" 2>&1 || { tail "$cache/log" >&2; exit 1; }
	unshare --pid --fork --kill-child --mount bash -c 'set -e
		mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"
		chroot "$0" apt-get install -y -qq --no-install-recommends wine64
		chroot "$0" apt-get clean
		chroot "$0" env PATH="/usr/lib/wine:$PATH" HOME=/root WINEDEBUG=-all sh -c "wine64 wineboot -i; wineserver -w"' \
		"$new" >"$cache/log" 2>&1 || { tail "$cache/log" >&2; exit 1; }
	mv "$new" "$cache/root"
}

# inside runs in the namespaces: what it mounts and starts ends with it.
inside() {
	ip link set lo up
	mount -t proc proc /proc
	mkdir -p "$room"
	mount -t tmpfs tmpfs "$room"
	mkdir "$room"/{root,upper,work,files,files-work}
	mount -t overlay -o "lowerdir=$cache/root,upperdir=$room/upper,workdir=$room/work" overlay "$root"
	mount -t proc proc "$root/proc"
	mount --rbind /dev "$root/dev"
	echo '127.0.0.1 localhost' >"$root/etc/hosts"
	mkdir -p "$root$repository"
	mount -t overlay -o "lowerdir=$repository,upperdir=$room/files,workdir=$room/files-work" overlay "$root$repository"
	# As long as one program of Windows runs, the next starts in a second.
	sleep infinity | in_wine / cmd /k >/dev/null 2>&1 &
	local failed=0
	(play) || failed=1
	[ $# -gt 0 ] || exit "$failed"
	GOPROXY=off GOOS=windows "$work/testreport" ${except:+-except "$except"} -vet=off -count=1 -p 3 -timeout 600s -exec "bash $self one" "$@" || failed=1
	exit "$failed"
}

# one runs one test program. Two run at a time.
one() {
	local lane=1 status=0
	exec 9>"$room/lane.1"
	if ! flock -n 9; then
		lane=2
		exec 9>"$room/lane.2"
		flock 9
	fi
	local name said=$room/said.$lane
	name=$lane-$(basename "$1" .exe).exe
	cp "$1" "$root/root/.wine/drive_c/$name"
	shift
	export -f in_wine
	export root
	# Into a file: what Wine starts beside the program lives on, and would hold a pipe open.
	timeout -k 5 620 bash -c 'in_wine "$@"' in_wine "$here" "C:\\$name" "$@" 9>&- >"$said" 2>&1 || status=$?
	cat "$said"
	# Now and then Wine kills a program that ends.
	if [ "$status" -eq 137 ] && grep -v '^environment: line' "$said" | tail -n 1 | grep -q '^.\?PASS$'; then status=0; fi
	# What a program left that was ended from outside would disturb the next, more than this disturbs the other one.
	[ "$status" -lt 124 ] || chroot "$root" /usr/bin/env HOME=/root /usr/lib/wine/wineserver -k || true
	rm -f "$root/root/.wine/drive_c/$name"
	return "$status"
}

# play runs sessions with agent.exe, which edit a file with the line ends of Windows.
play() {
	local at=$root/root/.wine/drive_c/play played=1
	mkdir -p "$at/project"
	cp "${program:-$work/agent.exe}" "$at/agent.exe"
	printf 'one\r\ntwo\r\n' >"$at/before"
	printf 'one\r\n2\r\n' >"$at/after"
	cp "$at/before" "$at/project/a.txt"
	cat >"$at/script.yaml" <<-'YAML'
		turns:
		  - calls: [{tool: read_file, args: {path: a.txt}}]
		  - calls: [{tool: edit_file, args: {path: a.txt, old_string: two, new_string: "2"}}]
		  - text: Done.
	YAML
	agent "prints its version" "^agent.*$version" --version </dev/null
	agent "edits a file" 'Done\.' -p 'change it' --permission-mode bypass </dev/null
	same "$at/project/a.txt" "$at/after"
	agent "undoes the edit" '+two' undo --yes </dev/null
	same "$at/project/a.txt" "$at/before"
	agent "lists the session" 'change it' sessions list </dev/null
	answered n 'Declined\.' "$at/before"
	answered y 'Done\.' "$at/after"
}

# answered ANSWER PATTERN FILE: a session asks about the edit, gets the answer, prints the pattern and
# leaves the bytes of FILE.
answered() {
	local shown=
	coproc session { in_wine "${at#"$root"}/project" 'C:\play\agent.exe' 2>&1; }
	echo 'change it' >&"${session[1]}"
	while ! [[ $shown == *'Yes or no?' ]]; do
		IFS= read -r -t 60 -n 1 -d '' part <&"${session[0]}" || { echo "agent.exe asks nothing: $shown"; exit 1; }
		shown+=$part
	done
	sleep 1 # nobody answers sooner, see guard in internal/repl/plain
	echo "$1" >&"${session[1]}"
	eval "exec ${session[1]}>&-"
	cat <&"${session[0]}" >"$room/said"
	grep -q -e "$2" "$room/said" || { cat "$room/said"; exit 1; }
	same "$at/project/a.txt" "$3" || { cat "$room/said"; exit 1; }
	printf 'ok  \tagent.exe asks, and takes %s for an answer\n' "$1"
}

# agent WHAT PATTERN ARGUMENT...: runs agent.exe, whose output has the pattern.
agent() {
	local what=$1 pattern=$2
	shift 2
	in_wine /root/.wine/drive_c/play/project 'C:\play\agent.exe' "$@" >"$room/said" 2>&1 || { cat "$room/said"; echo "agent.exe: $what: it ended with an error"; exit 1; }
	grep -q -e "$pattern" "$room/said" || { cat "$room/said"; echo "agent.exe: $what: its output lacks $pattern"; exit 1; }
	printf 'ok  \tagent.exe %s\n' "$what"
}

same() { cmp "$1" "$2"; }

if [ "${1:-}" = one ]; then
	shift
	one "$@"
	exit
fi
if [ "${1:-}" = inside ]; then
	shift
	inside "$@"
fi

[ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1 || { echo "test-windows.sh: it needs root on Debian" >&2; exit 1; }
export CGO_ENABLED=0
wine_root
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
except=
program=
version=
packages=("$@")
if [ "${1:-}" = play ]; then
	program=$2
	version=$3
	packages=()
elif [ $# -eq 0 ]; then
	except=$repository/scripts/windows-exceptions.txt
	longest='internal/(tools|workspace|workspace/undo|session|ide)$' # first, or the second lane has nothing to do in the end
	mapfile -t packages < <(GOOS=windows go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./cmd/... ./docs/... ./internal/... |
		awk -v longest="$longest" '$0 ~ longest { print; next } { rest = rest $0 "\n" } END { printf "%s", rest }')
fi
if [ -z "$program" ]; then
	go mod download
	go build -o "$work/testreport" ./tools/testreport
	GOOS=windows go build -o "$work/agent.exe" ./cmd/agent
fi
export except program version work
timeout -k 5 3600 unshare --pid --fork --kill-child --mount --net bash "$self" inside "${packages[@]}" &
run=$!
trap 'kill "$run" 2>/dev/null || true; wait "$run" || true; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
wait "$run"
