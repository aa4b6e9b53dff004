package tools

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/tools/pending"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// gather makes b gather changes.
func (b *bench) gather() *bench {
	b.deps.Pending = &pending.Changes{}
	b.set = NewSet(b.deps)
	return b
}

// settle has the pending changes reviewed.
func (b *bench) settle() Result {
	b.Helper()
	res, err := b.set.Settle(b.Context(), Call{Turn: "t"})
	if err != nil || res == nil {
		b.Fatalf("%v, %v", res, err)
	}
	return *res
}

// The tools see the pending texts, the disk does not hold them, and one yes writes all;
// one undo takes all back.
func TestPendingChangesAreSeen(t *testing.T) {
	b := newBench(t, map[string]string{"a.go": "package a\n", "gone.go": "package gone\n", "sub/c.go": "package c\n"}).gather()
	b.want(b.call("write_file", m{"path": "a.go", "content": "package one\n"}), false, "a.go is changed, pending the user's review", "1 added, 1 removed")
	b.want(b.call("edit_file", m{"path": "a.go", "old_string": "one", "new_string": "two"}), false, "a.go is changed", "1 added, 1 removed")
	b.want(b.call("write_file", m{"path": "new/deep/b.go", "content": "package b\n// two\n"}), false, "2 added, 0 removed")
	b.want(b.call("patch", m{"diff": "*** Begin Patch\n*** Delete File: gone.go\n*** Update File: sub/c.go\n@@\n-package c\n+package two\n*** End Patch\n"}), false, "gone.go is deleted", "sub/c.go is changed")
	if len(b.ask.asked) != 0 || b.read("a.go") != "package a\n" || b.exists("new") || !b.exists("gone.go") {
		t.Fatalf("asked %d times; a.go is %q", len(b.ask.asked), b.read("a.go"))
	}
	b.want(b.call("read_file", m{"path": "a.go"}), false, "1 | package two")
	b.want(b.call("read_file", m{"path": "new/deep/b.go"}), false, "2 | // two")
	b.want(b.call("read_file", m{"path": "gone.go"}), true, "gone.go does not exist")
	b.want(b.call("search_files", m{"regex": "two"}), false, "a.go\n1:package two", "new/deep/b.go\n1-package b\n2:// two", "sub/c.go\n1:package two", "3 matches in 3 files")
	b.want(b.call("search_files", m{"regex": "two", "path": "new/deep/b.go"}), false, "1 match in 1 file")
	b.want(b.call("search_files", m{"regex": "gone"}), false, "No matches")
	b.want(b.call("find_files", m{"pattern": "*.go"}), false, "a.go", "new/deep/b.go", "sub/c.go")
	b.want(b.call("list_files", m{"path": "new"}), false, "deep/")
	if res := b.call("list_files", m{"path": "."}); strings.Contains(res.ForModel, "gone.go") || !strings.Contains(res.ForModel, "new/") {
		t.Error(res.ForModel)
	}
	b.want(b.call("write_file", m{"path": "a.go", "content": "package two\n"}), false, "already holds exactly this")
	res := b.settle()
	b.want(res, false, "Wrote a.go: 1 added, 1 removed", "Created new/deep/b.go", "Deleted gone.go", "Wrote sub/c.go")
	if len(b.ask.asked) != 1 || len(res.Changes) != 4 || b.read("a.go") != "package two\n" || b.exists("gone.go") || b.set.Pending() != 0 {
		t.Errorf("%d questions, %+v", len(b.ask.asked), res)
	}
	plan, err := undo.Find(t.Context(), b.deps.Root, undo.Scope{})
	if err != nil || len(plan.Changes) != 4 {
		t.Fatalf("one undo takes back %d files: %v", len(plan.Changes), err)
	}
}

// A change back to the text on disk leaves nothing to review.
func TestAChangeBackIsNoChange(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"}).gather()
	b.call("write_file", m{"path": "a", "content": "2\n"})
	b.want(b.call("write_file", m{"path": "a", "content": "1\n"}), false, "a is changed")
	b.call("write_file", m{"path": "b", "content": "x\n"})
	b.want(b.call("patch", m{"diff": "*** Begin Patch\n*** Delete File: b\n*** End Patch\n"}), false, "b is deleted")
	if n := b.set.Pending(); n != 0 {
		t.Errorf("%d files are pending", n)
	}
	if res, err := b.set.Settle(t.Context(), Call{}); res != nil || err != nil || len(b.ask.asked) != 0 {
		t.Errorf("%v, %v", res, err)
	}
}

