package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// Marks that take the place of a missing answer, or end an incomplete one.
const (
	markCancelled = "[interrupted by the user]"
	markBroken    = "[the answer broke off here]"
	markEmpty     = "(empty answer)"
	markNoAnswer  = "[no answer]"
)

// turn answers one prompt.
type turn struct {
	loop    *Loop
	id      string
	effort  string // see llm.Request
	rounds  int    // requests so far
	began   time.Time
	limits  Limits // those of the session, as the user has extended them in this turn
	again   repeats
	checks  verification
	shrunk  int // requests since one did not fit
	empty   int // empty answers in a row
	back    int // how often Options.Ending sent the model back
	reviews int // of gathered changes
}

// answer collects the model's answer to one request.
type answer struct {
	text, reasoning strings.Builder
	end             *llm.End // nil if the stream broke off
	held            []Event  // received and not yet emitted; see show
	seen            int      // length of the longest part that was shown and is void
}

// runWithin is run with the limit of time. While nobody can be asked to go on, the limit also ends a
// call, such as one of a server that never answers, and a request.
func (t *turn) runWithin(ctx context.Context) (Stop, error) {
	if !t.limits.Unattended || t.limits.MaxTime == 0 {
		return t.run(ctx)
	}
	limit := t.limits.check(spent{rounds: -1, time: t.limits.MaxTime})
	within, cancel := context.WithTimeoutCause(ctx, t.limits.MaxTime, limit)
	defer cancel()
	stop, err := t.run(within)
	if stop == StopCancelled && limitReached(within) {
		return t.limited(limit)
	}
	return stop, err
}

// limitReached reports whether the limit of time ended ctx.
func limitReached(ctx context.Context) bool {
	return ctx.Err() != nil && errors.As(context.Cause(ctx), new(*LimitError))
}

// run asks the model and runs its calls until it makes none, and the changes that the calls
// gathered are settled.
func (t *turn) run(ctx context.Context) (Stop, error) {
	for {
		stop, err := t.work(ctx)
		more, stop, err := t.settle(ctx, stop, err)
		if !more && (stop != StopDone || !t.sendBack(ctx)) {
			return stop, err
		}
	}
}

// work asks the model and runs its calls until it makes none.
func (t *turn) work(ctx context.Context) (Stop, error) {
	l := t.loop
	for {
		if err := ctx.Err(); err != nil {
			return StopCancelled, err
		}
		if err := t.allowed(ctx); ctx.Err() != nil {
			return StopCancelled, ctx.Err()
		} else if err != nil {
			return t.limited(err)
		}
		if t.rounds > 0 {
			t.deliverQueued(ctx)
		}
		system := l.opt.System(ctx)
		if compacted, err := t.makeRoom(ctx, system); err != nil {
			return t.broken(ctx, &answer{}, err)
		} else if compacted {
			system = l.opt.System(ctx) // the summary took its time
		}
		t.rounds++
		l.opt.Emit(RequestStarted{Round: t.rounds})
		a, err := t.ask(ctx, system)
		if err != nil {
			if err = t.recover(ctx, a, err); err == nil {
				continue
			}
			return t.broken(ctx, a, err)
		}
		t.shrunk = 0
		if a.empty() {
			if t.askAgain(ctx, a) {
				continue
			}
			return StopFailed, errEmptyAnswer
		}
		t.empty = 0
		if more, stop, err := t.accept(ctx, a); !more {
			return stop, err
		}
	}
}

// ask sends the conversation and receives the answer, emitting it as it comes.
func (t *turn) ask(ctx context.Context, system string) (*answer, error) {
	l := t.loop
	req := llm.Request{
		Session: l.id, System: system, Messages: l.chat.Sent(), Tools: l.opt.Tools.Specs(), Effort: t.effort, Answer: l.opt.Answer,
	}
	l.reframe(func(f *frame) { f.tools, f.effort = req.Tools, &req.Effort })
	l.room.sending(system, l.load())
	a := &answer{}
	for d, err := range l.opt.Model.Stream(ctx, req) {
		if err != nil {
			return a, err
		}
		t.receive(a, d)
		if a.end != nil {
			return a, nil
		}
	}
	return a, &llm.Error{Kind: llm.Truncated, Message: "the answer ended before it was complete"}
}

