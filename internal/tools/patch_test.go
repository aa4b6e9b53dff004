package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
)

const several = `*** Begin Patch
*** Update File: a
@@
-one
+two
*** Add File: new/b
+b
*** Delete File: c
*** End Patch
`

func (b *bench) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(b.dir, name))
	return err == nil
}

// The files of a patch are one question.
func TestPatchOfSeveralFiles(t *testing.T) {
	b := newBench(t, map[string]string{"a": "one\n", "c": "c\n"})
	res := b.call("patch", m{"diff": several})
	b.want(res, false, "Wrote a: 1 added, 1 removed", "Created new/b", "Deleted c: 0 added, 1 removed")
	if b.read("a") != "two\n" || b.read("new/b") != "b\n" || b.exists("c") {
		t.Errorf("a is %q", b.read("a"))
	}
	if len(b.ask.asked) != 1 || len(res.Changes) != 3 || res.ForUser != "3 of 3 files, +2 −2" {
		t.Errorf("%d questions, %d changes, %s", len(b.ask.asked), len(res.Changes), res.ForUser)
	}
	if q := confirm.As[*confirm.Edits](b.ask.asked[0]).Changes[2]; !q.Delete || q.After != "" || q.Name != "c" {
		t.Errorf("asked %+v", q)
	}
	if title, _ := b.set.Title("patch", []byte(`{"diff":"*** Delete File: x\n*** Delete File: y\n"}`)); title != "Patch x, y" {
		t.Error(title)
	}
}

// If one file cannot be patched, nothing is asked, and each fault is explained.
func TestPatchIsAllOrNothing(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n", "new/b": "here\n"})
	b.want(b.call("patch", m{"diff": several}), true,
		"3 of 3 files cannot be patched, so nothing was changed", "a: nothing was changed: 1 of 1 hunks", "hunk 1 of a: not found",
		"new/b: nothing was changed: the diff creates the file, but it exists", "c does not exist")
	if len(b.ask.asked) > 0 || b.read("a") != "1\n" {
		t.Errorf("asked %d times", len(b.ask.asked))
	}
	b.want(b.call("patch", m{"diff": "*** Begin Patch\n*** Update File: a\n*** Move to: d\n"}), true, "cut off", "nothing was changed")
	b.want(b.call("patch", m{"diff": "*** Update File: a\n*** Move to: new/b\n"}), true, "new/b exists", "nothing was changed")
	b.want(b.call("patch", m{"diff": "*** Update File: nope\n@@\n+a\n"}), true, "nope does not exist")
	b.want(b.call("patch", m{"diff": "<<<<<<< SEARCH\n1\n=======\n2\n>>>>>>> REPLACE\n"}), true, "names no file")
	b.want(b.call("patch", m{"path": "new/a", "diff": "*** Delete File: b\n"}), true, "the diff is for b")
	b.want(b.call("patch", m{"path": "new/b", "diff": "*** Delete File: b\n"}), false, "Deleted new/b")
	b.want(b.call("patch", m{"diff": "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n"}), false, "Wrote a")
}

// A diff of git that renames a file moves it, and its quoted names are those on the disk.
func TestPatchOfGitsNames(t *testing.T) {
	b := newBench(t, map[string]string{"dir/x": "one\ntwo\n", "café": "one\n"})
	const rename = "diff --git a/dir/x b/new/x\nsimilarity index 50%\nrename from dir/x\nrename to new/x\n--- a/dir/x\n+++ b/new/x\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"
	b.want(b.call("patch", m{"path": "new/x", "diff": rename}), true, "new/x does not exist")
	b.want(b.call("patch", m{"diff": rename}), false, "dir/x → new/x")
	if b.exists("dir/x") || b.read("new/x") != "one\nthree\n" {
		t.Errorf("new/x holds %q", b.read("new/x"))
	}
	b.want(b.call("patch", m{"diff": "--- \"a/caf\\303\\251\"\n+++ \"b/caf\\303\\251\"\n@@ -1 +1 @@\n-one\n+two\n"}), false, "Wrote café")
}

