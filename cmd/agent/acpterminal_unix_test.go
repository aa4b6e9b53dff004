//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// consoles are the terminals of a host.
type consoles struct {
	*host
	mu      sync.Mutex
	made    int
	running map[string]*console
	events  []string
	refuses bool
	awaited chan string // gets each terminal whose end the agent waits for
}

type console struct {
	cmd  *exec.Cmd
	out  bytes.Buffer
	done chan struct{}
}

func newConsoles(h *host) *consoles {
	c := &consoles{host: h, running: map[string]*console{}, awaited: make(chan string, 10)}
	h.serve = c.serve
	h.request("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{"terminal": true}})
	return c
}

func (c *consoles) serve(method string, params map[string]any) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, method)
	id, _ := params["terminalId"].(string)
	one := c.running[id]
	switch {
	case method == "terminal/create" && !c.refuses:
		return c.create(params)
	case one == nil:
		return nil
	case method == "terminal/wait_for_exit":
		c.awaited <- id
		return func() any {
			<-one.done
			if code := one.cmd.ProcessState.ExitCode(); code >= 0 {
				return map[string]any{"exitCode": code}
			}
			return map[string]any{"exitCode": nil, "signal": "SIGKILL"}
		}
	case method == "terminal/kill":
		if err := unix.Kill(-one.cmd.Process.Pid, unix.SIGKILL); err != nil {
			c.t.Error(err)
		}
		<-one.done
	case method == "terminal/output":
		return map[string]any{"output": one.out.String(), "truncated": false}
	case method == "terminal/release":
		delete(c.running, id)
	default:
		c.t.Errorf("unexpected: %s", method)
	}
	return map[string]any{}
}

// left counts the terminals that the agent has not released.
func (c *consoles) left() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.running)
}

func (c *consoles) create(params map[string]any) any {
	var args []string
	for _, a := range params["args"].([]any) {
		args = append(args, a.(string))
	}
	c.made++
	one := &console{cmd: exec.Command(params["command"].(string), args...), done: make(chan struct{})}
	one.cmd.Dir, one.cmd.Stdout, one.cmd.SysProcAttr = params["cwd"].(string), &one.out, &unix.SysProcAttr{Setpgid: true}
	one.cmd.Env = slices.Clone(c.cmd.Env) // the agent has its variables from the host
	for _, e := range params["env"].([]any) {
		pair := e.(map[string]any)
		one.cmd.Env = append(one.cmd.Env, fmt.Sprint(pair["name"], "=", pair["value"]))
	}
	if err := one.cmd.Start(); err != nil {
		c.t.Error(err)
		return nil
	}
	go func() {
		defer close(one.done)
		var exit *exec.ExitError
		if err := one.cmd.Wait(); err != nil && !errors.As(err, &exit) {
			c.t.Error(err)
		}
	}()
	id := fmt.Sprint("terminal-", c.made)
	c.running[id] = one
	return map[string]any{"terminalId": id}
}

// TestHostedTerminal: an approved command runs once, in the host's terminal, which the host
// shows with the call. Its time-out and a cancel end it there. One that the host refuses, and
// one in the background, run here.
func TestHostedTerminal(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t,
		callOf("execute_command", `{"command":"echo hello >>made; cat made; exit 3"}`), llmtest.Turn{Text: "Done."},
		callOf("execute_command", `{"command":"echo begun; sleep 1000","timeout":1}`), llmtest.Turn{Text: "Done."},
		callOf("execute_command", `{"command":"echo x >begun; sleep 1000"}`),
		callOf("execute_command", `{"command":"echo again >>made"}`), llmtest.Turn{Text: "Done."},
		callOf("execute_command", `{"command":"sleep 1000","background":true}`), llmtest.Turn{Text: "Done."},
	), nil)
	c := newConsoles(d.host())
	c.answer = func(map[string]any) string {
		if c.left() > 0 {
			t.Error("it runs before the answer")
		}
		return "allow-once"
	}
	id, _ := c.open()
	c.prompt(id, "run it", "end_turn")
	if got := d.told(1); !strings.Contains(got, "exit code: 3") || !strings.Contains(got, "hello") {
		t.Errorf("the model was told %q", got)
	}
	var shown int
	for _, u := range c.whole["tool_call_update"] {
		if parts, _ := u["content"].([]any); len(parts) > 0 && parts[0].(map[string]any)["terminalId"] == "terminal-1" {
			shown++
		}
	}
	if shown != 2 || d.read("made") != "hello\n" {
		t.Errorf("shown %d times, wrote %q", shown, d.read("made"))
	}
	c.prompt(id, "run longer", "end_turn")
	if got := d.told(3); !strings.Contains(got, "timeout") || !strings.Contains(got, "begun") {
		t.Errorf("the model was told %q", got)
	}
	if err := unix.Mkfifo(d.path("begun"), 0o600); err != nil {
		t.Fatal(err)
	}
	running := c.begin("session/prompt", map[string]any{"sessionId": id, "prompt": c.text("run on")})
	go func() {
		d.read("begun")                   // waits for the command
		for <-c.awaited != "terminal-3" { // one cancelled before is ended after the turn
		}
		c.send(map[string]any{"jsonrpc": "2.0", "method": "session/cancel", "params": map[string]any{"sessionId": id}})
	}()
	if got := c.await(running); got.Result["stopReason"] != "cancelled" {
		t.Errorf("%+v", got)
	}
	c.refuses = true
	c.prompt(id, "run here", "end_turn")
	if got := d.read("made"); got != "hello\nagain\n" {
		t.Errorf("wrote %q", got)
	}
	made := strings.Count(strings.Join(c.events, " "), "terminal/create")
	c.prompt(id, "run behind", "end_turn")
	if now := strings.Count(strings.Join(c.events, " "), "terminal/create"); made != 4 || now != made || c.left() != 0 {
		t.Errorf("%v, then %d; left %v", c.events, now, c.running)
	}
	c.end()
}

// A command in the host's terminal gets no key, although the host has one.
func TestHostedTerminalHasNoKey(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t,
		callOf("execute_command", `{"command":"echo \"$PLAIN $TOGETHER_API_KEY$CORP_TOKEN$PLAINER\" >made"}`), llmtest.Turn{Text: "Done."},
	), nil)
	d.env = append(d.env, "PLAIN=plain", "TOGETHER_API_KEY=key", "CORP_TOKEN=token", "PLAINER=key")
	d.keep("config.yaml", "providers: {other: {base_url: http://127.0.0.1:1, api_key_env: PLAINER}}\n")
	c := newConsoles(d.host())
	c.answer = func(map[string]any) string { return "allow-once" }
	id, _ := c.open()
	c.prompt(id, "run it", "end_turn")
	if got := d.read("made"); c.made != 1 || got != "plain \n" {
		t.Errorf("%d terminals, wrote %q", c.made, got)
	}
	c.end()
}