func (t *turn) receive(a *answer, d llm.Delta) {
	emit := t.loop.opt.Emit
	switch {
	case d.End != nil:
		a.end = d.End
		a.release(emit)
	case d.Text != "":
		a.text.WriteString(d.Text)
		a.show(emit, TextDelta{Text: d.Text})
	case d.Reasoning != "":
		a.reasoning.WriteString(d.Reasoning)
		a.show(emit, ReasoningDelta{Text: d.Reasoning})
	case d.Thinking:
		emit(Thinking{})
	case d.Pending != nil:
		emit(CallPending{Pending: *d.Pending})
	case d.Notice != "":
		emit(Notice{Text: d.Notice})
	case d.Retry != nil:
		emit(Retrying{Retry: *d.Retry, Void: a.restart()})
	}
}

// show emits a piece of the answer. After the answer broke off, pieces are held back until there
// is more of it than the person has seen: the same beginning is not shown again for each retry.
func (a *answer) show(emit func(Event), piece Event) {
	a.held = append(a.held, piece)
	if a.text.Len()+a.reasoning.Len() > a.seen {
		a.release(emit)
	}
}

// release emits the pieces that were held back.
func (a *answer) release(emit func(Event)) {
	for _, piece := range a.held {
		emit(piece)
	}
	a.held = nil
}

// restart drops the answer so far, and reports whether some of it was shown.
func (a *answer) restart() (void bool) {
	if n := a.text.Len() + a.reasoning.Len(); n > 0 && len(a.held) == 0 {
		void, a.seen = true, n
	}
	a.text.Reset()
	a.reasoning.Reset()
	a.held = nil
	return void
}

// broken ends the turn after a request without a complete answer. The text received so
// far stays, with a mark; calls do not. The user learns why it broke off, the model
// does not.
func (t *turn) broken(ctx context.Context, a *answer, err error) (Stop, error) {
	stop, mark := StopFailed, markBroken
	if ctx.Err() != nil {
		stop, mark, err = StopCancelled, markCancelled, ctx.Err()
		switch {
		case limitReached(ctx):
			mark = markBroken
		case programEnded(ctx):
			mark = history.CutShort
		}
	}
	if a.text.Len() > 0 {
		a.text.WriteString(" " + mark)
		t.loop.append(history.Item{Message: a.message(nil)})
	}
	return stop, err
}

// accept appends a complete answer and runs its calls. more is false if the turn ends
// with it.
func (t *turn) accept(ctx context.Context, a *answer) (more bool, stop Stop, err error) {
	l := t.loop
	if n := a.end.Written; n > 0 {
		a.cut(n)
		l.opt.Emit(Notice{Text: fmt.Sprintf("Read from the text: %d call(s) that the model wrote there.", len(a.end.Calls))})
	}
	calls, dropped := l.chat.Admissible(a.end.Calls)
	if dropped > 0 {
		l.opt.Emit(Notice{Text: fmt.Sprintf("The model repeated %d call(s); each runs once.", dropped)})
	}
	if a.end.Stop == llm.StopLength || a.end.Stop == llm.StopFilter {
		refuseAll(calls, a.end.Stop)
	}
	if len(calls) == 0 && strings.TrimSpace(a.text.String()) == "" {
		a.text.WriteString(markEmpty)
	}
	l.append(history.Item{Message: a.message(calls)})
	l.answered(ctx, a.end.Usage)
	if len(calls) > 0 {
		return t.runCalls(ctx, calls, a.text.String())
	}
	if a.end.Fault != "" {
		return false, StopFailed, errors.New(a.end.Fault)
	}
	if a.end.Quoted {
		return false, StopFailed, errQuoted
	}
	switch a.end.Stop {
	case llm.StopLength:
		stop, err = t.limited(&LimitError{Reason: "The answer hit the model's output limit. " + t.limits.goOn("raise max_tokens for this model", ""), output: true})
		return false, stop, err
	case llm.StopFilter:
		return false, StopFailed, errors.New("the provider's content filter ended the answer; rephrase the request")
	}
	return false, StopDone, nil
}

