//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// host is a program that hosts the agent by the Agent Client Protocol.
type host struct {
	*desk
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	last    int
	work    sync.WaitGroup              // of answers that take time
	updates []string                    // kinds of updates, with their texts
	whole   map[string][]map[string]any // updates by kind
	sending sync.Mutex
	// serve answers requests other than questions; a nil result is an error. A result that
	// is a func() any is called beside other messages, and returns the result.
	serve func(method string, params map[string]any) any
	// answer chooses the option of a question, or "" to cancel.
	answer func(question map[string]any) string
}

type rpc struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params map[string]any  `json:"params,omitempty"`
	Result map[string]any  `json:"result,omitempty"`
	Error  map[string]any  `json:"error,omitempty"`
}

func (d *desk) host(args ...string) *host {
	d.t.Helper()
	return d.hostBy(d.program(append([]string{"acp"}, args...)...))
}

// hostBy starts a command that is, or starts, the agent.
func (d *desk) hostBy(cmd *exec.Cmd) *host {
	d.t.Helper()
	h := &host{desk: d, cmd: cmd, whole: map[string][]map[string]any{}}
	h.cmd.Dir, h.cmd.Env, h.cmd.Stderr = d.dir, d.env, os.Stderr
	var err error
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		d.t.Fatal(err)
	}
	out, err := h.cmd.StdoutPipe()
	if err == nil {
		err = h.cmd.Start()
	}
	if err != nil {
		d.t.Fatal(err)
	}
	h.out = bufio.NewScanner(out)
	h.out.Buffer(nil, 10<<20)
	return h
}

func (h *host) send(v any) {
	h.t.Helper()
	line, err := json.Marshal(v)
	if err != nil {
		h.t.Fatal(err)
	}
	h.sending.Lock()
	defer h.sending.Unlock()
	if _, err := h.in.Write(append(line, '\n')); err != nil {
		h.t.Fatal(err)
	}
}

// begin sends a request and returns its id.
func (h *host) begin(method string, params any) string {
	h.t.Helper()
	h.last++
	h.send(map[string]any{"jsonrpc": "2.0", "id": h.last, "method": method, "params": params})
	return fmt.Sprint(h.last)
}

// request sends a request and returns its answer.
func (h *host) request(method string, params any) rpc {
	h.t.Helper()
	return h.await(h.begin(method, params))
}

// await handles the agent's messages until the answer to the request with this id.
func (h *host) await(id string) rpc {
	h.t.Helper()
	for h.out.Scan() {
		if m := h.took(); m.Method == "" && string(m.ID) == id {
			return m
		} else if m.Method == "" {
			h.t.Errorf("unexpected: %s", h.out.Text())
		}
	}
	h.t.Fatalf("the agent closed its end: %v", h.out.Err())
	return rpc{}
}

// read returns the message of the agent that was scanned last.
func (h *host) read() rpc {
	h.t.Helper()
	var m rpc
	if err := json.Unmarshal(h.out.Bytes(), &m); err != nil {
		h.t.Errorf("%q: %v", h.out.Text(), err)
	}
	return m
}

// took handles a message of the agent and returns it.
func (h *host) took() rpc {
	m := h.read()
	switch m.Method {
	case "session/update":
		u := m.Params["update"].(map[string]any)
		kind := fmt.Sprint(u["sessionUpdate"])
		h.whole[kind] = append(h.whole[kind], u)
		if c, ok := u["content"].(map[string]any); ok {
			kind += " " + fmt.Sprint(c["text"])
		}
		for _, field := range []string{"title", "status"} {
			if u[field] != nil {
				kind += " " + fmt.Sprint(u[field])
			}
		}
		h.updates = append(h.updates, kind)
	case "session/request_permission":
		outcome := map[string]any{"outcome": "cancelled"}
		if id := h.answer(m.Params); id != "" {
			outcome = map[string]any{"outcome": "selected", "optionId": id}
		}
		h.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": map[string]any{"outcome": outcome}})
	case "":
	default:
		if h.serve == nil {
			h.t.Errorf("unexpected: %s", h.out.Text())
			return m
		}
		switch result := h.serve(m.Method, m.Params).(type) {
		case func() any:
			h.work.Go(func() { h.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result()}) })
		case nil:
			h.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32002, "message": "not found"}})
		default:
			h.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
		}
	}
	return m
}

func (h *host) text(words string) []map[string]any {
	return []map[string]any{{"type": "text", "text": words}}
}

// has checks that the updates so far begin with kind and contain words.
func (h *host) has(want string) {
	h.t.Helper()
	if !slices.ContainsFunc(h.updates, func(u string) bool { return strings.HasPrefix(u, want) }) {
		h.t.Errorf("no update %q in %q", want, h.updates)
	}
}

// end closes the host's end, and waits for the agent's.
func (h *host) end() {
	h.t.Helper()
	h.work.Wait()
	if err := h.in.Close(); err != nil {
		h.t.Fatal(err)
	}
	for h.out.Scan() {
	}
	if err := h.cmd.Wait(); err != nil {
		h.t.Errorf("the agent ends with %v", err)
	}
}

