//go:build unix

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// TestUndoOfParts: /undo pick lists the changes; one hunk of an older one is taken back, the
// other stays, and so does the later change. /redo brings it back.
func TestUndoOfParts(t *testing.T) {
	t.Parallel()
	text := thirty()
	first := strings.NewReplacer("line 3\n", "three\n", "line 20\n", "twenty\n").Replace(text)
	second := strings.Replace(first, "line 12\n", "twelve\n", 1)
	server := llmtest.NewServer(t,
		llmtest.Turn{Calls: []llmtest.Call{writeCall("a.txt", first)}}, llmtest.Turn{Text: "One."},
		llmtest.Turn{Calls: []llmtest.Call{writeCall("a.txt", second)}}, llmtest.Turn{Text: "Two."})
	d := newDesk(t, server, map[string]string{"a.txt": text})
	d.sit()
	for _, prompt := range []string{"first", "second"} {
		d.say(prompt)
		d.asked(`edit a\.txt`)
		d.Press("y")
		d.idle()
	}
	d.say("/undo pick")
	d.WaitFor(`Undo which change`)
	d.Press("down", "enter")
	d.asked(`undo this change: 1 file \+2 −2`)
	d.Press("enter")
	d.WaitFor(`file 1 of 1`)
	d.Press("]")
	d.WaitFor(`hunk 1 of 2`)
	d.Press("]")
	d.WaitFor(`hunk 2 of 2`)
	d.Press("space")
	d.WaitFor(`space includes it`)
	d.Press("esc")
	d.WaitFor(`1 of 2 hunks`)
	d.Press("y")
	d.WaitFor(`undone: a\.txt`)
	want := strings.Replace(second, "three\n", "line 3\n", 1)
	if got := d.read("a.txt"); got != want {
		t.Errorf("a.txt holds %q", got)
	}
	d.gone("y accept")
	d.say("/redo")
	d.asked(`redo what was undone: restores the file`)
	d.Press("y")
	d.WaitFor(`redone: a\.txt`)
	if got := d.read("a.txt"); got != second {
		t.Errorf("after /redo a.txt holds %q", got)
	}
	d.leave()
}

// lines returns thirty lines with others in place of some: "3:three 20:twenty".
func lines(replaced string) string {
	text := thirty()
	for word := range strings.FieldsSeq(replaced) {
		number, by, _ := strings.Cut(word, ":")
		text = strings.Replace(text, "line "+number+"\n", by+"\n", 1)
	}
	return text
}

// TestUndoIsMergedWithLaterChanges: an undo of a file that somebody else changed since, and
// its redo, are proposed merged with that change; a conflict is named, and nothing is
// written.
func TestUndoIsMergedWithLaterChanges(t *testing.T) {
	t.Parallel()
	server := llmtest.NewServer(t, llmtest.Turn{Calls: []llmtest.Call{writeCall("a.txt", lines("3:three"))}}, llmtest.Turn{Text: "One."})
	d := newDesk(t, server, map[string]string{"a.txt": lines("")})
	holds := func(want string) {
		t.Helper()
		if got := d.read("a.txt"); got != lines(want) {
			t.Errorf("a.txt holds %q", got)
		}
	}
	const merged = `a\.txt was changed since: this is merged with the later changes, which stay`
	d.sit()
	d.say("first")
	d.asked(`edit a\.txt`)
	d.Press("y")
	d.idle()
	d.write("a.txt", lines("3:three 25:mine"))
	d.say("/undo")
	d.asked(merged)
	d.WaitFor(`merges the file as it was with the later changes`)
	d.WaitFor(`- .*three`)
	holds("3:three 25:mine")
	d.Press("n")
	d.WaitFor(`nothing was undone`)
	d.gone("y accept")
	holds("3:three 25:mine")
	d.say("/undo")
	d.asked(merged)
	d.Press("y")
	d.WaitFor(`undone: a\.txt`)
	d.gone("y accept")
	holds("25:mine")
	d.write("a.txt", lines("12:more 25:mine"))
	d.say("/redo")
	d.asked(merged)
	d.Press("y")
	d.WaitFor(`redone: a\.txt`)
	d.gone("y accept")
	holds("3:three 12:more 25:mine")
	d.write("a.txt", lines(""))
	d.say("/undo")
	d.WaitFor(`a\.txt needs no change: it already has its earlier content`)
	d.write("a.txt", lines("3:other 12:more"))
	d.say("/undo")
	d.WaitFor(`a\.txt cannot be undone: it was\s+changed since, and the later change of line 3\s+conflicts`)
	holds("3:other 12:more")
	d.idle()
	d.leave()
}

