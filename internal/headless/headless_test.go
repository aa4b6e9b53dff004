package headless

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// script is a Runner that emits events and returns an error.
type script struct {
	emit   func(session.Event)
	events []session.Event
	err    error
}

func (s *script) Run(ctx context.Context, _ string) error {
	for _, ev := range s.events {
		s.emit(ev)
	}
	if s.err == nil {
		return ctx.Err()
	}
	return s.err
}

// run shows events and returns the exit status and both outputs.
func run(t *testing.T, opt Options, err error, events ...session.Event) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	opt.Stdout, opt.Stderr, opt.SessionID = &out, &errs, "s1"
	clock := time.Unix(0, 0)
	opt.Now = func() time.Time { clock = clock.Add(1500 * time.Millisecond); return clock }
	f := New(opt)
	status = f.Run(t.Context(), &script{emit: f.Emit, events: events, err: err}, "do it")
	return status, out.String(), errs.String()
}

// edits returns a turn with two requests, two changes of a file and a denied command.
func edits() []session.Event {
	c := llm.ToolCall{ID: "a", Name: "edit_file", Args: `{"path":"x"}`}
	return []session.Event{
		session.TurnStarted{Prompt: "do it"},
		session.RequestStarted{Round: 1},
		session.TextDelta{Text: "I look."},
		session.AnswerEnded{Usage: llm.Usage{Input: 10, Output: 1, Cached: 5, CostUSD: 0.25}, Context: 11},
		session.CallStarted{Call: c, Title: "Edit x"},
		session.CallOutput{ID: "a", Text: "working"},
		session.CallEnded{Call: c, Title: "Edit x", Took: time.Second, Result: tools.Result{
			ForModel: "written", ForUser: "+2 −1", Changes: []tools.FileChange{{Path: "x", Added: 2, Removed: 1, Diff: "@@"}},
		}},
		session.CallEnded{Call: c, Title: "Edit\x1b x", Result: tools.Result{ForModel: "w", Changes: []tools.FileChange{{Path: "y"}, {Path: "x", Added: 1}}}},
		session.CallEnded{Call: c, Title: "Run y", Result: tools.Result{
			ForModel: "no", Failed: true, Denied: &tools.Denied{Tool: "execute_command", Reason: "nobody could be asked"},
		}},
		session.Retrying{Retry: llm.Retry{Attempt: 2, Max: 6, Wait: time.Second, Reason: "HTTP 503"}},
		session.Notice{Text: "mind"},
		session.RequestStarted{Round: 2},
		session.ReasoningDelta{Text: "hm"},
		session.TextDelta{Text: "Do"},
		session.TextDelta{Text: "ne. <ok>\u009b"},
		session.AnswerEnded{Usage: llm.Usage{Input: 20, Output: 2, Written: 7, CostUSD: 0.5, SavedUSD: 0.25}, Context: 22},
		session.TurnEnded{Stop: session.StopDone},
	}
}

const wantResult = `{"type":"result","is_error":false,"result":"Done. <ok>\u009b","session_id":"s1","num_turns":2,` +
	`"usage":{"input_tokens":30,"output_tokens":3,"cached_tokens":5,"cache_written_tokens":7},"cost_usd":0.75,"cache_saved_usd":0.25,"duration_ms":1500,` +
	`"files_changed":[{"path":"x","added":3,"removed":1},{"path":"y","added":0,"removed":0}],` +
	`"denied":[{"tool":"execute_command","reason":"nobody could be asked"}]}` + "\n"

func TestJSON(t *testing.T) {
	status, out, errs := run(t, Options{Format: JSON}, nil, edits()...)
	if diff := cmp.Diff(wantResult, out); diff != "" || status != ExitDenied {
		t.Errorf("status %d, output (-want +got):\n%s", status, diff)
	}
	if want := "HTTP 503; retrying in 1 s (2 of 6)\nmind\n"; errs != want {
		t.Errorf("stderr %q, want %q", errs, want)
	}
}

