#!/usr/bin/env bash
# Tests a change since main: the rules of the house, lint and tests of the changed packages and of
# those which import them, the program's scenarios if any package changed, and the extension.
set -eu
cd "$(dirname "$0")/.."
export CGO_ENABLED=0 # as in the Makefile

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
base=$(git merge-base main HEAD)
files=$( (git diff --name-only "$base" && git ls-files --others --exclude-standard) | sort -u)
module=$(go list -m)

# The package of each changed file: the nearest folder with Go files.
changed=$(while read -r file; do
	dir=$(dirname "$file")
	while [ "$dir" != . ] && ! compgen -G "$dir/*.go" >/dev/null; do dir=$(dirname "$dir"); done
	case $file in
	*.go | */testdata/*) [ "$dir" = . ] && echo "$module" || echo "$module/$dir" ;;
	esac
done <<<"$files" | sort -u)
packages=
if [ -n "$changed" ]; then
	packages=$(go list -f '{{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./... |
		awk -v changed="$changed" 'BEGIN { split(changed, names, "\n"); for (i in names) is[names[i]] = 1 }
			{ for (i = 1; i <= NF; i++) if ($i in is) { print $1; next } }')
fi

# Beside the tests, which wait more than they compute.
bash scripts/lint.sh go ${packages//$module/.} >"$work/lint" 2>&1 &
lint=$!
extension=
if grep -q '^editors/vscode/' <<<"$files"; then
	{ bash scripts/lint.sh extension && bash scripts/test-extension.sh; } >"$work/extension" 2>&1 &
	extension=$!
fi

# The program imports everything in the end: its scenarios stand for the rest of its tests.
others=$(grep -vx "$module/cmd/agent" <<<"$packages" || true)
go run ./tools/testreport -vet=off -p 4 -parallel 8 ./internal/dev/house $others || failed=1
if grep -qx "$module/cmd/agent" <<<"$changed"; then
	go run ./tools/testreport -vet=off -parallel 8 ./cmd/agent || failed=1
elif [ -n "$changed" ]; then
	go run ./tools/testreport -vet=off -parallel 8 -run '^TestScripts$' ./cmd/agent || failed=1
fi

wait "$lint" || failed=1
cat "$work/lint" >&2
if [ -n "$extension" ]; then
	wait "$extension" || failed=1
	cat "$work/extension" >&2
fi
exit "$failed"
