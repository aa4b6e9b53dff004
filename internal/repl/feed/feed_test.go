package feed

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/session"
)

// fed runs a feed over what produce puts into its box, and returns what the
// feed sent, once it has nothing more to do.
func fed(t *testing.T, produce func(box *Box)) []Update {
	t.Helper()
	var got []Update
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		box := NewBox()
		look := theme.New(theme.Auto, true)
		look.Width = 80
		go Run(ctx, box, Options{Look: look, Now: time.Now, Send: func(up Update) { got = append(got, up) }})
		produce(box)
		<-time.After(time.Second) // virtual: the last frame comes due
		cancel()
		<-box.Closed()
	})
	return got
}

// said joins the finished lines of updates, without styles and blank lines.
func said(ups []Update) []string {
	var out []string
	for _, up := range ups {
		for _, l := range up.Lines {
			if l = strings.TrimSpace(ansi.Strip(l)); l != "" {
				out = append(out, l)
			}
		}
	}
	return out
}

func TestTextComesBeforeWhatFollowsIt(t *testing.T) {
	call := llm.ToolCall{ID: "1", Name: "read_file"}
	ups := fed(t, func(box *Box) {
		box.Put(session.TextDelta{Text: "I look at "})
		box.Put(session.TextDelta{Text: "the file."})
		box.Put(session.CallStarted{Call: call})
		box.Put(session.TextDelta{Text: "Done."})
		box.Put(session.TurnEnded{})
	})
	var order []string
	for _, up := range ups {
		order = append(order, said([]Update{up})...)
		for _, it := range up.Items {
			if a, ok := it.(Answer); ok {
				order = append(order, "whole: "+a.Text)
				continue
			}
			order = append(order, fmt.Sprintf("%T", it))
		}
	}
	want := []string{"I look at the file.", "whole: I look at the file.", "session.CallStarted", "Done.", "whole: Done.", "session.TurnEnded"}
	if d := cmp.Diff(want, order); d != "" {
		t.Error(d)
	}
}

func TestFloodIsDrawnInFrames(t *testing.T) {
	const pieces = 20_000
	ups := fed(t, func(box *Box) {
		for i := range pieces {
			box.Put(session.TextDelta{Text: fmt.Sprintf("word%d ", i)})
		}
		box.Put(session.TurnEnded{})
	})
	if len(ups) > 100 {
		t.Errorf("%d pieces made %d updates", pieces, len(ups))
	}
	text := strings.Join(said(ups), " ")
	for _, w := range []string{"word0 ", "word9999 ", fmt.Sprintf("word%d", pieces-1)} {
		if !strings.Contains(text+" ", w) {
			t.Errorf("%q is lost", w)
		}
	}
}

// However much comes at once, no update is long: keys are served between two of them.
func TestFloodIsHandedOnInBatches(t *testing.T) {
	const lines = 5000
	var text strings.Builder
	for i := range lines {
		fmt.Fprintf(&text, "line %d\n\n", i)
	}
	ups := fed(t, func(box *Box) {
		box.Put(session.TextDelta{Text: text.String()})
		box.Put(session.TurnEnded{})
	})
	for _, up := range ups {
		if len(up.Lines) > 128 {
			t.Errorf("an update of %d lines", len(up.Lines))
		}
	}
	if got := said(ups); len(got) != lines || got[lines-1] != "line 4999" {
		t.Errorf("%d lines, the last %q", len(got), got[len(got)-1:])
	}
}

func TestUnfinishedTextIsShownWithinAFrame(t *testing.T) {
	ups := fed(t, func(box *Box) { box.Put(session.TextDelta{Text: "half a sen"}) })
	tail := slices.Concat(ups[len(ups)-1].Tail)
	if got := ansi.Strip(strings.Join(tail, "")); !strings.Contains(got, "half a sen") {
		t.Errorf("tail = %q", got)
	}
}

func TestReasoningIsNoAnswer(t *testing.T) {
	ups := fed(t, func(box *Box) {
		box.Put(session.ReasoningDelta{Text: "Hm. *Not*\nmarkdown \x1b]0;title\x07"})
		box.Put(session.TextDelta{Text: "Answer."})
		box.Put(session.TurnEnded{})
	})
	want := []string{"Hm. *Not*", `markdown \u{1b}]0;title\u{7}`, "Answer."}
	if d := cmp.Diff(want, said(ups)); d != "" {
		t.Error(d)
	}
}

func TestBoxKeepsOrderAndJoinsText(t *testing.T) {
	box := NewBox()
	for _, it := range []any{
		session.TextDelta{Text: "a"},
		session.TextDelta{Text: "b"},
		session.Notice{Text: "n"},
		session.TextDelta{Text: "c"},
		session.CallPending{Pending: llm.Pending{Bytes: 1}},
		session.CallPending{Pending: llm.Pending{Bytes: 2}},
	} {
		box.Put(it)
	}
	var got []string
	for _, it := range box.take() {
		switch it := it.(type) {
		case *textRun:
			got = append(got, string(it.text))
		case session.Notice:
			got = append(got, "notice")
		case session.CallPending:
			got = append(got, fmt.Sprint(it.Bytes))
		}
	}
	if d := cmp.Diff([]string{"ab", "notice", "c", "2"}, got); d != "" {
		t.Error(d)
	}
	if len(box.take()) != 0 {
		t.Error("taken twice")
	}
}

// What has come of an answer is rendered again, at the width of now; what follows
// goes on from there.
func TestAgain(t *testing.T) {
	ups := fed(t, func(box *Box) {
		box.Put(session.TextDelta{Text: "# Title\n\nsome words that\n\nan end"})
		<-time.After(time.Second)
		look := theme.New(theme.Auto, true)
		look.Width = 10
		box.Put(look)
		<-time.After(time.Second)
		box.Put(Conversation)
		<-time.After(time.Second)
		box.Put(session.TextDelta{Text: " of it\n\nmore"})
		box.Put(session.TurnEnded{})
	})
	at := slices.IndexFunc(ups, func(up Update) bool { return up.Again == Conversation })
	if at < 0 {
		t.Fatalf("nothing was sent again: %+v", ups)
	}
	if d := cmp.Diff([]string{"", "# Title", "", "some words", "that"}, ups[at].Lines); d != "" {
		t.Error(d)
	}
	want := []string{"# Title", "some words", "that", "an end of", "it", "more"}
	if d := cmp.Diff(want, said(ups[at:])); d != "" {
		t.Error(d)
	}
	if n := len(fed(t, func(box *Box) { box.Put(Conversation) })); n != 1 {
		t.Errorf("%d updates where there is no answer", n)
	}
}
