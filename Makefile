# make help lists what there is. Needed: Go, and for the tests git.

COMMIT   ?= $(shell git describe --always --dirty 2>/dev/null)
LDFLAGS  := -s -w -X main.commit=$(COMMIT)
TRIMPATH := -trimpath
GOBUILD  := go build $(TRIMPATH) -ldflags '$(LDFLAGS)'
MCP      := server-everything@2026.8.31 server-filesystem@2026.8.31 server-memory@2026.8.31 conformance@0.1.16
SERVERS  := typescript@5 typescript-language-server pyright bash-language-server
# Tests wait more than they compute: several packages, and several tests of each, beside each other. make lint runs the checks of go vet.
GOTEST   := go run ./tools/testreport -vet=off -p 4 -parallel 8
# The packages that take longest begin first: none runs alone at the end.
LONGEST  := $(addprefix ./,cmd/agent internal/workspace internal/trial internal/tools/shell internal/mcp internal/session \
	internal/tools/search internal/tools internal/cli/firstrun internal/permission internal/workspace/undo internal/tools/shell/safecmd)
RACE     := CGO_ENABLED=1 $(GOTEST) -timeout 15m -race -run '^TestCommandsBesideATurn$$' ./internal/app/commands
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

# The program is built without C, and so are its tests: what is compiled for one serves the other.
export CGO_ENABLED := 0

.DEFAULT_GOAL := build
.PHONY: build install check test test-full test-windows test-release release security-report test-vscode lint bench demo pictures pictures-vscode tour-vscode cross vsix clean help

build: ## build bin/agent
	$(GOBUILD) -o bin/agent ./cmd/agent

install: ## install agent into the Go bin folder
	go install -trimpath -ldflags '$(LDFLAGS)' ./cmd/agent

demo: ## run the demo: a real edit, reviewed by you, offline
	@echo "Building bin/agent first, which takes a minute the first time"
	@$(MAKE) --no-print-directory -s build
	./bin/agent demo

check: ## lint, and test what your change can break, in about two minutes
	bash scripts/check.sh

# Those in VS Code after the others: a window that gets no processor for a minute fails tests that find no fault.
test: ## install what the tests need and run them all
	bash scripts/test-needs.sh
	@mkdir -p .cache
	{ $(RACE); race=$$?; bash scripts/test-extension.sh && exit $$race; } >.cache/beside.log 2>&1 & \
	failed=0; $(GOTEST) -timeout 20m $(LONGEST) ./... || failed=1; \
	wait $$! || failed=1; cat .cache/beside.log; \
	bash scripts/test-vscode.sh || failed=1; exit $$failed

test-full: ## the same at full load (kills, interleavings, fuzzing); needs npm
	bash scripts/test-needs.sh
	npm install --silent --no-audit --no-fund --prefix .cache/mcp $(MCP:%=@modelcontextprotocol/%)
	npm install --silent --no-audit --no-fund --global --prefix $${TMPDIR:-/tmp}/agent-test-servers $(SERVERS)
	AGENT_TEST_FULL=1 AGENT_TEST_MCP=$(CURDIR)/.cache/mcp AGENT_TEST_SERVERS=$${TMPDIR:-/tmp}/agent-test-servers/bin go run ./tools/testreport -events .cache/events.json -timeout 240m -tags network ./...; \
	status=$$?; go run ./tools/securityreport .cache/events.json && exit $$status
	$(RACE)
	AGENT_TEST_FULL=1 bash scripts/test-extension.sh
	AGENT_TEST_FULL=1 bash scripts/test-vscode.sh
	bash scripts/test-release.sh
	$(MAKE) cross

test-windows: ## run the tests of Windows in Wine; root on Debian only, installs Wine for itself
	bash scripts/test-windows.sh

test-release: ## build a release, install it in every way, and play the demo with each
	bash scripts/test-release.sh

release: ## build all packages of the tagged commit into dist, see docs/releasing.md
	bash scripts/release.sh

security-report: ## run the tests of docs/security-report.md at full load, and write it
	mkdir -p .cache
	AGENT_TEST_FULL=1 go run ./tools/testreport -events .cache/events.json -timeout 240m $$(go run ./tools/securityreport -arguments); \
	status=$$?; cd editors/vscode && node esbuild.mjs --tests && \
	AGENT_TEST_FULL=1 node --test --test-name-pattern='by guesses' --test-reporter=tap out/test/core/server.test.js >../../.cache/extension.tap || status=$$?; \
	cd ../.. && go run ./tools/securityreport .cache/events.json .cache/extension.tap && exit $$status

test-vscode: ## test the extension in a real VS Code, alone
	bash scripts/test-vscode.sh

lint: ## golangci-lint with the checks of go vet, gofumpt, shell syntax, eslint and tsc
	bash scripts/lint.sh

bench: ## measure the program beside a minimal client, write docs/performance.md
	go run ./tools/bench

pictures: ## record the demo and take the README's pictures from it
	mkdir -p docs/pictures
	go test -count=1 -run TestPictures ./cmd/agent -pictures $(CURDIR)/docs/pictures

pictures-vscode: vsix build ## take the pictures of VS Code, in a real window
	node editors/vscode/test/e2e/lib/install.mjs current
	cd editors/vscode && node test/e2e/pictures.mjs

tour-vscode: vsix build ## take a picture of each face of a review, in each look of VS Code
	node editors/vscode/test/e2e/lib/install.mjs current
	cd editors/vscode && node test/e2e/tour.mjs

cross: ## compile the program and all tests for every supported platform
	@set -e; for p in $(PLATFORMS); do \
		echo "build $$p"; \
		GOOS=$${p%/*} GOARCH=$${p#*/} go build -trimpath -o /dev/null ./cmd/agent; \
		GOOS=$${p%/*} GOARCH=$${p#*/} go vet ./...; \
	done

vsix: ## build the VS Code extension, which each build of agent carries inside: commit it
	cd editors/vscode && { [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci; } && npm run package

clean: ## remove what was built
	rm -rf bin dist .cache editors/vscode/out editors/vscode/agent.vsix

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
