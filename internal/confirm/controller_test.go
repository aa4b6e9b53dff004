package confirm_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// person answers from a channel and records the question on its surface.
type person struct {
	name    string
	answers chan confirm.Verdict

	mu    sync.Mutex
	shown []string // ids, in order
	open  string   // the id on the surface
}

func newPerson(name string) *person {
	return &person{name: name, answers: make(chan confirm.Verdict)}
}

func (p *person) Review(ctx context.Context, req confirm.Request) (confirm.Verdict, error) {
	p.show(req.ID)
	defer p.show("")
	select {
	case v := <-p.answers:
		v.By = p.name
		return v, nil
	case <-ctx.Done():
		return confirm.Verdict{}, confirm.ErrUndecided
	}
}

func (p *person) show(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if id != "" {
		p.shown = append(p.shown, id)
	}
	p.open = id
}

// surface returns the id of the question on p's surface.
func (p *person) surface() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}

// history returns the ids of all questions that p was shown.
func (p *person) history() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.shown)
}

// reviewFunc is a reviewer made of one function.
type reviewFunc func(context.Context, confirm.Request) (confirm.Verdict, error)

func (f reviewFunc) Review(ctx context.Context, req confirm.Request) (confirm.Verdict, error) {
	return f(ctx, req)
}

// rules is a policy that decides requests of the tools in it and records grants.
type rules struct {
	decided map[string]confirm.Verdict
	granted []string
}

func (r *rules) Decide(req confirm.Request) (confirm.Verdict, bool) {
	v, ok := r.decided[req.Tool]
	return v, ok
}

func (r *rules) Grant(req confirm.Request) {
	r.granted = append(r.granted, req.Tool)
	r.decided[req.Tool] = confirm.Verdict{Decision: confirm.Approve, By: "grant"}
}

// reply is the result of Ask.
type reply struct {
	verdict confirm.Verdict
	err     error
}

// ask calls Ask in a new goroutine.
func ask(ctx context.Context, c *confirm.Controller, req confirm.Request) <-chan reply {
	out := make(chan reply, 1)
	go func() {
		v, err := c.Ask(ctx, req)
		out <- reply{v, err}
	}()
	return out
}

func edit(id string) confirm.Request {
	return confirm.Request{ID: id, Tool: "edit_file", Subject: confirm.Edit(workspace.Change{After: "proposed"})}
}

var (
	yes = confirm.Verdict{Decision: confirm.Approve}
	no  = confirm.Verdict{Decision: confirm.Reject, Feedback: "not like this"}
)

func TestFirstAnswerWithdrawsTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		terminal, editor := newPerson("terminal"), newPerson("editor")
		c := confirm.NewController(nil, terminal, editor)
		got := ask(t.Context(), c, edit("1"))
		synctest.Wait()
		if terminal.surface() != "1" || editor.surface() != "1" {
			t.Fatalf("shown on %q and %q, want both", terminal.surface(), editor.surface())
		}
		editor.answers <- yes
		if o := <-got; o.err != nil || o.verdict.Decision != confirm.Approve || o.verdict.By != "editor" {
			t.Fatalf("Ask = %+v", o)
		}
		if terminal.surface() != "" || editor.surface() != "" {
			t.Error("a question is left on a surface after Ask returned")
		}
	})
}

func TestPolicyComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &rules{decided: map[string]confirm.Verdict{"edit_file": {Decision: confirm.Approve, By: "rule"}}}
		terminal := newPerson("terminal")
		v, err := confirm.NewController(p, terminal).Ask(t.Context(), edit("1"))
		if err != nil || v.By != "rule" || len(terminal.history()) != 0 {
			t.Errorf("Ask = %+v, %v; shown %v", v, err, terminal.history())
		}
	})
}

