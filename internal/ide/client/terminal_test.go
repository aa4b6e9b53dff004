package client_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
)

func TestRunInTerminal(t *testing.T) {
	e := idetest.Start(t, idetest.Ours())
	var asked map[string]any
	answer := idetest.Text(`{"exit_code":3,"output":"out\n","cwd":"/p","output_captured":true}`)
	e.Handle("runInTerminal", func(_ *idetest.Conn, args json.RawMessage) idetest.Reply {
		asked = nil
		if err := json.Unmarshal(args, &asked); err != nil {
			t.Error(err)
		}
		return answer
	})
	c := connect(t, e)
	ran, err := c.RunInTerminal(t.Context(), client.TerminalCommand{Line: "make", Dir: "/p", Timeout: 2 * time.Second})
	if err != nil || ran.Code == nil || *ran.Code != 3 || ran.Output != "out\n" || !ran.Captured || ran.TimedOut {
		t.Errorf("%+v, %v", ran, err)
	}
	if asked["command"] != "make" || asked["cwd"] != "/p" || asked["timeout_ms"] != 2000.0 {
		t.Errorf("asked: %v", asked)
	}
	answer = idetest.Text(`{"exit_code":null,"output":"begun\n","cwd":"/p","output_captured":true,"timed_out":true}`)
	if ran, err = c.RunInTerminal(t.Context(), client.TerminalCommand{Line: "make", Dir: "/p", Timeout: time.Second}); err != nil || !ran.TimedOut || ran.Code != nil {
		t.Errorf("%+v, %v", ran, err)
	}
	for _, bad := range []string{`{`, `[]`, `{"exit_code":"0","output_captured":true}`, `{"exit_code":null,"output_captured":true}`} {
		answer = idetest.Text(bad)
		if ran, err = c.RunInTerminal(t.Context(), client.TerminalCommand{Line: "make", Dir: "/p"}); err == nil {
			t.Errorf("%s is taken for %+v", bad, ran)
		}
	}
	if _, timed := asked["timeout_ms"]; timed {
		t.Error("no timeout is none")
	}
	answer = idetest.Refuse("", "not trusted")
	var refused *client.ToolError
	if _, err = c.RunInTerminal(t.Context(), client.TerminalCommand{Line: "make", Dir: "/p"}); !errors.As(err, &refused) {
		t.Errorf("a refusal is %v", err)
	}
	if _, err := connect(t, idetest.Start(t, idetest.Neovim())).RunInTerminal(t.Context(), client.TerminalCommand{Line: "make", Dir: "/p"}); !errors.Is(err, client.ErrUnsupported) {
		t.Errorf("another editor: %v", err)
	}
}

// TestTerminalOutput: a command's output is passed on as it comes; output of another
// command, or after the end, is not.
func TestTerminalOutput(t *testing.T) {
	e := idetest.Start(t, idetest.Ours())
	tell := func(id, text string) { e.Notify("terminal_output", map[string]any{"run_id": id, "text": text}) }
	var run struct {
		ID string `json:"run_id"`
	}
	e.Handle("runInTerminal", func(_ *idetest.Conn, args json.RawMessage) idetest.Reply {
		if err := json.Unmarshal(args, &run); err != nil || run.ID == "" {
			t.Errorf("%s, %v", args, err)
		}
		tell(run.ID, "one ")
		tell("another", "wrong ")
		e.Notify("terminal_output", map[string]any{"run_id": 1})
		tell(run.ID, "two")
		return idetest.Text(`{"exit_code":0,"output":"one two","cwd":"/p","output_captured":true}`)
	})
	c := connect(t, e)
	seen := ""
	ran, err := c.RunInTerminal(t.Context(), client.TerminalCommand{Line: "make", Dir: "/p", Printed: func(text string) { seen += text }})
	if err != nil || seen != "one two" || ran.Output != "one two" {
		t.Errorf("seen %q, %+v, %v", seen, ran, err)
	}
	first := run.ID
	if _, err := connect(t, e).RunInTerminal(t.Context(), client.TerminalCommand{Line: "make", Dir: "/p", Printed: func(string) {}}); err != nil || run.ID == first {
		t.Errorf("two links run %s: %v", first, err)
	}
	run.ID = first
	tell(run.ID, " late")
	if err := c.Probe(t.Context()); err != nil || seen != "one two" {
		t.Errorf("seen %q, %v", seen, err)
	}
}
