package idelink

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/ide"
	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/ide/lock"
	"github.com/bb2d0cf4/agent/internal/tools"
	"github.com/bb2d0cf4/agent/internal/tools/access"
	"github.com/bb2d0cf4/agent/internal/tools/change"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// scene is a folder, a link to the editors that have it open, and the texts put into
// the prompt.
type scene struct {
	*testing.T
	*Link
	dir  string
	cfg  config.Config
	root *workspace.Root

	mu     sync.Mutex
	inputs []string
}

func newScene(t *testing.T, over config.Overrides) *scene {
	t.Helper()
	home := t.TempDir()
	scratch.SetHome(t, home)
	for _, name := range []string{"AGENT_IDE_PORT", "AGENT_IDE_LOCK", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME"} {
		t.Setenv(name, "")
	}
	cfg, err := config.LoadFrom(filepath.Join(home, ".agent"), over)
	if err != nil {
		t.Fatal(err)
	}
	dir := scratch.Dir(t, nil)
	scratch.Write(t, filepath.Join(dir, "a.txt"), "one\ntwo\nthree\n")
	root, err := workspace.Open(dir, workspace.Options{Home: cfg.Home})
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{T: t, dir: dir, cfg: cfg, root: root}
	s.Link = New(Options{Config: cfg, Root: root, Version: "test"})
	s.Attach(Face{Insert: func(text string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.inputs = append(s.inputs, text)
	}})
	end := s.Start(t.Context())
	t.Cleanup(func() {
		end()
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// editor starts an editor that has the folder open and links it.
func (s *scene) editor(set func(*idetest.Editor)) *idetest.Editor {
	s.Helper()
	e := idetest.Start(s, idetest.Ours())
	if set != nil {
		set(e)
	}
	e.WriteLock(filepath.Join(s.cfg.Home, "ide"), s.dir)
	if text, err := s.Command(s.Context(), "connect"); err != nil || !strings.Contains(text, "Linked to Visual Studio Code") {
		s.Fatalf("%q, %v", text, err)
	}
	return e
}

func (s *scene) file() string { return filepath.Join(s.dir, "a.txt") }

// tools returns tools with access to the editor.
func (s *scene) tools() *tools.Set {
	s.Helper()
	jobs := shell.NewJobs()
	s.Cleanup(func() {
		if err := jobs.Close(); err != nil {
			s.Error(err)
		}
	})
	return tools.NewSet(s.Equip(tools.Deps{
		Deps: change.Deps{Files: access.Files{Root: s.root}, Ask: confirm.NewController(nil)}, Shell: tools.Shell{Jobs: jobs},
	}))
}

// selects makes the editor report a selection, and waits until the link has it.
func (s *scene) selects(e *idetest.Editor, path, text string, line int) {
	s.Helper()
	s.until("the selection", func() bool {
		at := func(l int) map[string]any { return map[string]any{"line": l, "character": 0} }
		e.Notify("selection_changed", map[string]any{
			"filePath": path, "text": text, "selection": map[string]any{"start": at(line - 1), "end": at(line)},
		})
		sel := s.View.Selection()
		return sel != nil && sel.Text == text
	})
}

// until polls, as the link sends no event for this.
func (s *scene) until(what string, ok func() bool) {
	s.Helper()
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			s.Fatal("waited in vain for " + what)
		}
	}
}

func TestSelectionInAPrompt(t *testing.T) {
	s := newScene(t, nil)
	set := s.tools()
	say := func(text string) string { return text + s.Expand(t.Context(), text, set) }
	if got := say("explain @selection"); got != "explain @selection\n\n(Nothing is selected in the editor.)" {
		t.Errorf("without an editor: %q", got)
	}
	e := s.editor(nil)
	s.selects(e, s.file(), "two\n```\n", 2)
	want := "explain @selection\n\n@selection is a.txt:2:\n````\ntwo\n```\n````"
	if got := say("explain @selection"); got != want {
		t.Errorf("got %q", got)
	}
	for _, plain := range []string{"explain", "mail me@selection.org", "@selections"} {
		if got := say(plain); got != plain {
			t.Errorf("%q became %q", plain, got)
		}
	}
	s.selects(e, s.file(), strings.Repeat("long ", 10_000), 1)
	if got := say("@selection"); len(got) > maxSelected+200 || !strings.Contains(got, "its first 16 KiB") {
		t.Errorf("%d bytes of a long selection", len(got))
	}
	if got := s.Footer(); got != "Visual Studio Code: a.txt:1" {
		t.Errorf("status line %q", got)
	}
	if got := s.Named(); len(got) != 2 {
		t.Errorf("completes %q", got)
	}
}

// TestFilesOutside: neither the model nor the status line mentions them.
func TestFilesOutside(t *testing.T) {
	s := newScene(t, nil)
	e := s.editor(func(e *idetest.Editor) { e.World.Open("/etc/passwd", idetest.Document{Active: true}) })
	s.selects(e, s.file(), "two", 2)
	e.Notify("selection_changed", map[string]any{"filePath": "/etc/passwd", "text": "root", "selection": map[string]any{
		"start": map[string]any{"line": 0, "character": 0}, "end": map[string]any{"line": 0, "character": 4},
	}})
	s.until("the other selection", func() bool { return s.View.Selection() == nil })
	if got := s.Footer(); got != "Visual Studio Code" {
		t.Errorf("status line %q", got)
	}
	if got := s.View.State(t.Context()); len(got.Tabs) != 0 || got.Selection != nil {
		t.Errorf("%+v", got)
	}
}

func TestMention(t *testing.T) {
	s := newScene(t, nil)
	e := s.editor(nil)
	e.Notify("at_mentioned", map[string]any{"filePath": s.file(), "lineStart": 0, "lineEnd": 1})
	e.Notify("at_mentioned", map[string]any{"filePath": s.file()})
	folder := filepath.Join(s.root.Dir(), "sub")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	e.Notify("at_mentioned", map[string]any{"filePath": folder + "/"})
	want := []string{"@a.txt#L1-2", "@a.txt", "@sub/"}
	s.until("three mentions", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return slices.Equal(s.inputs, want)
	})
}