// After a no with words the changes stay pending; after one without, they are gone.
func TestARefusedReview(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"}).gather()
	b.call("write_file", m{"path": "a", "content": "2\n"})
	b.ask.verdict = confirm.Verdict{Comments: []confirm.Comment{{Line: 1, Text: "three"}}}
	res := b.settle()
	b.want(res, true, "The user declined", "comment on line 1 of the proposal for a: three", "still pending")
	if res.Stop || b.set.Pending() != 1 {
		t.Errorf("%+v", res)
	}
	b.want(b.call("edit_file", m{"path": "a", "old_string": "2", "new_string": "3"}), false, "a is changed")
	b.ask.verdict = confirm.Verdict{}
	res = b.settle()
	b.want(res, true, "The user declined", "dropped")
	if !res.Stop || b.set.Pending() != 0 || b.read("a") != "1\n" {
		t.Errorf("%+v", res)
	}
	b.want(b.call("read_file", m{"path": "a"}), false, "1 | 1")
}

// A command sees the disk only: the changes are reviewed before it, and after a no it does
// not run.
func TestACommandSettlesFirst(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"}).gather()
	b.call("write_file", m{"path": "a", "content": "2\n"})
	line := "cat a"
	if !shell.In("").Posix {
		line = "type a"
	}
	res := b.call("execute_command", m{"command": line})
	b.want(res, false, "Before it, the pending changes were reviewed. Wrote a", "exit code: 0\n2")
	if len(b.ask.asked) != 2 || b.ask.asked[0].File() != nil || len(res.Changes) != 1 {
		t.Errorf("%d questions", len(b.ask.asked))
	}
	b.call("write_file", m{"path": "a", "content": "3\n"})
	b.ask.verdict = confirm.Verdict{Feedback: "not 3"}
	res = b.call("execute_command", m{"command": "touch ran"})
	b.want(res, true, "not 3", "this call was not carried out")
	if b.exists("ran") || b.read("a") != "2\n" || b.set.Pending() != 1 {
		t.Error("the command ran, or the change was written")
	}
}

// A file that changes under the review is merged and asked about again; a conflict is told.
func TestAReviewMerges(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n2\n3\n", "b": "1\n"}).gather()
	b.call("edit_file", m{"path": "a", "old_string": "3", "new_string": "three"})
	b.call("write_file", m{"path": "b", "content": "2\n"})
	b.call("write_file", m{"path": "c", "content": "c\n"})
	b.ask.during = func(req confirm.Request) {
		if req.File() == nil && len(b.ask.asked) == 1 {
			scratch.Write(t, filepath.Join(b.dir, "a"), "zero\n1\n2\n3\n")
			scratch.Write(t, filepath.Join(b.dir, "b"), "theirs\n")
		}
	}
	res := b.settle()
	b.want(res, false, "Wrote a", "Created c", "merged with the new text", "b changed while the edit was being reviewed: nothing was written. That change and the edit conflict")
	if b.read("a") != "zero\n1\n2\nthree\n" || b.read("b") != "theirs\n" || b.read("c") != "c\n" {
		t.Errorf("a %q, b %q", b.read("a"), b.read("b"))
	}
	if len(b.ask.asked) != 2 || !b.ask.asked[1].Force || len(confirm.As[*confirm.Edits](b.ask.asked[1]).Changes) != 2 || !strings.Contains(fmt.Sprint(b.ask.asked[1].Notes), "merged, look again") {
		t.Errorf("%d questions, %+v", len(b.ask.asked), b.ask.asked[1].Notes)
	}
}

