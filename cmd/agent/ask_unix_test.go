//go:build unix

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

func asksUser() llmtest.Turn {
	return callOf("ask_user", `{"question":"Tabs or \u001b[2Jspaces?","options":["tabs","spaces"]}`)
}

// The model asks in its own words; a digit takes one of its answers, c begins another.
func TestModelAsksTheUser(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, asksUser(), asksUser(), asksUser(), llmtest.Turn{Text: "All done."}), nil)
	d.sit("--permission-mode", "accept-edits")
	d.say("indent it")
	d.WaitFor(`(?s)the model asks.*Tabs or .*spaces\?.*1  tabs.*2  spaces`)
	d.awake("to 2 take an answer")
	d.Press("2")
	d.WaitFor(`(?s)spaces.*the model asks`)
	d.awake("to 2 take an answer")
	d.Press("c")
	d.WaitFor(`(?m)^answer:`)
	d.Type("neither, ask gofmt")
	d.Press("enter")
	d.WaitFor(`(?s)neither, ask gofmt.*the model asks`)
	d.awake("to 2 take an answer")
	d.Press("n")
	d.idle()
	if told := d.told(1); !strings.Contains(told, "The user's answer: spaces") {
		t.Errorf("the option: %q", told)
	}
	if told := d.told(2); !strings.Contains(told, "The user's answer: neither, ask gofmt") {
		t.Errorf("the words: %q", told)
	}
	d.say("go on")
	d.WaitFor(`All done`)
	d.idle()
	d.leave()
}

func TestModelAsksTheUserInPlainText(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, asksUser(), asksUser(), llmtest.Turn{Text: "All done."}), nil)
	d.open()
	d.run("agent", "--screen-reader")
	d.WaitFor(`(?m)^you:`)
	d.say("indent it")
	line := `(?s)Tabs or .*spaces\?.*1 tabs.*2 spaces.*Your answer\? \[1 to 2 / answer and your own words / n: no answer\]`
	d.answerLine(line, "2")
	d.answerLine(line+".*"+line, "answer neither")
	d.WaitFor(`All done`)
	if told := d.told(1); !strings.Contains(told, "The user's answer: spaces") {
		t.Errorf("the option: %q", told)
	}
	if told := d.told(2); !strings.Contains(told, "The user's answer: neither") {
		t.Errorf("the words: %q", told)
	}
}

// Without a person the model goes on by itself.
func TestModelCannotAskInAScript(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, asksUser(), llmtest.Turn{Text: "I took tabs."}), nil)
	code, out := d.prompted()
	if code != 0 || !strings.Contains(out, "I took tabs.") {
		t.Errorf("exit status %d:\n%s", code, out)
	}
	if told := d.told(1); !strings.Contains(told, "Nobody could be asked") {
		t.Errorf("told %q", told)
	}
}

// A host offers the answers and nothing else.
func TestModelAsksTheHostsUser(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, asksUser(), asksUser(), llmtest.Turn{Text: "Done."}), nil)
	h := d.host()
	id := h.request("session/new", map[string]any{"cwd": d.dir, "mcpServers": []any{}}).Result["sessionId"]
	picks := []string{"allow-once", "answer-1"}
	h.answer = func(map[string]any) string {
		pick := picks[0]
		picks = picks[1:]
		return pick
	}
	h.request("session/prompt", map[string]any{"sessionId": id, "prompt": h.text("indent it")})
	h.request("session/prompt", map[string]any{"sessionId": id, "prompt": h.text("again")})
	if told := d.told(2); !strings.Contains(told, "The user's answer: spaces") {
		t.Errorf("told %q", told)
	}
	h.end()
}

// answerLine answers the question that pattern matches. It waits as long as a person needs
// to read: an earlier line does not answer.
func (d *desk) answerLine(pattern, text string) {
	d.t.Helper()
	d.WaitFor(pattern)
	<-time.After(600 * time.Millisecond)
	d.Type(text + "\r")
}
