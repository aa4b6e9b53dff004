//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/chatgpt/chatgpttest"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/dev/transcriptjudge"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// desk is a folder, a home, a terminal and a model server.
type desk struct {
	t *testing.T
	*ptytest.Terminal
	server    *llmtest.Server
	dir, home string
	tmp       string // of temporary files
	env       []string
	keyed     []string // names of files that hold the key as they should
	models    []string // addresses of the servers that get the key
	editors   []*idetest.Editor
	traces    []string            // of the sessions, if they are traced
	signed    *chatgpttest.Issuer // of the tokens that are in the file of keys alone; nil without a sign-in
}

// newDesk writes files into a fresh folder.
func newDesk(t *testing.T, server *llmtest.Server, files map[string]string) *desk {
	t.Helper()
	d := &desk{t: t, server: server, dir: t.TempDir(), home: filepath.Join(t.TempDir(), "home"), tmp: t.TempDir()}
	t.Cleanup(d.searched)
	for name, text := range files {
		d.write(name, text)
	}
	d.env = append(os.Environ(), "AGENT_HOME="+d.home, "HOME="+filepath.Dir(d.home), "TMPDIR="+d.tmp, "TERM=xterm-256color", "COLORTERM=truecolor",
		"OPENAI_BASE_URL="+server.URL(), "OPENAI_API_KEY="+canary, "AGENT_MODEL=openai/test")
	d.allow(server.URL())
	return d
}

// allow allows a server for the provider openai, replacing the one before.
func (d *desk) allow(address string) {
	d.t.Helper()
	d.serves(address)
	d.keep("servers.json", `[{"address":"`+address+`","provider":"openai"}]`)
}

// sit starts the program on a new terminal and waits for its prompt.
func (d *desk) sit(args ...string) {
	d.t.Helper()
	d.open()
	d.launch(args...)
}

// open opens a new terminal.
func (d *desk) open() {
	d.t.Helper()
	d.Terminal = ptytest.New(d.t, vt.Options{Width: 100, Height: 30})
}

// launch starts the program on the terminal and waits for its prompt.
func (d *desk) launch(args ...string) {
	d.t.Helper()
	d.run("agent", args...)
	d.WaitFor(`(?m)^❯`)
}

// run starts a program on the terminal.
func (d *desk) run(name string, args ...string) {
	d.t.Helper()
	if name == "agent" {
		d.Start(d.program(args...))
		return
	}
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = d.dir, d.env
	d.Start(cmd)
}

// say submits a prompt.
func (d *desk) say(prompt string) {
	d.t.Helper()
	d.Type(prompt)
	d.Press("enter")
}

// asked waits until a panel that matches pattern accepts keys: the style of its hints
// then differs from the status line's.
func (d *desk) asked(pattern string) {
	d.t.Helper()
	d.WaitFor(pattern)
	d.awake("y yes")
}

// awake waits until the panel whose hints begin with hint accepts keys.
func (d *desk) awake(hint string) {
	d.t.Helper()
	files := strings.Replace(hint, "y yes", "y accept", 1) // of a question about several files, or parts
	d.awakeWith(func(row string) bool {
		row = strings.TrimPrefix(row, "1 ")
		return strings.HasPrefix(row, hint) || strings.HasPrefix(row, files)
	})
}

// awakeWith waits until the panel whose hints isHint knows accepts keys.
func (d *desk) awakeWith(isHint func(row string) bool) {
	d.t.Helper()
	d.WaitUntil("the panel to take keys", func(m *vt.Terminal) bool {
		rows := m.Screen()
		footer := footerStyle(m, rows)
		for y, row := range rows {
			if isHint(row) {
				return footer != "" && m.Cell(0, y).Style != footer // else the frame is incomplete
			}
		}
		return false
	})
}

// footerStyle returns the style of the status line after the mode, which may have its
// own; "" if only the mode is drawn yet.
func footerStyle(m *vt.Terminal, rows []string) string {
	for y := len(rows) - 1; y >= 0; y-- {
		if before, _, found := strings.Cut(rows[y], " · "); found && strings.HasSuffix(before, " mode") {
			return m.Cell(utf8.RuneCountInString(before)+1, y).Style
		}
		if strings.HasSuffix(rows[y], "default mode") { // has no style of its own
			return m.Cell(0, y).Style
		}
	}
	return ""
}

// idle waits until the turn has ended.
func (d *desk) idle() {
	d.t.Helper()
	d.WaitUntil("the end of the turn", func(m *vt.Terminal) bool {
		return !strings.Contains(m.String(), "Esc stops") && !strings.Contains(m.String(), "waiting for your answer")
	})
}

// leave quits and checks that the terminal is restored.
func (d *desk) leave() {
	d.t.Helper()
	d.Press("ctrl+d")
	if code := d.Wait(); code != 0 {
		d.t.Errorf("exit status %d", code)
	}
	d.restored()
}

// choose presses keys on a page of choices, when it accepts answers.
func (d *desk) choose(keys ...string) {
	d.t.Helper()
	d.WaitFor(`Esc (exits|back)`)
	d.Press(keys...)
}

func (d *desk) restored() {
	d.t.Helper()
	got := d.Modes()
	got.Style = ""
	if got != (vt.Modes{}) {
		d.t.Errorf("modes left on: %+v", got)
	}
	d.Look(func(m *vt.Terminal) {
		if title := m.Stats().Title; title != "" {
			d.t.Errorf("the title %q is left", title)
		}
	})
}

func (d *desk) path(name string) string { return filepath.Join(d.dir, name) }

func (d *desk) write(name, text string) {
	d.t.Helper()
	scratch.Write(d.t, d.path(name), text)
}

func (d *desk) read(name string) string {
	d.t.Helper()
	return scratch.Read(d.t, d.path(name))
}

// request waits for the nth request (from 0) and returns it, checked by the judge.
func (d *desk) request(n int) []byte {
	d.t.Helper()
	if err := d.server.Await(d.t.Context(), n+1); err != nil {
		d.t.Fatal(err)
	}
	body := d.server.Requests()[n]
	if err := transcriptjudge.Check(body); err != nil {
		d.t.Errorf("request %d: %v", n, err)
	}
	return body
}

// told returns the last message of the nth request.
func (d *desk) told(n int) string {
	d.t.Helper()
	var req struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.Unmarshal(d.request(n), &req); err != nil {
		d.t.Fatal(err)
	}
	return req.Messages[len(req.Messages)-1].Content
}

// noCanary checks that neither the files below the home nor the screen contain the key.
func (d *desk) noCanary() {
	d.t.Helper()
	for _, path := range leaks(d.t, d.home) {
		d.t.Errorf("the key is in %s", path)
	}
	if bytes.Contains(d.Bytes(), []byte(canary)) {
		d.t.Error("the key was shown")
	}
}

func editCall(from, to string) llmtest.Turn {
	args, _ := json.Marshal(map[string]string{"path": "main.go", "old_string": from, "new_string": to})
	return llmtest.Turn{Text: "I change the greeting.", Calls: []llmtest.Call{{Name: "edit_file", Args: string(args)}}}
}
