package tools

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/mcp"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// The questions that are foreseen are those that the calls ask, and nothing is done.
func TestForeseenIsWhatIsAsked(t *testing.T) {
	files := map[string]string{"a.go": "package a\n", ".env": "KEY=1\n", "sub/x": "x\n", "Makefile": "all:\n"}
	outside := filepath.Join(t.TempDir(), "far.h")
	for _, tt := range []struct {
		tool string
		args m
	}{
		{"execute_command", m{"command": "ls -la"}},
		{"execute_command", m{"command": "touch made", "cwd": "sub"}},
		{"execute_command", m{"command": "rm -rf sub; cat ../x", "background": true}},
		{"execute_command", m{"command": "ls", "cwd": "/"}},
		{"execute_command", m{"kill": "job-1"}},
		{"execute_command", m{}},
		{"read_file", m{"path": "a.go"}},
		{"read_file", m{"path": ".env"}},
		{"read_file", m{"path": outside}},
		{"read_file", m{"path": "/proc/self/environ"}},
		{"list_files", m{"path": filepath.Dir(outside)}},
		{"find_files", m{"pattern": "*"}},
		{"search_files", m{"regex": "x", "path": "/usr/include"}},
		{"write_file", m{"path": "new.go", "content": "package \u202eb\n"}},
		{"write_file", m{"path": ".git/hooks/pre-commit", "content": "x"}},
		{"write_file", m{"path": "../out", "content": "x"}},
		{"edit_file", m{"path": "a.go", "old_string": "a\n", "new_string": "b\n"}},
		{"edit_lines", m{"path": "Makefile", "start_line": 1, "end_line": 1, "new_content": "some:"}},
		{"append_file", m{"path": ".env", "content": "B=2"}},
		{"regex_replace", m{"path": "sub/x", "pattern": "x", "replacement": "y"}},
		{"patch", m{"diff": "*** Begin Patch\n*** Delete File: sub/x\n*** Add File: n\n+n\n*** End Patch"}},
		{"todo", m{}},
		{"nothing", m{}},
	} {
		b := newBench(t, files)
		b.ask.verdict = confirm.Verdict{Feedback: "no"}
		raw, err := json.Marshal(tt.args)
		if err != nil {
			t.Fatal(err)
		}
		b.ask.during = func(confirm.Request) {
			if tt.tool == "patch" { // the rules are asked about each file
				b.ask.verdict = confirm.Verdict{Decision: confirm.Approve, Rule: true}
			}
		}
		var foreseen []confirm.Request
		for _, f := range b.set.Foresee(tt.tool, raw) {
			foreseen = append(foreseen, f.Request)
		}
		if len(b.ask.asked) > 0 {
			t.Errorf("%s %s: foreseeing asked", tt.tool, raw)
		}
		b.raw(tt.tool, string(raw))
		if d := cmp.Diff(b.ask.asked, foreseen, cmpopts.EquateEmpty(),
			cmpopts.IgnoreFields(confirm.Command{}, "Timeout"),
			cmpopts.IgnoreFields(workspace.Change{}, "After", "File.Text", "File.Hash", "File.Mode", "File.Size", "File.Format"), cmpopts.IgnoreFields(confirm.Request{}, "Notes", "Later")); d != "" {
			t.Errorf("%s %s: asked (-), foreseen (+):\n%s", tt.tool, raw, d)
		}
	}
}

// Files and folders that are gone are judged as if they were there.
func TestForeseenOfWhatIsGone(t *testing.T) {
	b := newBench(t, nil)
	for _, call := range []struct{ tool, args string }{
		{"edit_file", `{"path":"gone.go","old_string":"a","new_string":"b"}`},
		{"read_file", `{"path":".env.gone"}`},
		{"execute_command", `{"command":"make","cwd":"gone"}`},
	} {
		if got := b.set.Foresee(call.tool, json.RawMessage(call.args)); len(got) != 1 {
			t.Errorf("%s %s: %+v", call.tool, call.args, got)
		}
	}
}

// A call of a server's tool is foreseen although no server runs.
func TestForeseenCallOfAServer(t *testing.T) {
	b := newBench(t, nil)
	b.ask.verdict = confirm.Verdict{Feedback: "no"}
	const name, args = "mcp__files__read_all", `{"a":1}`
	tool := serverTool{b.deps, mcp.Tool{Server: "files", Name: "read_all", Spec: llm.ToolSpec{Name: name}}}
	if _, err := tool.Call(t.Context(), Call{Args: json.RawMessage(args)}); err != nil {
		t.Fatal(err)
	}
	foreseen := b.set.Foresee(name, json.RawMessage(args))
	if len(foreseen) != 1 {
		t.Fatal(foreseen)
	}
	if d := cmp.Diff(b.ask.asked[0], foreseen[0].Request); d != "" {
		t.Errorf("asked (-), foreseen (+):\n%s", d)
	}
	if got := b.set.Foresee(name, json.RawMessage("[]")); len(got) != 0 {
		t.Errorf("a call that is refused is foreseen: %v", got)
	}
}
