//go:build unix

package printer

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl/pager"
	"github.com/bb2d0cf4/agent/internal/repl/record"
	"github.com/bb2d0cf4/agent/internal/repl/screen"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/tools"
)

// printing is a Printer on a terminal.
type printing struct {
	*Printer
	term *ptytest.Terminal
}

func newPrinting(t *testing.T, width, height int) *printing {
	t.Helper()
	p := ptytest.New(t, vt.Options{Width: width, Height: height})
	out, err := os.OpenFile(p.TTY().Name(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	scr, err := screen.Open(screen.Options{In: p.TTY(), Out: out, Env: []string{"TERM=xterm"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(scr.Close(), out.Close()); err != nil {
			t.Error(err)
		}
	})
	look := theme.New(theme.Auto, true)
	look.Width, look.Height = width, height
	look.Keys = theme.Keys{Whole: "F4", Older: "F5", Send: "F6"}
	return &printing{New(scr, look), p}
}

// resize changes the size, as the interface does.
func (p *printing) resize(width, height int) {
	p.term.Resize(width, height)
	p.Look.Width, p.Look.Height = width, height
	p.Screen.Resize(width, height)
}

// rows returns the printed rows.
func (p *printing) rows() []string {
	p.Screen.Flush()
	p.term.Sync()
	return p.term.History()
}

func ended(title, said string, change func(*tools.Result)) session.CallEnded {
	ev := session.CallEnded{Title: title, Result: tools.Result{ForUser: said}}
	change(&ev.Result)
	return ev
}

func fill(p *printing) {
	p.Greet("1.0", "/work", []string{"AGENTS.md is read"})
	p.Prompt("say something\x1b[2J about it")
	p.Stream([]string{"", "It is so."})
	p.Answer("It is so.")
	p.Call(ended("read a.go", "3 lines", func(*tools.Result) {}), nil, 0)
	p.Call(ended("run ls", "exit 1", func(r *tools.Result) { r.Failed = true }), []string{"a", "b"}, 7)
	p.Call(ended("edit a.go", "", func(r *tools.Result) { r.Denied = &tools.Denied{} }), nil, 0)
	p.Notice("a remark")
	p.Problem(errors.New("it broke"))
	p.End(session.TurnEnded{Stop: session.StopCancelled})
	p.Text("\ttext of a command")
	p.Diff("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n")
}

var filled = []string{
	"agent 1.0 · /work · /help", "AGENTS.md is read",
	"", `❯ say something\u{1b}[2J about it`, "", "It is so.",
	"", "● read a.go · 3 lines", "✗ run ls · exit 1", "  … 7 more lines, F4", "  a", "  b", "○ edit a.go",
	"a remark", "", "error: it broke", "", "Interrupted. Changes made so far are kept.",
	"", "      text of a command",
	"", "edit x +1 −1", " 1    - old", "    1 + new",
}

func TestWhatIsPrinted(t *testing.T) {
	p := newPrinting(t, 70, 40)
	fill(p)
	if d := cmp.Diff(filled, p.rows()); d != "" {
		t.Error(d)
	}
}

// Folding a single line would save nothing: the remark takes as much room.
func TestOneLineIsNotFolded(t *testing.T) {
	output := []string{"1", "2", "3", "4", "5", "6"}
	p := newPrinting(t, 40, 20)
	p.Call(ended("run a", "exit 0", func(*tools.Result) {}), output, 0)
	p.Call(ended("run b", "exit 0", func(*tools.Result) {}), output[:5], 1)
	want := []string{
		"", "● run a · exit 0", "  1", "  2", "  3", "  4", "  5", "  6",
		"● run b · exit 0", "  … 1 more line, F4", "  1", "  2", "  3", "  4", "  5",
	}
	if d := cmp.Diff(want, p.rows()); d != "" {
		t.Error(d)
	}
}

// The model's list is shown as a list, and the reason of a failure in full.
func TestListsAndFailuresAreShownWhole(t *testing.T) {
	p := newPrinting(t, 40, 30)
	p.Call(ended("Plan: 1 of 2 done", "☑ read the code\n▸ write a test that fails for the reason named", func(*tools.Result) {}), nil, 0)
	p.Call(ended("run go test", "exit 1", func(r *tools.Result) { r.Failed = true }),
		[]string{"main_test.go:17: the long reason of this failure is at its end"}, 0)
	p.Call(ended("run go vet", "exit 0", func(*tools.Result) {}),
		[]string{"what succeeds is cut at the width of the window, as before"}, 0)
	want := []string{
		"", "● Plan: 1 of 2 done", "  ☑ read the code", "  ▸ write a test that fails for the", "  reason named",
		"✗ run go test · exit 1", "  main_test.go:17: the long reason of", "  this failure is at its end",
		"● run go vet · exit 0", "  what succeeds is cut at the width of …",
	}
	if d := cmp.Diff(want, p.rows()); d != "" {
		t.Error(d)
	}
}

// A command typed by the person shows a screenful.
func TestTypedCommandsAreShown(t *testing.T) {
	p := newPrinting(t, 40, 50)
	ev := ended("seq 40", "exit 0", func(*tools.Result) {})
	ev.Call.Name = session.Typed
	p.Call(ev, strings.Split(strings.TrimSpace(strings.Repeat("line\n", 40)), "\n"), 0)
	if rows := p.rows(); len(rows) != 33 || rows[2] != "  … 10 more lines, F4" {
		t.Errorf("%d rows: %q", len(rows), rows)
	}
}

// The result of a call is visible, however long the call; a failed one is shown in full.
func TestResultOfACallIsVisible(t *testing.T) {
	p := newPrinting(t, 40, 20)
	long := "run for i in 1 2 3; do echo $i; sleep 1; done"
	p.Call(ended(long, "exit 0", func(*tools.Result) {}), nil, 0)
	p.Call(ended(long, "exit 1", func(r *tools.Result) { r.Failed = true }), nil, 0)
	p.Call(ended(long, "an outcome that has no room beside it", func(*tools.Result) {}), nil, 0)
	want := []string{
		"", "● run for i in 1 2 3; do echo … · exit 0",
		"✗ run for i in 1 2 3; do echo $i; sleep", "1; done · exit 1",
		"● run for i in 1 2 3; do echo $i; sleep…", "  an outcome that has no room beside it",
	}
	if d := cmp.Diff(want, p.rows()); d != "" {
		t.Error(d)
	}
}

// The person's own words are never cut off, also beside a question that fills the line.
func TestTheirWordsAreShownWhole(t *testing.T) {
	asked := "Ask: " + strings.Repeat("Shall the old format be read as well? ", 3)
	words := strings.Repeat("keep what is there, ", 5) + "and write the new one"
	for _, width := range []int{40, 100} {
		for name, ev := range map[string]session.CallEnded{
			"an answer": ended(asked, words, func(*tools.Result) {}),
			"a no":      ended(asked, "declined: "+words, func(r *tools.Result) { r.Denied = &tools.Denied{} }),
		} {
			p := newPrinting(t, width, 20)
			p.Call(ev, nil, 0)
			rows := p.rows()
			if !strings.Contains(strings.Join(strings.Fields(strings.Join(rows, " ")), " "), words) || !strings.Contains(rows[1], "Ask: Shall the old") {
				t.Errorf("%s at %d columns: %q", name, width, rows)
			}
		}
	}
}

func TestReprint(t *testing.T) {
	p := newPrinting(t, 70, 40)
	fill(p)
	before := p.rows()
	p.Reprint(nil)
	if d := cmp.Diff(append(before, filled...), p.rows()); d != "" {
		t.Error(d)
	}
	p.resize(24, 40)
	p.Reprint(nil)
	p.rows()
	screen := p.term.Screen()
	for _, want := range []string{"\nIt is so.\n", "\nInterrupted. Changes\nmade so far are kept.\n", "\n✗ run ls · exit 1\n"} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is not on\n%s", want, screen)
		}
	}
}

// A reprint has a bounded cost: it omits the oldest blocks, with a note.
func TestReprintIsBounded(t *testing.T) {
	p := newPrinting(t, 60, 10)
	for i := range 3 * maxBlocks {
		p.Notice(fmt.Sprintf("remark %d", i))
	}
	p.Prompt(strings.Repeat("a long line of it\n", 10_000))
	p.Notice("the last one")
	if n := len(p.log.entries); n > maxBlocks || p.log.size > maxKept+1<<20 {
		t.Errorf("%d blocks of %d bytes are kept", n, p.log.size)
	}
	lines := p.log.lines(p.Look)
	if len(lines) != maxLines+1 || !strings.HasPrefix(lines[0], "… earlier: /export") || lines[maxLines] != "the last one" {
		t.Errorf("%d lines, from %q to %q", len(lines), lines[0], lines[len(lines)-1])
	}
	p.Forget()
	if lines := p.log.lines(p.Look); len(lines) != 0 {
		t.Errorf("%d lines of another session", len(lines))
	}
}

// A command that the screen cuts is whole in the full conversation.
func TestRecordHasTheWholeCommand(t *testing.T) {
	p := newPrinting(t, 70, 40)
	call := llm.ToolCall{ID: "1", Name: "execute_command", Args: strings.Repeat("true && ", 40) + "echo THE-END"}
	p.Title = func(c llm.ToolCall) (line, whole string) { return c.Args[:20] + "…", c.Args }
	line, _ := p.Title(call)
	ev := ended(line, "exit 0", func(*tools.Result) {})
	ev.Call = call
	p.Call(ev, nil, 0)
	live := p.Record
	p.History([]history.Item{
		{Message: llm.TextMessage(llm.User, "do it")},
		{Message: llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{call}}},
		{Message: history.Result("1", "ok")},
	})
	for name, r := range map[string]*record.Record{"live": &live, "resumed": &p.Record} {
		doc := r.Page()().Doc
		if doc := pager.New(pager.Page{Doc: doc}, p.Look); !strings.Contains(strings.Join(doc.View(), "\n"), "echo THE-END") {
			t.Errorf("%s: %q", name, doc.View())
		}
	}
}

