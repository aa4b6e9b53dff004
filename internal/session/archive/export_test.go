package archive

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// exampleSession is a session with a compaction, a pin and a rewind.
func exampleSession(t *testing.T) Conversation {
	t.Helper()
	chat := &history.Transcript{}
	var c Conversation
	add := func(e history.Entry, err error) {
		if err != nil {
			t.Fatal(err)
		}
		c.Entries = append(c.Entries, e)
	}
	msgs := sample()
	msgs[3].Parts[0].Text = "```go\nx\n```"
	for i, m := range msgs {
		it := history.Item{Message: m}
		if i == 3 {
			it.Deed = &history.Deed{What: "Run x", Result: "exit 1"}
		}
		add(chat.Append(it))
	}
	add(chat.Act(history.Deed{What: "Undo x.go", Result: "taken back"}))
	add(chat.Pin(1, true))
	add(chat.Compact(history.Compaction{Before: 5, Last: 5, Text: "# all of it", Summary: "the\nnotes"}), nil)
	at := history.Meta{At: time.Unix(60, 0).UTC()}
	add(chat.Append(history.Item{Message: llm.TextMessage(llm.User, "wrong"), Meta: at}))
	add(chat.Rewind(6))
	add(chat.Append(history.Item{Message: llm.TextMessage(llm.User, "right")}))
	c.Usage = llm.Usage{Input: 10, Output: 2}
	return c
}

var aboutIt = Info{ID: "abc", From: "xyz", Dir: "/p", Title: "Fix it", Branch: "main", Created: time.Unix(0, 0).UTC()}

func TestExport(t *testing.T) {
	var b strings.Builder
	if err := Export(&b, aboutIt, exampleSession(t)); err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, want := range []string{
		"# Fix it\n", "Session `abc`, begun 1970-01-01T00:00:00Z in `/p` with an unknown model.",
		"## You\n\nFix the <test>", "## Model\n\nI read.\n", "**Call** `read`\n\n```json\n{\"p\":\"<x>\"}\n```",
		"````\n```go\nx\n```\n````", "## Model\n\nDone.", "**Without the model**\n\n```\nUndo x.go\ntaken back\n```", "**Compacted**", "> the\n> notes\n", "## You\n\nright",
	} {
		i := strings.Index(b.String()[at:], want)
		if i < 0 {
			t.Fatalf("no %q behind what is before it in\n%s", want, b.String())
		}
		at += i
	}
	if strings.Contains(b.String(), "wrong") {
		t.Error("what was taken back is exported")
	}
}

// A command is exported as it is run, and other arguments without escapes for HTML.
func TestCallsAreExportedReadably(t *testing.T) {
	for _, tt := range []struct{ name, args, want string }{
		{"execute_command", `{"command":"make \u003eout 2\u003e\u00261 \u0026\u0026 echo \"done\"\n# end"}`, "```sh\nmake >out 2>&1 && echo \"done\"\n# end\n```"},
		{"execute_command", `{"command":"echo ${a:-<b>}","timeout":9,"cwd":"a&b"}`, "```sh\necho ${a:-<b>}\n```\n\n```json\n{\"cwd\":\"a&b\",\"timeout\":9}\n```"},
		{"execute_command", `{"kill":"1"}`, "```json\n{\"kill\":\"1\"}\n```"},
		{"execute_command", `{"command":7}`, "```json\n{\"command\":7}\n```"},
		{"write_file", `{"text":"a \u003C\u0026\u003e \\u003c \\\u003c é \u00e9 \t"}`, "```json\n{\"text\":\"a <&> \\\\u003c \\\\< é \\u00e9 \\t\"}\n```"},
		{"broken", `{"a\`, "```json\n{\"a\\\n```"},
	} {
		if d := cmp.Diff(tt.want, readable(llm.ToolCall{Name: tt.name, Args: tt.args})); d != "" {
			t.Errorf("%s: %s", tt.args, d)
		}
	}
}

func TestExportJSON(t *testing.T) {
	var b strings.Builder
	if err := ExportJSON(&b, aboutIt, exampleSession(t)); err != nil {
		t.Fatal(err)
	}
	var got exported
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got.ID != "abc" || got.From != "xyz" || got.Branch != "main" || got.Usage.Input != 10 || len(got.Entries) != 9 {
		t.Fatalf("%s", b.String())
	}
	at := time.Unix(60, 0).UTC()
	want := map[int]exportedEntry{
		0: {Kind: "message", N: 1, Role: "user", Text: sample()[0].Text(), Pinned: true},
		3: {Kind: "message", N: 4, Role: "tool", Text: "```go\nx\n```", CallID: "b", Did: &history.Deed{What: "Run x", Result: "exit 1"}},
		5: {Kind: "act", N: 5, Did: &history.Deed{What: "Undo x.go", Result: "taken back"}},
		6: {Kind: "compaction", Before: 5, Summary: "the\nnotes"},
		7: {Kind: "message", N: 6, Role: "user", Text: "wrong", At: &at, Gone: true},
		8: {Kind: "message", N: 7, Role: "user", Text: "right"},
	}
	for i, e := range want {
		if diff := cmp.Diff(e, got.Entries[i]); diff != "" {
			t.Errorf("entry %d:\n%s", i, diff)
		}
	}
	if c := got.Entries[1].Calls; len(c) != 2 || string(c[0].Args) != `{"p":"<x>"}` && !strings.Contains(string(c[0].Args), `"<x>"`) {
		t.Errorf("calls %+v", c)
	}
}

func TestExportJSONOfNothing(t *testing.T) {
	var b strings.Builder
	if err := ExportJSON(&b, Info{}, Conversation{}); err != nil || !strings.Contains(b.String(), `"entries": []`) {
		t.Error(b.String(), err)
	}
}

// The page holds everything, escaped, and needs and runs nothing else.
func TestExportHTML(t *testing.T) {
	conv := exampleSession(t)
	const evil = `<script>alert(1)</script><img src=x onerror=alert(2)>`
	for i := range conv.Entries {
		if it := conv.Entries[i].Item; it != nil && it.Deed != nil {
			it.Deed.Files = []history.File{{Path: "a.go" + evil, Added: 1, Removed: 1, Diff: "--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-old " + evil + "\n+new\n"}}
			it.Task = history.NewTask([]llm.Message{llm.TextMessage(llm.User, "look at "+evil)}, nil, nil)
		}
	}
	about := aboutIt
	about.Title += evil
	var b strings.Builder
	if err := ExportHTML(&b, about, conv); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{
		"<title>Fix it&lt;script", "Fix the &lt;test&gt;", "I read.", "Call read", "Run x · exit 1", `<span class="del">-old &lt;script&gt;`, `<span class="add">&#43;new`, "+1 −1",
		"look at &lt;script", "Undo x.go", "the\nnotes", "right", "default-src &#39;none&#39;",
	} {
		if !strings.Contains(page, want) && !strings.Contains(page, strings.ReplaceAll(want, "&#39;", "'")) {
			t.Errorf("%q is missing", want)
		}
	}
	for _, bad := range []string{"<script", "<img", "wrong", "href=", "src=\"", "http"} {
		if at := strings.Index(strings.ReplaceAll(page, "http-equiv", ""), bad); at >= 0 {
			t.Errorf("%q is in the page", bad)
		}
	}
}
