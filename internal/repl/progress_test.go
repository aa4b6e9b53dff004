package repl

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/subagents"
	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl/printer"
	"github.com/bb2d0cf4/agent/internal/repl/screen"
	"github.com/bb2d0cf4/agent/internal/repl/stream"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func look(width int) theme.Look {
	l := theme.New(theme.None, true)
	l.Width = width
	return l
}

func TestLine(t *testing.T) {
	t.Parallel()
	retry := session.Retrying{Retry: llm.Retry{Reason: "429 too\nmany", Wait: 5 * time.Second}}
	for _, tc := range []struct {
		name   string
		events []session.Event
		after  time.Duration
		asking bool
		want   string
	}{
		{"begun", nil, 0, false, "● waiting for the model · 0s · Esc stops"},
		{"later", nil, 61 * time.Second, false, "● waiting for the model · 1m 01s · Esc stops"},
		{"receiving", []session.Event{session.CallPending{Pending: llm.Pending{Name: "write\x1b", Bytes: 2048}}}, 0, false, `● receiving write\u{1b} · 2.0k bytes · 0s · Esc stops`},
		{"compacting", []session.Event{session.Compacting{}}, 0, false, "● compacting the conversation · 0s · Esc stops"},
		{"running", []session.Event{session.CallStarted{Title: "ls"}}, 0, false, "● running · 0s · Esc stops"},
		{"asking", []session.Event{session.CallStarted{Title: "ls"}}, 0, true, "● waiting for your answer"},
		{"retrying", []session.Event{retry}, 0, false, `● retrying in 5s: 429 too\nmany · 0s · Esc stops`},
		{"counts down", []session.Event{retry}, 1100 * time.Millisecond, false, `● retrying in 4s: 429 too\nmany · 1s · Esc stops`},
		{"the last second", []session.Event{retry}, 4900 * time.Millisecond, false, `● retrying in 1s: 429 too\nmany · 4s · Esc stops`},
		{"retried", []session.Event{retry}, 6 * time.Second, false, `● trying again: 429 too\nmany · 6s · Esc stops`},
		{"then on", []session.Event{retry, session.RequestStarted{}}, time.Second, false, "● waiting for the model · 1s · Esc stops"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			turn := beginProgress(start)
			for _, ev := range tc.events {
				turn.follow(ev, start)
			}
			got := turn.line(look(80), surroundings{now: start.Add(tc.after), asking: tc.asking, stop: "Esc", still: true})
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestWhatIsLeftOutFirst(t *testing.T) {
	t.Parallel()
	turn := beginProgress(start)
	o := surroundings{now: start, used: llm.Usage{Input: 1500}, stop: "Esc"}
	for width, want := range map[int]string{
		80: "⠋ waiting for the model · 0s · 1.5k tokens · Esc stops",
		45: "⠋ waiting for the model · 0s · Esc stops",
		37: "⠋ waiting for the model · Esc stops",
		24: "⠋ waiting for the model",
		10: "⠋ waiting…",
	} {
		if got := turn.line(look(width), o); got != want {
			t.Errorf("at %d: %q, want %q", width, got, want)
		}
	}
	turn.spin()
	if got := turn.line(look(80), o); !strings.HasPrefix(got, "⠙ ") {
		t.Errorf("it does not spin: %q", got)
	}
	turn.stopping()
	if got := turn.line(look(80), o); !strings.Contains(got, "stopping") {
		t.Error(got)
	}
}

func TestLive(t *testing.T) {
	t.Parallel()
	turn := beginProgress(start)
	turn.streams([]string{"the end of the"}, false)
	turn.follow(session.CallStarted{Title: "ls\n-l"}, start)
	var all strings.Builder
	for i := range 9 {
		fmt.Fprintf(&all, "\x1b[31mline\t%d\x1b[m\n", i)
	}
	turn.follow(session.CallOutput{Text: all.String()}, start)
	want := []string{"the end of the", "", `◦ ls\n-l`, "  line    3", "  line    4", "  line    5", "  line    6", "  line    7", "  line    8"}
	if d := cmp.Diff(want, turn.live(look(40), app.Work{}, "", start)); d != "" {
		t.Error(d)
	}
	turn.follow(session.CallEnded{}, start)
	if d := cmp.Diff([]string{"the end of the"}, turn.live(look(40), app.Work{}, "", start)); d != "" {
		t.Error("after the call:", d)
	}
	if lines, above := turn.output(); len(lines) != 0 || above != 0 {
		t.Errorf("the output of a call that ended is kept: %q, %d", lines, above)
	}
}

// A command shows its own time and limit, sub-agents a line each, and the parts that matter most
// stay at any width.
func TestLiveShowsTimes(t *testing.T) {
	t.Parallel()
	turn := beginProgress(start)
	turn.follow(session.CallStarted{Title: "Run go test ./..."}, start)
	front := app.Work{Front: &shell.Front{Started: start.Add(-12 * time.Second), Limit: 2 * time.Minute}}
	helpers := app.Work{SubAgents: []subagents.Running{
		{Origin: "reviewer: part 1", Started: start.Add(-61 * time.Second), Doing: "Read main.go", Used: llm.Usage{Input: 5000, CostUSD: 0.02}},
		{Origin: "task: a long description\x1b of its work", Started: start, Used: llm.Usage{Input: 5000}},
	}}
	for _, tc := range []struct {
		work  app.Work
		width int
		want  []string
	}{
		{front, 80, []string{"", "◦ Run go test ./... · 12s of 2m 00s · Ctrl+B to background"}},
		{front, 40, []string{"", "◦ Run go test ./... · 12s of 2m 00s"}},
		{front, 24, []string{"", "◦ Run go test ./..."}},
		{app.Work{Front: &shell.Front{Started: start}}, 80, []string{"", "◦ Run go test ./... · 0s · Ctrl+B to background"}},
		{helpers, 80, []string{"", "◦ reviewer: part 1 · 1m 01s · $0.02 · Read main.go", `◦ task: a long description\u{1b} of its work · 0s · 5.0k tokens`}},
		{helpers, 40, []string{"", "◦ reviewer: part 1 · 1m 01s · $0.02", "◦ task: a long descr… · 0s · 5.0k tokens"}},
	} {
		if d := cmp.Diff(tc.want, turn.live(look(tc.width), tc.work, "Ctrl+B to background", start)); d != "" {
			t.Errorf("at %d: %s", tc.width, d)
		}
	}
}

// Whatever a command prints: the stored output is bounded, lines are counted correctly,
// and the visible part fits.
func TestOutputIsBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		turn := beginProgress(start)
		turn.follow(session.CallStarted{Title: "x"}, start)
		total, width := 0, rapid.IntRange(1, 200).Draw(t, "width")
		for range rapid.IntRange(1, 30).Draw(t, "pieces") {
			text := strings.Repeat(rapid.SampledFrom([]string{"a", "漢字\n", "x\n", "\x1b[2J\n", "👩\u200d💻 "}).Draw(t, "what"), rapid.IntRange(1, 1500).Draw(t, "times"))
			total += strings.Count(text, "\n")
			turn.follow(session.CallOutput{Text: text}, start)
		}
		lines, above := turn.output()
		if n := len(strings.Join(lines, "\n")); n > 8<<10 {
			t.Fatalf("%d bytes are kept", n)
		}
		if got := above + len(lines); got > total+1 {
			t.Fatalf("%d lines of %d", got, total)
		}
		for _, l := range turn.live(look(width), app.Work{}, "", start) {
			if strings.Contains(l, "\x1b") || cells.Width(l) > width {
				t.Fatalf("%q at %d", l, width)
			}
		}
	})
}

