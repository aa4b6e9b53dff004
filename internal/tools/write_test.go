package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// The six tools that write, each with a call that turns one\ntwo\nthree\n into
// one\n2\nthree\n.
var writing = []struct {
	tool string
	args m
}{
	{"write_file", m{"path": "f", "content": "one\n2\nthree\n"}},
	{"edit_file", m{"path": "f", "old_string": "two", "new_string": "2"}},
	{"edit_lines", m{"path": "f", "start_line": 2, "end_line": 2, "new_content": "2"}},
	{"append_file", nil},
	{"regex_replace", m{"path": "f", "pattern": "t(w)o", "replacement": "2"}},
	{"patch", m{"path": "f", "diff": "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"}},
}

// each runs check for every writing tool. append_file can only add.
func each(t *testing.T, check func(b *bench, tool string, args m, after string)) {
	for _, w := range writing {
		t.Run(w.tool, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": "one\ntwo\nthree\n"})
			if w.tool == "append_file" {
				check(b, w.tool, m{"path": "f", "content": "four"}, "one\ntwo\nthree\nfour\n")
				return
			}
			check(b, w.tool, w.args, "one\n2\nthree\n")
		})
	}
}

func TestApprovedEditIsWritten(t *testing.T) {
	each(t, func(b *bench, tool string, args m, after string) {
		b.ask.during = func(req confirm.Request) {
			if req.File() == nil || req.File().After != after || req.Tool != tool || req.Force || len(req.Notes) > 0 {
				b.Errorf("the question is %+v", req)
			}
			if got := b.read("f"); got != "one\ntwo\nthree\n" {
				b.Errorf("%q is on disk before the answer", got)
			}
		}
		res := b.call(tool, args)
		b.want(res, false, "Wrote f: ")
		if got := b.read("f"); got != after {
			b.Errorf("the file holds %q", got)
		}
		if len(b.ask.asked) != 1 || len(res.Changes) != 1 {
			b.Fatalf("%d questions, %d changes", len(b.ask.asked), len(res.Changes))
		}
		want := FileChange{Path: "f", Added: 1, Removed: 1}
		if tool == "append_file" {
			want.Removed = 0
		}
		if diff := cmp.Diff(want, res.Changes[0], cmpopts.IgnoreFields(FileChange{}, "Diff")); diff != "" {
			b.Error(diff)
		}
		scratch.Need(b, "git")
		b.write("f", "one\ntwo\nthree\n")
		b.gitApply(res.Changes[0].Diff)
		if got := b.read("f"); got != after {
			b.Errorf("the diff leads to %q", got)
		}
	})
}

func (b *bench) gitApply(patch string) {
	b.Helper()
	cmd := exec.Command("git", "apply", "-")
	cmd.Dir = b.dir
	cmd.Stdin = strings.NewReader(patch)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("git apply: %v: %s\n%s", err, out, patch)
	}
}

func TestDeclinedEditIsNotWritten(t *testing.T) {
	tests := []struct {
		name    string
		verdict confirm.Verdict
		stop    bool
		reason  string
		want    []string
	}{
		{"no", confirm.Verdict{By: "terminal"}, true, "declined", []string{"The user declined this edit"}},
		{"no, with a reason", confirm.Verdict{Feedback: "use tabs"}, false, "use tabs", []string{"declined this edit", "The user says: use tabs"}},
		{
			"no, with comments",
			confirm.Verdict{Comments: []confirm.Comment{{Line: 2, Text: "why?"}}},
			false, "declined",
			[]string{"declined this edit", "line 2 of the proposal: why?"},
		},
		{"nobody there", confirm.Verdict{Unasked: true}, false, "nobody could be asked", []string{"nobody could be asked"}},
		{
			"nobody able",
			confirm.Verdict{Unasked: true, Feedback: "nobody could be asked: the reviewer failed: x"},
			false, "nobody could be asked: the reviewer failed: x",
			[]string{"nobody could be asked"},
		},
		{
			"a rule",
			confirm.Verdict{By: "plan mode", Rule: true, Feedback: "plan mode: plan."},
			false, "plan mode: plan.",
			[]string{"This edit was refused by the plan mode. Nothing was changed.\nplan mode: plan."},
		},
		{"a rule without words", confirm.Verdict{By: "rule", Rule: true}, false, "declined", []string{"refused by the rule. Nothing was changed."}},
		{"text without approval", confirm.Verdict{Texts: confirm.Text("")}, true, "declined", []string{"declined"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			each(t, func(b *bench, tool string, args m, _ string) {
				b.ask.verdict = tt.verdict
				res := b.call(tool, args)
				b.want(res, true, tt.want...)
				if res.Stop != tt.stop || len(res.Changes) != 0 {
					b.Errorf("%+v", res)
				}
				for _, c := range tt.verdict.Comments { // the user reads them, too
					if !strings.Contains(res.ForUser, fmt.Sprintf("declined\nline %d: %s", c.Line, c.Text)) {
						b.Errorf("the user reads %q", res.ForUser)
					}
				}
				if diff := cmp.Diff(&Denied{Tool: tool, Reason: tt.reason}, res.Denied); diff != "" {
					b.Error(diff)
				}
				if got := b.read("f"); got != "one\ntwo\nthree\n" {
					b.Errorf("the file holds %q", got)
				}
			})
		})
	}
}

