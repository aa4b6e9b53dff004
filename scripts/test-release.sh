#!/usr/bin/env bash
# Builds agent in every way and as a release, from a fresh clone of the commit and in an empty
# home, installs each as its users do, and plays the demo with it. Checks that each has the
# version and the extension for VS Code that was committed, what the packages contain, that
# the sums in manifests and provenance are those of the files, and that the same commit gives the
# same program elsewhere. Prints a table of times and sizes. Needs node, npm, unzip, dpkg and rpm;
# as root on Debian it installs rpm, and plays the program of the archive for Windows in Wine, see
# test-windows.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v rpm >/dev/null 2>&1 && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
	apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends rpm >/dev/null
fi
for program in rpm dpkg unzip node npm; do
	command -v "$program" >/dev/null 2>&1 || { echo "test-release.sh: $program is missing: install it" >&2; exit 1; }
done

modules=$(go env GOMODCACHE)
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
GOCACHE=$(go env GOCACHE)
GOMODCACHE=$modules
export GOCACHE GOMODCACHE CGO_ENABLED=0
export GIT_CONFIG_GLOBAL=/dev/null
git clone -q --no-tags . "$work/clone"
mkdir -p "$work/clone/.cache"
[ ! -d .cache/bin ] || cp -r .cache/bin "$work/clone/.cache/bin"
cd "$work/clone"
HOME=$work/home
export HOME
mkdir "$HOME"
wanted=$PWD/editors/vscode/dist
eval "$(go run ./tools/release env)"
version=$AGENT_RELEASE_VERSION
tag=v$version
system=$(go env GOOS)_$(go env GOARCH)
repository=$PWD

fail() {
	echo "test-release.sh: $*" >&2
	exit 1
}

now() { date +%s%N; }

# tried WAY PROGRAM SIZE SINCE: the program has the version and the extension, and plays the demo.
tried() {
	local way=$1 program=$2 size=$3 took home=$work/home-of-$1
	took=$((($(now) - $4) / 1000000))
	mkdir -p "$home/tmp"
	case $("$program" --version) in
	*" $version" | *" $version+"*) ;;
	*) fail "$way: $("$program" --version) is not version $version" ;;
	esac
	HOME=$home TMPDIR=$home/tmp "$program" ide install --to "$home/agent.vsix" >"$work/said" || fail "$way: $(cat "$work/said")"
	mkdir "$home/extension"
	(cd "$home/extension" && unzip -q "$home/agent.vsix")
	diff -r "$home/extension" "$wanted" || fail "$way: another extension is inside"
	local begun
	begun=$(now)
	HOME=$home TMPDIR=$home/tmp "$program" demo </dev/null >"$work/said" 2>&1 || fail "$way: the demo failed: $(cat "$work/said")"
	grep -q 'The tests pass' "$work/said" || fail "$way: the demo's tests do not pass: $(cat "$work/said")"
	grep -q 'return sorted\[middle\]' "$home"/tmp/agent-demo-*/median/median.go || fail "$way: the demo did not change its file"
	printf '| %s | %s | %s ms | %s ms |\n' "$way" "$size" "$took" $((($(now) - begun) / 1000000)) | tee -a "$work/table"
}

# mib FILE: its size.
mib() { awk -v n="$(stat -L -c %s "$1")" 'BEGIN { printf "%.1f MiB", n / 1048576 }'; }

# has FILE...: each is there and not empty.
has() {
	for file; do [ -s "$file" ] || fail "$file is missing or empty"; done
}

# From source.
since=$(now)
make -s build
tried make-build bin/agent "$(mib bin/agent)" "$since"
since=$(now)
GOBIN=$work/bin make -s install
tried make-install "$work/bin/agent" "$(mib "$work/bin/agent")" "$since"

# A module proxy with one version of this module and its dependencies from the cache.
module=$(go list -m)
at=$work/proxy/$module/@v
mkdir -p "$at"
echo "$tag" >"$at/list"
echo "{\"Version\":\"$tag\",\"Time\":\"2020-01-01T00:00:00Z\"}" >"$at/$tag.info"
cp go.mod "$at/$tag.mod"
git archive --format=zip --prefix="$module@$tag/" -o "$at/$tag.zip" HEAD
since=$(now)
(cd / && GOBIN=$work/bin/tagged GOFLAGS=-modcacherw GOMODCACHE=$work/modules GOSUMDB=off \
	GOPROXY="file://$work/proxy,file://$modules/cache/download" go install "$module/cmd/agent@$tag")
tried go-install "$work/bin/tagged/agent" "$(mib "$work/bin/tagged/agent")" "$since"

