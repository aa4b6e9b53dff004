package client

import (
	"context"
	"errors"
	"fmt"
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

// RunInTerminal runs a command in a terminal that the user sees, and waits for its
// end. The editor does not ask: the caller has had the command approved. When ctx
// ends, so does the command. An editor that has no such tool is ErrUnsupported, a
// refusal is a ToolError; then the command did not run. After any other error that
// is not known.
func (c *Client) RunInTerminal(ctx context.Context, line, dir string, timeout time.Duration) (TerminalRun, error) {
	if !c.Info().Ours {
		return TerminalRun{}, ErrUnsupported
	}
	args := map[string]any{"command": line, "cwd": dir}
	if timeout > 0 {
		args["timeout_ms"] = timeout.Milliseconds()
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
