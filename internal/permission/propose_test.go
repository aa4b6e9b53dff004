package permission

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

func TestProposeRules(t *testing.T) {
	for line, want := range map[string]string{
		"make all":                      "run(make all)",
		"go test":                       "run(go test)",
		"go test ./internal/x ./y":      "run(go test *)",
		"go test -race ./...":           "run(go test -race ./...)", // go would take it for a value of another option
		"go test -count=1 ./... ./x":    "run(go test -count=1 *)",
		"go vet -vettool /x ./...":      "run(go vet -vettool /x ./...)",
		"go test -exec /x ./a ./b":      "run(go test -exec /x ./a ./b)",
		"git diff a b":                  "run(git diff a b)",
		"go test /x/y":                  "run(go test /x/y)",
		"go test ./... -run=X":          "run(go test ./... -run=X)",
		"go run ./cmd":                  "run(go run ./cmd)",
		"git commit -m 'a  b'":          "run(git commit -m *)",
		"git commit -am 'a b'":          "run(git commit -am *)",
		"git commit -m a -m b":          "run(git commit -m a -m b)",
		"git commit --amend -m a":       "run(git commit --amend -m a)",
		"go vet ./...; go test ./a ./b": "run(go vet *) run(go test *)",
		"go test ./a ./b; ls":           "run(go test *)",
		"make a; make a":                "run(make a)",
		"env make":                      "",
		"make ?target":                  "",
		"make a; redirect out":          "",
		"touch '*'":                     "",
	} {
		var got []string
		for _, r := range ProposeRules(lineOf(t, line)) {
			got = append(got, r.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: proposed %q, want %q", line, got, want)
		}
	}
	forced := lineOf(t, "make")
	forced.Force = true
	if got := ProposeRules(forced); got != nil {
		t.Errorf("proposed %v for a request that must be looked at", got)
	}
	edit := confirm.Request{Change: &workspace.Change{File: workspace.File{Name: "docs/a.md"}}}
	if got := ProposeRules(edit); len(got) != 1 || got[0].String() != "edit(docs/a.md)" {
		t.Errorf("proposed %v", got)
	}
	edit.Change.Name = "a[1].md"
	if got := ProposeRules(edit); got != nil {
		t.Errorf("proposed %v for a name that is a glob", got)
	}
}

// A proposed rule covers the request that it was made for.
func TestProposedRuleCovers(t *testing.T) {
	for _, line := range []string{"make all", "go test ./a ./b", "go vet ./...; go test ./a ./b; ls", "git commit -m 'a;b'"} {
		req := lineOf(t, line)
		if a := Rules(ProposeRules(req)).answer(req); a.effect != Allow {
			t.Errorf("%s: %d", line, a.effect)
		}
	}
}

// TestNoRuleBehindAPipe: the text of a pipe decides about the effect of a command.
func TestNoRuleBehindAPipe(t *testing.T) {
	req := lineOf(t, "cat x; patch -p1")
	req.Command.Parts[1].Piped = true
	req.Command.Parts[0].Safe = true
	if got := ProposeRules(req); got != nil {
		t.Errorf("proposed %v", got)
	}
}
