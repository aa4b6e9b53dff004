package client_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
)

// review opens a diff, lets act answer it and returns the outcome.
func review(t *testing.T, d idetest.Dialect, text string, act func(*idetest.Editor, *idetest.Diff)) (client.DiffOutcome, error) {
	t.Helper()
	e := idetest.Start(t, d)
	c := connect(t, e)
	go func() { act(e, e.NextDiff()) }()
	return c.Diffs.Open(t.Context(), request(c, text))
}

// answers lets the editor answer with items.
func answers(items ...string) func(*idetest.Editor, *idetest.Diff) {
	return func(_ *idetest.Editor, d *idetest.Diff) { d.Answer(idetest.Text(items...)) }
}

func accept(_ *idetest.Editor, d *idetest.Diff)  { d.Accept() }
func reject(_ *idetest.Editor, d *idetest.Diff)  { d.Reject() }
func dismiss(_ *idetest.Editor, d *idetest.Diff) { d.Dismiss() }

// TestVerdicts are the ordinary answers of every editor.
func TestVerdicts(t *testing.T) {
	edit := func(_ *idetest.Editor, d *idetest.Diff) {
		d.Edit("edited\n")
		d.Accept()
	}
	type want = client.DiffOutcome
	for _, c := range []struct {
		dialect idetest.Dialect
		name    string
		act     func(*idetest.Editor, *idetest.Diff)
		want    want
	}{
		{idetest.Ours(), "accept", accept, want{Kind: client.Accepted, Text: "new\n", Reason: "button"}},
		{idetest.Ours(), "edit", edit, want{Kind: client.Accepted, Text: "edited\n", Edited: true, Reason: "button"}},
		{idetest.Ours(), "reject", reject, want{Kind: client.Rejected, Reason: "button"}},
		{idetest.Neovim(), "accept", accept, want{Kind: client.Accepted, Text: "new\n"}},
		{idetest.Neovim(), "edit", edit, want{Kind: client.Accepted, Text: "edited\n", Edited: true}},
		{idetest.Neovim(), "reject", reject, want{Kind: client.Rejected}},
		{idetest.Neovim(), "close", dismiss, want{Kind: client.Rejected}},
		{idetest.Emacs(), "accept", accept, want{Kind: client.Accepted, Text: "new\n"}},
		{idetest.Emacs(), "reject", reject, want{Kind: client.Rejected}},
		{idetest.JetBrains(), "accept", accept, want{Kind: client.Accepted, Text: "new\n"}},
		{idetest.JetBrains(), "reject", answers("DIFF_REJECTED"), want{Kind: client.Rejected}},
		{idetest.JetBrains(), "close", dismiss, want{Reason: "the tab was closed"}},
		{idetest.Nexus3(), "accept", accept, want{Kind: client.AlreadyWritten, Text: "new\n"}},
		{idetest.Nexus3(), "reject", reject, want{Kind: client.Rejected}},
		{idetest.Neovim(), "nonsense", answers("SAVED"), want{Reason: "the editor gave no clear answer"}},
		{idetest.Neovim(), "nothing", answers(), want{Reason: "the editor gave no clear answer"}},
		{idetest.Neovim(), "lower case", answers("file_saved", "x"), want{Reason: "the editor gave no clear answer"}},
	} {
		t.Run(c.dialect.Name+"/"+c.name, func(t *testing.T) {
			got, err := review(t, c.dialect, "new\n", c.act)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestReasons: if an editor gives reasons, only a person's action decides.
func TestReasons(t *testing.T) {
	for _, c := range []struct {
		items []string
		want  client.Kind
	}{
		{[]string{"FILE_SAVED", "t", `{"outcome":"accepted","reason":"button"}`}, client.Accepted},
		{[]string{"FILE_SAVED", "t", `{"outcome":"accepted","reason":"command","diffId":"d1"}`}, client.Accepted},
		{[]string{"FILE_SAVED", "t", `{"outcome":"accepted","reason":"save"}`}, client.Accepted},
		{[]string{"DIFF_REJECTED", "tab", `{"outcome":"rejected","reason":"tab_closed"}`}, client.Rejected},
		{[]string{"DIFF_REJECTED", `{"outcome":"rejected","reason":"button"}`}, client.Rejected},
		{[]string{"FILE_SAVED", "t", `{"outcome":"accepted","reason":"tab_closed"}`}, client.Undecided},
		{[]string{"FILE_SAVED", "t", `{"outcome":"accepted","reason":"terminal"}`}, client.Undecided},
		{[]string{"FILE_SAVED", "t", `{"outcome":"accepted","reason":"superseded"}`}, client.Undecided},
		{[]string{"FILE_SAVED", "t", `{"outcome":"accepted","reason":"Button"}`}, client.Undecided},
		{[]string{"FILE_SAVED", "t", `{"outcome":"accepted"}`}, client.Undecided},
		{[]string{"FILE_SAVED", "t", `{"outcome":"rejected","reason":"button"}`}, client.Undecided},
		{[]string{"FILE_SAVED", "t", `{"outcome":"accepted","reason":"button","diffId":"d2"}`}, client.Undecided},
		{[]string{"FILE_SAVED", "t", `{"reason":"button","reason":"button","outcome":"accepted"}`}, client.Undecided},
		{[]string{"FILE_SAVED", "t", "not json"}, client.Undecided},
		{[]string{"FILE_SAVED", "t"}, client.Undecided},
		{[]string{"FILE_SAVED"}, client.Undecided},
		{[]string{"FILE_SAVED", `{"outcome":"accepted","reason":"button"}`}, client.Undecided},
		{[]string{"FILE_SAVED", "t", "x", `{"outcome":"accepted","reason":"button"}`}, client.Undecided},
		{[]string{"DIFF_REJECTED", "tab", `{"outcome":"rejected","reason":"timeout"}`}, client.Undecided},
		{[]string{"DIFF_REJECTED", "tab", `{"outcome":"accepted","reason":"button"}`}, client.Undecided},
		{[]string{"DIFF_REJECTED", "tab"}, client.Undecided},
		{[]string{"TAB_CLOSED", `{"outcome":"closed","reason":"aborted"}`}, client.Undecided},
		{[]string{"TAB_CLOSED", `{"outcome":"accepted","reason":"button"}`}, client.Undecided},
		{nil, client.Undecided},
	} {
		t.Run(strings.Join(c.items, " "), func(t *testing.T) {
			got, err := review(t, idetest.Ours(), "t", answers(c.items...))
			if err != nil || got.Kind != c.want {
				t.Errorf("%+v, %v, want %d", got, err, c.want)
			}
		})
	}
}

// TestReviewersWords holds that feedback and comments come with a verdict.
func TestReviewersWords(t *testing.T) {
	words := map[string]any{"feedback": "keep the name", "comments": []any{
		map[string]any{"side": "modified", "startLine": 3, "endLine": 2, "quote": "q", "text": "t"},
		map[string]any{"side": "original", "startLine": 1, "text": "o"},
		map[string]any{"startLine": 0, "text": "nowhere"},
		map[string]any{"startLine": 1, "text": ""},
	}}
	want := client.DiffOutcome{Kind: client.Rejected, Reason: "button", Feedback: "keep the name", Comments: []client.Comment{
		{StartLine: 3, EndLine: 3, Quote: "q", Text: "t"}, {Original: true, StartLine: 1, EndLine: 1, Text: "o"},
	}}
	got, err := review(t, idetest.Ours(), "x", func(_ *idetest.Editor, d *idetest.Diff) { d.RejectWith(words) })
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	flood := make([]any, 5000)
	for i := range flood {
		flood[i] = map[string]any{"startLine": 1, "text": strings.Repeat("x", 5000)}
	}
	got, err = review(t, idetest.Ours(), "x", func(_ *idetest.Editor, d *idetest.Diff) {
		d.AcceptWith(map[string]any{"feedback": strings.Repeat("é", 20_000), "comments": flood})
	})
	if err != nil || len(got.Feedback) > 17<<10 || len(got.Comments) > 200 || len(got.Comments[0].Text) > 3<<10 {
		t.Errorf("%v: %d bytes of feedback, %d comments", err, len(got.Feedback), len(got.Comments))
	}
}

// TestRefusals holds that an editor that cannot show a diff decides nothing.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name  string
		reply idetest.Reply
		want  client.ToolError
		none  bool
	}{
		{"dirty, ours", idetest.Refuse("DIRTY_DOCUMENT", "unsaved"), client.ToolError{Code: client.CodeDirty, Message: "unsaved"}, false},
		{"busy, as text", idetest.Text(`{"code":"BUSY"}`), client.ToolError{}, false},
		{"neovim", idetest.Reply{Error: &idetest.Error{Code: -32000, Message: "Server error", Data: "has unsaved changes"}}, client.ToolError{RPC: -32000, Message: "has unsaved changes"}, false},
		{"emacs", idetest.Refusef(-32603, "diff failed"), client.ToolError{RPC: -32603, Message: "diff failed"}, false},
		{"aborted", idetest.Reply{Error: &idetest.Error{Code: -32001, Message: "gone", Data: map[string]any{"code": "ABORTED"}}}, client.ToolError{RPC: -32001, Code: "ABORTED", Message: "gone"}, false},
		{"in disguise", idetest.Reply{Result: map[string]any{"code": -32602, "message": "Invalid params", "data": "no tab"}}, client.ToolError{Message: "no tab"}, false},
		{"no such method", idetest.Refusef(-32601, "Tool not found: openDiff"), client.ToolError{RPC: -32601, Message: "Tool not found: openDiff"}, true},
		{"unknown tool", idetest.Refusef(-32602, "Unknown tool: openDiff"), client.ToolError{RPC: -32602, Message: "Unknown tool: openDiff"}, true},
		{"tool not found, as result", idetest.Refuse("", "MCP error -32602: Tool openDiff not found"), client.ToolError{Message: "MCP error -32602: Tool openDiff not found"}, true},
		{"nothing", idetest.Reply{Result: map[string]any{}}, client.ToolError{Message: "it gave no reason"}, false},
		{"null", idetest.Reply{}, client.ToolError{Message: "it gave no reason"}, false},
		{"a list", idetest.Reply{Result: []any{}}, client.ToolError{Message: "its answer cannot be read"}, false},
		{"half a character", idetest.Reply{Result: json.RawMessage(`{"content":[{"type":"text","text":"FILE_SAVED"},{"type":"text","text":"\ud800"}]}`)}, client.ToolError{Message: "its answer cannot be read"}, false},
		{"twice", idetest.Reply{Result: json.RawMessage(`{"content":[],"content":[{"type":"text","text":"FILE_SAVED"}]}`)}, client.ToolError{Message: "its answer cannot be read"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := review(t, idetest.Ours(), "x", func(_ *idetest.Editor, d *idetest.Diff) { d.Answer(c.reply) })
			if got.Kind != client.Undecided {
				t.Fatalf("it decided: %+v", got)
			}
			if c.want == (client.ToolError{}) {
				return
			}
			var refused *client.ToolError
			if !errors.As(err, &refused) {
				t.Fatalf("error: %v", err)
			}
			if refused.Code != c.want.Code || refused.RPC != c.want.RPC || refused.Message != c.want.Message {
				t.Errorf("%+v, want %+v", refused, c.want)
			}
			if errors.Is(err, client.ErrUnsupported) != c.none {
				t.Errorf("unsupported: %t", !c.none)
			}
		})
	}
}

// TestFidelity holds that a text that went through an editor untouched is the
// text that is written, whatever the editor does to newlines at its end.
func TestFidelity(t *testing.T) {
	e := idetest.Start(t, idetest.Neovim())
	c := connect(t, e)
	ours := idetest.Start(t, idetest.Ours())
	ourClient := connect(t, ours)
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(
			rapid.String(),
			rapid.SampledFrom([]string{"", "\n", "\n\n", "a", "a\r\n", "a\r\nb", "\ufeffa\n", "\u2028\f\x00\r", "e\u0301漢😀"}),
		).Draw(rt, "text")
		returned := rapid.SampledFrom([]string{text, text + "\n", strings.TrimSuffix(text, "\n"), text + "\r\n"}).Draw(rt, "returned")
		go func() { e.NextDiff().Answer(idetest.Text("FILE_SAVED", returned)) }()
		got, err := c.Diffs.Open(t.Context(), request(c, text))
		want := text
		if blankLines(text) != blankLines(returned) {
			want = returned // a person has added or deleted a blank line at the end
		}
		if err != nil || got.Kind != client.Accepted || unix(got.Text) != unix(want) || got.Edited != (want != text) || want == text && got.Text != text {
			rt.Fatalf("%q came back as %q: %+v, %v", text, returned, got, err)
		}
		// Ours keeps every byte: there a person can remove the last newline.
		go func() {
			ours.NextDiff().Answer(idetest.Text("FILE_SAVED", returned, `{"outcome":"accepted","reason":"save"}`))
		}()
		got, err = ourClient.Diffs.Open(t.Context(), request(ourClient, text))
		if err != nil || got.Text != returned || got.Edited != (returned != text) {
			rt.Fatalf("ours: %q, %q: %+v, %v", text, returned, got, err)
		}
	})
}

