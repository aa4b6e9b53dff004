package remote

import (
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
)

const (
	firstWait = 500 * time.Millisecond // before the second attempt; doubled for each further one
	longWait  = 30 * time.Second       // limit of the computed waits
	maxWait   = 10 * time.Minute       // the longest wait that a server may ask for; after that, the request fails
	// endTime is how long the token count and the end mark may take once the model has
	// finished.
	endTime = 5 * time.Second
)

// The causes that cancel an attempt.
var (
	errIdle    = errors.New("the server sent nothing for too long")
	errStalled = errors.New("the server sent nothing more for too long")
	errTotal   = errors.New("the answer took too long")
	errStopped = errors.New("the caller stopped reading")
	errEndless = errors.New("the answer does not end")
	errPauses  = errors.New("the server pauses the answer again and again")
)

// maxAnswer limits a received answer, in bytes: several times the longest one, and less
// than would fill the memory.
const maxAnswer = 128 << 20

// Stream implements llm.Model.
func (c *Client) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		emit := func(d llm.Delta) bool { return yield(d, nil) }
		if err := c.stream(ctx, req, emit); err != nil && !errors.Is(err, errStopped) {
			yield(llm.Delta{}, err)
		}
	}
}

// stream repeats the request until there is a complete answer or an error that another
// attempt would not change. It returns errStopped if emit returns false.
func (c *Client) stream(ctx context.Context, req llm.Request, emit func(llm.Delta) bool) error {
	if c.base == nil {
		return c.reporter().addressFailure()
	}
	t := trial{patience: c.opt.Limits.Idle}
	for attempt := 1; ; attempt++ {
		fail, learned, err := c.once(ctx, req, &t, attempt, emit)
		if fail == nil {
			return err
		}
		if learned {
			continue
		}
		if !fail.again || attempt >= c.opt.Limits.MaxAttempts {
			return fail.err
		}
		wait := c.wait(attempt, fail.err.RetryAfter)
		if !emit(c.again(attempt, fail.reason(), wait)) {
			return errStopped
		}
		if err := c.opt.Clock.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// once makes an attempt. It returns a failure if the request may be sent again; learned reports
// whether the failure has changed it.
func (c *Client) once(ctx context.Context, req llm.Request, t *trial, attempt int, emit func(llm.Delta) bool) (fail *failure, learned bool, err error) {
	r, sent, lessons, err := c.encode(req)
	if err != nil {
		return nil, false, err
	}
	if attempt == 1 {
		t.notes = c.cut(req, sent)
	}
	a := &receiver{answer: c.protocol.Answer(), patience: t.patience}
	err = c.attempt(ctx, r, a, t.telling(emit))
	if err == nil || errors.Is(err, errStopped) {
		c.accept(sent, err)
		return nil, false, err
	}
	if ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	rep := c.reporter()
	rep.limits.Idle = t.patience
	fail = rep.explain(err)
	if errors.Is(err, errIdle) || errors.Is(err, errStalled) {
		t.patience = min(2*t.patience, c.opt.Limits.Total)
	}
	learned = !a.began && c.learn(fail, sent, lessons, t, attempt)
	if learned && t.text != "" && !emit(c.again(attempt, fail.reason()+"; the newest parts are left out", 0)) {
		return nil, false, errStopped
	}
	return fail, learned, nil
}

// again returns the notice of another attempt.
func (c *Client) again(attempt int, reason string, wait time.Duration) llm.Delta {
	return llm.Delta{Retry: &llm.Retry{Attempt: attempt + 1, Max: c.opt.Limits.MaxAttempts, Wait: wait, Reason: reason}}
}

// encode encodes req in the form that refusals have taught. It returns the request with the
// parts that are sent, and the number of those lessons.
func (c *Client) encode(req llm.Request) (r Request, sent llm.Request, lessons int, err error) {
	c.learning.Lock()
	lessons = c.lessons
	sent = c.omitted.apply(req)
	c.learning.Unlock()
	r, err = c.protocol.Encode(sent)
	return r, sent, lessons, err
}

// cut returns a message about tools that are left out of a request from the beginning, once.
func (c *Client) cut(req, sent llm.Request) []string {
	c.learning.Lock()
	defer c.learning.Unlock()
	o := &c.omitted
	left := len(req.Tools) - len(o.tools) - len(sent.Tools)
	if left <= 0 || o.maxTools == o.told {
		return nil
	}
	o.told = o.maxTools
	return []string{tooMany(o.maxTools, left)}
}

// accept records that the server accepted a request, unless err is not nil.
func (c *Client) accept(sent llm.Request, err error) {
	if err == nil {
		c.learning.Lock()
		defer c.learning.Unlock()
		c.omitted.accept(sent)
	}
}

// learn adapts requests to the refusal of one that was encoded after so many lessons. It
// reports whether the request is worth another attempt: also if another request has taught
// something meanwhile, which this one did not know yet.
func (c *Client) learn(fail *failure, sent llm.Request, lessons int, t *trial, attempt int) (learned bool) {
	c.learning.Lock()
	defer c.learning.Unlock()
	refusal := fail.err
	if lessons != c.lessons && refusal.AboutForm() {
		return true
	}
	failed := c.omitted.failed(t, refusal)
	if refusal.AboutForm() {
		text := strings.ToLower(refusal.Message + " " + refusal.Field)
		image := !failed && !RefusesImages(text) && aboutImages.MatchString(text) && !aboutNothing.MatchString(text) && len(c.omitted.newImages(sent.Messages)) > 0
		var told string
		told, learned = c.omitted.learnTools(refusal, sent)
		learned = learned || !image && c.protocol.Learn(refusal)
		if !learned {
			told, learned = c.omitted.learn(refusal, sent)
		}
		if told != "" {
			t.notes = append(t.notes, told)
		}
	}
	learned = learned || c.omitted.try(t, fail, sent, attempt)
	if learned {
		c.lessons++
	}
	return learned
}

// wait returns the time before the next attempt: the one that the server asked for, else an
// exponential backoff with jitter.
func (c *Client) wait(attempt int, asked time.Duration) time.Duration {
	if asked > 0 {
		return asked
	}
	d := min(firstWait<<(attempt-1), longWait)
	return d/2 + time.Duration(c.opt.Clock.Rand()*float64(d/2))
}

// maxPauses bounds how often a server may pause one answer.
const maxPauses = 16

// attempt sends req once, and again with the answer so far when the server pauses it, and
// delivers the answer. It returns nil after it has delivered the end of a complete answer.
func (c *Client) attempt(ctx context.Context, req Request, a *receiver, emit func(llm.Delta) bool) error {
	key, err := c.key.get(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	total := newWatch(c.opt.Limits.Total, func() { cancel(errTotal) })
	defer total.stop()
	idle := newWatch(a.patience, func() { cancel(errIdle) })
	defer idle.stop()
	a.idle = idle
	if c.opt.Local {
		idle.stop() // until the first part
	}
	for pauses, next := 0, req; ; pauses++ {
		paused := false
		err := c.exchange(ctx, key, next, a, func(events *Events) (err error) {
			if err := c.receive(events, a, emit); err != nil {
				return err
			}
			if next, paused = a.resume(req); !paused {
				idle.stop()
				return a.finish(req.Size, c.opt.Prices, emit)
			}
			if pauses == maxPauses {
				return errPauses
			}
			idle.reset(a.patience)
			return nil
		})
		if err = cause(ctx, err); a.began && errors.Is(err, errIdle) {
			err = errStalled
		}
		if err != nil || !paused {
			return err
		}
	}
}

// exchange sends req and has the events of the reply received.
func (c *Client) exchange(ctx context.Context, key string, req Request, a *receiver, receive func(*Events) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r, err := c.send(ctx, key, req, a.alive(c.opt.Local), cancel)
	if err != nil {
		var again bool
		if key, again, err = c.key.again(ctx, key, err); again {
			r, err = c.send(ctx, key, req, a.alive(c.opt.Local), cancel)
		}
	}
	if err != nil {
		return err
	}
	err = receive(r.Events)
	// An error of Close changes nothing: the answer is complete, or the error is known.
	_ = r.Close()
	return err
}

// cause returns the cause of ctx if err is not nil and ctx has ended, else err.
func cause(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && !errors.Is(err, errStopped) {
		return context.Cause(ctx)
	}
	return err
}

// marked is an Answer of a protocol without an event for the end of an answer.
type marked interface {
	// EndsByMark reports whether the end mark of the stream completes the answer.
	EndsByMark() bool
}

func (r *receiver) endsByMark() bool {
	answer, ok := r.answer.(marked)
	return ok && answer.EndsByMark()
}

// receiver holds the state of one attempt.
type receiver struct {
	answer   Answer
	idle     *watch
	patience time.Duration // of idle
	received int           // bytes of all events
	said     int           // bytes of text and reasoning
	began    bool
	ended    bool
}

// alive returns a function for each sign of life of the server, such as a comment that keeps
// the connection open. One that works on a long prompt sends nothing else.
func (r *receiver) alive(local bool) func() {
	return func() {
		if !r.ended && (r.began || !local) {
			r.idle.reset(r.patience)
		}
	}
}

// resumer is an Answer that the server may pause.
type resumer interface {
	// Resume returns req with the answer so far, to which the next events add. It returns
	// false if the server did not pause the answer.
	Resume(req Request) (Request, bool)
}

// resume returns the request that continues a paused answer to req.
func (r *receiver) resume(req Request) (next Request, paused bool) {
	answer, ok := r.answer.(resumer)
	if !ok {
		return Request{}, false
	}
	if next, paused = answer.Resume(req); paused {
		r.ended = false
	}
	return next, paused
}

// add reads an event.
func (r *receiver) add(event []byte) (Progress, error) {
	if r.received += len(event); r.received > maxAnswer {
		return Nothing, errEndless
	}
	p, err := r.answer.Add(event)
	r.began = r.began || p >= Part
	r.ended = r.ended || p == Ended
	return p, err
}

// receive delivers the parts of the answer until it has ended properly. The time that
// the caller takes to use a part does not count as silence of the server.
func (c *Client) receive(events *Events, r *receiver, emit func(llm.Delta) bool) error {
	for {
		part := false
		var failed error
		err := events.Receive(func(event []byte) error {
			p, err := r.add(event)
			part = part || p >= Part
			if err != nil && !errors.Is(err, io.EOF) {
				failed = err
			}
			return err
		})
		if part {
			r.idle.stop()
		}
		for _, d := range r.answer.Deltas() {
			r.said += len(d.Text) + len(d.Reasoning)
			if !emit(d) {
				return errStopped
			}
		}
		var server *ServerError
		switch {
		case errors.As(failed, &server):
			return c.reporter().serverFailure(server, 0)
		case failed != nil:
			return failed
		case err != nil:
			return r.outcome(err)
		case r.ended:
			r.idle.reset(min(r.patience, endTime))
		case part:
			r.idle.reset(r.patience)
		}
	}
}

// outcome returns nil if the answer is complete although the stream ended with err: the
// model has finished, or the server marked the end of an answer.
func (r *receiver) outcome(err error) error {
	switch {
	case r.ended, errors.Is(err, io.EOF) && r.began && r.endsByMark():
		return nil
	case errors.Is(err, io.EOF):
		return ErrUnfinished
	}
	return &brokenError{err}
}

// bytesPerToken estimates tokens if a server does not count them.
const bytesPerToken = 3.8

// maxTokens is more than any answer has; sums of it stay within an int64.
const maxTokens = 1 << 40

// finish delivers the rest of the answer and its end. sent is as for end.
func (r *receiver) finish(sent int, prices Prices, emit func(llm.Delta) bool) error {
	end := r.end(sent, prices)
	for _, d := range r.answer.Deltas() {
		if !emit(d) {
			return errStopped
		}
	}
	if !emit(llm.Delta{End: end}) {
		return errStopped
	}
	return nil
}

// end returns the whole answer. sent is the size of the request in bytes.
func (r *receiver) end(sent int, prices Prices) *llm.End {
	end := r.answer.End()
	if !credible(end.Usage) {
		said := r.said
		for _, call := range end.Calls {
			said += len(call.Args)
		}
		end.Usage = llm.Usage{
			Input: int64(float64(sent) / bytesPerToken), Output: int64(float64(said)/bytesPerToken) + 1,
			Estimated: true,
		}
	}
	if prices != (Prices{}) {
		end.Usage.CostUSD, end.Usage.SavedUSD = prices.cost(end.Usage)
	}
	return end
}

// credible reports whether a server's counts can be true. The limits of a session
// rest on them: a count below zero, or one that overflows, would lift them.
func credible(u llm.Usage) bool {
	return !u.Estimated && min(u.Input, u.Output, u.Cached, u.Written, u.WrittenHour, u.Searches) >= 0 &&
		max(u.Input, u.Output) <= maxTokens && u.Cached+u.Written <= u.Input && u.WrittenHour <= u.Written
}
