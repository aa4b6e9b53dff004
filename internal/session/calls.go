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

// Results for calls that have none of their own.
const (
	resultCancelled  = "Cancelled by the user while it ran; its effect may be partial. Check before repeating it."
	resultUnanswered = "Not done: the user cancelled the turn when asked. Nothing was changed or run."
	resultNoFurther  = "\n[This is its only result: the turn ended before the user answered another question about the call.]"
	resultNotRun     = "Not run: the user declined an earlier call of this answer and stopped here."
	resultNotStarted = "Not run: cancelled by the user before it started."
	resultAfterError = "Not run: an earlier call of this answer failed and ended the turn."
	resultAnswered   = "Not run: an earlier call of this answer was the answer to the prompt."
	resultAfterLimit = "Not run: a limit ended the turn before this call."
	resultAtLimit    = "A limit of time ended the turn while it ran; its effect may be partial. Check before repeating it."
)

// runCalls runs the calls of one answer in order, one at a time; those that only read or
// delegate may run ahead. However it ends, every call has its result in the transcript.
func (t *turn) runCalls(ctx context.Context, calls []llm.ToolCall, said string) (more bool, stop Stop, err error) {
	said = archive.Clip(said, 200)
	titles, done := make([]string, len(calls)), make([]string, len(calls))
	for i, c := range calls {
		titles[i], _ = t.loop.Describe(c)
	}
	all := make([]*aheadCall, len(calls))
	for i, c := range calls {
		all[i] = &aheadCall{ToolCall: c, title: titles[i], call: tools.Call{
			ID: c.ID, Args: json.RawMessage(c.Args), Description: said, Turn: cmp.Or(t.loop.opt.Turn, t.id),
			Batch: confirm.Batch{ID: t.id + "." + strconv.Itoa(t.rounds), Index: i, Total: len(calls), Calls: titles, Done: done[:i:i]},
		}}
	}
	ahead := newAhead(t, all)
	batch, cancel := context.WithCancel(ctx)
	defer ahead.end()
	defer cancel() // the calls whose turn did not come
	for i, c := range calls {
		if err := ctx.Err(); err != nil {
			ahead.settle(ctx, i)
			t.loop.closeCalls(notStarted(ctx))
			return false, StopCancelled, err
		}
		ahead.start(batch, i)
		res, limit, err := t.runCall(ctx, ahead, all[i])
		if err != nil || limit != nil || res.Stop || res.Answer != "" {
			cancel()
			ahead.settle(ctx, i+1)
		}
		if err != nil {
			return t.failed(ctx, c, err)
		}
		done[i] = res.ForUser
		if res.Stop {
			t.loop.closeCalls(resultNotRun)
			return false, StopDenied, nil
		}
		if res.Answer != "" {
			t.loop.closeCalls(resultAnswered)
			return false, StopDone, nil
		}
		if limit != nil {
			t.loop.closeCalls(resultAfterLimit)
			stop, err := t.limited(limit)
			return false, stop, err
		}
	}
	return true, "", nil
}

// runCall runs one call and appends its result. An error ends the turn, as does limit.
func (t *turn) runCall(ctx context.Context, a *ahead, p *aheadCall) (res tools.Result, limit, err error) {
	t.loop.opt.Emit(CallStarted{Call: p.ToolCall, Title: p.title})
	res, took, err := a.result(ctx, p)
	if err != nil {
		res = tools.Result{
			ForModel: failure(ctx, err, res), ForUser: unfinished(err, res), Failed: true, Ran: res.Ran, Record: res.Record,
			Changes: res.Changes, Task: res.Task, TaskFailed: res.TaskFailed, TaskRefused: res.TaskRefused,
		}
	} else {
		var aside string
		aside, limit = t.again.see(p.ToolCall, res)
		t.checks.see(res)
		res.ForModel += aside
	}
	m := history.Result(p.ID, res.ForModel)
	m.Parts = append(m.Parts, res.Pictures...)
	t.loop.append(history.Item{Message: m, Meta: history.Meta{Deed: deed(p.title, res), Task: history.NewTask(res.Task, res.TaskFailed, res.TaskRefused), Failed: res.Failed}})
	for _, ended := range res.Ended {
		t.loop.RecordDeed(history.Deed{What: ended})
	}
	t.loop.opt.Emit(CallEnded{Call: p.ToolCall, Title: p.title, Result: res, Took: took})
	return res, limit, err
}