// A command of the user's asks whatever the rules decide, in its turn, and its answer
// grants nothing.
func TestAskPersonPassesThePolicyBy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &rules{decided: map[string]confirm.Verdict{"export": {Decision: confirm.Approve, By: "rule"}}}
		terminal := newPerson("terminal")
		c := confirm.NewController(p, terminal)
		first := ask(t.Context(), c, edit("1"))
		synctest.Wait()
		var got reply
		go func() {
			v, err := c.AskPerson(t.Context(), confirm.Request{ID: "2", Tool: "export", Subject: confirm.Edit(workspace.Change{})})
			got = reply{v, err}
		}()
		synctest.Wait()
		if s := terminal.surface(); s != "1" {
			t.Fatalf("%q is shown, want 1", s)
		}
		terminal.answers <- yes
		<-first
		synctest.Wait()
		if s := terminal.surface(); s != "2" {
			t.Fatalf("%q is shown, want 2", s)
		}
		terminal.answers <- confirm.Verdict{Decision: confirm.Approve, Session: true}
		synctest.Wait()
		if got.err != nil || got.verdict.By != "terminal" || len(p.granted) != 0 {
			t.Errorf("AskPerson = %+v; granted %v", got, p.granted)
		}
	})
}

// TestGrantSettlesQueuedQuestions: a "yes for this session" to the first of several calls
// answers those behind it, which are not asked.
func TestGrantSettlesQueuedQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &rules{decided: map[string]confirm.Verdict{}}
		terminal := newPerson("terminal")
		c := confirm.NewController(p, terminal)
		first := ask(t.Context(), c, edit("1"))
		synctest.Wait()
		second := ask(t.Context(), c, edit("2"))
		synctest.Wait()
		terminal.answers <- confirm.Verdict{Decision: confirm.Approve, Session: true}
		<-first
		if o := <-second; o.verdict.By != "grant" {
			t.Errorf("the second question got %+v", o)
		}
		if diff := cmp.Diff([]string{"1"}, terminal.history()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRejectionGrantsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &rules{decided: map[string]confirm.Verdict{}}
		c := confirm.NewController(p, reviewFunc(func(context.Context, confirm.Request) (confirm.Verdict, error) {
			text := "x"
			return confirm.Verdict{Session: true, Texts: confirm.Text(text), Feedback: "no"}, nil
		}))
		v, err := c.Ask(t.Context(), edit("1"))
		if err != nil || v.Session || v.Edited() != nil || v.Feedback != "no" || len(p.granted) != 0 {
			t.Errorf("Ask = %+v, %v; granted %v", v, err, p.granted)
		}
	})
}

func TestQuestionsAreAskedInOrderOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		terminal := newPerson("terminal")
		c := confirm.NewController(nil, terminal)
		ids := []string{"a", "b", "c", "d", "e"}
		var waiting []<-chan reply
		for _, id := range ids {
			waiting = append(waiting, ask(t.Context(), c, edit(id)))
			synctest.Wait()
		}
		for i, w := range waiting {
			if terminal.surface() != ids[i] {
				t.Errorf("%q is shown, want %q", terminal.surface(), ids[i])
			}
			terminal.answers <- yes
			<-w
			synctest.Wait()
		}
		if diff := cmp.Diff(ids, terminal.history()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestCancelWithdraws(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		terminal, editor := newPerson("terminal"), newPerson("editor")
		c := confirm.NewController(nil, terminal, editor)
		ctx, cancel := context.WithCancel(t.Context())
		standing := ask(ctx, c, edit("1"))
		synctest.Wait()
		queued := ask(ctx, c, edit("2"))
		synctest.Wait()
		cancel()
		for _, w := range []<-chan reply{standing, queued} {
			if o := <-w; !errors.Is(o.err, context.Canceled) || o.verdict.Decision != confirm.Reject {
				t.Errorf("Ask = %+v, want the context's error", o)
			}
		}
		if terminal.surface() != "" || editor.surface() != "" || len(terminal.history()) != 1 {
			t.Errorf("left on %q, %q; shown %v", terminal.surface(), editor.surface(), terminal.history())
		}
	})
}

// TestCancelBeatsAnAnswer: if both are there at once, the cancelled turn wins.
func TestCancelBeatsAnAnswer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := confirm.NewController(nil, reviewFunc(func(context.Context, confirm.Request) (confirm.Verdict, error) {
		cancel()
		return yes, nil
	}))
	if v, err := c.Ask(ctx, edit("1")); !errors.Is(err, context.Canceled) || v.Decision != confirm.Reject {
		t.Errorf("Ask = %+v, %v", v, err)
	}
}

