// Package clipboard writes text to the desktop's clipboard and reads images from it,
// with the programs installed for that. It guarantees that no program runs for more
// than a few seconds, that text goes to a program's standard input and never to a
// shell, and that reading an image stops at the size asked for.
package clipboard

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/child"
	"github.com/bb2d0cf4/agent/internal/lookpath"
	"github.com/bb2d0cf4/agent/internal/timelimit"
)

// timeout bounds one run of a program.
const timeout = 3 * time.Second

// tool is a program that reads text from its standard input.
type tool struct {
	args  []string
	needs string // the environment variable that it depends on
}

var tools = map[string][]tool{
	"darwin": {{args: []string{"pbcopy"}}},
	"windows": {{args: []string{
		"powershell.exe", "-NoProfile", "-NonInteractive", "-Command",
		"[Console]::InputEncoding = [Text.Encoding]::UTF8; Set-Clipboard -Value ([Console]::In.ReadToEnd())",
	}}},
	"": {
		{[]string{"wl-copy"}, "WAYLAND_DISPLAY"},
		{[]string{"xclip", "-selection", "clipboard"}, "DISPLAY"},
		{[]string{"xsel", "--clipboard", "--input"}, "DISPLAY"},
		{[]string{"clip.exe"}, "WSL_DISTRO_NAME"},
		{[]string{"termux-clipboard-set"}, "TERMUX_VERSION"},
	},
}

// Programs says which programs are used.
type Programs struct {
	Search lookpath.Search
	Env    []string // their environment
}

// installed yields the usable programs for a system, with their paths.
func (p Programs) installed(by map[string][]tool, system string) iter.Seq2[tool, string] {
	list, ok := by[system]
	if !ok {
		list = by[""]
	}
	return func(yield func(tool, string) bool) {
		for _, t := range list {
			if t.needs != "" && !slices.ContainsFunc(p.Env, func(v string) bool { return strings.HasPrefix(v, t.needs+"=") && v != t.needs+"=" }) {
				continue
			}
			if path, err := p.Search.Find(t.args[0]); err == nil && !yield(t, path) {
				return
			}
		}
	}
}

// Write writes text to the clipboard and returns the name of the program that did it,
// or "" if none is installed.
func (p Programs) Write(ctx context.Context, text string) (string, error) {
	return p.write(ctx, runtime.GOOS, text)
}

func (p Programs) write(ctx context.Context, system, text string) (string, error) {
	for t, path := range p.installed(tools, system) {
		ctx, cancel := timelimit.Context(ctx, timeout)
		defer cancel()
		cmd := lookpath.CommandContext(ctx, path, t.args[1:]...)
		cmd.Env, cmd.Stdin, cmd.WaitDelay = p.Search.Environ(p.Env), strings.NewReader(text), time.Second
		if err := timelimit.Explain(ctx, child.Run(cmd, 0)); err != nil {
			return "", fmt.Errorf("%s did not accept the text: %w", t.args[0], err)
		}
		return t.args[0], nil
	}
	return "", nil
}
