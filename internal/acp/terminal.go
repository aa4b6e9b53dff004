package acp

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/bb2d0cf4/agent/internal/tools"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

const (
	// terminalTime bounds the requests that the host can answer at once.
	terminalTime = 5 * time.Second
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
	var made terminalResult
	err := t.call("create", terminalParams{
		Command: argv[0], Args: argv[1:], Cwd: opts.Dir, OutputByteLimit: terminalOutput,
		Env: t.environment(opts.Env),
	}, &made)
	var refused *Error
	switch {
	case ctx.Err() != nil && made.ID == "":
		return shell.Result{ExitCode: -1, Cancelled: true, Took: time.Since(began)}, nil
	case errors.As(err, &refused):
		res, err := t.Commands.Run(ctx, opts)
		res.Notes = append(res.Notes, "It did not run in the editor's terminal: the editor refused it.")
		return res, err
	case err != nil || made.ID == "":
		return lostCommand(began), nil
	}
	defer func() { _ = t.call("release", terminalParams{TerminalID: made.ID}, &struct{}{}) }() // it has ended
	v.inTerminal(opts.Line, made.ID)
	return t.await(ctx, opts, made.ID, began), nil
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
	err := t.files.conn.call(waiting, "terminal/wait_for_exit", terminalParams{SessionID: t.files.session, TerminalID: id}, &exit)
	stopped := waiting.Err() != nil
	if stopped {
		if t.call("kill", terminalParams{TerminalID: id}, &struct{}{}) != nil {
			return lostCommand(began)
		}
	} else if err != nil {
		return lostCommand(began)
	}
	var out terminalResult
	if t.call("output", terminalParams{TerminalID: id}, &out) != nil {
		return lostCommand(began)
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
	ctx, cancel := context.WithTimeout(t.files.ctx, terminalTime)
	defer cancel()
	p.SessionID = t.files.session
	return t.files.conn.call(ctx, "terminal/"+method, p, result)
}

func lostCommand(began time.Time) shell.Result {
	return shell.Result{
		ExitCode: -1, Took: time.Since(began),
		Notes: []string{"The command ran in the editor's terminal, and the editor failed: it is unknown whether the command has ended, and how."},
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
		if unmarshal([]byte(open.Args), &args) == nil && args.Command == line {
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
