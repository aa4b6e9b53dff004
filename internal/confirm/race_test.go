package confirm_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/stress"
)

// moves lists the things that can happen to a question, weighted by repetition.
var moves = []string{"accept", "reject", "edit", "undecided", "late", "stubborn", "panic", "silent"}

// faults counts what happened, so that a race test without races fails.
type faults struct {
	mu     sync.Mutex
	counts map[string]int
}

func (f *faults) fire(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[what]++
}

// TestOneOutcome is I4 and "one answer, one effect": whatever answers, fails, leaves,
// comes and cancels at about the same instant, Ask returns one outcome, it is the answer
// of a reviewer that gave it in time, and no surface holds the question afterwards.
func TestOneOutcome(t *testing.T) {
	load, seed := stress.Size(10_000, 1_000_000), stress.Seed(t)
	fired := &faults{counts: map[string]int{}}
	for i := range load {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		if synctest.Test(t, func(t *testing.T) { playOnce(t, rng, fired) }); t.Failed() {
			t.Fatalf("case %d", i)
		}
	}
	t.Logf("load: %d interleavings, seed %d: %v", load, seed, fired.counts)
	for _, must := range append(moves, "detach", "attach", "cancel", "cancelled", "approved", "rejected", "nobody", "two answers", "void") {
		if fired.counts[must] == 0 {
			t.Errorf("%q never happened", must)
		}
	}
}

// scripted is a reviewer that does one thing after a delay of fake time.
type scripted struct {
	name, move string
	delay      time.Duration
	left       atomic.Bool // is detached
	void       bool        // gave its answer after that
	failed     bool
	answered   bool // gave an answer before it was withdrawn
	given      confirm.Verdict
	shown      int // questions on its surface
	late       chan struct{}
}

func (s *scripted) Review(ctx context.Context, req confirm.Request) (confirm.Verdict, error) {
	s.shown++
	defer func() { s.shown-- }()
	select {
	case <-time.After(s.delay):
	case <-ctx.Done():
		if s.move == "stubborn" {
			<-s.late
		}
		return confirm.Verdict{Decision: confirm.Approve, By: "late " + s.name}, nil
	}
	return s.act(ctx)
}

// Refused implements confirm.Refuser: a surface that does not answer may be about to say no, and
// meanwhile others leave and answer.
func (s *scripted) Refused(ctx context.Context, _ string) (confirm.Verdict, bool) {
	if s.move == "silent" {
		select {
		case <-time.After(3 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return confirm.Verdict{}, false
}

func (s *scripted) act(ctx context.Context) (confirm.Verdict, error) {
	v := confirm.Verdict{By: s.name}
	s.void = s.left.Load()
	s.failed = s.move == "undecided" || s.move == "panic"
	switch s.move {
	case "accept":
		v.Decision = confirm.Approve
	case "edit":
		text := "by " + s.name
		v.Decision, v.Texts = confirm.Approve, confirm.Text(text)
	case "reject":
	case "undecided":
		return v, confirm.ErrUndecided
	case "panic":
		panic(s.name)
	default: // late, stubborn, silent: answers only after withdrawal
		<-ctx.Done()
		if s.move == "stubborn" {
			<-s.late
		}
		return confirm.Verdict{Decision: confirm.Approve, By: "late " + s.name}, nil
	}
	s.answered, s.given = true, v
	return v, nil
}

// playOnce plays one question with two or three reviewers and random events.
func playOnce(t *testing.T, rng *rand.Rand, fired *faults) {
	late := make(chan struct{})
	soon := func() time.Duration { return time.Duration(rng.IntN(4)) * time.Millisecond }
	var all []*scripted
	reviewer := func() *scripted {
		s := &scripted{name: fmt.Sprint("r", len(all)), move: moves[rng.IntN(len(moves))], delay: soon(), late: late}
		fired.fire(s.move)
		all = append(all, s)
		return s
	}
	c := confirm.NewController(nil, reviewer())
	for range rng.IntN(2) {
		c.Attach(reviewer())
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	leaver, comer := reviewer(), reviewer()
	leave := c.Attach(leaver)
	at(rng.IntN(3) == 0, soon(), func() {
		leave()
		leaver.left.Store(true)
		fired.fire("detach")
	})
	at(rng.IntN(3) == 0, soon(), func() { c.Attach(comer); fired.fire("attach") })
	giveUp := 50 * time.Millisecond // if nobody decides, the user gives up eventually
	if rng.IntN(3) == 0 {
		giveUp = soon()
	}
	at(true, giveUp, func() { cancel(); fired.fire("cancel") })

	v, err := c.Ask(ctx, edit(""))
	synctest.Wait()
	judge(t, v, err, all, fired)
	for _, s := range all { // of those who were asked from the start
		if v.Unasked && s != comer && !s.failed && !s.left.Load() {
			t.Errorf("nobody could be asked, and %s (%s) was", s.name, s.move)
		}
	}
	close(late)
	synctest.Wait()
	for _, s := range all {
		if s.shown != 0 {
			t.Errorf("%s (%s) still shows a question", s.name, s.move)
		}
	}
	<-time.After(time.Second) // all planned events have happened
}

// at runs f after d of fake time if planned.
func at(planned bool, d time.Duration, f func()) {
	if planned {
		time.AfterFunc(d, f)
	}
}

// judge checks an outcome against the actions of the reviewers.
func judge(t *testing.T, v confirm.Verdict, err error, all []*scripted, fired *faults) {
	answers := 0
	var winner *scripted
	for _, s := range all {
		if s.answered {
			answers++
		}
		if s.void {
			fired.fire("void")
		}
		if v.By == s.name {
			winner = s
		}
		if s.move != "stubborn" && s.shown != 0 {
			t.Errorf("%s (%s) still shows the question after Ask", s.name, s.move)
		}
	}
	if answers > 1 {
		fired.fire("two answers")
	}
	if winner != nil && winner.void {
		t.Errorf("%s answered after it was detached", winner.name)
	}
	switch {
	case err != nil:
		fired.fire("cancelled")
		if !errors.Is(err, context.Canceled) || !cmp.Equal(v, confirm.Verdict{}) {
			t.Errorf("Ask = %+v, %v", v, err)
		}
	case v.Unasked:
		fired.fire("nobody")
		if v.Decision != confirm.Reject {
			t.Errorf("nobody was asked, and the verdict is %+v", v)
		}
	case winner == nil || !winner.answered || !cmp.Equal(v, winner.given):
		t.Errorf("verdict %+v is nobody's answer", v)
	case v.Decision == confirm.Approve:
		fired.fire("approved")
	default:
		fired.fire("rejected")
	}
}
