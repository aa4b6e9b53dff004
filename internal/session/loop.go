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

// Toolset holds the tools that the model can call. One goroutine at a time calls
// its methods, except Call for tools that only read or delegate.
type Toolset interface {
	Specs() []llm.ToolSpec
	// Title describes a call for the user, in one short line and with all of its text; args
	// may be invalid. It may be called at any time.
	Title(name string, args json.RawMessage) (line, whole string)
	// Call runs the tool. An error means that the turn cannot go on.
	Call(ctx context.Context, name string, call tools.Call) (tools.Result, error)
}

// Options configures a Loop. Model and Tools are required.
type Options struct {
	Model llm.Model
	Tools Toolset
	// System returns the system prompt. It is called before each request and must
	// return the same bytes as long as nothing has changed.
	System func(ctx context.Context) string
	// Store saves the conversation. The Loop continues its conversation. With a nil
	// Store nothing is saved.
	Store  *archive.Store
	Limits Limits
	// Spending keeps the cost of the day for Limits.MaxDayUSD.
	Spending Spending
	// Budget makes the conversation that of a sub-agent: its requests count against the
	// limits of another session, besides its own. Nil for a session.
	Budget tools.Budget
	// Turn is the id of the turn of that session, which groups the changes for undo.
	Turn string
	// Ask asks at a limit whether to go on. If nil, a limit ends the turn.
	Ask tools.Asker
	// Branch returns the checked-out branch. If nil, no branch is saved.
	Branch func() string
	// CompactAt is how full the model's context may get, in percent, before the Loop
	// compacts the conversation. With zero only the user compacts it.
	CompactAt int
	// Emit receives every event, in order and never two at a time. The loop waits for
	// it, so it must not block for long.
	Emit func(Event)
	// Queued returns and removes the text that the user has typed since the last call.
	// The Loop calls it after each batch of calls.
	Queued func(ctx context.Context) []string
	// BuildMessage turns the user's text into a message and may add to it. If nil, the
	// message is the text.
	BuildMessage func(ctx context.Context, prompt string) llm.Message
	// Effort returns how much the user wants the model to think, see llm.Request. It is
	// called at the start of a turn, because some servers refuse a change within one. If
	// nil, it is the configured effort.
	Effort func() string
	// Answer is the JSON Schema of the last answer of a turn; nil for one in words. The caller
	// checks it.
	Answer json.RawMessage
	// Checks returns the commands with which a model has to check its changes before it
	// ends; none, or a nil Checks, if it need not.
	Checks func() []string
	// Ending is called when the model would end the turn. The text that it returns, if any,
	// sends the model back; again means that this has happened in the turn. May be nil.
	Ending func(ctx context.Context, again bool) string
	// Gathered are the changes that the tools gather for one review at the end of the turn.
	// If nil, they gather none.
	Gathered Gathered
	// SaveFull saves the full text of the parts that a compaction shortens to a file
	// that the model can read, replacing the session's previous one, and returns its
	// path. If nil, the model only gets the shortened form.
	SaveFull func(session, text string) (path string, err error)
	// Mark returns the present place among the changes of files, which a prompt keeps for a
	// rewind. May be nil.
	Mark func() int64
	Now  func() time.Time // nil means time.Now
}

// Loop runs a conversation. It belongs to one goroutine: its methods must not run
// concurrently, except Items, Messages, Prompts, Describe, Fill and Aside, which any goroutine may
// call at any time.
type Loop struct {
	opt     Options
	id      string // empty if the conversation is not saved
	chat    *history.Transcript
	items   atomic.Pointer[[]history.Item] // the items of chat, for other goroutines
	saver   *saver
	early   []history.Deed // deeds before the first prompt: an empty session is not saved
	room    room
	account *account
	frame   atomic.Pointer[frame]
	notices []string // for the user, at the start of the next turn
	settled string   // for the model, with the next prompt: the outcome of a review
}

