//go:build unix

package repl_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/golden"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl"
	"github.com/bb2d0cf4/agent/internal/repl/input"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/tools"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// stage is a complete interface on a terminal, with a session controlled by the test.
type stage struct {
	*ptytest.Terminal
	t    *testing.T
	ui   *repl.UI
	end  chan struct{} // ends the running turn
	quit context.CancelFunc
	done chan error

	mu    sync.Mutex
	ahead time.Duration
}

// Run implements repl.Session: a turn lasts until the test ends it.
func (s *stage) Run(ctx context.Context, _ string) error {
	select {
	case <-s.end:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Items implements repl.Session.
func (*stage) Items() []history.Item { return nil }

// Describe implements repl.Session.
func (*stage) Describe(c llm.ToolCall) (line, whole string) { return c.Name, c.Name }

func (s *stage) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.ahead)
}

// wait lets time pass.
func (s *stage) wait(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead += d
}

// past is a history of prompts.
type past []string

func (p past) Entries() ([]input.Entry, error) {
	var out []input.Entry
	for _, text := range p {
		out = append(out, input.Entry{Text: text, Here: true})
	}
	return out, nil
}

func (past) Add(string) error { return nil }

func themed(ctx context.Context, id string) (command.Reply, error) {
	return command.Reply{Text: "chosen: " + id}, nil
}

var sessions = command.Command{
	Name: "resume", Args: "[id]", Help: "go on with another session", Group: command.Sessions,
	Run: func(context.Context, string) (command.Reply, error) {
		return command.Reply{Pick: &command.Pick{Title: "Choose a session", Choose: themed, Items: []command.Choice{
			{ID: "1", Title: "make the greeting polite", Detail: "2 hours ago · main · 12 messages"},
			{ID: "2", Title: "find out why the build is slow on the second run", Detail: "yesterday · cache · 48 messages"},
		}}}, nil
	},
}

