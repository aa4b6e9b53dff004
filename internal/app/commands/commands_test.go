package commands

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// flood returns a command, as a string of YAML, that prints too much for the conversation.
func flood(of string) string {
	if shell.In("").Posix {
		return `"head -c 200000 /dev/zero | tr '\\0' ` + of + `"`
	}
	return `"for /L %i in (1,1,2000) do @echo ` + strings.Repeat(of, 100) + `"`
}

var changing = `
turns:
  - when: {prompt_contains: change}
    text: I change it.
    calls: [{tool: edit_file, args: {path: a.txt, old_string: one, new_string: two}}]
  - when: {prompt_contains: change}
    text: Changed.
  - when: {prompt_contains: plan}
    calls: [{tool: todo, args: {items: [{content: look, status: completed}, {content: mend, status: in_progress}]}}]
  - when: {prompt_contains: plan}
    text: Planned.
  - when: {prompt_contains: run}
    calls: [{tool: execute_command, args: {command: ` + flood("x") + `}}]
  - when: {prompt_contains: run}
    text: It ran.
  - when: {prompt_contains: run}
    calls: [{tool: execute_command, args: {command: ` + flood("y") + `}}]
  - when: {prompt_contains: run}
    text: It ran again.
  - text: Hello.
`

// reviewer gives every question the same verdict and records it.
type reviewer struct {
	verdict confirm.Verdict
	asked   []string
	last    confirm.Request
}

func (r *reviewer) Review(_ context.Context, req confirm.Request) (confirm.Verdict, error) {
	r.asked, r.last = append(r.asked, req.Tool), req
	return r.verdict, nil
}

// sitting returns the commands of a session with a scripted model and r as the person.
func sitting(t *testing.T, r *reviewer) *Set { return sittingWith(t, r, changing) }

func sittingWith(t *testing.T, r *reviewer, script string) *Set {
	return sittingAt(t, script, r, "false")
}

