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
// a file and runs a command. None gets an answer before all have asked for one.
func delegating(t *testing.T) *llmtest.Server {
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
			if came.Add(1) == parts {
				close(together)
			}
			turn := callOf("edit_file", fmt.Sprintf(`{"path":"f%s.txt","old_string":"one","new_string":"two"}`, m[1]))
			turn.Gate = together
			return turn
		case len(results) == 1:
			return callOf("execute_command", fmt.Sprintf(`{"command":"touch made%s"}`, m[1]))
		}
		return llmtest.Turn{Text: "<part " + m[1] + " over>"}
	})
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
	d := delegates(t, delegating(t))
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
	d := delegates(t, delegating(t))
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
