package tools

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

func TestExecuteCommand(t *testing.T) {
	b := newBench(t, map[string]string{"sub/f": "x\n"})
	tests := []struct {
		args   m
		failed bool
		want   []string
	}{
		{m{"command": "echo hi; pwd"}, false, []string{"exit code: 0\nhi\n" + b.dir + "\n"}},
		{m{"command": "cat f", "cwd": "sub"}, false, []string{"exit code: 0\nx\n"}},
		{m{"command": "true"}, false, []string{"exit code: 0\n(no output)"}},
		{m{"command": "echo no >&2; exit 3"}, true, []string{"exit code: 3\nno\n"}},
		{m{"command": "printf '\\033[31mred\\033[0m\\rover\\n'"}, false, []string{"red\nover\n"}},
		{m{"command": "sleep 60", "timeout": 1}, true, []string{"ended after the timeout of 1s"}},
		{m{"command": "x", "cwd": "nowhere"}, true, []string{"was not run: cwd:"}},
		{m{"command": "x", "cwd": "sub/f"}, true, []string{"was not run: cwd:", "not a folder"}},
		{m{"command": "x", "cwd": "/"}, true, []string{"outside the workspace"}},
		{m{"command": "x", "timeout": 601}, true, []string{"from 1 to 600"}},
		{m{"command": "x", "timeout": -1}, true, []string{"from 1 to 600"}},
		{m{"command": "a\x00b"}, true, []string{"NUL"}},
		{m{}, true, []string{"either command or kill"}},
		{m{"command": "x", "kill": "job-1"}, true, []string{"either command or kill"}},
		{m{"kill": "job-9"}, true, []string{`no background command "job-9"`}},
	}
	for _, tt := range tests {
		b.want(b.call("execute_command", tt.args), tt.failed, tt.want...)
	}
}

// swapping replaces a folder by a link or another folder while the question about a
// command in it is open.
type swapping struct {
	t      *testing.T
	dir    string
	asks   int
	folder bool
}

func (s *swapping) Ask(context.Context, confirm.Request) (confirm.Verdict, error) {
	s.asks++
	put := func() error { return os.Symlink(filepath.Dir(s.dir), s.dir) }
	if s.folder {
		put = func() error { return os.Mkdir(s.dir, 0o700) }
	}
	if err := errors.Join(os.Rename(s.dir, s.dir+".away"), put()); err != nil {
		s.t.Error(err)
	}
	return confirm.Verdict{Decision: confirm.Approve}, nil
}

// TestCommandRunsInTheFolderThatWasShown, or not at all.
func TestCommandRunsInTheFolderThatWasShown(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	for i := range 4 {
		background := i%2 == 1
		b := newBench(t, map[string]string{"sub/f": "x\n"})
		s := &swapping{t: t, dir: filepath.Join(b.dir, "sub"), folder: i >= 2}
		b.deps.Ask = s
		b.set = NewSet(b.deps)
		b.want(b.call("execute_command", m{"command": "touch ran", "cwd": "sub", "background": background}), true, "was not run: its folder")
		if s.asks != 1 {
			t.Errorf("%d questions", s.asks)
		}
		for _, dir := range []string{b.dir, filepath.Join(b.dir, "sub"), filepath.Join(b.dir, "sub.away")} {
			if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
				t.Errorf("it ran in %s", dir)
			}
		}
	}
}

