#!/usr/bin/env bash
# Runs the linters, with npm those of the VS Code extension too. Uses golangci-lint
# from PATH or Go's bin folder if it has the pinned version; otherwise builds it once
# into .cache/bin.
set -eu
cd "$(dirname "$0")/.."

version=2.15.0

has_version() {
	[ -x "$1" ] && [ "$("$1" version --short 2>/dev/null)" = "$version" ]
}

find_linter() {
	for candidate in "$(command -v golangci-lint || true)" "$(go env GOPATH)/bin/golangci-lint" .cache/bin/golangci-lint; do
		if [ -n "$candidate" ] && has_version "$candidate"; then
			printf '%s\n' "$candidate"
			return
		fi
	done
	echo "building golangci-lint v$version into .cache/bin (once)" >&2
	GOBIN="$PWD/.cache/bin" go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v$version"
	printf '%s\n' .cache/bin/golangci-lint
}

linter=$(find_linter)
"$linter" run --allow-serial-runners ./...
go vet ./...
for script in scripts/*.sh internal/cli/bash.sh .ci/run; do
	bash -n "$script"
done
if command -v npm >/dev/null 2>&1; then
	(cd editors/vscode && { [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --silent; } && npm run --silent lint)
fi
go run ./tools/securityreport -stale >&2
echo "lint: clean"
