package confirm_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
)

func TestAttachedReviewerIsShownTheStandingQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		terminal, editor := newPerson("terminal"), newPerson("editor")
		c := confirm.NewController(nil, terminal)
		got := ask(t.Context(), c, edit("1"))
		synctest.Wait()
		detach := c.Attach(editor)
		defer detach()
		synctest.Wait()
		if editor.surface() != "1" {
			t.Fatalf("the editor shows %q", editor.surface())
		}
		editor.answers <- yes
		if o := <-got; o.verdict.By != "editor" {
			t.Errorf("Ask = %+v", o)
		}
	})
}

func TestDetachWithdrawsWithoutDeciding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		terminal, editor := newPerson("terminal"), newPerson("editor")
		c := confirm.NewController(nil, terminal)
		detach := c.Attach(editor)
		got := ask(t.Context(), c, edit("1"))
		synctest.Wait()
		detach()
		detach() // a second call does nothing
		synctest.Wait()
		if editor.surface() != "" || terminal.surface() != "1" {
			t.Fatalf("editor shows %q, terminal %q", editor.surface(), terminal.surface())
		}
		terminal.answers <- yes
		if o := <-got; o.verdict.By != "terminal" {
			t.Errorf("Ask = %+v", o)
		}
	})
}

func TestDetachOfTheLastReviewerMeansNo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := confirm.NewController(nil)
		detach := c.Attach(newPerson("editor"))
		got := ask(t.Context(), c, edit("1"))
		synctest.Wait()
		detach()
		if o := <-got; o.err != nil || !o.verdict.Unasked || o.verdict.Decision != confirm.Reject {
			t.Errorf("Ask = %+v", o)
		}
	})
}

// TestAnswerAfterDetachIsVoid: once detach has returned, an answer on its way does not
// count.
func TestAnswerAfterDetachIsVoid(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			answering := make(chan struct{})
			editor := reviewFunc(func(context.Context, confirm.Request) (confirm.Verdict, error) {
				<-answering
				return yes, nil
			})
			terminal := newPerson("terminal")
			c := confirm.NewController(nil, terminal)
			detach := c.Attach(editor)
			got := ask(t.Context(), c, edit("1"))
			synctest.Wait()
			detach()
			close(answering)
			synctest.Wait()
			terminal.answers <- no
			if o := <-got; o.verdict.By != "terminal" || o.verdict.Decision != confirm.Reject {
				t.Errorf("Ask = %+v", o)
			}
		})
	}
}

// TestReattach: an editor that reconnects is a new reviewer and is shown the question
// again, under the same id.
func TestReattach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		editor := newPerson("editor")
		c := confirm.NewController(nil, newPerson("terminal"))
		detach := c.Attach(editor)
		got := ask(t.Context(), c, edit("1"))
		synctest.Wait()
		detach()
		synctest.Wait()
		defer c.Attach(editor)()
		synctest.Wait()
		editor.answers <- yes
		if o := <-got; o.verdict.By != "editor" || len(editor.shown) != 2 || editor.shown[0] != editor.shown[1] {
			t.Errorf("Ask = %+v, shown %v", o, editor.shown)
		}
	})
}

// drafting is an editor that holds a draft.
type drafting struct {
	*person
	draft func(ctx context.Context, id string) (string, bool, error)
}

func (d drafting) Draft(ctx context.Context, id string) (string, bool, error) {
	return d.draft(ctx, id)
}