// blankLines counts the blank lines at the end of a text.
func blankLines(s string) int {
	s = unix(s)
	return max(1, len(s)-len(strings.TrimRight(s, "\n"))) - 1
}

// unix is s with plain line endings, and without half an ending.
func unix(s string) string { return strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\r") }

// TestLineEndings holds that editors other than ours are shown the lines of a file
// as they show those of the file itself, and that its endings come back.
func TestLineEndings(t *testing.T) {
	for _, c := range []struct {
		dialect                            idetest.Dialect
		base, text, shown, answer, written string
	}{
		{idetest.Neovim(), "a\r\nb\r\n", "a\r\nX\r\nb\r\n", "a\nX\nb\n", "a\nX\nY\nb\n", "a\r\nX\r\nY\r\nb\r\n"},
		{idetest.Neovim(), "a\r\nb\r\n", "a\r\nX\r\nb\r\n", "a\nX\nb\n", "a\nX\nb\n", "a\r\nX\r\nb\r\n"},
		{idetest.Neovim(), "", "a\r\nb\r\n", "a\nb\n", "a\nb\n", "a\r\nb\r\n"},
		{idetest.Neovim(), "a\r\n", "x", "x", "x\ny\n", "x\r\ny"},
		{idetest.Neovim(), "a\r\n", "a\r\nb\n", "a\r\nb\n", "a\r\nb\nc\n", "a\r\nb\nc\n"}, // mixed: shown as it is
		{idetest.Neovim(), "a\n", "a\r\nb\n", "a\r\nb\n", "a\nb\n", "a\nb\n"},             // the CR was deleted
		{idetest.Neovim(), "a\n", "a\r\n", "a\r\n", "a\r\n", "a\r\n"},                     // the endings are the change
		{idetest.Neovim(), "a\rb\r", "a\rX\r", "a\rX\r", "a\rX\r\n", "a\rX\r"},
		{idetest.Neovim(), "a\n", "a\nb\n\n\n", "a\nb\n\n\n", "a\nb\n", "a\nb\n"}, // deleted blank lines stay deleted
		{idetest.Neovim(), "a\n", "a\nb\n\n", "a\nb\n\n", "a\nb\n", "a\nb\n"},
		{idetest.Neovim(), "a\n", "a\nb", "a\nb", "a\nc\n", "a\nc"}, // Neovim adds the newline
		{idetest.Emacs(), "a\r\n", "a\r\nb\r\n", "a\nb\n", "a\nb\nc\n", "a\r\nb\r\nc\r\n"},
		{idetest.Emacs(), "a\rb\r", "a\rX\r", "a\nX\n", "a\nY\n", "a\rY\r"},
		{idetest.Emacs(), "a\n", "a\nb\n", "a\nb\n", "a\nb", "a\nb"}, // Emacs returns the text unchanged
		{idetest.JetBrains(), "a\r\n", "b\r\n", "b\n", "b\nc\n", "b\r\nc\r\n"},
		{idetest.Ours(), "a\r\n", "b\r\n", "b\r\n", "b\r\nc\n", "b\r\nc\n"},
	} {
		e := idetest.Start(t, c.dialect)
		cl := connect(t, e)
		shown := make(chan string, 1)
		go func() {
			d := e.NextDiff()
			shown <- d.Text
			if c.dialect.Ours {
				d.Answer(idetest.Text("FILE_SAVED", c.answer, `{"outcome":"accepted","reason":"button"}`))
			} else {
				d.Answer(idetest.Text("FILE_SAVED", c.answer))
			}
		}()
		req := request(cl, c.text)
		req.Base = c.base
		got, err := cl.Diffs.Open(t.Context(), req)
		if s := <-shown; err != nil || s != c.shown || got.Text != c.written || got.Edited != (c.written != c.text) {
			t.Errorf("%s: %q of %q was shown as %q; %q means %+v, %v", c.dialect.Name, c.text, c.base, s, c.answer, got, err)
		}
	}
}

// TestForeignEndings: the changes of the person stay, and lines that differ by their ending or a byte
// order mark only are those of the file, whatever the editor makes of them.
func TestForeignEndings(t *testing.T) {
	mixed := "a\r\nb\nc\r\n"
	for _, tt := range []struct{ proposal, answer, want string }{
		{mixed, "a\nb\nc\n", mixed},
		{mixed, "a\r\nb\r\nc\r\n", mixed},
		{mixed, "a\rb\rc\r", mixed},
		{mixed, "a\nb\nX\n", "a\r\nb\nX\r\n"},
		{mixed, "a\r\nX\r\nc\r\n", "a\r\nX\nc\r\n"},
		{mixed, "a\nnew\nb\nc\n", "a\r\nnew\r\nb\nc\r\n"},
		{mixed, "b\nc\nd\n", "b\nc\r\nd\r\n"},
		{mixed, "c\n", "c\r\n"},
		{mixed, "a\r\nb\nX\n", "a\r\nb\nX\n"},
		{mixed, "a\r\nb\nc\r\nd\r\n", "a\r\nb\nc\r\nd\r\n"},
		{"a\nb\n", "a\r\nb\r\n", "a\nb\n"},
		{"a\nb\n", "a\r\nX\r\n", "a\nX\n"},
		{"a\nb\n", "\ufeffa\nb\n", "a\nb\n"},
		{"a\nb\n", "\ufeffa\r\nX\r\n", "a\nX\n"},
		{"\ufeffa\nb\n", "a\nX\n", "\ufeffa\nX\n"},
		{"\ufeffa\nb\n", "a\nb\n", "\ufeffa\nb\n"},
		{mixed + "d", "a\nb\nc\nd\n", mixed + "d"},
		{mixed + "d", "a\nb\nc\ne", mixed + "e"},
	} {
		got, err := review(t, idetest.JetBrains(), tt.proposal, answers("FILE_SAVED", tt.answer))
		want := client.DiffOutcome{Kind: client.Accepted, Text: tt.want, Edited: tt.want != tt.proposal}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q answered with %q: %v %s", tt.proposal, tt.answer, err, diff)
		}
	}
}

