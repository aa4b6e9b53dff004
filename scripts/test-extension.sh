#!/usr/bin/env bash
# Tests the VS Code extension without an editor, and that the package inside agent is up
# to date. Needs Node.js; with CI=true it is an error if that is missing.
set -eu
cd "$(dirname "$0")/../editors/vscode"

if ! command -v npm >/dev/null 2>&1; then
	echo "the tests of the VS Code extension need Node.js 20 or newer, with npm" >&2
	[ "${CI:-}" = true ] && exit 1
	echo "going on without them" >&2
	exit 0
fi

[ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --silent
npm run --silent test
npm run --silent package -- --check
