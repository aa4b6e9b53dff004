package confirm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// question is the open question. The goroutine that called Ask owns all its state;
// reviewers only send answers to it.
type question struct {
	c       *Controller
	req     Request
	answers chan answer
	reviews map[*seat]*review
	past    []*review      // of an earlier proposal; may still be on a surface
	open    int            // reviews that have not answered
	failed  []error        // why reviewers left
	warned  bool           // of a lost draft; the next approval is of the proposal
	texts   map[int]string // the proposals that replaced the first ones, by file
	fetched map[int]bool   // files whose drafts are in texts and said
	said    Verdict        // the words of approvals that did not count
}

// review is one reviewer's part in a question.
type review struct {
	seat     *seat
	cancel   context.CancelFunc
	answered bool           // or withdrawn: a later answer is void
	texts    map[int]string // question.texts as the reviewer was shown them
	alone    func()         // tells the reviewer that nobody else is asked
	done     chan struct{}  // closed when the reviewer's surface is clear
	returned chan struct{}  // closed when result is set
	result   answer         // of Review, which may cross another answer
}

// answer is the result of a Review.
type answer struct {
	from    *review
	verdict Verdict
	err     error
}

func newQuestion(c *Controller, req Request) *question {
	return &question{c: c, req: req, answers: make(chan answer), reviews: map[*seat]*review{}, texts: map[int]string{}, fetched: map[int]bool{}}
}

// run shows the question and waits for the verdict. Answers that come later are ignored.
func (q *question) run(ctx context.Context) (Verdict, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer q.withdraw()
	for {
		q.sync(ctx)
		if q.open == 0 {
			return q.nobody(), nil
		}
		q.notifyLast()
		select {
		case <-q.c.changed:
		case a := <-q.answers:
			v, decided := q.accept(a)
			if err := ctx.Err(); err != nil {
				return Verdict{}, err
			}
			if !decided {
				continue
			}
			if no, ok := q.refusal(ctx, a.from, v); ok {
				return q.final(no, a.from), nil
			}
			if v.Unsure != "" {
				q.askAgain(a.from, v, found{typed: v.Texts, unseen: true}, v.Unsure)
				continue
			}
			v, again := q.withDrafts(ctx, a.from, v)
			if err := ctx.Err(); err != nil { // cancelled while a draft was fetched
				return Verdict{}, err
			}
			if again == nil {
				return q.final(v, a.from), nil
			}
			again()
		case <-ctx.Done():
			return Verdict{}, ctx.Err()
		}
	}
}

// hesitation is how long a no that was begun before a yes may take.
const hesitation = 500 * time.Millisecond

// refusal returns the no of another reviewer that was given or begun before the approval v of from
// counts: between a no and a yes at the same time, the no wins.
func (q *question) refusal(ctx context.Context, from *review, v Verdict) (no Verdict, ok bool) {
	if v.Decision != Approve {
		return no, false
	}
	ctx, cancel := context.WithTimeout(ctx, hesitation)
	defer cancel()
	for s, r := range q.reviews {
		hesitant, is := s.reviewer.(Refuser)
		if r == from || r.answered || !is {
			continue
		}
		if no, ok := hesitant.Refused(ctx, q.req.ID); ok && !q.c.isGone(s) {
			no, err := validate(q.req, no)
			return no, err == nil && no.Decision == Reject
		}
	}
	for s, r := range q.reviews {
		if r == from || r.answered || q.c.isGone(s) {
			continue
		}
		if no, ok := r.refused(q.req); ok {
			return no, true
		}
	}
	return no, false
}

// refused returns the no that r has returned, if it has. It takes no answer from q.answers: the
// text of an approval there is a draft.
func (r *review) refused(req Request) (no Verdict, ok bool) {
	select {
	case <-r.returned:
	default:
		return no, false
	}
	if r.result.err != nil {
		return no, false
	}
	no, err := validate(req, r.result.verdict)
	return no, err == nil && no.Decision == Reject
}

// sync shows the question to reviewers who came and withdraws it from those who left.
func (q *question) sync(ctx context.Context) {
	for s, r := range q.reviews {
		if !r.answered && q.c.isGone(s) {
			q.close(r)
		}
	}
	for _, s := range q.c.attached() {
		if q.reviews[s] == nil {
			q.reviews[s] = q.start(ctx, s)
			q.open++
		}
	}
}

// notifyLast tells the only reviewer left that it is alone.
func (q *question) notifyLast() {
	for _, r := range q.reviews {
		if q.open == 1 && !r.answered {
			r.alone()
		}
	}
}

