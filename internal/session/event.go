package session

import (
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// Event is something that a face of the program may show. Events are emitted in
// order, by the goroutine that runs the loop.
type Event interface{ event() }

// Typed names the call of a command that the user typed, in its events.
const Typed = "shell"

// The events of a turn, in the order in which they can occur.
type (
	// TurnStarted opens a turn.
	TurnStarted struct{ Prompt string }
	// RequestStarted is emitted before each request to the model.
	RequestStarted struct{ Round int }
	// TextDelta is a piece of the answer.
	TextDelta struct{ Text string }
	// ReasoningDelta is a piece of the model's reasoning.
	ReasoningDelta struct{ Text string }
	// CallPending is the progress of a call that is being received.
	CallPending struct{ llm.Pending }
	// Retrying says that a request is being sent again.
	Retrying struct{ llm.Retry }
	// AnswerEnded closes one answer of the model.
	AnswerEnded struct {
		Usage   llm.Usage // of this request
		Total   llm.Usage // of the session
		Context int64     // tokens in the model's context now
		Window  int64     // that the model has; zero if not known
	}
	// CallStarted is emitted before a tool runs (or is asked about).
	CallStarted struct {
		Call  llm.ToolCall
		Title string
	}
	// CallOutput is output of a running tool, as it comes.
	CallOutput struct{ ID, Text string }
	// CallEnded carries what a call came to.
	CallEnded struct {
		Call   llm.ToolCall
		Title  string
		Result tools.Result
		Took   time.Duration
	}
	// Filled says how full the model's context is, where that has changed
	// otherwise than by an answer: a session was resumed, compacted or rewound, or
	// the model was changed.
	Filled struct {
		Context int64     // tokens, estimated
		Window  int64     // that the model has; zero if not known
		Total   llm.Usage // of the session
	}
	// Compacting says that the conversation is being compacted, which may take a
	// request. Filled follows.
	Compacting struct{}
	// Queued says that text typed during the turn was delivered to the model.
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

// Stop says why a turn ended.
type Stop string

// The ways in which a turn ends.
const (
	StopDone      Stop = "done"
	StopDenied    Stop = "denied"    // the user said no without a comment
	StopCancelled Stop = "cancelled" // Esc, a signal
	StopLimit     Stop = "limit"     // a budget, or the same call again and again
	StopFailed    Stop = "failed"
)

func (TurnStarted) event()    {}
func (RequestStarted) event() {}
func (TextDelta) event()      {}
func (ReasoningDelta) event() {}
func (CallPending) event()    {}
func (Retrying) event()       {}
func (AnswerEnded) event()    {}
func (CallStarted) event()    {}
func (CallOutput) event()     {}
func (CallEnded) event()      {}
func (Filled) event()         {}
func (Compacting) event()     {}
func (Queued) event()         {}
func (Notice) event()         {}
func (TurnEnded) event()      {}
