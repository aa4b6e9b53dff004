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
	set   string // a variable of its environment, "" for none
}

var tools = map[string][]tool{
	// pbcopy reads its input in the encoding of the locale, which a program that a window started has not set.
	"darwin": {{args: []string{"pbcopy"}, set: "LC_ALL=en_US.UTF-8"}},
	"windows": {{args: []string{
		"powershell.exe", "-NoProfile", "-NonInteractive", "-Command",
		"[Console]::InputEncoding = [Text.Encoding]::UTF8; Set-Clipboard -Value ([Console]::In.ReadToEnd())",
	}}},
	"": {
		{args: []string{"wl-copy"}, needs: "WAYLAND_DISPLAY"},
		{args: []string{"xclip", "-selection", "clipboard"}, needs: "DISPLAY"},
		{args: []string{"xsel", "--clipboard", "--input"}, needs: "DISPLAY"},
		{args: []string{"clip.exe"}, needs: "WSL_DISTRO_NAME"},
		{args: []string{"termux-clipboard-set"}, needs: "TERMUX_VERSION"},
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
		if t.set != "" {
			cmd.Env = append(cmd.Env, t.set)
		}
		if err := timelimit.Explain(ctx, child.Run(cmd, 0)); err != nil {
			return "", fmt.Errorf("%s did not accept the text: %w", t.args[0], err)
		}
		return t.args[0], nil
	}
	return "", nil
}
