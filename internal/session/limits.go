package session

import (
	"fmt"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// Limits limits the cost of a prompt or of a session. Zero means no limit. They are
// checked before each request, so one request may exceed them.
type Limits struct {
	MaxTurns   int     // requests to the model for one prompt
	MaxTokens  int64   // input and output tokens of the session
	MaxCostUSD float64 // of the session
}

// LimitError names the limit that ended a turn, and the remedy.
type LimitError struct{ Reason string }

// Error returns the reason.
func (e *LimitError) Error() string { return e.Reason }

// check returns an error if the next request would exceed a limit, after rounds
// requests for this prompt and with the usage of the session. A limit in money counts
// as exceeded if the last request had no known price.
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
		return &LimitError{"stopped: there is a cost limit (max_cost_usd), but the price of this model is unknown: " +
			"set its price_input and price_output, or remove the limit"}
	}
	return nil
}
