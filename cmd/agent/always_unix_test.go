//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
)

// TestAlwaysHere: A writes the rule that the question shows, for this folder, and this and
// later sessions no longer ask.
func TestAlwaysHere(t *testing.T) { alwaysKey(t, pressed{}) }

func alwaysKey(t *testing.T, seen pressed) {
	run := func(command string) llmtest.Turn {
		return llmtest.Turn{Calls: []llmtest.Call{{Name: "execute_command", Args: `{"command":"` + command + `"}`}}}
	}
	d := newDesk(t, llmtest.NewServer(t, run("go vet ./a ./b || true > made"), run("go vet ./a"), run("go vet ./b"), llmtest.Turn{Text: "First."},
		run("go vet ./c"), llmtest.Turn{Text: "Second."}), nil)
	d.sit()
	d.say("check it")
	d.asked(`true > made`)
	d.Press("A") // none is offered: a redirection is not covered by a rule
	d.Press("y")
	d.asked(`A always here: run\(go vet \*\)`)
	d.steps(seen, keys.Question, step{"A", `Written: allow run\(go vet \*\) in`})
	d.WaitFor(`First\.`)
	d.idle()
	d.say("/permissions")
	d.WaitFor(`allow run\(go vet \*\)  \(.*projects/`)
	d.Press("esc")
	d.leave()

	d.sit()
	d.say("check it again")
	d.WaitFor(`Second\.`)
	d.leave()
}

// TestLongFolderName: a session starts, and keeps a rule, in a folder with the longest name
// that a file system allows.
func TestLongFolderName(t *testing.T) {
	vet := llmtest.Turn{Calls: []llmtest.Call{{Name: "execute_command", Args: `{"command":"go vet ./a"}`}}}
	d := newDesk(t, llmtest.NewServer(t, vet, llmtest.Turn{Text: "First."}, vet, llmtest.Turn{Text: "Second."}), nil)
	d.dir = filepath.Join(d.dir, strings.Repeat("n", 255))
	d.write("a.txt", "a\n")
	d.sit()
	d.say("check it")
	d.asked(`A always here: run\(go vet \*\)`)
	d.Press("A")
	d.WaitFor(`First\.`)
	d.leave()

	d.sit()
	d.say("check it again")
	d.WaitFor(`Second\.`)
	d.leave()
}