func TestReviewersTextIsFinal(t *testing.T) {
	each(t, func(b *bench, tool string, args m, _ string) {
		text := "one\nTWO\nthree\n"
		b.ask.verdict.Texts = confirm.Text(text)
		b.ask.verdict.Feedback = "louder"
		b.ask.verdict.Comments = []confirm.Comment{{Line: 1, Text: "fine"}}
		res := b.call(tool, args)
		b.want(res, false, "user's version, which is final", "+TWO", "The user says: louder", "line 1 of the proposal: fine")
		if got := b.read("f"); got != text {
			b.Errorf("the file holds %q", got)
		}
		if len(res.Changes) != 1 || res.Changes[0].Added != 1 || !strings.Contains(res.Changes[0].Diff, "+TWO") {
			b.Errorf("%+v", res.Changes)
		}
	})
}

func TestReviewerMayTakeAllBack(t *testing.T) {
	b := newBench(t, map[string]string{"f": "a\n"})
	text := "a\n"
	b.ask.verdict.Texts = confirm.Text(text)
	res := b.call("write_file", m{"path": "f", "content": "b\n"})
	b.want(res, false, "back to the current content of f", "nothing was written")
	if len(res.Changes) != 0 {
		b.Errorf("%+v", res.Changes)
	}
}

func TestChangedMeanwhileIsNotOverwritten(t *testing.T) {
	each(t, func(b *bench, tool string, args m, _ string) {
		fired := false
		b.ask.during = func(confirm.Request) {
			b.write("f", "someone else\n")
			fired = true
		}
		res := b.call(tool, args)
		b.want(res, true, "changed while the edit was being reviewed", "Read the file again")
		if got := b.read("f"); got != "someone else\n" || !fired {
			b.Errorf("the file holds %q, changed meanwhile: %v", got, fired)
		}
	})
}

// TestAnUnwrittenTextIsKept: if the text that the user approved cannot be written, the result has
// the user's changes and words.
func TestAnUnwrittenTextIsKept(t *testing.T) {
	own := "one\nTWO of the user\nthree\n"
	kept := []string{"propose the user's version", "+TWO of the user", "The user says: louder"}
	for name, tt := range map[string]struct {
		during func(b *bench)
		why    string
	}{
		"no folder for it":    {func(b *bench) { b.remove("sub"); b.write("sub", "") }, "written"},
		"the file is deleted": {func(b *bench) { b.remove("sub/f") }, "sub/f was deleted while the edit was being reviewed"},
		"a conflict":          {func(b *bench) { b.write("sub/f", "one\nzwei\nthree\n") }, "That change and the edit conflict"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, gathered := range []bool{false, true} {
				b := newBench(t, map[string]string{"sub/f": "one\ntwo\nthree\n"})
				edit := func() Result { return b.call("edit_file", m{"path": "sub/f", "old_string": "two", "new_string": "2"}) }
				b.ask.verdict.Feedback, b.ask.verdict.Texts = "louder", confirm.Text(own)
				if gathered {
					b.gather()
					edit()
					edit = b.settle
				}
				b.ask.during = func(confirm.Request) { tt.during(b) }
				res := edit()
				b.want(res, true, append(kept, tt.why)...)
				if len(b.ask.asked) != 1 || !strings.Contains(res.Record.Words, "+TWO of the user") || !strings.Contains(res.Record.Words, "louder") {
					t.Errorf("%d questions, %+v", len(b.ask.asked), res.Record)
				}
			}
		})
	}
}

