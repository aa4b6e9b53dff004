package config

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHooks(t *testing.T) {
	doc, err := parse("c.yaml", []byte("hooks:\n  Stop:\n    - hooks: [{type: command, command: a, timeout: 1.5, async: true}]\n  PreToolUse:\n    - {matcher: '*', hooks: [{type: command, command: b}, {type: command, command: c}]}\n"))
	want := []Hook{
		{"PreToolUse", "", "b", time.Minute, "c.yaml"}, {"PreToolUse", "", "c", time.Minute, "c.yaml"}, {"Stop", "", "a", 1500 * time.Millisecond, "c.yaml"},
	}
	if d := cmp.Diff(want, doc.hooks); d != "" || err != nil {
		t.Error(err, d)
	}
	for entry, want := range map[string]string{
		"Stopp: [{hooks: [{type: command, command: a}]}]": `c.yaml:2: hooks: there is no event "Stopp", did you mean "Stop"?`,
		"Whenever: []": "the events are SessionStart, ",
		"Stop: [{hooks: [{type: prompt, command: a}]}]":                          `type "prompt" is not supported`,
		"Stop: [{hooks: [{type: command}]}]":                                     "its command is missing",
		"Stop: [{hooks: [{type: command, command: a, timeout: 601}]}]":           "at most 600",
		"Stop: [{hooks: [{type: command, command: a, timeout: -1}]}]":            "at most 600",
		"PreToolUse: [{matcher: '(', hooks: [{type: command, command: a}]}]":     "matcher: ",
		"PreToolUse: [{matcher: '(?=a)', hooks: [{type: command, command: a}]}]": "matcher: ",
		"Stop: {hooks: [{type: command, command: a}]}":                           "c.yaml:2: hooks: want events with lists",
		"Stop:\n    - a": "c.yaml:3: hooks: want events with lists",
		"[a]":            "want events with lists",
	} {
		_, err := parse("c.yaml", []byte("hooks:\n  "+entry+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "struct") {
			t.Errorf("%s: %v, want %s", entry, err, want)
		}
	}
	if _, _, err := ProjectHooks("x.json", []byte("{")); err == nil {
		t.Error("not JSON")
	}
	list, left, err := ProjectHooks("x.json", []byte("{\"hooks\":{\"Notification\":[],\"Stop\":[{\"hooks\":[\n\t{\"type\":\"command\",\"command\":\"a\"},{\"type\":\"http\",\"url\":\"b\"}]}]}}"))
	if len(list) != 1 || len(left) != 2 || err != nil {
		t.Errorf("%v, %v, %v", list, left, err)
	}
}

// The reference of hooks names each event, and is short.
func TestHooksPage(t *testing.T) {
	data, err := os.ReadFile("../../docs/hooks-reference.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range HookEvents() {
		if !strings.Contains(string(data), "`"+event+"`") {
			t.Errorf("docs/hooks-reference.md lacks %s", event)
		}
	}
	if n := strings.Count(string(data), "\n"); n > 25 {
		t.Errorf("docs/hooks-reference.md has %d lines", n)
	}
}
