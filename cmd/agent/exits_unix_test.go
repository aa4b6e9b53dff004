//go:build unix

package main

import (
	"cmp"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// moment is an activity during which the program ends.
type moment struct {
	name  string
	turn  llmtest.Turn
	reach func(d *desk)
	files map[string]string
	opens string // its first output, if not the prompt
	lent  bool   // the terminal is another program's
}

var moments = []moment{
	{name: "at the prompt", reach: func(*desk) {}},
	{name: "with a draft", reach: func(d *desk) {
		d.Type("half a thought")
		d.WaitFor(`half a thought`)
	}},
	{name: "with the commands", reach: func(d *desk) {
		d.Type("/")
		d.WaitFor(`/clear`)
	}},
	{name: "with the keys", reach: func(d *desk) {
		d.Press("?")
		d.WaitFor(`permission mode`)
	}},
	{name: "in a search", reach: func(d *desk) {
		d.Press("ctrl+r")
		d.WaitFor(`search`)
	}},
	{name: "in a list", reach: func(d *desk) {
		d.say("/permissions")
		d.WaitFor(`(?m)^› default mode`)
	}},
	{name: "while text comes", turn: talk, reach: func(d *desk) {
		d.say("talk")
		d.WaitFor(`Words, words`)
	}},
	{name: "with a prompt in the queue", turn: talk, reach: func(d *desk) {
		d.say("talk")
		d.WaitFor(`Words, words`)
		d.say("and then")
		d.WaitFor(`queued: and then`)
	}},
	{name: "with a question", turn: writeTurn, reach: func(d *desk) {
		d.say("write")
		d.asked(`y yes`)
	}},
	{name: "with a reason", turn: writeTurn, reach: func(d *desk) {
		d.say("write")
		d.asked(`y yes`)
		d.Press("c")
		d.WaitFor(`no, because:`)
	}},
	{name: "with a diff on the whole screen", turn: writeTurn, reach: func(d *desk) {
		d.say("write")
		d.asked(`y yes`)
		d.Press("v")
		d.onAltScreen()
	}},
	{name: "with a page", reach: func(d *desk) {
		d.Press("ctrl+o")
		d.onAltScreen()
	}},
	{name: "while a command runs", reach: func(d *desk) {
		d.say("!echo started; sleep 300")
		d.WaitFor(`(?m)^ *started`)
	}},
	{name: "while an editor has the terminal", lent: true, reach: func(d *desk) {
		d.Press("ctrl+g")
		d.WaitFor(`editing`)
	}},
	{name: "in a dialog", opens: `Esc exits`, files: map[string]string{".agent/config.yaml": "encoding: utf-8\n"}, reach: func(*desk) {}},
}

var talk = llmtest.Turn{Text: strings.Repeat("Words, words. ", 2000), Pace: time.Millisecond}

var writeTurn = llmtest.Turn{Calls: []llmtest.Call{{Name: "write_file", Args: `{"path":"a.txt","content":"a\n"}`}}}

func (d *desk) onAltScreen() {
	d.t.Helper()
	d.WaitUntil("the whole screen", func(m *vt.Terminal) bool { return m.Modes().AltScreen })
}

// ending is a way to end the program, with its exit status.
type ending struct {
	name   string
	end    func(d *desk)
	status int
	prompt bool // only at the prompt
}

// statuses returns the exit statuses that it may have. After SIGQUIT and SIGABRT the runtime prints the stacks of threads
// that run on, and dies of SIGSEGV if one changes under it.
func (e ending) statuses() []int {
	if e.name == "SIGQUIT" || e.name == "SIGABRT" {
		return []int{e.status, 128 + int(syscall.SIGSEGV)}
	}
	return []int{e.status}
}

var endings = []ending{
	{"Ctrl+D", func(d *desk) { d.Press("ctrl+d") }, 0, true},
	{"Ctrl+C twice", func(d *desk) {
		d.Press("ctrl+c")
		d.WaitFor(`again to quit`)
		d.Press("ctrl+c")
	}, 0, true},
	{"/quit", func(d *desk) { d.say("/quit") }, 0, true},
	{"SIGINT", func(d *desk) { d.SignalGroup(syscall.SIGINT) }, 130, false},
	{"SIGTERM", func(d *desk) { d.SignalGroup(syscall.SIGTERM) }, 130, false},
	{"SIGHUP", func(d *desk) { d.SignalGroup(syscall.SIGHUP) }, 130, false},
	{"SIGQUIT", func(d *desk) { d.SignalGroup(syscall.SIGQUIT) }, 2, false}, // the runtime's, with the stacks
	{"SIGABRT", func(d *desk) { d.Signal(syscall.SIGABRT) }, 2, false},
	{"a panic", func(d *desk) { d.Signal(syscall.SIGUSR1) }, 2, false},
}

// exit is one of the exits: a way to end or stop the program at a moment.
type exit struct {
	name string
	run  func(t *testing.T)
}

func exits() (all []exit) {
	for _, m := range moments {
		add := func(how string, run func(t *testing.T)) { all = append(all, exit{m.name + ", " + how, run}) }
		for _, e := range endings {
			if m.opens != "" && e.name == "SIGINT" {
				e.status = 1 // it leaves a dialog as Esc does
			}
			if !e.prompt || m.name == moments[0].name {
				add(e.name, func(t *testing.T) { leaveBy(t, newDesk(t, llmtest.NewServer(t, m.turn), nil), m, e) })
			}
		}
		add("a stop from outside", func(t *testing.T) { stopped(t, m) })
		add("Ctrl+Z", func(t *testing.T) { suspended(t, m) })
	}
	return all
}

// However the program ends or is stopped, and whatever it is doing, the terminal gets
// its old settings and modes back.
func TestExits(t *testing.T) {
	t.Parallel()
	all := exits()
	for _, e := range all {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			e.run(t)
		})
	}
	if len(all) < 100 {
		t.Errorf("%d exits", len(all))
	}
	most := len(all)
	if os.Getenv("AGENT_TEST_FULL") != "" {
		most = 1000
	}
	random := rand.New(rand.NewPCG(stress.Seed(t), 0))
	for n := len(all); n < most; n++ {
		e := all[random.IntN(len(all))]
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			e.run(t)
		})
	}
	t.Logf("load: %d exits", most)
}

