package config

import (
	"strings"
	"testing"
)

func TestServerEntries(t *testing.T) {
	for _, tt := range []struct{ text, wrong string }{
		{"mcp:\n  a:\n    command: [x, y]\n    env: {A: b}\n  b-c:\n    url: https://x.example\n    headers: {K: v}\n", ""},
		{"mcp:\n  a__b:\n    command: [x]\n", "letters and digits"},
		{"mcp:\n  a_:\n    command: [x]\n", "letters and digits"},
		{"mcp:\n  " + strings.Repeat("n", 31) + ":\n    command: [x]\n", "at most 30"},
		{"mcp:\n  a:\n    env: {A: b}\n", "either command"},
		{"mcp:\n  a:\n    command: [x]\n    url: https://x.example\n", "either command"},
		{"mcp:\n  a:\n    url: https://x.example\n    env: {A: b}\n", "are for a command"},
		{"mcp:\n  a:\n    command: [x]\n    headers: {A: b}\n", "are for a url"},
		{"mcp:\n  a:\n    url: https://x.example\n    client_id: me\n    callback_port: 8123\n", ""},
		{"mcp:\n  a:\n    command: [x]\n    client_id: me\n", "are for a url"},
		{"mcp:\n  a:\n    url: https://x.example\n    callback_port: 65536\n", "at most 65535"},
		{"mcp:\n  a:\n    comand: [x]\n", "did you mean"},
	} {
		_, err := parse("f", []byte(tt.text))
		if (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(tt.wrong)) {
			t.Errorf("%s: %v", tt.text, err)
		}
	}
}

func TestExpand(t *testing.T) {
	t.Setenv("MCP_TEST_TOKEN", "secret")
	got, err := Expand(map[string]string{"A": "Bearer ${MCP_TEST_TOKEN}", "B": "$MCP_TEST_TOKEN"})
	if err != nil || got["A"] != "Bearer secret" || got["B"] != "$MCP_TEST_TOKEN" {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := Expand(map[string]string{"A": "${MCP_TEST_MISSING}"}); err == nil || !strings.Contains(err.Error(), "MCP_TEST_MISSING") {
		t.Errorf("a missing variable: %v", err)
	}
}

func TestRemoveServer(t *testing.T) {
	const file = "model: a/b # mine\nmcp:\n  a:\n    command: [x]\n  b: # theirs\n    url: https://x.example\n"
	got, err := RemoveServer("f", []byte(file), "a")
	if want := "model: a/b # mine\nmcp:\n  b: # theirs\n    url: https://x.example\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	if got, err = RemoveServer("f", got, "b"); err != nil || string(got) != "model: a/b # mine\n" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := RemoveServer("f", got, "b"); err == nil {
		t.Error("a missing server was removed")
	}
}