func TestCommandIsAsked(t *testing.T) {
	b := newBench(t, nil)
	b.ask.verdict = confirm.Verdict{Feedback: "not now"}
	res := b.call("execute_command", m{"command": "touch made", "timeout": 7})
	b.want(res, true, "The user declined this command. It was not run.", "The user says: not now")
	if _, err := os.Stat(filepath.Join(b.dir, "made")); err == nil {
		t.Error("it was run")
	}
	if len(b.ask.asked) != 1 {
		t.Fatalf("%d questions", len(b.ask.asked))
	}
	want := &confirm.Command{
		Line: "touch made", Dir: b.dir, Timeout: 7 * time.Second, Parts: []confirm.CommandPart{{Words: []string{"touch", "made"}}},
	}
	if d := cmp.Diff(want, confirm.As[*confirm.Command](b.ask.asked[0])); d != "" {
		t.Errorf("asked about (-want +got):\n%s", d)
	}
	if b.ask.asked[0].Force || b.ask.asked[0].Notes != nil {
		t.Errorf("asked with %+v", b.ask.asked[0])
	}
	b.ask.verdict = confirm.Verdict{Decision: confirm.Approve, Feedback: "go on"}
	b.want(b.call("execute_command", m{"command": "touch made"}), false, "The user says: go on")
	if _, err := os.Stat(filepath.Join(b.dir, "made")); err != nil {
		t.Error(err)
	}
	b.ask.err = context.Canceled
	if _, err := b.set.Call(t.Context(), "execute_command", Call{Args: json.RawMessage(`{"command":"true"}`)}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestReadOnlyCommands: a rule may approve a command that only reads, in the form that was
// judged; a yes of a person is for the line as it is.
func TestReadOnlyCommands(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no command is known to be read-only there")
	}
	b := newBench(t, map[string]string{"f": "x\n"})
	run := func(line string, background bool) (confirm.Request, Result) {
		b.ask.asked = nil
		res := b.call("execute_command", m{"command": line, "background": background})
		return b.ask.asked[0], res
	}
	b.ask.verdict = confirm.Verdict{Decision: confirm.Approve, Rule: true, Guarded: true, By: "a rule"}
	req, res := run("cat f; pwd", false)
	b.want(res, false, "exit code: 0\nx\n"+b.dir)
	if !confirm.As[*confirm.Command](req).ReadOnly || req.Force || req.Notes != nil || res.Rule != "a rule" || !strings.HasSuffix(res.ForUser, " · a rule") {
		t.Errorf("%+v, %+v", req, res)
	}
	b.ask.verdict = confirm.Verdict{Decision: confirm.Approve}
	if req, res := run("cat f", true); confirm.As[*confirm.Command](req).ReadOnly || res.Rule != "" {
		t.Errorf("in the background: %+v, %+v", req, res)
	}
	b.ask.verdict = confirm.Verdict{}
	for line, note := range map[string]string{
		"cat /etc/hostname":    "Read-only, but /etc/hostname is outside of the folder.",
		"cat .env":             "Dangerous (always asked): .env is a place that may contain passwords or keys",
		"curl example.com":     "Unusual: uses the network",
		"rm -rf build; npm ci": "Dangerous (always asked): deletes files permanently · installs packages",
		"rm -rf build; cat f":  "Dangerous (always asked): deletes files permanently",
	} {
		req, _ := run(line, false)
		if len(req.Notes) != 1 || req.Notes[0].Text != note || confirm.As[*confirm.Command](req).ReadOnly || req.Force != strings.HasPrefix(note, "Dangerous") {
			t.Errorf("%s: %+v", line, req)
		}
	}
	b.deps.AskAll = true
	b.set = NewSet(b.deps)
	if req, _ := run("cat f", false); confirm.As[*confirm.Command](req).ReadOnly {
		t.Error("it may run without a question although all ask")
	}
}

func TestLongOutputIsSpilled(t *testing.T) {
	b := newBench(t, nil)
	res := b.call("execute_command", m{"command": "echo first; seq 100000; echo last"})
	b.want(res, false, "first\n1\n", "99999\n100000\nlast\n", "bytes are left out below; read_file can read all of it: ")
	if len(res.ForModel) > 32_000 {
		t.Errorf("%d bytes", len(res.ForModel))
	}
	_, rest, _ := strings.Cut(res.ForModel, "all of it: ")
	spill, _, _ := strings.Cut(rest, "\n")
	b.ask.asked = nil
	b.want(b.call("read_file", m{"path": spill, "offset": 50001, "limit": 1}), false, "50001 | 50000\n", "total_lines: 100002")
	if len(b.ask.asked) != 0 {
		t.Error("reading the spilled output was asked about")
	}
}

func TestBackground(t *testing.T) {
	b := newBench(t, nil)
	res := b.call("execute_command", m{"command": "echo up; sleep 300", "background": true})
	b.want(res, false, "in the background as job-1", "kill: \"job-1\"")
	if !confirm.As[*confirm.Command](b.ask.asked[0]).Background {
		t.Error("the user is not told that it runs on")
	}
	_, rest, _ := strings.Cut(res.ForModel, "goes to ")
	log, _, _ := strings.Cut(rest, ",")
	for deadline := time.Now().Add(20 * time.Second); ; {
		if strings.Contains(b.call("read_file", m{"path": log}).ForModel, "1 | up") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the log stays empty")
		}
	}
	b.want(b.call("execute_command", m{"kill": "job-1"}), false, "job-1 has ended", "up\n")
}

// jobs lists the background commands of a test.
type jobs struct{ list []shell.Job }

func (j *jobs) List() []shell.Job { return j.list }

func TestEndedCommandsAreReported(t *testing.T) {
	b := newBench(t, map[string]string{"a": "x\n"})
	list := &jobs{[]shell.Job{{ID: "job-1", Log: "/log1", Running: true}}}
	b.deps.Background = list
	b.set = NewSet(b.deps)
	silent := func(when string, res Result) {
		t.Helper()
		if strings.Contains(res.ForModel, "has ended with") {
			t.Errorf("%s: %q", when, res.ForModel)
		}
	}
	silent("while it runs", b.call("read_file", m{"path": "a"}))
	list.list[0].Running, list.list[0].ExitCode = false, 2
	b.want(b.call("read_file", m{"path": "a"}), false, "\n[job-1 has ended with exit code 2; its output is in /log1]")
	list.list = append(list.list, shell.Job{ID: "job-0", ExitCode: 1, Log: "/log0"})
	want := []string{"job-0 has ended with exit code 1; its output is in /log0"}
	if res := b.call("read_file", m{"path": "a"}); !slices.Equal(res.Ended, want) {
		t.Errorf("on record: %q", res.Ended)
	}
	silent("twice", b.call("read_file", m{"path": "a"}))
	b.want(b.call("execute_command", m{"command": "true", "background": true}), false, "job-1")
	list.list = []shell.Job{{ID: "job-1"}, {ID: "job-2"}}
	b.want(b.call("todo", m{"items": []m{}}), false, "job-2 has ended")
}

func TestAKilledCommandIsNotReported(t *testing.T) {
	b := newBench(t, nil)
	b.deps.Background = &jobs{[]shell.Job{{ID: "job-1"}}}
	b.set = NewSet(b.deps)
	b.set.commands.background.reported["job-1"] = true
	b.call("execute_command", m{"command": "sleep 300", "background": true})
	delete(b.set.commands.background.reported, "job-1")
	if res := b.call("execute_command", m{"kill": "job-1"}); res.Failed || strings.Contains(res.ForModel, "with exit code") {
		t.Errorf("%+v", res)
	}
}

func TestCancelledCommandEndsTheTurn(t *testing.T) {
	scratch.Need(t, "bash")
	b := newBench(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	call := Call{Args: json.RawMessage(`{"command":"echo up; sleep 300"}`), Progress: func(string) { cancel() }}
	if _, err := b.set.Call(ctx, "execute_command", call); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