// begun starts a program, brings it to a moment, and returns the settings before.
func (d *desk) begun(m moment, name string, args ...string) (before unix.Termios) {
	d.t.Helper()
	for name, text := range m.files {
		d.write(name, text)
	}
	editor := filepath.Join(filepath.Dir(d.home), "editor")
	scratch.Program(d.t, editor, "#!/bin/sh\necho editing\nexec sleep 300\n")
	d.env = append(d.env, "VISUAL="+editor, "GOTRACEBACK=single")
	d.open()
	before = d.Termios()
	d.run(name, args...)
	d.WaitFor(cmp.Or(m.opens, `(?m)^❯`))
	if d.Termios() == before {
		d.t.Fatal("the terminal is not in raw mode")
	}
	m.reach(d)
	return before
}

// over waits for the program's end and checks the terminal it leaves.
func (d *desk) over(before unix.Termios, statuses ...int) {
	d.t.Helper()
	if code := d.Wait(); !slices.Contains(statuses, code) {
		d.t.Errorf("exit status %d, want %d; the screen:\n%s", code, statuses, d.Screen())
	}
	d.back(before)
}

// back checks that the terminal is restored.
func (d *desk) back(before unix.Termios) {
	d.t.Helper()
	d.restored()
	if got := d.Termios(); got != before {
		d.t.Errorf("settings %+v, before %+v", got, before)
	}
}

func leaveBy(t *testing.T, d *desk, m moment, e ending) {
	before := d.begun(m, "brittle")
	e.end(d)
	d.over(before, e.statuses()...)
}

// stopped stops the program with a signal while another program uses the terminal.
func stopped(t *testing.T, m moment) {
	d := newDesk(t, llmtest.NewServer(t, m.turn), nil)
	before := d.begun(m, "agent")
	d.SignalGroup(syscall.SIGSTOP)
	d.Stopped()
	d.SetTermios(before)
	d.SignalGroup(syscall.SIGCONT)
	d.taken(m, before)
	d.SignalGroup(syscall.SIGTERM)
	d.over(before, 130)
}

// taken waits until the program has the terminal again.
func (d *desk) taken(m moment, before unix.Termios) {
	d.t.Helper()
	if !m.lent {
		d.WaitUntil("the program to go on", func(*vt.Terminal) bool { return d.Termios() != before })
	}
}

// suspended returns the terminal to the shell with Ctrl+Z, and continues.
func suspended(t *testing.T, m moment) {
	d := newDesk(t, llmtest.NewServer(t, m.turn), nil)
	const shell = `set -m; sh -c 'echo $$ >pid; exec agent'; echo "the shell"; read -r _; fg >/dev/null; exit $?`
	before := d.begun(m, "bash", "-c", shell)
	d.Press("ctrl+z")
	d.WaitFor(`the shell`)
	d.Sync()
	d.back(before)
	d.Type("\r")
	d.taken(m, before)
	pid, err := strconv.Atoi(strings.TrimSpace(d.read("pid")))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(-pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	d.over(before, 130)
}
