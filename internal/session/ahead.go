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

// ahead runs calls that only read, or that sub-agents carry out, before their turn comes, so
// that they run at the same time. The results keep the order of the calls. No call that
// reads asks out of turn; sub-agents ask when they need to.
type ahead struct {
	turn    *turn
	calls   []*aheadCall
	tools   map[string]llm.ToolSpec
	running crash.Group
	// errands are for the goroutine of the turn, which runs them while it waits for a call.
	errands chan func()
	share
}

// aheadCall is a call of an answer. The goroutine that runs it ahead owns its outcome until
// done is closed.
type aheadCall struct {
	llm.ToolCall
	title string
	call  tools.Call

	turn, done chan struct{} // nil unless the call runs ahead; turn is closed when its turn comes
	early      string        // its output before its turn came; of the goroutine of the turn
	res        tools.Result
	err        error
	took       time.Duration
}

func newAhead(t *turn, calls []*aheadCall) *ahead {
	a := &ahead{turn: t, calls: calls, tools: map[string]llm.ToolSpec{}, errands: make(chan func()), share: share{under: map[*aheadCall]bool{}}}
	for _, s := range t.loop.opt.Tools.Specs() {
		a.tools[s.Name] = s
	}
	return a
}

// start runs call i and those after it ahead, up to the first of another kind. They run
// until ctx ends.
func (a *ahead) start(ctx context.Context, i int) {
	end := i
	for end < min(len(a.calls), i+maxAhead) && a.may(i, end) {
		end++
	}
	if end-i < 2 && !a.tools[a.calls[i].Name].Delegates {
		return
	}
	begins := 0
	for _, p := range a.calls[i:end] {
		if p.done == nil && a.tools[p.Name].Delegates {
			begins++
		}
	}
	a.turn.price(begins)
	for _, p := range a.calls[i:end] {
		if p.done == nil {
			p.turn, p.done = make(chan struct{}), make(chan struct{})
			p.call.Await = p.await
			if a.tools[p.Name].Delegates {
				p.call.Budget, p.call.Progress = budget{a, p}, func(chunk string) { a.output(ctx, p, chunk) }
			}
			a.running.Go(func() { p.run(ctx, a) })
		}
	}
}

// may reports whether call i may run ahead at the same time as call first.
func (a *ahead) may(first, i int) bool {
	like, of := a.tools[a.calls[first].Name], a.tools[a.calls[i].Name]
	return a.calls[i].Problem == "" && (of.Reads && like.Reads || of.Delegates && like.Delegates)
}

// do runs f on the goroutine of the turn, and reports whether it will: not if ctx ends
// before.
func (a *ahead) do(ctx context.Context, f func()) bool {
	select {
	case a.errands <- f:
		return true
	case <-ctx.Done():
		return false
	}
}

// output emits output of p, once its turn has come.
func (a *ahead) output(ctx context.Context, p *aheadCall, chunk string) {
	a.do(ctx, func() {
		select {
		case <-p.turn:
			a.turn.loop.opt.Emit(CallOutput{ID: p.ID, Text: chunk})
		default:
			p.early += chunk
		}
	})
}

// wait waits for p, which runs ahead.
func (a *ahead) wait(p *aheadCall) {
	for {
		select {
		case f := <-a.errands:
			f()
		case <-p.done:
			return
		}
	}
}

// settle appends the results of the sub-agents from call i on that were cancelled: some of
// their work may be done.
func (a *ahead) settle(ctx context.Context, i int) {
	for _, p := range a.calls[i:] {
		if p.done == nil || !a.tools[p.Name].Delegates {
			return
		}
		_, _, _ = a.turn.runCall(ctx, a, p) // the turn ends anyway
	}
}

// end waits for all calls that run ahead. Those whose turn did not come were cancelled.
func (a *ahead) end() {
	for _, p := range a.calls {
		if p.done != nil {
			a.wait(p)
		}
	}
	a.running.Wait()
}

// budget lets the sub-agent of a call spend within the limits of the turn.
type budget struct {
	ahead *ahead
	call  *aheadCall
}

// Allow implements tools.Budget.
func (b budget) Allow(ctx context.Context) error {
	allowed := make(chan error, 1)
	if !b.ahead.do(ctx, func() { b.ahead.allow(ctx, b.call, allowed) }) {
		return ctx.Err()
	}
	select {
	case err := <-allowed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Used implements tools.Budget.
func (b budget) Used(ctx context.Context, u llm.Usage, unpriced bool) {
	b.ahead.errands <- func() {
		b.ahead.turn.loop.spend(ctx, u, unpriced)
		b.ahead.learn(u)
		b.ahead.free(b.call)
	}
}

// errNoReturn is the error of a tool that ended its goroutine.
var errNoReturn = errors.New("the tool did not return")

// await waits until it is the call's turn.
func (p *aheadCall) await(ctx context.Context) error {
	select {
	case <-p.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run runs the call ahead of its turn.
func (p *aheadCall) run(ctx context.Context, a *ahead) {
	defer close(p.done)
	p.err = errNoReturn
	began := a.turn.loop.opt.Now()
	p.res, p.err = a.turn.invoke(ctx, p.ToolCall, p.call)
	p.took = a.turn.loop.opt.Now().Sub(began)
	if p.call.Budget != nil {
		a.do(ctx, func() { a.free(p) })
	}
}

// result returns the outcome of p, whose turn it is.
func (a *ahead) result(ctx context.Context, p *aheadCall) (tools.Result, time.Duration, error) {
	t := a.turn
	if p.done != nil {
		if close(p.turn); p.early != "" {
			t.loop.opt.Emit(CallOutput{ID: p.ID, Text: p.early})
		}
		a.wait(p)
		return p.res, p.took, p.err
	}
	began := t.loop.opt.Now()
	res, err := t.perform(ctx, p.ToolCall, p.call)
	return res, t.loop.opt.Now().Sub(began), err
}
