// Package xterm shows texts on xterm.js, the terminal of VS Code, without a window. It
// guarantees that the screens are those of the published packages, which it installs from npm
// into the folder .cache once.
package xterm

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// The tables of character widths that xterm.js has.
const (
	Unicode6  = "6"
	Unicode11 = "11" // VS Code's default
	Graphemes = "15-graphemes"
)

// Input is a text for a terminal of a size.
type Input struct {
	Unicode       string
	Width, Height int
	Text          string
}

// Output is the screen after a text.
type Output struct {
	Rows     []string // without blanks at their ends
	AtCursor string   // the character under the cursor
}

//go:embed screens.js
var script string

var packages = []string{"@xterm/headless@6.0.0", "@xterm/addon-unicode11@0.9.0", "@xterm/addon-unicode-graphemes@0.4.0"}

// Screens returns the screen of each input. It skips the test without Node.js or the
// packages.
func Screens(t testing.TB, inputs []Input) []Output {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("xterm.js needs %s: %v", program, err)
		}
	}
	dir, err := install()
	if err != nil {
		t.Skipf("xterm.js cannot be installed: %v", err)
	}
	in, err := json.Marshal(inputs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "-e", script)
	cmd.Dir, cmd.Stdin, cmd.Stderr = dir, bytes.NewReader(in), os.Stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var out []Output
	if err := json.Unmarshal(text, &out); err != nil || len(out) != len(inputs) {
		t.Fatalf("%d screens of %d: %v", len(out), len(inputs), err)
	}
	return out
}

// install returns the folder with the packages. It renames a new folder: tests of
// several packages may run at once.
var install = sync.OnceValues(func() (string, error) {
	root, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(root, "go.mod")); missing == nil {
			break
		}
		if filepath.Dir(root) == root {
			err = os.ErrNotExist
		}
		root = filepath.Dir(root)
	}
	dir := filepath.Join(root, ".cache", "xterm-6.0.0")
	if _, missing := os.Stat(dir); err != nil || missing == nil {
		return dir, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), "xterm-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh)
	cmd := exec.Command("npm", append([]string{"install", "--silent", "--no-audit", "--no-fund", "--prefix", fresh}, packages...)...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", err
	}
	if err := os.Rename(fresh, dir); err != nil && !os.IsExist(err) {
		return "", err
	}
	return dir, nil
})
