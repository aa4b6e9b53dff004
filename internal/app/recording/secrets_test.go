package recording

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/audit"
	"github.com/bb2d0cf4/agent/internal/session/archive"
)

func TestRedact(t *testing.T) {
	s := Secrets{"hunter2-hunter2", "", "short"}
	for text, want := range map[string]string{
		"a short text":                          "a short text",
		"it is hunter2-hunter2!":                "it is [secret]!",
		"use sk-proj-0123456789abcdef0123 now":  "use [secret] now",
		"task-0123456789abcdef0123":             "task-0123456789abcdef0123",
		"AKIAIOSFODNN7EXAMPLE":                  "[secret]",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE": "[secret]",
		"x " + "ghp_" + strings.Repeat("a", 36): "x [secret]",
	} {
		if got, found := s.redact(text); got != want || found != (got != text) {
			t.Errorf("%q: %q, %v", text, got, found)
		}
	}
}

// TestRuleWithKey: the rule that answered a question is in the script without its key.
func TestRuleWithKey(t *testing.T) {
	log := []audit.Entry{{Event: audit.Approved, Kind: "command", Subject: "x", Rule: true, By: "rule allow run(x sk-0123456789abcdefghij)"}}
	s, _ := Of(archive.Info{Dir: "/w"}, archive.Conversation{}, log, nil)
	data, err := s.Encode()
	if err != nil || strings.Contains(string(data), "sk-") {
		t.Errorf("%s, %v", data, err)
	}
}
