package recording

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/audit"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

func TestRedact(t *testing.T) {
	s := NewSecrets("hunter2-hunter2", "", "short", "Bearer plain/key+without=form", `{"access_token":"login-value-0001","token_type":"Bearer","issuer":"https://login.example/path"}`)
	for text, want := range map[string]string{
		"a short text":                                        "a short text",
		"it is hunter2-hunter2!":                              "it is [secret]!",
		"use sk-proj-0123456789abcdef0123 now":                "use [secret] now",
		"the end of it: ter2-hunter2":                         "the end of it: [secret]",
		"hunter2-hunt":                                        "[secret]",
		"2 | hunter2-h and r2-hunter2.":                       "2 | [secret] and [secret].",
		"too short: hunter2":                                  "too short: hunter2",
		"n/key+without=form":                                  "[secret]",
		"plain%2Fkey%2Bwithout%3Dform":                        "[secret]",
		"cGxhaW4va2V5K3dpdGhvdXQ9Zm9ybQ":                      "[secret]bQ",
		`{"access_token": "login-value-0001"}`:                `{"access_token": "[secret]"}`,
		"see https://login.example/path for the access_token": "see https://login.example/path for the access_token",
		"STRIPE_SECRET=abc12345678":                           "STRIPE_SECRET=[secret]",
		`1 | "api_key": "q1w2e3r4t5"`:                         `1 | "api_key": "[secret]"`,
		`{\"password\": \"q1w2e3r4t5\"}`:                      `{\"password\": \"[secret]\"}`,
		"Authorization: Bearer q1w2e3r4t5":                    "Authorization: Bearer [secret]",
		"token := parser.next(x)":                             "token := parser.next(x)",
		"passwords = 3":                                       "passwords = 3",
		"task-0123456789abcdef0123":                           "task-0123456789abcdef0123",
		"AKIAIOSFODNN7EXAMPLE":                                "[secret]",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE":               "[secret]",
		"x " + "ghp_" + strings.Repeat("a", 36):               "x [secret]",
	} {
		if got, found := s.redact(text); got != want || found != (got != text) {
			t.Errorf("%q: %q, %v", text, got, found)
		}
	}
}

// TestRuleWithKey: the rule that answered a question is in the script without its key.
func TestRuleWithKey(t *testing.T) {
	log := []audit.Entry{{Event: audit.Approved, Kind: "command", Subject: "x", Rule: true, By: "rule allow run(x sk-0123456789abcdefghij)"}}
	s, _ := of(archive.Info{Dir: "/w"}, archive.Conversation{}, log, nil)
	data, err := s.encode()
	if err != nil || strings.Contains(string(data), "sk-") {
		t.Errorf("%s, %v", data, err)
	}
}

// A part of a key that is cut off at the end of a condition is left out too.
func TestKeyAtTheCut(t *testing.T) {
	key := "no-known-form-" + strings.Repeat("x1", 8)
	conv := archive.Conversation{}
	for _, m := range []llm.Message{
		llm.TextMessage(llm.User, "go"),
		{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "a", Name: "read_file", Args: "{}"}}},
		{Role: llm.ToolReply, CallID: "a", Parts: []llm.Part{{Kind: llm.TextPart, Text: strings.Repeat("y", maxLine-9) + key + "\n"}}},
		llm.TextMessage(llm.Assistant, "done"),
	} {
		conv.Entries = append(conv.Entries, history.Entry{Item: &history.Item{Message: m}})
	}
	s, _ := of(archive.Info{Dir: "/w"}, conv, nil, NewSecrets(key))
	data, err := s.encode()
	if err != nil || strings.Contains(string(data), "no-known") {
		t.Errorf("%s, %v", data, err)
	}
}
