#!/usr/bin/env bash
# Builds agent in every way, from a fresh clone of the commit and in an empty home, and
# checks that each build contains the extension for VS Code that was committed. Uses
# GoReleaser from PATH or Go's bin folder if it has the pinned version; otherwise builds
# it once into .cache/bin, which takes long.
set -euo pipefail
cd "$(dirname "$0")/.."

goreleaser_version=2.15.2
module=github.com/bb2d0cf4/agent
tag=v0.9.0

find_goreleaser() {
	for candidate in "$(command -v goreleaser || true)" "$(go env GOPATH)/bin/goreleaser" "$PWD/.cache/bin/goreleaser"; do
		if [ -x "$candidate" ] && [ -n "$(go version -m "$candidate" | awk -v v="v$goreleaser_version" '$1 == "mod" && $3 == v')" ]; then
			printf '%s\n' "$candidate"
			return
		fi
	done
	echo "building goreleaser v$goreleaser_version into .cache/bin (once)" >&2
	CGO_ENABLED=0 GOBIN="$PWD/.cache/bin" go install "github.com/goreleaser/goreleaser/v2@v$goreleaser_version"
	printf '%s\n' "$PWD/.cache/bin/goreleaser"
}

goreleaser=$(find_goreleaser)
modules=$(go env GOMODCACHE)
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
GOCACHE=$(go env GOCACHE)
GOMODCACHE=$modules
export GOCACHE GOMODCACHE
git clone -q . "$work/clone"
cd "$work/clone"
wanted=$PWD/editors/vscode/dist

# holds PROGRAM WAY: the extension that the program packs has the files in the clone.
holds() {
	mkdir "$work/home-of-$2"
	HOME=$work/home-of-$2 AGENT_HOME=$work/home-of-$2/.agent "$1" ide install --to "$work/$2.vsix" >"$work/said" || { cat "$work/said" >&2; exit 1; }
	mkdir "$work/files-of-$2"
	(cd "$work/files-of-$2" && unzip -q "$work/$2.vsix")
	diff -r "$work/files-of-$2" "$wanted" || { echo "$2: another extension is inside" >&2; exit 1; }
	echo "$2: the extension is inside"
}

HOME=$work/home
export HOME
mkdir "$HOME"
make -s build
holds bin/agent make-build
GOBIN=$work/bin make -s install
holds "$work/bin/agent" make-install

# A module proxy with one version of this module and its dependencies from the cache.
at=$work/proxy/$module/@v
mkdir -p "$at"
echo "$tag" >"$at/list"
echo "{\"Version\":\"$tag\",\"Time\":\"2020-01-01T00:00:00Z\"}" >"$at/$tag.info"
cp go.mod "$at/$tag.mod"
git archive --format=zip --prefix="$module@$tag/" -o "$at/$tag.zip" HEAD
(cd / && GOBIN=$work/bin/tagged GOFLAGS=-modcacherw GOMODCACHE=$work/modules GOSUMDB=off \
	GOPROXY="file://$work/proxy,file://$modules/cache/download" go install "$module/cmd/agent@$tag")
holds "$work/bin/tagged/agent" go-install

# The release, except publishing it.
git -c user.name=test -c user.email=test@example.test tag "$tag"
"$goreleaser" release --snapshot --clean --skip=publish >"$work/said" 2>&1 || { cat "$work/said" >&2; exit 1; }
for archive in dist/agent_*.tar.gz; do
	mkdir -p "$work/unpacked"
	tar -xzf "$archive" -C "$work/unpacked"
	case $archive in
	*_"$(go env GOOS)"_"$(go env GOARCH)".tar.gz) holds "$work/unpacked/agent" archive ;;
	esac
done
node -e '
	const { readFileSync } = require("node:fs");
	const [wanted, ...programs] = process.argv.slice(1).map((name) => readFileSync(name));
	if (programs.length !== 6 || !programs.every((program) => program.includes(wanted))) process.exit(1);
' "$wanted/extension/out/extension.js" dist/agent_*/agent* || { echo "an archive for another platform lacks the extension, or there are not six" >&2; exit 1; }
[ "$(ls dist/*.tar.gz dist/*.zip | wc -l)" -eq 6 ]
echo "archives: the extension is inside all six"
