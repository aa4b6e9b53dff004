//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/dev/xterm"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/repl/input/edit"
)

// The commands of these tests are longer than a row by any count of cells but one.
var hiding = map[string]string{
	"Thai":       "echo '" + strings.Repeat("ทำ", 36) + "'; touch HIDDEN",
	"Devanagari": "echo '" + strings.Repeat("हि", 36) + "'; touch HIDDEN",
	"skin tones": "echo '" + strings.Repeat("👍🏽", 18) + "'; touch HIDDEN",
	"families":   "echo '" + strings.Repeat("👩‍👩‍👧‍👦", 18) + "'; touch HIDDEN",
	"a cluster":  "echo 'ท" + strings.Repeat("ำ", 71) + "'; touch HIDDEN",
	"selectors":  "echo '" + strings.Repeat("❤️", 28) + "'; touch HIDDEN",
}

// ends reports whether a screen shows the end of such a command, which may be on two rows.
func ends(screen string) bool {
	return strings.Contains(strings.Join(strings.Fields(screen), ""), "';touchHIDDEN")
}

func asking(t *testing.T, line string) *llmtest.Server {
	return llmtest.NewServer(t, callOf("execute_command", fmt.Sprintf(`{"command":%q}`, line)), llmtest.Turn{Text: "Done."})
}

// TestTheEndOfACommandIsOnTheScreen: on a terminal that counts clusters, on one that counts code
// points and on xterm.js with each of its tables, the end of a command is on the screen before
// it can be approved, in the panel and on the whole screen.
func TestTheEndOfACommandIsOnTheScreen(t *testing.T) {
	t.Parallel()
	for name, line := range hiding {
		t.Run(name, func(t *testing.T) {
			var inputs []xterm.Input
			for _, narrow := range []bool{false, true} {
				d := newDesk(t, asking(t, line), nil)
				d.Terminal = ptytest.New(t, vt.Options{Width: 80, Height: 24, NarrowEmoji: narrow})
				d.launch()
				d.say("go")
				for _, key := range []string{"", "v"} {
					if key != "" {
						d.Press(key)
						d.onAltScreen()
						d.WaitFor(`Esc back`)
					} else {
						d.asked(`Esc`)
					}
					if screen := d.Screen(); !ends(screen) {
						t.Errorf("the end is not on the screen:\n%s", screen)
					}
					for _, unicode := range []string{xterm.Unicode6, xterm.Unicode11, xterm.Graphemes} {
						inputs = append(inputs, xterm.Input{Unicode: unicode, Width: 80, Height: 24, Text: string(d.Bytes())})
					}
				}
				d.Press("esc")
				d.asked(`y yes`)
				d.Press("n")
				d.WaitFor(`Declined`)
				d.leave()
			}
			for i, out := range xterm.Screens(t, inputs) {
				if screen := strings.Join(out.Rows, "\n"); !ends(screen) {
					t.Errorf("xterm.js with the widths of Unicode %s lacks the end:\n%s", inputs[i].Unicode, screen)
				}
			}
		})
	}
}

// TestTheEndOfACommandWithAmbiguousCharacters is the same on a terminal set up for East Asian
// text, which is asked for its width of such characters.
func TestTheEndOfACommandWithAmbiguousCharacters(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"lines": strings.Repeat("─", 50), "Cyrillic": strings.Repeat("я", 50), "quotes": strings.Repeat("“x”", 16)} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, asking(t, "echo '"+text+"'; touch HIDDEN"), nil)
			d.Terminal = ptytest.New(t, vt.Options{Width: 80, Height: 24, WideLines: true})
			d.launch()
			d.say("go")
			d.asked(`Esc`)
			if screen := d.Screen(); !ends(screen) {
				t.Errorf("the end is not on the screen:\n%s", screen)
			}
			d.Press("n")
			d.WaitFor(`Declined`)
			d.leave()
		})
	}
}

// TestTheCursorOfADraft: in a draft of several rows the cursor is on its character, however the
// terminal counts.
func TestTheCursorOfADraft(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"Thai": strings.Repeat("ทำ", 60), "Hindi": strings.Repeat("हिन्दी ", 20), "Tamil": strings.Repeat("தமிழ் ", 20), "Telugu": strings.Repeat("తెలుగు ", 20),
		"emoji": strings.Repeat("👍🏽", 30), "flags": strings.Repeat("🇩🇪", 30), "Cyrillic": strings.Repeat("я", 60),
	} {
		t.Run(name, func(t *testing.T) {
			for _, opt := range []vt.Options{{}, {NarrowEmoji: true}, {WideLines: true}} {
				opt.Width, opt.Height = 80, 24
				d := newDesk(t, answers(t, "Hello."), nil)
				d.Terminal = ptytest.New(t, opt)
				d.launch()
				d.Type(text + "@x" + text)
				for range edit.Glyphs("@x" + text) {
					d.Press("left")
				}
				d.WaitUntil("the cursor is on its character", func(m *vt.Terminal) bool { return m.Cell(m.Cursor()).Text == "@" })
				d.Press("ctrl+c")
				d.leave()
			}
		})
	}
}

// TestTheEndOfACommandIsOnTmux is the same in a real tmux, which counts as the C library does,
// with a draft in the same script before it: the cursor is behind it.
func TestTheEndOfACommandIsOnTmux(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip(err)
	}
	d := newDesk(t, asking(t, hiding["Thai"]), nil)
	socket, pipe, alive := filepath.Join(t.TempDir(), "s"), filepath.Join(t.TempDir(), "pipe"), filepath.Join(t.TempDir(), "alive")
	agent := d.program()
	tmux := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(program, append([]string{"-S", socket, "-u", "-f", "/dev/null"}, args...)...)
		cmd.Dir, cmd.Env = d.dir, slices.Concat(agent.Env, []string{"LC_ALL=C.UTF-8", "SHELL=/bin/sh", "TMUX="})
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %q: %v %s", args, err, out)
		}
		return string(out)
	}
	for _, path := range []string{pipe, alive} {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	end, err := os.OpenFile(alive, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer end.Close()
	tmux("new-session", "-d", "-x", "80", "-y", "24", program+" wait-for go; exec 9>"+alive+"; exec "+agent.Path)
	defer func() {
		tmux("kill-server")
		if _, err := io.Copy(io.Discard, end); err != nil { // until the program, which holds the other end, is gone
			t.Error(err)
		}
	}()
	tmux("pipe-pane", "exec cat >"+pipe)
	output, err := os.Open(pipe) // waits for cat
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	read := bufio.NewReader(output)
	var seen strings.Builder
	until := func(text string) {
		t.Helper()
		for !strings.Contains(seen.String(), text) {
			c, err := read.ReadByte()
			if err != nil {
				t.Fatalf("%q is not in the output: %v\n%q", text, err, seen.String())
			}
			seen.WriteByte(c)
		}
		seen.Reset()
	}
	tmux("wait-for", "-S", "go")
	until("❯")
	tmux("send-keys", "-l", "สวัสดี ทำทำทำ")
	until("ทำทำทำ")
	if x := strings.TrimSpace(tmux("display-message", "-p", "#{cursor_x}")); x != "13" {
		t.Errorf("the cursor is in column %s, want 13:\n%s", x, tmux("capture-pane", "-p"))
	}
	tmux("send-keys", "Enter")
	until("Esc cancel")
	if screen := tmux("capture-pane", "-p"); !ends(screen) {
		t.Errorf("the end of the command is not on the screen:\n%s", screen)
	} else {
		t.Log("\n" + screen)
	}
}
