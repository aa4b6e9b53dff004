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

// TerminalRun is the result of a command in the editor's terminal.
type TerminalRun struct {
	// Code is nil if the command was killed, or if Captured is false.
	Code   *int   `json:"exit_code"`
	Output string `json:"output"`
	// Captured is false if the editor had no terminal: the command did not run.
	Captured bool `json:"output_captured"`
	TimedOut bool `json:"timed_out"`
}

// TerminalCommand describes a command for the editor's terminal.
type TerminalCommand struct {
	Line, Dir string
	Timeout   time.Duration // zero: the editor's own limit
	// Printed, if not nil, receives output while RunInTerminal runs, from the reading
	// goroutine: it must not block. It gets only the newest part of long output;
	// TerminalRun.Output is complete.
	Printed func(text string)
}

// runs holds the commands whose output is wanted as it comes, by the ids sent to the
// editor.
type runs struct {
	mu      sync.Mutex
	printed map[string]func(string)
}

// begin gives a command an id; end forgets it.
func (r *runs) begin(printed func(string)) (id string, end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id = "run-" + rand.Text() // unique across links: an editor may still report output of an earlier one
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

// take passes on the output of a command.
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

// RunInTerminal runs a command in a terminal that the user sees, and waits for its end.
// The editor does not ask: the caller has had the command approved. When ctx ends, so
// does the command. After ErrUnsupported or a ToolError the command did not run; after
// any other error it may have.
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
		return TerminalRun{}, fmt.Errorf("the editor's report on the command cannot be read: %w", err)
	}
	if run.Captured && run.Code == nil && !run.TimedOut {
		return TerminalRun{}, errors.New("the editor does not report how the command ended")
	}
	return run, nil
}
