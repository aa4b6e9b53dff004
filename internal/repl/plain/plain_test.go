package plain

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// turns is a session whose turns run a function.
type turns func(ctx context.Context, prompt string) error

func (f turns) Run(ctx context.Context, prompt string) error { return f(ctx, prompt) }

func (f turns) Items() []history.Item { return nil }

func (f turns) Describe(c llm.ToolCall) (line, whole string) { return c.Name, c.Name }

// desk is a person at a UI, inside a synctest bubble: its clock advances when everything
// waits.
type desk struct {
	t         *testing.T
	ui        *UI
	in        *io.PipeWriter
	interrupt chan struct{}
	prompts   []string
	left      chan error

	mu  sync.Mutex
	out strings.Builder
}

func (d *desk) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.out.Write(p)
}

func (d *desk) printed() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.out.String()
}

// sit starts a UI whose turns run f; nil does nothing.
func sit(t *testing.T, opt Options, f func(d *desk, ctx context.Context, prompt string) error) *desk {
	t.Helper()
	r, w := io.Pipe()
	d := &desk{t: t, in: w, interrupt: make(chan struct{}), left: make(chan error, 1)}
	opt.In, opt.Out, opt.Interrupt = terminal{r}, d, d.interrupt
	d.ui = New(opt)
	run := turns(func(ctx context.Context, prompt string) error {
		d.prompts = append(d.prompts, prompt)
		if f == nil {
			return nil
		}
		return f(d, ctx, prompt)
	})
	go func() { d.left <- d.ui.Run(t.Context(), run) }()
	synctest.Wait()
	return d
}

// enter enters text and waits for its effects.
func (d *desk) enter(text string) {
	d.t.Helper()
	if _, err := io.WriteString(d.in, text); err != nil {
		d.t.Fatal(err)
	}
	synctest.Wait()
}

// read waits for the time that a person needs to read.
func (d *desk) read() {
	<-time.After(time.Second)
	synctest.Wait()
}

// leave ends the input and checks the output and the prompts.
func (d *desk) leave(printed string, prompts ...string) {
	d.t.Helper()
	if err := d.in.Close(); err != nil {
		d.t.Fatal(err)
	}
	d.check(printed, prompts...)
}

func (d *desk) check(printed string, prompts ...string) {
	d.t.Helper()
	if err := <-d.left; err != nil {
		d.t.Errorf("Run: %v", err)
	}
	if diff := cmp.Diff(prompts, d.prompts); diff != "" {
		d.t.Errorf("prompts: %s", diff)
	}
	if diff := cmp.Diff(printed, d.printed()); diff != "" {
		d.t.Errorf("printed: %s", diff)
	}
	_ = d.in.Close() // for fill; it never fails
	synctest.Wait()
}

// speak returns an answer of the model in pieces.
func (d *desk) speak(pieces ...string) {
	for _, p := range pieces {
		d.ui.Emit(session.TextDelta{Text: p})
	}
	d.ui.Emit(session.AnswerEnded{})
}

// askAbout asks a question outside the turn, like the controller.
func (d *desk) askAbout(ctx context.Context, req confirm.Request) (confirm.Verdict, error) {
	var v confirm.Verdict
	var err error
	var work sync.WaitGroup
	work.Go(func() { v, err = d.ui.Review(ctx, req) })
	work.Wait()
	return v, err
}

func TestEachLineIsAPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sit(t, Options{First: "begin", Notes: []string{"A note."}}, func(d *desk, _ context.Context, prompt string) error {
			d.speak("You said ", prompt+".")
			return nil
		})
		d.enter("one\n")
		d.enter("\n  two \r\n")
		d.leave("A note.\nYou said begin.\n\n> You said one.\n\n> \n> You said two.\n\n> \n", "begin", "one", "two")
	})
}

