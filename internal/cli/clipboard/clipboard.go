// Package clipboard puts text into the clipboard of the desktop, by the program
// that is there for it. It guarantees that it waits for none longer than a few
// seconds, and that the text goes to a program's standard input, never to a shell.
package clipboard

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
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

// Write puts text into the clipboard and names the program that did it; "" if there
// is none. env is the environment of the program.
func Write(ctx context.Context, env []string, text string) (string, error) {
	return write(ctx, runtime.GOOS, env, text)
}

func write(ctx context.Context, system string, env []string, text string) (string, error) {
	list, ok := tools[system]
	if !ok {
		list = tools[""]
	}
	for _, t := range list {
		if t.needs != "" && !slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, t.needs+"=") && v != t.needs+"=" }) {
			continue
		}
		path, err := exec.LookPath(t.args[0])
		if err != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, path, t.args[1:]...)
		cmd.Env, cmd.Stdin, cmd.WaitDelay = env, strings.NewReader(text), time.Second
		if err := cmd.Run(); err != nil {
			return "", fmt.Errorf("%s did not take the text: %w", t.args[0], err)
		}
		return t.args[0], nil
	}
	return "", nil
}
