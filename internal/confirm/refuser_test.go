package confirm_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bb2d0cf4/agent/internal/confirm"
)

// hesitant is a person whose no takes a moment after it was begun.
type hesitant struct {
	*person
	begun bool
	takes time.Duration
}

func (h *hesitant) Refused(ctx context.Context, id string) (confirm.Verdict, bool) {
	if !h.begun || h.surface() != id {
		return confirm.Verdict{}, false
	}
	select {
	case <-time.After(h.takes):
		return confirm.Verdict{By: h.name, Feedback: "wait"}, true
	case <-ctx.Done():
		return confirm.Verdict{}, false
	}
}

// A no that was begun before a yes on another surface wins, if it does not take too long.
func TestBegunNoWins(t *testing.T) {
	for _, tt := range []struct {
		name  string
		begun bool
		takes time.Duration
		want  confirm.Decision
	}{
		{"begun", true, 150 * time.Millisecond, confirm.Reject},
		{"not begun", false, 0, confirm.Approve},
		{"begun and left", true, time.Hour, confirm.Approve},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				terminal, editor := &hesitant{newPerson("terminal"), tt.begun, tt.takes}, newPerson("editor")
				c := confirm.NewController(nil, terminal, editor)
				got := make(chan confirm.Verdict, 1)
				go func() {
					v, err := c.Ask(t.Context(), confirm.Request{ID: "1", Tool: "run", Subject: &confirm.Command{Line: "ls"}})
					if err != nil {
						t.Error(err)
					}
					got <- v
				}()
				synctest.Wait()
				editor.answers <- confirm.Verdict{Decision: confirm.Approve}
				if v := <-got; v.Decision != tt.want || tt.want == confirm.Reject && (v.By != "terminal" || v.Feedback != "wait") {
					t.Errorf("%+v", v)
				}
				if terminal.surface() != "" || editor.surface() != "" {
					t.Error("the question is still on a surface")
				}
			})
		})
	}
}

// leaving is a person who is detached with a no begun, or given.
type leaving struct {
	*person
	detach func()
	begun  bool
	waits  chan struct{}
}

func (l *leaving) Review(ctx context.Context, req confirm.Request) (confirm.Verdict, error) {
	if l.begun {
		return l.person.Review(ctx, req)
	}
	<-l.waits
	return confirm.Verdict{Feedback: "too late"}, nil
}

func (l *leaving) Refused(context.Context, string) (confirm.Verdict, bool) {
	l.detach()
	close(l.waits)
	synctest.Wait()
	return confirm.Verdict{Feedback: "too late"}, l.begun
}

// TestNoOfADetachedReviewer: a no that was begun before a yes, or given while it is looked for, does not count
// once its reviewer is detached.
func TestNoOfADetachedReviewer(t *testing.T) {
	for _, begun := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			terminal := newPerson("terminal")
			gone := &leaving{person: newPerson("editor"), begun: begun, waits: make(chan struct{})}
			c := confirm.NewController(nil, terminal)
			gone.detach = c.Attach(gone)
			got := ask(t.Context(), c, edit("1"))
			synctest.Wait()
			terminal.answers <- yes
			if o := <-got; o.verdict.By != "terminal" || o.verdict.Decision != confirm.Approve {
				t.Errorf("begun %v: Ask = %+v", begun, o)
			}
		})
	}
}
