//go:build unix

package repl

import (
	"context"
	"math/rand/v2"
	"os/exec"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/repl/desktop"
	"github.com/bb2d0cf4/agent/internal/repl/jobcontrol"
	"github.com/bb2d0cf4/agent/internal/repl/screen"
	"github.com/bb2d0cf4/agent/internal/repl/stream"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// slow is an editor that gives up a question once it may.
type slow struct{ may chan struct{} }

func (s slow) Claim(context.Context, string) (string, bool) { <-s.may; return "", false }
func (slow) Release(context.Context, string, string)        {}
func (slow) Show(context.Context, string) error             { return nil }

// asked returns a typist before a question about an edit that accepts keys. opened counts the
// starts of $EDITOR.
func asked(t *testing.T, elsewhere Surfaces) (p *typist, q *question, opened *int) {
	t.Helper()
	term := ptytest.New(t, vt.Options{Width: 80, Height: 24})
	env := []string{"TERM=xterm-256color"}
	scr, err := screen.Open(screen.Options{In: term.TTY(), Out: term.TTY(), Env: env})
	if err != nil {
		t.Fatal(err)
	}
	u := New(Options{Terminal: Terminal{In: term.TTY(), Out: term.TTY(), Env: env, Theme: "none"}})
	around := window{scr, desktop.New(desktop.Options{}), jobcontrol.Catch(), u.opt.Now}
	t.Cleanup(func() { around.sigs.Release(); scr.Close() })
	m := u.newModel(around, nil, func(f func(context.Context)) context.CancelFunc { go f(t.Context()); return func() {} })
	p, opened = newTypist(t, m, rand.New(rand.NewPCG(1, 13)), map[string]int{}), new(int)
	m.ask.opt.Surfaces = elsewhere
	m.ask.opt.Editor = func(_, text string) (*exec.Cmd, func() (string, error), error) {
		*opened++
		return exec.Command("true"), func() (string, error) { return text, nil }, nil
	}
	q = &question{answer: make(chan confirm.Verdict, 1), gone: make(chan struct{}), req: confirm.Request{ID: "q", Tool: "edit_file", Subject: confirm.Edit(workspace.Change{
		File: workspace.File{Name: "a.txt", Exists: true, Text: "one\n"}, After: "two\n",
	})}}
	p.update(armedMsg{})
	p.update(stream.Update{Items: []any{q}})
	for range 20 {
		p.now = p.now.Add(300 * time.Millisecond)
		p.update(armedMsg{})
	}
	m.show()
	return p, q, opened
}

// TestEditTwice: a second e, while the editor has not given up its diff yet, does nothing.
func TestEditTwice(t *testing.T) {
	t.Parallel()
	elsewhere := slow{make(chan struct{})}
	p, _, opened := asked(t, elsewhere)
	press := func() tea.Cmd {
		p.m.update(letter('e'))
		p.now = p.now.Add(700 * time.Millisecond)
		return p.m.update(aloneMsg{})
	}
	first := press()
	second := press()
	close(elsewhere.may)
	claims := 0
	for _, cmd := range []tea.Cmd{first, second} {
		for _, msg := range messages(cmd) {
			if c, ok := msg.(claimedMsg); ok {
				claims++
				p.m.update(c)
			}
		}
	}
	if claims != 1 || *opened != 1 {
		t.Errorf("%d claims, $EDITOR is started %d times", claims, *opened)
	}
	if p.m.ask.claiming != nil {
		t.Error("a later e would do nothing")
	}
}

// TestEditedTextOfAQuestionThatIsGone comes to the prompt.
func TestEditedTextOfAQuestionThatIsGone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"mine\n": "mine\n", "two\n": ""} {
		p, q, _ := asked(t, nil)
		panel := p.m.ask.panel
		p.update(stream.Update{Items: []any{withdraw{q}}})
		p.update(editedMsg{panel: panel, text: text})
		if got := p.m.ed.Text(); got != want {
			t.Errorf("%q in $EDITOR leaves %q at the prompt", text, got)
		}
	}
}

// messages returns the messages of cmd, which may be a batch or nil.
func messages(cmd tea.Cmd) (all []tea.Msg) {
	if cmd == nil {
		return nil
	}
	msg := cmd()
	batch, ok := msg.(tea.BatchMsg)
	if !ok {
		return []tea.Msg{msg}
	}
	for _, c := range batch {
		all = append(all, messages(c)...)
	}
	return all
}