// A pipe delivers everything at once: each line is still one prompt, and is repeated in the
// output. The last line needs no newline.
func TestAPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sit(t, Options{Echo: true}, func(d *desk, _ context.Context, prompt string) error {
			d.speak("Re: " + prompt)
			return nil
		})
		d.enter("one\ntwo\nthree")
		d.leave("\n> one\nRe: one\n\n> two\nRe: two\n\n> three\nRe: three\n\n> \n", "one", "two", "three")
	})
}

func TestLinesEnteredDuringATurnAreTheNextPrompts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sit(t, Options{}, func(*desk, context.Context, string) error {
			<-time.After(time.Minute)
			return nil
		})
		d.enter("one\n")
		d.enter("two\n")
		d.enter("three\n")
		<-time.After(time.Hour)
		d.leave("\n> \n> two\n\n> three\n\n> \n", "one", "two", "three")
	})
}

func TestInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sit(t, Options{}, func(d *desk, ctx context.Context, _ string) error {
			d.ui.Emit(session.TextDelta{Text: "I begin"})
			<-ctx.Done()
			d.ui.Emit(session.TurnEnded{Stop: session.StopCancelled, Err: ctx.Err()})
			return ctx.Err()
		})
		d.enter("go\n")
		d.enter("and then\nthat\n")
		d.interrupt <- struct{}{}
		synctest.Wait()
		out := d.printed()
		for _, want := range []string{"I begin\n", "(2 waiting lines dropped)\n", session.Cancelled + "\n"} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is not in %q", want, out)
			}
		}
		d.interrupt <- struct{}{} // at the prompt
		d.check(out+"\n", "go")
	})
}

func TestTheContextEndsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r, w := io.Pipe()
		defer w.Close()
		left := make(chan error, 1)
		go func() {
			left <- New(Options{In: r, Out: io.Discard}).Run(ctx, turns(func(context.Context, string) error { return nil }))
		}()
		synctest.Wait()
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v", err)
		}
	})
}

func TestEvents(t *testing.T) {
	var out strings.Builder
	u := New(Options{Out: &out})
	at := time.Time{}
	u.now = func() time.Time { at = at.Add(7 * time.Second); return at }
	for _, ev := range []session.Event{
		session.TurnStarted{Prompt: "p"},
		session.Retrying{Retry: llm.Retry{Attempt: 2, Max: 6, Wait: 3 * time.Second, Reason: "HTTP 503"}},
		session.ReasoningDelta{Text: "**Where is \x1b[2J"},
		session.ReasoningDelta{Text: "it?**\n" + strings.Repeat("I look. ", 500)},
		session.TextDelta{Text: "ca"},
		session.Retrying{Retry: llm.Retry{Attempt: 3, Max: 6, Wait: 3 * time.Second, Reason: "HTTP 529"}, Void: true},
		session.TextDelta{Text: "caf\xc3"},
		session.TextDelta{Text: "\xa9"},
		session.AnswerEnded{},
		session.CallStarted{Title: "Read a.go"},
		session.CallEnded{Title: "Read a.go", Result: tools.Result{ForUser: "3 lines"}},
		session.CallEnded{Title: "Note"},
		session.AnswerEnded{},
		session.ReasoningDelta{Text: "  "},
		session.TextDelta{Text: "half"},
		session.ReasoningDelta{Text: "Or not."},
		session.Notice{Text: "a limit"},
		session.TurnEnded{Stop: session.StopLimit, Err: errors.New("a limit")},
		session.TurnEnded{Stop: session.StopDenied},
		session.TurnEnded{Stop: session.StopFailed, Err: errors.New("no network")},
		session.TurnEnded{Stop: session.StopDone},
	} {
		u.Emit(ev)
	}
	const want = `! HTTP 503; retrying in 3 s (2 of 6)
~ Where is \u{1b}[2Jit? (7s, about 1.0k tokens)
ca
— the answer broke off; asking again —
! HTTP 529; retrying in 3 s (3 of 6)
café
* Read a.go: 3 lines
* Note
half
~ Or not. (0s, about 2 tokens)
! a limit
Declined. What should I do instead?
! no network
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
