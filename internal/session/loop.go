package session

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/session/compact"
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
	Store  *archive.Store
	Limits Limits
	// Branch returns the branch that is checked out; nil: it is not kept.
	Branch func() string
	// CompactAt is how full the model's context may get, in percent, before the
	// conversation is compacted; zero means that this is left to the user.
	CompactAt int
	// Emit is given every event, in order, and never two at a time. It must not
	// block for long: the loop waits for it.
	Emit func(Event)
	// Queued takes the text that the user typed since it was last called. It is
	// asked after each batch of calls; what is typed later stays where it is.
	Queued func() []string
	// Compose makes the message of what the user said: it may add to it. Without it
	// the message is the text.
	Compose func(ctx context.Context, prompt string) llm.Message
	// Keep keeps a text of the session with that id where the model can read it as a
	// file, in the place of the text before, and returns its path. Without it the
	// model has no more than what a compaction has room for.
	Keep func(session, text string) (path string, err error)
	Now  func() time.Time // nil means time.Now
}

// Loop runs a conversation. It is owned by one goroutine: no two of its methods
// may run at the same time, but for Items, Messages, Prompts and Fill, which any
// goroutine may call at any time.
type Loop struct {
	talk
	notes []string // for the user, at the start of the next turn
}

// talk is a conversation, where it is kept, and what it has used.
type talk struct {
	opt  Options
	id   string // empty if the conversation is not kept
	chat *history.Transcript
	said atomic.Pointer[[]history.Item] // what chat held when it was last changed
	disk *keeper
	// held are deeds from before the first prompt: a session without one is not kept.
	held []history.Deed
	used llm.Usage
	room room
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
		opt.Compose = func(_ context.Context, prompt string) llm.Message { return history.Text(llm.User, prompt) }
	}
	if opt.Branch == nil {
		opt.Branch = func() string { return "" }
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	l := &Loop{talk: talk{opt: opt}}
	if err := l.attach(opt.Store); err != nil {
		return nil, err
	}
	return l, nil
}

// attach continues what store holds, and adds to it the results that a crash
// has left out.
func (l *Loop) attach(store *archive.Store) error {
	before := l.chat
	var kept archive.Conversation
	if store != nil {
		kept = store.Kept()
	}
	chat, added, notes := history.Rebuild(kept.Entries)
	if len(added) > 0 {
		if err := store.Append(added...); err != nil {
			return err
		}
	}
	l.disk = &keeper{emit: l.opt.Emit, saved: true}
	l.id, l.held = "", nil
	if store != nil {
		l.disk.store, l.id = store, store.ID()
	}
	l.chat, l.used = chat, kept.Usage
	l.publish()
	l.keepAgain()
	l.notes = slices.Concat(kept.Notes, notes)
	l.room.changed()
	l.room.kept = kept.Context
	f := l.fill()
	l.room.fill.Store(&f)
	if len(chat.Items()) > 0 || before != nil {
		l.filled()
	}
	return nil
}

// Use leaves the session and goes on with the one in store: a new one, or one
// that was kept. The store used so far is closed; that it could not be written
// to its end is a notice of the next turn. After an error nothing has changed.
func (l *Loop) Use(store *archive.Store) error {
	before := l.disk.store
	if err := l.attach(store); err != nil {
		return err
	}
	if before == nil || before == disk(store) {
		return nil
	}
	if err := before.Close(); err != nil {
		l.notes = append(l.notes, "The session that was left is not all on disk: "+archive.Why(err)+".")
	}
	return nil
}

// SetModel makes the next request go to m.
func (l *Loop) SetModel(m llm.Model) {
	l.opt.Model, l.unpriced = m, false
	l.room.changed()
	l.filled()
}

// Usage returns what the session has used so far.
func (l *Loop) Usage() llm.Usage { return l.used }

// Items returns what was said and done and not taken back. It is not to be changed, and does
// not change: a turn that runs extends another slice.
func (l *Loop) Items() []history.Item { return *l.said.Load() }

// Messages returns the messages of Items.
func (l *Loop) Messages() []llm.Message { return history.Messages(l.Items()) }

// Prompts lists what the user has said, the oldest first.
func (l *Loop) Prompts() []history.Prompt { return history.Prompts(l.Items()) }

// publish gives what was said to other goroutines.
func (l *talk) publish() {
	items := l.chat.Items()
	l.said.Store(&items)
}

// Rewind takes back the prompt with the given number (see Prompts) and all that
// follows it. Nothing leaves the session's file: that it was taken back is
// appended.
func (l *Loop) Rewind(prompt int) error {
	e, err := l.chat.Rewind(prompt)
	if err != nil {
		return err
	}
	l.publish()
	l.disk.add(e)
	l.room.changed()
	l.filled()
	l.settle()
	return nil
}

// Pin has every compaction keep the message with the given number word for word,
// or lets it go.
func (l *Loop) Pin(n int, on bool) error {
	e, err := l.chat.Pin(n, on)
	if err != nil {
		return err
	}
	l.publish()
	l.disk.add(e)
	return nil
}

// Did keeps what was done without the model, for compactions to tell of.
func (l *talk) Did(d history.Deed) {
	if len(l.chat.Items()) == 0 {
		l.held = append(l.held, d)
		return
	}
	e, err := l.chat.Act(d)
	if err != nil {
		l.opt.Emit(Notice{Text: "What you did was left out of the session: " + err.Error()})
		return
	}
	l.publish()
	l.disk.add(e)
}

// Untold is what was done without the model since the newest message, a line each.
func (l *Loop) Untold() []string {
	items := l.chat.Items()
	if len(items) == 0 || items[len(items)-1].Message.Role == llm.ToolReply {
		return nil
	}
	return compact.Lines(items[len(items)-1].Then)
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
		t := &turn{Loop: l, id: archive.NewID()}
		l.append(history.Item{Message: l.opt.Compose(ctx, prompt), Note: history.Note{Turn: t.id, At: began}})
		held := l.held
		l.held = nil
		for _, d := range held {
			l.Did(d)
		}
		stop, err = t.run(ctx)
	}
	l.settle()
	l.opt.Emit(TurnEnded{Err: err, Stop: stop, Took: l.opt.Now().Sub(began)})
	return err
}

var errEmptyPrompt = errors.New("the prompt is empty")

// settle makes what was said durable.
func (l *talk) settle() {
	l.disk.sync(archive.State{Branch: l.opt.Branch(), Prompts: len(history.Prompts(l.chat.Items()))})
}

// append extends the conversation and its store. That the transcript takes it is
// the caller's duty: a refusal is a defect, shown to the user, and it is left out.
func (l *talk) append(it history.Item) {
	e, err := l.chat.Append(it)
	if err != nil {
		l.opt.Emit(Notice{Text: "A message was left out of the session: " + err.Error()})
		return
	}
	l.publish()
	l.disk.add(e)
}
