#!/usr/bin/env bash
# Builds everything that a release publishes into dist, and publishes nothing. It needs a
# commit with the tag of the version in cmd/agent/main.go, git, Go, node and npm.
# GoReleaser and cyclonedx-gomod are used from Go's bin folder or .cache/bin if they have
# the pinned version; otherwise they are built once into .cache/bin, which takes long.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0

# program MODULE PACKAGE VERSION: prints the folder that has the program.
program() {
	local name=${2##*/} folder
	[ "$name" = v2 ] && name=goreleaser
	for folder in "$PWD/.cache/bin" "$(go env GOPATH)/bin"; do
		if [ -x "$folder/$name" ] && go version -m "$folder/$name" | awk -v m="$1" -v v="$3" '$1 == "mod" && $2 == m && $3 == v { found = 1 } END { exit !found }'; then
			printf '%s\n' "$folder"
			return
		fi
	done
	echo "building $name $3 into .cache/bin (once)" >&2
	GOBIN="$PWD/.cache/bin" GOFLAGS='' go install "$2@$3" >&2
	printf '%s\n' "$PWD/.cache/bin"
}

goreleaser_version=v2.15.2
goreleaser=$(program github.com/goreleaser/goreleaser/v2 github.com/goreleaser/goreleaser/v2 "$goreleaser_version")/goreleaser
PATH=$(program github.com/CycloneDX/cyclonedx-gomod github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod v1.10.0):$PATH

set -a
AGENT_RELEASE_GORELEASER=$goreleaser_version
eval "$(go run ./tools/release env)"
set +a
if [ "$(git describe --exact-match --tags 2>/dev/null)" != "v$AGENT_RELEASE_VERSION" ]; then
	echo "the commit has no tag v$AGENT_RELEASE_VERSION, the version in cmd/agent/main.go: git tag v$AGENT_RELEASE_VERSION" >&2
	exit 1
fi

"$goreleaser" release --clean --skip=publish
node packaging/npm/pack.mjs dist
cp scripts/install.sh .cache/release/agent-ide.vsix dist