// TestSwitchedOff: a link that is switched off looks for no editor, asks none and has
// nothing to report, although one runs.
func TestSwitchedOff(t *testing.T) {
	s := newScene(t, config.Overrides{"ide.enabled": "false", "ide.context": "message"})
	e := idetest.Start(t, idetest.Ours())
	e.WriteLock(filepath.Join(s.cfg.Home, "ide"), s.dir)
	s.Reviewer.Release(t.Context(), "q", "")
	if text, edited := s.Reviewer.Claim(t.Context(), "q"); text != "" || edited {
		t.Error("claimed")
	}
	if err := s.Reviewer.Show(t.Context(), "q"); err == nil || s.Reviewer.Shows() != "" {
		t.Error("shows a question")
	}
	if _, err := s.Command(t.Context(), ""); !errors.Is(err, errOff) {
		t.Errorf("/ide: %v", err)
	}
	if s.Choices(t.Context()) != nil || s.Footer() != "" || s.Wait(t.Context()) != "" || s.Named() != nil {
		t.Error("it reports something")
	}
	questions := confirm.NewController(nil)
	s.Review(questions)
	if v, err := questions.Ask(t.Context(), confirm.Request{Tool: "x"}); err != nil || !v.Unasked {
		t.Errorf("asked: %+v, %v", v, err)
	}
	if _, unsaved := s.View.Unsaved(t.Context(), s.file()); unsaved {
		t.Error("a file is unsaved")
	}
	if got := s.Expand(t.Context(), "@selection", s.tools()); got != "" {
		t.Errorf("prompt %q", got)
	}
	if a, r := e.Handshakes(); a+r != 0 {
		t.Error("the editor was connected")
	}
}

