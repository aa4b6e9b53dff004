package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// What the model is told about a call that has no result of its own.
const (
	resultCancelled  = "Cancelled by the user while it ran; its effect may be partial. Check before repeating it."
	resultUnanswered = "Not done: the user cancelled the turn when asked. Nothing was changed or run."
	resultNotRun     = "Not run: the user declined an earlier call of this answer and stopped here."
	resultNotStarted = "Not run: cancelled by the user before it started."
	resultAfterError = "Not run: an earlier call of this answer failed and ended the turn."
	resultAfterLimit = "Not run: a limit ended the turn before this call."
)

// runCalls runs the calls of one answer in order, one at a time. However it
// ends, every call has its result in the transcript.
func (t *turn) runCalls(ctx context.Context, calls []llm.ToolCall, said string) (more bool, stop Stop, err error) {
	said = archive.Clip(said, 200)
	titles, done := make([]string, len(calls)), make([]string, len(calls))
	for i, c := range calls {
		titles[i] = t.title(c)
	}
	for i, c := range calls {
		if err := ctx.Err(); err != nil {
			t.loop.closeCalls(notStarted(ctx))
			return false, StopCancelled, err
		}
		call := tools.Call{
			ID: c.ID, Args: json.RawMessage(c.Args), Description: said, Turn: t.id,
			Batch: confirm.Batch{ID: t.id + "." + strconv.Itoa(t.rounds), Index: i, Total: len(calls), Calls: titles, Done: done[:i:i]},
		}
		res, err := t.runCall(ctx, c, call)
		if err != nil {
			return t.failed(ctx, c, err)
		}
		done[i] = res.ForUser
		if res.Stop {
			t.loop.closeCalls(resultNotRun)
			return false, StopDenied, nil
		}
		if err := t.again.see(c, res); err != nil {
			t.loop.closeCalls(resultAfterLimit)
			stop, err := t.limited(err)
			return false, stop, err
		}
	}
	return true, "", nil
}

// runCall runs one call and appends its result. An error ends the turn.
func (t *turn) runCall(ctx context.Context, c llm.ToolCall, call tools.Call) (tools.Result, error) {
	title := t.title(c)
	t.loop.opt.Emit(CallStarted{Call: c, Title: title})
	began := t.loop.opt.Now()
	res, err := t.perform(ctx, c, call)
	if err != nil {
		res = tools.Result{ForModel: failure(ctx, err), ForUser: "not finished", Failed: true, Ran: res.Ran, Record: res.Record}
	}
	t.loop.append(history.Item{Message: history.Result(c.ID, res.ForModel), Note: history.Note{Did: deed(title, res)}})
	for _, ended := range res.Ended {
		t.loop.RecordDeed(history.Deed{What: ended})
	}
	t.loop.opt.Emit(CallEnded{Call: c, Title: title, Result: res, Took: t.loop.opt.Now().Sub(began)})
	return res, err
}

// maxDiff is how long a diff may be for a session to keep it, in bytes: a resumed one
// shows it again.
const maxDiff = 16 << 10

// deed is what the session remembers of a call for good; nil if it did nothing.
func deed(title string, res tools.Result) *history.Deed {
	rec := res.Record
	if len(res.Changes) == 0 && res.Denied == nil && !res.Ran && rec.Words == "" && rec.Result == "" {
		return nil
	}
	d := &history.Deed{
		What: history.Valid(cmp.Or(rec.What, title)), Result: history.Valid(cmp.Or(rec.Result, res.ForUser)),
		Words: history.Valid(rec.Words), Refused: res.Denied != nil,
	}
	for _, c := range res.Changes {
		f := history.File{Path: history.Valid(c.Path), Added: c.Added, Removed: c.Removed}
		if len(c.Diff) <= maxDiff {
			f.Diff = history.Valid(c.Diff)
		}
		d.Files = append(d.Files, f)
	}
	return d
}

// title describes c. The arguments are the model's: what they break must not
// break the turn.
func (t *turn) title(c llm.ToolCall) (title string) {
	defer func() {
		if recover() != nil {
			title = c.Name
		}
	}()
	return t.loop.opt.Tools.Title(c.Name, json.RawMessage(c.Args))
}

// perform calls the tool, unless the call is malformed. A panic is the result of
// a tool like another: the turn goes on.
func (t *turn) perform(ctx context.Context, c llm.ToolCall, call tools.Call) (res tools.Result, err error) {
	if c.Problem != "" {
		return tools.Result{
			ForModel: "Not run: " + c.Problem + ". Make the call again, whole.", ForUser: "malformed call", Failed: true,
		}, nil
	}
	out := &outlet{emit: t.loop.opt.Emit, id: c.ID}
	call.Progress = out.progress
	defer out.shut()
	defer func() {
		if p := recover(); p != nil {
			res = tools.Result{
				ForModel: fmt.Sprintf("The tool failed with a defect of its own (%v). Its effect is unknown.", p),
				ForUser:  "the tool crashed", Failed: true,
			}
			err = nil
		}
	}()
	return t.loop.opt.Tools.Call(ctx, c.Name, call)
}

// failed ends the turn after a call's error: the calls after it get results that
// say so.
func (t *turn) failed(ctx context.Context, c llm.ToolCall, err error) (bool, Stop, error) {
	if ctx.Err() != nil {
		t.loop.closeCalls(notStarted(ctx))
		return false, StopCancelled, ctx.Err()
	}
	t.loop.closeCalls(resultAfterError)
	return false, StopFailed, fmt.Errorf("%s: %w", c.Name, err)
}

// failure is what the model is told about a call that ended with err.
func failure(ctx context.Context, err error) string {
	var asked tools.UnansweredError
	switch {
	case errors.As(err, &asked) && programEnded(ctx):
		return history.Undecided
	case programEnded(ctx):
		return history.Interrupted
	case errors.As(err, &asked) && ctx.Err() != nil:
		return resultUnanswered
	case ctx.Err() != nil:
		return resultCancelled
	}
	return "Failed: " + archive.Clip(err.Error(), 500) + ". Its effect is unknown; check before repeating it."
}

// ErrEnded is the cause with which a face ends a turn because the program ends. Any
// cause but context.Canceled says the same.
var ErrEnded = errors.New("the program ends")

// programEnded reports whether ctx was ended by the end of the program, and not by the user.
func programEnded(ctx context.Context) bool {
	return ctx.Err() != nil && context.Cause(ctx) != context.Canceled //nolint:errorlint // a signal's cause passes for it
}

// notStarted is what the model is told of calls that a cancelled turn has not come to.
func notStarted(ctx context.Context) string {
	if programEnded(ctx) {
		return history.NotStarted
	}
	return resultNotStarted
}

// outlet passes a tool's output on as events, one at a time. A tool may use it
// from any goroutine; once shut it drops what comes.
type outlet struct {
	emit func(Event)
	id   string

	mu   sync.Mutex // orders the events; held while one is emitted
	done bool
}

func (o *outlet) progress(chunk string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.done && chunk != "" {
		o.emit(CallOutput{ID: o.id, Text: chunk})
	}
}

func (o *outlet) shut() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.done = true
}
