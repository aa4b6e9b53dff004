package ide_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
)

// TestSilentEditor: a connection that another session has taken over stays open and
// never answers. A note warns of it, and the terminal answers.
func TestSilentEditor(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Emacs())
	thief := newRig(t, nil)
	if err := thief.Connect(t.Context(), e.WriteLock(thief.folder(e.Dialect), thief.dir)); err != nil {
		t.Fatal(err)
	}
	req := r.proposal("old\n", "new\n")
	got := r.ask(t.Context(), req)
	r.untilNote("Emacs does not answer: answer here")
	r.terminal.answers <- yes
	if o, text := r.answered(got, req); o.By != "terminal" || text != "new\n" {
		t.Errorf("%+v with %q", o, text)
	}
}

// TestLostIsNotSilent: an editor that goes while it is asked whether it answers is lost,
// whichever of the two is noticed first.
func TestLostIsNotSilent(t *testing.T) {
	t.Parallel()
	for range stress.Size(5, 200) {
		r := newRig(t, nil)
		e := r.editor(idetest.Ours())
		var cut sync.Once
		e.Handle("ping", func(c *idetest.Conn, _ json.RawMessage) idetest.Reply {
			cut.Do(func() {
				go e.Stop() // which waits for this
				c.Cut()
			})
			return idetest.Reply{Silent: true}
		})
		ctx, cancel := context.WithCancel(t.Context())
		got := r.ask(ctx, r.proposal("old\n", "new\n"))
		r.untilNote("is lost: answer here")
		cancel()
		r.answered(got, confirm.Request{})
		r.end()
		if notes := strings.Join(r.notes, "\n"); strings.Contains(notes, "does not answer") || !strings.HasSuffix(notes, "is lost: answer here") {
			t.Fatalf("the notes are\n%s", notes)
		}
	}
}
