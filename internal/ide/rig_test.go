package ide_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/ide"
	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/ide/lock"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a wait lasts before the test fails.
const patience = 15 * time.Second

// rig is a bridge that runs, with a terminal beside it.
type rig struct {
	*testing.T
	*ide.Bridge
	*ide.Reviewer
	*ide.View
	dir, locks, home string
	control          *confirm.Controller
	terminal         *terminal

	end func() // ends Run, and waits for it

	mu       sync.Mutex
	changed  chan struct{}
	notes    []string
	mentions []string
}

// newRig starts a bridge with a terminal, unless set makes it one without.
func newRig(t *testing.T, set func(*ide.Options)) *rig {
	t.Helper()
	dir := scratch.Dir(t, nil)
	r := &rig{T: t, dir: dir, home: t.TempDir(), changed: make(chan struct{})}
	r.locks = filepath.Join(r.home, ".agent", "ide")
	o := ide.Options{
		Search: lock.Search{
			Folder: r.locks, Home: r.home, Dir: dir,
			Env: func(string) string { return "" }, Ancestors: func() []int { return nil },
		},
		Connect: client.Options{Version: "test", Dir: dir}, Auto: true, Diffs: true,
		Tell: ide.Tell{Tabs: true, Diagnostics: true, Selection: true},
		Face: ide.Face{
			Note:    func(id, text string) { r.record(func() { r.notes = append(r.notes, text) }) },
			Mention: func(p string, a, b int) { r.record(func() { r.mentions = append(r.mentions, fmt.Sprint(p, a, b)) }) },
			Changed: func() { r.record(func() {}) },
		},
		May: func(path string) bool { return strings.HasPrefix(path, dir+string(filepath.Separator)) },
		Read: func(path string) (string, error) {
			data, err := os.ReadFile(path)
			return string(data), err
		},
	}
	if set != nil {
		set(&o)
	}
	r.Bridge = ide.New(o)
	r.Reviewer, r.View = r.Bridge.Reviewer, r.Bridge.View
	reviewers := []confirm.Reviewer{r.Reviewer}
	if !o.Unattended {
		r.terminal = newTerminal()
		reviewers = append(reviewers, r.terminal)
	}
	r.control = confirm.NewController(nil, reviewers...)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	r.end = func() {
		cancel()
		<-ended
	}
	t.Cleanup(r.end)
	go func() {
		defer close(ended)
		r.Bridge.Run(ctx)
	}()
	return r
}

func (r *rig) record(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	close(r.changed)
	r.changed = make(chan struct{})
}

// until waits for a condition on the records.
func (r *rig) until(what string, ok func() bool) {
	r.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		r.mu.Lock()
		done, changed := ok(), r.changed
		r.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-deadline.C:
			r.Fatalf("waited in vain for %s; status %+v, notes %q", what, r.Status(), r.notes)
		}
	}
}

func (r *rig) untilNote(part string) {
	r.Helper()
	r.until("the note "+part, func() bool { return len(r.notes) > 0 && strings.Contains(r.notes[len(r.notes)-1], part) })
}

func (r *rig) untilState(s ide.State) {
	r.Helper()
	r.until(fmt.Sprint("state ", s), func() bool { return r.Status().State == s })
}

// editor starts an editor that has the folder open and waits until it is linked.
func (r *rig) editor(d idetest.Dialect) *idetest.Editor {
	r.Helper()
	e := idetest.Start(r, d)
	path := e.WriteLock(r.folder(d), r.dir)
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	if err := r.Connect(ctx, path); err != nil {
		r.Fatal(err)
	}
	return e
}

// folder is where an editor writes its lock.
func (r *rig) folder(d idetest.Dialect) string {
	switch {
	case d.Ours:
		return r.locks
	case d.Flat:
		return filepath.Join(r.home, ".nexus3", "ide")
	}
	return filepath.Join(r.home, ".claude", "ide")
}

// proposal is a question about a file in the folder.
func (r *rig) proposal(before, after string) confirm.Request {
	return confirm.Request{Tool: "edit_file", Description: "I greet.", Subject: confirm.Edit(workspace.Change{
		File:  workspace.File{Path: filepath.Join(r.dir, "a.txt"), Name: "a.txt", Exists: true, Text: before},
		After: after,
	})}
}

type outcome struct {
	confirm.Verdict
	err error
}

// ask asks beside the test.
func (r *rig) ask(ctx context.Context, req confirm.Request) <-chan outcome {
	out := make(chan outcome, 1)
	go func() {
		v, err := r.control.Ask(ctx, req)
		out <- outcome{v, err}
	}()
	return out
}

// answered waits for the verdict; text is the one to be written.
func (r *rig) answered(got <-chan outcome, req confirm.Request) (o outcome, text string) {
	r.Helper()
	select {
	case o = <-got:
	case <-time.After(patience):
		r.Fatal("no verdict")
	}
	if o.Decision == confirm.Approve {
		text = req.File().After
		if o.Edited() != nil {
			text = *o.Edited()
		}
	}
	return o, text
}

// terminal is a person at the terminal, who gives the answers sent to it.
type terminal struct {
	answers chan confirm.Verdict
	shown   chan confirm.Request
}

func newTerminal() *terminal {
	return &terminal{answers: make(chan confirm.Verdict), shown: make(chan confirm.Request, 1024)}
}

func (t *terminal) Review(ctx context.Context, req confirm.Request) (confirm.Verdict, error) {
	t.shown <- req
	select {
	case v := <-t.answers:
		v.By = "terminal"
		return v, nil
	case <-ctx.Done():
		return confirm.Verdict{}, ctx.Err()
	}
}

var yes = confirm.Verdict{Decision: confirm.Approve}
