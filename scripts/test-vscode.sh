#!/usr/bin/env bash
# Tests the extension in a real VS Code, with the real agent in its terminal. Installs
# missing programs if possible, and otherwise lists them, which is an error with CI=true.
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

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The package first, because the program contains it, which is made of what was compiled for its tests.
make vsix build TRIMPATH= >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
cd editors/vscode || exit 1
rm -rf out/failures
mkdir "$work/taken"

limit=40m
[ "${AGENT_TEST_FULL:-}" = 1 ] && limit=90m
# Three lanes, so that some windows work while others wait. They share the test files.
lane() {
	AGENT_TEST_LANES="$work/taken" timeout -k 10 "$limit" \
		node --test-reporter=spec --test-reporter-destination=stdout \
		--test-reporter=./test/e2e/lib/failures.mjs --test-reporter-destination="$work/failed.$1" \
		test/e2e/lib/lane.mjs 2>&1 | sed -u "s/^/$1 /"
	return "${PIPESTATUS[0]}"
}
lanes=()
for n in 1 2 3; do
	lane "$n" &
	lanes+=($!)
done
failed=0
for each in "${lanes[@]}"; do
	wait "$each" || failed=1
done
# Last, so that a shortened log has it.
cat "$work"/failed.*
exit "$failed"
