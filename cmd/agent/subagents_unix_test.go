//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/dev/transcriptjudge"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

const parts = 8

// promptOf returns the prompt of a request, and the results since.
func promptOf(body []byte) (prompt string, results []string) {
	var req struct {
		Messages []struct{ Role, Content string }
	}
	if json.Unmarshal(body, &req) != nil {
		return "", nil
	}
	for _, m := range req.Messages {
		switch m.Role {
		case "user":
			prompt, results = m.Content, nil
		case "tool":
			results = append(results, m.Content)
		}
	}
	return prompt, results
}

// delegating returns a server whose model delegates to eight sub-agents at once. Each edits
// a file and runs a command. None gets an answer before all have asked for one, and gate is
// closed; with a nil gate each gets its answer at once.
func delegating(t *testing.T, gate <-chan struct{}) *llmtest.Server {
	t.Helper()
	var came atomic.Int32
	together := make(chan struct{})
	part := regexp.MustCompile(`do part ([0-9])`)
	return llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
		if err := transcriptjudge.Check(body); err != nil {
			t.Errorf("%v in %s", err, body)
			return llmtest.Raw(http.StatusBadRequest, "text/plain", err.Error())
		}
		prompt, results := promptOf(body)
		m := part.FindStringSubmatch(prompt)
		switch {
		case m == nil && !strings.Contains(prompt, "delegate"):
			return llmtest.Turn{Text: "As you say."}
		case m == nil && len(results) == 0:
			turn := llmtest.Turn{Text: "I delegate."}
			for i := range parts {
				args := fmt.Sprintf(`{"description":"part %d","prompt":"do part %[1]d","agent":"reviewer"}`, i)
				turn.Calls = append(turn.Calls, llmtest.Call{Name: "task", Args: args})
			}
			return turn
		case m == nil:
			return llmtest.Turn{Text: "All is done: " + strings.Join(results, " ")}
		case len(results) == 0:
			if came.Add(1) == parts && gate != nil {
				go func() {
					<-gate
					close(together)
				}()
			}
			turn := callOf("edit_file", fmt.Sprintf(`{"path":"f%s.txt","old_string":"one","new_string":"two"}`, m[1]))
			if gate != nil {
				turn.Gate = together
			}
			return turn
		case len(results) == 1:
			return callOf("execute_command", fmt.Sprintf(`{"command":"touch made%s"}`, m[1]))
		}
		return llmtest.Turn{Text: "<part " + m[1] + " over>"}
	})
}

// open returns an open gate.
func open() <-chan struct{} {
	gate := make(chan struct{})
	close(gate)
	return gate
}

// delegates returns a desk with a definition of a sub-agent that edits and runs commands.
func delegates(t *testing.T, server *llmtest.Server) *desk {
	t.Helper()
	files := map[string]string{}
	for i := range parts {
		files[fmt.Sprintf("f%d.txt", i)] = "one\n"
	}
	d := newDesk(t, server, files)
	scratch.Write(t, d.home+"/agents/reviewer.md", "---\nname: reviewer\ndescription: reviews code\ntools: Read, Edit, Bash\n---\nYou review.\n")
	return d
}

// question waits for a question of a sub-agent other than last, and returns it.
func (d *desk) question(last string) (q string) {
	d.t.Helper()
	of := regexp.MustCompile(`(?s)sub-agent reviewer: (part [0-9]).*?(f[0-9]\.txt|touch made[0-9])`)
	d.WaitUntil("a question of a sub-agent", func(m *vt.Terminal) bool {
		all := of.FindAllStringSubmatch(m.String(), -1)
		if len(all) == 0 {
			return false
		}
		q = strings.Join(all[len(all)-1][1:], " ")
		return q != last
	})
	d.awake("y yes")
	return q
}

// TestEightSubAgents: eight sub-agents work at once and ask twice each. Each question names
// the one that asks and is asked once; the results come back in order.
func TestEightSubAgents(t *testing.T) {
	t.Parallel()
	d := delegates(t, delegating(t, open()))
	d.sit()
	d.say("delegate")
	var asked []string
	last := ""
	for range 2 * parts {
		last = d.question(last)
		asked = append(asked, last)
		d.Press("y")
	}
	d.WaitFor(`All is done`)
	d.idle()
	var want []string
	for i := range parts {
		want = append(want, fmt.Sprintf("part %d f%[1]d.txt", i), fmt.Sprintf("part %d touch made%[1]d", i))
		if got := d.read(fmt.Sprintf("f%d.txt", i)); got != "two\n" {
			t.Errorf("file %d holds %q", i, got)
		}
		d.read(fmt.Sprintf("made%d", i))
	}
	if slices.Sort(asked); !slices.Equal(asked, want) {
		t.Errorf("asked %q", asked)
	}
	_, results := promptOf(d.request(3*parts + 1))
	for i, r := range results {
		if r != fmt.Sprintf("<part %d over>", i) {
			t.Errorf("result %d is %q", i, r)
		}
	}
	if len(results) != parts {
		t.Errorf("%d results", len(results))
	}
	d.Press("ctrl+o")
	d.WaitFor(`The full conversation`)
	d.Press("q")
	d.leave()
}

// TestSubAgentsWithoutAnybody: without a person each question is denied, nothing hangs, and
// the exit status tells.
func TestSubAgentsWithoutAnybody(t *testing.T) {
	t.Parallel()
	d := delegates(t, delegating(t, open()))
	cmd := exec.Command("agent", "-p", "delegate", "--output-format", "json")
	cmd.Dir, cmd.Env = d.dir, d.env
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("%v: %s", err, out)
	}
	var got struct {
		Result string
		Denied []struct{ Tool, Reason string }
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Denied) != 2*parts || strings.Count(got.Result, " over>") != parts {
		t.Errorf("%s", out)
	}
}