func TestFailingReviewersLeaveTheQuestionToTheOthers(t *testing.T) {
	broken := map[string]reviewFunc{
		"undecided": func(context.Context, confirm.Request) (confirm.Verdict, error) { return yes, confirm.ErrUndecided },
		"error":     func(context.Context, confirm.Request) (confirm.Verdict, error) { return yes, errors.New("link lost") },
		"panic":     func(context.Context, confirm.Request) (confirm.Verdict, error) { panic("index out of range") },
		"no way": func(context.Context, confirm.Request) (confirm.Verdict, error) {
			return confirm.Verdict{Unasked: true}, nil
		},
		"unknown decision": func(context.Context, confirm.Request) (confirm.Verdict, error) {
			return confirm.Verdict{Decision: 7}, nil
		},
		"a mode for a command": func(context.Context, confirm.Request) (confirm.Verdict, error) {
			return confirm.Verdict{Decision: confirm.Approve, Mode: "default"}, nil
		},
		"text for a command": func(_ context.Context, req confirm.Request) (confirm.Verdict, error) {
			text := "rm -rf /"
			return confirm.Verdict{Decision: confirm.Approve, Texts: confirm.Text(text)}, nil
		},
		"rule that may not be made": func(context.Context, confirm.Request) (confirm.Verdict, error) {
			return confirm.Verdict{Decision: confirm.Approve, Always: &confirm.Always{Rule: "run"}}, nil
		},
	}
	narrow := &confirm.Offer{Rule: "run(make)", Check: func(rule string) error {
		if rule != "run(make)" {
			return errors.New("too wide")
		}
		return nil
	}}
	for name, offer := range map[string]*confirm.Offer{"offered": narrow, "not offered": nil} {
		c := confirm.NewController(nil, broken["rule that may not be made"])
		if v, err := c.Ask(t.Context(), confirm.Request{Subject: &confirm.Command{Line: "make"}, Offer: offer}); err != nil || !v.Unasked {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
	for name, r := range broken {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				terminal := newPerson("terminal")
				c := confirm.NewController(nil, r, terminal)
				got := ask(t.Context(), c, confirm.Request{ID: "1", Subject: &confirm.Command{Line: "make"}})
				synctest.Wait()
				if terminal.surface() != "1" {
					t.Fatal("the question does not stand any more")
				}
				terminal.answers <- no
				if o := <-got; o.verdict.Feedback != no.Feedback || o.verdict.By != "terminal" {
					t.Errorf("Ask = %+v", o)
				}
			})
		})
	}
}

// A document is approved with the mode to go on in, and for this time only.
func TestApprovalOfADocument(t *testing.T) {
	text := "edited"
	for name, tt := range map[string]struct {
		verdict confirm.Verdict
		counts  bool
	}{
		"with a mode":         {confirm.Verdict{Decision: confirm.Approve, Mode: "default", Texts: confirm.Text(text)}, true},
		"without a mode":      {confirm.Verdict{Decision: confirm.Approve}, false},
		"for the session":     {confirm.Verdict{Decision: confirm.Approve, Mode: "default", Session: true}, false},
		"unsure":              {confirm.Verdict{Decision: confirm.Approve, Mode: "default", Texts: confirm.Text(text), Unsure: "why"}, false},
		"refused with a mode": {confirm.Verdict{Mode: "default", Feedback: "more"}, true},
	} {
		c := confirm.NewController(nil, reviewFunc(func(context.Context, confirm.Request) (confirm.Verdict, error) { return tt.verdict, nil }))
		v, err := c.Ask(t.Context(), confirm.Request{Subject: &confirm.Document{Text: "a plan"}})
		if err != nil || v.Unasked == tt.counts || v.Decision == confirm.Reject && v.Mode != "" {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}

// The exceptions must be files of the plan, and not all of them.
func TestExceptIsOfThePlan(t *testing.T) {
	plan := confirm.Request{Subject: &confirm.Edits{Title: "undo", Changes: make([]workspace.Change, 2)}}
	for _, tc := range []struct {
		req    confirm.Request
		except []int
		valid  bool
	}{
		{plan, nil, true},
		{plan, []int{1}, true},
		{plan, []int{0, 1}, false},
		{plan, []int{0, 0}, false},
		{plan, []int{2}, false},
		{plan, []int{-1}, false},
		{edit("1"), []int{0}, false},
	} {
		c := confirm.NewController(nil, reviewFunc(func(context.Context, confirm.Request) (confirm.Verdict, error) {
			return confirm.Verdict{Decision: confirm.Approve, Except: tc.except}, nil
		}))
		v, err := c.Ask(t.Context(), tc.req)
		if err != nil || (v.Decision == confirm.Approve) != tc.valid {
			t.Errorf("%v of %d files: %+v, %v", tc.except, len(confirm.As[*confirm.Edits](plan).Changes), v, err)
		}
	}
	c := confirm.NewController(nil, reviewFunc(func(context.Context, confirm.Request) (confirm.Verdict, error) {
		return confirm.Verdict{Except: []int{1}}, nil
	}))
	if v, err := c.Ask(t.Context(), plan); err != nil || v.Except != nil {
		t.Errorf("a no leaves something out: %+v, %v", v, err)
	}
}

// A reviewer learns when it is the only one left, and not before.
func TestTheLastReviewerIsNotified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		terminal, alone := newPerson("terminal"), false
		editor := reviewFunc(func(_ context.Context, req confirm.Request) (confirm.Verdict, error) {
			<-req.Alone
			alone = true
			return confirm.Verdict{}, confirm.ErrUndecided
		})
		got := ask(t.Context(), confirm.NewController(nil, editor, terminal), edit("1"))
		synctest.Wait()
		if alone {
			t.Fatal("told while the terminal is asked")
		}
		terminal.answers <- confirm.Verdict{Unasked: true} // it can no longer ask
		if o := <-got; !o.verdict.Unasked || !alone {
			t.Errorf("%+v", o)
		}
	})
}