func TestJSONOfNothing(t *testing.T) {
	status, out, _ := run(t, Options{Format: JSON}, errors.New("no such model"))
	want := `{"type":"result","is_error":true,"result":"no such model","session_id":"s1","num_turns":0,` +
		`"usage":{"input_tokens":0,"output_tokens":0,"cached_tokens":0},"cost_usd":0,"duration_ms":1500,` +
		`"files_changed":[],"denied":[]}` + "\n"
	if diff := cmp.Diff(want, out); diff != "" || status != ExitFailed {
		t.Errorf("status %d, output (-want +got):\n%s", status, diff)
	}
}

func TestStreamJSON(t *testing.T) {
	_, out, _ := run(t, Options{Format: StreamJSON}, nil, edits()...)
	lines := strings.SplitAfter(out, "\n")
	if got := lines[len(lines)-2]; got != wantResult {
		t.Errorf("the last object is %s", got)
	}
	want := []string{
		`{"type":"start","session_id":"s1","prompt":"do it"}`,
		`{"type":"request","round":1}`,
		`{"type":"text","text":"I look."}`,
		`{"type":"usage","input_tokens":10,"output_tokens":1,"cached_tokens":5,"cost_usd":0.25,"context_tokens":11}`,
		`{"type":"tool_call","id":"a","name":"edit_file","args":{"path":"x"},"title":"Edit x"}`,
		`{"type":"tool_output","id":"a","text":"working"}`,
		`{"type":"tool_result","id":"a","name":"edit_file","failed":false,"denied":false,"result":"written","files_changed":[{"path":"x","added":2,"removed":1}],"duration_ms":1000}`,
	}
	if diff := cmp.Diff(want, strings.Split(out, "\n")[:len(want)]); diff != "" {
		t.Errorf("first lines (-want +got):\n%s", diff)
	}
	var types []string
	for _, l := range lines[:len(lines)-1] {
		var e struct{ Type string }
		if err := json.Unmarshal([]byte(l), &e); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		types = append(types, e.Type)
	}
	if got := strings.Join(types[len(want):], " "); got != "tool_result tool_result retry notice request reasoning text text usage result" {
		t.Errorf("types %s", got)
	}
}

// TestTextIntoAPipe checks that a pipe gets the last answer alone, as the model wrote
// it.
func TestTextIntoAPipe(t *testing.T) {
	status, out, errs := run(t, Options{Format: Text, StderrTTY: true}, nil, edits()...)
	if out != "Done. <ok>\u009b\n" || status != ExitDenied {
		t.Errorf("status %d, stdout %q", status, out)
	}
	want := "• Edit x – +2 −1\n• Edit\\u{1b} x\n• Run y\nHTTP 503; retrying in 1 s (2 of 6)\nmind\n"
	if errs != want {
		t.Errorf("stderr %q, want %q", errs, want)
	}
}

func TestTextOnATerminal(t *testing.T) {
	_, out, _ := run(t, Options{Format: Text, StdoutTTY: true, StderrTTY: true}, nil, edits()...)
	if want := "I look.\n\nDone. <ok>\\u{9b}\n"; out != want {
		t.Errorf("stdout %q, want %q", out, want)
	}
}

// whole is a writer that notices when two goroutines write at once.
type whole struct {
	writing atomic.Bool
	mixed   atomic.Bool
	lines   atomic.Int32
}

func (w *whole) Write(p []byte) (int, error) {
	if w.writing.Swap(true) {
		w.mixed.Store(true)
	}
	runtime.Gosched()
	w.lines.Add(1)
	w.writing.Store(false)
	return len(p), nil
}

// MCP servers report from goroutines of their own, during the answer and after it.
func TestEventsOfSeveralGoroutines(t *testing.T) {
	const servers, reports = 8, 200
	errs := &whole{}
	f := New(Options{Format: Text, Stdout: io.Discard, Stderr: errs, StdoutTTY: true, StderrTTY: true})
	var told sync.WaitGroup
	loop := runnerFunc(func(context.Context, string) error {
		for range servers {
			told.Go(func() {
				for range reports {
					f.Emit(session.Notice{Text: "a server failed"})
				}
			})
		}
		for range reports {
			f.Emit(session.TextDelta{Text: "text"})
		}
		return nil
	})
	if code := f.Run(t.Context(), loop, "p"); code != ExitDone {
		t.Error(code)
	}
	told.Wait()
	if errs.mixed.Load() || errs.lines.Load() != servers*reports {
		t.Errorf("mixed: %v, %d lines", errs.mixed.Load(), errs.lines.Load())
	}
}