// close ends a review's part in the question, whether it has answered or not.
func (q *question) close(r *review) {
	r.answered = true
	r.cancel()
	q.open--
}

// start asks the reviewer of s once it is done with earlier questions.
func (q *question) start(ctx context.Context, s *seat) *review {
	ctx, cancel := context.WithCancel(ctx)
	alone := make(chan struct{})
	r := &review{seat: s, cancel: cancel, texts: maps.Clone(q.texts), alone: sync.OnceFunc(func() { close(alone) }), done: make(chan struct{}), returned: make(chan struct{})}
	req := q.req
	req.Alone = alone
	go func() {
		defer crash.Guard()
		defer close(r.done)
		select {
		case s.busy <- struct{}{}:
			defer func() { <-s.busy }()
		case <-ctx.Done():
			return
		}
		v, err := reviewSafely(ctx, s.reviewer, req)
		r.result = answer{r, v, err}
		close(r.returned)
		select {
		case q.answers <- r.result:
		case <-ctx.Done(): // withdrawn: a late answer is void
		}
	}()
	return r
}

// reviewSafely calls Review and returns a panic as an error.
func reviewSafely(ctx context.Context, r Reviewer, req Request) (v Verdict, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the reviewer failed: %v", p)
		}
	}()
	return r.Review(ctx, req)
}

// accept returns the verdict of an answer. ok is false if the reviewer has been detached,
// failed, or did not answer this question.
func (q *question) accept(a answer) (v Verdict, ok bool) {
	if a.from.answered {
		return Verdict{}, false
	}
	gone := q.c.isGone(a.from.seat)
	q.close(a.from)
	if gone {
		return Verdict{}, false
	}
	v, err := a.verdict, a.err
	if err == nil {
		v, err = validate(q.req, v)
	}
	if err != nil {
		q.failed = append(q.failed, err)
		return Verdict{}, false
	}
	return v, true
}

// validate rejects verdicts that cannot be meant for req and clears what means nothing in
// a rejection.
func validate(req Request, v Verdict) (Verdict, error) {
	switch {
	case v.Unasked:
		return v, ErrUndecided
	case v.Decision == Reject:
		v.Session, v.Always, v.Except, v.Texts, v.Unsure, v.Mode, v.Answer = false, nil, nil, nil, "", "", ""
		return v, nil
	case v.Decision != Approve:
		return v, fmt.Errorf("the reviewer answered with the unknown decision %d", v.Decision)
	case req.Subject == nil:
		return v, errors.New("the request is about nothing")
	}
	if err := req.Subject.fits(v); err != nil {
		return v, err
	}
	return v, req.offers(v.Always)
}

// offers returns an error if the rule a, which may be nil, may not be made.
func (r Request) offers(a *Always) error {
	switch {
	case a == nil:
		return nil
	case r.Offer == nil:
		return errors.New("the reviewer wants a rule that was not offered")
	}
	if err := r.Offer.Check(a.Rule); err != nil {
		return fmt.Errorf("the reviewer wants a rule that may not be made: %w", err)
	}
	return nil
}

// restart takes the question from everybody, to be asked again.
func (q *question) restart() {
	for seat, r := range q.reviews {
		if !r.answered {
			q.close(r)
		}
		q.past = append(q.past, r)
		delete(q.reviews, seat)
	}
	clear(q.fetched)
}

// final returns the verdict for v of the reviewer from, with the texts that it approves: the
// caller only knows the first proposals.
func (q *question) final(v Verdict, from *review) Verdict {
	if v.Decision == Approve {
		v = v.fill(from.texts)
	}
	v.Feedback = joinWords(q.said.Feedback, v.Feedback)
	v.Comments = append(slices.Clip(q.said.Comments), v.Comments...)
	return v
}

// nobody returns the verdict for a question with no reviewer left.
func (q *question) nobody() Verdict {
	v := Verdict{Unasked: true, By: "nobody", Feedback: "nobody could be asked"}
	var why []string
	for _, err := range q.failed {
		if !errors.Is(err, ErrUndecided) {
			why = append(why, err.Error())
		}
	}
	if len(why) > 0 {
		v.Feedback += ": " + strings.Join(why, "; ")
	}
	return v
}

// withdraw takes the question from every surface and waits for that, for at most a
// second. Nothing reads the answer of a reviewer that returns later.
func (q *question) withdraw() {
	all := q.past
	for _, r := range q.reviews {
		r.cancel()
		all = append(all, r)
	}
	deadline := time.NewTimer(withdrawal)
	defer deadline.Stop()
	for _, r := range all {
		select {
		case <-r.done:
		case <-deadline.C:
			return
		}
	}
}