// Tokens are counted at the spinner's pace; a question stops the spinner and shows no stop
// key.
func TestTokensMove(t *testing.T) {
	t.Parallel()
	turn := beginProgress(start)
	o := surroundings{now: start, used: llm.Usage{Input: 1000}, stop: "Esc"}
	for bytes, want := range map[int]string{400: "1.1k tokens", 4000: "2.0k tokens"} {
		turn.received(bytes)
		turn.spin()
		if got := turn.line(look(80), o); !strings.Contains(got, want) {
			t.Errorf("after %d bytes: %q", bytes, got)
		}
	}
	turn.follow(session.AnswerEnded{}, start)
	if got := turn.line(look(80), o); !strings.Contains(got, "1.0k tokens") {
		t.Errorf("after the answer: %q", got)
	}
	o.asking = true
	before := turn.line(look(80), o)
	turn.spin()
	o.now = start.Add(time.Minute)
	if got := turn.line(look(80), o); got != before || strings.Contains(got, "Esc") {
		t.Errorf("at a question: %q, then %q", before, got)
	}
}

// The line counts the tokens of its turn, as it counts its seconds.
func TestTokensOfTheTurn(t *testing.T) {
	t.Parallel()
	turn := turns{now: func() time.Time { return start }, shown: beginProgress(start), still: true, stopKey: "Esc"}
	turn.out = printer.New(new(screen.Screen), look(80))
	turn.inbox = stream.NewInbox()
	turn.spawn = func(func(context.Context)) context.CancelFunc { return func() {} }
	for _, total := range []int64{1500, 1700} {
		turn.begin("go", nil, "go")
		turn.event(session.Spent{Total: llm.Usage{Input: total}})
		want := "● waiting for the model · 0s · " + theme.Count(map[int64]int64{1500: 1500, 1700: 200}[total]) + " tokens · Esc stops"
		if got := turn.line(look(80), false); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		turn.end()
	}
}
