package session

import (
	"context"
	"errors"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// maxAhead is how many calls may run at the same time.
const maxAhead = 8

// ahead runs calls that only read before their turn comes, so that they run at the same
// time. The results keep the order of the calls, and nobody is asked out of turn.
type ahead struct {
	turn    *turn
	calls   []*pending
	reads   map[string]bool // the names of the tools that only read
	running crash.Group
}

// pending is a call of an answer. The goroutine that runs it ahead owns its outcome until
// done is closed.
type pending struct {
	llm.ToolCall
	title string
	call  tools.Call

	turn, done chan struct{} // nil unless the call runs ahead; turn is closed when its turn comes
	res        tools.Result
	err        error
	took       time.Duration
}

func newAhead(t *turn, calls []*pending) *ahead {
	a := &ahead{turn: t, calls: calls, reads: map[string]bool{}}
	for _, s := range t.loop.opt.Tools.Specs() {
		a.reads[s.Name] = s.Reads
	}
	return a
}

// start runs call i and those after it ahead, up to the first that does more than read.
// They run until ctx ends.
func (a *ahead) start(ctx context.Context, i int) {
	end := i
	for end < min(len(a.calls), i+maxAhead) && a.reads[a.calls[end].Name] && a.calls[end].Problem == "" {
		end++
	}
	if end-i < 2 {
		return
	}
	for _, p := range a.calls[i:end] {
		if p.done == nil {
			p.turn, p.done = make(chan struct{}), make(chan struct{})
			p.call.Await = p.await
			a.running.Go(func() { p.run(ctx, a.turn) })
		}
	}
}

// errNoReturn is the error of a tool that ended its goroutine.
var errNoReturn = errors.New("the tool did not return")

// await waits until it is the call's turn.
func (p *pending) await(ctx context.Context) error {
	select {
	case <-p.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run runs the call ahead of its turn.
func (p *pending) run(ctx context.Context, t *turn) {
	defer close(p.done)
	p.err = errNoReturn
	began := t.loop.opt.Now()
	p.res, p.err = t.invoke(ctx, p.ToolCall, p.call)
	p.took = t.loop.opt.Now().Sub(began)
}

// result returns the outcome of the call, whose turn it is.
func (p *pending) result(ctx context.Context, t *turn) (tools.Result, time.Duration, error) {
	if p.done != nil {
		close(p.turn)
		<-p.done
		return p.res, p.took, p.err
	}
	began := t.loop.opt.Now()
	res, err := t.perform(ctx, p.ToolCall, p.call)
	return res, t.loop.opt.Now().Sub(began), err
}