// The full conversation has the marks of the screen.
func TestRecordHasTheMarks(t *testing.T) {
	p := newPrinting(t, 70, 40)
	fill(p)
	doc := p.Record.Page()().Doc
	var all []string
	for i := range doc.Len() {
		all = append(all, doc.Rows(i, p.Look)...)
	}
	for _, want := range []string{"● read a.go", "✗ run ls", "○ edit a.go"} {
		if !slices.Contains(all, want) {
			t.Errorf("no %q in %q", want, all)
		}
	}
}

// A prompt of any length takes at most a screenful of scrollback.
func TestLongPromptsAreCut(t *testing.T) {
	for _, c := range []struct {
		text  string
		lines int
		more  int
	}{
		{"one\ntwo", 2, 0},
		{strings.Repeat("line\n", 100), saidLines, 71},
		{strings.Repeat(strings.Repeat("x", 1000)+"\n", 20), 8, 13},
		{strings.Repeat("漢", 10_000), 1, 1},
		{"", 1, 0},
	} {
		head, more := beginning(c.text)
		if n := 1 + strings.Count(head, "\n"); n != c.lines || more != c.more || len(head) > saidBytes || !utf8.ValidString(head) {
			t.Errorf("%.20q: %d lines, %d more", c.text, n, more)
		}
	}
	p := newPrinting(t, 40, 10)
	p.Prompt(strings.Repeat("line\n", 100))
	p.Screen.Flush()
	p.term.WaitFor(`… 70 more lines, F4`)
}