// After a "no" to a patch none of its files is written.
func TestPatchStopsAtANo(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer confirm.Verdict
		stop   bool
		want   string
	}{
		{"no", confirm.Verdict{}, true, "The user declined this review of the changes. None of them was written."},
		{"no, with words", confirm.Verdict{Feedback: "not b"}, false, "not b"},
		{"a comment", confirm.Verdict{Comments: []confirm.Comment{{File: 1, Line: 1, Text: "why?"}}}, false, "comment on line 1 of the proposal for new/b: why?"},
		{"a rule", confirm.Verdict{Rule: true, By: "rule deny edit"}, false, "a: This edit was refused by the rule deny edit."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"a": "one\n", "c": "c\n"})
			b.ask.verdict = tt.answer
			res := b.call("patch", m{"diff": several})
			b.want(res, true, tt.want)
			if res.Stop != tt.stop || len(res.Changes) != 0 || res.Denied == nil || res.Denied.Tool != "patch" {
				t.Errorf("%+v", res)
			}
			if b.read("a") != "one\n" || b.exists("new") || !b.exists("c") {
				t.Error("something was written")
			}
		})
	}
}

// A part of a patch is approved: the model learns about the rest.
func TestPartOfAPatch(t *testing.T) {
	b := newBench(t, map[string]string{"a": "one\n", "c": "c\n"})
	b.ask.verdict = confirm.Verdict{Decision: confirm.Approve, Except: []int{2}, Texts: map[int]string{0: "three\n"}, Feedback: "fine"}
	res := b.call("patch", m{"diff": several})
	b.want(res, false, "Wrote a: 1 added, 1 removed", "Created new/b", "left out, and the disk keeps as before: c", "-two\n+three", "The user says: fine")
	if b.read("a") != "three\n" || b.read("new/b") != "b\n" || !b.exists("c") || res.ForUser != "2 of 3 files, +2 −1, changed by you" {
		t.Errorf("a is %q, %s", b.read("a"), res.ForUser)
	}
}

// Rules that approve each file answer for the patch.
func TestRulesApproveAPatch(t *testing.T) {
	b := newBench(t, map[string]string{"a": "one\n", "c": "c\n"})
	b.ask.verdict = confirm.Verdict{Decision: confirm.Approve, Rule: true}
	b.want(b.call("patch", m{"diff": several}), false, "Wrote a", "Created new/b", "Deleted c")
	for _, req := range b.ask.asked {
		if req.File() == nil {
			t.Errorf("asked about %+v", confirm.As[*confirm.Edits](req))
		}
	}
}

// A model that was trained on apply_patch calls it whatever it is offered.
func TestApplyPatch(t *testing.T) {
	b := newBench(t, map[string]string{"a": "one\n", "c": "c\n"})
	b.want(b.call("apply_patch", m{"input": several}), false, "Wrote a", "Created new/b", "Deleted c")
	if b.ask.asked[0].Tool != "patch" {
		t.Errorf("asked for %s", b.ask.asked[0].Tool)
	}
}

// TestAPatchOfSeveralFilesTellsNothingAboutKeys: if nobody can be asked, the model is
// told the same whether the part for a file with keys fits that file or not.
func TestAPatchOfSeveralFilesTellsNothingAboutKeys(t *testing.T) {
	plain, keys := "*** Update File: a.txt\n@@\n-a\n+b\n", "*** Update File: .env\n@@\n-%s\n+KEY=2\n"
	for _, parts := range []string{plain + keys, keys + plain, keys} {
		told := map[string]bool{}
		for _, guess := range []string{"KEY=1", "KEY=3"} {
			for _, verdict := range []confirm.Verdict{{Unasked: true}, {Rule: true, By: "rule deny edit", Feedback: "no"}} {
				b := newBench(t, map[string]string{"a.txt": "a\n", ".env": "KEY=1\n"})
				b.ask.during = func(req confirm.Request) { // accept-edits mode, and nobody there
					b.ask.verdict = verdict
					if req.File().Name == "a.txt" {
						b.ask.verdict = confirm.Verdict{Decision: confirm.Approve, Rule: true}
					}
				}
				res := b.call("patch", m{"diff": "*** Begin Patch\n" + fmt.Sprintf(parts, guess) + "*** End Patch"})
				told[res.ForModel] = true
			}
		}
		if len(told) != 1 {
			t.Errorf("%q: the model can tell: %v", parts, told)
		}
	}
}
