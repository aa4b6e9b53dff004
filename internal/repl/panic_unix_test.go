//go:build unix

package repl_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// panicVar turns the test binary into a program whose goroutines panic on request.
const panicVar = "REPL_TEST_PANIC"

const boom = "boom: a defect"

func TestMain(m *testing.M) {
	if os.Getenv(panicVar) != "" {
		os.Exit(fragile())
	}
	os.Exit(m.Run())
}

// A panic in any goroutine restores the terminal and is printed.
func TestPanics(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		press  func(p *ptytest.Terminal)
		status int
	}{
		"the event loop":                   {func(p *ptytest.Terminal) { p.Press("shift+tab") }, 1},
		"a command":                        {func(p *ptytest.Terminal) { p.Type("/boom\r") }, 2},
		"a turn":                           {func(p *ptytest.Terminal) { p.Type("turn\r") }, 2},
		"a command line":                   {func(p *ptytest.Terminal) { p.Type("!true\r") }, 2},
		"streaming text":                   {func(p *ptytest.Terminal) { p.Type("feed\r") }, 2},
		"another goroutine":                {func(p *ptytest.Terminal) { p.Type("aside\r") }, 2},
		"after an editor had the terminal": {func(p *ptytest.Terminal) { p.Press("ctrl+g") }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := ptytest.New(t, vt.Options{Width: 100, Height: 30})
			before := p.Termios()
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(exe)
			cmd.Env = append(os.Environ(), panicVar+"=1", "TERM=xterm-256color", "GOTRACEBACK=single")
			p.Start(cmd)
			p.WaitFor(`(?m)^❯`)
			if p.Termios() == before {
				t.Fatal("the terminal is not in raw mode")
			}
			c.press(p)
			if status := p.Wait(); status != c.status {
				t.Errorf("exit status %d, want %d", status, c.status)
			}
			if got := p.Termios(); got != before {
				t.Errorf("settings %+v, before %+v", got, before)
			}
			modes := p.Modes()
			modes.Style = ""
			if d := cmp.Diff(vt.Modes{}, modes); d != "" {
				t.Errorf("modes left on:\n%s", d)
			}
			if !strings.Contains(strings.Join(p.History(), "\n"), boom) {
				t.Errorf("nothing says what happened:\n%s", strings.Join(p.History(), "\n"))
			}
		})
	}
}

// fragile runs the interface with a session that panics on request, and returns the exit
// status.
func fragile() int {
	fuse := &fuse{}
	ui := repl.New(repl.Options{
		Terminal: repl.Terminal{In: os.Stdin, Out: os.Stdout, Env: os.Environ(), Theme: "dark"},
		NextMode: func() string { panic(boom) }, Now: fuse.now,
		Commands: []command.Command{{Name: "boom", Run: func(context.Context, string) (command.Reply, error) { panic(boom) }}},
		Shell:    func(context.Context, string) error { panic(boom) },
		Editor: func(string, string) (*exec.Cmd, func() (string, error), error) {
			return exec.Command("true"), func() (string, error) { panic(boom) }, nil
		},
	})
	if err := ui.Run(context.Background(), fuse); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// fuse is a session and its clock.
type fuse struct{ feed atomic.Bool }

func (*fuse) Items() []history.Item { return nil }

func (*fuse) Describe(c llm.ToolCall) (line, whole string) { return c.Name, c.Name }

// Run panics, or makes another goroutine panic.
func (f *fuse) Run(ctx context.Context, prompt string) error {
	switch prompt {
	case "turn":
		panic(boom)
	case "aside":
		go func() {
			defer crash.Guard()
			panic(boom)
		}()
	case "feed":
		f.feed.Store(true)
		return errors.New("this is to be shown") // in the renderer
	}
	<-ctx.Done()
	return ctx.Err()
}

// now panics in the renderer's goroutine.
func (f *fuse) now() time.Time {
	if f.feed.Load() {
		stack := make([]byte, 4<<10)
		if strings.Contains(string(stack[:runtime.Stack(stack, false)]), "repl/stream.") {
			panic(boom)
		}
	}
	return time.Now()
}