func TestFailedTextKeepsWhatCame(t *testing.T) {
	for _, tty := range []bool{false, true} {
		status, out, errs := run(t, Options{Format: Text, StdoutTTY: tty}, errors.New("reset\nby peer"),
			session.RequestStarted{Round: 1}, session.TextDelta{Text: "half"})
		if out != "half\n" || errs != "agent: reset\\nby peer\n" || status != ExitFailed {
			t.Errorf("status %d, stdout %q, stderr %q", status, out, errs)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var out, errs bytes.Buffer
	f := New(Options{Format: JSON, Stdout: &out, Stderr: &errs})
	cancel()
	if status := f.Run(ctx, &script{emit: f.Emit}, "x"); status != ExitInterrupted {
		t.Errorf("status %d", status)
	}
	if !strings.Contains(out.String(), `"is_error":true,"result":"interrupted"`) {
		t.Errorf("stdout %s", out.String())
	}
}

// TestLongAnswerIntoASlowPipe checks that the answer arrives to its last word.
func TestLongAnswerIntoASlowPipe(t *testing.T) {
	for _, format := range []Format{Text, StreamJSON} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		const words = 300_000 // more than the pipe and the buffer take
		got := make(chan string)
		go func() {
			var b bytes.Buffer
			io.Copy(&b, slowAtFirst(r))
			got <- b.String()
		}()
		f := New(Options{Format: format, Stdout: w, Stderr: io.Discard})
		events := []session.Event{session.RequestStarted{Round: 1}}
		for range words {
			events = append(events, session.TextDelta{Text: "word "})
		}
		events = append(events, session.TextDelta{Text: "last"})
		if status := f.Run(t.Context(), &script{emit: f.Emit, events: events}, "x"); status != ExitDone {
			t.Errorf("status %d", status)
		}
		w.Close()
		out := <-got
		if n := strings.Count(out, "word "); n < words || !strings.Contains(out[len(out)-300:], "last") {
			t.Errorf("%s: %d words, end %q", format, n, out[len(out)-300:])
		}
	}
}

// slowAtFirst reads a little before it reads on.
func slowAtFirst(r io.Reader) io.Reader {
	return io.MultiReader(io.LimitReader(r, 1), r)
}

// TestReaderThatGoesAway checks that the turn ends without a message.
func TestReaderThatGoesAway(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	var errs bytes.Buffer
	f := New(Options{Format: StreamJSON, Stdout: w, Stderr: &errs})
	waits := runnerFunc(func(ctx context.Context, _ string) error {
		f.Emit(session.TextDelta{Text: "x"})
		<-ctx.Done()
		for range 1000 { // events after the end must not block
			f.Emit(session.TextDelta{Text: strings.Repeat("x", 10_000)})
		}
		return ctx.Err()
	})
	if status := f.Run(t.Context(), waits, "x"); status != ExitFailed || errs.Len() > 0 {
		t.Errorf("status %d, stderr %q", status, errs.String())
	}
}

type runnerFunc func(ctx context.Context, prompt string) error

func (f runnerFunc) Run(ctx context.Context, prompt string) error { return f(ctx, prompt) }

// fullDisk is a writer that always fails.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestOutputThatCannotBeWritten(t *testing.T) {
	var errs bytes.Buffer
	f := New(Options{Format: JSON, Stdout: fullDisk{}, Stderr: &errs})
	status := f.Run(t.Context(), &script{emit: f.Emit}, "x")
	if status != ExitFailed || errs.String() != "agent: the answer could not be written: no space left on device\n" {
		t.Errorf("status %d, stderr %q", status, errs.String())
	}
}

// stuck is a writer that does not return before its test ends.
type stuck struct{ until chan struct{} }

