package session

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// frame holds the parts of a conversation that a side question needs. It is replaced, never changed, so that
// any goroutine can read it.
type frame struct {
	model    llm.Model
	session  string
	messages []llm.Message
	tools    []llm.ToolSpec
	effort   *string // of the last request to the model; nil without one
	account  *account
	saver    *saver
}

// reframe changes a copy of the frame, which takes its place.
func (l *Loop) reframe(change func(*frame)) {
	if before := l.frame.Load(); before != nil {
		f := *before
		change(&f)
		l.frame.Store(&f)
	}
}

// Marks that take the place of the missing parts of a running turn, in the request of a side question.
const (
	markRuns  = "[this call is still running]"
	markWorks = "[working on this]"
)

// sideQuestion precedes a side question.
const sideQuestion = "[A side question of the user. Answer it in words from the conversation above: tools cannot be used for it. " +
	"Neither the question nor your answer becomes a part of the conversation, and the work continues without you mentioning it.]\n\n"

// errNoWords is the error of a side question to which the model answers with a call.
var errNoWords = errors.New("the model tried to use a tool, which a side question cannot: nothing was done. Ask for what the conversation says already, or send it as a prompt")

// Aside answers a question from the conversation, which neither the question nor the answer enters.
// No call of the answer is run. The request begins with that of the conversation, so that the
// provider's cache has it; system is its system prompt. Any goroutine may call it at any time, also
// during a turn.
func (l *Loop) Aside(ctx context.Context, system, question string) (text string, err error) {
	f := l.frame.Load()
	if err := l.admitAside(f); err != nil {
		return "", err
	}
	req := llm.Request{Session: f.session, System: system, Messages: append(f.soFar(), history.Text(llm.User, sideQuestion+question)), Tools: f.tools}
	if f.effort != nil {
		req.Effort = *f.effort
	} else {
		req.Effort = l.opt.Effort()
	}
	var b strings.Builder
	for d, err := range f.model.Stream(ctx, req) {
		switch {
		case err != nil:
			return "", err
		case d.Retry != nil:
			b.Reset()
		case d.Notice != "":
			l.opt.Emit(Notice{Text: d.Notice})
		case d.End != nil:
			l.countAside(ctx, f, d.End.Usage)
			return sideAnswer(b.String(), d.End)
		}
		b.WriteString(d.Text)
	}
	return "", &llm.Error{Kind: llm.Truncated, Message: "the answer ended before it was complete"}
}

// admitAside returns an error if a limit of the session forbids a side question.
func (l *Loop) admitAside(f *frame) error {
	limits := f.account.extended().without([]limit{turnLimit, timeLimit})
	s, err := l.spent(f.account, limits)
	if err != nil {
		return err
	}
	fill := l.Fill()
	s.next, s.nextUSD = l.uncached(f.account, max(fill.Context, fill.Used()), f.model)
	if e := limits.check(s); e != nil {
		return e
	}
	return nil
}

// soFar returns the messages, completed to a conversation that a question can follow.
func (f *frame) soFar() []llm.Message {
	m := slices.Clone(f.messages)
	results := 0
	for results < len(m) && m[len(m)-1-results].Role == llm.ToolReply {
		results++
	}
	if at := len(m) - 1 - results; at >= 0 && len(m[at].Calls) > results {
		for _, c := range m[at].Calls[results:] {
			m = append(m, history.Result(c.ID, markRuns))
		}
	}
	if len(m) > 0 && m[len(m)-1].Role == llm.User {
		m = append(m, history.Text(llm.Assistant, markWorks))
	}
	return m
}

// countAside counts the usage of a side question.
func (l *Loop) countAside(ctx context.Context, f *frame, u llm.Usage) {
	f.account.add(u, isUnpriced(u, f.model.Info()))
	if len(f.messages) == 0 {
		f.account.hold(u)
	} else {
		f.saver.usage(u, true)
	}
	l.settle(ctx, f.account, u.CostUSD)
	f.account.tell(func(total llm.Usage) { l.opt.Emit(Spent{Usage: u, Total: total}) })
}

// sideAnswer returns the words of an answer.
func sideAnswer(text string, e *llm.End) (string, error) {
	text = strings.TrimSpace(text[:max(0, len(text)-e.Written)])
	switch {
	case e.Stop == llm.StopFilter:
		return "", errors.New("the provider's content filter ended the answer; rephrase the question")
	case text == "" && len(e.Calls) > 0:
		return "", errNoWords
	case text == "":
		return "", errors.New("the model gave an empty answer: ask again, or ask another model")
	case e.Stop == llm.StopLength:
		text += "\n\n" + "[the answer hit the model's output limit]"
	}
	return text, nil
}