// TestAnswerForAnotherDiff: a no to another diff is not an answer to this one.
func TestAnswerForAnotherDiff(t *testing.T) {
	for _, d := range []idetest.Dialect{idetest.Neovim(), idetest.Emacs(), idetest.JetBrains(), idetest.Nexus3()} {
		got, err := review(t, d, "new\n", func(_ *idetest.Editor, shown *idetest.Diff) {
			shown.Answer(idetest.Text("DIFF_REJECTED", strings.Replace(shown.Tab, "a.go", "b.go", 1)))
		})
		if err != nil || got.Kind != client.Undecided {
			t.Errorf("%s: %+v, %v", d.Name, got, err)
		}
	}
}

// TestClose: a diff is closed under every name of the tool, and closing a missing diff
// is no error.
func TestClose(t *testing.T) {
	for _, d := range dialects() {
		e := idetest.Start(t, d)
		c := connect(t, e)
		over := make(chan client.DiffOutcome, 1)
		go func() {
			got, _ := c.Diffs.Open(t.Context(), request(c, "x")) // Emacs never answers
			over <- got
		}()
		shown := e.NextDiff()
		for range 2 { // the second time it is gone
			if err := c.Diffs.Close(t.Context(), shown.Tab); err != nil {
				t.Errorf("%s: %v", d.Name, err)
			}
		}
		if closed, err := c.Diffs.Withdraw(t.Context(), shown.Tab); d.OneBased && closed || err != nil {
			t.Errorf("%s: what is not there was closed: %t, %v", d.Name, closed, err)
		}
		e.WaitOpenDiffs(0)
		c.Close()
		if got := <-over; got.Kind == client.Accepted || got.Kind == client.AlreadyWritten {
			t.Errorf("%s: closing was an acceptance: %+v", d.Name, got)
		}
	}
	d := idetest.JetBrains()
	d.Listed = []string{"openDiff"} // neither name is known
	c := connect(t, idetest.Start(t, d))
	if err := c.Diffs.Close(t.Context(), c.TabName("x", "1")); !errors.Is(err, client.ErrUnsupported) {
		t.Errorf("neither name: %v", err)
	}
}

