//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// Inside tmux the program does not run tmux from PATH: it may be a project's own, and
// would get the key in the environment.
func TestNoTmuxIsStarted(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t, "Hello.", "Hello.", "Hello.", "Hello."), nil)
	bin, ran := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	script := "#!/bin/sh\necho \"$@\" >>" + ran + "\nenv | grep -c " + canary + " >>" + ran + "\n"
	scratch.Program(t, filepath.Join(bin, "tmux"), script)
	d.env = append(d.env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "TMUX=/tmp/tmux-0/default,1,0", "COLORTERM=")
	for _, term := range []string{"tmux-256color", "screen-256color", "screen", "xterm"} {
		d.env = append(d.env, "TERM="+term)
		for _, args := range [][]string{{"--version"}, {"completion", "bash"}, {"config", "show"}, {"-p", "hi"}} {
			d.begin(100, 30, args...)
			if code := d.Wait(); code != 0 {
				t.Errorf("%s %q: exit status %d", term, args, code)
			}
		}
		d.sit()
		d.leave()
	}
	if got, err := os.ReadFile(ran); err == nil {
		t.Errorf("tmux was run: %s", got)
	}
}

// The model's commands still know that they run inside tmux.
func TestTmuxIsStillKnown(t *testing.T) {
	t.Parallel()
	d := newDesk(t, answers(t, "Hello."), nil)
	d.env = append(d.env, "TMUX=/tmp/tmux-0/default,1,0")
	d.sit()
	d.say("!echo in:$TMUX")
	d.WaitFor(`in:/tmp/tmux-0/default,1,0`)
	d.leave()
}

// GNU screen has no alternate screen by default: who leaves the pager finds the conversation, not the
// pager.
func TestPagerInGNUScreen(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("screen"); err != nil {
		t.Skip("GNU screen is not installed")
	}
	d := newDesk(t, answers(t, "Hello."), nil)
	sockets := t.TempDir()
	if err := os.Chmod(sockets, 0o700); err != nil {
		t.Fatal(err)
	}
	d.env = append(d.env, "SCREENDIR="+sockets)
	d.open()
	d.run("screen", "-c", "/dev/null", "agent")
	d.WaitFor(`(?m)^❯`)
	d.say("hi")
	d.WaitFor(`Hello\.`)
	d.idle()
	d.Press("ctrl+o")
	d.WaitFor(`(?s)The full conversation.*of 4 · q back`)
	d.Press("q")
	d.WaitFor(`(?s)/help\n+❯ hi\n+Hello\..*default mode`)
	if screen := d.Screen(); strings.Contains(screen, "The full conversation") || strings.Contains(screen, "~\n") {
		t.Errorf("the pager is still on the screen:\n%s", screen)
	}
	d.Press("ctrl+d")
	d.Wait()
}