// cut removes the last n bytes of the text, and blanks before them.
func (a *answer) cut(n int) {
	text := a.text.String()
	text = strings.TrimRight(text[:max(len(text)-n, 0)], " \t\r\n")
	a.text.Reset()
	a.text.WriteString(text)
}

// errQuoted ends a turn whose answer ends with a call that is perhaps only shown.
var errQuoted = errors.New("the answer ends with the text of a call. It was not run, because the text before it may quote it: " +
	"ask again, or try a model that is trained to call tools")

// errEmptyAnswer ends a turn after two empty answers in a row.
var errEmptyAnswer = errors.New("the model gave an empty answer twice: ask again, or try another model")

// empty reports whether a complete answer has neither text nor calls, and nothing that
// explains it.
func (a *answer) empty() bool {
	explained := a.end.Stop == llm.StopLength || a.end.Stop == llm.StopFilter
	return !explained && len(a.end.Calls) == 0 && strings.TrimSpace(a.text.String()) == ""
}

// askAgain counts an empty answer, which is not kept, and reports whether the request is
// sent again: once.
func (t *turn) askAgain(ctx context.Context, a *answer) bool {
	t.loop.answered(ctx, a.end.Usage)
	if t.empty++; t.empty > 1 {
		return false
	}
	t.loop.opt.Emit(Notice{Text: "The model's answer was empty; asking again."})
	return true
}

// answered counts the usage of a complete answer and emits it.
func (l *Loop) answered(ctx context.Context, u llm.Usage) {
	l.addUsage(ctx, u)
	f, cut := l.room.count(l.load(), u)
	if cut {
		l.opt.Emit(Notice{Text: fmt.Sprintf("The server dropped the beginning of the conversation: its context seems to be about %d tokens. "+
			"From now on the conversation is compacted before that. Set the model's context_window, or give the server a larger context.", f.Window)})
	}
	l.account.tell(func(total llm.Usage) {
		l.opt.Emit(AnswerEnded{Usage: u, Total: total, Context: f.Context, Window: f.Window})
	})
}

// refuseAll marks the calls of an answer that was cut off: arguments that look
// complete may not be.
func refuseAll(calls []llm.ToolCall, why llm.StopReason) {
	for i := range calls {
		if calls[i].Problem != "" {
			continue
		}
		calls[i].Problem = "the answer was cut off by the token limit; send less in one call"
		if why == llm.StopFilter {
			calls[i].Problem = "the answer was cut off by the provider's content filter"
		}
	}
}

// limited ends the turn at a limit.
func (t *turn) limited(err error) (Stop, error) {
	t.loop.opt.Emit(Notice{Text: sentence(err)})
	return StopLimit, err
}

// deliverQueued sends the model the text that the user has typed during the turn.
func (t *turn) deliverQueued(ctx context.Context) {
	l := t.loop
	if l.chat.Unanswered() {
		return // two prompts in a row; the text stays queued
	}
	queued := strings.Join(l.opt.Queued(ctx), "\n\n")
	if strings.TrimSpace(queued) == "" {
		return
	}
	l.append(history.Item{Message: l.opt.BuildMessage(ctx, queued)})
	t.again = repeats{}
	l.opt.Emit(Queued{Text: queued})
}

// message returns the answer as a message of the conversation.
func (a *answer) message(calls []llm.ToolCall) llm.Message {
	m := llm.Message{Role: llm.Assistant, Calls: calls}
	if a.reasoning.Len() > 0 {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.ReasoningPart, Text: history.Valid(a.reasoning.String())})
	}
	if a.text.Len() > 0 {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.TextPart, Text: history.Valid(strings.Clone(a.text.String()))}) // Clone drops the spare capacity
	}
	if a.end != nil {
		m.Extra = a.end.Extra
	}
	return m
}

// sentence returns err's message as a sentence.
func sentence(err error) string {
	s := err.Error()
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".") + "."
}
