//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
	for i, want := range []bool{false, true} { // once the server has started
		if got := d.request(i); bytes.Contains(got, []byte(`"name":"quick_fix"`)) != want || bytes.Contains(got, []byte(`"name":"list_symbols"`)) != want {
			t.Errorf("request %d offers quick_fix or list_symbols, or not: %s", i, got)
		}
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

// TestRenameOverTwelveFiles: with the language server a rename over twelve files takes fewer rounds, bytes and questions than without.
func TestRenameOverTwelveFiles(t *testing.T) {
	t.Parallel()
	bin := goBin(t)
	files := map[string]string{"go.mod": "module example.com/m\n\ngo 1.21\n", "shapes.go": "package m\n\n// Area is that of a square.\nfunc Area(side int) int { return side * side }\n"}
	edits := llmtest.Turn{Calls: []llmtest.Call{{Name: "edit_file", Args: `{"path":"shapes.go","old_string":"Area is that of a square.\nfunc Area(","new_string":"Surface is that of a square.\nfunc Surface("}`}}}
	asked := []string{`edit shapes\.go`}
	for i := range 11 {
		asked = append(asked, fmt.Sprintf(`edit use%02d\.go`, i))
		name := fmt.Sprintf("use%02d.go", i)
		files[name] = fmt.Sprintf("package m\n\n// big%d is large.\nvar big%d = Area(%d)\n", i, i, i)
		edits.Calls = append(edits.Calls, llmtest.Call{Name: "edit_file", Args: fmt.Sprintf(`{"path":%q,"old_string":"Area(%d)","new_string":"Surface(%d)"}`, name, i, i)})
	}
	type cost struct{ rounds, bytes, questions int }
	work := func(servers string, questions []string, turns ...llmtest.Turn) (c cost) {
		d := newDesk(t, llmtest.NewServer(t, append(turns, llmtest.Turn{Text: "It is renamed."})...), files)
		d.env = append(d.env, "AGENT_LANGUAGE_SERVERS="+servers, "GOPROXY=off", "PATH="+os.Getenv("PATH")+string(os.PathListSeparator)+bin)
		d.sit()
		d.say("rename it")
		for _, pattern := range questions {
			d.asked(pattern)
			if strings.Contains(pattern, "12 files") { // each is looked at
				d.Press("enter", "tab", "tab", "tab", "tab", "tab", "tab", "tab", "tab", "tab", "tab", "tab")
				d.WaitFor(`file 12 of 12`)
				d.Press("esc")
				d.asked(pattern)
			}
			d.Press("y")
			c.questions++
		}
		d.WaitFor(`It is renamed\.`)
		for name := range files {
			if name != "go.mod" && (!strings.Contains(d.read(name), "Surface(") || strings.Contains(d.read(name), "Area(")) {
				t.Errorf("%s: %s is %q", servers, name, d.read(name))
			}
		}
		for _, body := range d.server.Requests() {
			c.rounds++
			c.bytes += len(body)
		}
		return c
	}
	without := work("off", asked, callOf("search_files", `{"pattern":"Area"}`), edits)
	with := work("auto", []string{`It is a language server`, `a rename of Area to Surface: 12 files`}, callOf("rename_symbol", `{"symbol":"Area","new_name":"Surface"}`))
	t.Logf("without: %+v, with: %+v", without, with)
	if with.rounds >= without.rounds || with.bytes >= without.bytes || with.questions >= without.questions {
		t.Errorf("without: %+v, with: %+v", without, with)
	}
}

// TestLanguageServersCost: without a server the first request is the same to the byte, with one it has 700 bytes more at most, and
// no server starts in a turn that asks none.
func TestLanguageServersCost(t *testing.T) {
	t.Parallel()
	first := func(servers string, path ...string) []byte {
		d := newDesk(t, llmtest.NewServer(t, callOf("read_file", `{"path":"go.mod"}`), llmtest.Turn{Text: "I see."}), map[string]string{
			"go.mod": "module example.com/m\n\ngo 1.21\n", "bin/gopls": "#!/bin/sh\ntouch \"$(dirname \"$0\")/ran\"\n",
		})
		bin := filepath.Join(t.TempDir(), "bin")
		if err := os.CopyFS(bin, os.DirFS(d.path("bin"))); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(bin, "gopls"), 0o755); err != nil {
			t.Fatal(err)
		}
		if len(path) == 0 {
			path = []string{bin}
		}
		d.env = append(d.env, "AGENT_LANGUAGE_SERVERS="+servers, "PATH="+strings.Join(append(path, "/usr/bin", "/bin"), string(os.PathListSeparator)))
		if code, said := d.command("-p", "look"); code != 0 || !strings.Contains(said, "I see.") {
			t.Fatalf("%d, %s", code, said)
		}
		if _, err := os.Stat(filepath.Join(bin, "ran")); err == nil {
			t.Error("a server was started")
		}
		return bytes.ReplaceAll(d.request(0), []byte(d.folder()), []byte("DIR"))
	}
	off, none, some := first("off"), first("auto", t.TempDir()), first("auto")
	if len(off) != len(none) || bytes.Contains(none, []byte("find_definition")) {
		t.Errorf("%d bytes without servers, %d if they are off", len(none), len(off))
	}
	if !bytes.Contains(some, []byte("For names in code")) || !bytes.Contains(some, []byte(`"rename_symbol"`)) {
		t.Errorf("the model is not told of the tools: %s", some)
	}
	more := len(some) - len(off)
	if t.Logf("%d bytes more", more); more > 700 {
		t.Error("these are more than 700")
	}
}