func TestDeletedMeanwhileIsNotWritten(t *testing.T) {
	each(t, func(b *bench, tool string, args m, _ string) {
		b.ask.during = func(confirm.Request) {
			if err := os.Remove(filepath.Join(b.dir, "f")); err != nil {
				b.Error(err)
			}
		}
		b.want(b.call(tool, args), true, "f was deleted while the edit was being reviewed: nothing was written")
		if _, err := os.Lstat(filepath.Join(b.dir, "f")); !errors.Is(err, fs.ErrNotExist) {
			b.Errorf("the file is there again: %v", err)
		}
	})
}

func TestAskErrorEndsTheTurn(t *testing.T) {
	each(t, func(b *bench, tool string, args m, _ string) {
		b.ask.err = context.Canceled
		raw, err := json.Marshal(args)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := b.set.Call(b.Context(), tool, Call{Args: raw}); !errors.Is(err, context.Canceled) {
			b.Errorf("error %v", err)
		}
		if got := b.read("f"); got != "one\ntwo\nthree\n" {
			b.Errorf("the file holds %q", got)
		}
	})
}

func TestNoChangeIsNotAsked(t *testing.T) {
	b := newBench(t, map[string]string{"f": "a\r\nb\r\n"})
	for tool, args := range map[string]m{
		"write_file":    {"path": "f", "content": "a\nb\n"},
		"edit_lines":    {"path": "f", "start_line": 1, "end_line": 1, "new_content": "a"},
		"append_file":   {"path": "f", "content": ""},
		"regex_replace": {"path": "f", "pattern": "a", "replacement": "a"},
		"patch":         {"path": "f", "diff": "@@ -1,2 +1,2 @@\n a\n-b\n+b\n"},
	} {
		b.want(b.call(tool, args), false, "already holds exactly this")
	}
	if len(b.ask.asked) != 0 {
		t.Errorf("%d questions", len(b.ask.asked))
	}
}

func TestNewFiles(t *testing.T) {
	b := newBench(t, nil)
	b.want(b.call("write_file", m{"path": "a/b/new.txt", "content": "x\n"}), false, "Created a/b/new.txt: 1 added")
	b.want(b.call("append_file", m{"path": "log", "content": "x"}), false, "Created log")
	b.want(b.call("patch", m{"path": "p", "diff": "--- /dev/null\n+++ b/p\n@@ -0,0 +1 @@\n+x\n"}), false, "Created p")
	b.want(b.call("write_file", m{"path": "empty", "content": ""}), false, "Created empty")
	for _, name := range []string{"a/b/new.txt", "log", "p"} {
		if got := b.read(name); got != "x\n" {
			t.Errorf("%s holds %q", name, got)
		}
	}
	if got := b.read("empty"); got != "" {
		t.Errorf("empty holds %q", got)
	}
	b.want(b.call("patch", m{"path": "p", "diff": "--- /dev/null\n+++ b/p\n@@ -0,0 +1 @@\n+y\n"}), true, "but it exists")
	b.want(b.call("patch", m{"path": "p", "diff": "--- a/q\n+++ b/q\n@@ -1 +1 @@\n-x\n+y\n"}), true, "the diff is for q")
	b.want(b.call("patch", m{"path": "p", "diff": "nothing"}), true, "no hunk found")
	b.ask.verdict = confirm.Verdict{}
	b.call("write_file", m{"path": "no/such/folder", "content": "x"})
	if _, err := os.Stat(filepath.Join(b.dir, "no")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a declined file left a folder behind: %v", err)
	}
}

