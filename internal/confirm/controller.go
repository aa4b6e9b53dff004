package confirm

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/caution"
)

// withdrawal is how long the other surfaces have to take an answered question away, and
// how long a draft on one of them is waited for.
const withdrawal = time.Second

// Controller puts questions to the policy and then to every reviewer at once.
// It is safe for concurrent use.
type Controller struct {
	// Answered, if not nil, is called with each question and its result, before Ask
	// returns. It must be set before the first question.
	Answered func(ctx context.Context, req Request, v Verdict, err error)

	policy Policy
	// asking holds one token, for the open question. Waiting questions are served in order
	// of arrival.
	asking  chan struct{}
	refused refusals // guarded by the token in asking
	// changed wakes the open question after a change of seats.
	changed chan struct{}

	mu    sync.Mutex
	seats []*seat
}

// seat is the place of one attached reviewer.
type seat struct {
	reviewer Reviewer
	// busy holds one token while Review runs: a reviewer that is slow to give up a
	// question is not shown the next one.
	busy chan struct{}
	gone bool // guarded by Controller.mu
}

func newSeat(r Reviewer) *seat { return &seat{reviewer: r, busy: make(chan struct{}, 1)} }

// NewController returns a controller that asks policy first and then all reviewers at
// once. A nil policy has no rules.
func NewController(policy Policy, reviewers ...Reviewer) *Controller {
	c := &Controller{policy: policy, asking: make(chan struct{}, 1), changed: make(chan struct{}, 1), refused: refusals{}}
	for _, r := range reviewers {
		c.seats = append(c.seats, newSeat(r))
	}
	return c
}

// Attach adds a reviewer and shows it the open question, if any. detach removes the
// reviewer: a question on its surface is withdrawn, and an answer that was not accepted
// yet is void.
func (c *Controller) Attach(r Reviewer) (detach func()) {
	s := newSeat(r)
	c.mu.Lock()
	c.seats = append(c.seats, s)
	c.mu.Unlock()
	c.nudge()
	return func() {
		c.remove(s)
		c.nudge()
	}
}

func (c *Controller) remove(s *seat) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.gone = true
	kept := make([]*seat, 0, len(c.seats))
	for _, other := range c.seats {
		if other != s {
			kept = append(kept, other)
		}
	}
	c.seats = kept
}

func (c *Controller) nudge() {
	select {
	case c.changed <- struct{}{}:
	default: // a wake-up is already pending
	}
}

// attached returns the current seats. The slice is never written to, but a later change
// is not in it.
func (c *Controller) attached() []*seat {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*seat(nil), c.seats...)
}

func (c *Controller) isGone(s *seat) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return s.gone
}

// Ask returns the verdict on req. It waits for earlier questions, asks the policy, then
// shows req to all reviewers. The first valid answer is the verdict; the other surfaces
// have one second to take the question away. If no reviewer is left, the verdict is a
// Reject with Unasked set. If ctx ends before an answer, Ask withdraws the question and
// returns ctx's error; it returns no other.
func (c *Controller) Ask(ctx context.Context, req Request) (Verdict, error) {
	return c.ask(ctx, req, c.policy)
}

// AskPerson is Ask without the policy, for a command of the user's: no rule answers req,
// and the answer grants nothing. It waits for its turn like Ask.
func (c *Controller) AskPerson(ctx context.Context, req Request) (Verdict, error) {
	req.ByUser = true
	return c.ask(ctx, req, nil)
}

func (c *Controller) ask(ctx context.Context, req Request, policy Policy) (Verdict, error) {
	select {
	case c.asking <- struct{}{}:
	case <-ctx.Done():
		return Verdict{}, ctx.Err()
	}
	defer func() { <-c.asking }()
	if err := ctx.Err(); err != nil {
		return Verdict{}, err
	}
	c.refused.mark(&req)
	v, err := c.decide(ctx, req, policy)
	if err == nil && v.Later == nil {
		c.refused.answered(req, v)
	}
	if c.Answered != nil && v.Later == nil {
		c.Answered(ctx, req, v, err)
	}
	return v, err
}

// decide answers req by policy, which may be nil, or else by the reviewers.
func (c *Controller) decide(ctx context.Context, req Request, policy Policy) (Verdict, error) {
	if req.ID == "" {
		req.ID = "ask-" + rand.Text()[:16]
	}
	later := req
	if policy != nil {
		v, decided := policy.Decide(req)
		if decided {
			return v, nil
		}
		if v.Feedback != "" {
			req.Notes = append(slices.Clip(req.Notes), caution.Note{Kind: caution.Other, Text: v.Feedback})
		}
	}
	if req.Later {
		return Verdict{Later: &later}, nil
	}
	if len(c.attached()) == 0 {
		req.Check = nil // there is nobody to show it to
	}
	defer req.Check.start(ctx)()
	if v, refused, err := req.Check.refuse(ctx); refused || err != nil {
		return v, err
	}
	v, err := newQuestion(c, req).run(ctx)
	if err == nil && v.Session && policy != nil {
		policy.Grant(req)
	}
	return v, err
}
