//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// TestRenameBySymbol: the real program has a real language server find the uses of a name, and asks
// about the rename of all as one edit. No server runs afterwards, and none in a turn that asks nothing.
func TestRenameBySymbol(t *testing.T) {
	t.Parallel()
	bin := goBin(t)
	d := newDesk(t, llmtest.NewServer(t,
		callOf("find_references", `{"symbol":"Area"}`),
		callOf("rename_symbol", `{"symbol":"Area","at":"use.go:3","new_name":"Surface"}`), llmtest.Turn{Text: "Done."},
	), map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.21\n", "shapes.go": "package m\n\nfunc Area(side int) int { return side * side }\n", "use.go": "package m\r\n\r\nvar big = Area(3)\r\n",
	})
	d.keep("config.yaml", "permissions: {allow: [run(gopls)]}\n")
	d.env = append(d.env, "AGENT_LANGUAGE_SERVERS=auto", "GOPROXY=off", "PATH="+os.Getenv("PATH")+string(os.PathListSeparator)+bin)
	if code, said := d.command("-p", "rename it", "--permission-mode", "accept-edits"); code != 0 {
		t.Fatalf("%d, %s", code, said)
	}
	if got := d.told(1); !strings.Contains(got, "shapes.go:3: func Area") || !strings.Contains(got, "use.go:3: var big") {
		t.Errorf("the model was told %q", got)
	}
	if d.read("use.go") != "package m\r\n\r\nvar big = Surface(3)\r\n" || !strings.Contains(d.read("shapes.go"), "func Surface(") {
		t.Errorf("use.go is %q; the model was told %q", d.read("use.go"), d.told(2))
	}
}

// goBin returns the folder with the language servers that are programs of Go.
func goBin(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOPATH").Output()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(strings.TrimSpace(string(out)), "bin")
	if _, err := os.Stat(filepath.Join(bin, "gopls")); err != nil {
		t.Skip("gopls is not installed: run bash scripts/test-needs.sh")
	}
	return bin
}

// TestErrorsWithoutAnEditor: after an edit the model is told its new errors by the language server that runs.
func TestErrorsWithoutAnEditor(t *testing.T) {
	t.Parallel()
	bin := goBin(t)
	d := newDesk(t, llmtest.NewServer(t,
		callOf("find_references", `{"symbol":"Area"}`),
		callOf("edit_file", `{"path":"shapes.go","old_string":"side * side","new_string":"side * missing"}`), llmtest.Turn{Text: "Done."},
	), map[string]string{"go.mod": "module example.com/m\n\ngo 1.21\n", "shapes.go": "package m\n\nfunc Area(side int) int { return side * side }\n"})
	d.keep("config.yaml", "permissions: {allow: [run(gopls)]}\n")
	d.env = append(d.env, "AGENT_LANGUAGE_SERVERS=auto", "GOPROXY=off", "PATH="+os.Getenv("PATH")+string(os.PathListSeparator)+bin)
	code, said := d.command("-p", "break it", "--permission-mode", "accept-edits")
	if got := d.told(2); !strings.Contains(got, "[error] shapes.go:3 — undefined: missing") {
		t.Errorf("%d, the model was told %q; %s", code, got, said)
	}
}