// newStage shows the interface on a terminal of the given size.
func newStage(t *testing.T, width, height int, change func(*repl.Options)) *stage {
	t.Helper()
	p := ptytest.New(t, vt.Options{Width: width, Height: height})
	out, err := os.OpenFile(p.TTY().Name(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{Terminal: p, t: t, end: make(chan struct{}), done: make(chan error, 1)}
	opt := repl.Options{
		Terminal: repl.Terminal{
			In: p.TTY(), Out: out, Env: []string{"TERM=xterm-256color", "COLORTERM=truecolor"}, Theme: "auto", Still: true,
			Status: []string{"mode", "model", "branch", "context", "editor", "cost"},
		},
		Start: repl.Start{Version: "1.2.3", Dir: "/home/me/project", Notes: []string{"AGENTS.md is read"}},
		Status: func() app.Status {
			return app.Status{Mode: "default", Model: "openai/model", Branch: "main", Editor: "VS Code · main.go:5-10"}
		},
		NextMode: func() string { return "default" },
		Commands: []command.Command{sessions, {Name: "undo", Args: "[turn]", Help: "take back the last change", Group: command.Changes}},
		Files:    func(string) []string { return []string{"main.go", "main_test.go", "internal/mail/main.go"} },
		History:  past{"fix the build", "write a test for the parser", "fix the parser"},
		Now:      s.clock,
	}
	if change != nil {
		change(&opt)
	}
	s.ui = repl.New(opt)
	ctx, cancel := context.WithCancel(t.Context())
	s.quit = cancel
	go func() { s.done <- s.ui.Run(ctx, s) }()
	t.Cleanup(func() {
		cancel()
		if err := <-s.done; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := out.Close(); err != nil {
			t.Error(err)
		}
	})
	s.WaitFor(`❯`)
	return s
}

// say submits a prompt, whose turn then runs.
func (s *stage) say(text string) {
	s.t.Helper()
	s.Type(text)
	s.Press("enter")
	s.WaitFor(`waiting for the model`)
}

// emit emits events of the turn.
func (s *stage) emit(evs ...session.Event) {
	for _, ev := range evs {
		s.ui.Emit(ev)
	}
}

func call(title, text string, change func(*tools.Result)) []session.Event {
	ended := session.CallEnded{Title: title}
	change(&ended.Result)
	return []session.Event{session.CallStarted{Title: title}, session.CallOutput{Text: text}, ended}
}

const answer = "The greeting is in `main.go`:\n\n```go\nfunc main() {\n\tprintln(\"hello\") // rude\n}\n```\n\n" +
	"1. Change the text\n   - keep the newline\n   - keep the **tests**\n2. Run them\n\n" +
	"| file | lines | what |\n|---|---:|---|\n| main.go | 12 | the greeting |\n| main_test.go | 40 | its tests, which are long |\n\nThat is "

func edit() confirm.Request {
	return confirm.Request{ID: "1", Tool: "edit_file", Description: "I change the greeting.", Subject: confirm.Edit(workspace.Change{
		File:  workspace.File{Name: "main.go", Exists: true, Text: "package main\n\nfunc main() {\n\tprintln(\"hello\")\n}\n"},
		After: "package main\n\nfunc main() {\n\tprintln(\"good day\")\n}\n",
	})}
}

// ask asks a question and waits until it accepts keys.
func (s *stage) ask(req confirm.Request) {
	s.t.Helper()
	go func() { _, _ = s.ui.Review(s.t.Context(), req) }() // the answer does not matter
	s.WaitFor(`y yes`)
	s.wait(time.Second)
	s.Type("\x1b[I") // a focus report, to cause another frame
}

// scenes lists the states of the screen: how to get there, and what shows it.
var scenes = []struct {
	name   string
	do     func(s *stage)
	shows  string
	change func(*repl.Options)
}{
	{name: "greeting", do: func(*stage) {}, shows: `mode`},
	{name: "typing", do: func(s *stage) {
		s.Paste("a prompt of\ntwo lines, the second of which is rather long for a narrow screen")
	}, shows: `screen$|screen\n|narrow`},
	{name: "waiting", do: func(s *stage) { s.say("be polite") }, shows: `waiting for the model`},
	{name: "thinking", do: func(s *stage) {
		s.say("be polite")
		s.emit(session.ReasoningDelta{Text: "The user wants another greeting.\nI look for it "})
	}, shows: `thinking`},
	{name: "thought", do: func(s *stage) {
		s.say("be polite")
		s.emit(session.ReasoningDelta{Text: "**The user wants another greeting.**\nI look for it in main.go."})
		s.emit(call("Read main.go", "", func(r *tools.Result) { r.ForUser = "5 lines" })...)
		s.emit(session.ReasoningDelta{Text: "It is rude, and a longer line of thought than any screen is wide: " + strings.Repeat("so it goes on, ", 12)})
		s.emit(session.TextDelta{Text: "It is rude."}, session.ReasoningDelta{Text: "And"})
	}, shows: `(?s)It is rude\..*thinking`},
	{name: "streaming", do: func(s *stage) {
		s.say("be polite")
		s.emit(session.TextDelta{Text: answer})
	}, shows: `That is`},
	{name: "receiving", do: func(s *stage) {
		s.say("be polite")
		s.emit(session.TextDelta{Text: "I write it."}, session.CallPending{Pending: llm.Pending{Name: "write_file", Bytes: 12_345}})
	}, shows: `receiving write_file`},
	{name: "running", do: func(s *stage) {
		s.say("test it")
		s.emit(session.CallStarted{Title: "Run go test ./..."}, session.CallOutput{Text: "ok  \texample.com/a\t0.01s\nok  \texample.com/b\t0.02s\n"})
	}, shows: `example.com/b`},
	{name: "called", do: func(s *stage) {
		s.say("test it")
		s.emit(call("Read main.go", "", func(r *tools.Result) { r.ForUser = "5 lines" })...)
		s.emit(call("Run go test ./...", strings.Repeat("ok\n", 12), func(r *tools.Result) { r.ForUser = "exit 0" })...)
		s.emit(call("Run go vet ./...", "main.go:4: rude greeting\n", func(r *tools.Result) { r.ForUser, r.Failed = "exit 1", true })...)
		s.emit(call("Edit main.go", "", func(r *tools.Result) { r.ForUser, r.Denied = "declined", &tools.Denied{} })...)
		s.emit(session.AnswerEnded{Total: llm.Usage{Input: 12_000, Output: 345, CostUSD: 0.0642}, Context: 12_345, Window: 128_000})
	}, shows: `declined(?s).*\$0.06|declined(?s).*context`},
	{name: "failed", do: func(s *stage) {
		s.say("be polite")
		s.emit(session.TurnEnded{Stop: session.StopFailed, Err: errors.New("the provider says: 503 overloaded, try again later")})
		close(s.end)
	}, shows: `try again[^●]*mode`},
	{name: "cancelled", do: func(s *stage) {
		s.say("be polite")
		s.emit(session.TextDelta{Text: "I look"}, session.TurnEnded{Stop: session.StopCancelled})
		close(s.end)
	}, shows: `Interrupted[^●]*mode`},
	{name: "retrying", do: func(s *stage) {
		s.say("be polite")
		s.emit(session.Retrying{Retry: llm.Retry{Reason: "429 too many requests", Attempt: 2, Max: 5, Wait: 8 * time.Second}})
	}, shows: `retrying in \ds`},
	{name: "retrying-long", do: func(s *stage) {
		s.say("be polite")
		s.emit(session.Retrying{Retry: llm.Retry{Reason: "openai/model failed to answer: " + strings.Repeat("the upstream server is not there, ", 6), Attempt: 2, Max: 5, Wait: 8 * time.Second}})
	}, shows: `retrying in \ds`},
	{name: "bang", do: func(s *stage) { s.Type("!\r") }, shows: `!git status`, change: func(o *repl.Options) {
		o.Shell = func(context.Context, string) error { return errors.New("nothing is to be run") }
	}},
	{name: "compacting", do: func(s *stage) {
		s.say("be polite")
		s.emit(session.Compacting{})
	}, shows: `(?i)compact`},
	{name: "notice", do: func(s *stage) {
		s.say("be polite")
		s.emit(session.Notice{Text: "The conversation was compacted: 80 messages became a summary of 1,200 tokens; /compact show shows it."})
	}, shows: `(?s)summary`},
	{name: "queue", do: func(s *stage) {
		s.say("be polite")
		s.Type("and then run the tests")
		s.Press("enter")
		s.Type("more")
	}, shows: `queued(?s).*❯ more`},
	{name: "question", do: func(s *stage) {
		s.say("be polite")
		s.ask(edit())
	}, shows: `y yes`},
	{name: "command", do: func(s *stage) {
		s.say("test it")
		s.ask(confirm.Request{ID: "2", Tool: "execute_command", Subject: &confirm.Command{Line: "go test ./... && rm -rf build", Dir: "/home/me/project", Timeout: 2 * time.Minute}})
	}, shows: `y yes`},
	{name: "comment", do: func(s *stage) {
		s.say("be polite")
		s.ask(edit())
		s.WaitFor(`y yes`)
		s.Press("c")
		s.WaitFor(`no, because:`)
		s.Type("say moin")
	}, shows: `no, because: say moin`},
	{name: "question-whole", do: func(s *stage) {
		s.say("be polite")
		s.ask(edit())
		s.Press("v")
		s.WaitUntil("the whole screen", func(m *vt.Terminal) bool { return m.Modes().AltScreen })
	}, shows: `good day`},
	{name: "commands", do: func(s *stage) { s.Type("/") }, shows: `/undo`},
	{name: "files", do: func(s *stage) { s.Type("look at @mai") }, shows: `(?s)look at @mai\n.*main_test\.go`},
	{name: "picker", do: func(s *stage) {
		s.Type("/resume")
		s.Press("enter")
	}, shows: `Choose a session`},
	{name: "search", do: func(s *stage) {
		s.Press("ctrl+r")
		s.Type("parser")
	}, shows: `search this project: parser`},
	{name: "hint", do: func(s *stage) { s.Press("ctrl+c") }, shows: `again to quit`, change: func(o *repl.Options) {
		now := time.Now()
		o.Now = func() time.Time { return now } // keep the hint
	}},
	{name: "keys", do: func(s *stage) { s.Type("?") }, shows: `send`},
	{name: "unknown", do: func(s *stage) {
		s.Type("/nosuch ")
		s.Press("enter")
	}, shows: `There is no`},
	{name: "help", do: func(s *stage) { s.Type("/help\r") }, shows: `(?s)@ attaches a file.*❯.*mode`},
	{name: "held", do: func(s *stage) {
		s.Type("/compact\r")
		s.WaitFor(`compact runs`)
		s.Type("and then run the tests\r")
	}, shows: `(?s)queued: and then.*/compact runs · Esc stops`, change: func(o *repl.Options) {
		o.Commands = append(o.Commands, command.Command{
			Name: "compact", Help: "shorten", Group: command.Model, Idle: true,
			Run: func(ctx context.Context, _ string) (command.Reply, error) {
				<-ctx.Done()
				return command.Reply{}, ctx.Err()
			},
		})
	}},
	{name: "pager", do: func(s *stage) {
		s.say("be polite")
		s.emit(session.TextDelta{Text: answer + "all."}, session.TurnEnded{Stop: session.StopDone})
		close(s.end)
		s.WaitFor(`all\.(?s).*❯\s*\n.*mode`)
		s.Press("ctrl+o")
	}, shows: `The full conversation`},
	{name: "status-short", do: func(*stage) {}, shows: `main`, change: func(o *repl.Options) { o.Terminal.Status = []string{"branch", "folder"} }},
}

// Every state of the screen, at four widths.
func TestScreens(t *testing.T) {
	t.Parallel()
	for _, sc := range scenes {
		for _, size := range [][2]int{{40, 24}, {80, 24}, {120, 30}, {200, 40}} {
			name := fmt.Sprintf("%s-%d", sc.name, size[0])
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, size[0], size[1], sc.change)
				sc.do(s)
				s.WaitFor(sc.shows)
				golden.File(t, "screens/"+name, steady(s))
			})
		}
	}
}

