package session

import (
	"context"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// share divides the rest of a limit among the sub-agents of an answer. It belongs to the goroutine of
// the turn.
type share struct {
	under map[*aheadCall]bool // whose request is under way
	held  []func()            // requests that wait for one of those
	most  llm.Usage           // of a request so far; zero if none has ended
}

// allow answers whether the sub-agent of p may make a request, once those under way leave room for it.
func (a *ahead) allow(ctx context.Context, p *aheadCall, answer chan<- error) {
	delete(a.under, p) // its last request has failed
	if ctx.Err() == nil && len(a.under) > 0 && !a.leavesRoom() {
		a.held = append(a.held, func() { a.allow(ctx, p, answer) })
		return
	}
	err := a.turn.withinLimits(ctx, turnLimit, requestLimit)
	if err == nil {
		a.under[p] = true
	}
	answer <- err
}

// leavesRoom reports whether the limits allow a request if each of those under way costs as much as
// the dearest so far. The first one goes alone.
func (a *ahead) leavesRoom() bool {
	l := a.turn.limits.without([]limit{turnLimit, timeLimit, requestLimit})
	if l.MaxTokens == 0 && l.MaxCostUSD == 0 && l.MaxDayUSD == 0 {
		return true
	}
	s, err := a.turn.spent()
	if err != nil || a.most == (llm.Usage{}) {
		return false
	}
	n := len(a.under)
	s.used.Output += int64(n) * (a.most.Input + a.most.Output)
	s.used.CostUSD += float64(n) * a.most.CostUSD
	s.today += float64(n) * a.most.CostUSD
	return l.check(s) == nil
}

// learn notes the usage of a request.
func (a *ahead) learn(u llm.Usage) {
	a.most.Input, a.most.Output = max(a.most.Input, u.Input), max(a.most.Output, u.Output)
	a.most.CostUSD = max(a.most.CostUSD, u.CostUSD)
}

// free lets requests begin that waited for the end of p's.
func (a *ahead) free(p *aheadCall) {
	delete(a.under, p)
	held := a.held
	a.held = nil
	for _, again := range held {
		again()
	}
}
