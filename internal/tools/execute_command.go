package tools

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/tools/shell/safecmd"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
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

func executeCommand(c commander) Tool {
	params := []args.Param{
		{Name: "command", Kind: args.Text},
		{Name: "cwd", Kind: args.Text},
		{Name: "timeout", Kind: args.Integer, Doc: "seconds, default 120, at most 600"},
		{Name: "background", Kind: args.Boolean, Doc: "returns an id and a log file at once"},
		{Name: "kill", Kind: args.Text, Doc: "id of one to end"},
	}
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
	held       *held
}

// execution is a command line on its way to the shell.
type execution struct {
	Call
	executeCommandArgs
	opts   shell.Options
	judged safecmd.Judgement
}

func (c commander) execute(ctx context.Context, call Call, a executeCommandArgs) (Result, error) {
	switch {
	case (a.Command == "") == (a.Kill == ""):
		return toolcall.Failed("execute_command was not run: give either command or kill."), nil
	case a.Kill != "":
		return c.kill(a.Kill), nil
	case a.Timeout < 0 || a.Timeout > commandMaxTimeout:
		return toolcall.Failed("execute_command was not run: timeout is in seconds, from 1 to %d; use background for longer commands.", commandMaxTimeout), nil
	}
	dir, wrong := c.dir(a.Cwd)
	if wrong != nil {
		return *wrong, nil
	}
	if err := c.interpreter(dir).Check(a.Command); err != nil {
		return toolcall.Failed("execute_command was not run: %w.", err), nil
	}
	x := execution{call, a, shell.Options{
		Line: a.Command, Dir: dir, Env: c.Env, Timeout: time.Duration(cmp.Or(a.Timeout, commandTimeout)) * time.Second, Output: call.Progress, SpillDir: c.SpillDir(),
	}, c.place(dir).Judge(a.Command)}
	if !c.held.concerns(x.judged) {
		return c.carryOut(ctx, x)
	}
	name := c.held.name()
	joined, ok := c.join(x)
	if !ok {
		return c.releaseFirst(ctx, call, func() (Result, error) { return c.carryOut(ctx, x) })
	}
	res, err := c.carryOut(ctx, joined)
	if err == nil && res.Rule != permission.InCopy {
		*c.held = held{}
		if !res.Ran {
			res.ForModel += "\n[" + name + ", which waited to run before it, did not run either]"
		}
	}
	return res, err
}

// carryOut runs a command in a copy or, after a question, in its folder.
func (c commander) carryOut(ctx context.Context, x execution) (Result, error) {
	tried, why, err := c.try(ctx, x)
	if err != nil || tried != nil {
		return tried.OrNone(), err
	}
	waiting := c.Pending.Len() > 0
	first := c.First
	if c.apart(x) {
		first = func(_ context.Context, _ Call, do func() (Result, error)) (Result, error) { return do() }
	}
	return first(ctx, x.Call, func() (Result, error) {
		if waiting { // the files may be others now
			x.judged = c.place(x.opts.Dir).Judge(x.Command)
		}
		res, err := c.decide(ctx, x, why)
		if x.Cwd != "" && (res.Ran || res.Denied != nil) {
			res.Record.Result = cmp.Or(res.Record.Result, res.ForUser) + ", in " + x.Cwd
		}
		return res, err
	})
}

// decide asks whether the command may run, then runs it. untried explains why it did not run in a copy.
func (c commander) decide(ctx context.Context, x execution, untried string) (Result, error) {
	opts := x.opts
	before, err := os.Stat(opts.Dir)
	if err != nil {
		return toolcall.Failed("execute_command was not run: cwd: %w.", err), nil
	}
	box := c.sandbox(ctx)
	if res := box.refused(); res != nil {
		return *res, nil
	}
	req := c.request(x)
	req.Notes = append(req.Notes, box.notes()...)
	if untried != "" && !strings.Contains(fmt.Sprint(req.Notes), untried) {
		req.Notes = append(req.Notes, caution.Notes("You are asked because it "+untried+".")...)
	}
	if !confirm.As[*confirm.Command](req).ReadOnly {
		if res := c.onlyTrials(ctx, untried); res != nil {
			return *res, nil
		}
		c.Effects.Warm(ctx)
	}
	v, err := c.Ask.Ask(ctx, req)
	if err != nil {
		return Result{}, UnansweredError{Err: err}
	}
	if v.Decision != confirm.Approve {
		return toolcall.Declined("execute_command", "command", "It was not run.", v), nil
	}
	if !c.isStill(opts.Dir, before) {
		return toolcall.Failed("The command was not run: its folder %s has been replaced since the question.", opts.Dir), nil
	}
	opts.Sandbox = box.Policy.Confiner()
	c.movable(&opts)
	switch {
	case v.Guarded:
		return c.runGuarded(ctx, opts, x.judged, v)
	case x.Background:
		return c.start(ctx, x.Call, opts, v), nil
	case confirm.As[*confirm.Command](req).ReadOnly: // approved by a mode that asks nothing
		return c.runConfined(ctx, req, box, opts, v)
	}
	return c.recorded(ctx, x.Call, opts, func(opts shell.Options) (Result, error) { return c.runConfined(ctx, req, box, opts, v) })
}