// TestKilledLeavesNoServer: a session that is killed leaves no language server.
func TestKilledLeavesNoServer(t *testing.T) {
	t.Parallel()
	killedWith(t, newDesk(t, renamingServer(t), map[string]string{"go.mod": "module example.com/m\n\ngo 1.21\n", "shapes.go": "package m\n\nfunc Area(side int) int { return side * side }\n"}))
}

func renamingServer(t *testing.T) *llmtest.Server {
	return llmtest.NewServer(t, callOf("rename_symbol", `{"symbol":"Area","at":"shapes.go","new_name":"Surface"}`), llmtest.Turn{Text: "Done."})
}

// killedWith kills a session at the question about a rename, when its language server runs.
func killedWith(t *testing.T, d *desk, said ...string) {
	t.Helper()
	program := filepath.Join(goBin(t), "gopls")
	bin := t.TempDir()
	if err := os.Symlink(program, filepath.Join(bin, "gopls")); err != nil {
		t.Fatal(err)
	}
	running := func() (pids []string) {
		out, err := exec.CommandContext(t.Context(), "ps", "axww", "-o", "pid=,args=").Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, filepath.Join(bin, "gopls")) {
				pids = append(pids, line)
			}
		}
		return pids
	}
	d.env = append(d.env, "AGENT_LANGUAGE_SERVERS=auto", "GOPROXY=off", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	d.sit()
	d.say("rename it")
	d.asked(`It is a language server`)
	for _, text := range said {
		d.WaitFor(text)
	}
	d.Press("y")
	d.asked(`edit shapes\.go`)
	if len(running()) == 0 {
		t.Error("no server runs")
	}
	d.Signal(os.Kill)
	waitForNone(t, running)
	if got := d.read("shapes.go"); !strings.Contains(got, "func Area(") {
		t.Errorf("the file is %q", got)
	}
}

// waitForNone waits until a list is empty.
func waitForNone(t *testing.T, list func() []string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(time.Minute); ; {
		left := list()
		if len(left) == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("after a minute are there: %q", left)
		}
	}
}

// TestErrorsInOtherFiles: the question about an edit that breaks another file names the error, and after a yes the model gets it.
func TestErrorsInOtherFiles(t *testing.T) {
	t.Parallel()
	bin := goBin(t)
	d := newDesk(t, llmtest.NewServer(t,
		callOf("find_references", `{"symbol":"Area"}`),
		callOf("edit_file", `{"path":"shapes.go","old_string":"side int","new_string":"side string"}`), llmtest.Turn{Text: "Done."},
	), map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.21\n", "shapes.go": "package m\n\nfunc Area(side int) int { return len(\"x\") }\n", "use.go": "package m\n\nvar big = Area(3)\n",
	})
	d.keep("config.yaml", "permissions: {allow: [run(gopls)]}\n")
	d.env = append(d.env, "AGENT_LANGUAGE_SERVERS=auto", "GOPROXY=off", "PATH="+os.Getenv("PATH")+string(os.PathListSeparator)+bin)
	d.sit()
	d.say("break it")
	d.asked(`edit shapes\.go`)
	d.WaitFor(`gopls ✗ 1 new error`)
	d.Press("y")
	d.WaitFor(`Done\.`)
	if got := d.told(2); !strings.Contains(got, "use.go:3: cannot use 3") {
		t.Errorf("the model was told %q", got)
	}
}
