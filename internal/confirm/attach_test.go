package confirm_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/workspace"
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
	draft func(ctx context.Context, id string) (confirm.Draft, error)
}

func (d drafting) Draft(ctx context.Context, id string) (confirm.Draft, error) {
	return d.draft(ctx, id)
}

func TestApprovalTakesTheOtherSurfacesDraft(t *testing.T) {
	own := "my own"
	tests := map[string]struct {
		draft  func(ctx context.Context, id string) (confirm.Draft, error)
		answer confirm.Verdict
		want   string // "" for the proposed text
	}{
		"edited": {func(context.Context, string) (confirm.Draft, error) {
			return confirm.Draft{Text: "edited", Edited: true}, nil
		}, yes, "edited"},
		"not edited": {func(context.Context, string) (confirm.Draft, error) { return confirm.Draft{Text: "proposed"}, nil }, yes, ""},
		"own text wins": {func(context.Context, string) (confirm.Draft, error) {
			return confirm.Draft{Text: "edited", Edited: true}, nil
		}, confirm.Verdict{Decision: confirm.Approve, Texts: confirm.Text(own)}, own},
		"rejection has none": {func(context.Context, string) (confirm.Draft, error) {
			return confirm.Draft{Text: "edited", Edited: true}, nil
		}, no, ""},
		"after a while": {func(context.Context, string) (confirm.Draft, error) {
			<-time.After(900 * time.Millisecond)
			return confirm.Draft{Text: "edited", Edited: true}, nil
		}, yes, "edited"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				terminal := newPerson("terminal")
				editor := drafting{newPerson("editor"), nil}
				editor.draft = func(ctx context.Context, id string) (confirm.Draft, error) {
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
				if o.verdict.Edited() != nil {
					text = *o.verdict.Edited()
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
	type draft = func(ctx context.Context, id string) (confirm.Draft, error)
	const edited, maybe = "Edited in another window", "if it was edited there"
	for name, tt := range map[string]struct {
		draft draft
		says  string
	}{
		"edited": {func(context.Context, string) (confirm.Draft, error) {
			return confirm.Draft{Text: "x", Edited: true}, errors.New("link lost")
		}, edited},
		"no answer": {func(context.Context, string) (confirm.Draft, error) { return confirm.Draft{}, errors.New("no answer") }, maybe},
		"panics":    {func(context.Context, string) (confirm.Draft, error) { panic("boom") }, maybe},
		"too late": {func(ctx context.Context, _ string) (confirm.Draft, error) {
			<-ctx.Done()
			return confirm.Draft{Text: "edited", Edited: true}, nil
		}, maybe},
		"hangs": {func(context.Context, string) (confirm.Draft, error) {
			<-time.After(time.Minute)
			return confirm.Draft{Text: "late", Edited: true}, nil
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
				if o := <-got; o.err != nil || o.verdict.Decision != confirm.Approve || o.verdict.Edited() != nil {
					t.Errorf("Ask = %+v", o)
				}
				<-time.After(time.Minute) // until the hanging one ends
			})
		})
	}
}

// files is a question about files a, b, … that a model changes.
func files(names ...string) confirm.Request {
	req := confirm.Request{ID: "1", Tool: "review", Subject: &confirm.Edits{Title: "all", Review: true}}
	for _, name := range names {
		confirm.As[*confirm.Edits](req).Changes = append(confirm.As[*confirm.Edits](req).Changes, workspace.Change{
			File: workspace.File{Path: "/" + name, Name: name, Exists: true, Text: "old\n"}, After: "new\n",
		})
	}
	return req
}

// exchange asks req of a terminal, which gives the answers in turn, while an editor has the
// drafts, by id. It returns the verdict, and the requests that the terminal was shown.
func exchange(t *testing.T, req confirm.Request, drafts map[string]drafted, answers ...confirm.Verdict) (o reply, shown []confirm.Request) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		terminal := reviewFunc(func(_ context.Context, req confirm.Request) (confirm.Verdict, error) {
			shown = append(shown, req)
			if len(shown) > len(answers) {
				return no, nil
			}
			return answers[len(shown)-1], nil
		})
		person := newPerson("editor")
		c := confirm.NewController(nil, drafting{person, func(_ context.Context, id string) (confirm.Draft, error) {
			if len(person.history()) > 1 { // it shows the new proposals
				return confirm.Draft{}, nil
			}
			return drafts[id].Draft, drafts[id].err
		}})
		got := ask(t.Context(), c, req)
		synctest.Wait()
		defer c.Attach(terminal)()
		o = <-got
	})
	if len(shown) != len(answers) {
		t.Fatalf("asked %d times, not %d", len(shown), len(answers))
	}
	return o, shown
}