// interpreter returns the shell that runs lines in dir.
func (c commander) interpreter(dir string) shell.Interpreter {
	if c.shell != nil {
		return *c.shell
	}
	return shell.In(dir)
}

// request returns the question about a command. A person is asked about each line of a shell that
// takes it apart in another way than rules do: it may run what rules do not see in it.
func (c commander) request(x execution) confirm.Request {
	notes := commandNotes(x.judged, c.place(x.opts.Dir))
	sh, parts := c.interpreter(x.opts.Dir), x.judged.CommandParts(c.AskAll)
	if !sh.Posix {
		notes = append(notes, caution.Notes(sh.Name+" reads this line by rules of its own, so no permission rule covers it.")...)
		parts = append(parts, confirm.CommandPart{Hidden: true})
	}
	return confirm.Request{
		Tool: "execute_command", Description: x.Description, Batch: x.Batch,
		Notes: notes, Force: !sh.Posix || x.judged.Class == safecmd.Danger,
		Subject: &confirm.Command{
			Line: x.Command, Dir: x.opts.Dir, Timeout: x.opts.Timeout, Background: x.Background,
			ReadOnly: sh.Posix && x.judged.Class == safecmd.Safe && !x.Background && !c.AskAll, Parts: parts,
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
	x := execution{executeCommandArgs: a, opts: shell.Options{Dir: dir}, judged: c.place(dir).Judge(a.Command)}
	q := Foreseen{Request: c.request(x), Judged: x.judged, Apart: c.apart(x)}
	q.Trial, q.Untried = c.trial(x)
	q.Holds = q.Trial != nil && x.joinable()
	return []Foreseen{q}
}

// runConfined runs a command and, if it failed in the sandbox and a person allows it,
// once more without one.
func (c commander) runConfined(ctx context.Context, req confirm.Request, box Sandbox, opts shell.Options, v confirm.Verdict) (Result, error) {
	before, err := os.Stat(opts.Dir)
	if err != nil {
		return toolcall.Failed("execute_command was not run: cwd: %w.", err), nil
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
	res.ForModel = note + res.ForModel + toolcall.Feedback(v)
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
		res := toolcall.Failed("execute_command was not run: cwd: %w.", err)
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
	var job shell.Job
	if moved := opts.Moved; moved != nil {
		opts.Moved = func(j shell.Job) { job = j; moved(j) }
	}
	got, err := c.Jobs.Run(ctx, opts)
	switch {
	case err != nil:
		return nil, toolcall.Failed("The command could not be started: %w.", err), nil
	case got.Moved:
		return nil, began("The user moved the command to the background, where it continues as", job, opts, v), nil
	}
	if got.Cancelled {
		return nil, Result{Ran: true, Record: Record{Result: "stopped while it ran: its effect may be partial", Words: toolcall.Words(v)}}, ctx.Err()
	}
	model, user := FormatCommand(got, opts.Timeout)
	return &got, Result{ForModel: model + toolcall.Feedback(v), ForUser: user, Lines: got.Lines, Log: got.Spill, Failed: got.ExitCode != 0 || got.TimedOut, Ran: true, Record: Record{Words: toolcall.Words(v)}}, nil
}

func (c commander) start(ctx context.Context, call Call, opts shell.Options, v confirm.Verdict) Result {
	watch := &watchedJob{}
	watch.run, watch.failed = c.Effects.Start(ctx, c.command(call, opts.Line, true))
	opts.Ended = func() { watch.end(context.WithoutCancel(ctx)) }
	job, err := c.Jobs.Start(opts)
	if err != nil {
		opts.Ended()
		return toolcall.Failed("The command could not be started: %w.", err)
	}
	c.background.watched[job.ID] = watch
	return began("Started in the background as", job, opts, v)
}

// began returns the result of a command that runs in the background.
func began(how string, job shell.Job, opts shell.Options, v confirm.Verdict) Result {
	where := ""
	if opts.Sandbox != nil {
		where = " It runs in a sandbox: " + confinedLimits
	}
	return Result{
		ForModel: fmt.Sprintf("%s %s. Its output goes to %s, which read_file can read; kill: %q ends it, as does the end of the session.%s%s",
			how, job.ID, job.Log, job.ID, where, toolcall.Feedback(v)),
		ForUser: "running in the background (" + job.ID + ")", Ran: true, Record: Record{Words: toolcall.Words(v)},
	}
}

func (c commander) kill(id string) Result {
	output, err := c.Jobs.Kill(id)
	if err != nil {
		return toolcall.Failed("%w.", err)
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
		res.Changed(report)
		res.Ended = append(res.Ended, line)
		res.ForModel += "\n[" + line + "]"
	}
}
