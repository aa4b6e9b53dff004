//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// A command that only reads runs without a question, and the screen shows why. The
// question about a dangerous one is marked, and "a" does not answer it.
func TestSafeAndDangerousCommands(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, runCall("cat main.go | wc -l"), runCall("rm -rf build"), llmtest.Turn{Text: "All done."}), map[string]string{"main.go": program, "build/x": "x"})
	d.sit()
	d.say("look around")
	d.WaitFor(`exit 0.* · safe: read-only`)
	d.asked(`Dangerous \(always asked\): deletes files permanently`)
	if screen := d.Screen(); strings.Contains(strings.ToLower(screen), "a always") {
		t.Errorf("always is offered:\n%s", screen)
	}
	d.Press("a")
	d.Press("A")
	d.Press("n")
	d.idle()
	if d.read("build/x") != "x" {
		t.Error("it was run")
	}
	d.leave()
}

// The question about a command names its unusual effects, and is silent about an ordinary one.
func TestUnusualCommandIsExplained(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, runCall("touch made"), runCall("npm install left-pad && touch $NAME"), llmtest.Turn{Text: "All done."}), nil)
	d.sit()
	d.say("go on")
	d.asked(`touch made`)
	if screen := d.Screen(); strings.Contains(screen, "! Unusual") {
		t.Errorf("an ordinary command:\n%s", screen)
	}
	d.Press("1")
	d.asked(`! Unusual: installs packages · \$NAME is only known when it runs`)
	d.Press("3")
	d.idle()
	d.leave()
}

// A command of any length and nesting is asked about like another, and refused by a key.
func TestHugeCommandIsAskedAbout(t *testing.T) {
	t.Parallel()
	const length = 130_000 // a longer one is not run
	pieces := []string{"$(", "ls|", "<(", "time "}
	turns := []llmtest.Turn{}
	for _, piece := range pieces {
		turns = append(turns, runCall(strings.Repeat(piece, length/len(piece)))) // a no ends the turn
	}
	d := newDesk(t, llmtest.NewServer(t, turns...), nil)
	d.sit()
	for range pieces {
		d.say("go on")
		d.WaitFor(`Dangerous \(always asked\): too long to be judged`)
		d.awakeWith(func(row string) bool {
			return strings.Contains(row, "more lines: scroll to the end before you accept")
		})
		d.Press("n")
		d.idle()
	}
	d.leave()
}
