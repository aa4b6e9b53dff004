package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// Gathered are the changes that the tools of a turn gather for one review, and a command that waits
// for the next question. tools.Set implements it.
type Gathered interface { //nolint:interfacebloat // a turn ends with all of it
	// Settle asks about them and writes the approved ones; nil without any.
	Settle(ctx context.Context, call tools.Call) (*tools.Result, error)
	// Pending returns the number of changed files.
	Pending() int
	// Held returns the command that waits; "" without one.
	Held() string
	// DropPending forgets them, and returns the names of the files and the command.
	DropPending() []string
}

// settle has the changes of the turn reviewed at its end. more reports that the model has to
// go on, because the answer has words for it, or nobody could be asked.
func (t *turn) settle(ctx context.Context, stop Stop, err error) (more bool, _ Stop, _ error) {
	l := t.loop
	if l.opt.Gathered == nil || l.opt.Gathered.Pending() == 0 && l.opt.Gathered.Held() == "" {
		return false, stop, err
	}
	if ctx.Err() != nil {
		t.drop()
		return false, stop, err
	}
	t.reviews++
	call := llm.ToolCall{ID: fmt.Sprintf("%s.review.%d", t.id, t.reviews), Name: tools.Review}
	title := "Run " + l.opt.Gathered.Held()
	switch files := l.opt.Gathered.Pending(); files {
	case 0:
	case 1:
		title = "Review of 1 changed file"
	default:
		title = fmt.Sprintf("Review of %d changed files", files)
	}
	began := l.opt.Now()
	l.opt.Emit(CallStarted{Call: call, Title: title})
	res, asked := l.opt.Gathered.Settle(ctx, tools.Call{Turn: t.id})
	switch {
	case asked != nil:
		names := l.opt.Gathered.DropPending()
		res = &tools.Result{ForModel: "The question about what is pending was not answered: it is neither written nor run, and dropped: " + strings.Join(names, ", ") + ".", ForUser: "cancelled: nothing was done", Failed: true}
	case res == nil:
		res = &tools.Result{ForModel: "No change is left to write.", ForUser: "no change"}
	}
	l.opt.Emit(CallEnded{Call: call, Title: title, Result: *res, Took: l.opt.Now().Sub(began)})
	t.checks.see(*res)
	if d := deed(title, *res); d != nil {
		l.RecordDeed(*d)
	}
	if ctx.Err() != nil {
		t.outcome(*res)
		return false, StopCancelled, ctx.Err()
	}
	if stop == StopDone && t.goesOn(*res) {
		l.append(history.Item{Message: llm.Message{Role: llm.User, Parts: []llm.Part{{Kind: llm.TextPart, Text: "[" + res.ForModel + "]", Aside: true}}}})
		return true, stop, err
	}
	t.outcome(*res)
	if res.Stop && stop == StopDone {
		stop = StopDenied
	}
	return false, stop, err
}

// outcome keeps the answer to the last review of the turn for the model, and drops the
// changes that are still pending.
func (t *turn) outcome(res tools.Result) {
	l := t.loop
	l.settled = res.ForModel
	if names := l.opt.Gathered.DropPending(); len(names) > 0 {
		l.settled += "\nThe turn ended there, so this is dropped: " + strings.Join(names, ", ") + "."
	}
}

// goesOn reports whether the model has something to do about the answer to a review, within
// the limits.
func (t *turn) goesOn(res tools.Result) bool {
	if res.Stop || !res.Failed && !res.GoOn {
		return false
	}
	s, err := t.spent()
	return err == nil && t.limits.check(s) == nil && t.reviews < maxReviews
}

// maxReviews bounds the reviews of one turn.
const maxReviews = 50

// drop forgets the pending changes of a turn that was cancelled.
func (t *turn) drop() {
	l := t.loop
	names := l.opt.Gathered.DropPending()
	l.settled = "The turn was cancelled before the question about what was pending. It is neither written nor run, and dropped: " + strings.Join(names, ", ") + "."
	l.opt.Emit(Notice{Text: fmt.Sprintf("Not saved or run (turn cancelled): %s", strings.Join(names, ", "))})
}

// tellSettled puts the outcome of the last review before a prompt, once.
func (l *Loop) tellSettled(m llm.Message) llm.Message {
	if l.settled != "" {
		m.Parts = append([]llm.Part{{Kind: llm.TextPart, Text: "[" + l.settled + "]\n\n", Aside: true}}, m.Parts...)
		l.settled = ""
	}
	return m
}