func TestCloseAll(t *testing.T) {
	e := idetest.Start(t, idetest.Ours())
	c := connect(t, e)
	over := make(chan error, 1)
	go func() {
		_, err := c.Diffs.Open(t.Context(), request(c, "x"))
		over <- err
	}()
	e.NextDiff()
	if n, err := c.Diffs.CloseAll(t.Context()); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if err := <-over; err != nil {
		t.Error(err)
	}
	e.Handle("closeAllDiffTabs", func(*idetest.Conn, json.RawMessage) idetest.Reply { return idetest.Text("OK") })
	if n, err := c.Diffs.CloseAll(t.Context()); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// TestResolve holds that an answer in the terminal takes the text that is typed
// in the editor.
func TestResolve(t *testing.T) {
	for _, edited := range []bool{false, true} {
		e := idetest.Start(t, idetest.Ours())
		c := connect(t, e)
		over := make(chan client.DiffOutcome, 1)
		go func() {
			got, err := c.Diffs.Open(t.Context(), request(c, "x\n"))
			if err != nil {
				t.Error(err)
			}
			over <- got
		}()
		shown := e.NextDiff()
		want := client.Draft{Text: "x\n", Edited: edited}
		if edited {
			want.Text = "y\n"
			shown.Edit("y\n")
		}
		for _, held := range []bool{true, false} {
			if err := c.Diffs.Claim(t.Context(), "d1", held); err != nil {
				t.Error(err)
			}
			shown.WaitHeld(held)
		}
		if err := c.Diffs.Show(t.Context(), "d1"); err != nil {
			t.Error(err)
		}
		shown.WaitShown(1)
		got, err := c.Diffs.Resolve(t.Context(), "d1", true)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v, %s", err, diff)
		}
		if o := <-over; o.Kind != client.Undecided {
			t.Errorf("the editor decided too: %+v", o)
		}
		var refused *client.ToolError
		if _, err := c.Diffs.Resolve(t.Context(), "d1", true); !errors.As(err, &refused) || refused.Code != "DIFF_NOT_FOUND" {
			t.Errorf("the second time: %v", err)
		}
	}
	c := connect(t, idetest.Start(t, idetest.Neovim()))
	if _, err := c.Diffs.Resolve(t.Context(), "d1", true); !errors.Is(err, client.ErrUnsupported) {
		t.Error(err)
	}
	if err := c.Diffs.Claim(t.Context(), "d1", true); !errors.Is(err, client.ErrUnsupported) {
		t.Error(err)
	}
	if err := c.Diffs.Show(t.Context(), "d1"); !errors.Is(err, client.ErrUnsupported) {
		t.Error(err)
	}
	e := idetest.Start(t, idetest.Ours())
	e.Handle("resolveDiff", func(*idetest.Conn, json.RawMessage) idetest.Reply { return idetest.Text("{}") })
	if d, err := connect(t, e).Diffs.Resolve(t.Context(), "d1", true); err == nil {
		t.Errorf("an acceptance without a text: %+v", d)
	}
	if d, err := connect(t, e).Diffs.Resolve(t.Context(), "d1", false); err != nil || d.Edited {
		t.Errorf("a rejection: %+v, %v", d, err)
	}
	e.Handle("resolveDiff", func(*idetest.Conn, json.RawMessage) idetest.Reply {
		return idetest.Text(`{"text":"x\n","userEdited":false,"feedback":"mind the gap","comments":[{"side":"modified","startLine":2,"endLine":2,"text":"rename"}]}`)
	})
	want := client.Draft{Text: "x\n", Feedback: "mind the gap", Comments: []client.Comment{{StartLine: 2, EndLine: 2, Text: "rename"}}}
	if d, err := connect(t, e).Diffs.Resolve(t.Context(), "d1", true); err != nil || cmp.Diff(want, d) != "" {
		t.Errorf("with words: %+v, %v", d, err)
	}
}
