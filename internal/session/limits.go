package session

import (
	"fmt"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// Limits bound what one prompt or one session may cost. Zero means no limit.
// They are looked at before each request, so one request may overshoot them.
type Limits struct {
	MaxTurns   int     // requests to the model for one prompt
	MaxTokens  int64   // input and output tokens of the session
	MaxCostUSD float64 // of the session
}

// LimitError says which limit ended a turn, and what to do.
type LimitError struct{ Reason string }

// Error returns the reason.
func (e *LimitError) Error() string { return e.Reason }

// check returns the limit that a further request would break: the rounds
// requests of this prompt and the usage of the session are behind it. A limit in
// money cannot be kept where the last request had no price: it counts as broken.
func (l Limits) check(rounds int, used llm.Usage, unpriced bool) error {
	switch {
	case l.MaxTurns > 0 && rounds >= l.MaxTurns:
		return &LimitError{fmt.Sprintf(
			"stopped after %d requests for this prompt, the limit (max_turns): say \"go on\", or raise it", rounds)}
	case l.MaxTokens > 0 && used.Input+used.Output >= l.MaxTokens:
		return &LimitError{fmt.Sprintf(
			"stopped: the session has used %d tokens of %d (max_session_tokens): raise the limit or begin a new session",
			used.Input+used.Output, l.MaxTokens)}
	case l.MaxCostUSD > 0 && used.CostUSD >= l.MaxCostUSD:
		return &LimitError{fmt.Sprintf(
			"stopped: the session has cost $%.2f of $%.2f (max_cost_usd): raise the limit or begin a new session",
			used.CostUSD, l.MaxCostUSD)}
	case l.MaxCostUSD > 0 && unpriced:
		return &LimitError{"stopped: there is a limit in money (max_cost_usd), but what this model costs is not known: " +
			"set its price_input and price_output, or take the limit away"}
	}
	return nil
}

// maxRepeats is how often the same call may come to the same result in a row,
// maxFailures how often a tool may fail in the same way, whatever it was given.
const (
	maxRepeats  = 3
	maxFailures = 5
)

// repeats counts how often in a row the same call came to the same result.
type repeats struct {
	name, args, result string
	calls              int // with the same arguments
	failures           int // with any
}

// see returns an error if c is one too many of its kind: nothing was changed
// between, so another would come to the same.
func (r *repeats) see(c llm.ToolCall, res tools.Result) error {
	next := repeats{name: c.Name, args: c.Args, result: res.ForModel, calls: 1}
	if res.Failed && res.Denied == nil {
		next.failures = 1
	}
	if r.name == c.Name && r.result == res.ForModel && len(res.Changes) == 0 {
		if r.args == c.Args {
			next.calls += r.calls
		}
		if next.failures > 0 {
			next.failures += r.failures
		}
	}
	*r = next
	var what string
	switch {
	case r.calls >= maxRepeats:
		what = fmt.Sprintf("called %s %d times in a row with the same result", c.Name, r.calls)
	case r.failures >= maxFailures:
		what = fmt.Sprintf("made %d calls of %s in a row that failed in the same way", r.failures, c.Name)
	default:
		return nil
	}
	*r = repeats{}
	return &LimitError{"stopped: the model " + what + "; say how to go on"}
}