// maxDiff is the maximum size of a diff that a session saves, in bytes. A resumed
// session shows it again.
const maxDiff = 16 << 10

// deed returns the permanent record of a call; nil if the call did nothing.
func deed(title string, res tools.Result) *history.Deed {
	rec := res.Record
	if len(res.Changes) == 0 && res.Denied == nil && !res.Ran && rec.Words == "" && rec.Result == "" {
		return nil
	}
	d := &history.Deed{
		What: history.Valid(cmp.Or(rec.What, title)), Result: history.Valid(cmp.Or(rec.Result, res.ForUser)),
		Words: history.Valid(rec.Words), Plan: history.Valid(res.Plan), Refused: res.Denied != nil, Failed: res.Failed,
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

// Describe describes a call, which may be a saved one or that of a sub-agent, in one short
// line and with all of its text. The model's arguments may make a tool panic; that does not
// end the turn.
func (l *Loop) Describe(c llm.ToolCall) (line, whole string) {
	defer func() {
		if recover() != nil {
			line, whole = c.Name, c.Name
		}
	}()
	return l.opt.Tools.Title(c.Name, json.RawMessage(c.Args))
}

// perform calls the tool, unless the call is malformed, and emits its output. A panic
// becomes the tool's result, and the turn goes on.
func (t *turn) perform(ctx context.Context, c llm.ToolCall, call tools.Call) (tools.Result, error) {
	out := &outlet{emit: t.loop.opt.Emit, id: c.ID}
	call.Progress = out.progress
	defer out.shut()
	return t.invoke(ctx, c, call)
}

// invoke is perform without output. Several goroutines may call it for tools that only
// read or delegate.
func (t *turn) invoke(ctx context.Context, c llm.ToolCall, call tools.Call) (res tools.Result, err error) {
	if c.Problem != "" {
		return tools.Result{
			ForModel: "Not run: " + c.Problem + ". Make the call again, whole.", ForUser: "malformed call", Failed: true,
		}, nil
	}
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

// failed ends the turn after a call's error. The remaining calls get results that
// explain it.
func (t *turn) failed(ctx context.Context, c llm.ToolCall, err error) (bool, Stop, error) {
	if ctx.Err() != nil {
		t.loop.closeCalls(notStarted(ctx))
		return false, StopCancelled, ctx.Err()
	}
	t.loop.closeCalls(resultAfterError)
	return false, StopFailed, fmt.Errorf("%s: %w", c.Name, err)
}

// unfinished describes a call that an error ended to the user.
func unfinished(err error, res tools.Result) string {
	if asked := (tools.UnansweredError{}); errors.As(err, &asked) && !res.Ran && len(res.Changes) == 0 {
		return "cancelled"
	}
	return "not finished"
}

// failure returns the model's result of a call that ended with err and with res, as far as
// it got.
func failure(ctx context.Context, err error, res tools.Result) string {
	var asked tools.UnansweredError
	switch {
	case res.Task != nil && res.ForModel != "": // done before the end
		return res.ForModel
	case errors.As(err, &asked) && res.Ran && res.ForModel != "":
		return res.ForModel + resultNoFurther
	case limitReached(ctx) && errors.As(err, &asked):
		return resultAfterLimit
	case limitReached(ctx):
		return resultAtLimit
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

// ErrEnded is the cause to cancel a turn with when the program ends. Any cause except
// context.Canceled means the same.
var ErrEnded = errors.New("the program ends")

// programEnded reports whether the end of the program, not the user and no limit, cancelled ctx.
func programEnded(ctx context.Context) bool {
	return ctx.Err() != nil && !limitReached(ctx) && context.Cause(ctx) != context.Canceled //nolint:errorlint // the cause of a signal counts as well
}

// notStarted returns the result of the calls that a cancelled turn did not reach.
func notStarted(ctx context.Context) string {
	switch {
	case limitReached(ctx):
		return resultAfterLimit
	case programEnded(ctx):
		return history.NotStarted
	}
	return resultNotStarted
}

// outlet emits a tool's output as events, one at a time. The tool may use it from any
// goroutine; after shut it drops its input.
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
