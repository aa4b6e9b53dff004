//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/transcriptjudge"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// wireJudges judge a request of each wire.
var wireJudges = map[string]func([]byte) error{
	"chat": transcriptjudge.Check, "responses": transcriptjudge.CheckResponses, "anthropic": transcriptjudge.CheckMessages,
}

// onEachWire runs a test with the judge of each wire, and checks the requests of its server at the end.
func onEachWire(t *testing.T, test func(t *testing.T, wire string) *llmtest.Server) {
	t.Helper()
	for wire, judge := range wireJudges {
		t.Run(wire, func(t *testing.T) {
			for _, body := range test(t, wire).Requests() {
				if err := judge(body); err != nil {
					t.Errorf("%v in %s", err, body)
				}
			}
		})
	}
}

// begins reports whether a request begins with the bytes of an earlier one.
func begins(with, body []byte) bool {
	plain := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(cacheMarker), nil) }
	return bytes.HasPrefix(plain(body), bytes.TrimSuffix(plain(with), []byte("]}")))
}

// TestSideQuestion: on each wire, /btw is answered while a turn runs, in -p and for a host. Esc stops
// it alone; its request begins with the conversation's; its tokens count; and neither the later
// requests nor the session's file have it.
func TestSideQuestion(t *testing.T) {
	t.Parallel()
	onEachWire(t, func(t *testing.T, wire string) *llmtest.Server {
		gate := make(chan struct{})
		s := llmtest.NewServerFunc(t, func(n int, body []byte) llmtest.Turn {
			switch text := string(body); {
			case strings.Contains(text, "no end?"):
				return llmtest.Turn{Text: "It goes on and on", Fault: llmtest.Stall, After: 2}
			case strings.Contains(text, "A side question of the user"):
				return llmtest.Turn{Text: "It was the *fourth*.\n\n- one", Usage: &llmtest.Usage{Input: 50_000, Output: 100}}
			case n == 0:
				return llmtest.Turn{Text: "The work is done.", Gate: gate, Usage: &llmtest.Usage{Input: 1000, Output: 10}}
			}
			return llmtest.Turn{Text: "So it is.", Usage: &llmtest.Usage{Input: 1000, Output: 10}}
		})
		d := newDesk(t, s, nil)
		d.eyes(wire, false)
		d.sit()
		d.say("work")
		if err := s.Await(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		d.say("/btw which one was it?")
		d.WaitFor(`(?s)Not part of the conversation:.*│ It was the fourth\..*│ • one`)
		d.say("/btw is there no end?")
		d.WaitFor(`/btw is being answered · Esc stops it`)
		if err := s.Await(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
		d.say("next")
		d.WaitFor(`queued: next`)
		d.Press("esc")
		d.WaitFor(`/btw was stopped`)
		d.WaitFor(`(?s)queued: next.*waiting for the model.*Esc stops`)
		close(gate)
		d.WaitFor(`(?s)The work is done.*So it is`)
		d.idle()
		d.say("/cost")
		d.WaitFor(`52\.0k tokens in`)
		d.leave()
		code, out := d.command("-c", "-p", "/btw which one was it?")
		if code != 0 || out != "It was the *fourth*.\n\n- one\n" {
			t.Errorf("exit status %d: %q", code, out)
		}
		code, out = d.command("-c", "-p", "/btw which one was it?", "--output-format", "json")
		var result struct {
			Result string
			Usage  struct {
				Input int64 `json:"input_tokens"`
			}
		}
		if err := json.Unmarshal([]byte(out), &result); err != nil || code != 0 || !strings.HasPrefix(result.Result, "It was the") || result.Usage.Input != 50_000 {
			t.Errorf("exit status %d, %v: %s", code, err, out)
		}
		if code, out = d.command("-c", "-p", "last"); code != 0 {
			t.Errorf("exit status %d: %s", code, out)
		}
		requests := s.Requests()
		if len(requests) != 7 {
			t.Fatalf("%d requests", len(requests))
		}
		for of, with := range map[int]int{1: 0, 2: 0, 3: 0, 4: 3, 5: 3, 6: 3} {
			if !begins(requests[with], requests[of]) {
				t.Errorf("request %d does not begin as request %d:\n%s\n%s", of, with, requests[with], requests[of])
			}
		}
		for _, n := range []int{3, 6} {
			if strings.Contains(string(requests[n]), "which one") || strings.Contains(string(requests[n]), "fourth") {
				t.Errorf("request %d has the side question: %s", n, requests[n])
			}
		}
		if _, list := d.command("sessions", "list"); strings.Contains(list, "which one") {
			t.Errorf("it is in the list: %s", list)
		}
		id := strings.Fields(sessionsOf(t, d))[0]
		if code, shown := d.command("sessions", "show", "--json", id); code != 0 || strings.Contains(shown, "which one") || !strings.Contains(shown, "So it is.") {
			t.Errorf("exit status %d, the session has it: %s", code, shown)
		}
		h := d.host()
		h.request("initialize", map[string]any{"protocolVersion": 1})
		hosted, _ := h.open()
		h.prompt(hosted, "/btw which one was it?", "end_turn")
		h.has("agent_message_chunk ```\nNot part of the conversation:\n\n> It was the *fourth*.")
		h.end()
		return s
	})
}

// sessionsOf lists the sessions of the folder.
func sessionsOf(t *testing.T, d *desk) string {
	t.Helper()
	code, out := d.command("sessions", "list")
	if code != 0 || out == "" {
		t.Fatalf("exit status %d: %s", code, out)
	}
	return out
}

func TestSideQuestionIsRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, callOf("read_file", `{"path":"a.txt"}`)), map[string]string{"a.txt": "a", "schema.json": verdictSchema})
	for want, args := range map[string][]string{
		"/btw needs a question": {"-p", "/btw"},
		"--json-schema is for prompts: a side question (/btw) is answered in words": {"-p", "/btw why?", "--json-schema", "schema.json"},
	} {
		if code, out := d.command(args...); code != 2 || !strings.Contains(out, want) {
			t.Errorf("%q: exit status %d: %s", args, code, out)
		}
	}
	if code, out := d.command("-p", "/btw why?"); code != 1 || !strings.Contains(out, "the model tried to use a tool") {
		t.Errorf("exit status %d: %s", code, out)
	}
	if left, err := filepath.Glob(filepath.Join(d.home, "sessions", "*", "*")); err != nil || len(left) != 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}