# The release. Without its tag there is none.
if bash scripts/release.sh >"$work/said" 2>&1; then fail "a release without a tag was built"; fi
git -c user.name=test -c user.email=test@example.test tag "$tag"
since=$(now)
bash scripts/release.sh >"$work/said" 2>&1 || fail "$(cat "$work/said")"
echo "release.sh: $((($(now) - since) / 1000000000)) s"
cd dist
[ "$(ls agent_*.tar.gz agent_*.zip | wc -l)" -eq 6 ] || fail "there are not six archives: $(ls)"
sha256sum --quiet -c checksums.txt
for file in agent_*.tar.gz agent_*.zip *.deb *.rpm *.cdx.json install.sh agent-ide.vsix; do
	grep -q " $file\$" checksums.txt || fail "checksums.txt lacks $file"
done

# Archives: the one of this system is used, the rest has the same files around other programs.
mkdir "$work/unpacked"
for archive in agent_*.tar.gz agent_*.zip; do
	to=$work/unpacked/$archive
	mkdir "$to"
	since=$(now)
	case $archive in
	*.zip) unzip -q "$archive" -d "$to" ;;
	*) tar -xzf "$archive" -C "$to" ;;
	esac
	has "$to"/{LICENSE,README.md,CHANGELOG.md,NOTICES.txt,man/agent.1,man/agent-undo.1} "$to"/completions/{agent.bash,_agent,agent.fish,agent.ps1}
	case $archive in *_"$system".*)
		tried archive "$to/agent" "$(mib "$archive")" "$since"
		same=$to/agent ;;
	esac
	case $archive in
	*_linux_*) magic=7f454c46 ;;
	*_darwin_*) magic=cffaedfe ;;
	*_windows_*) magic=4d5a ;;
	esac
	program=$(echo "$to"/agent "$to"/agent.exe | xargs -n1 | while read -r f; do [ ! -f "$f" ] || echo "$f"; done)
	[ "$(head -c $((${#magic} / 2)) "$program" | od -An -tx1 | tr -d ' \n')" = "$magic" ] || fail "$program is not a program for its system"
	node -e 'const { readFileSync } = require("node:fs"); process.exit(readFileSync(process.argv[1]).includes(readFileSync(process.argv[2])) ? 0 : 1)' \
		"$program" "$wanted/extension/out/extension.js" || fail "$archive lacks the extension"
done
# The one for Windows in Wine, with an edit instead of the demo, which needs Go.
archive=agent_${version}_windows_amd64.zip
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
	since=$(now)
	unzip -q "$archive" -d "$work/windows"
	took=$((($(now) - since) / 1000000))
	since=$(now)
	bash "$repository/scripts/test-windows.sh" play "$work/windows/agent.exe" "$version" >"$work/said" 2>&1 || fail "$archive in Wine: $(cat "$work/said")"
	printf '| %s | %s | %s ms | %s ms |\n' zip-of-Windows-in-Wine "$(mib "$archive")" "$took" $((($(now) - since) / 1000000)) | tee -a "$work/table"
else
	echo "test-release.sh: the program for Windows was not run: that needs root on Debian"
fi
grep -q 'github.com/spf13/cobra v' "$work/unpacked/agent_${version}_$system.tar.gz/NOTICES.txt"

# The same commit, in another folder and without GoReleaser.
git clone -q --branch "$tag" "$repository" "$work/elsewhere"
(cd "$work/elsewhere" && go build -trimpath -buildvcs=true -ldflags '-s -w' -o "$work/again" ./cmd/agent)
cmp "$work/again" "$same" || fail "built again, the program has other bytes"
echo "built again from the tag: the same bytes"

# deb and rpm, installed into an empty root and removed again.
since=$(now)
root=$work/debian
mkdir -p "$root"/var/lib/dpkg/{info,updates}
touch "$root/var/lib/dpkg/status"
deb=agent_${version}*_$(dpkg --print-architecture).deb
dpkg --root="$root" --force-not-root --force-bad-path --log="$work/log" -i $deb >"$work/said" 2>&1 || fail "$(cat "$work/said")"
tried deb "$root/usr/bin/agent" "$(mib $deb)" "$since"
has "$root"/usr/share/{man/man1/agent.1,bash-completion/completions/agent,zsh/vendor-completions/_agent,fish/vendor_completions.d/agent.fish} "$root"/usr/share/doc/agent/{copyright,NOTICES.txt}
dpkg --root="$root" --force-not-root --force-bad-path --log="$work/log" -r agent >"$work/said" 2>&1 || fail "$(cat "$work/said")"
[ ! -e "$root/usr/bin/agent" ] || fail "the removed deb left its program"

since=$(now)
root=$work/fedora
mkdir "$root"
rpm=agent-${version}*.$(uname -m).rpm
rpm --root "$root" --initdb
rpm --root "$root" --nodeps -i $rpm >"$work/said" 2>&1 || fail "$(cat "$work/said")"
tried rpm "$root/usr/bin/agent" "$(mib $rpm)" "$since"
rpm -qlp $rpm >"$work/listed"
for file in /usr/bin/agent /usr/share/{man/man1/agent.1,bash-completion/completions/agent,zsh/site-functions/_agent,fish/vendor_completions.d/agent.fish}; do
	grep -qx "$file" "$work/listed" || fail "the rpm lacks $file"
