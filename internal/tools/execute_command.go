package tools

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/tools/shell/safecmd"
)

// Bounds of execute_command, in seconds.
const (
	commandTimeout    = 120
	commandMaxTimeout = 600
)

type executeCommandArgs struct {
	Command    string `json:"command"`
	Cwd        string `json:"cwd"`
	Timeout    int    `json:"timeout"`
	Background bool   `json:"background"`
	Kill       string `json:"kill"`
}

var executeCommandFacts = Facts{Name: "execute_command", Kind: KindExecute, Hook: "Bash", Names: []string{"Bash", "BashOutput", "KillShell", "KillBash"}, Mistaken: []string{"shell", "terminal", "runcommand", "runterminalcmd", "runshellcommand"}, Keys: map[string][]string{"background": {"run_in_background"}}}

func executeCommand(d Deps, w *jobWatch) Tool {
	params := []args.Param{
		{Name: "command", Kind: args.Text},
		{Name: "cwd", Kind: args.Text},
		{Name: "timeout", Kind: args.Integer, Doc: "seconds, default 120, at most 600"},
		{Name: "background", Kind: args.Boolean, Doc: "returns an id and a log file at once"},
		{Name: "kill", Kind: args.Text, Doc: "id of one to end"},
	}
	c := commander{d, w}
	return newTool(executeCommandFacts.Name, params, executeCommandArgs.title, c.execute).foresees(c.foresee)
}

func (a executeCommandArgs) title() string {
	if a.Command == "" && a.Kill != "" {
		return "End " + a.Kill
	}
	return "Run " + a.Command
}

type commander struct {
	Deps
	background *jobWatch
}

func (c commander) execute(ctx context.Context, call Call, a executeCommandArgs) (Result, error) {
	switch {
	case (a.Command == "") == (a.Kill == ""):
		return failed("execute_command was not run: give either command or kill."), nil
	case a.Kill != "":
		return c.kill(a.Kill), nil
	case a.Timeout < 0 || a.Timeout > commandMaxTimeout:
		return failed("execute_command was not run: timeout is in seconds, from 1 to %d; use background for longer commands.", commandMaxTimeout), nil
	case strings.ContainsRune(a.Command, 0):
		return failed("execute_command was not run: the command contains a NUL byte."), nil
	}
	dir, wrong := c.dir(a.Cwd)
	if wrong != nil {
		return *wrong, nil
	}
	opts := shell.Options{
		Line: a.Command, Dir: dir, Env: c.Env, Timeout: time.Duration(cmp.Or(a.Timeout, commandTimeout)) * time.Second, Output: call.Progress, SpillDir: c.SpillDir(),
	}
	settled, err := c.settleFirst(ctx, call)
	if err != nil || settled.forbids() {
		return settled.orNone(), err
	}
	res, err := c.decide(ctx, call, opts, a)
	res.after(settled)
	if a.Cwd != "" && (res.Ran || res.Denied != nil) {
		res.Record.Result = cmp.Or(res.Record.Result, res.ForUser) + ", in " + a.Cwd
	}
	return res, err
}

// decide asks whether the command may run, then runs it.
func (c commander) decide(ctx context.Context, call Call, opts shell.Options, a executeCommandArgs) (Result, error) {
	before, err := os.Stat(opts.Dir)
	if err != nil {
		return failed("execute_command was not run: cwd: %w.", err), nil
	}
	box := c.sandbox(ctx)
	if res := box.refused(); res != nil {
		return *res, nil
	}
	place := c.place(opts.Dir)
	judged := place.Judge(a.Command)
	req := c.request(call, opts, a, judged, commandNotes(judged, place))
	req.Notes = append(req.Notes, box.notes()...)
	if !confirm.As[*confirm.Command](req).ReadOnly {
		c.Effects.Warm(ctx)
	}
	v, err := c.Ask.Ask(ctx, req)
	if err != nil {
		return Result{}, UnansweredError{err}
	}
	if v.Decision != confirm.Approve {
		return declined("execute_command", "command", "It was not run.", v), nil
	}
	if !c.isStill(opts.Dir, before) {
		return failed("The command was not run: its folder %s has been replaced since the question.", opts.Dir), nil
	}
	opts.Sandbox = box.Policy
	switch {
	case v.Guarded:
		return c.runGuarded(ctx, opts, judged, v)
	case a.Background:
		return c.start(ctx, call, opts, v), nil
	case confirm.As[*confirm.Command](req).ReadOnly: // approved by a mode that asks nothing
		return c.runConfined(ctx, req, box, opts, v)
	}
	return c.recorded(ctx, call, opts, func() (Result, error) { return c.runConfined(ctx, req, box, opts, v) })
}

