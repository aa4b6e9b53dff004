package session

import (
	"fmt"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// Event is something to show to the user. The goroutine that runs the loop emits events
// in order.
type Event interface{ event() }

// BrokeOff is the line that marks the void part of an answer on a screen.
const BrokeOff = "— the answer broke off; asking again —"

// Cancelled tells the user how a turn ended that they cancelled.
const Cancelled = "Interrupted. Changes made so far are kept."

// Declined tells the user that their refusal without words ended the turn.
const Declined = "Declined. What should I do instead?"

// Typed is the name of the call of a command that the user typed, in its events.
const Typed = "shell"

// The events of a turn, in the order in which they can occur.
type (
	// TurnStarted opens a turn.
	TurnStarted struct{ Prompt string }
	// RequestStarted is emitted before each request to the model.
	RequestStarted struct{ Round int }
	// TextDelta is a piece of the answer.
	TextDelta struct{ Text string }
	// Thinking is emitted when the model begins to reason. It may send no text of it.
	Thinking struct{}
	// ReasoningDelta is a piece of the model's reasoning.
	ReasoningDelta struct{ Text string }
	// CallPending is the progress of a call that is being received.
	CallPending struct{ llm.Pending }
	// Retrying announces that a request is sent again.
	Retrying struct {
		llm.Retry
		// Void reports whether the answer broke off: its text and reasoning so far are
		// void.
		Void bool
	}
	// AnswerEnded closes one answer of the model.
	AnswerEnded struct {
		Usage   llm.Usage // of this request
		Total   llm.Usage // of the session
		Context int64     // tokens in the model's context now
		Window  int64     // of the model; zero if unknown
	}
	// Spent reports a request of a sub-agent.
	Spent struct {
		Usage llm.Usage // of this request
		Total llm.Usage // of the session
	}
	// CallStarted is emitted before a tool runs or asks.
	CallStarted struct {
		Call  llm.ToolCall
		Title string
	}
	// CallOutput is output of a running tool, as it comes.
	CallOutput struct{ ID, Text string }
	// CallEnded carries the result of a call.
	CallEnded struct {
		Call   llm.ToolCall
		Title  string
		Result tools.Result
		Took   time.Duration
	}
	// Filled reports how full the model's context is after a change without an answer:
	// a session was resumed, compacted or rewound, or the model was changed.
	Filled struct {
		Context int64     // tokens, estimated
		Window  int64     // of the model; zero if unknown
		Total   llm.Usage // of the session
	}
	// Compacting announces a compaction, which may take a request. Filled follows.
	Compacting struct{}
	// Queued carries text that was typed during the turn and delivered to the model.
	Queued struct{ Text string }
	// Notice is one line for the user: a limit, a repaired transcript.
	Notice struct{ Text string }
	// TurnEnded closes a turn. Err is nil if it ran to its end.
	TurnEnded struct {
		Err  error
		Stop Stop
		Took time.Duration
	}
)

// Stop is the reason why a turn ended.
type Stop string

// The reasons why a turn ends.
const (
	StopDone      Stop = "done"
	StopDenied    Stop = "denied"    // the user declined without a comment
	StopCancelled Stop = "cancelled" // Esc, a signal
	StopLimit     Stop = "limit"     // a budget, or the same call over and over
	StopFailed    Stop = "failed"
)

// String describes the retry in one line. Its reason is not sanitized.
func (r Retrying) String() string {
	return fmt.Sprintf("%s; retrying in %.0f s (%d of %d)", r.Reason, r.Wait.Seconds(), r.Attempt, r.Max)
}

func (TurnStarted) event()    {}
func (RequestStarted) event() {}
func (TextDelta) event()      {}
func (Thinking) event()       {}
func (ReasoningDelta) event() {}
func (CallPending) event()    {}
func (Retrying) event()       {}
func (AnswerEnded) event()    {}
func (Spent) event()          {}
func (CallStarted) event()    {}
func (CallOutput) event()     {}
func (CallEnded) event()      {}
func (Filled) event()         {}
func (Compacting) event()     {}
func (Queued) event()         {}
func (Notice) event()         {}
func (TurnEnded) event()      {}
