package undo_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// net returns the net effect of changes, a line for each file.
func (w *tree) net(s undo.Scope) []string {
	w.T.Helper()
	log, err := undo.Read(w.T.Context(), w.Root)
	must(w.T, err)
	all, err := log.Net(w.T.Context(), s)
	must(w.T, err)
	var out []string
	for _, n := range all {
		added, removed := n.Counts()
		line := fmt.Sprintf("%s +%d -%d", n.Name, added, removed)
		for _, w := range []struct {
			is   bool
			word string
		}{{n.Created, " created"}, {n.Deleted, " deleted"}, {n.Others, " others"}, {n.Err != nil, " unknown"}} {
			if w.is {
				line += w.word
			}
		}
		out = append(out, line)
	}
	return out
}

func TestNet(t *testing.T) {
	w := open(t)
	w.Write("a", "1\n2\n")
	w.Edit("a", "one\n2\n", turn(1))
	w.Edit("a", "1\n2\n3\n", turn(2))
	w.Edit("b", "b\n", turn(2))
	w.Edit("c", "c\n", turn(2))
	w.undo(undo.LastChange)
	everything, last := undo.Scope{Range: undo.Everything, Session: "s"}, undo.Scope{Range: undo.LastTurn}
	if diff := cmp.Diff([]string{"a +1 -0", "b +1 -0 created"}, w.net(everything)); diff != "" {
		t.Error("the session:", diff)
	}
	if diff := cmp.Diff([]string{"a +2 -1", "b +1 -0 created"}, w.net(last)); diff != "" {
		t.Error("the turn:", diff)
	}
	w = reopen(t, w.Dir(), w.Home)
	w.Write("a", "1\n2\n3\n4\n")
	must(t, os.Remove(w.Path("b")))
	if diff := cmp.Diff([]string{"a +2 -0 others", "b +0 -0 created deleted others"}, w.net(everything)); diff != "" {
		t.Error("after others:", diff)
	}
	log, err := undo.Read(t.Context(), w.Root)
	must(t, err)
	if n := log.Count(everything); n != 3 {
		t.Errorf("%d changes stand", n)
	}
	if got := w.net(undo.Scope{Range: undo.Everything, Session: "other"}); got != nil {
		t.Errorf("another session changed %q", got)
	}
	must(t, os.Remove(w.Path("a")))
	must(t, os.Mkdir(w.Path("a"), 0o755))
	if got := w.net(undo.Scope{Range: undo.Everything, File: "a"}); len(got) != 1 || !strings.Contains(got[0], "unknown") {
		t.Errorf("something else is in its place: %q", got)
	}
}

// TestNetOfAnOlderTurn: the content after a turn is found although a later turn has
// changed the file.
func TestNetOfAnOlderTurn(t *testing.T) {
	w := open(t)
	w.Write("a", "0\n")
	w.Edit("a", "1\n", call("s", "1"))
	w.Edit("a", "1\n2\n3\n", call("s", "2"))
	w.Write("a", "theirs\n")
	first := undo.Scope{Range: undo.Everything, Since: undo.Since{After: known(map[string]bool{"1": true})}}
	if diff := cmp.Diff([]string{"a +1 -1"}, w.net(first)); diff != "" {
		t.Error(diff)
	}
}

func TestNetAsADiff(t *testing.T) {
	for want, n := range map[string]undo.Net{
		"--- /dev/null": {Name: "f", After: "x\n", Created: true},
		"+++ /dev/null": {Name: "f", Before: "x\n", Deleted: true},
		"-x\n+y\n":      {Name: "f", Before: "x\n", After: "y\n"},
	} {
		if got := n.Diff(); !strings.Contains(got, want) {
			t.Errorf("want %q in %q", want, got)
		}
	}
	if got := (undo.Net{Name: "f", Before: "x\n", After: "x\n"}).Diff(); got != "" {
		t.Errorf("nothing changed: %q", got)
	}
}

// TestSinceAPromptWhoseCallsAreUnknown: the order of the changes decides about those whose calls were
// dropped from the conversation, and not about the others.
func TestSinceAPromptWhoseCallsAreUnknown(t *testing.T) {
	w := open(t)
	w.Edit("early", "x\n", call("s", "1"))
	prompt := w.Mark()
	w.Edit("taken", "x\n", call("s", "2"))
	w.Edit("late", "x\n", call("s", "3"))
	for name, tt := range map[string]struct {
		since undo.Since
		want  []string
	}{
		"by their order":   {undo.Since{Mark: prompt}, []string{"taken", "late"}},
		"calls come first": {undo.Since{After: known(map[string]bool{"1": false, "3": true}), Mark: 1}, []string{"taken", "late"}},
		"no mark":          {undo.Since{After: known(map[string]bool{"1": false, "3": true})}, []string{"late"}},
		"nothing is known": {undo.Since{}, []string{"early", "taken", "late"}},
	} {
		plan := w.find(undo.Scope{Range: undo.Everything, Since: tt.since})
		if diff := cmp.Diff(tt.want, names(plan)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