// TestHosted: a host drives a session: it is asked with the diff, its "no" and its silence
// write nothing, a cancel ends the prompt, and the session can be loaded and continued.
func TestHosted(t *testing.T) {
	t.Parallel()
	edit := func(to string) llmtest.Turn {
		return callOf("edit_file", `{"path":"a.txt","old_string":"one","new_string":"`+to+`"}`)
	}
	d := newDesk(t, llmtest.NewServer(t,
		edit("two"), llmtest.Turn{Text: "Edited."}, edit("x"), callOf("execute_command", `{"command":"touch made"}`), llmtest.Turn{Text: "Made."},
		llmtest.Turn{Text: "A long answer", Chunk: 2, Fault: llmtest.Stall, After: 2}, llmtest.Turn{Text: "Again."}), map[string]string{"a.txt": "one\n"})
	h := d.host()
	got := h.request("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{}})
	if got.Result["protocolVersion"] != 1.0 || got.Error != nil {
		t.Fatalf("%+v", got)
	}
	if got := h.request("session/new", map[string]any{"cwd": "here", "mcpServers": []any{}}); got.Error["code"] != -32602.0 {
		t.Errorf("a relative folder: %+v", got)
	}
	servers := []any{map[string]any{"name": "my server", "command": os.Args[0], "args": []string{"mcp-server"}, "env": []any{}}}
	got = h.request("session/new", map[string]any{"cwd": d.dir, "mcpServers": servers})
	id, _ := got.Result["sessionId"].(string)
	if id == "" {
		t.Fatalf("%+v", got)
	}
	prompt := func(words string) rpc {
		return h.request("session/prompt", map[string]any{"sessionId": id, "prompt": h.text(words)})
	}
	h.answer = func(q map[string]any) string {
		call := q["toolCall"].(map[string]any)
		content := call["content"].([]any)[0].(map[string]any)
		if content["type"] != "diff" || content["oldText"] != "one\n" || content["newText"] != "two\n" || content["path"] != d.path("a.txt") {
			t.Errorf("asked with %v", content)
		}
		return "allow-once"
	}
	if got := prompt("edit it"); got.Result["stopReason"] != "end_turn" {
		t.Errorf("%+v", got)
	}
	if text := d.read("a.txt"); text != "two\n" {
		t.Errorf("the file holds %q", text)
	}
	h.has("agent_message_chunk Edited.")
	h.has("tool_call Edit a.txt in_progress")
	h.has("tool_call_update completed")
	if !strings.Contains(string(d.request(0)), "mcp__my-server__echo") {
		t.Error("the host's MCP server is not offered")
	}

	d.write("a.txt", "one\n")
	h.answer = func(map[string]any) string { return "no-such-option" }
	prompt("edit it again")
	if text := d.read("a.txt"); text != "one\n" {
		t.Errorf("the file holds %q", text)
	}
	h.answer = func(q map[string]any) string {
		var ids []string
		for _, o := range q["options"].([]any) {
			ids = append(ids, fmt.Sprint(o.(map[string]any)["optionId"]))
		}
		if !slices.Equal(ids, []string{"allow-once", "allow-session", "reject-once"}) {
			t.Errorf("the options are %q", ids)
		}
		return "allow-session"
	}
	prompt("make it")
	d.read("made")

	running := h.begin("session/prompt", map[string]any{"sessionId": id, "prompt": h.text("talk")})
	if got := prompt("at the same time"); got.Error == nil {
		t.Errorf("a second prompt: %+v", got)
	}
	h.send(map[string]any{"jsonrpc": "2.0", "method": "session/cancel", "params": map[string]any{"sessionId": id}})
	if got := h.await(running); got.Result["stopReason"] != "cancelled" {
		t.Errorf("%+v", got)
	}
	if got := h.request("session/set_mode", map[string]any{"sessionId": id, "modeId": "bypass"}); got.Error == nil {
		t.Errorf("the bypass mode: %+v", got)
	}
	if got := h.request("session/set_mode", map[string]any{"sessionId": id, "modeId": "plan"}); got.Error != nil {
		t.Errorf("the plan mode: %+v", got)
	}
	h.end()

	h = d.host()
	h.request("initialize", map[string]any{"protocolVersion": 1})
	if got := h.request("session/load", map[string]any{"sessionId": id, "cwd": d.dir, "mcpServers": []any{}}); got.Error != nil {
		t.Fatalf("%+v", got)
	}
	for _, want := range []string{"user_message_chunk edit it", "tool_call Edit a.txt completed", "agent_message_chunk Edited.", "user_message_chunk talk"} {
		h.has(want)
	}
	if got := h.request("session/prompt", map[string]any{"sessionId": id, "prompt": h.text("go on")}); got.Result["stopReason"] != "end_turn" {
		t.Errorf("%+v", got)
	}
	got = h.request("session/list", map[string]any{"cwd": d.dir})
	if all, _ := got.Result["sessions"].([]any); len(all) != 1 {
		t.Errorf("%+v", got)
	}
	h.end()
}

// TestALoadedSessionShowsItsCalls: a host that loads a session is shown its calls as they were
// shown first, with the diffs, the refusals and the list of steps.
func TestALoadedSessionShowsItsCalls(t *testing.T) {
	t.Parallel()
	edit := callOf("edit_file", `{"path":"a.txt","old_string":"one","new_string":"two"}`)
	again := callOf("edit_file", `{"path":"a.txt","old_string":"two","new_string":"three"}`)
	steps := callOf("todo", `{"items":[{"content":"Edit it","status":"in_progress"}]}`)
	missing := callOf("read_file", `{"path":"none.txt"}`)
	d := newDesk(t, llmtest.NewServer(t, steps, missing, edit, again), map[string]string{"a.txt": "one\n"})
	h := d.host()
	id := h.request("session/new", map[string]any{"cwd": d.dir, "mcpServers": []any{}}).Result["sessionId"]
	answers := []string{"allow-once", "reject-once"}
	h.answer = func(map[string]any) string {
		answer := answers[0]
		answers = answers[1:]
		return answer
	}
	h.request("session/prompt", map[string]any{"sessionId": id, "prompt": h.text("edit it twice")})
	h.end()
	h = d.host()
	if got := h.request("session/load", map[string]any{"sessionId": id, "cwd": d.dir, "mcpServers": []any{}}); got.Error != nil {
		t.Fatalf("%+v", got)
	}
	h.has("tool_call Edit a.txt completed")
	h.has("tool_call_update Edit a.txt failed")
	h.has("tool_call_update failed") // of the missing file
	var diffs, plans int
	for _, u := range h.whole["tool_call_update"] {
		if shown := fmt.Sprint(u["content"]); strings.Contains(shown, "-one\n+two\n") && u["status"] == "completed" {
			diffs++
		}
	}
	for _, u := range h.whole["plan"] {
		if strings.Contains(fmt.Sprint(u["entries"]), "Edit it") {
			plans++
		}
	}
	if diffs != 1 || plans != 1 {
		t.Errorf("%d diffs and %d plans in %v", diffs, plans, h.whole)
	}
	h.end()
}

// TestHostedPlan: the question about a plan shows its text, an edit is a question after it is
// accepted, and no answer that was not offered accepts it.
func TestHostedPlan(t *testing.T) {
	t.Parallel()
	plan := callOf("present_plan", `{"plan":"# Rename it\n\nEdit a.txt."}`)
	d := newDesk(t, llmtest.NewServer(t, plan, plan, callOf("write_file", `{"path":"b.txt","content":"x"}`), llmtest.Turn{Text: "Done."}), nil)
	h := d.host()
	got := h.request("session/new", map[string]any{"cwd": d.dir, "mcpServers": []any{}})
	id := got.Result["sessionId"]
	h.request("session/set_mode", map[string]any{"sessionId": id, "modeId": "plan"})
	var asked []string
	answer := "allow-session"
	h.answer = func(q map[string]any) string {
		data, err := json.Marshal(q["toolCall"].(map[string]any)["content"])
		if err != nil {
			t.Error(err)
		}
		asked = append(asked, string(data))
		return answer
	}
	h.request("session/prompt", map[string]any{"sessionId": id, "prompt": h.text("plan it")})
	answer = "allow-once"
	h.request("session/prompt", map[string]any{"sessionId": id, "prompt": h.text("plan it again")})
	if len(asked) != 3 || !strings.Contains(asked[0], "Edit a.txt.") || !strings.Contains(asked[2], `"type":"diff"`) {
		t.Errorf("asked %q", asked)
	}
	d.read("b.txt")
	h.has("current_mode_update")
	h.end()
}

// TestHostEnds: the end of the host ends a prompt, its command and the agent. A line that is no
// message gets an error.
func TestHostEnds(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, callOf("execute_command", `{"command":"echo begun > begun; exec sleep 1000"}`)), nil)
	if err := unix.Mkfifo(d.path("begun"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := d.host()
	for _, line := range []string{"{", "[]", "{}", `{"id":1}`, `"x"`, `{"id":1,"method":"nothing"}`, `{"id":1,"method":"session/prompt","params":7}`} {
		if _, err := io.WriteString(h.in, line+"\n"); err != nil {
			t.Fatal(err)
		}
		if !h.out.Scan() || !strings.Contains(h.out.Text(), `"error":{"code":-32`) {
			t.Errorf("%s: %s", line, h.out.Text())
		}
	}
	h.answer = func(map[string]any) string { return "allow-once" }
	got := h.request("session/new", map[string]any{"cwd": d.dir, "mcpServers": []any{}})
	h.begin("session/prompt", map[string]any{"sessionId": got.Result["sessionId"], "prompt": h.text("wait")})
	for h.out.Scan() {
		if strings.Contains(h.out.Text(), "session/request_permission") {
			break
		}
	}
	var q rpc
	if err := json.Unmarshal(h.out.Bytes(), &q); err != nil {
		t.Fatal(err)
	}
	h.send(map[string]any{"jsonrpc": "2.0", "id": q.ID, "result": map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": "allow-once"}}})
	if text := d.read("begun"); text != "begun\n" { // waits for the command
		t.Errorf("the command wrote %q", text)
	}
	h.end()
}
