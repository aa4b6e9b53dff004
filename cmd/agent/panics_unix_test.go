//go:build unix

package main

import (
	"context"
	"crypto/rand"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

const boom = "boom: a defect"

// The program with a faulty context, source of random bytes, and lexer. A call panics
// if BRITTLE names a function on the stack, once the file LIT exists. SIGUSR1 makes a
// separate goroutine panic.
const (
	brittleVar = "BRITTLE"
	litVar     = "LIT"
)

func init() { //nolint:gochecknoinits // other systems have no such program
	programs["brittle"] = func() {
		lexers.GlobalLexerRegistry.Register(brittleLexer{lexers.Get("Awk")})
		rand.Reader = brittleReader{rand.Reader}
		aside := make(chan os.Signal, 1)
		signal.Notify(aside, syscall.SIGUSR1)
		go func() {
			defer crash.Guard()
			<-aside
			panic(boom)
		}()
		os.Exit(run(brittleContext{context.Background()}))
	}
}

// strain panics if its caller is the function to break.
func strain() {
	where := os.Getenv(brittleVar)
	if where == "" {
		return
	}
	stack := make([]byte, 64<<10)
	if !strings.Contains(string(stack[:runtime.Stack(stack, false)]), where) {
		return
	}
	if _, err := os.Stat(os.Getenv(litVar)); err == nil {
		panic(boom)
	}
}

type brittleContext struct{ context.Context }

func (c brittleContext) Deadline() (time.Time, bool) { strain(); return c.Context.Deadline() }

type brittleReader struct{ io.Reader }

func (r brittleReader) Read(p []byte) (int, error) { strain(); return r.Reader.Read(p) }

type brittleLexer struct{ chroma.Lexer }

func (l brittleLexer) Config() *chroma.Config { strain(); return l.Lexer.Config() }

// kinds are the goroutines of the program, by the way they are started, each with a
// function that it calls and an action that triggers the call.
var kinds = []struct {
	name, in string
	turn     llmtest.Turn
	reach    func(d *desk)
	status   int
}{
	{"the event loop", "repl.(*model).update", writeTurn, func(d *desk) { d.say("write") }, 1},
	{"a command of the screen", "app/commands.", llmtest.Turn{Text: "Yes."}, func(d *desk) {
		d.say("go")
		d.WaitFor(`Yes`)
		d.idle()
		d.say("/export out.md")
	}, 2},
	{"a turn", "session.(*Loop)", llmtest.Turn{Text: "Yes."}, func(d *desk) { d.say("go") }, 2},
	{"a command line", "shell.(*Jobs)", llmtest.Turn{}, func(d *desk) { d.say("!true") }, 2},
	{"streaming text", "repl/stream.", llmtest.Turn{Text: "```nosuch\nx\n```\n"}, func(d *desk) { d.say("go") }, 2},
	{"the search for an editor", "lock.Find", llmtest.Turn{}, func(d *desk) { d.say("/ide connect") }, 2},
}

// A panic in any kind of goroutine ends the program, prints the panic and restores the
// terminal.
func TestPanics(t *testing.T) {
	t.Parallel()
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, llmtest.NewServer(t, k.turn), nil)
			lit := filepath.Join(t.TempDir(), "lit")
			d.env = append(d.env, brittleVar+"="+k.in, litVar+"="+lit)
			leaveBy(t, d, moment{reach: func(*desk) {
				scratch.Write(t, lit, "")
			}}, ending{end: k.reach, status: k.status})
			if !strings.Contains(strings.Join(d.History(), "\n"), boom) {
				t.Errorf("nothing says what happened:\n%s", strings.Join(d.History(), "\n"))
			}
		})
	}
}