func TestEditsThatCannotBe(t *testing.T) {
	b := newBench(t, map[string]string{"main.go": "package main\n\nfunc main() {\n\tfoo()\n\tfoo()\n}\n", "bin": "a\x00b"})
	outside := filepath.Join(t.TempDir(), "x")
	for _, tt := range []struct {
		tool string
		args m
		want []string
	}{
		{"edit_file", m{"path": "mian.go", "old_string": "a", "new_string": "b"}, []string{"mian.go does not exist", "Did you mean main.go"}},
		{"edit_lines", m{"path": "nope", "start_line": 1, "end_line": 1, "new_content": ""}, []string{"does not exist", "write_file"}},
		{"regex_replace", m{"path": "nope", "pattern": "a", "replacement": "b"}, []string{"does not exist"}},
		{"patch", m{"path": "nope", "diff": "@@ -1 +1 @@\n-a\n+b\n"}, []string{"does not exist"}},
		{"edit_file", m{"path": "main.go", "old_string": "foo()", "new_string": "bar()"}, []string{"2 places (lines 4, 5)", "replace_all"}},
		{"edit_file", m{"path": "main.go", "old_string": "   foo(x)", "new_string": "bar()"}, []string{"old_string was not found", "4 | →foo()"}},
		{"edit_file", m{"path": "main.go", "old_string": "", "new_string": "bar()"}, []string{"old_string is empty"}},
		{"edit_file", m{"path": "main.go", "old_string": "a", "new_string": "a"}, []string{"are the same"}},
		{"edit_lines", m{"path": "main.go", "start_line": 9, "end_line": 9, "new_content": ""}, []string{"lines 1 to 6"}},
		{"regex_replace", m{"path": "main.go", "pattern": "(", "replacement": ""}, []string{"not RE2"}},
		{"regex_replace", m{"path": "main.go", "pattern": "a", "replacement": "", "count": -1}, []string{"count is negative"}},
		{"edit_file", m{"path": "bin", "old_string": "a", "new_string": "b"}, []string{"bin: not a text file; nothing was changed"}},
		{"write_file", m{"path": ".", "content": "x"}, []string{"folder"}},
		{"write_file", m{"path": outside, "content": "x"}, []string{"outside the workspace"}},
		{"write_file", m{"path": "../x", "content": "x"}, []string{"outside the workspace"}},
		{"write_file", m{"path": "", "content": "x"}, []string{"not a path"}},
	} {
		b.want(b.call(tt.tool, tt.args), true, tt.want...)
	}
	if len(b.ask.asked) != 0 {
		t.Errorf("%d questions were asked", len(b.ask.asked))
	}
}

func TestReviewerSeesNotes(t *testing.T) {
	b := newBench(t, map[string]string{"f": "\tone\n\ttwo\n", "crlf": "a\r\nb\r\n", ".git/config": "[core]\n", "latin": "caf\xe9\n"})
	note := func(tool string, args m, want string, force bool) {
		t.Helper()
		b.ask.asked = nil
		b.call(tool, args)
		if len(b.ask.asked) != 1 {
			t.Fatalf("%d questions", len(b.ask.asked))
		}
		req := b.ask.asked[0]
		if !strings.Contains(fmt.Sprint(req.Notes), want) || req.Force != force {
			t.Errorf("notes %q, force %v; want %q, %v", req.Notes, req.Force, want, force)
		}
	}
	note("edit_file", m{"path": "f", "old_string": "one\ntwo\n", "new_string": "one\n2\n"}, "shifting the indentation", true)
	note("edit_file", m{"path": "crlf", "old_string": "a\nb", "new_string": "a\nc"}, "converting line endings", false)
	note("write_file", m{"path": ".git/config", "content": "[core]\nfsmonitor=x\n"}, "protected", true)
	note("append_file", m{"path": "f", "content": "x\u202ey"}, "1 bidirectional control: line 3", true)
	if got := b.read("crlf"); got != "a\r\nc\r\n" {
		t.Errorf("crlf holds %q", got)
	}
	b.call("edit_file", m{"path": "latin", "old_string": "café", "new_string": "thé"})
	if got := b.read("latin"); got != "th\xe9\n" {
		t.Errorf("latin holds %q", got)
	}
	b.want(b.call("append_file", m{"path": "latin", "content": "日本"}), true, "not in the file's encoding")
}

