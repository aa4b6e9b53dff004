package openai

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/openai/wire"
)

const (
	firstWait = 500 * time.Millisecond // before the second attempt; doubled for each further one
	longWait  = 30 * time.Second       // limit of the computed waits
	maxWait   = 60 * time.Second       // limit of a wait that the server asked for
	// endTime is how long the token count and the end mark may take once the model has
	// finished.
	endTime = 5 * time.Second
)

// The causes that cancel an attempt.
var (
	errIdle    = errors.New("no part of the answer has come for too long")
	errStalled = errors.New("no further part of the answer has come for too long")
	errTotal   = errors.New("the answer has taken too long")
	errStopped = errors.New("the caller stopped reading")
	errEndless = errors.New("the answer does not end")
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

// stream repeats the request until there is an answer, an error that another attempt
// would not change, or a part of an answer was delivered. It returns errStopped if emit
// returns false.
func (c *Client) stream(ctx context.Context, req llm.Request, emit func(llm.Delta) bool) error {
	if c.base == nil {
		return c.reporter().addressFailure()
	}
	q := c.conv.encode(req)
	for attempt := 1; ; attempt++ {
		a := &answer{}
		err := c.attempt(ctx, q, a, emit)
		if err == nil || errors.Is(err, errStopped) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fail := c.reporter().explain(err)
		if !a.began && wire.MustAlternate(fail.err) && c.conv.insist() {
			q = c.conv.encode(req)
			continue
		}
		if a.began || !fail.again || attempt >= c.opt.Limits.MaxAttempts {
			return fail.err
		}
		wait := c.wait(attempt, fail.err.RetryAfter)
		retry := &llm.Retry{
			Attempt: attempt + 1, Max: c.opt.Limits.MaxAttempts, Wait: wait, Reason: fail.reason(),
		}
		if !emit(llm.Delta{Retry: retry}) {
			return errStopped
		}
		if err := c.opt.Clock.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// wait returns the time before the next attempt: the one that the server asked for, else an
// exponential backoff with jitter.
func (c *Client) wait(attempt int, asked time.Duration) time.Duration {
	if asked > 0 {
		return min(asked, maxWait)
	}
	d := min(firstWait<<(attempt-1), longWait)
	return d/2 + time.Duration(c.opt.Clock.Rand()*float64(d/2))
}

// attempt sends q once and delivers the answer. It returns nil after it has delivered
// the end of a complete answer.
func (c *Client) attempt(ctx context.Context, q query, a *answer, emit func(llm.Delta) bool) error {
	key, err := c.key.get(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	total := newWatch(c.opt.Limits.Total, func() { cancel(errTotal) })
	defer total.stop()
	idle := newWatch(c.opt.Limits.Idle, func() { cancel(errIdle) })
	defer idle.stop()

	r, err := c.send(ctx, key, q, cancel)
	if err != nil {
		return cause(ctx, err)
	}
	err = c.receive(r.Events, a, idle, emit)
	if err == nil {
		idle.stop()
		if !emit(llm.Delta{End: a.end(q.size(), c.opt.Prices, c.conv.used)}) {
			err = errStopped
		}
	} else {
		err = cause(ctx, err)
		if a.began && errors.Is(err, errIdle) {
			err = errStalled
		}
	}
	// An error of Close changes nothing: the answer is complete, or the error is known.
	_ = r.Close()
	return err
}

// cause returns the cause of ctx if ctx has ended, else err.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil && !errors.Is(err, errStopped) {
		return context.Cause(ctx)
	}
	return err
}

// receive delivers the parts of the answer until it has ended in order. The time that
// the caller takes to use a part does not count as silence of the server.
func (c *Client) receive(events *wire.Events, a *answer, idle *watch, emit func(llm.Delta) bool) error {
	fail := func(e *wire.Error) error { return c.reporter().serverFailure(e, 0) }
	for {
		var content bool
		var failed error
		a.deltas = a.deltas[:0]
		err := events.Receive(func(event []byte) error {
			var some bool
			some, failed = a.add(event, fail)
			content = content || some
			return failed
		})
		a.flush()
		if content {
			idle.stop()
		}
		for _, d := range a.deltas {
			if !emit(d) {
				return errStopped
			}
		}
		switch {
		case failed != nil:
			return failed
		case err != nil:
			return a.ended(err)
		}
		switch {
		case a.finish != "":
			idle.reset(min(c.opt.Limits.Idle, endTime))
		case content:
			idle.reset(c.opt.Limits.Idle)
		}
	}
}

// ended returns nil if the answer is complete although the stream ended with err: the
// model has finished, or the server marked the end of an answer.
func (a *answer) ended(err error) error {
	switch {
	case a.finish != "":
		return nil
	case errors.Is(err, io.EOF) && a.began:
		return nil
	case errors.Is(err, io.EOF):
		return wire.ErrUnfinished
	}
	return err
}
