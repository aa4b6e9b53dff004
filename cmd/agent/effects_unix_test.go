//go:build unix

package main

import (
	"os"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// TestLineIsUndone: one /undo takes back all that a line behind a ! changed, /diff shows
// it before, and /redo brings it back.
func TestLineIsUndone(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t), map[string]string{"a.txt": "old\n", "gone": "lost\n"})
	d.sit()
	d.say("!echo new > a.txt; rm gone; ln -s a.txt link")
	d.WaitFor(`exit 0.* · 3 files changed`)
	d.say("/diff")
	d.WaitFor(`all 3 files`)
	d.Press("esc")
	d.say("/undo")
	d.asked(`undo what echo new > a.txt; rm gone; ln -s a.txt link changed: 3 files`)
	d.Press("y")
	d.WaitFor(`undone: `)
	if a, gone := d.read("a.txt"), d.read("gone"); a != "old\n" || gone != "lost\n" {
		t.Errorf("a.txt %q, gone %q", a, gone)
	}
	if _, err := os.Lstat(d.dir + "/link"); !os.IsNotExist(err) {
		t.Error("the link is there:", err)
	}
	d.say("/redo")
	d.asked(`redo what was undone: 3 files`)
	d.Press("y")
	d.WaitFor(`redone: `)
	if to, err := os.Readlink(d.dir + "/link"); err != nil || to != "a.txt" || d.read("a.txt") != "new\n" {
		t.Errorf("link %q (%v), a.txt %q", to, err, d.read("a.txt"))
	}
	d.leave()
}
