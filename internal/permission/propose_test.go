package permission

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

func TestMissing(t *testing.T) {
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
		for _, r := range Rules(nil).Missing(lineOf(t, line)) {
			got = append(got, r.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: proposed %q, want %q", line, got, want)
		}
	}
	forced := lineOf(t, "make")
	forced.Force = true
	if got := Rules(nil).Missing(forced); got != nil {
		t.Errorf("proposed %v for a request that must be looked at", got)
	}
	edit := confirm.Request{Subject: confirm.Edit(workspace.Change{File: workspace.File{Name: "docs/a.md"}})}
	if got := Rules(nil).Missing(edit); len(got) != 1 || got[0].String() != "edit(docs/a.md)" {
		t.Errorf("proposed %v", got)
	}
	edit.File().Name = "a[1].md"
	if got := Rules(nil).Missing(edit); got != nil {
		t.Errorf("proposed %v for a name that is a glob", got)
	}
}

// A proposed rule covers the request that it was made for.
func TestProposedRuleCovers(t *testing.T) {
	for _, line := range []string{"make all", "go test ./a ./b", "go vet ./...; go test ./a ./b; ls", "git commit -m 'a;b'"} {
		req := lineOf(t, line)
		if a := Rules(Rules(nil).Missing(req)).answer(req); a.effect != Allow {
			t.Errorf("%s: %d", line, a.effect)
		}
	}
}

// TestNoRuleBehindAPipe: the text of a pipe decides about the effect of a command.
func TestNoRuleBehindAPipe(t *testing.T) {
	req := lineOf(t, "cat x; patch -p1")
	confirm.As[*confirm.Command](req).Parts[1].Piped = true
	confirm.As[*confirm.Command](req).Parts[0].Safe = true
	if got := Rules(nil).Missing(req); got != nil {
		t.Errorf("proposed %v", got)
	}
}

// TestOnlyOpen: in a line of several commands, a rule is offered for the one that no rule
// allows yet, and none if several are open or one gives the others another meaning.
func TestOnlyOpen(t *testing.T) {
	for _, tt := range []struct {
		rules      []string
		line       string
		rule, part string
	}{
		{nil, "npm ci", "run(npm ci)", ""},
		{nil, "npm ci; npm test", "", ""},
		{[]string{"allow run(npm ci)"}, "npm ci; npm test ./a", "run(npm test *)", "npm test ./a"},
		{[]string{"allow run(npm test)"}, "npm ci; npm test; ls", "run(npm ci)", "npm ci"},
		{[]string{"allow run(npm ci)"}, "npm ci; npm test; redirect x", "", ""},
		{[]string{"allow run(npm ci)"}, "npm ci; env make", "", ""},
		{[]string{"allow run(npm ci)"}, "npm ci; ?make", "", ""},
		{[]string{"allow run(npm ci)", "ask run(make **)"}, "npm ci; make", "", ""},
		{[]string{"allow run(npm ci)", "deny run(make **)"}, "npm ci; make", "", ""},
		{[]string{"allow run(npm ci)", "ask run(npm ci)"}, "npm ci; make", "", ""},
		{[]string{"allow run(npm ci)", "ask read(secrets/**)"}, "npm ci; make; ls", "", ""},
		{[]string{"allow run(cd x)"}, "cd x; make", "", ""},
		{[]string{"allow run(export A=b)"}, "export A=b; make", "", ""},
		{nil, "cd /w; make", "run(make)", "make"},
		{nil, "cd /w; make; npm ci", "", ""},
		{nil, "cd /w; cd x; make", "", ""},
		{[]string{"allow run(cd x)"}, "cd /w; cd x; make", "", ""},
		{[]string{"allow run(npm ci)"}, "npm ci", "", ""},
	} {
		p := New(Default, rulesOf(t, tt.rules...)...)
		req := lineOf(t, tt.line)
		confirm.As[*confirm.Command](req).Dir = "/w"
		r, part, ok := p.OnlyOpen(req)
		if ok != (tt.rule != "") || ok && r.String() != tt.rule || part != tt.part {
			t.Errorf("%q %s: %q for %q, %v", tt.rules, tt.line, r, part, ok)
		}
		if !ok {
			continue
		}
		if _, err := p.CheckRule(req, tt.rule, func(line string) ([]confirm.CommandPart, bool) { return parts(t, line), false }); err != nil {
			t.Errorf("%s: %v", tt.line, err)
		}
		p.AddRule(r)
		if a := p.Rules().answer(req); a.effect != Allow {
			t.Errorf("%s: with the rule: %d", tt.line, a.effect)
		}
	}
}

// TestFolderOfTheLine: to enter the folder in which a line starts needs no rule, and leaves
// the others to theirs.
func TestFolderOfTheLine(t *testing.T) {
	for line, want := range map[string]Effect{
		"cd /w; make": Allow, "cd /w; rm x": 0, "cd /w/x; make": 0, "cd .; make": 0, "cd /w x; make": 0, "cd -P /w; make": 0, "/bin/cd /w; make": 0, "cd /w": 0,
	} {
		req := lineOf(t, line)
		confirm.As[*confirm.Command](req).Dir = "/w"
		if a := Rules(rulesOf(t, "allow run(make)")).answer(req); a.effect != want {
			t.Errorf("%s: %d", line, a.effect)
		}
	}
	req := lineOf(t, "cd /w; make")
	confirm.As[*confirm.Command](req).Dir = "/w"
	if a := Rules(rulesOf(t, "allow run(make)", "ask run(cd **)")).answer(req); a.effect != Ask {
		t.Errorf("a rule about cd is ignored: %d", a.effect)
	}
}