// steady waits until two frames agree, and returns the screen.
func steady(s *stage) string {
	last := ""
	for {
		bytes := len(s.Bytes())
		s.Type("\x1b[I") // a focus report, to cause another frame
		s.Read()
		got := look(s)
		if got == last && bytes == len(s.Bytes()) {
			return got
		}
		last = got
		<-time.After(30 * time.Millisecond) // one frame of text
	}
}

// elapsed matches the duration of a turn.
var elapsed = regexp.MustCompile(`· \d+s( ·|$)`)

// counted matches the time until the next attempt.
var counted = regexp.MustCompile(`retrying in \ds`)

// look returns the screen and its cursor.
func look(s *stage) string {
	var b strings.Builder
	s.Look(func(m *vt.Terminal) {
		rows := slices.Clone(m.Screen())
		for len(rows) > 0 && rows[len(rows)-1] == "" {
			rows = rows[:len(rows)-1]
		}
		text := elapsed.ReplaceAllString(strings.Join(rows, "\n"), "· 0s ·")
		fmt.Fprintln(&b, counted.ReplaceAllString(text, "retrying in 8s"))
		x, y := m.Cursor()
		switch {
		case m.Modes().CursorHidden:
			fmt.Fprintln(&b, "-- no cursor")
		default:
			fmt.Fprintf(&b, "-- cursor at column %d of row %d\n", x+1, y+1)
		}
	})
	return b.String()
}
