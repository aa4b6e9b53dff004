//go:build unix

package printer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

func TestHistory(t *testing.T) {
	p := newPrinting(t, 60, 20)
	long := strings.Repeat("x", historyBytes)
	calls := []llm.ToolCall{{ID: "1", Name: "read_file", Args: `{"path":"a.go"}`}, {ID: "2", Name: "edit_file"}, {ID: "3", Name: "execute_command", Args: "make"}, {ID: "4", Name: "execute_command", Args: "sleep 9"}}
	p.Title = func(c llm.ToolCall) (line, whole string) {
		line = strings.TrimSpace("the " + c.Name + " " + c.Args)
		return line, line
	}
	p.History([]history.Item{
		{Message: llm.TextMessage(llm.User, "too long ago")},
		{Message: llm.TextMessage(llm.Assistant, "Done.")},
		{Message: llm.TextMessage(llm.User, "write much")},
		{Message: llm.TextMessage(llm.Assistant, long)},
		{Message: llm.TextMessage(llm.User, "go on")},
		{Message: llm.Message{Role: llm.Assistant, Parts: llm.TextMessage(llm.Assistant, "I *look*.").Parts, Calls: calls}},
		{Message: llm.Message{Role: llm.ToolReply, CallID: "1"}},
		{Message: llm.Message{Role: llm.ToolReply, CallID: "2"}, Meta: history.Meta{Deed: &history.Deed{
			What: "Edit a.go", Result: "+1 −1",
			Files: []history.File{{Path: "a.go", Added: 1, Removed: 1, Diff: "--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-one\n+two\n"}},
		}}},
		{Message: llm.Message{Role: llm.ToolReply, CallID: "3"}, Meta: history.Meta{Deed: &history.Deed{What: "Run make", Result: "declined: not now", Refused: true}}},
		{Message: llm.Message{Role: llm.ToolReply, CallID: "4"}, Meta: history.Meta{Deed: &history.Deed{What: "Call execute_command {}", Result: "its effect is unknown", Failed: true}}},
	})
	rows := p.rows()
	if got := strings.Join(rows[:2], " "); got != "Session resumed: 10 messages, the last 8 shown here; F4 shows everything." {
		t.Errorf("%q", got)
	}
	want := []string{
		"", "❯ go on", "", "I *look*.", `· the read_file {"path":"a.go"}`,
		"", "● the edit_file · +1 −1", " 1    - one", "    1 + two", "○ the execute_command make · declined: not now",
		"✗ the execute_command sleep 9 · its effect is unknown",
	}
	if d := cmp.Diff(want, rows[len(rows)-len(want):]); d != "" {
		t.Error(d)
	}
}

func calling(text string, ids ...string) history.Item {
	m := llm.TextMessage(llm.Assistant, text)
	for _, id := range ids {
		m.Calls = append(m.Calls, llm.ToolCall{ID: id, Name: "read_file", Args: id})
	}
	return history.Item{Message: m}
}

// The results of reads are not printed, so their size must not push the rest out.
func TestHistoryCountsWhatItPrints(t *testing.T) {
	p := newPrinting(t, 60, 20)
	big := strings.Repeat("x", 10*historyBytes)
	p.History([]history.Item{
		{Message: llm.TextMessage(llm.User, "look and change it")},
		calling("The important answer.", "1", "2"),
		{Message: history.Result("1", big)},
		{Message: history.Result("2", big), Meta: history.Meta{Deed: &history.Deed{
			Result: "+1 −1", Files: []history.File{{Path: "a.go", Diff: "--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-one\n+two\n"}},
		}}},
		calling("", "3", "4"),
		{Message: history.Result("3", big)},
		{Message: history.Result("4", big)},
		{Message: llm.TextMessage(llm.Assistant, "All done.")},
	})
	want := []string{
		"Session resumed: 8 messages; F4 shows everything.",
		"", "❯ look and change it", "", "The important answer.", "· read_file",
		"", "● read_file · +1 −1", " 1    - one", "    1 + two", "· read_file", "· read_file", "", "All done.",
	}
	if d := cmp.Diff(want, p.rows()); d != "" {
		t.Error(d)
	}
}

// A turn of any length begins with its prompt, and prints a bounded number of its messages.
func TestHistoryOfALongTurn(t *testing.T) {
	p := newPrinting(t, 60, 20)
	items := []history.Item{{Message: llm.TextMessage(llm.User, "work all night")}}
	const steps = 100
	for i := range steps {
		items = append(items, calling(fmt.Sprintf("Step %d. %s", i, strings.Repeat("word ", 100)), fmt.Sprint(i)), history.Item{Message: history.Result(fmt.Sprint(i), "ok")})
	}
	p.History(items)
	rows := p.rows()
	text := strings.Join(rows, "\n")
	if !strings.Contains(text, "\n❯ work all night\n\n  … 16") || strings.Contains(text, "Step 0.") || !strings.Contains(text, "Step 99.") {
		t.Errorf("%s", text)
	}
}

// A failed call without an effect has no deed.
func TestHistoryShowsFailures(t *testing.T) {
	p := newPrinting(t, 60, 20)
	p.Title = func(llm.ToolCall) (line, whole string) { return "Edit b.txt", "Edit b.txt" }
	p.History([]history.Item{
		{Message: llm.TextMessage(llm.User, "change it")},
		calling("", "1"),
		{Message: history.Result("1", "b.txt changed: nothing was written.\nRead it again."), Meta: history.Meta{Failed: true}},
	})
	want := []string{"", "❯ change it", "", "✗ Edit b.txt · b.txt changed: nothing was written."}
	if d := cmp.Diff(want, p.rows()[1:]); d != "" {
		t.Error(d)
	}
}