// New returns a Loop that continues the conversation in opt.Store.
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
		opt.Queued = func(context.Context) []string { return nil }
	}
	if opt.BuildMessage == nil {
		opt.BuildMessage = func(_ context.Context, prompt string) llm.Message { return history.Text(llm.User, prompt) }
	}
	if opt.Branch == nil {
		opt.Branch = func() string { return "" }
	}
	if opt.Effort == nil {
		opt.Effort = func() string { return "" }
	}
	if opt.Mark == nil {
		opt.Mark = func() int64 { return 0 }
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

// attach continues the conversation in store, and appends the results that a
// crash left out.
func (l *Loop) attach(s *archive.Store) error {
	previous := l.chat
	var saved archive.Conversation
	if s != nil {
		saved = s.Conversation()
	}
	chat, added, notices := history.Rebuild(saved.Entries)
	if len(added) > 0 {
		if err := s.Append(added...); err != nil {
			return err
		}
	}
	l.saver = &saver{emit: l.opt.Emit, ok: true}
	l.id, l.early, l.settled = "", nil, ""
	if s != nil {
		l.saver.store, l.id = s, s.ID()
	}
	l.chat, l.account = chat, l.account.next(saved.Usage, l.opt.Limits)
	l.publish()
	l.resaveFull()
	l.notices = slices.Concat(saved.Notes, notices)
	l.room.resume(saved.Context)
	l.frame.Store(&frame{model: l.opt.Model, session: l.id, messages: chat.Sent(), tools: l.opt.Tools.Specs(), account: l.account, saver: l.saver})
	l.room.estimate(l.load())
	if len(chat.Items()) > 0 || previous != nil {
		l.emitFilled()
	}
	return nil
}

// Use leaves the session and continues the one in s, new or saved. It closes the
// previous store; if that store cannot be written to its end, the next turn emits a
// notice. After an error nothing has changed.
func (l *Loop) Use(s *archive.Store) error {
	leaving := l.saver
	if err := l.attach(s); err != nil {
		return err
	}
	previous := leaving.leave()
	if previous == nil || previous == store(s) {
		return nil
	}
	if err := previous.Close(); err != nil {
		l.notices = append(l.notices, "The previous session is not completely saved: "+archive.Reason(err)+".")
	}
	return nil
}

// SetModel sends the next request to m.
func (l *Loop) SetModel(m llm.Model) {
	l.opt.Model = m
	l.account.renew()
	l.reframe(func(f *frame) { f.model, f.effort = m, nil })
	l.room.reset()
	l.emitFilled()
}

// Items returns the conversation without rewound messages. Neither the caller nor the
// Loop changes the slice: a running turn extends a copy.
func (l *Loop) Items() []history.Item { return *l.items.Load() }

// Messages returns the messages of Items.
func (l *Loop) Messages() []llm.Message { return history.Messages(l.Items()) }

// Prompts returns the user's prompts, oldest first.
func (l *Loop) Prompts() []history.Prompt { return history.Prompts(l.Items()) }

// publish makes the current items visible to other goroutines.
func (l *Loop) publish() {
	items := l.chat.Items()
	l.items.Store(&items)
	l.reframe(func(f *frame) { f.messages = l.chat.Sent() })
}

// Rewind takes back the prompt with the given number (see Prompts) and everything
// after it. The session's file keeps them: the rewind is appended to it.
func (l *Loop) Rewind(prompt int) error {
	e, err := l.chat.Rewind(prompt)
	if err != nil {
		return err
	}
	l.publish()
	l.saver.add(e)
	l.room.reset()
	l.emitFilled()
	l.sync()
	return nil
}

// Pin makes every compaction keep message n word for word; with on false it no
// longer does.
func (l *Loop) Pin(n int, on bool) error {
	e, err := l.chat.Pin(n, on)
	if err != nil {
		return err
	}
	l.publish()
	l.saver.add(e)
	return nil
}

// RecordDeed records something done without the model, so that compactions
// mention it.
func (l *Loop) RecordDeed(d history.Deed) {
	if len(l.chat.Items()) == 0 {
		l.early = append(l.early, d)
		return
	}
	e, err := l.chat.Act(d)
	if err != nil {
		l.opt.Emit(Notice{Text: "Your own action is missing from the session: " + err.Error()})
		return
	}
	l.publish()
	l.saver.add(e)
}

// UnsentDeeds returns the deeds without the model since the newest message, one line each.
func (l *Loop) UnsentDeeds() []string {
	items := l.chat.Items()
	if len(items) == 0 || items[len(items)-1].Message.Role == llm.ToolReply {
		return nil
	}
	return compact.Lines(items[len(items)-1].DeedsAfter)
}

// Run answers a prompt: it asks the model and runs its calls until the model makes
// none. It returns nil if the turn ran to its end or the user declined a call, else
// the error of TurnEnded: ctx's, a *LimitError, or the failure of the request or of
// a tool. The next Run can continue after any of them.
func (l *Loop) Run(ctx context.Context, prompt string) error {
	began, mark := l.opt.Now(), l.opt.Mark()
	l.opt.Emit(TurnStarted{Prompt: prompt})
	for _, n := range l.notices {
		l.opt.Emit(Notice{Text: n})
	}
	l.notices = nil
	stop, err := StopFailed, errEmptyPrompt
	if strings.TrimSpace(prompt) != "" {
		if l.chat.Unanswered() {
			l.append(history.Item{Message: history.Text(llm.Assistant, markNoAnswer)})
		}
		t := &turn{loop: l, id: archive.NewID(), effort: l.opt.Effort(), began: began, limits: l.account.extended()}
		l.append(history.Item{Message: l.tellSettled(l.opt.BuildMessage(ctx, prompt)), Meta: history.Meta{Turn: t.id, At: began, Mark: mark}})
		if u := l.account.unsaved(); u != (llm.Usage{}) {
			l.saver.usage(u, true)
		}
		early := l.early
		l.early = nil
		for _, d := range early {
			l.RecordDeed(d)
		}
		stop, err = t.runWithin(ctx)
	}
	l.sync()
	l.opt.Emit(TurnEnded{Err: err, Stop: stop, Took: l.opt.Now().Sub(began)})
	return err
}

var errEmptyPrompt = errors.New("the prompt is empty")

// sync makes the conversation durable.
func (l *Loop) sync() {
	l.saver.sync(archive.State{
		Branch: l.opt.Branch(), Prompts: len(history.Prompts(l.chat.Items())), Model: l.opt.Model.Info().Name, Effort: l.opt.Effort(),
	})
}

// append extends the conversation and saves it. The caller makes sure that the
// transcript accepts it; a refusal is a bug, shown to the user, and drops it.
func (l *Loop) append(it history.Item) {
	e, err := l.chat.Append(it)
	if err != nil {
		l.opt.Emit(Notice{Text: "A message is missing from the session: " + err.Error()})
		return
	}
	l.publish()
	l.saver.add(e)
}

// closeCalls gives every call without a result the same one.
func (l *Loop) closeCalls(result string) {
	l.saver.add(l.chat.Close(result)...)
	l.publish()
}

// addUsage counts the usage of a request.
func (l *Loop) addUsage(ctx context.Context, u llm.Usage) {
	unpriced := isUnpriced(u, l.opt.Model.Info())
	l.account.add(u, unpriced)
	l.saver.usage(u, false)
	l.account.answered(l.opt.Now(), u)
	l.settle(ctx, l.account, u.CostUSD)
	if l.opt.Budget != nil {
		l.opt.Budget.Used(ctx, u, unpriced)
	}
}

// spend counts the usage of a sub-agent's request.
func (l *Loop) spend(ctx context.Context, u llm.Usage, unpriced bool) {
	l.account.add(u, unpriced)
	l.saver.usage(u, true)
	l.settle(ctx, l.account, u.CostUSD)
	l.account.tell(func(total llm.Usage) { l.opt.Emit(Spent{Usage: u, Total: total}) })
}