func TestApprovalTakesTheOtherSurfacesDraft(t *testing.T) {
	own := "my own"
	tests := map[string]struct {
		draft  func(ctx context.Context, id string) (string, bool, error)
		answer confirm.Verdict
		want   string // "" for the proposed text
	}{
		"edited":             {func(context.Context, string) (string, bool, error) { return "edited", true, nil }, yes, "edited"},
		"not edited":         {func(context.Context, string) (string, bool, error) { return "proposed", false, nil }, yes, ""},
		"own text wins":      {func(context.Context, string) (string, bool, error) { return "edited", true, nil }, confirm.Verdict{Decision: confirm.Approve, Text: &own}, own},
		"rejection has none": {func(context.Context, string) (string, bool, error) { return "edited", true, nil }, no, ""},
		"after a while": {func(context.Context, string) (string, bool, error) {
			<-time.After(900 * time.Millisecond)
			return "edited", true, nil
		}, yes, "edited"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				terminal := newPerson("terminal")
				editor := drafting{newPerson("editor"), nil}
				editor.draft = func(ctx context.Context, id string) (string, bool, error) {
					if id != "1" || editor.surface() != "1" {
						t.Errorf("draft of %q while %q is shown", id, editor.surface())
					}
					return tt.draft(ctx, id)
				}
				c := confirm.NewController(nil, terminal, editor)
				got := ask(t.Context(), c, edit("1"))
				synctest.Wait()
				terminal.answers <- tt.answer
				o := <-got
				var text string
				if o.verdict.Text != nil {
					text = *o.verdict.Text
				}
				if o.err != nil || text != tt.want || o.verdict.Decision != tt.answer.Decision {
					t.Errorf("Ask = %+v with text %q, want %q", o, text, tt.want)
				}
			})
		})
	}
}

// TestLostDraft: an approval does not count while a draft may be lost. The question stays
// open, explains itself within a second, and the next approval is of the text shown.
func TestLostDraft(t *testing.T) {
	type draft = func(ctx context.Context, id string) (string, bool, error)
	const edited, maybe = "Edited on another surface", "if it was edited there"
	for name, tt := range map[string]struct {
		draft draft
		says  string
	}{
		"edited":    {func(context.Context, string) (string, bool, error) { return "x", true, errors.New("link lost") }, edited},
		"no answer": {func(context.Context, string) (string, bool, error) { return "", false, errors.New("no answer") }, maybe},
		"panics":    {func(context.Context, string) (string, bool, error) { panic("boom") }, maybe},
		"too late": {func(ctx context.Context, _ string) (string, bool, error) {
			<-ctx.Done()
			return "edited", true, nil
		}, maybe},
		"hangs": {func(context.Context, string) (string, bool, error) {
			<-time.After(time.Minute)
			return "late", true, nil
		}, maybe},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var notes [][]caution.Note
				answers := make(chan confirm.Verdict)
				terminal := reviewFunc(func(ctx context.Context, req confirm.Request) (confirm.Verdict, error) {
					notes = append(notes, req.Notes)
					select {
					case v := <-answers:
						return v, nil
					case <-ctx.Done():
						return confirm.Verdict{}, ctx.Err()
					}
				})
				editor := drafting{newPerson("editor"), tt.draft}
				c := confirm.NewController(nil, terminal, editor)
				got := ask(t.Context(), c, edit("1"))
				synctest.Wait()
				for range 2 {
					answers <- yes
					<-time.After(time.Second)
					synctest.Wait()
				}
				if len(notes) != 2 || len(notes[0]) != 0 || len(notes[1]) != 1 || !strings.Contains(notes[1][0].Text, tt.says) {
					t.Errorf("notes %q", notes)
				}
				if o := <-got; o.err != nil || o.verdict.Decision != confirm.Approve || o.verdict.Text != nil {
					t.Errorf("Ask = %+v", o)
				}
				<-time.After(time.Minute) // until the hanging one ends
			})
		})
	}
}

// TestCancelWhileADraftIsFetched: a cancel ends the question and grants nothing, also if the
// approval would count without the draft.
func TestCancelWhileADraftIsFetched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		fetched := 0
		terminal, editor := newPerson("terminal"), drafting{newPerson("editor"), nil}
		editor.draft = func(fetch context.Context, _ string) (string, bool, error) {
			if fetched++; fetched == 1 {
				return "", true, errors.New("silent")
			}
			cancel()
			<-fetch.Done()
			return "", true, fetch.Err()
		}
		policy := &rules{decided: map[string]confirm.Verdict{}}
		got := ask(ctx, confirm.NewController(policy, terminal, editor), edit("1"))
		terminal.answers <- yes
		terminal.answers <- confirm.Verdict{Decision: confirm.Approve, Session: true}
		if o := <-got; !errors.Is(o.err, context.Canceled) || fetched != 2 {
			t.Errorf("Ask = %+v after %d fetches", o, fetched)
		}
		if len(policy.granted) > 0 {
			t.Errorf("granted %v", policy.granted)
		}
	})
}
