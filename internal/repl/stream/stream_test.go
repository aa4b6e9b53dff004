package stream

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
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/session"
)

// rendered runs the renderer on the items that produce adds, and returns its updates.
func rendered(t *testing.T, produce func(inbox *Inbox)) []Update {
	t.Helper()
	var got []Update
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		inbox := NewInbox()
		look := theme.New(theme.Auto, true)
		look.Width = 80
		go Run(ctx, inbox, Options{Look: look, Now: time.Now, Send: func(up Update) { got = append(got, up) }})
		produce(inbox)
		<-time.After(time.Second) // virtual: the last frame comes due
		cancel()
		<-inbox.Closed()
	})
	return got
}

// printed joins the finished lines of updates, without styles and blank lines.
func printed(ups []Update) []string {
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
	ups := rendered(t, func(inbox *Inbox) {
		inbox.Put(session.TextDelta{Text: "I look at "})
		inbox.Put(session.TextDelta{Text: "the file."})
		inbox.Put(session.CallStarted{Call: call})
		inbox.Put(session.TextDelta{Text: "Done."})
		inbox.Put(session.TurnEnded{})
	})
	var order []string
	for _, up := range ups {
		order = append(order, printed([]Update{up})...)
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
	ups := rendered(t, func(inbox *Inbox) {
		for i := range pieces {
			inbox.Put(session.TextDelta{Text: fmt.Sprintf("word%d ", i)})
		}
		inbox.Put(session.TurnEnded{})
	})
	if len(ups) > 100 {
		t.Errorf("%d pieces made %d updates", pieces, len(ups))
	}
	text := strings.Join(printed(ups), " ")
	for _, w := range []string{"word0 ", "word9999 ", fmt.Sprintf("word%d", pieces-1)} {
		if !strings.Contains(text+" ", w) {
			t.Errorf("%q is lost", w)
		}
	}
}

// However much arrives at once, every update is short: keys are handled between updates.
func TestFloodIsHandedOnInBatches(t *testing.T) {
	const lines = 5000
	var text strings.Builder
	for i := range lines {
		fmt.Fprintf(&text, "line %d\n\n", i)
	}
	ups := rendered(t, func(inbox *Inbox) {
		inbox.Put(session.TextDelta{Text: text.String()})
		inbox.Put(session.TurnEnded{})
	})
	for _, up := range ups {
		if len(up.Lines) > 128 {
			t.Errorf("an update of %d lines", len(up.Lines))
		}
	}
	if got := printed(ups); len(got) != lines || got[lines-1] != "line 4999" {
		t.Errorf("%d lines, the last %q", len(got), got[len(got)-1:])
	}
}

func TestUnfinishedTextIsShownWithinAFrame(t *testing.T) {
	ups := rendered(t, func(inbox *Inbox) { inbox.Put(session.TextDelta{Text: "half a sen"}) })
	tail := slices.Concat(ups[len(ups)-1].Tail)
	if got := ansi.Strip(strings.Join(tail, "")); !strings.Contains(got, "half a sen") {
		t.Errorf("tail = %q", got)
	}
}

// Reasoning is not rendered: it becomes an item before the text or the call that follows, and
// text that it interrupts stays one answer.
func TestReasoningIsNoAnswer(t *testing.T) {
	pending := session.CallPending{Pending: llm.Pending{Name: "read"}}
	ups := rendered(t, func(inbox *Inbox) {
		inbox.Put(session.ReasoningDelta{Text: "Hm. *Not*\n"})
		inbox.Put(session.ReasoningDelta{Text: "markdown\n"})
		inbox.Put(session.TextDelta{Text: "One "})
		inbox.Put(session.ReasoningDelta{Text: "amid"})
		inbox.Put(session.TextDelta{Text: "answer."})
		inbox.Put(session.AnswerEnded{})
		inbox.Put(session.ReasoningDelta{Text: "again"})
		inbox.Put(pending)
		inbox.Put(session.ReasoningDelta{Text: " \n"})
		inbox.Put(session.TurnEnded{})
	})
	if d := cmp.Diff([]string{"One answer."}, printed(ups)); d != "" {
		t.Error(d)
	}
	var items []any
	for _, up := range ups {
		items = append(items, up.Items...)
		if len(up.Items) == 1 && up.Items[0] == any(Thought{Text: "Hm. *Not*\nmarkdown"}) && len(printed(ups[:1])) > 0 {
			t.Error("the answer is above its reasoning")
		}
	}
	want := []any{Thought{Text: "Hm. *Not*\nmarkdown"}, Answer{"One answer."}, Thought{Text: "amid"}, session.AnswerEnded{}, Thought{Text: "again"}, pending, session.TurnEnded{}}
	if d := cmp.Diff(want, items, cmpopts.IgnoreFields(Thought{}, "Took")); d != "" {
		t.Error(d)
	}
}

// However long the reasoning is, a frame carries none of it.
func TestReasoningCostsNothingToShow(t *testing.T) {
	ups := rendered(t, func(inbox *Inbox) {
		for range 10_000 {
			inbox.Put(session.ReasoningDelta{Text: "a line of it\n"})
		}
	})
	for _, up := range ups {
		if len(up.Lines)+len(up.Tail)+len(up.Items) > 0 || !up.Thinking {
			t.Fatalf("%+v", up)
		}
	}
	if last := ups[len(ups)-1]; last.Bytes != 130_000 || len(ups) > 2000 {
		t.Errorf("%d bytes in %d updates", last.Bytes, len(ups))
	}
}

func TestBoxKeepsOrderAndJoinsText(t *testing.T) {
	inbox := NewInbox()
	for _, it := range []any{
		session.TextDelta{Text: "a"},
		session.TextDelta{Text: "b"},
		session.Notice{Text: "n"},
		session.TextDelta{Text: "c"},
		session.CallPending{Pending: llm.Pending{Bytes: 1}},
		session.CallPending{Pending: llm.Pending{Bytes: 2}},
	} {
		inbox.Put(it)
	}
	var got []string
	for _, it := range inbox.take() {
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
	if len(inbox.take()) != 0 {
		t.Error("taken twice")
	}
}

// A reprint renders the received text at the current width; later text continues it.
func TestReprint(t *testing.T) {
	ups := rendered(t, func(inbox *Inbox) {
		inbox.Put(session.TextDelta{Text: "# Title\n\nsome words that\n\nan end"})
		<-time.After(time.Second)
		look := theme.New(theme.Auto, true)
		look.Width = 10
		inbox.Put(look)
		<-time.After(time.Second)
		inbox.Put(Conversation)
		<-time.After(time.Second)
		inbox.Put(session.TextDelta{Text: " of it\n\nmore"})
		inbox.Put(session.TurnEnded{})
	})
	at := slices.IndexFunc(ups, func(up Update) bool { return up.Reprint == Conversation })
	if at < 0 {
		t.Fatalf("nothing was sent again: %+v", ups)
	}
	if d := cmp.Diff([]string{"", "# Title", "", "some words", "that"}, ups[at].Lines); d != "" {
		t.Error(d)
	}
	want := []string{"# Title", "some words", "that", "an end of", "it", "more"}
	if d := cmp.Diff(want, printed(ups[at:])); d != "" {
		t.Error(d)
	}
	if n := len(rendered(t, func(inbox *Inbox) { inbox.Put(Conversation) })); n != 1 {
		t.Errorf("%d updates where there is no answer", n)
	}
}

// A void answer stays on the screen, but is no item to keep.
func TestAnswerThatBrokeOff(t *testing.T) {
	retry := session.Retrying{Void: true}
	ups := rendered(t, func(inbox *Inbox) {
		inbox.Put(session.ReasoningDelta{Text: "hm"})
		inbox.Put(session.TextDelta{Text: "It i"})
		inbox.Put(retry)
		inbox.Put(session.TextDelta{Text: "It is so."})
		inbox.Put(session.TurnEnded{})
	})
	var items []any
	for _, up := range ups {
		items = append(items, up.Items...)
		if len(up.Items) > 0 && up.Items[0] == any(retry) && up.Bytes != 0 {
			t.Errorf("%d bytes of a void answer", up.Bytes)
		}
	}
	want := []any{Thought{Text: "hm"}, retry, Answer{"It is so."}, session.TurnEnded{}}
	if d := cmp.Diff(want, items, cmpopts.IgnoreFields(Thought{}, "Took")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"It i", "It is so."}, printed(ups)); d != "" {
		t.Error(d)
	}
}