// A file that changes during each review is not written in the end: that is told, and a
// command does not run on the files as they are.
func TestAFileChangesDuringEachReview(t *testing.T) {
	const told = "a file changed again each time that the changes were reviewed (10 times)"
	keepsChanging := func() *bench {
		b := newBench(t, map[string]string{"a": "0\nx\nthree\n", "b": "b\n"})
		b.ask.during = func(req confirm.Request) {
			if !req.Later {
				b.write("a", fmt.Sprintf("%d\nx\nthree\n", len(b.ask.asked)))
			}
		}
		return b
	}
	b := keepsChanging()
	b.want(b.call("patch", m{"diff": "*** Update File: a\n@@\n-three\n+3\n*** Update File: b\n@@\n-b\n+B\n"}), true, "a, b was not written", told)
	if got := b.read("a"); got != "10\nx\nthree\n" || b.read("b") != "b\n" {
		t.Errorf("a %q, b %q", got, b.read("b"))
	}
	b = keepsChanging().gather()
	b.call("edit_file", m{"path": "a", "old_string": "three", "new_string": "3"})
	b.want(b.call("execute_command", m{"command": "touch ran"}), true, "a was not written", told, "this call was not carried out")
	if b.exists("ran") || b.set.Pending() != 0 {
		t.Errorf("ran %v, %d files are pending", b.exists("ran"), b.set.Pending())
	}
}

// An edit that the encoding of a moved file cannot store is refused at once, and the other
// changes of the turn are written.
func TestAMovedFileKeepsItsEncoding(t *testing.T) {
	b := newBench(t, map[string]string{"latin": "caf\xe9\none\n", "other": "a\n"}).gather()
	b.call("edit_file", m{"path": "other", "old_string": "a", "new_string": "b"})
	b.call("move_file", m{"path": "latin", "to": "moved"})
	b.want(b.call("edit_file", m{"path": "moved", "old_string": "one", "new_string": "5 €"}), true, "moved: nothing was changed: line 2 holds '€' (U+20AC), which iso-8859-1 cannot store")
	b.want(b.call("edit_file", m{"path": "moved", "old_string": "one", "new_string": "é"}), false, "latin → moved is moved")
	b.want(b.settle(), false, "Wrote other", "Moved latin → moved")
	if got := b.read("moved"); got != "caf\xe9\n\xe9\n" || b.read("other") != "b\n" {
		t.Errorf("moved %q, other %q", got, b.read("other"))
	}
}

// What rules decide is not gathered, and the fit of an edit to a file with keys shows only
// after an answer.
func TestWhatIsNotGathered(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n", ".env": "KEY=1\n"}).gather()
	b.ask.verdict = confirm.Verdict{Decision: confirm.Approve, Rule: true}
	b.want(b.call("write_file", m{"path": "a", "content": "2\n"}), false, "Wrote a")
	b.ask.verdict = confirm.Verdict{Decision: confirm.Approve}
	b.want(b.call("edit_file", m{"path": ".env", "old_string": "KEY=1", "new_string": "KEY=2"}), false, "Wrote .env")
	if b.set.Pending() != 0 || b.read("a") != "2\n" {
		t.Error("gathered")
	}
}

// What follows a review is told the call that staged the last change, whose place in the
// conversation is known.
func TestSettledKnowsTheCall(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"})
	var calls []string
	b.deps.Settled = func(_ context.Context, call Call, _ *Result) { calls = append(calls, call.ID) }
	b.gather()
	if _, err := b.set.Call(t.Context(), "write_file", Call{ID: "c7", Args: []byte(`{"path":"a","content":"2\n"}`)}); err != nil {
		t.Fatal(err)
	}
	b.settle()
	if !slices.Equal(calls, []string{"c7"}) {
		t.Errorf("%q", calls)
	}
}

// TestApart: a command that sees no file of the folder needs no review first; one that names a pending file does.
func TestApart(t *testing.T) {
	for line, apart := range map[string]bool{
		"kill 999999999": true, "ping -c 1 localhost; journalctl -n 1": true, "curl -s -X POST localhost:9/x": true,
		"curl -d @new localhost:9": false, "curl --data=new localhost:9": false, "curl -Tnew localhost:9": false, "curl -o a localhost:9": false,
		"curl -s localhost:9 > b": false, "kill $(cat a)": false, "ping x && make": false,
	} {
		b := newBench(t, map[string]string{"a": "1\n"}).gather()
		b.call("write_file", m{"path": "new", "content": "n\n"})
		asked := -1
		b.ask.during = func(req confirm.Request) {
			if _, runs := req.Subject.(*confirm.Command); runs && asked < 0 {
				asked = b.set.Pending()
				b.ask.verdict = confirm.Verdict{}
			}
		}
		b.call("execute_command", m{"command": line})
		if asked != map[bool]int{true: 1}[apart] {
			t.Errorf("%s: asked with %d pending files, apart %v", line, asked, apart)
		}
	}
}
