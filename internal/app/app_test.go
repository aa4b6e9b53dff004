package app

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/app/home"
	"github.com/bb2d0cf4/agent/internal/app/provider"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/confirm"
	modelcontext "github.com/bb2d0cf4/agent/internal/context"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// script answers every prompt.
const script = "turns: [{text: Hello.}]\nloop: true\n"

func newApp(t *testing.T) *App {
	t.Helper()
	return newAppIn(t, t.TempDir(), filepath.Join(t.TempDir(), "home"), config.Overrides{"ide.enabled": "false"})
}

func newAppIn(t *testing.T, dir, agentHome string, over config.Overrides) *App {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.yaml")
	scratch.Write(t, file, script)
	over["model"] = "script:" + file
	cfg, err := config.LoadFrom(agentHome, over)
	if err != nil {
		t.Fatal(err)
	}
	model, err := cfg.Lookup(cfg.Model)
	if err != nil {
		t.Fatal(err)
	}
	kept := archive.New(cfg.Home)
	a, err := New(Options{
		Setup: setup.Trusting(cfg), Place: Place{Dir: dir, Archive: kept, Store: kept.Create(dir, model.Ref)}, Model: model,
	})
	if err != nil {
		t.Fatal(err)
	}
	a.Attach(Face{Emit: func(session.Event) {}})
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func TestTheSessionInUse(t *testing.T) {
	a := newApp(t)
	if err := a.Run(t.Context(), "hi"); err != nil {
		t.Fatal(err)
	}
	first := a.Current().ID()
	if n := len(a.Messages()); n != 2 {
		t.Errorf("%d messages", n)
	}
	a.Policy.Grant(confirm.Request{Tool: "edit_file", Subject: &confirm.Read{Path: "/x"}})
	if err := a.Use(a.Archive.Create(a.Dir, a.Info().Name)); err != nil {
		t.Fatal(err)
	}
	if a.Current().ID() == first || len(a.Messages()) != 0 || len(a.Policy.Grants()) != 0 {
		t.Errorf("%s goes on: %d messages, %d grants", first, len(a.Messages()), len(a.Policy.Grants()))
	}
}

// TestTheEditorKnowsTheSessionInUse: also after /clear and /resume.
func TestTheEditorKnowsTheSessionInUse(t *testing.T) {
	t.Setenv("AGENT_IDE_PORT", "")
	t.Setenv("AGENT_IDE_LOCK", "")
	agentHome, dir := filepath.Join(t.TempDir(), "home"), t.TempDir()
	editor := idetest.Start(t, idetest.Ours())
	editor.WriteLock(filepath.Join(agentHome, "ide"), dir)
	a := newAppIn(t, dir, agentHome, config.Overrides{})
	a.Start(t.Context())
	editor.WaitRequests("ide_connected", 1)
	next := a.Archive.Create(a.Dir, a.Info().Name)
	if err := a.Use(next); err != nil {
		t.Fatal(err)
	}
	var told struct{ SessionID string }
	if err := json.Unmarshal(editor.WaitRequests("ide_connected", 2)[1].Params, &told); err != nil || told.SessionID != next.ID() {
		t.Errorf("the editor was told %q of %q, %v", told.SessionID, next.ID(), err)
	}
}

// TestLongOutputsOfTheSessionInUseCanBeRead: the model is told of files in that folder.
func TestLongOutputsOfTheSessionInUseCanBeRead(t *testing.T) {
	a := newApp(t)
	long := func(id string) string {
		t.Helper()
		file := filepath.Join(home.SpillDir(a.Config.Home, id), "long.txt")
		scratch.Write(t, file, "long")
		return file
	}
	store := a.Archive.Create(a.Dir, a.Info().Name)
	if _, err := a.Root.Read(long(store.ID())); err == nil {
		t.Error("the output of another session was read")
	}
	if _, err := a.Root.Read(long(a.Current().ID())); err != nil {
		t.Error(err)
	}
	if err := a.Use(store); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Root.Read(long(store.ID())); err != nil {
		t.Error(err)
	}
}

// TestWhatTheUserDidIsToldLater: changes that the user made before the program ended go
// with the next prompt of the resumed session.
func TestWhatTheUserDidIsToldLater(t *testing.T) {
	a := newApp(t)
	first := a.Current().ID()
	if err := a.Run(t.Context(), "hi"); err != nil {
		t.Fatal(err)
	}
	if err := a.Shell(t.Context(), "exit 3"); err != nil {
		t.Fatal(err)
	}
	if err := a.Use(a.Archive.Create(a.Dir, a.Info().Name)); err != nil {
		t.Fatal(err)
	}
	if got := a.Remarks.Take(); got != "" {
		t.Errorf("another session is told %q", got)
	}
	store, err := a.Archive.Open(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Use(store); err != nil {
		t.Fatal(err)
	}
	if got := a.Remarks.Take(); !strings.HasPrefix(got, "Since then, without you: Run exit 3: exit 3") || !strings.Contains(got, ", run by the user\n") {
		t.Errorf("told %q", got)
	}
}

// TestTheModelCanReadWhatACompactionShortens, also in a session that was continued.
func TestTheModelCanReadWhatACompactionShortens(t *testing.T) {
	a := newApp(t)
	first := a.Current().ID()
	if err := a.Run(t.Context(), strings.Repeat("a long prompt ", 500)); err != nil {
		t.Fatal(err)
	}
	line := ": " + strings.Repeat("word ", 1000) + "THE-END"
	if err := a.Shell(t.Context(), line); err != nil {
		t.Fatal(err)
	}
	if err := a.Run(t.Context(), strings.Repeat("a long prompt ", 500)); err != nil {
		t.Fatal(err)
	}
	if err := a.Loop.Compact(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	read := func() {
		t.Helper()
		_, rest, _ := strings.Cut(a.Loop.Compacted(), "stands word for word in ")
		file, _, _ := strings.Cut(rest, ": look there")
		held, err := a.Root.Read(file)
		if err != nil || !strings.Contains(strings.ReplaceAll(held.Text, " [the line continues]\n", ""), "- Run "+line+": exit 0") {
			t.Errorf("%q holds %q, %v\n%s", file, held.Text, err, a.Loop.Compacted())
		}
		if err := os.Remove(file); err != nil { // as time does
			t.Error(err)
		}
	}
	read()
	if err := a.Use(a.Archive.Create(a.Dir, a.Info().Name)); err != nil {
		t.Fatal(err)
	}
	for _, open := range []func() (*archive.Store, error){
		func() (*archive.Store, error) { return a.Archive.Open(first) },
		func() (*archive.Store, error) { return a.Archive.Fork(first, "a fork") },
	} {
		store, err := open()
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Use(store); err != nil {
			t.Fatal(err)
		}
		read()
	}
}

func TestModels(t *testing.T) {
	a := newApp(t)
	before := a.Info().Name
	if names, err := a.Models(t.Context()); err != nil || len(names) != 1 || names[0].Ref != before {
		t.Errorf("%q, %v", names, err)
	}
	if _, err := a.SetModel(t.Context(), "nowhere/m"); err == nil || a.Info().Name != before {
		t.Errorf("%v, %s", err, a.Info().Name)
	}
	if _, err := a.SetModel(t.Context(), "ollama/m"); err != nil || a.Info().Name != "ollama/m" {
		t.Errorf("%v, %s", err, a.Info().Name)
	}
}

func TestMissingFolder(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	cfg, err := config.LoadFrom(t.TempDir(), config.Overrides{"model": "ollama/m"})
	if err != nil {
		t.Fatal(err)
	}
	model, err := cfg.Lookup(cfg.Model)
	if err != nil {
		t.Fatal(err)
	}
	place := Place{Dir: missing, Store: archive.New(t.TempDir()).Create(missing, "m")}
	_, err = New(Options{Setup: setup.Trusting(cfg), Place: place, Model: model})
	if err == nil || !strings.Contains(err.Error(), missing) {
		t.Error(err)
	}
}

// A model with a small context is judged by the real size of the first request.
func TestOverhead(t *testing.T) {
	a := newApp(t)
	fill := a.Loop.Fill()
	got := float64(len(a.Context.Parts(t.Context()).Rules))*fill.PerByte + float64(fill.Tools)
	if got < 0.75*provider.Overhead || got > 1.25*provider.Overhead {
		t.Errorf("%.0f tokens, and people are told that it is %d", got, provider.Overhead)
	}
}

// The editor's state goes with the last result of a batch, and
// only when it has changed.
func TestTheEditorsStateFollowsABatch(t *testing.T) {
	a := newAppIn(t, t.TempDir(), filepath.Join(t.TempDir(), "home"), config.Overrides{"ide.auto_connect": "false"})
	open := &states{now: editor.State{Name: "X", Tabs: []editor.Tab{{Path: "/a"}}}}
	a.Context = modelcontext.New(modelcontext.Options{Dir: a.Root.Dir(), Editor: open, Place: modelcontext.AtStart})
	set := a.newTools(nil, Options{})
	call := func(index int) string {
		t.Helper()
		res, err := set.Call(t.Context(), "list_files", tools.Call{Args: json.RawMessage(`{}`), Batch: confirm.Batch{Index: index, Total: 2}})
		if err != nil {
			t.Fatal(err)
		}
		return res.ForModel
	}
	const block = "IDE connected: X\n  Open tabs: /a"
	if got := a.system(t.Context()); !strings.HasSuffix(got, "\n"+block+"\n") {
		t.Errorf("as the session begins: %q", got)
	}
	if got := call(1); strings.Contains(got, "IDE") {
		t.Errorf("unchanged: %q", got)
	}
	open.now.Name = "Y"
	if got := call(0); strings.Contains(got, "IDE") {
		t.Errorf("in the middle of a batch: %q", got)
	}
	if got := call(1); !strings.HasSuffix(got, "\n\n[IDE connected: Y\n  Open tabs: /a]") {
		t.Errorf("after the batch: %q", got)
	}
	if got := a.system(t.Context()); !strings.HasSuffix(got, "\n"+block+"\n") {
		t.Errorf("the prompt changed: %q", got)
	}
	if err := a.Use(a.Archive.Create(a.Dir, "m")); err != nil {
		t.Fatal(err)
	}
	if got := a.system(t.Context()); !strings.HasSuffix(got, "IDE connected: Y\n  Open tabs: /a\n") {
		t.Errorf("in another session: %q", got)
	}
}

// states is an editor whose state a test sets.
type states struct{ now editor.State }

func (s *states) State(context.Context) editor.State { return s.now }
