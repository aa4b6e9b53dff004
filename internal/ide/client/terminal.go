package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	strict "github.com/go-json-experiment/json"
)

// TerminalRun is what came of a command in the editor's terminal.
type TerminalRun struct {
	// Code is nil if the command was ended, or if Captured is false.
	Code   *int   `json:"exit_code"`
	Output string `json:"output"`
	// Captured is false if the editor had no terminal: the command did not run.
	Captured bool `json:"output_captured"`
	TimedOut bool `json:"timed_out"`
}

// TerminalCommand is what to run there.
type TerminalCommand struct {
	Line, Dir string
	Timeout   time.Duration // zero: the editor's own
	// Printed, if not nil, is given output as it comes, before RunInTerminal returns,
	// from the goroutine that reads: it must not block. Of much output it is given the
	// newest part only; what counts is TerminalRun.Output.
	Printed func(text string)
}

// runs are the commands whose output is wanted as it comes, by the ids that the
// editor knows them by.
type runs struct {
	mu      sync.Mutex
	printed map[string]func(string)
}

// begin gives a command an id; end forgets it.
func (r *runs) begin(printed func(string)) (id string, end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id = "run-" + rand.Text() // of no other link, whose output an editor may still tell
	if r.printed == nil {
		r.printed = map[string]func(string){}
	}
	r.printed[id] = printed
	return id, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.printed, id)
	}
}

// take hands on what a command has printed.
func (r *runs) take(params json.RawMessage) {
	var p struct {
		ID   string `json:"run_id"`
		Text string `json:"text"`
	}
	if strict.Unmarshal(params, &p) != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if printed := r.printed[p.ID]; printed != nil {
		printed(p.Text)
	}
}

// RunInTerminal runs a command in a terminal that the user sees, and waits for its
// end. The editor does not ask: the caller has had the command approved. When ctx
// ends, so does the command. An editor that has no such tool is ErrUnsupported, a
// refusal is a ToolError; then the command did not run. After any other error that
// is not known.
func (c *Client) RunInTerminal(ctx context.Context, cmd TerminalCommand) (TerminalRun, error) {
	if !c.Info().Ours {
		return TerminalRun{}, ErrUnsupported
	}
	args := map[string]any{"command": cmd.Line, "cwd": cmd.Dir}
	if cmd.Timeout > 0 {
		args["timeout_ms"] = cmd.Timeout.Milliseconds()
	}
	if cmd.Printed != nil {
		id, end := c.runs.begin(cmd.Printed)
		defer end()
		args["run_id"] = id
	}
	a, err := c.call(ctx, "runInTerminal", args)
	if err != nil {
		return TerminalRun{}, err
	}
	var run TerminalRun
	if err := strict.Unmarshal([]byte(a.first()), &run); err != nil {
		return TerminalRun{}, fmt.Errorf("the editor's account of the command cannot be read: %w", err)
	}
	if run.Captured && run.Code == nil && !run.TimedOut {
		return TerminalRun{}, errors.New("the editor does not say how the command ended")
	}
	return run, nil
}
