#!/usr/bin/env bash
# Tests the extension in a real VS Code, with the real agent in its terminal.
# What they need is installed where that is possible, else named; under CI=true
# something missing is an error.
set -u
cd "$(dirname "$0")/.." || exit 1

lacking() {
	echo "$1" >&2
	[ "${CI:-}" = true ] && exit 1
	echo "going on without the tests in VS Code" >&2
	exit 0
}

command -v node >/dev/null 2>&1 || lacking "the tests in VS Code need Node.js 20 or newer"
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] || lacking "the tests in VS Code need Node.js 20 or newer, this is $(node --version)"
command -v npm >/dev/null 2>&1 || lacking "the tests in VS Code need npm, which comes with Node.js"
problem=$(node editors/vscode/test/e2e/lib/install.mjs current oldest 2>&1 >/dev/null) || lacking "$problem"

# The package first: the program carries it inside.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
make vsix build >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
cd editors/vscode || exit 1
rm -rf out/failures
# Two windows at a time: one waits while the other works.
node --test --test-concurrency=2 --test-timeout=300000 --test-reporter=spec test/e2e/*.test.mjs
