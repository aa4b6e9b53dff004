#!/usr/bin/env bash
# Tests the extension in a real VS Code, with the real agent in its terminal.
# What they need is installed where that is possible, else named; under CI=true
# something missing is an error.
set -u
cd "$(dirname "$0")/../editors/vscode" || exit 1

lacking() {
	echo "$1" >&2
	[ "${CI:-}" = true ] && exit 1
	echo "going on without the tests in VS Code" >&2
	exit 0
}

command -v node >/dev/null 2>&1 || lacking "the tests in VS Code need Node.js 20 or newer"
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] || lacking "the tests in VS Code need Node.js 20 or newer, this is $(node --version)"
problem=$(node test/e2e/lib/install.mjs current oldest 2>&1 >/dev/null) || lacking "$problem"

rm -rf out/failures
exec node --test --test-concurrency=1 --test-timeout=300000 --test-reporter=spec test/e2e/*.test.mjs