// TestRemember: on each wire, a line that the model wants to remember is a question with words of its own,
// in every mode, in the terminal and by a host, and is written after a yes; with -p nobody can say
// it. It is an edit that undo reverses, and the next session has it.
func TestRemember(t *testing.T) {
	t.Parallel()
	onEachWire(t, func(t *testing.T, wire string) *llmtest.Server {
		s := llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
			var request map[string]json.RawMessage
			if err := json.Unmarshal(body, &request); err != nil {
				t.Error(err)
			}
			said := string(request["messages"]) + string(request["input"])
			for _, fact := range []string{"tabs", "tests", "names", "short"} {
				call := callOf("remember", fmt.Sprintf(`{"text":"use %s","everywhere":%v}`, fact, fact == "short"))
				if strings.Contains(said, "mind "+fact) && !strings.Contains(said, "use "+fact) {
					return call
				}
			}
			return llmtest.Turn{Text: "All right."}
		})
		d := newDesk(t, s, map[string]string{"AGENTS.md": "# Project\n"})
		d.eyes(wire, false)
		if code, out := d.command("trust", "add", "--yes"); code != 0 {
			t.Fatalf("exit status %d: %s", code, out)
		}
		d.sit("--permission-mode", "bypass")
		d.say("mind tabs")
		d.asked(`Remember this\? Every later session in this folder reads it as your instruction`)
		d.Press("y")
		d.WaitFor(`All right`)
		d.idle()
		if got := d.read("AGENTS.md"); got != "# Project\n- use tabs\n" {
			t.Errorf("%q", got)
		}
		d.say("mind short")
		d.asked(`Remember this in your own AGENTS\.md`)
		d.Press("y")
		d.WaitFor(`(?s)All right.*All right`)
		d.idle()
		own, err := os.ReadFile(filepath.Join(d.home, "AGENTS.md"))
		if err != nil || string(own) != "- use short\n" {
			t.Errorf("%q, %v", own, err)
		}
		d.leave()
		for _, mode := range []string{"accept-edits", "bypass", "default"} {
			if code, out := d.command("-p", "mind tests", "--permission-mode", mode); code != 3 {
				t.Errorf("%s: exit status %d: %s", mode, code, out)
			}
		}
		h := d.host()
		h.answer = func(q map[string]any) string {
			if text, err := json.Marshal(q); err != nil || !strings.Contains(string(text), "Remember this?") {
				t.Errorf("%v: %s", err, text)
			}
			return "allow-once"
		}
		h.request("initialize", map[string]any{"protocolVersion": 1})
		id, _ := h.open()
		h.prompt(id, "mind names", "end_turn")
		h.end()
		if got := d.read("AGENTS.md"); got != "# Project\n- use tabs\n- use names\n" {
			t.Errorf("%q", got)
		}
		if code, out := d.command("-p", "hello"); code != 0 {
			t.Errorf("exit status %d: %s", code, out)
		}
		last := string(s.Requests()[len(s.Requests())-1])
		for _, want := range []string{"use tabs", "use names", "use short"} {
			if !strings.Contains(last, want) {
				t.Errorf("the next session lacks %q: %s", want, last)
			}
		}
		if code, out := d.command("undo", "--yes"); code != 0 || d.read("AGENTS.md") != "# Project\n- use tabs\n" {
			t.Errorf("exit status %d: %s", code, out)
		}
		return s
	})
}
