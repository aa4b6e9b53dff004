package session

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
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
	// Queued takes the text that the user typed since it was last called. It is
	// asked after each batch of calls; what is typed later stays where it is.
	Queued func() []string
	// Compose makes the message of what the user said: it may add to it. Without it
	// the message is the text.
	Compose func(prompt string) llm.Message
	Now     func() time.Time // nil means time.Now
}

// Loop runs a conversation. It is owned by one goroutine: no two of its methods
// may run at the same time.
type Loop struct {
	opt   Options
	chat  *history.Transcript
	used  llm.Usage
	notes []string // for the user, at the start of the next turn
	saved bool     // the last write to the store succeeded
	// unpriced is true if what the last answer cost is not known.
	unpriced bool
}

// New returns a Loop that continues what opt.Store holds.
func New(opt Options) (*Loop, error) {
	if opt.Model == nil || opt.Tools == nil {
		return nil, errors.New("a session needs a model and tools")
	}
	if opt.System == nil {
		opt.System = func(context.Context) string { return "" }
	}
	if opt.Emit == nil {
		opt.Emit = func(Event) {}
	}
	if opt.Queued == nil {
		opt.Queued = func() []string { return nil }
	}
	if opt.Compose == nil {
		opt.Compose = func(prompt string) llm.Message { return history.Text(llm.User, prompt) }
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	l := &Loop{opt: opt}
	if err := l.attach(opt.Store); err != nil {
		return nil, err
	}
	return l, nil
}

// attach continues what store holds, and adds to it the results that a crash
// has left out.
func (l *Loop) attach(store *Store) error {
	var kept Conversation
	if store != nil {
		kept = store.Kept()
	}
	chat, added, notes := history.Rebuild(kept.Entries)
	if len(added) > 0 {
		if err := store.Append(added...); err != nil {
			return err
		}
	}
	l.opt.Store, l.chat, l.used, l.saved = store, chat, kept.Usage, true
	l.notes = slices.Concat(kept.Notes, notes)
	return nil
}

// Use leaves the session and goes on with the one in store: a new one, or one
// that was kept. The store used so far is closed; that it could not be written
// to its end is a notice of the next turn. After an error nothing has changed.
func (l *Loop) Use(store *Store) error {
	before := l.opt.Store
	if err := l.attach(store); err != nil {
		return err
	}
	if before == nil || before == store {
		return nil
	}
	if err := before.Close(); err != nil {
		l.notes = append(l.notes, "The session that was left is not all on disk: "+err.Error()+".")
	}
	return nil
}

// SetModel makes the next request go to m.
func (l *Loop) SetModel(m llm.Model) { l.opt.Model, l.unpriced = m, false }

// Usage returns what the session has used so far.
func (l *Loop) Usage() llm.Usage { return l.used }

// Messages returns what was said and not taken back.
func (l *Loop) Messages() []llm.Message { return messages(l.chat) }

// Prompts lists what the user has said, the oldest first.
func (l *Loop) Prompts() []history.Prompt { return l.chat.Prompts() }

// Rewind takes back the prompt with the given number (see Prompts) and all that
// follows it. Nothing leaves the session's file: that it was taken back is
// appended.
func (l *Loop) Rewind(prompt int) error {
	e, err := l.chat.Rewind(prompt)
	if err != nil {
		return err
	}
	l.save(e)
	return nil
}

// Run answers a prompt: it asks the model and runs its calls until the model
// has nothing left to do. It returns nil if the turn ran to its end or the user
// said no, and else the error of TurnEnded: ctx's, a *LimitError, or why the
// request or a tool failed. Whatever happened, the next Run continues.
func (l *Loop) Run(ctx context.Context, prompt string) error {
	began := l.opt.Now()
	l.opt.Emit(TurnStarted{Prompt: prompt})
	for _, n := range l.notes {
		l.opt.Emit(Notice{Text: n})
	}
	l.notes = nil
	stop, err := StopFailed, errEmptyPrompt
	if strings.TrimSpace(prompt) != "" {
		if l.chat.Unanswered() {
			l.append(history.Item{Message: history.Text(llm.Assistant, markNoAnswer)})
		}
		t := &turn{Loop: l, id: strings.ToLower(rand.Text()[:idLength])}
		l.append(history.Item{Message: l.opt.Compose(prompt), Note: history.Note{Turn: t.id, At: began}})
		stop, err = t.run(ctx)
	}
	if l.opt.Store != nil {
		l.report(l.opt.Store.Sync())
	}
	l.opt.Emit(TurnEnded{Err: err, Stop: stop, Took: l.opt.Now().Sub(began)})
	return err
}

var errEmptyPrompt = errors.New("the prompt is empty")

// append extends the conversation and its store. That the transcript takes it is
// the caller's duty: a refusal is a defect, shown to the user, and it is left out.
func (l *Loop) append(it history.Item) {
	e, err := l.chat.Append(it)
	if err != nil {
		l.opt.Emit(Notice{Text: "A message was left out of the session: " + err.Error()})
		return
	}
	l.save(e)
}

// closeCalls gives the calls that have no result yet the same one.
func (l *Loop) closeCalls(why string) {
	if added := l.chat.Close(why); len(added) > 0 {
		l.save(added...)
	}
}

func (l *Loop) save(entries ...history.Entry) {
	if l.opt.Store != nil {
		l.report(l.opt.Store.Append(entries...))
	}
}

// count adds what a request has used.
func (l *Loop) count(u llm.Usage) {
	l.used = l.used.Add(u)
	l.unpriced = u.CostUSD == 0 && u.Input+u.Output > 0 && !l.opt.Model.Info().Free
	if l.opt.Store != nil {
		l.report(l.opt.Store.AppendUsage(u))
	}
}

// report tells the user once that the session is not being saved, and once that
// it is again: the work goes on, and what is missing is written later.
func (l *Loop) report(err error) {
	switch {
	case err != nil && l.saved:
		l.opt.Emit(Notice{Text: "This session is not on disk: " + err.Error() + ". It is tried again with each step."})
	case err == nil && !l.saved:
		l.opt.Emit(Notice{Text: "This session is on disk again."})
	}
	l.saved = err == nil
}