// TestUndoOfATurnIsMerged: of a turn's files, one is merged with a later change and one, in
// conflict, is named and stays.
func TestUndoOfATurnIsMerged(t *testing.T) {
	t.Parallel()
	calls := []llmtest.Call{writeCall("a.txt", lines("3:three")), writeCall("b.txt", lines("3:three")), writeCall("c.txt", lines("3:three"))}
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Calls: calls}, llmtest.Turn{Text: "One."}), map[string]string{"a.txt": lines(""), "b.txt": lines(""), "c.txt": lines("")})
	d.sit()
	d.say("first")
	for _, name := range []string{"a", "b", "c"} {
		d.asked(`edit ` + name + `\.txt`)
		d.Press("y")
	}
	d.WaitFor(`One\.`)
	d.idle()
	d.write("a.txt", lines("3:three 25:mine"))
	d.write("b.txt", lines("3:other"))
	d.say("/undo turn")
	d.asked(`undo the last turn: 2 files`)
	d.WaitFor(`a\.txt was changed since: this is merged`)
	d.WaitFor(`b\.txt is unchanged: it was changed since, and the later\s+change of line\s+3`)
	d.Press("y")
	d.WaitFor(`undone: a\.txt, c\.txt`)
	for name, want := range map[string]string{"a.txt": "25:mine", "b.txt": "3:other", "c.txt": ""} {
		if got := d.read(name); got != lines(want) {
			t.Errorf("%s holds %q", name, got)
		}
	}
	d.idle()
	d.leave()
}

// TestUndoOfPartsInPlainLines: on plain lines a part of an earlier edit is taken back by its
// number, and the later edit can still be undone.
func TestUndoOfPartsInPlainLines(t *testing.T) {
	t.Parallel()
	server := llmtest.NewServer(t,
		llmtest.Turn{Calls: []llmtest.Call{writeCall("a.txt", lines("3:three 20:twenty"))}}, llmtest.Turn{Text: "One."},
		llmtest.Turn{Calls: []llmtest.Call{writeCall("a.txt", lines("3:three 12:twelve 20:twenty"))}}, llmtest.Turn{Text: "Two."})
	d := newDesk(t, server, map[string]string{"a.txt": lines("")})
	d.open()
	d.run("agent", "--screen-reader", "--permission-mode", "accept-edits")
	read := func(pattern string) {
		t.Helper()
		d.WaitFor(pattern)
		<-time.After(600 * time.Millisecond) // as long as a person needs to read; earlier lines do not answer
	}
	d.WaitFor(`(?m)^you:`)
	d.say("first")
	d.WaitFor(`(?s)agent: One\..*you:`)
	d.say("second")
	d.WaitFor(`(?s)agent: Two\..*you:`)
	d.say("/undo pick")
	read(`(?s)Undo which change\?.*Which\? \[1 to 2`)
	d.Type("2\r")
	read(`(?s)Part 1 of 2: a\.txt.*\+line 3.*Part 2 of 2.*answer: 1 yes to all parts`)
	d.Type("only 1\r")
	d.WaitFor(`(?s)undone: a\.txt.*you:`)
	if got := d.read("a.txt"); got != lines("12:twelve 20:twenty") {
		t.Errorf("after the part, a.txt holds %q", got)
	}
	d.say("/undo")
	read(`(?s)a\.txt was changed since: this is merged.*-twelve.*answer: 1 yes`)
	d.Type("1\r")
	d.WaitFor(`(?s)undone: a\.txt.*undone: a\.txt.*you:`)
	if got := d.read("a.txt"); got != lines("20:twenty") {
		t.Errorf("after the undo, a.txt holds %q", got)
	}
	d.Press("ctrl+d")
	if code := d.Wait(); code != 0 {
		t.Errorf("exit status %d", code)
	}
}
