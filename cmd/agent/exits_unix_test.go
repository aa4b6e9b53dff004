//go:build unix

package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/ptytest/vt"
)

// moment is something that the program is in the middle of when it ends.
type moment struct {
	name  string
	turn  llmtest.Turn
	reach func(d *desk)
}

var moments = []moment{
	{"at the prompt", llmtest.Turn{}, func(*desk) {}},
	{"with a draft", llmtest.Turn{}, func(d *desk) {
		d.Type("half a thought")
		d.WaitFor(`half a thought`)
	}},
	{"while text comes", llmtest.Turn{Text: strings.Repeat("Words, words. ", 2000), Pace: time.Millisecond}, func(d *desk) {
		d.say("talk")
		d.WaitFor(`Words, words`)
	}},
	{"with a question", writeTurn, func(d *desk) {
		d.say("write")
		d.asked(`y yes`)
	}},
	{"with a diff on the whole screen", writeTurn, func(d *desk) {
		d.say("write")
		d.asked(`y yes`)
		d.Press("v")
		d.onAltScreen()
	}},
	{"with a page", llmtest.Turn{}, func(d *desk) {
		d.Press("ctrl+o")
		d.onAltScreen()
	}},
	{"while a command runs", llmtest.Turn{}, func(d *desk) {
		d.say("!echo started; sleep 300")
		d.WaitFor(`(?m)^ *started`)
	}},
	{"while an editor has the terminal", llmtest.Turn{}, func(d *desk) {
		d.Press("ctrl+g")
		d.WaitFor(`editing`)
	}},
}

var writeTurn = llmtest.Turn{Calls: []llmtest.Call{{Name: "write_file", Args: `{"path":"a.txt","content":"a\n"}`}}}

func (d *desk) onAltScreen() {
	d.t.Helper()
	d.WaitUntil("the whole screen", func(m *vt.Terminal) bool { return m.Modes().AltScreen })
}

// ending is a way to end the program, and the status that it then has.
type ending struct {
	name   string
	end    func(d *desk)
	status int
	prompt bool // only at the prompt
}

var endings = []ending{
	{"Ctrl+D", func(d *desk) { d.Press("ctrl+d") }, 0, true},
	{"Ctrl+C twice", func(d *desk) {
		d.Press("ctrl+c")
		d.WaitFor(`again to quit`)
		d.Press("ctrl+c")
	}, 0, true},
	{"/quit", func(d *desk) { d.say("/quit") }, 0, true},
	{"a stop from outside", func(d *desk) {
		d.SignalGroup(syscall.SIGSTOP)
		d.SignalGroup(syscall.SIGCONT)
		d.Type("here again")
		d.WaitFor(`here again`)
		d.Press("ctrl+u", "ctrl+d")
	}, 0, true},
	{"SIGINT", func(d *desk) { d.SignalGroup(syscall.SIGINT) }, 130, false},
	{"SIGTERM", func(d *desk) { d.SignalGroup(syscall.SIGTERM) }, 130, false},
	{"SIGHUP", func(d *desk) { d.SignalGroup(syscall.SIGHUP) }, 130, false},
	{"SIGQUIT", func(d *desk) { d.SignalGroup(syscall.SIGQUIT) }, 2, false}, // the runtime's, with the stacks
}

// However the program ends, and whatever it is doing, the terminal has the settings
// and the modes that it had before.
func TestExits(t *testing.T) {
	n := 0
	run := func(m moment, e ending) {
		n++
		t.Run(m.name+", "+e.name, func(t *testing.T) {
			t.Parallel()
			leaveBy(t, m, e)
		})
	}
	for _, m := range moments {
		for _, e := range endings {
			if !e.prompt || m.name == "at the prompt" {
				run(m, e)
			}
		}
	}
	if os.Getenv("AGENT_TEST_FULL") == "" {
		return
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	pick := rand.New(rand.NewPCG(seed, 0))
	for n < 1000 {
		m := moments[pick.IntN(len(moments))]
		if e := endings[pick.IntN(len(endings))]; !e.prompt || m.name == "at the prompt" {
			run(m, e)
		}
	}
}

func leaveBy(t *testing.T, m moment, e ending) {
	d := newDesk(t, llmtest.NewServer(t, m.turn), nil)
	editor := filepath.Join(filepath.Dir(d.home), "editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\necho editing\nexec sleep 300\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	d.env = append(d.env, "VISUAL="+editor, "GOTRACEBACK=single")
	d.open()
	before := d.Termios()
	d.launch()
	if d.Termios() == before {
		t.Fatal("the terminal is not in raw mode")
	}
	m.reach(d)
	e.end(d)
	if code := d.Wait(); code != e.status {
		t.Errorf("exit status %d, want %d; the screen:\n%s", code, e.status, d.Screen())
	}
	d.restored()
	if got := d.Termios(); got != before {
		t.Errorf("settings %+v, before %+v", got, before)
	}
}

// Ctrl+Z gives the terminal to the shell as it was, and fg takes it again.
func TestStopAndContinue(t *testing.T) {
	d := newDesk(t, llmtest.NewServer(t), nil)
	d.open()
	d.run("bash", "-c", `set -m; stty -a >before; agent; stty -a >stopped; echo "the shell"; read -r _; fg >/dev/null; stty -a >after`)
	d.WaitFor(`(?m)^❯`)
	d.Type("a draft")
	d.WaitFor(`a draft`)
	d.Press("ctrl+z")
	d.WaitFor(`the shell`)
	d.restored()
	d.Type("\r")
	d.WaitFor(`(?m)^❯ a draft`)
	d.Press("ctrl+u", "ctrl+d")
	if code := d.Wait(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	d.restored()
	for _, when := range []string{"stopped", "after"} {
		if got, want := d.read(when), d.read("before"); got != want {
			t.Errorf("%s:\n%s\nbefore:\n%s", when, got, want)
		}
	}
}

// Who is stopped is not told of a new size: it is asked for when the program goes on.
func TestResizedWhileStopped(t *testing.T) {
	d := newDesk(t, llmtest.NewServer(t), nil)
	d.open()
	d.run("bash", "-c", `set -m; agent; echo "the shell"; read -r _; fg >/dev/null`)
	d.WaitFor(`(?m)^❯`)
	d.Type("a draft of so many words that on a narrow terminal the row breaks lastly")
	d.WaitFor(`lastly`)
	d.Press("ctrl+z")
	d.WaitFor(`the shell`)
	d.Resize(50, 20)
	d.Type("\r")
	d.WaitFor(`(?m)^  .*lastly`) // on a row of its own
	d.Press("ctrl+c", "ctrl+c")
	if code := d.Wait(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	d.restored()
}

// Where nobody could continue it, Ctrl+Z does not stop the program.
func TestNoShellToStopFor(t *testing.T) {
	d := newDesk(t, llmtest.NewServer(t), nil)
	d.sit()
	d.Press("ctrl+z")
	d.Type("still here")
	d.WaitFor(`still here`)
	d.Press("ctrl+u")
	d.leave()
}
