package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/cli/printed"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/permission"
)

const changing = `
turns:
  - when: {prompt_contains: change}
    text: I change it.
    calls: [{tool: edit_file, args: {path: a.txt, old_string: one, new_string: two}}]
  - when: {prompt_contains: change}
    text: Changed.
  - text: Hello.
`

// reviewer answers every question with the same verdict and counts them.
type reviewer struct {
	verdict confirm.Verdict
	asked   []string
}

func (r *reviewer) Review(_ context.Context, req confirm.Request) (confirm.Verdict, error) {
	r.asked = append(r.asked, req.Tool)
	return r.verdict, nil
}

// sitting puts the whole program together around a scripted model, with r in
// the place of the person.
func sitting(t *testing.T, r *reviewer) *screenFace {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.txt": "one\n", "script.yaml": changing} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.LoadFrom(filepath.Join(t.TempDir(), "home"), config.Overrides{
		"model": "script:" + filepath.Join(dir, "script.yaml"), "permission_mode": "default",
	})
	if err != nil {
		t.Fatal(err)
	}
	f := &flags{dir: dir}
	m, _, err := choose(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	pl, err := openStore(cfg, f, m.Ref)
	if err != nil {
		t.Fatal(err)
	}
	s := &screenFace{changes: &printed.Changes{}}
	s.app, err = wire(cfg, f, pl, m, surface{emit: s.changes.Take, reviewers: []confirm.Reviewer{r}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.app.close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *screenFace) say(t *testing.T, prompt string) {
	t.Helper()
	if err := s.app.loop.Run(t.Context(), prompt); err != nil {
		t.Fatal(err)
	}
}

func (s *screenFace) text(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.app.dir, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestUndoAsksInEveryMode(t *testing.T) {
	r := &reviewer{verdict: confirm.Verdict{Decision: confirm.Approve}}
	s := sitting(t, r)
	s.say(t, "change it")
	if err := (modes{s}).Set("accept-edits"); err != nil {
		t.Fatal(err)
	}
	r.verdict = confirm.Verdict{}
	out, err := s.undo(t.Context(), "")
	if err != nil || out != "nothing was undone" || s.text(t) != "two\n" {
		t.Errorf("after no: %q, %v, %q", out, err, s.text(t))
	}
	r.verdict = confirm.Verdict{Decision: confirm.Approve}
	out, err = s.undo(t.Context(), "turn")
	if err != nil || out != "undone: a.txt" || s.text(t) != "one\n" {
		t.Errorf("after yes: %q, %v, %q", out, err, s.text(t))
	}
	if d := cmp.Diff([]string{"edit_file", "undo", "undo"}, r.asked); d != "" {
		t.Error(d)
	}
	if _, err := s.undo(t.Context(), ""); err == nil {
		t.Error("a second undo found something")
	}
}

func TestDiffShowsTheSessionsChanges(t *testing.T) {
	s := sitting(t, &reviewer{verdict: confirm.Verdict{Decision: confirm.Approve}})
	if out, err := s.diff(t.Context(), ""); err != nil || !strings.Contains(out, "nothing yet") {
		t.Errorf("%q, %v", out, err)
	}
	s.say(t, "change it")
	if out, err := s.diff(t.Context(), ""); err != nil || !strings.Contains(out, "-one\n+two\n") {
		t.Errorf("%q, %v", out, err)
	}
}

func TestExport(t *testing.T) {
	r := &reviewer{}
	s := sitting(t, r)
	if out, err := s.export(t.Context(), ""); err != nil || !strings.Contains(out, "nothing to export") {
		t.Errorf("%q, %v", out, err)
	}
	s.say(t, "hi")
	out, err := s.export(t.Context(), "talk.md")
	if err != nil || out != "written to talk.md" {
		t.Fatalf("%q, %v", out, err)
	}
	data, err := os.ReadFile(filepath.Join(s.app.dir, "talk.md"))
	if err != nil || !strings.Contains(string(data), "Hello.") {
		t.Errorf("%v, %q", err, data)
	}
	if _, err := s.export(t.Context(), "../talk.md"); err == nil {
		t.Error("written outside of the folder")
	}
	if out, err := s.export(t.Context(), "a.txt"); err != nil || out != "nothing was written" || s.text(t) != "one\n" {
		t.Errorf("over a file, after no: %q, %v, %q", out, err, s.text(t))
	}
	r.verdict = confirm.Verdict{Decision: confirm.Approve}
	if out, err := s.export(t.Context(), "a.txt"); err != nil || out != "written to a.txt" || !strings.Contains(s.text(t), "Hello.") {
		t.Errorf("over a file, after yes: %q, %v, %q", out, err, s.text(t))
	}
	if d := cmp.Diff([]string{"export", "export"}, r.asked); d != "" {
		t.Error(d)
	}
}

func TestSessionsAreListedLeftAndResumed(t *testing.T) {
	s := sitting(t, &reviewer{})
	s.say(t, "the first one")
	first := s.app.current().ID()
	if _, err := s.clear(); err != nil {
		t.Fatal(err)
	}
	if s.app.current().ID() == first || len(s.app.loop.Messages()) != 0 {
		t.Error("the session goes on after /clear")
	}
	all, err := s.sessions()
	if err != nil || len(all) != 1 || all[0].ID != first || all[0].Title != "the first one" {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := s.resume(t.Context(), first); err != nil || len(s.app.loop.Messages()) != 2 {
		t.Errorf("%v, %d messages", err, len(s.app.loop.Messages()))
	}
	if _, err := s.resume(t.Context(), "nosuch"); err == nil || !strings.Contains(err.Error(), "no session nosuch") {
		t.Error(err)
	}
}

func TestModels(t *testing.T) {
	s := sitting(t, &reviewer{})
	all, err := s.models(t.Context())
	if err != nil || len(all) != 1 || all[0].ID != s.status().Model {
		t.Errorf("%+v, %v", all, err)
	}
	if err := s.app.setModel("ollama/m"); err != nil || s.status().Model != "ollama/m" {
		t.Errorf("%v, %+v", err, s.status())
	}
	for _, wrong := range []string{"m", "nowhere/m", "script:/no/such/file"} {
		if err := s.app.setModel(wrong); err == nil || s.status().Model != "ollama/m" {
			t.Errorf("%s: %v, %+v", wrong, err, s.status())
		}
	}
}

func TestModes(t *testing.T) {
	s := sitting(t, &reviewer{})
	m := modes{s}
	if m.Current() != "default" || m.Next() != "accept-edits" || m.Set("plan") != nil || s.app.policy.Mode() != permission.Plan {
		t.Errorf("mode %s", m.Current())
	}
	if m.Set("yolo") == nil || m.Set("bypass") == nil || m.Current() != "plan" {
		t.Errorf("mode %s", m.Current())
	}
}

func TestWithoutSecrets(t *testing.T) {
	got := withoutSecrets([]string{"A=1", "KEY=x", "KEYS=y"}, []string{"KEY"})
	if d := cmp.Diff([]string{"A=1", "KEYS=y"}, got); d != "" {
		t.Error(d)
	}
}
