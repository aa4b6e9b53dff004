// Package extension installs the extension in VS Code and the editors derived from it.
// It starts an editor only when asked to, with no secret in its environment, and
// removes the file that it hands over.
package extension

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/child"
	"github.com/bb2d0cf4/agent/internal/lookpath"
	"github.com/bb2d0cf4/agent/internal/statefile"
	"github.com/bb2d0cf4/agent/internal/timelimit"
)

// ID identifies the extension to editors.
const ID = "bb2d0cf4.agent-ide"

// commands are the programs that install extensions, the most common first.
var commands = [...]string{"code", "code-insiders", "code-server", "codium", "cursor", "windsurf"}

// patience bounds one run of an editor's program.
const patience = 2 * time.Minute

// maxOutput is how many bytes of an editor's output are read.
const maxOutput = 1 << 20

// Editor is an editor's program.
type Editor struct {
	Name string // of its command
	Path string
}

// ErrNoEditor reports that no program to install with was found.
var ErrNoEditor = errors.New("none of " + strings.Join(commands[:], ", ") + " is on PATH; in VS Code, run " +
	`"Shell Command: Install 'code' command in PATH", or install the file that "agent ide install --to FILE" writes`)

// Find returns the editors that programs finds, each once. If only is not empty, Find looks
// for that name or path.
func Find(only string, programs lookpath.Search) ([]Editor, error) {
	names := commands[:]
	if only != "" {
		names = []string{only}
	}
	var found []Editor
	editors := map[string]bool{}
	for _, name := range names {
		path := name
		if filepath.Base(name) != name {
			path, _ = filepath.Abs(name) // Find refuses a relative path
		}
		path, err := programs.Find(path)
		if err != nil {
			continue
		}
		if editor := editorOf(path); !editors[editor] {
			editors[editor] = true
			found = append(found, Editor{Name: filepath.Base(name), Path: path})
		}
	}
	switch {
	case len(found) > 0:
		return found, nil
	case only != "":
		return nil, fmt.Errorf("no program %s", only)
	}
	return nil, ErrNoEditor
}

// products are the places of an editor's product.json, from the folder of its program: of
// Cursor, of a server's terminals, of VS Code, and of code-server.
var products = [...]string{"../product.json", "../../product.json", "../resources/app/product.json", "../lib/vscode/product.json"}

// editorOf returns a path that all programs of an editor have in common: Cursor brings code
// and cursor, the terminals of code-server have code and code-server. An installation by
// both would replace the extension while it starts. Programs such as snap and mise, which
// start the editor by whose name they are called, are no editor's.
func editorOf(path string) string {
	file, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path
	}
	for _, p := range products {
		product := filepath.Join(filepath.Dir(file), p)
		if info, err := os.Stat(product); err == nil && info.Mode().IsRegular() {
			return product
		}
	}
	base := strings.ToLower(filepath.Base(file))
	if slices.ContainsFunc(commands[:], func(name string) bool { return strings.Contains(base, name) }) {
		return file // such as an AppImage
	}
	return path
}

// Install installs the extension in an editor. It writes vsix to file, in the agent's
// own folder, while the editor reads it; env is the editor's whole environment.
func (e Editor) Install(ctx context.Context, vsix []byte, file string, env []string) (err error) {
	if err := statefile.Write(file, vsix); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, statefile.Remove(file)) }()
	_, err = e.run(ctx, env, "--install-extension", file, "--force")
	return err
}

// Version returns the version of the extension in an editor, or "" if it is not
// installed.
func (e Editor) Version(ctx context.Context, env []string) (string, error) {
	out, err := e.run(ctx, env, "--list-extensions", "--show-versions")
	for line := range strings.Lines(out) {
		if id, version, ok := strings.Cut(strings.TrimSpace(line), "@"); ok && strings.EqualFold(id, ID) {
			return version, nil
		}
	}
	return "", err
}

func (e Editor) run(ctx context.Context, env []string, args ...string) (string, error) {
	ctx, cancel := timelimit.Context(ctx, patience)
	defer cancel()
	cmd := lookpath.CommandContext(ctx, e.Path, args...)
	out := child.Buffer{Limit: maxOutput}
	cmd.Env, cmd.WaitDelay, cmd.Stdout, cmd.Stderr = env, time.Second, &out, &out
	if err := timelimit.Explain(ctx, child.Run(cmd, 0)); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", e.Name, args[0], err, tail(string(out.Bytes())))
	}
	return string(out.Bytes()), nil
}

// tail returns the end of a program's output.
func tail(s string) string {
	const most = 2000
	if s = strings.TrimSpace(s); len(s) > most {
		return "… " + strings.ToValidUTF8(s[len(s)-most:], "")
	}
	return s
}
