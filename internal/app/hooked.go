package app

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/app/hooks"
	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/effects"
)

// hooked runs the hooks of a session. Without any hook it does nothing.
type hooked struct {
	app *App
	run *hooks.Runner

	// begin and end run the hooks of a session's start, in the background, and of its end.
	// They do nothing before open.
	begin, end func(source string)
	save       func() // saves which files the hooks ran

	work    crash.Group   // begin's
	mu      sync.Mutex    // guards the following
	started chan struct{} // closed when the hooks of the start have ended; nil before
	context []string      // for the next message
	notices []string      // of the hooks of the start
}

func (a *App) newHooked(o Options, env []string) *hooked {
	nothing := func(string) {}
	return &hooked{app: a, begin: nothing, end: nothing, save: func() {}, run: hooks.New(hooks.Options{
		User: o.Hooks, Project: o.ProjectHooks, Run: a.jobs.Run, Dir: a.Root.Dir(), Env: o.Programs().Environ(env),
		Session: func() (id, path string) { s := a.Current(); return s.ID(), s.Path() },
		Mode:    func() string { return a.Policy.Mode().String() },
		Policy:  a.Policy, Ask: a.askForHook, Seen: o.Instructions.Seen, See: o.Instructions.See,
	})}
}

// askForHook asks the person whether a hook may run that may do something else than before.
func (a *App) askForHook(ctx context.Context, line, note string) bool {
	return a.askForProgram(ctx, line, a.Root.Dir(), note)
}

// askForProgram asks the person whether a line may run that is not a command of the model. The
// bypass mode answers yes.
func (a *App) askForProgram(ctx context.Context, line, dir, note string) bool {
	if a.Policy.Mode() == permission.Bypass {
		return true
	}
	v, err := a.Questions.AskPerson(ctx, confirm.Request{
		Tool: workspace.HookTool, Force: true, Notes: caution.Notes(note), Subject: &confirm.Command{Line: line, Dir: dir},
	})
	return err == nil && v.Decision == confirm.Approve
}

// fire runs the hooks of an event and shows their notices. An error means that ctx has
// ended.
func (h *hooked) fire(ctx context.Context, e hooks.Event) (hooks.Outcome, error) {
	o, err := h.run.Run(ctx, e)
	for _, text := range o.Notices {
		h.app.emit(session.Notice{Text: text})
	}
	return o, err
}

// open makes begin and end run hooks until ctx ends, and a little longer for the last end.
func (h *hooked) open(ctx context.Context) {
	h.begin = func(source string) { h.start(ctx, hooks.Event{Name: hooks.SessionStart, Source: source}) }
	h.save = func() { h.run.Close(context.WithoutCancel(ctx)) }
	h.end = func(reason string) { h.finished(ctx, hooks.Event{Name: hooks.SessionEnd, Reason: reason}) }
}

// start runs the hooks of a session's start in the background. Their notices are shown by
// settled, since a face need not take any before its first turn.
func (h *hooked) start(ctx context.Context, e hooks.Event) {
	if !h.run.Has(e) {
		return
	}
	done := make(chan struct{})
	h.mu.Lock()
	h.started = done
	h.mu.Unlock()
	h.work.Go(func() {
		defer close(done)
		o, _ := h.run.Run(ctx, e) // an error means that the session ends
		h.mu.Lock()
		defer h.mu.Unlock()
		h.context, h.notices = append(h.context, o.Context...), append(h.notices, o.Notices...)
	})
}

// finished runs the hooks of a session's end.
func (h *hooked) finished(ctx context.Context, e hooks.Event) {
	if !h.run.Has(e) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), hooks.EndTime)
	defer cancel()
	if _, err := h.fire(ctx, e); err != nil {
		h.app.emit(session.Notice{Text: "The hooks of SessionEnd were ended after " + hooks.EndTime.String() + "."})
	}
}

// settled waits for the hooks of the session's start and shows their notices.
func (h *hooked) settled(ctx context.Context) {
	h.mu.Lock()
	started := h.started
	h.mu.Unlock()
	if started == nil {
		return
	}
	select {
	case <-started:
	case <-ctx.Done():
		return
	}
	h.mu.Lock()
	notices := h.notices
	h.notices = nil
	h.mu.Unlock()
	for _, text := range notices {
		h.app.emit(session.Notice{Text: text})
	}
}

// tell adds texts to the next message.
func (h *hooked) tell(texts ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.context = append(h.context, texts...)
}

// take returns the texts of hooks for the next message.
func (h *hooked) take() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	texts := h.context
	h.context = nil
	if len(texts) == 0 {
		return ""
	}
	return "[From the user's hooks:\n" + strings.Join(texts, "\n") + "]\n\n"
}

// prompt runs the hooks of a prompt. It fails if one of them blocks it.
func (h *hooked) prompt(ctx context.Context, prompt string) error {
	e := hooks.Event{Name: hooks.UserPromptSubmit, Prompt: prompt}
	if !h.run.Has(e) {
		return nil
	}
	o, err := h.fire(ctx, e)
	switch {
	case err != nil:
		return err
	case o.Blocked != "":
		return errors.New("the prompt was not sent: " + o.Blocked)
	case o.Stop != "":
		return errors.New("the prompt was not sent. " + o.Stop)
	}
	h.tell(o.Context...)
	return nil
}

// ending returns the text with which the hooks of the turn's end send the model back.
func (h *hooked) ending(ctx context.Context, again bool) string {
	e := hooks.Event{Name: hooks.Stop, StopActive: &again}
	if !h.run.Has(e) {
		return ""
	}
	var o hooks.Outcome
	var err error
	report := h.recorded(ctx, e, workspace.Origin{}, func() { o, err = h.fire(ctx, e) })
	if len(report.Files) > 0 {
		h.tell("After your last answer, " + h.changed(e, report))
	}
	if err != nil || o.Blocked == "" || o.Stop != "" {
		h.tell(o.Context...)
		return ""
	}
	h.app.emit(session.Notice{Text: "The model continues: " + o.Blocked})
	return strings.Join(append([]string{"[Do not end yet: " + o.Blocked + "]"}, o.Context...), "\n")
}

// recorded runs the hooks of an event and records the files that they change, as changes
// by the given call.
func (h *hooked) recorded(ctx context.Context, e hooks.Event, by workspace.Origin, run func()) effects.Report {
	by.Session, by.Tool = h.app.Current().ID(), workspace.HookTool
	watch, err := h.app.effects.Start(ctx, effects.Command{Line: h.run.Commands(e), Origin: by})
	run()
	report := watch.End(ctx)
	if err != nil {
		report.Err = err
	}
	return report
}

// changed describes the files that the hooks of an event changed, for the model.
func (h *hooked) changed(e hooks.Event, report effects.Report) string {
	return "the user's hook (" + h.run.Commands(e) + ") " + report.String() + ". Read it again before you edit it."
}

// close waits for the hooks in the background.
func (h *hooked) close() {
	h.end("other")
	h.work.Wait()
	h.save()
}
