package headless

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/tools"
)

func TestPrinterMakesTextSafe(t *testing.T) {
	var b strings.Builder
	p := NewConversation(&b)
	for _, ev := range []session.Event{
		session.TextDelta{Text: "a\x1b[2Jb"},
		session.AnswerEnded{},
		session.CallStarted{Title: "run \x1b]0;x\x07"},
		session.Notice{Text: "n"},
	} {
		p.Event(ev)
	}
	if out := b.String(); strings.ContainsAny(out, "\x1b\x07") || !strings.Contains(out, "model: a") || !strings.Contains(out, "! n\n") {
		t.Errorf("%q", out)
	}
}

func TestAConversation(t *testing.T) {
	var b strings.Builder
	p := NewConversation(&b)
	ran := tools.Result{ForModel: "exit code: 0\nok\n"}
	for _, ev := range []session.Event{
		session.TextDelta{Text: "I "},
		session.TextDelta{Text: "look."},
		session.AnswerEnded{},
		session.CallStarted{Title: "Read a"},
		session.CallEnded{Title: "Read a", Result: tools.Result{ForUser: "2 lines"}},
		session.AnswerEnded{},
		session.CallStarted{Title: "Run it"},
		session.CallEnded{Call: llm.ToolCall{Name: "execute_command"}, Title: "Run it", Result: ran},
	} {
		p.Event(ev)
	}
	const want = "\nmodel: I look.\n\n> Read a\n  2 lines\n\n> Run it\n  done\n    exit code: 0\n    ok\n"
	if d := cmp.Diff(want, b.String()); d != "" || p.Err() != nil {
		t.Errorf("%v %s", p.Err(), d)
	}
}

func TestDiffs(t *testing.T) {
	p := NewConversation(io.Discard)
	p.Event(session.Notice{Text: "no change"})
	p.Event(session.CallEnded{Result: tools.Result{Changes: []tools.FileChange{{Diff: "one\n"}, {Diff: "two\n"}}}})
	p.Event(session.CallEnded{Result: tools.Result{Changes: []tools.FileChange{{Diff: "three\n"}}}})
	if got := p.Diffs(); got != "one\ntwo\nthree\n" {
		t.Errorf("%q", got)
	}
}

func TestThePrinterStopsAtTheFirstError(t *testing.T) {
	r, w := io.Pipe()
	gone := errors.New("gone")
	r.CloseWithError(gone)
	p := NewConversation(w)
	p.Line("one")
	p.Line("two")
	if !errors.Is(p.Err(), gone) {
		t.Error(p.Err())
	}
}
