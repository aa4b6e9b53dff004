package record_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/golden"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl/keys/keystest"
	"github.com/bb2d0cf4/agent/internal/repl/pager"
	"github.com/bb2d0cf4/agent/internal/repl/record"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

func look(width int) theme.Look {
	l := theme.New(theme.Auto, true)
	l.Width, l.Height = width, 30
	return l
}

// text returns all rows of a page.
func text(p pager.Page) string {
	var rows []string
	for i := range p.Doc.Len() {
		rows = append(rows, p.Doc.Rows(i, look(40))...)
	}
	return strings.Join(rows, "\n")
}

func TestPage(t *testing.T) {
	var r record.Record
	r.Prompt("do it\nplease \x1b[2J")
	r.Thought("They want it.\nI *do* it.\x1b[2J", true)
	r.Answer("I *will*:\n\n- one")
	r.Call(record.Call{Title: "Run make", Output: "exit code: 0\nmade\n"})
	r.Call(record.Call{Title: "Edit a.txt", Diffs: []string{"--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n"}})
	want := "\n❯ do it\n  please \\u{1b}[2J\n\nThe model thought:\nThey want it.\nI *do* it.\n\nI *will*:\n\n- one\n\n● Run make\nexit code: 0\nmade\n" +
		"\n● Edit a.txt\nedit a.txt +1 −1\n 1 - one\n 1 + two"
	p := r.Page()()
	if d := cmp.Diff(want, text(p)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want, text(p)); d != "" {
		t.Error("laid out again:", d)
	}
	r.Reset()
	if got := text(r.Page()()); got != "" {
		t.Errorf("after Reset: %q", got)
	}
}

func TestPageOpensAtFoldedOutput(t *testing.T) {
	var r record.Record
	if p := r.Page()(); p.At != -1 {
		t.Errorf("nothing was folded, and it opens at %d", p.At)
	}
	r.Call(record.Call{Title: "first", Output: "1", Folded: true})
	r.Call(record.Call{Title: "second", Output: "2\n3", Folded: true})
	r.Call(record.Call{Title: "third", Output: "3"})
	r.Answer("done")
	p := r.Page()()
	v := pager.New(p, look(40)).View()
	if p.At < 0 || !strings.Contains(p.Doc.Text(p.At+1), "second") {
		t.Errorf("opens at line %d: %q", p.At, v)
	}
}

func TestWholeOutputFromItsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out")
	scratch.Write(t, file, "all of it\n")
	var r record.Record
	r.Call(record.Call{Title: "a", Output: "a part", File: file})
	if got := text(r.Page()()); !strings.Contains(got, "all of it") || strings.Contains(got, "a part") {
		t.Errorf("shows %q", got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	op := "stat"
	if runtime.GOOS == "windows" {
		op = "GetFileAttributesEx"
	}
	if got := text(r.Page()()); !strings.Contains(got, "a part") || !strings.Contains(got, "full output: "+op) {
		t.Errorf("without the file it shows %q", got)
	}
	scratch.Write(t, file, "")
	if err := os.Truncate(file, 65<<20); err != nil {
		t.Fatal(err)
	}
	if got := text(r.Page()()); !strings.Contains(got, "a part") || !strings.Contains(got, "too large") {
		t.Errorf("of a file that is too large it shows %.200q", got)
	}
}

func title(c llm.ToolCall) string { return c.Name + " " + c.Args }

func TestFromHistory(t *testing.T) {
	msgs := []llm.Message{
		{Role: llm.System, Parts: []llm.Part{{Kind: llm.TextPart, Text: "be good"}}},
		{Role: llm.User, Parts: []llm.Part{{Kind: llm.TextPart, Text: "hello"}, {Kind: llm.TextPart, Text: "\n\na.txt changed", Aside: true}}},
		{Role: llm.Assistant, Parts: []llm.Part{{Kind: llm.TextPart, Text: "I look."}}, Calls: []llm.ToolCall{
			{ID: "1", Name: "read_file", Args: `{"path":"a.txt"}`}, {ID: "2", Name: "todo", Args: `{`}, {ID: "3", Name: "todo", Args: `{"path":7}`},
		}},
		{Role: llm.ToolReply, CallID: "1", Parts: []llm.Part{{Kind: llm.TextPart, Text: "1 | a"}}},
		{Role: llm.ToolReply, CallID: "2", Parts: []llm.Part{{Kind: llm.TextPart, Text: "no"}}},
		{Role: llm.Assistant},
	}
	items := make([]history.Item, len(msgs))
	for i, m := range msgs {
		items[i].Message = m
	}
	r := record.FromHistory(items, title)
	want := "\nSent to the model with this prompt:\na.txt changed\n\n❯ hello\n\nI look.\n\n● read_file {\"path\":\"a.txt\"}\n1 | a\n\n● todo {\nno"
	if d := cmp.Diff(want, text(r.Page()())); d != "" {
		t.Error(d)
	}
}

func TestBounded(t *testing.T) {
	var r record.Record
	for i := range 30 {
		r.Call(record.Call{Title: fmt.Sprintf("call %d.", i), Output: strings.Repeat("x", 1<<20-100)})
	}
	p := r.Page()()
	size := 0
	for i := range p.Doc.Len() {
		size += len(p.Doc.Text(i))
	}
	if size < 7<<20 || size > 8<<20 {
		t.Errorf("%d bytes are kept", size)
	}
	if got := p.Doc.Text(0); !strings.Contains(got, "22 earlier entries") {
		t.Errorf("begins with %q", got)
	}
	r.Answer(strings.Repeat("y", 9<<20))
	if got := r.Page()().Doc.Text(0); !strings.Contains(got, "30 earlier entries") {
		t.Errorf("after a huge one it begins with %q", got)
	}
}

// The pager's view of a conversation.
func TestGolden(t *testing.T) {
	var r record.Record
	r.Prompt("make the greeting polite, please, and run the tests of the whole module when that is done")
	r.Answer("I change **two** lines:\n\n| file | lines |\n|---|---|\n| `main.go` | 2 |\n\n```go\nfmt.Println(\"good day\")\n```")
	r.Call(record.Call{Title: "Edit main.go", Output: "Wrote main.go: 1 added, 1 removed (lines).", Diffs: []string{
		"diff --git a/main.go b/main.go\n--- a/main.go\n+++ b/main.go\n@@ -1,3 +1,3 @@\n func main() {\n-\tfmt.Println(\"hello\")\n+\tfmt.Println(\"good day\")\n }\n",
	}})
	r.Call(record.Call{Title: "Run go test ./...", Output: "exit code: 1\n\x1b[31m--- FAIL: TestGreeting\x1b[0m\n" + strings.Repeat("    a line of the failure, which is rather long, so that it is wrapped where there is little room\n", 4), Folded: true, State: record.Failed})
	for _, width := range []int{40, 80, 120, 200} {
		l := theme.New(theme.Auto, false)
		l.Width, l.Height = width, 24
		page := r.Page()()
		page.At = 0
		v := pager.New(page, l)
		lines := v.View()
		v.Press(keystest.Key("]"))
		v.Press(keystest.Key("]"))
		v.Press(keystest.Key("]"))
		golden.Lines(t, fmt.Sprintf("record-%d", width), append(lines, v.View()...))
	}
}

// The page of a resumed session has the whole conversation of a sub-agent.
func TestPageOfASubAgent(t *testing.T) {
	answer := llm.TextMessage(llm.Assistant, "I look.")
	answer.Calls = []llm.ToolCall{{ID: "1", Name: "read_file", Args: `{"path":"a.go"}`}}
	inner := []llm.Message{llm.TextMessage(llm.User, "find it"), answer, history.Result("1", "found"), llm.TextMessage(llm.Assistant, "In a.go.")}
	outer := llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "x", Name: "task", Args: `{"description":"find it"}`}}}
	r := record.FromHistory([]history.Item{
		{Message: llm.TextMessage(llm.User, "go")},
		{Message: outer},
		{Message: history.Result("x", "In a.go."), Meta: history.Meta{Task: history.NewTask(inner, nil, nil)}},
	}, title)
	want := "\n❯ go\n\n● task {\"description\":\"find it\"}\n❯ find it\n\nI look.\n\n● read_file {\"path\":\"a.go\"}\nfound\n\nIn a.go."
	if d := cmp.Diff(want, strings.TrimRight(text(r.Page()()), "\n")); d != "" {
		t.Error(d)
	}
}

// The pager marks how each call ended, also those of sub-agents.
func TestPageMarksHowCallsEnded(t *testing.T) {
	calls := llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{
		{ID: "1", Name: "one"}, {ID: "2", Name: "two"}, {ID: "3", Name: "three"}, {ID: "4", Name: "four"},
	}}
	reply := func(id string, meta history.Meta) history.Item {
		return history.Item{Message: history.Result(id, "said"), Meta: meta}
	}
	inner := []llm.Message{calls, history.Result("1", "said"), history.Result("2", "said"), history.Result("3", "said")}
	r := record.FromHistory([]history.Item{
		{Message: calls},
		reply("1", history.Meta{Failed: true}),
		reply("2", history.Meta{Failed: true, Deed: &history.Deed{Refused: true, Failed: true}}),
		reply("3", history.Meta{Failed: true, Deed: &history.Deed{Failed: true}}),
		reply("4", history.Meta{Task: history.NewTask(inner, []string{"2"}, []string{"3"})}),
	}, func(c llm.ToolCall) string { return c.Name })
	r.Call(record.Call{Title: "live", State: record.StateOf(true, false)})
	want := "\n✗ one\nsaid\n\n○ two\nsaid\n\n✗ three\nsaid\n\n● four\n● one\nsaid\n\n✗ two\nsaid\n\n○ three\nsaid\n\n✗ live"
	if d := cmp.Diff(want, text(r.Page()())); d != "" {
		t.Error(d)
	}
}
