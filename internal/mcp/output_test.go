package mcp_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/mcptest"
	"github.com/bb2d0cf4/agent/internal/mcp"
)

// silent are the kinds of Strays that nobody is told about: nothing of them can be seen, or they
// are messages.
var silent = []string{"BOM", "BOM alone", "colours around", "empty", "title", "unknown id", "unknown method", "unknown word as id"}

// TestStrayOutput: text that a program prints between its messages is kept in its log, told once,
// and ends nothing.
func TestStrayOutput(t *testing.T) {
	kinds := slices.Sorted(maps.Keys(mcptest.Strays()))
	var servers []mcp.Server
	for i, kind := range kinds {
		servers = append(servers, program(fmt.Sprint("s", i), "plain", "stray="+kind))
	}
	d := start(t, servers...)
	for i := range kinds {
		for range 2 {
			if got := d.call(fmt.Sprintf("mcp__s%d__echo", i), `{}`); got != "echo" {
				t.Errorf("%s: got %q", kinds[i], got)
			}
		}
	}
	logs := map[string]string{}
	for _, st := range d.Status() {
		logs[st.Name] = st.Log
	}
	d.Close()
	for i, kind := range kinds {
		name := fmt.Sprint("s", i)
		kept, err := os.ReadFile(logs[name])
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, note := range d.notes {
			if strings.HasPrefix(note, "The MCP server "+name+" ") {
				told = append(told, note)
			}
		}
		want := 1
		if slices.Contains(silent, kind) {
			want = 0
		}
		if len(told) != want || want > 0 && !strings.Contains(told[0], "standard output") || strings.ContainsAny(strings.Join(told, "")+string(kept), "\x1b\x00\a") {
			t.Errorf("%s: told %d: %.300q", kind, len(told), told)
		}
		if (len(kept) > 0) != (want > 0) || len(kept) > 64<<10 {
			t.Errorf("%s: kept %d bytes: %.300q", kind, len(kept), kept)
		}
	}
}

// TestIndentedMessages: messages of several lines are read, with all that may stand between
// them.
func TestIndentedMessages(t *testing.T) {
	d := start(t, program("a", "indented"), program("b", "indented", "stray=all"))
	for _, tool := range []string{"mcp__a__echo", "mcp__b__echo"} {
		if got := d.call(tool, `{}`); got != "echo" {
			t.Errorf("%s: got %q", tool, got)
		}
	}
}

// TestLongAnswer: a call whose answer is too long fails at once, and the server goes on.
func TestLongAnswer(t *testing.T) {
	d := start(t, program("a", "long"))
	for range 2 {
		_, err := d.Call(t.Context(), d.tool("mcp__a__echo"), json.RawMessage(`{}`))
		if err == nil || !strings.Contains(err.Error(), "its answer is longer than 16 MB") {
			t.Errorf("the call ends with %v", err)
		}
	}
	if st := d.Status()[0]; st.State != mcp.Ready || len(d.notes) > 0 {
		t.Errorf("%+v, told %q", st, d.notes)
	}
}
