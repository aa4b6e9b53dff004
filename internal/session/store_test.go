package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/session/archive"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/tools"
)

func newStore(t testing.TB, a *archive.Archive) *archive.Store {
	t.Helper()
	s := a.Create("/src/project", "test/model")
	t.Cleanup(func() { s.Close() })
	return s
}

func reopen(t testing.TB, a *archive.Archive, id string) *archive.Store {
	t.Helper()
	s, err := a.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestDamageIsContinued checks that a result lost in a damaged file is reported as
// lost.
func TestDamageIsContinued(t *testing.T) {
	home := t.TempDir()
	a := archive.New(home)
	s := newStore(t, a)
	r := newRig(t, Options{Store: s}, say("", call("a", "read", "{}"), call("b", "read", "{}")), say("one"))
	if err := errors.Join(r.Run(t.Context(), "go"), s.Close()); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(home, "sessions", "*", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(data, []byte("content of a"))
	data[at] ^= 1
	scratch.Write(t, files[0], string(data))
	r = newRig(t, Options{Store: reopen(t, a, s.ID())}, say("fine"))
	if err := r.Run(t.Context(), "go on"); err != nil {
		t.Fatal(err)
	}
	if got := r.model.last()[2].Text(); got != history.Interrupted {
		t.Errorf("the lost result is %q", got)
	}
	if n := eventsOf[Notice](r); len(n) != 2 {
		t.Errorf("notices %+v", n)
	}
}

// brittle is a store whose writes fail for a while.
type brittle struct {
	store
	broken bool
}

func (b *brittle) Append(entries ...history.Entry) error {
	if b.broken {
		return errors.New("no space left on device")
	}
	return b.store.Append(entries...)
}

func (b *brittle) Close() error {
	if b.broken {
		return errors.New("no space left on device")
	}
	return b.store.Close()
}

// TestFailedWritesAreReportedOnce also checks that the user learns when saving works
// again.
func TestFailedWritesAreReportedOnce(t *testing.T) {
	s := newStore(t, archive.New(t.TempDir()))
	r := newRig(t, Options{Store: s}, say("one"), say("two"), say("three"), say("four"))
	b := &brittle{store: r.saver.store}
	r.saver.store = b
	for i, broken := range []bool{false, true, true, false} {
		b.broken = broken
		if err := r.Run(t.Context(), fmt.Sprint("prompt ", i)); err != nil {
			t.Fatal(err)
		}
	}
	n := eventsOf[Notice](r)
	if len(n) < 2 || !strings.Contains(n[0].Text, "not being saved") || !strings.Contains(n[len(n)-1].Text, "saved again") {
		t.Fatalf("notices %+v", n)
	}
}

// TestStoreCannotBeMade checks that the conversation goes on without being saved.
func TestStoreCannotBeMade(t *testing.T) {
	home := t.TempDir()
	scratch.Write(t, filepath.Join(home, "sessions"), "")
	r := newRig(t, Options{Store: newStore(t, archive.New(home))}, say("one"))
	if err := r.Run(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	want := []Notice{{Text: "This session is not being saved: not a directory. Every step tries again."}}
	if d := cmp.Diff(want, eventsOf[Notice](r)); runtime.GOOS != "windows" && d != "" {
		t.Error(d)
	}
}

// TestCrashIsContinued drops a loop in the middle of a batch, as a crash does.
func TestCrashIsContinued(t *testing.T) {
	home := t.TempDir()
	a := archive.New(home)
	s := newStore(t, a)
	r := newRig(t, Options{Store: s}, say("", call("a", "read", "{}"), call("b", "die", "{}"), call("c", "read", "{}")))
	r.tools.tools["die"] = func(context.Context, tools.Call) (tools.Result, error) {
		runtime.Goexit()
		return tools.Result{}, nil
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Run(t.Context(), "go") // never returns
	}()
	<-done
	id, copied := s.ID(), t.TempDir() // the crashed process holds the lock of the original
	if err := os.CopyFS(copied, os.DirFS(home)); err != nil {
		t.Fatal(err)
	}
	a = archive.New(copied)
	for range 2 { // the second time nothing is left to repair
		s := reopen(t, a, id)
		r := newRig(t, Options{Store: s}, say("fine"))
		wantChat(t, r.Messages()[:5], "user: go", "assistant:  a=read{} b=die{} c=read{}",
			"tool a: content of a", "tool b: "+history.Interrupted, "tool c: "+history.Interrupted)
		if err := r.Run(t.Context(), "go on"); err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
	_, c, err := a.Read(id)
	if err != nil || len(c.Messages()) != 9 {
		t.Errorf("%d messages, %v", len(c.Messages()), err)
	}
}

func TestUseAnotherSession(t *testing.T) {
	a := archive.New(t.TempDir())
	first := newStore(t, a)
	r := newRig(t, Options{Store: first}, say("one"), say("two"), say("three"))
	if err := r.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	second := newStore(t, a)
	if err := r.Use(second); err != nil {
		t.Fatal(err)
	}
	if len(r.Messages()) != 0 || r.account.used() != (llm.Usage{}) {
		t.Errorf("the new session is not empty: %v", r.Messages())
	}
	if err := r.Run(t.Context(), "anew"); err != nil {
		t.Fatal(err)
	}
	if err := r.Use(reopen(t, a, first.ID())); err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context(), "go on"); err != nil {
		t.Fatal(err)
	}
	wantChat(t, r.Messages(), "user: go", "assistant: one", "user: go on", "assistant: three")
	if got := r.account.used().Input; got != 20 {
		t.Errorf("usage %d, want that of both turns", got)
	}
}

// An error with the session that is left must not leave the program between two
// sessions.
func TestUseAnotherSessionAfterAFault(t *testing.T) {
	a := archive.New(t.TempDir())
	first := newStore(t, a)
	r := newRig(t, Options{Store: first}, say("one"), say("two"))
	if err := r.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	r.saver.store = &brittle{store: first, broken: true}
	second := newStore(t, a)
	if err := r.Use(second); err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context(), "anew"); err != nil {
		t.Fatal(err)
	}
	notes := eventsOf[Notice](r)
	if len(notes) != 1 || !strings.Contains(notes[0].Text, "not completely saved") {
		t.Errorf("notices %+v", notes)
	}
	if _, c, err := a.Read(second.ID()); err != nil || len(c.Messages()) != 2 {
		t.Errorf("%d messages, %v", len(c.Messages()), err)
	}
}

// A choice of effort holds from the next turn on, and the session keeps it per model.
func TestEffortOfASession(t *testing.T) {
	a := archive.New(t.TempDir())
	s := newStore(t, a)
	effort := "low"
	r := newRig(t, Options{Store: s, Effort: func() string { return effort }},
		say("", call("a", "change", "{}")), say("one"), say("two"), say("three"))
	r.tools.tools["change"] = func(context.Context, tools.Call) (tools.Result, error) {
		effort = "high" // the user changes it during the turn
		return tools.Result{ForModel: "done"}, nil
	}
	var saved []string
	for _, prompt := range []string{"go", "on", "default"} {
		if prompt == "default" {
			effort = ""
		}
		if err := r.Run(t.Context(), prompt); err != nil {
			t.Fatal(err)
		}
		_, c, err := a.Read(s.ID())
		if err != nil {
			t.Fatal(err)
		}
		saved = append(saved, c.Efforts["test/model"])
	}
	var sent []string
	for _, req := range r.model.requests {
		sent = append(sent, req.Effort)
	}
	if d := cmp.Diff([]string{"low", "low", "high", ""}, sent); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"high", "high", ""}, saved); d != "" {
		t.Error(d)
	}
}