func TestRequestNamesItsCall(t *testing.T) {
	b := newBench(t, nil)
	call := Call{Args: json.RawMessage(`{"path":"f","content":"x"}`), Description: "I write f.", Batch: confirm.Batch{ID: "b", Index: 1, Total: 3}}
	if _, err := b.set.Call(t.Context(), "write_file", call); err != nil {
		t.Fatal(err)
	}
	req := b.ask.asked[0]
	if req.Description != call.Description || !cmp.Equal(req.Batch, call.Batch) || req.Tool != "write_file" {
		t.Errorf("%+v", req)
	}
}

// Whatever the call, the written text is the approved one, and the model learns the
// file's text.
func TestOnlyApprovedTextIsWritten(t *testing.T) {
	b := newBench(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a", "b", "\tc", "d ", "“e”", ""})
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		before := strings.Join(rapid.SliceOfN(line, 1, 6).Draw(t, "before"), eol)
		b.write("f", before)
		word := line.Draw(t, "word")
		args := rapid.SampledFrom([]m{
			{"tool": "write_file", "content": word + "\n" + word},
			{"tool": "edit_file", "old_string": word + "\n", "new_string": "X\n", "replace_all": true},
			{"tool": "edit_lines", "start_line": 1, "end_line": 1, "new_content": word},
			{"tool": "append_file", "content": word},
			{"tool": "regex_replace", "pattern": "^.", "replacement": "<$0>", "multiline": true},
		}).Draw(t, "call")
		tool, send := args["tool"].(string), m{"path": "f"}
		for k, v := range args {
			if k != "tool" {
				send[k] = v
			}
		}
		var proposed *workspace.Change
		b.ask.during = func(req confirm.Request) { proposed = req.File() }
		res := b.call(tool, send)
		want := before
		if proposed != nil {
			want = proposed.After
		}
		if got := b.read("f"); got != want {
			t.Fatalf("the file holds %q, approved was %q", got, want)
		}
		if (proposed != nil) != (len(res.Changes) == 1) {
			t.Fatalf("asked: %v, changes: %d", proposed != nil, len(res.Changes))
		}
		if strings.Contains(before, "\r\n") && proposed != nil && strings.Count(want, "\n") != strings.Count(want, "\r\n") {
			t.Fatalf("line endings are mixed now: %q", want)
		}
	})
}

// Several edits of a file are one proposal; if one does not apply, none is made.
func TestSeveralEdits(t *testing.T) {
	b := newBench(t, map[string]string{"f": "one\ntwo\nthree\n"})
	edits := []m{{"old_string": "one", "new_string": "1"}, {"old_string": "1\ntwo", "new_string": "1\n2"}}
	res := b.call("edit_file", m{"path": "f", "edits": edits})
	b.want(res, false, "Wrote f: 2 added, 2 removed (lines), 2 places.")
	if len(b.ask.asked) != 1 || b.read("f") != "1\n2\nthree\n" {
		t.Errorf("%d questions: %q", len(b.ask.asked), b.read("f"))
	}
	b.want(b.call("edit_file", m{"path": "f", "edits": []m{{"old_string": "2", "new_string": ""}, {"old_string": "thre", "new_string": "3"}, {"old_string": "2", "new_string": "4"}}}), true,
		"f: nothing was changed: 1 of 3 edits do not apply, each to the text that the ones before it leave.\nedit 3: old_string was not found")
	b.want(b.call("edit_file", m{"path": "f", "edits": edits, "old_string": "three", "new_string": "3"}), true, "either old_string and new_string, or edits")
	b.want(b.call("edit_file", m{"path": "f"}), true, "old_string or new_string is missing")
	b.want(b.call("edit_file", m{"path": "f", "edits": []m{{"old_string": "1"}}}), true, "edit 1: old_string or new_string is missing")
	if len(b.ask.asked) != 1 || b.read("f") != "1\n2\nthree\n" {
		t.Errorf("%d questions: %q", len(b.ask.asked), b.read("f"))
	}
	// As some models send them: in a string, with other names, beside empty strings.
	b.want(b.call("edit_file", m{"filePath": "f", "old_string": "", "new_string": "", "edits": `[{"oldText":"1","newText":"one"}]`}), false)
	if b.read("f") != "one\n2\nthree\n" {
		t.Errorf("%q", b.read("f"))
	}
}
