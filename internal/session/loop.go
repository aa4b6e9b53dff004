package session

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// Toolset is what the model can call. Its methods are called by one goroutine
// at a time.
type Toolset interface {
	Specs() []llm.ToolSpec
	// Title describes a call in one line for the user; args may be invalid.
	Title(name string, args json.RawMessage) string
	// Call runs the tool. An error means that the turn cannot go on.
	Call(ctx context.Context, name string, call tools.Call) (tools.Result, error)
}

// Limits bound what one prompt or one session may cost. Zero means no limit.
// They are looked at before each request, so one request may overshoot them.
type Limits struct {
	MaxTurns   int     // requests to the model for one prompt
	MaxTokens  int64   // input and output tokens of the session
	MaxCostUSD float64 // of the session
}

// Options says what a Loop works with. Model and Tools are required.
type Options struct {
	Model llm.Model
	Tools Toolset
	// System returns the system prompt; it is asked before each request and
	// returns the same bytes while nothing has changed.
	System func(ctx context.Context) string
	// Store keeps the conversation; what it holds already is continued. Without
	// one nothing is kept.
	Store  *Store
	Limits Limits
	// Emit is given every event, in order, and never two at a time. It must not
	// block for long: the loop waits for it.
	Emit func(Event)
	// Queued takes the text that the user typed since it was last called.
	Queued func() []string
	Now    func() time.Time // nil means time.Now
}

// Loop runs a conversation. It is owned by one goroutine: no two of its methods
// may run at the same time.
type Loop struct{}

// New returns a Loop that continues what opt.Store holds.
func New(opt Options) (*Loop, error) { return nil, errors.ErrUnsupported }

// Run answers a prompt: it asks the model and runs its calls until the model
// has nothing left to do. It returns nil if the turn ran to its end or the user
// said no, and else the error of TurnEnded: ctx's, a *LimitError, or why the
// request or a tool failed. Whatever happened, the next Run continues.
func (l *Loop) Run(ctx context.Context, prompt string) error { return errors.ErrUnsupported }

// SetModel makes the next request go to m.
func (l *Loop) SetModel(m llm.Model) {}

// Usage returns what the session has used so far.
func (l *Loop) Usage() llm.Usage { return llm.Usage{} }

// Messages returns a copy of the conversation.
func (l *Loop) Messages() []llm.Message { return nil }

// Use leaves the session and goes on with the one in store: a new one, or one
// that was kept. The store used so far is closed.
func (l *Loop) Use(store *Store) error { return errors.ErrUnsupported }

// LimitError says which limit ended a turn.
type LimitError struct{ Reason string }

// Error returns the reason.
func (e *LimitError) Error() string { return e.Reason }