// drafted is the result of Draft.
type drafted struct {
	confirm.Draft
	err error
}

func typed(text string, err error) drafted {
	return drafted{confirm.Draft{Text: text, Edited: true}, err}
}

// An edited text that is approved on its surface while a yes from another is considered is
// a draft like any other.
func TestCrossingApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		editor := newPerson("editor")
		c := confirm.NewController(nil, crossing{drafting{editor, func(context.Context, string) (confirm.Draft, error) {
			return confirm.Draft{Text: "typed\n", Edited: true}, nil
		}}, func() {
			editor.answers <- confirm.Verdict{Decision: confirm.Approve, Texts: map[int]string{0: "typed\n"}}
			synctest.Wait()
		}})
		got := ask(t.Context(), c, edit("1"))
		synctest.Wait()
		defer c.Attach(reviewFunc(func(context.Context, confirm.Request) (confirm.Verdict, error) { return yes, nil }))()
		if o := <-got; o.err != nil || o.verdict.Decision != confirm.Approve || o.verdict.Texts[0] != "typed\n" {
			t.Errorf("%+v, %v", o.verdict, o.err)
		}
	})
}

// crossing is a surface on which no refusal was begun. asked is called when that is asked.
type crossing struct {
	drafting
	asked func()
}

func (c crossing) Refused(context.Context, string) (confirm.Verdict, bool) {
	c.asked()
	return confirm.Verdict{}, false
}

// TestARejectionElsewhereCounts: also for a file of which the terminal leaves out a part.
func TestARejectionElsewhereCounts(t *testing.T) {
	drafts := map[string]drafted{"1.2": {err: confirm.ErrRejected}}
	o, _ := exchange(t, files("a", "b"), drafts, confirm.Verdict{Decision: confirm.Approve, Texts: map[int]string{0: "part\n", 1: "part\n"}})
	want := confirm.Verdict{Decision: confirm.Approve, Except: []int{1}, Texts: map[int]string{0: "part\n"}}
	if diff := cmp.Diff(want, o.verdict); diff != "" {
		t.Error(diff)
	}
	if o, _ := exchange(t, files("b"), map[string]drafted{"1.1": {err: confirm.ErrRejected}}, yes); o.verdict.Decision != confirm.Reject {
		t.Errorf("all files were rejected: %+v", o.verdict)
	}
}

// TestTypedHereAndElsewhere: of a file with a part left out in the terminal, the text typed
// elsewhere is shown before it counts.
func TestTypedHereAndElsewhere(t *testing.T) {
	drafts := map[string]drafted{"1.2": typed("typed\n", nil)}
	part := confirm.Verdict{Decision: confirm.Approve, Texts: map[int]string{0: "part\n", 1: "part\n"}}
	o, shown := exchange(t, files("a", "b"), drafts, part, yes)
	if got := confirm.As[*confirm.Edits](shown[1]).Changes; got[0].After != "part\n" || got[1].After != "typed\n" {
		t.Errorf("asked again about %q and %q", got[0].After, got[1].After)
	}
	if notes := shown[1].Notes; len(notes) != 1 || !strings.Contains(notes[0].Text, "You left out parts of b here") {
		t.Errorf("asked again with %q", notes)
	}
	if o.verdict.Texts[0] != "part\n" || o.verdict.Texts[1] != "typed\n" {
		t.Errorf("Ask = %+v", o.verdict)
	}
}

// TestAFetchedDraftIsKept: if the draft of another file is lost.
func TestAFetchedDraftIsKept(t *testing.T) {
	drafts := map[string]drafted{
		"1.1": typed("typed\n", nil), "1.2": typed("", errors.New("link lost")), "1.3": {err: confirm.ErrRejected},
	}
	o, shown := exchange(t, files("a", "b", "c"), drafts, yes, confirm.Verdict{Decision: confirm.Approve, Except: []int{2}})
	notes, plan := shown[1].Notes, confirm.As[*confirm.Edits](shown[1])
	if plan.Changes[0].After != "typed\n" || plan.Changes[1].After != "new\n" || !slices.Equal(plan.Out, []int{2}) {
		t.Errorf("asked again about %+v", plan)
	}
	if len(notes) != 2 || !strings.Contains(notes[0].Text, "no longer shows them: a.") || !strings.Contains(notes[1].Text, "Edited in another window: b,") {
		t.Errorf("asked again with %q", notes)
	}
	want := confirm.Verdict{Decision: confirm.Approve, Except: []int{2}, Texts: map[int]string{0: "typed\n"}}
	if diff := cmp.Diff(want, o.verdict); diff != "" {
		t.Error(diff)
	}
}