// sittingAt uses an editor if editors is "true".
func sittingAt(t *testing.T, script string, r confirm.Reviewer, editors string) *Set {
	t.Helper()
	dir := scratch.Dir(t, nil)
	for name, text := range map[string]string{"a.txt": "one\n", "script.yaml": script} {
		scratch.Write(t, filepath.Join(dir, name), text)
	}
	cfg, err := config.LoadFrom(filepath.Join(t.TempDir(), "home"), config.Overrides{
		"model": "script:" + filepath.Join(dir, "script.yaml"), "permission_mode": "default", "ide.enabled": editors,
	})
	if err != nil {
		t.Fatal(err)
	}
	model, err := cfg.Lookup(cfg.Model)
	if err != nil {
		t.Fatal(err)
	}
	archive := archive.New(cfg.Home)
	s := &Set{Doctor: func(_ context.Context, model string, out io.Writer) {
		io.WriteString(out, "ok      version of "+model+"\n")
	}}
	s.App, err = app.New(app.Options{
		Setup: setup.Trusting(cfg), Place: app.Place{Dir: dir, Archive: archive, Store: archive.Create(dir, model.Ref)},
		Model: model, Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	s.App.Attach(app.Face{Emit: func(session.Event) {}, Reviewer: r})
	t.Cleanup(func() {
		if err := s.App.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// run runs a line as the screen does.
func (s *Set) run(t *testing.T, line string) (command.Reply, error) {
	t.Helper()
	name, args, ok := command.Split(line)
	for _, c := range s.List() {
		if ok && c.Name == name {
			return c.Run(t.Context(), args)
		}
	}
	t.Fatalf("there is no %s", line)
	return command.Reply{}, nil
}

// text runs a line and returns the text of its reply.
func (s *Set) text(t *testing.T, line string) string {
	t.Helper()
	r, err := s.run(t, line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return r.Text
}

func (s *Set) say(t *testing.T, prompt string) {
	t.Helper()
	if err := s.App.Run(t.Context(), prompt); err != nil {
		t.Fatal(err)
	}
}

func (s *Set) file(t *testing.T) string {
	t.Helper()
	return scratch.Read(t, filepath.Join(s.App.Dir, "a.txt"))
}

func TestExport(t *testing.T) {
	r := &reviewer{}
	s := sitting(t, r)
	if out := s.text(t, "/export"); !strings.Contains(out, "nothing to export") {
		t.Error(out)
	}
	s.say(t, "hi")
	if out := s.text(t, "/export talk.md"); out != "written to talk.md" {
		t.Fatal(out)
	}
	data, err := os.ReadFile(filepath.Join(s.App.Dir, "talk.md"))
	if err != nil || !strings.Contains(string(data), "Hello.") {
		t.Errorf("%v, %q", err, data)
	}
	if _, err := s.run(t, "/export ../talk.md"); err == nil {
		t.Error("written outside of the folder")
	}
	if out, err := s.run(t, "/export talk.pdf"); err == nil || !strings.Contains(err.Error(), "not .pdf") {
		t.Errorf("as PDF: %+v, %v", out, err)
	}
	if out, err := s.run(t, "/mcp reconnect"); err == nil || !strings.Contains(err.Error(), "which MCP server?") {
		t.Errorf("without a name: %+v, %v", out, err)
	}
	if out := s.text(t, "/export a.txt"); out != "nothing was written" || s.file(t) != "one\n" {
		t.Errorf("over a file, after no: %q, %q", out, s.file(t))
	}
	r.verdict = confirm.Verdict{Decision: confirm.Approve}
	if out := s.text(t, "/export a.txt"); out != "written to a.txt" || !strings.Contains(s.file(t), "Hello.") {
		t.Errorf("over a file, after yes: %q, %q", out, s.file(t))
	}
	if d := cmp.Diff([]string{"export", "export"}, r.asked); d != "" {
		t.Error(d)
	}
}

func TestSessionsAreListedLeftAndResumed(t *testing.T) {
	s := sitting(t, &reviewer{})
	if _, err := s.run(t, "/resume"); err == nil {
		t.Error("there is nothing to choose")
	}
	if out := s.text(t, "/sessions"); !strings.Contains(out, "no sessions") {
		t.Error(out)
	}
	s.say(t, "the first one")
	first := s.App.Current().ID()
	if r, err := s.run(t, "/clear"); err != nil || r.Session == nil || !strings.Contains(r.Text, "/resume") {
		t.Fatalf("%+v, %v", r, err)
	}
	if s.App.Current().ID() == first || len(s.App.Messages()) != 0 {
		t.Error("the session goes on after /clear")
	}
	if out := s.text(t, "/sessions"); !strings.Contains(out, first) || !strings.Contains(out, "the first one") {
		t.Error(out)
	}
	r, err := s.run(t, "/resume")
	if err != nil || r.Pick == nil || len(r.Pick.Items) != 1 || r.Pick.Items[0].ID != first {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := r.Pick.Choose(t.Context(), first); err != nil || len(s.App.Messages()) != 2 {
		t.Errorf("%v, %d messages", err, len(s.App.Messages()))
	}
	if _, err := s.run(t, "/resume nosuch"); err == nil || !strings.Contains(err.Error(), "no session nosuch") {
		t.Error(err)
	}
}

func TestModel(t *testing.T) {
	s := sitting(t, &reviewer{})
	r, err := s.run(t, "/model")
	if err != nil || r.Pick == nil || len(r.Pick.Items) != 1 || r.Pick.Items[0].ID != s.App.Info().Name || r.Pick.Items[0].Detail != "now" {
		t.Errorf("%+v, %v", r, err)
	}
	if out := s.text(t, "/model ollama/m"); !strings.HasPrefix(out, "Model: ollama/m") || s.App.Info().Name != "ollama/m" {
		t.Errorf("%q, %+v", out, s.App.Info())
	}
	for _, wrong := range []string{"m", "nowhere/m", "script:/no/such/file"} {
		if _, err := s.run(t, "/model "+wrong); err == nil || s.App.Info().Name != "ollama/m" {
			t.Errorf("%s: %v, %+v", wrong, err, s.App.Info())
		}
	}
}

func TestModelsEffort(t *testing.T) {
	s := sitting(t, &reviewer{})
	if _, err := s.run(t, "/model effort=high"); err == nil || !strings.Contains(err.Error(), "no effort to change") {
		t.Errorf("of a script: %v", err)
	}
	for _, c := range []struct{ line, want, effort string }{
		{"/model ollama/m effort=high", "Model: ollama/m\n", "high"},
		{"/model effort=Low", "Model: ollama/m\nEffort: low", "low"},
		{"/model ollama/n", "Model: ollama/n", ""},
		{"/model ollama/m", "Model: ollama/m", "low"},
		{"/model effort=default", "Model: ollama/m\nEffort: default", ""},
	} {
		if out := s.text(t, c.line); !strings.HasPrefix(out, c.want) || s.App.Effort() != c.effort {
			t.Errorf("%s: %q, effort %q", c.line, out, s.App.Effort())
		}
	}
	for _, wrong := range []string{"effort=", "effort=hihg", "ollama/n effort=hihg"} {
		if _, err := s.run(t, "/model "+wrong); err == nil || !strings.Contains(err.Error(), "choose none, minimal, low") || s.App.Info().Name != "ollama/m" {
			t.Errorf("%s: %v, %+v", wrong, err, s.App.Info())
		}
	}
	for i, want := range []string{"low", "medium", "high", "", "low"} {
		if got, err := s.App.NextEffort(); got != want || err != nil || s.App.Effort() != want {
			t.Errorf("step %d: %q, %v", i, got, err)
		}
	}
}

func TestTexts(t *testing.T) {
	s := sitting(t, &reviewer{})
	for line, want := range map[string]string{"/context full": "Working directory: ", "/context": "System prompt", "/doctor": "ok      version of script:"} {
		if out := s.text(t, line); !strings.Contains(out, want) {
			t.Errorf("%s: %q", line, out)
		}
	}
	if r, err := s.run(t, "/config"); err != nil || r.Page == nil || r.Page.Doc.Len() < 20 || r.Page.Title != "Settings" {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := s.run(t, "/init"); err != nil || !strings.Contains(r.Prompt, "AGENTS.md") {
		t.Errorf("%+v, %v", r, err)
	}
	for _, line := range []string{"/ide", "/ide connect"} {
		if _, err := s.run(t, line); err == nil || !strings.Contains(err.Error(), "switched off") {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestCommandsAreComplete(t *testing.T) {
	names := map[string]bool{}
	for _, c := range (&Set{}).List() {
		if c.Name == "" || c.Help == "" || c.Run == nil || !slices.Contains(command.Groups, c.Group) || names[c.Name] {
			t.Errorf("%+v", c)
		}
		names[c.Name] = true
	}
}

// A command without arguments does nothing with some: they may be the rest of a prompt.
func TestNoArguments(t *testing.T) {
	s := sitting(t, &reviewer{})
	id := s.App.Current().ID()
	n := 0
	for _, c := range s.List() {
		if c.Args != "" {
			continue
		}
		n++
		if r, err := c.Run(t.Context(), "the cache"); err == nil || !strings.Contains(err.Error(), "/"+c.Name+" takes no arguments, so nothing was done") {
			t.Errorf("/%s: %+v, %v", c.Name, r, err)
		}
	}
	if n < 5 || s.App.Current().ID() != id {
		t.Errorf("%d commands; session %s, was %s", n, s.App.Current().ID(), id)
	}
}