// request returns the question about a command. On Windows a person is asked about each: its
// shell takes a line apart in another way than rules do.
func (c commander) request(call Call, opts shell.Options, a executeCommandArgs, judged safecmd.Judgement, notes []caution.Note) confirm.Request {
	unruled := cmp.Or(c.system, runtime.GOOS) == "windows"
	if unruled {
		notes = append(notes, caution.Notes("cmd.exe reads this line by rules of its own, so no permission rule covers it.")...)
	}
	return confirm.Request{
		Tool: "execute_command", Description: call.Description, Batch: call.Batch,
		Notes: notes, Force: unruled || judged.Class == safecmd.Danger,
		Subject: &confirm.Command{
			Line: a.Command, Dir: opts.Dir, Timeout: opts.Timeout, Background: a.Background,
			ReadOnly: judged.Class == safecmd.Safe && !a.Background && !c.AskAll, Parts: judged.CommandParts(c.AskAll),
		},
	}
}

// foresee returns the question that execute would ask, even if its folder is missing.
func (c commander) foresee(a executeCommandArgs) []Foreseen {
	dir := c.Root.Dir()
	if a.Cwd != "" {
		var err error
		if dir, _, err = c.Root.Resolve(a.Cwd); err != nil {
			return nil
		}
	}
	if a.Command == "" || a.Kill != "" || strings.ContainsRune(a.Command, 0) {
		return nil
	}
	place := c.place(dir)
	judged := place.Judge(a.Command)
	return []Foreseen{{Request: c.request(Call{}, shell.Options{Dir: dir}, a, judged, commandNotes(judged, place)), Judged: judged}}
}

// runConfined runs a command and, if it failed in the sandbox and a person allows it,
// once more without one.
func (c commander) runConfined(ctx context.Context, req confirm.Request, box Sandbox, opts shell.Options, v confirm.Verdict) (Result, error) {
	before, err := os.Stat(opts.Dir)
	if err != nil {
		return failed("execute_command was not run: cwd: %w.", err), nil
	}
	out, res, err := c.run(ctx, opts, v)
	if err != nil || out == nil {
		return res, err
	}
	again, note, err := c.again(ctx, req, box, *out)
	switch {
	case err != nil:
		return res, err
	case note == "":
		return res, nil
	case again.Decision != confirm.Approve:
		res.ForModel = note + "\n" + res.ForModel
		return res, nil
	case !c.isStill(opts.Dir, before):
		res.ForModel = "It was not run again: its folder has been replaced since. Of the first time:\n" + res.ForModel
		return res, nil
	}
	opts.Sandbox = nil
	_, res, err = c.run(ctx, opts, again)
	res.ForModel = note + res.ForModel + feedbackForModel(v)
	res.ForUser += ", without the sandbox"
	return res, err
}

// dir returns the folder that a command runs in.
func (c commander) dir(path string) (string, *Result) {
	if path == "" {
		return c.Root.Dir(), nil
	}
	abs, _, err := c.Root.Resolve(path)
	if err == nil {
		_, _, err = c.Root.FS(path)
	}
	if err != nil {
		res := failed("execute_command was not run: cwd: %w.", err)
		return "", &res
	}
	return abs, nil
}

// isStill reports whether dir is still the folder of the question: its path has no new
// link, and it was not replaced.
func (c commander) isStill(dir string, before fs.FileInfo) bool {
	now, _, err := c.Root.Resolve(dir)
	if err != nil || now != dir {
		return false
	}
	info, err := os.Stat(dir)
	return err == nil && os.SameFile(before, info)
}

