#!/usr/bin/env bash
# Runs the linters. "lint.sh go PACKAGE..." runs those of Go on these packages,
# "lint.sh extension" those of the VS Code extension, which needs npm; lint.sh alone runs
# both on everything. Uses golangci-lint from PATH or Go's bin folder if it has the pinned
# version; otherwise builds it once into .cache/bin.
set -eu
# As the program is built: what was compiled for it need not be compiled again.
export CGO_ENABLED=0
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

lint_go() {
	for script in scripts/*.sh internal/cli/bash.sh .ci/run; do
		bash -n "$script"
	done
	go run ./tools/securityreport -stale >&2
	if [ "$#" -gt 0 ]; then
		"$(find_linter)" run --allow-serial-runners "$@" # with all of go vet
	fi
}

lint_extension() {
	command -v npm >/dev/null 2>&1 || return 0
	cd editors/vscode
	[ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --silent
	npm run --silent lint
}

case "${1:-all}" in
go) lint_go "${@:2}" ;;
extension) lint_extension ;;
all)
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	bash scripts/lint.sh extension >"$work/extension" 2>&1 &
	extension=$!
	failed=0
	bash scripts/lint.sh go ./... || failed=1
	wait "$extension" || failed=1
	cat "$work/extension" >&2
	[ "$failed" = 0 ] || exit 1
	echo "lint: clean"
	;;
*)
	echo "lint.sh: there is no part $1, only go and extension" >&2
	exit 2
	;;
esac
