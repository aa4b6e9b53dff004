package attachments

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/tools"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// typed runs lines in a fresh folder and records the events.
type typed struct {
	Lines
	shown []session.Event
	ran   []string
}

func newTyped(t *testing.T) *typed {
	t.Helper()
	jobs := shell.NewJobs()
	t.Cleanup(func() {
		if err := jobs.Close(); err != nil {
			t.Error(err)
		}
	})
	y := &typed{}
	dir, spill := t.TempDir(), t.TempDir()
	y.Lines = Lines{
		Watch: func(context.Context, string) (func(*tools.Result), func()) { return func(*tools.Result) {}, func() {} },
		Jobs:  jobs, Emit: func(ev session.Event) { y.shown = append(y.shown, ev) },
		Ran: func(line, result string) { y.ran = append(y.ran, line+": "+result) },
		Options: func() shell.Options {
			return shell.Options{Dir: dir, SpillDir: spill, Env: []string{"PATH=/usr/bin:/bin", "WHO=me"}}
		},
	}
	return y
}

func (y *typed) ended(t *testing.T) session.CallEnded {
	t.Helper()
	ev, ok := y.shown[len(y.shown)-1].(session.CallEnded)
	if !ok {
		t.Fatalf("the last event is %T", y.shown[len(y.shown)-1])
	}
	return ev
}

// The result of a command goes with the next prompt, once.
func TestLines(t *testing.T) {
	y := newTyped(t)
	if got := y.Take(); got != "" {
		t.Errorf("at first: %q", got)
	}
	if err := y.Run(t.Context(), "echo $WHO; echo '```'"); err != nil {
		t.Fatal(err)
	}
	if ev := y.ended(t); ev.Result.Failed || !strings.HasPrefix(ev.Result.ForUser, "exit 0") {
		t.Errorf("shown %+v", ev)
	}
	if len(y.ran) != 1 || !strings.HasPrefix(y.ran[0], "echo $WHO; echo '```': exit 0") {
		t.Errorf("kept %q", y.ran)
	}
	if err := y.Run(t.Context(), "exit 3"); err != nil {
		t.Fatal(err)
	}
	if ev := y.ended(t); !ev.Result.Failed {
		t.Errorf("shown %+v", ev)
	}
	want := "The user ran these commands at the prompt, without you:\n" +
		"````\n$ echo $WHO; echo '```'\nexit code: 0\nme\n```\n````\n" +
		"```\n$ exit 3\nexit code: 3\n(no output)\n```\n\n"
	if d := cmp.Diff(want, y.Take()); d != "" {
		t.Error(d)
	}
	if got := y.Take(); got != "" {
		t.Errorf("told twice: %q", got)
	}
}

// Esc stops a command; the model gets its output until then.
// A change of the folder alone has no effect, and the person reads why.
func TestALineThatOnlyChangesTheFolder(t *testing.T) {
	for line, told := range map[string]bool{"cd /": true, "cd / && pwd": false, "cd /no/such": false, "cdx() { :; }; cdx": false} {
		y := newTyped(t)
		if err := y.Run(t.Context(), line); err != nil {
			t.Fatal(err)
		}
		if got := y.ended(t).Result.ForUser; strings.Contains(got, "the session's folder again") != told {
			t.Errorf("%s: %q", line, got)
		}
	}
}

func TestLinesThatAreStopped(t *testing.T) {
	y := newTyped(t)
	ctx, stop := context.WithCancel(t.Context())
	shown := y.Emit
	y.Emit = func(ev session.Event) {
		if out, ok := ev.(session.CallOutput); ok && strings.Contains(out.Text, "up") {
			stop()
			return
		}
		shown(ev)
	}
	if err := y.Run(ctx, "echo up; sleep 300"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if ev := y.ended(t); ev.Result.ForUser != "stopped" {
		t.Errorf("shown %+v", ev)
	}
	if got := y.Take(); !strings.Contains(got, "$ echo up; sleep 300\nstopped by the user\nup\n") {
		t.Errorf("told %q", got)
	}
}

func TestLinesThatCannotRun(t *testing.T) {
	y := newTyped(t)
	if err := y.Run(t.Context(), "a\x00b"); err == nil {
		t.Error("no error")
	}
	if ev := y.ended(t); !ev.Result.Failed || !strings.Contains(ev.Result.ForUser, "NUL") {
		t.Errorf("shown %+v", ev)
	}
	if got := y.Take(); got != "" {
		t.Errorf("told %q", got)
	}
}

// The results with a prompt are bounded; the newest stays, however long it is.
func TestLinesAreBounded(t *testing.T) {
	y := newTyped(t)
	for range 5 {
		if err := y.Run(t.Context(), "head -c 25000 /dev/zero | tr '\\0' x"); err != nil {
			t.Fatal(err)
		}
	}
	if got := y.Take(); len(got) > maxOutput+1000 || !strings.Contains(got, "(3 before them are left out)") {
		t.Errorf("%d bytes: %.100q", len(got), got)
	}
}
