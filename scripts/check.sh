#!/usr/bin/env bash
# Tests a change since main: lint, the rules of the house, the changed packages and those which
# import them, the program's scenarios if any package changed, and the extension's core.
set -eu
cd "$(dirname "$0")/.."

bash scripts/lint.sh
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

if [ -n "$changed" ]; then
	packages=$(go list -f '{{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./... |
		awk -v changed="$changed" 'BEGIN { split(changed, names, "\n"); for (i in names) is[names[i]] = 1 }
			{ for (i = 1; i <= NF; i++) if ($i in is) { print $1; next } }')
	# The program imports everything in the end: its scenarios stand for the rest of its tests.
	others=$(grep -vx "$module/cmd/agent" <<<"$packages" || true)
	go run ./tools/testreport -vet=off -p 4 -parallel 8 ./internal/dev/house $others
	if grep -qx "$module/cmd/agent" <<<"$changed"; then
		go run ./tools/testreport -vet=off -parallel 8 ./cmd/agent
	else
		go run ./tools/testreport -vet=off -parallel 8 -run '^TestScripts$' ./cmd/agent
	fi
fi
if grep -q '^editors/vscode/' <<<"$files"; then
	bash scripts/test-extension.sh
fi
