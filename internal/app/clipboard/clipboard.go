// Package clipboard puts text into the clipboard of the desktop, and takes images
// out of it, by the program that is there for it. It guarantees that it waits for none
// longer than a few seconds, that text goes to a program's standard input, never to a
// shell, and that of an image no more is read than was asked for.
package clipboard

import (
	"context"
	"fmt"
	"iter"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/child"
)

// patience is how long a program may take.
const patience = 3 * time.Second

// tool is a program that takes text on its standard input.
type tool struct {
	args  []string
	needs string // the variable without which it cannot work
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

// there yields the programs for a system that are installed and can work, and where
// they are.
func there(by map[string][]tool, system string, env []string) iter.Seq2[tool, string] {
	list, ok := by[system]
	if !ok {
		list = by[""]
	}
	return func(yield func(tool, string) bool) {
		for _, t := range list {
			if t.needs != "" && !slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, t.needs+"=") && v != t.needs+"=" }) {
				continue
			}
			if path, err := exec.LookPath(t.args[0]); err == nil && !yield(t, path) {
				return
			}
		}
	}
}

// Write puts text into the clipboard and names the program that did it; "" if there
// is none. env is the environment of the program.
func Write(ctx context.Context, env []string, text string) (string, error) {
	return write(ctx, runtime.GOOS, env, text)
}

func write(ctx context.Context, system string, env []string, text string) (string, error) {
	for t, path := range there(tools, system, env) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, path, t.args[1:]...)
		cmd.Env, cmd.Stdin, cmd.WaitDelay = env, strings.NewReader(text), time.Second
		if err := child.Run(cmd, 0); err != nil {
			return "", fmt.Errorf("%s did not take the text: %w", t.args[0], err)
		}
		return t.args[0], nil
	}
	return "", nil
}