// run runs an approved command. out is nil if it did not come to an end.
func (c commander) run(ctx context.Context, opts shell.Options, v confirm.Verdict) (out *shell.Result, res Result, err error) {
	got, err := c.Jobs.Run(ctx, opts)
	if err != nil {
		return nil, failed("The command could not be started: %w.", err), nil
	}
	if got.Cancelled {
		return nil, Result{Ran: true, Record: Record{Result: "stopped while it ran: its effect may be partial", Words: feedbackForRecord(v, "")}}, ctx.Err()
	}
	model, user := FormatCommand(got, opts.Timeout)
	return &got, Result{ForModel: model + feedbackForModel(v), ForUser: user, Lines: got.Lines, Log: got.Spill, Failed: got.ExitCode != 0 || got.TimedOut, Ran: true, Record: Record{Words: feedbackForRecord(v, "")}}, nil
}

func (c commander) start(ctx context.Context, call Call, opts shell.Options, v confirm.Verdict) Result {
	watch := &watchedJob{}
	watch.run, watch.failed = c.Effects.Start(ctx, c.command(call, opts.Line, true))
	opts.Ended = func() { watch.end(context.WithoutCancel(ctx)) }
	job, err := c.Jobs.Start(opts)
	if err != nil {
		opts.Ended()
		return failed("The command could not be started: %w.", err)
	}
	c.background.watched[job.ID] = watch
	where := ""
	if opts.Sandbox != nil {
		where = " It runs in a sandbox: " + confinedLimits
	}
	return Result{
		ForModel: fmt.Sprintf("Started in the background as %s. Its output goes to %s, which read_file can read; kill: %q ends it, as does the end of the session.%s%s",
			job.ID, job.Log, job.ID, where, feedbackForModel(v)),
		ForUser: "in the background as " + job.ID, Ran: true, Record: Record{Words: feedbackForRecord(v, "")},
	}
}

func (c commander) kill(id string) Result {
	output, err := c.Jobs.Kill(id)
	if err != nil {
		return failed("%w.", err)
	}
	c.background.reported[id] = true
	res := Result{ForModel: fmt.Sprintf("%s has ended. Its output:\n%s", id, sanitize.Plain(output)), ForUser: id + " has ended", Ran: true}
	res.Effects(c.background.report(id))
	return res
}

// FormatCommand renders the result of a command that ran with the given timeout: for the
// model, with the output, and for the user in a few words.
func FormatCommand(out shell.Result, timeout time.Duration) (model, user string) {
	user = fmt.Sprintf("exit %d", out.ExitCode)
	if out.Took >= 100*time.Millisecond {
		user += fmt.Sprintf(", %.1f s", out.Took.Seconds())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "exit code: %d", out.ExitCode)
	if out.TimedOut {
		user = fmt.Sprintf("ended after %s", timeout)
		fmt.Fprintf(&b, " (ended after the timeout of %s; use background for long-running commands)", timeout)
	}
	b.WriteByte('\n')
	if out.Spill != "" {
		fmt.Fprintf(&b, "%d bytes are left out below; read_file can read all of it: %s\n", out.Omitted, out.Spill)
	}
	for _, note := range out.Notes {
		b.WriteString(note + "\n")
	}
	output := sanitize.Plain(out.Output)
	if strings.TrimSpace(output) == "" {
		output = "(no output)"
	}
	b.WriteString(output)
	return b.String(), user
}

// jobWatch finds the background commands that have ended, each once.
type jobWatch struct {
	background Background      // may be nil
	reported   map[string]bool // by id
	watched    map[string]*watchedJob
}

// ended adds a line to res for each command that has ended since the last call, and its
// effects.
func (w *jobWatch) ended(res *Result) {
	if w.background == nil {
		return
	}
	for _, job := range w.background.List() {
		if job.Running || w.reported[job.ID] {
			continue
		}
		w.reported[job.ID] = true
		line := fmt.Sprintf("%s has ended with exit code %d; its output is in %s", job.ID, job.ExitCode, job.Log)
		report := w.report(job.ID)
		if said := report.String(); said != "" {
			line += "; while it ran: " + said
		}
		res.changed(report)
		res.Ended = append(res.Ended, line)
		res.ForModel += "\n[" + line + "]"
	}
}