done

# From a server: install.sh and npm.
coproc server { exec node "$repository/scripts/release-server.mjs" .; }
read -r address <&"${server[0]}"
for given in '' "$version"; do
	since=$(now)
	bin=$work/installed${given:+-$given}
	AGENT_VERSION=$given AGENT_RELEASES=$address/releases AGENT_BIN_DIR=$bin sh install.sh >"$work/said" 2>&1 || fail "install.sh: $(cat "$work/said")"
	tried "install.sh${given:+-of-$given}" "$bin/agent" "$(mib "agent_${version}_$system.tar.gz")" "$since"
done
if AGENT_RELEASES=$address/tampered AGENT_BIN_DIR=$work/tampered sh install.sh >"$work/said" 2>&1; then fail "install.sh installed a changed archive"; fi
grep -q 'is not what the release has' "$work/said" || fail "install.sh: $(cat "$work/said")"
[ ! -e "$work/tampered" ] || fail "install.sh made a folder for a changed archive"

npm=$(node -p 'require(process.argv[1]).npm' "$repository/identity.json")
for scripts in '' --ignore-scripts; do
	since=$(now)
	to=$work/npm$scripts
	mkdir "$to"
	npm install $scripts --silent --no-audit --no-fund --cache "$work/npm-cache$scripts" --registry "$address/npm/" --prefix "$to" "$npm" >"$work/said" 2>&1 || fail "npm: $(cat "$work/said")"
	[ "$(find "$to/node_modules/${npm%/*}" -mindepth 1 -maxdepth 1 | wc -l)" -eq 2 ] || fail "npm installed the programs of other systems"
	tried "npm$scripts" "$to/node_modules/.bin/agent" "$(mib "$(ls npm/*-linux-x64-*.tgz)")" "$since"
done
[ "$(head -c 4 "$work/npm/node_modules/.bin/agent" | od -An -c | tr -d ' ')" = '177ELF' ] || fail "npm left a script in the place of the program"
# The script ends as the program does.
if "$work/npm--ignore-scripts/node_modules/.bin/agent" --wrong 2>/dev/null; then status=0; else status=$?; fi
[ "$status" -eq 2 ] || fail "the script of npm ends with $status where the program ends with 2"
rm -r "$work/npm--ignore-scripts/node_modules/$npm-"*
if "$work/npm--ignore-scripts/node_modules/.bin/agent" --version 2>"$work/said"; then fail "npm's script runs without its program"; fi
grep -q 'is not installed' "$work/said" || fail "npm's script says: $(cat "$work/said")"

# Manifests, the list of contents and provenance speak of these files.
manifests=$(find homebrew scoop winget -type f)
[ "$(wc -l <<<"$manifests")" -ge 5 ] || fail "manifests are missing: $manifests"
grep -ohiE '\b[0-9a-f]{64}\b' $manifests | tr A-F a-f | sort -u >"$work/sums"
[ "$(wc -l <"$work/sums")" -eq 6 ] || fail "the manifests have $(wc -l <"$work/sums") sums, not 6"
while read -r sum; do grep -q "^$sum  agent_" checksums.txt || fail "a manifest has the sum $sum, which is of no archive"; done <"$work/sums"
node - "$version" "$(git rev-parse HEAD)" <<'JS'
const { readFileSync, readdirSync } = require("node:fs");
const [version, commit] = process.argv.slice(2);
const sums = new Map(readFileSync("checksums.txt", "utf8").trim().split("\n").map((line) => line.split("  ").reverse()));
const { subject, predicate } = JSON.parse(readFileSync("provenance.intoto.json", "utf8"));
const wrong = [];
if (subject.length !== sums.size || subject.some(({ name, digest }) => sums.get(name) !== digest.sha256)) wrong.push("its files");
if (predicate.buildDefinition.resolvedDependencies[0].digest.gitCommit !== commit) wrong.push("its commit");
if (wrong.length > 0) throw new Error(`provenance.intoto.json has wrong: ${wrong}`);
const lists = readdirSync(".").filter((name) => name.endsWith(".cdx.json"));
if (lists.length !== 6) throw new Error(`there are ${lists.length} lists of contents, not 6`);
for (const name of lists) {
  const { components } = JSON.parse(readFileSync(name, "utf8"));
  if (!components.some(({ purl }) => purl?.startsWith("pkg:golang/github.com/spf13/cobra@v"))) throw new Error(`${name} lacks cobra`);
}
JS

# Other names: everything that carries one builds with them.
cd "$work/elsewhere"
go run ./tools/release set module=example.org/x/other repository=https://github.com/other/place publisher=somebody
go build -o "$work/renamed" ./cmd/agent
"$work/renamed" --version >/dev/null
echo "with other names: it builds"

echo '| installed by | size | installed in | demo |'
echo '|---|---|---|---|'
cat "$work/table"