func (s stuck) Write(p []byte) (int, error) { <-s.until; return len(p), nil }

// TestInterruptWithAStuckReader checks that Run waits two seconds for the reader.
func TestInterruptWithAStuckReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := stuck{make(chan struct{})}
		f := New(Options{Format: StreamJSON, Stdout: w, Stderr: io.Discard})
		runs := runnerFunc(func(ctx context.Context, _ string) error {
			time.AfterFunc(time.Minute, cancel)
			for ctx.Err() == nil { // blocks when the buffer is full, until the interrupt
				f.Emit(session.TextDelta{Text: strings.Repeat("x", 100_000)})
			}
			return ctx.Err()
		})
		began := time.Now()
		if status := f.Run(ctx, runs, "x"); status != ExitInterrupted {
			t.Errorf("status %d", status)
		}
		if took := time.Since(began); took != time.Minute+patience {
			t.Errorf("took %v", took)
		}
		close(w.until)
		<-time.After(time.Second) // in the test's own time: the writer ends
	})
}

// TestFewWrites checks that words that come one by one do not take a system call each.
func TestFewWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &counter{}
		f := New(Options{Format: Text, StdoutTTY: true, Stdout: w, Stderr: io.Discard})
		runs := runnerFunc(func(context.Context, string) error {
			for range 1000 {
				f.Emit(session.TextDelta{Text: "word "})
				<-time.After(time.Millisecond)
			}
			return nil
		})
		f.Run(t.Context(), runs, "x")
		if w.bytes != 5001 || w.writes > 1000/8+3 {
			t.Errorf("%d bytes in %d writes", w.bytes, w.writes)
		}
	})
}

type counter struct{ writes, bytes int }

func (c *counter) Write(p []byte) (int, error) {
	c.writes++
	c.bytes += len(p)
	return len(p), nil
}

// TestEndsAtOnce checks that Run does not wait after the last write.
func TestEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var out bytes.Buffer
		f := New(Options{Format: JSON, Stdout: &out, Stderr: io.Discard})
		f.Run(t.Context(), &script{emit: f.Emit, events: edits()}, "x")
		if took := time.Since(began); took != 0 || out.Len() == 0 {
			t.Errorf("took %v for %d bytes", took, out.Len())
		}
	})
}