func TestCommand(t *testing.T) {
	s := newScene(t, config.Overrides{"ide.auto_connect": "false"})
	for args, want := range map[string]string{"": "No editor connected", "status": "No editor connected", "what": Usage, "disconnect": "Disconnected"} {
		if got, err := s.Command(t.Context(), args); err != nil || !strings.Contains(got, want) {
			t.Errorf("/ide %s: %q, %v", args, got, err)
		}
	}
	for args, want := range map[string]string{"connect": ide.ErrNoEditor.Error(), "connect 7": "there is no editor 7"} {
		if _, err := s.Command(t.Context(), args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("/ide %s: %v", args, err)
		}
	}
	e := s.editor(nil)
	got, err := s.Command(t.Context(), "")
	for _, want := range []string{"Linked to Visual Studio Code", s.dir, "agent-ide 1.2.3", "openDiff", "linked"} {
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("/ide does not say %q: %q, %v", want, got, err)
		}
	}
	if all := s.Choices(t.Context()); len(all) != 1 || !strings.Contains(all[0].Title, "Visual Studio Code") {
		t.Errorf("%+v", all)
	}
	if strings.Contains(got, e.Token()) {
		t.Error("the token is shown")
	}
}

func TestDescribeIsComplete(t *testing.T) {
	found := []lock.Candidate{
		{Path: "a", Port: 1, Folder: "/p", File: lock.File{Name: "Code"}},
		{Path: "b", Port: 2, File: lock.File{}, Why: "it does not answer"},
	}
	want := "Connecting …\nEditors:\n  1  Code (port 1) · /p · would be chosen\n  2  unnamed editor (port 2) · no folder · it does not answer\n"
	if got := Describe(ide.Status{State: ide.Connecting}, found); got != want {
		t.Errorf("got %q", got)
	}
}

// TestHostileNames: names that an editor sends stay on their line, and their escapes are
// not printed.
func TestHostileNames(t *testing.T) {
	evil := "Code\n  2  Trusted (port 1) · /p · would be chosen\r\x1b[2J\u202e"
	c := lock.Candidate{Path: "a", Port: 1, Folder: "/p" + evil, File: lock.File{Name: evil}, Why: evil, Notes: []string{evil}}
	other := lock.Candidate{Path: "b", Port: 2, File: lock.File{Name: evil, Folders: []string{evil, evil}}}
	s := ide.Status{State: ide.Connected, Editor: c, Info: client.Info{Plugin: evil, Version: evil, Tools: []string{evil, "openDiff"}}}
	for name, tt := range map[string]struct {
		text string
		rows int
	}{
		"linked":   {Describe(s, []lock.Candidate{c, other}), 8},
		"looking":  {Describe(ide.Status{State: ide.Looking, Why: evil}, nil), 1},
		"a choice": {Title(c) + folders(other) + "\n", 1},
	} {
		if rows := strings.Count(tt.text, "\n"); rows != tt.rows || strings.ContainsAny(tt.text, "\x1b\r\u202e") {
			t.Errorf("%s: %d rows, want %d: %q", name, rows, tt.rows, tt.text)
		}
	}
}

// TestView: the tools read the editor's state through the link's view.
func TestView(t *testing.T) {
	s := newScene(t, nil)
	if _, _, err := s.View.Report(t.Context(), s.file(), 0); !errors.Is(err, editor.ErrNone) {
		t.Errorf("without an editor: %v", err)
	}
	s.editor(func(e *idetest.Editor) {
		e.World.Find(true, idetest.Finding{Path: s.file(), Line: 2, Column: 1, Severity: "Error", Message: "bad"})
	})
	found, _, err := s.View.Report(t.Context(), s.file(), 0)
	if err != nil || len(found) != 1 || found[0].Line != 2 {
		t.Errorf("%+v, %v", found, err)
	}
}

// @diagnostics inserts the result of the model's own tool, once.
func TestDiagnosticsInAPrompt(t *testing.T) {
	s := newScene(t, nil)
	set := s.tools()
	if got := s.Expand(t.Context(), "mend @diagnostics", set); got != "\n\n@diagnostics of the editor:\nno editor connected" {
		t.Errorf("without an editor: %q", got)
	}
	s.editor(func(e *idetest.Editor) {
		e.World.Find(true, idetest.Finding{Path: s.file(), Line: 2, Column: 1, Severity: "Error", Message: "unused"})
	})
	got := s.Expand(t.Context(), "mend @diagnostics, all @diagnostics", set)
	if !strings.Contains(got, "a.txt:2 — unused") || strings.Count(got, "of the editor") != 1 {
		t.Errorf("got %q", got)
	}
}
