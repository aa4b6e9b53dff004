package app

import (
	"os"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/permission"
)

// TestRevokeRule: a rule goes from the session and from the user's own file as it is
// written there; the others and the comments stay.
func TestRevokeRule(t *testing.T) {
	a := newApp(t)
	file := config.OwnProjectFile(a.Config.Home, a.Root.Dir())
	scratch.Write(t, file, "# mine\nfolder: "+a.Root.Dir()+"\npermissions:\n  allow:\n    - Bash(go test:*)\n    - run(make)\n  deny: [edit(docs/**)]\n")
	written, err := config.OwnProjectRules(a.Config.Home, a.Root.Dir())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range written {
		effect, err := permission.ParseEffect(w.Effect)
		if err != nil {
			t.Fatal(err)
		}
		r, err := permission.ParseRule(effect, w.Text, w.Source)
		if err != nil {
			t.Fatal(err)
		}
		r.Dir, r.Kept = a.Root.Dir(), permission.OwnFile
		a.Policy.AddRule(r)
	}
	for i, left := range []string{"run(make), edit(docs/**)", "edit(docs/**)", ""} {
		r := a.Policy.Rules()[0]
		if err := a.RevokeRule(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if err := a.RevokeRule(t.Context(), r); err == nil {
			t.Errorf("%s was taken back twice", r)
		}
		var names, texts []string
		for _, r := range a.Policy.Rules() {
			names = append(names, r.String())
		}
		rules, err := config.OwnProjectRules(a.Config.Home, a.Root.Dir())
		for _, r := range rules {
			texts = append(texts, r.Text)
		}
		if err != nil || strings.Join(names, ", ") != left || strings.Join(texts, ", ") != left {
			t.Errorf("%d: %v in force, %v in the file, %v; want %s", i, names, texts, err, left)
		}
	}
	if data, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(data), "# mine\n") {
		t.Errorf("%s, %v", data, err)
	}
	rule, err := permission.ParseRule(permission.Deny, "run", "config.yaml:3")
	if err != nil {
		t.Fatal(err)
	}
	a.Policy.AddRule(rule)
	if err := a.RevokeRule(t.Context(), rule); err == nil || len(a.Policy.Rules()) != 1 {
		t.Error("a rule of the configuration was taken back")
	}
}

// TestUnwritableRule: a rule that cannot be written counts for the session.
func TestUnwritableRule(t *testing.T) {
	a := newApp(t)
	scratch.Write(t, config.OwnProjectFile(a.Config.Home, a.Root.Dir()), "folder: /elsewhere\n")
	parts, _ := judge("make all")
	req := confirm.Request{Subject: &confirm.Command{Line: "make all", Dir: a.Root.Dir(), Parts: parts}}
	a.makeRule(t.Context(), req, confirm.Always{Rule: "run(make all)", Term: confirm.Term{Project: true}})
	if _, decided := a.Policy.Decide(req); !decided || len(a.Policy.Rules()) != 1 || len(a.Grants()) != 1 {
		t.Errorf("%v, %v", decided, a.Policy.Rules())
	}
}