// TestAsAProcess runs a process that writes more than a pipe takes, once to a reader
// that reads it all, and once to a reader that goes away, as "| head -c 1" does.
func TestAsAProcess(t *testing.T) {
	if os.Getenv("HEADLESS_CHILD") != "" {
		f := New(Options{Format: Text, Stdout: os.Stdout, Stderr: os.Stderr})
		os.Exit(f.Run(t.Context(), &script{emit: f.Emit, events: []session.Event{
			session.RequestStarted{Round: 1}, session.TextDelta{Text: strings.Repeat("long ", 200_000) + "last"},
		}}, "x"))
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := func() *exec.Cmd {
		cmd := exec.Command(exe, "-test.run=TestAsAProcess")
		cmd.Env = append(os.Environ(), "HEADLESS_CHILD=1")
		return cmd
	}
	if out, err := child().Output(); err != nil || !bytes.HasSuffix(out, []byte("long last\n")) {
		t.Errorf("%v: %d bytes", err, len(out))
	}
	cmd := child()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = w, &errs
	if err := errors.Join(cmd.Start(), w.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(r, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	r.Close()
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != ExitFailed || errs.Len() > 0 {
		t.Errorf("status %v, stderr %q", cmd.ProcessState, errs.String())
	}
}

// A void part of an answer is in no result; a terminal, which has shown it, marks it.
func TestAnswerThatBrokeOff(t *testing.T) {
	events := []session.Event{
		session.RequestStarted{Round: 1},
		session.TextDelta{Text: "It is"},
		session.Retrying{Retry: llm.Retry{Attempt: 2, Max: 6, Wait: time.Second, Reason: "HTTP 529"}, Void: true},
		session.TextDelta{Text: "It is so."},
	}
	for name, c := range map[string]struct {
		opt  Options
		want string
	}{
		"pipe":     {Options{Format: Text}, "It is so.\n"},
		"terminal": {Options{Format: Text, StdoutTTY: true}, "It is\n— the answer broke off; asking again —\nIt is so.\n"},
	} {
		if _, out, _ := run(t, c.opt, nil, events...); out != c.want {
			t.Errorf("%s: %q", name, out)
		}
	}
	_, out, _ := run(t, Options{Format: StreamJSON}, nil, events...)
	for _, want := range []string{`"reason":"HTTP 529","void":true}`, `"result":"It is so."`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
}

// Blanks are no answer; blanks before one are printed with it.
func TestBlankAnswers(t *testing.T) {
	for _, tty := range []bool{false, true} {
		blank := []session.Event{
			session.RequestStarted{Round: 1},
			session.TextDelta{Text: "\n "},
			session.TextDelta{Text: " \n"},
			session.AnswerEnded{},
			session.RequestStarted{Round: 2},
			session.TextDelta{Text: " \n"},
			session.AnswerEnded{},
		}
		status, out, errs := run(t, Options{Format: Text, StdoutTTY: tty}, errors.New("the answer is empty"), blank...)
		if status != ExitFailed || out != "" || errs != "agent: the answer is empty\n" {
			t.Errorf("terminal %v: status %d, %q, %q", tty, status, out, errs)
		}
		_, out, _ = run(t, Options{Format: Text, StdoutTTY: tty}, nil, append(blank, session.TextDelta{Text: "It"}, session.TextDelta{Text: " is"})...)
		if out != " \nIt is\n" {
			t.Errorf("terminal %v: %q", tty, out)
		}
	}
}

// The exit status of a session is that of its newest turn.
func TestNewest(t *testing.T) {
	begun := session.TurnStarted{Prompt: "do it"}
	denied := session.CallEnded{Result: tools.Result{Denied: &tools.Denied{Tool: "execute_command"}}}
	done, failed := session.TurnEnded{Stop: session.StopDone}, session.TurnEnded{Err: errors.New("it broke"), Stop: session.StopFailed}
	stopped := session.TurnEnded{Err: context.Canceled, Stop: session.StopCancelled}
	for name, tt := range map[string]struct {
		events []session.Event
		want   int
	}{
		"none":             {nil, ExitDone},
		"done":             {[]session.Event{begun, done}, ExitDone},
		"denied":           {[]session.Event{begun, denied, done}, ExitDenied},
		"failed":           {[]session.Event{begun, denied, failed}, ExitFailed},
		"interrupted":      {[]session.Event{begun, stopped}, ExitInterrupted},
		"done after these": {[]session.Event{begun, denied, failed, begun, stopped, begun, done}, ExitDone},
	} {
		var n Newest
		for _, ev := range tt.events {
			n.Add(ev)
		}
		if got := n.Status(); got != tt.want {
			t.Errorf("%s: status %d, want %d", name, got, tt.want)
		}
	}
}

// A failure that a notice has told is not told again, in the text format: JSON has it in the
// result.
func TestAFailureIsToldOnce(t *testing.T) {
	const limit = "stopped after 1 request"
	for name, tt := range map[string]struct {
		opt    Options
		events []session.Event
		want   string
	}{
		"a notice":             {Options{}, []session.Event{session.Notice{Text: "Stopped after 1 request."}}, "Stopped after 1 request.\n"},
		"an earlier line":      {Options{Told: []string{"a", limit}}, nil, ""},
		"another notice":       {Options{}, []session.Event{session.Notice{Text: "Stopped."}}, "Stopped.\nagent: " + limit + "\n"},
		"none":                 {Options{Told: []string{"a"}}, nil, "agent: " + limit + "\n"},
		"a notice before more": {Options{}, []session.Event{session.Notice{Text: limit}, session.Notice{Text: "mind"}}, limit + "\nmind\nagent: " + limit + "\n"},
	} {
		tt.opt.Format = Text
		if status, _, stderr := run(t, tt.opt, errors.New(limit), tt.events...); status != ExitFailed || stderr != tt.want {
			t.Errorf("%s: status %d, %q", name, status, stderr)
		}
	}
}
