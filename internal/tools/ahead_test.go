package tools

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// Calls of tools that only read run at the same time, and give what they give one after
// the other. A file outside is asked for once.
func TestReadsRunTogether(t *testing.T) {
	b := newBench(t, map[string]string{"a.go": "package a\n", "b/c.go": "package c\n"})
	outside := filepath.Join(t.TempDir(), "x.txt")
	if err := os.WriteFile(outside, []byte("outside\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	calls := []struct{ tool, args string }{
		{"read_file", `{"path":"a.go"}`},
		{"list_files", `{"path":".","recursive":true}`},
		{"find_files", `{"pattern":"**/*.go"}`},
		{"search_files", `{"regex":"package"}`},
		{"read_file", `{"path":"` + filepath.ToSlash(outside) + `"}`},
		{"read_file", `{"path":"` + filepath.ToSlash(outside) + `"}`},
		{"read_file", `{"path":"missing"}`},
		{"read_file", `{"path":"b/c.go"}`},
	}
	reads := map[string]bool{}
	for _, s := range b.set.Specs() {
		reads[s.Name] = s.Reads
	}
	got, errs := make([]Result, len(calls)), make([]error, len(calls))
	turns, done := make([]chan struct{}, len(calls)), make([]chan struct{}, len(calls))
	for i := range calls {
		turns[i], done[i] = make(chan struct{}), make(chan struct{})
	}
	var wait crash.Group
	for i, c := range calls {
		if !reads[c.tool] {
			t.Errorf("%s does more than read", c.tool)
		}
		wait.Go(func() {
			defer close(done[i])
			got[i], errs[i] = b.set.Call(t.Context(), c.tool, Call{Args: json.RawMessage(c.args), Await: func(context.Context) error {
				<-turns[i]
				return nil
			}})
		})
	}
	for i := range calls {
		close(turns[i])
		<-done[i]
	}
	wait.Wait()
	if n := len(b.ask.asked); n != 1 {
		t.Errorf("%d questions", n)
	}
	for i, c := range calls {
		if diff := cmp.Diff(b.raw(c.tool, c.args), got[i]); diff != "" || errs[i] != nil {
			t.Errorf("%s %s: %v %s", c.tool, c.args, errs[i], diff)
		}
	}
	for _, name := range []string{"write_file", "edit_file", "execute_command", "todo", "patch"} {
		if reads[name] {
			t.Errorf("%s is read-only", name)
		}
	}
}
