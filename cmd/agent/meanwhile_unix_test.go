//go:build unix

package main

import (
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// TestSomebodyElseWroteMeanwhile: without an editor none is named, and a review tells which of its
// files were not written.
func TestSomebodyElseWroteMeanwhile(t *testing.T) {
	t.Parallel()
	edit := func(name string) llmtest.Call {
		return llmtest.Call{Name: "edit_file", Args: `{"path":"` + name + `","old_string":"two","new_string":"TWO"}`}
	}
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Calls: []llmtest.Call{edit("a.txt")}}, llmtest.Turn{Text: "One."}), map[string]string{"a.txt": "one\ntwo\n"})
	d.sit()
	d.say("edit")
	d.asked(`edit a\.txt`)
	d.write("a.txt", "one\nTWO\n")
	d.Press("y")
	d.WaitFor(`already saved by another\s+program: not in /undo`)
	d.WaitFor(`One\.`)
	d.leave()

	d = newDesk(t, llmtest.NewServer(t, llmtest.Turn{Calls: []llmtest.Call{edit("a.txt"), edit("b.txt")}}, llmtest.Turn{Text: "Both."}, llmtest.Turn{Text: "I see."}), map[string]string{"a.txt": "one\ntwo\n", "b.txt": "one\ntwo\n"})
	d.keep("config.yaml", "review: turn\n")
	d.sit()
	d.say("edit")
	d.asked(`all changes of this turn: 2 files`)
	d.Press("enter")
	d.WaitFor(`file 1 of 2`)
	d.Press("tab")
	d.WaitFor(`file 2 of 2`)
	d.write("b.txt", "one\nzwei\n")
	d.Press("y")
	d.asked(`(?s)all changes of this turn: 1 file.*conflict: b\.txt changed while you looked`)
	d.Press("enter")
	d.WaitFor(`file 1 of 1`)
	d.Press("y")
	d.WaitFor(`(?s)Review of 2 changed files.*not written: conflict: b\.txt changed while`)
	d.WaitFor(`I see\.`)
	d.idle()
	if a, b := d.read("a.txt"), d.read("b.txt"); a != "one\nTWO\n" || b != "one\nzwei\n" {
		t.Errorf("%q, %q", a, b)
	}
	d.leave()
}
