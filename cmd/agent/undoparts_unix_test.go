//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// TestUndoOfParts: /undo pick lists the changes; one hunk of an older one is taken back, the
// other stays, and so does the later change. /redo brings it back.
func TestUndoOfParts(t *testing.T) {
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
	d.WaitFor(`Take back which change`)
	d.Press("down", "enter")
	d.asked(`take back this change: 1 file \+2 −2`)
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
	d.gone("y yes")
	d.say("/redo")
	d.asked(`undo: restores the file`)
	d.Press("y")
	d.WaitFor(`redone: a\.txt`)
	if got := d.read("a.txt"); got != second {
		t.Errorf("after /redo a.txt holds %q", got)
	}
	d.leave()
}