// TestSubAgentsShareTheLimit: what sub-agents spend counts for the session's limit, which ends
// them all. Alone, none of them would reach it.
func TestSubAgentsShareTheLimit(t *testing.T) {
	t.Parallel()
	d := delegates(t, delegating(t, nil))               // with a limit they do not all ask at once
	d.keep("config.yaml", "max_session_tokens: 1000\n") // a request takes 110 or more
	code, out := d.command("-p", "delegate", "--permission-mode", "bypass")
	if sent := len(d.server.Requests()); code != 1 || !strings.Contains(out, "max_session_tokens") || sent <= parts || sent > 1000/110+2 {
		t.Errorf("exit status %d after %d requests: %s", code, sent, out)
	}
}

// TestStoppedSubAgents: the person stops one sub-agent by its number and another by a no;
// the others go on, and the model is told.
func TestStoppedSubAgents(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	d := delegates(t, delegating(t, gate))
	d.sit()
	d.say("delegate")
	d.request(parts) // all wait
	d.say("/tasks")
	var number string
	listed := regexp.MustCompile(`([0-9]+)  reviewer: part 3`)
	d.WaitUntil("the list", func(m *vt.Terminal) bool {
		found := listed.FindStringSubmatch(m.String())
		if found != nil {
			number = found[1]
		}
		return found != nil
	})
	d.Press("esc")
	d.say("/tasks stop 99")
	d.WaitFor(`99 is not running`)
	d.say("/tasks stop " + number)
	d.WaitFor(`Ended ` + number + `: reviewer: part 3`)
	close(gate)
	last := ""
	for range 2*parts - 3 { // two of part 3 and one of part 5 are never asked
		last = d.question(last)
		if strings.HasPrefix(last, "part 5") {
			d.Press("n")
		} else {
			d.Press("y")
		}
	}
	d.WaitFor(`All is done`)
	d.idle()
	d.leave()
	requests := d.server.Requests()
	_, results := promptOf(requests[len(requests)-1])
	for i, r := range results {
		want := fmt.Sprintf("<part %d over>", i)
		switch i {
		case 3:
			want = "The user stopped this task before it was done."
		case 5:
			want = "The user declined a step of this task without a reason, so it ended before it was done."
		}
		if r != want {
			t.Errorf("result %d is %q", i, r)
		}
		if got := d.read(fmt.Sprintf("f%d.txt", i)); (got == "two\n") == (i == 3 || i == 5) {
			t.Errorf("file %d holds %q", i, got)
		}
	}
}

// TestCancelledSubAgents: Esc ends the sub-agents with the turn. The session can go on, and
// a resumed one shows their conversations.
func TestCancelledSubAgents(t *testing.T) {
	t.Parallel()
	d := delegates(t, delegating(t, open()))
	d.sit()
	d.say("delegate")
	first := d.question("")
	d.Press("y")
	d.question(first)
	d.Press("esc")
	d.WaitFor(`Interrupted\. Changes made so far are kept`)
	d.idle()
	d.say("/tasks")
	d.WaitFor(`Nothing is running`)
	d.say("go on")
	d.WaitFor(`As you say`)
	d.idle()
	d.leave()
	requests := d.server.Requests()
	if last := string(requests[len(requests)-1]); strings.Contains(last, "Not run") || strings.Count(last, "Cancelled by the user while it ran") != parts {
		t.Errorf("the model is told %s", last)
	}
	d.sit("-c")
	d.Press("ctrl+o")
	d.WaitFor(`The full conversation`)
	d.Press("g")
	d.WaitFor(`do part 0`)
	d.Press("q")
	d.say("once more")
	d.WaitUntil("the answer", func(m *vt.Terminal) bool { return strings.Count(m.String(), "As you say") == 2 })
	d.idle()
	d.leave()
}

// TestHostedSubAgents: a host is asked each question of a sub-agent once, in the parent's
// session, with the one that asks. A cancel ends them all.
func TestHostedSubAgents(t *testing.T) {
	t.Parallel()
	d := delegates(t, delegating(t, open()))
	h := d.host()
	h.request("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{}})
	id := h.request("session/new", map[string]any{"cwd": d.dir, "mcpServers": []any{}}).Result["sessionId"]
	asked := map[string]int{}
	of := regexp.MustCompile(`^reviewer: part ([0-9]) – (Edit f|Run touch made)([0-9])`)
	h.answer = func(q map[string]any) string {
		title := fmt.Sprint(q["toolCall"].(map[string]any)["title"])
		if m := of.FindStringSubmatch(title); m == nil || m[1] != m[3] || q["sessionId"] != id {
			t.Errorf("asked %q in %v", title, q["sessionId"])
		}
		asked[title]++
		return "allow-once"
	}
	got := h.request("session/prompt", map[string]any{"sessionId": id, "prompt": h.text("delegate")})
	if got.Result["stopReason"] != "end_turn" || len(asked) != 2*parts {
		t.Errorf("%+v, asked %v", got, asked)
	}
	for title, n := range asked {
		if n != 1 {
			t.Errorf("%q was asked %d times", title, n)
		}
	}
	for i := range parts {
		d.read(fmt.Sprintf("made%d", i))
		d.write(fmt.Sprintf("f%d.txt", i), "one\n")
	}
	h.answer = func(map[string]any) string {
		h.send(map[string]any{"jsonrpc": "2.0", "method": "session/cancel", "params": map[string]any{"sessionId": id}})
		return ""
	}
	if got := h.request("session/prompt", map[string]any{"sessionId": id, "prompt": h.text("delegate again")}); got.Result["stopReason"] != "cancelled" {
		t.Errorf("%+v", got)
	}
	h.end()
}
