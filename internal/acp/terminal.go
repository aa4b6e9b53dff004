package acp

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/bb2d0cf4/agent/internal/jsonrpc"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/timelimit"
	"github.com/bb2d0cf4/agent/internal/tools"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

const (
	// terminalTime bounds the requests that the host can answer at once, on a busy machine too.
	terminalTime = time.Minute
	// terminalOutput is how much output the host keeps, in bytes.
	terminalOutput = 4 << 20
)

// terminals runs the commands that a turn waits for in the host's terminals. Those in the
// background, those in a sandbox and those of which we set the environment run here.
type terminals struct {
	tools.Commands
	files *files
	view  func() *view // nil before the host knows the session
	// secrets names variables that commands do not get.
	secrets []string
}

// Run runs a command once: one that the host may have run is not run again.
func (t terminals) Run(ctx context.Context, opts shell.Options) (shell.Result, error) {
	argv := shell.Argv(opts.Line)
	v := t.view()
	if opts.Here || opts.Sandbox != nil || len(argv) < 2 || v == nil {
		return t.Commands.Run(ctx, opts)
	}
	began := time.Now()
	id, err := t.create(ctx, terminalParams{
		SessionID: t.files.session, Command: argv[0], Args: argv[1:], Cwd: opts.Dir, OutputByteLimit: terminalOutput,
		Env: t.environment(opts.Env),
	})
	var refused *jsonrpc.Error
	switch {
	case errors.As(err, &refused):
		res, err := t.Commands.Run(ctx, opts)
		res.Notes = append(res.Notes, "It did not run in the editor's terminal: the editor refused it.")
		return res, err
	case id == "" && ctx.Err() != nil:
		return shell.Result{ExitCode: -1, Cancelled: true, Took: time.Since(began)}, nil
	case err != nil || id == "":
		return lostCommand(began, err), nil
	}
	defer t.release(id)
	v.inTerminal(opts.Line, id)
	return t.await(ctx, opts, id, began), nil
}

// create has the host start a command in a terminal, and returns the terminal's id. A command
// that it starts after the turn has ended, or too late, is ended at once.
func (t terminals) create(ctx context.Context, p terminalParams) (string, error) {
	waiting, cancel := timelimit.Context(ctx, terminalTime)
	defer cancel()
	type answer struct {
		id  string
		err error
	}
	answered := make(chan answer)
	t.files.conn.Go(func() {
		var made terminalResult
		err := t.files.conn.Call(t.files.ctx, "terminal/create", p, &made)
		select {
		case answered <- answer{made.ID, err}:
		case <-waiting.Done():
			if made.ID != "" {
				_ = t.call("kill", terminalParams{TerminalID: made.ID}, &struct{}{}) // it may have ended
				t.release(made.ID)
			}
		}
	})
	select {
	case a := <-answered:
		return a.id, a.err
	case <-waiting.Done():
		return "", timelimit.Explain(waiting, waiting.Err())
	}
}

// release gives a terminal back to the host. It may have gone with the command.
func (t terminals) release(id string) {
	_ = t.call("release", terminalParams{TerminalID: id}, &struct{}{})
}

// environment returns the variables that a command in the host's terminal gets besides the
// host's own; here it would have env. The host's secrets, which it may have given us, are
// emptied.
func (t terminals) environment(env []string) []pair {
	all := []pair{{"PAGER", "cat"}, {"GIT_PAGER", "cat"}, {"GIT_TERMINAL_PROMPT", "0"}}
	for _, name := range shell.Hidden(os.Environ(), env, t.secrets...) {
		all = append(all, pair{name, ""})
	}
	return all
}

// await waits for the end of a command, and ends it at its time-out or the end of ctx.
func (t terminals) await(ctx context.Context, opts shell.Options, id string, began time.Time) shell.Result {
	waiting, cancel := ctx, context.CancelFunc(func() {})
	if opts.Timeout > 0 {
		waiting, cancel = context.WithTimeout(ctx, opts.Timeout)
	}
	defer cancel()
	var exit terminalExit
	err := t.files.conn.Call(waiting, "terminal/wait_for_exit", terminalParams{SessionID: t.files.session, TerminalID: id}, &exit)
	stopped := waiting.Err() != nil
	if stopped {
		err = t.call("kill", terminalParams{TerminalID: id}, &struct{}{})
	}
	var out terminalResult
	if err == nil {
		err = t.call("output", terminalParams{TerminalID: id}, &out)
	}
	if err != nil {
		return lostCommand(began, err)
	}
	res := shell.Elsewhere(opts, out.Output, -1, time.Since(began))
	if exit.ExitCode != nil {
		res.ExitCode = *exit.ExitCode
	}
	if exit.Signal != nil {
		res.Notes = append(res.Notes, "It was ended by "+*exit.Signal+".")
	}
	if out.Truncated {
		res.Notes = append(res.Notes, "The editor kept only the end of the output.")
	}
	res.Cancelled, res.TimedOut = ctx.Err() != nil, stopped && ctx.Err() == nil
	return res
}

// call asks the host about a terminal. The end of a turn does not end the call, as that
// would leave a command behind; the end of the connection does.
func (t terminals) call(method string, p terminalParams, result any) error {
	ctx, cancel := timelimit.Context(t.files.ctx, terminalTime)
	defer cancel()
	p.SessionID = t.files.session
	return timelimit.Explain(ctx, t.files.conn.Call(ctx, "terminal/"+method, p, result))
}

// lostCommand returns the result of a command of which the host does not tell more, because of
// err if it is not nil.
func lostCommand(began time.Time, err error) shell.Result {
	reason := ""
	if err != nil {
		reason = " (" + sanitize.Line(err.Error()) + ")"
	}
	return shell.Result{
		ExitCode: -1, Took: time.Since(began),
		Notes: []string{"The command ran in the editor's terminal, and the editor failed" + reason + ": it is unknown whether the command has ended, and how."},
	}
}

// inTerminal shows the terminal in which a call runs its command.
func (v *view) inTerminal(line, id string) {
	v.mu.Lock()
	call := ""
	for _, open := range v.open {
		var args struct {
			Command string `json:"command"`
		}
		if jsonrpc.Unmarshal([]byte(open.Args), &args) == nil && args.Command == line {
			call = open.ID
		}
	}
	if call != "" {
		v.terminals[call] = id
	}
	v.mu.Unlock()
	if call != "" {
		v.update(toolCall{Kind: "tool_call_update", ID: call, Content: []callContent{{Type: "terminal", TerminalID: id}}})
	}
}

// terminalOf returns the terminal of a call that has ended, and forgets it; "" without one.
func (v *view) terminalOf(call string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	id := v.terminals[call]
	delete(v.terminals, call)
	return id
}
