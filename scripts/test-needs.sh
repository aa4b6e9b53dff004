#!/usr/bin/env bash
# Checks that the programs used by the tests are installed. Installs them if possible
# (Debian and Ubuntu, as root), and otherwise lists the missing ones, which is an error
# with CI=true.
set -eu

missing=()
need() { # program package
	command -v "$1" >/dev/null 2>&1 || missing+=("$2")
}

need git git
need bash bash
need rg ripgrep
need tmux tmux
need screen screen
need zsh zsh
need cc build-essential # for the race detector
if [ "$(uname -s)" = Linux ]; then
	need strace strace
	need ccache ccache
	need dbus-daemon dbus
	need gnome-keyring-daemon gnome-keyring
fi

gopls=$(go env GOPATH)/bin/gopls
[ -x "$gopls" ] || GOFLAGS= go install golang.org/x/tools/gopls@v0.20.0 || missing+=(gopls)

[ "${#missing[@]}" -eq 0 ] && exit 0

if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
	echo "installing ${missing[*]}"
	export DEBIAN_FRONTEND=noninteractive
	if apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; then
		exit 0
	fi
fi

echo "the tests need these packages, please install them: ${missing[*]}" >&2
[ "${CI:-}" = true ] && exit 1
echo "going on without them; the tests that need them will fail" >&2