func TestNobodyMeansNo(t *testing.T) {
	tests := map[string]struct {
		reviewers []confirm.Reviewer
		says      string
	}{
		"none": {nil, "nobody could be asked"},
		"all undecided": {[]confirm.Reviewer{
			reviewFunc(func(context.Context, confirm.Request) (confirm.Verdict, error) { return yes, confirm.ErrUndecided }),
		}, "nobody could be asked"},
		"all failed": {[]confirm.Reviewer{
			reviewFunc(func(context.Context, confirm.Request) (confirm.Verdict, error) { return yes, errors.New("link lost") }),
			reviewFunc(func(context.Context, confirm.Request) (confirm.Verdict, error) { panic("boom") }),
		}, "boom"},
	}
	for name, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			v, err := confirm.NewController(nil, tt.reviewers...).Ask(t.Context(), edit(""))
			if err != nil || v.Decision != confirm.Reject || !v.Unasked || !strings.Contains(v.Feedback, tt.says) {
				t.Errorf("%s: Ask = %+v, %v", name, v, err)
			}
		})
	}
}

func TestIDsAreGivenAndUnique(t *testing.T) {
	seen := map[string]bool{}
	c := confirm.NewController(nil, reviewFunc(func(_ context.Context, req confirm.Request) (confirm.Verdict, error) {
		if req.ID == "" || seen[req.ID] {
			t.Errorf("the id %q is empty or used", req.ID)
		}
		seen[req.ID] = true
		return yes, nil
	}))
	for range 100 {
		if _, err := c.Ask(t.Context(), edit("")); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSlowSurface: a surface that does not give the question up holds Ask for one second
// at most, its answer is void, and it is not shown the next question before it has given
// up the first.
func TestSlowSurface(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		seen := newPerson("slow")
		slow := reviewFunc(func(_ context.Context, req confirm.Request) (confirm.Verdict, error) {
			seen.show(req.ID)
			<-release
			return yes, nil
		})
		terminal := newPerson("terminal")
		c := confirm.NewController(nil, slow, terminal)
		start := time.Now()
		for _, id := range []string{"1", "2"} {
			got := ask(t.Context(), c, edit(id))
			synctest.Wait()
			terminal.answers <- no
			if o := <-got; o.verdict.By != "terminal" {
				t.Errorf("question %s: %+v", id, o)
			}
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("two questions took %v, want one second for the first and none for the second", took)
		}
		if diff := cmp.Diff([]string{"1"}, seen.history()); diff != "" {
			t.Error(diff)
		}
		third := ask(t.Context(), c, edit("3"))
		synctest.Wait()
		close(release)
		if o := <-third; o.verdict.Decision != confirm.Approve {
			t.Errorf("the freed surface's answer to the third question: %+v", o)
		}
		if diff := cmp.Diff([]string{"1", "3"}, seen.history()); diff != "" {
			t.Error(diff)
		}
	})
}
