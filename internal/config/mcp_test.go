package config

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
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

func TestExpandDefaults(t *testing.T) {
	me := scratch.Abs("/home/me")
	scratch.SetHome(t, me)
	t.Setenv("MCP_TEST_SET", "set")
	t.Setenv("MCP_TEST_EMPTY", "")
	for in, want := range map[string]string{
		"~": me, "~/notes": filepath.Join(me, "notes"), "~other/x": "~other/x", "a~/b": "a~/b", "${HOME}/x": me + "/x", "~/${MCP_TEST_SET}": filepath.Join(me, "set"),
		"${MCP_TEST_SET:-x}": "set", "${MCP_TEST_EMPTY:-x}": "x", "${MCP_TEST_MISSING:-https://a.example/b}": "https://a.example/b", "${MCP_TEST_MISSING:-}": "",
		"--dir=${MCP_TEST_MISSING:-.}/x ${MCP_TEST_SET}": "--dir=./x set", "${MCP_TEST_EMPTY}": "",
	} {
		if got, err := expand(in); got != want || err != nil {
			t.Errorf("%s: %q, %v", in, got, err)
		}
	}
	servers, left, err := ProjectServers([]byte(`{"mcpServers": {
		"a": {"command": "${MCP_TEST_MISSING:-npx}", "args": ["~/x", "${HOME}"], "cwd": "${MCP_TEST_SET}", "env": {"K": "${MCP_TEST_SET}"}},
		"b": {"url": "${MCP_TEST_MISSING:-https://b.example}/mcp"}, "c": {"command": "${MCP_TEST_MISSING}"}}}`))
	if a := servers["a"]; err != nil || strings.Join(a.Lines(), "\n") != commandLine([]string{"npx", filepath.Join(me, "x"), me})+"\n  in the folder set\n  with K=${MCP_TEST_SET}" {
		t.Errorf("%q, %v", a.Lines(), err)
	}
	if servers["b"].URL != "https://b.example/mcp" || len(left) != 1 || !strings.Contains(left[0], "MCP_TEST_MISSING, which is not set") {
		t.Errorf("%v, %q", servers, left)
	}
	own, project := scratch.Abs("/own"), scratch.Abs("/p")
	for _, c := range []struct {
		s    MCPServer
		want string
	}{{MCPServer{}, own}, {MCPServer{InProject: true}, project}, {MCPServer{InProject: true, Cwd: "sub"}, filepath.Join(project, "sub")}, {MCPServer{Cwd: scratch.Abs("/x/")}, scratch.Abs("/x")}, {MCPServer{Cwd: "sub"}, ""}} {
		if got, err := c.s.Folder(own, project); got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%+v: %q, %v", c.s, got, err)
		}
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
