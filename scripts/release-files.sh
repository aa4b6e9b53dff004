#!/usr/bin/env bash
# Makes the files that every package of a release has beside the program, in a folder:
# man/, completions/, NOTICES.txt, and agent-ide.vsix, the extension for VS Code.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0

folder=$1
rm -rf "$folder"
mkdir -p "$folder/completions"
go build -o "$folder/agent" ./cmd/agent
go run ./tools/release man "$folder/man"
go run ./tools/release notices "$folder/NOTICES.txt"

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export HOME=$home AGENT_HOME=$home/.agent
"$folder/agent" completion bash >"$folder/completions/agent.bash"
"$folder/agent" completion zsh >"$folder/completions/_agent"
"$folder/agent" completion fish >"$folder/completions/agent.fish"
"$folder/agent" completion powershell >"$folder/completions/agent.ps1"
"$folder/agent" ide install --to "$folder/agent-ide.vsix"
rm "$folder/agent"
