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
// requests of this prompt and the usage of the session are behind it.
func (l Limits) check(rounds int, used llm.Usage) error {
	switch {
	case l.MaxTurns > 0 && rounds >= l.MaxTurns:
		return &LimitError{fmt.Sprintf(
			"stopped after %d requests for this prompt, the limit (max_turns): say \"go on\", or raise it", rounds)}
	case l.MaxTokens > 0 && used.Input+used.Output >= l.MaxTokens:
		return &LimitError{fmt.Sprintf(
			"stopped: the session has used %d tokens of %d (max_tokens): raise the limit or begin a new session",
			used.Input+used.Output, l.MaxTokens)}
	case l.MaxCostUSD > 0 && used.CostUSD >= l.MaxCostUSD:
		return &LimitError{fmt.Sprintf(
			"stopped: the session has cost $%.2f of $%.2f (max_cost_usd): raise the limit or begin a new session",
			used.CostUSD, l.MaxCostUSD)}
	}
	return nil
}

// maxRepeats is how often the same call may come to the same result in a row.
const maxRepeats = 3

// repeats counts how often in a row the same call came to the same result.
type repeats struct {
	name, args, result string
	n                  int
}

// see returns an error if c is the third of its kind: nothing was changed
// between, so a fourth would come to the same.
func (r *repeats) see(c llm.ToolCall, res tools.Result) error {
	same := r.n > 0 && r.name == c.Name && r.args == c.Args && r.result == res.ForModel
	if !same || len(res.Changes) > 0 {
		*r = repeats{name: c.Name, args: c.Args, result: res.ForModel}
	}
	r.n++
	if r.n < maxRepeats {
		return nil
	}
	*r = repeats{}
	return &LimitError{fmt.Sprintf(
		"stopped: the model called %s %d times in a row with the same result; say how to go on", c.Name, maxRepeats)}
}