// TestWordsOfAYesThatDoesNotCount go with the answer that does.
func TestWordsOfAYesThatDoesNotCount(t *testing.T) {
	first := confirm.Verdict{Decision: confirm.Approve, Feedback: "mind the gap", Comments: []confirm.Comment{{Line: 1, Text: "rename later"}}}
	unsure := first
	unsure.Texts, unsure.Unsure = confirm.Text("other\n"), "It may belong elsewhere."
	lost := map[string]drafted{"1": typed("", errors.New("link lost")), "1.1": typed("", errors.New("link lost"))}
	for name, tt := range map[string]struct {
		req    confirm.Request
		answer confirm.Verdict
	}{"file": {edit("1"), first}, "files": {files("a"), first}, "unsure": {edit("1"), unsure}} {
		second := confirm.Verdict{Decision: confirm.Approve, Comments: []confirm.Comment{{Line: 2, Text: "and this"}}}
		drafts := lost
		if tt.answer.Unsure != "" {
			drafts = nil
		}
		o, _ := exchange(t, tt.req, drafts, tt.answer, second)
		if o.verdict.Feedback != first.Feedback || !slices.Equal(o.verdict.Comments, append(slices.Clone(first.Comments), second.Comments...)) {
			t.Errorf("%s: Ask = %+v", name, o.verdict)
		}
	}
}

// TestWordsOnAnotherSurface reach the verdict once, with their file: those of a rejection, of
// an acceptance, and of a draft, also if the first approval does not count.
func TestWordsOnAnotherSurface(t *testing.T) {
	on := func(line int, text string) confirm.Comment { return confirm.Comment{Line: line, Text: text} }
	drafts := map[string]drafted{
		"1.1": {confirm.Draft{Comments: []confirm.Comment{on(1, "rename later")}}, nil},
		"1.2": {confirm.Draft{Feedback: "never touch b", Comments: []confirm.Comment{on(2, "wrong")}}, confirm.ErrRejected},
		"1.3": {confirm.Draft{Text: "typed\n", Edited: true, Comments: []confirm.Comment{on(3, "see here")}}, nil},
	}
	want := []confirm.Comment{{File: 0, Line: 1, Text: "rename later"}, {File: 1, Line: 2, Text: "wrong"}, {File: 2, Line: 3, Text: "see here"}}
	check := func(o reply) {
		t.Helper()
		if diff := cmp.Diff(want, o.verdict.Comments); diff != "" || o.verdict.Feedback != "never touch b" {
			t.Errorf("feedback %q, comments %s", o.verdict.Feedback, diff)
		}
	}
	o, _ := exchange(t, files("a", "b", "c", "d"), drafts, yes)
	check(o)
	drafts["1.4"] = typed("", errors.New("link lost"))
	o, _ = exchange(t, files("a", "b", "c", "d"), drafts, yes, confirm.Verdict{Decision: confirm.Approve, Except: []int{1}})
	check(o)
}

// TestADeletionHasNoDraft: no text is taken for one, alone or among other files.
func TestADeletionHasNoDraft(t *testing.T) {
	req := edit("1")
	req.File().Delete = true
	all := files("a", "b")
	confirm.As[*confirm.Edits](all).Changes[1].Delete = true
	drafts := map[string]drafted{"1": typed("typed\n", nil), "1.2": typed("typed\n", nil)}
	for name, req := range map[string]confirm.Request{"alone": req, "among others": all} {
		if o, _ := exchange(t, req, drafts, yes); o.verdict.Decision != confirm.Approve || o.verdict.Edited() != nil || len(o.verdict.Texts) > 0 {
			t.Errorf("%s: Ask = %+v", name, o.verdict)
		}
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
		editor.draft = func(fetch context.Context, _ string) (confirm.Draft, error) {
			if fetched++; fetched == 1 {
				return confirm.Draft{Edited: true}, errors.New("silent")
			}
			cancel()
			<-fetch.Done()
			return confirm.Draft{Edited: true}, fetch.Err()
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
