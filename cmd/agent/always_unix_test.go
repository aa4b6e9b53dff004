//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
)

// TestAlwaysHere: A shows the narrowest rule, which can be edited; Enter makes it for as
// long as chosen. A rule for the project counts in later sessions until it is taken back.
func TestAlwaysHere(t *testing.T) { alwaysKey(t, &pressed{by: map[keys.Place]map[string]bool{}}) }

func alwaysKey(t *testing.T, seen *pressed) {
	d := newDesk(t, llmtest.NewServer(t, runTurn("go vet ./a ./b || true > made"), runTurn("go vet ./a"), runTurn("go vet ./b"), llmtest.Turn{Text: "First."},
		runTurn("go vet ./c"), llmtest.Turn{Text: "Second."}, runTurn("go vet ./d")), nil)
	d.sit()
	d.say("check it")
	d.asked(`true > made`)
	d.Press("A") // none is offered: a redirection is not covered by a rule
	d.Press("y")
	d.asked(`A allow all .go vet ….\s+from now on`)
	d.steps(seen, keys.Question, step{"A", `(?m)^rule: run\(go vet \*\)$`})
	d.WaitFor(`\[this session\] · this project · 10 times · 1 hour`)
	d.Press("esc")
	d.gone("rule: ")
	d.asked(`A allow all .go vet`)
	d.Press("A", "tab")
	d.WaitFor(`Enter yes, and allow it for this project`)
	d.Press("enter")
	d.WaitFor(`From now on all .go vet …. are allowed without a question in this project\. Undo: /permissions`)
	d.WaitFor(`First\.`)
	d.idle()
	d.say("/permissions")
	d.WaitFor(`allow +run\(go vet \*\)\s+\(.*projects/`)
	d.Press("esc")
	d.leave()

	d.sit()
	d.say("check it again")
	d.WaitFor(`Second\.`)
	d.idle()
	d.say("/permissions")
	d.WaitFor(`remove the rule: allow run\(go vet \*\)`)
	d.Press("end", "enter")
	d.WaitFor(`removed: allow run\(go vet \*\)`)
	d.say("once more")
	d.asked(`go vet \./d`)
	d.Press("n")
	d.idle()
	d.leave()
}

// runTurn is an answer that runs a command.
func runTurn(command string) llmtest.Turn {
	return llmtest.Turn{Calls: []llmtest.Call{{Name: "execute_command", Args: `{"command":"` + command + `"}`}}}
}

// TestRuleInThePanel: the rule is checked while it is typed, and nothing typed is lost; a
// rule for some uses is counted, listed, and taken back.
func TestRuleInThePanel(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, runTurn("go vet ./a"), runTurn("go vet ./b"), runTurn("go vet ./c"), runTurn("go vet ./d"), llmtest.Turn{Text: "First."},
		runTurn("go vet ./e"), llmtest.Turn{Text: "Second."}), nil)
	d.sit()
	d.say("check it")
	d.asked(`A allow all .go vet ….\s+from now on`)
	d.Press("A")
	d.WaitFor(`rule: run`)
	d.Press("ctrl+u")
	d.Type("run(go *)")
	d.WaitFor(`! it covers whatever go can do: keep its first argument`)
	d.Press("enter")
	d.Sync()
	d.WaitFor(`(?m)^rule: run\(go \*\)$`)
	d.Press("ctrl+u")
	d.Type("run(go vet **)")
	d.WaitFor(`\*\* also covers every option`)
	d.Press("left", "backspace", "tab", "tab", "down", "down", "down", "down", "down", "down", "down", "down")
	d.WaitFor(`Enter yes, and allow it 2 times more`)
	d.Press("enter")
	d.WaitFor(`From now on all .go vet …. are allowed without a question for 2 times`)
	d.asked(`You allowed run\(go vet \*\) for the session; you are asked again because it is used up`)
	if screen := d.Screen(); !strings.Contains(screen, "./d") {
		t.Errorf("not asked about the fourth:\n%s", screen)
	}
	d.Press("A", "tab", "tab", "tab", "enter")
	d.WaitFor(`First\.`)
	d.WaitFor(`default mode · 1 grant`)
	d.idle()
	d.say("/permissions")
	d.WaitFor(`(?m)^ +run\(go vet \*\)  \(until \d\d:\d\d\)$`)
	d.Press("end", "enter")
	d.WaitFor(`asks again: run\(go vet \*\)`)
	d.gone("1 grant")
	d.say("again")
	d.asked(`go vet \./e`)
	d.Press("n")
	d.idle()
	d.leave()
	if log := d.kept("audit.jsonl"); !strings.Contains(log, `"always":"run(go vet *), 2 times"`) || !strings.Contains(log, `"by":"rule allow run(go vet *) (your answer, 2 times)"`) {
		t.Errorf("the audit log does not name the rule:\n%s", log)
	}
}

// TestRuleForOneOfSeveral: in a line of several commands, A makes a rule for the one that is
// not allowed yet, and is missing if several are not.
func TestRuleForOneOfSeveral(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, runTurn("go vet ./a && make b"), runTurn("go vet ./a"), runTurn("go vet ./b && make b | head -3"), runTurn("make b && go vet ./c"), llmtest.Turn{Text: "First."}),
		map[string]string{"Makefile": "b:\n\ttrue\n"})
	d.sit()
	d.say("check it")
	d.asked(`go vet \./a && make b`)
	if screen := d.Screen(); strings.Contains(screen, "A always") {
		t.Errorf("a rule is offered for two commands:\n%s", screen)
	}
	d.Press("y")
	d.asked(`A allow all .go vet ….\s+from now on`)
	d.Press("A", "enter")
	d.asked(`A allow .make b. from now on`)
	d.Press("A")
	d.WaitFor(`The other commands in this line are allowed or read-only; the rule is for make b\.`)
	d.WaitFor(`(?m)^rule: run\(make b\)$`)
	d.Press("enter")
	d.WaitFor(`First\.`)
	d.idle()
	d.leave()
}

// TestRuleEndsWithItsContent: a rule for the session ends when a file that it ran was
// changed from outside, not when the person approved the change, and the question explains why.
func TestRuleEndsWithItsContent(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, runTurn("make a"), runTurn("make b"),
		llmtest.Turn{Calls: []llmtest.Call{writeCall("Makefile", "a b:\n\techo approved\n")}}, runTurn("make a"), llmtest.Turn{Text: "First."}, runTurn("make a"), llmtest.Turn{Text: "Second."}),
		map[string]string{"Makefile": "a b:\n\ttrue\n"})
	d.sit()
	d.say("make it")
	d.asked(`A allow .make a. from now on`)
	d.Press("A", "backspace")
	d.WaitFor(`! want text between`)
	d.Press("ctrl+u")
	d.Type("run(make a)")
	d.WaitFor(`(?m)^rule: run\(make a\)$`)
	d.Press("enter")
	d.asked(`make b`)
	d.Press("y")
	d.asked(`edit Makefile`)
	d.Press("y")
	d.WaitFor(`First\.`)
	d.idle()
	d.write("Makefile", "a b:\n\tfalse\n")
	d.say("again")
	d.asked(`asked again because Makefile has changed`)
	d.Press("y")
	d.WaitFor(`Second\.`)
	d.idle()
	d.leave()
}

// TestRuleAboutEdits: A on an edit allows edits of the files that the rule names, and no
// others.
func TestRuleAboutEdits(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t,
		llmtest.Turn{Calls: []llmtest.Call{writeCall("docs/a.md", "a\n"), writeCall("docs/sub/b.md", "b\n"), writeCall("c.md", "c\n")}}, llmtest.Turn{Text: "Done."}), nil)
	d.sit()
	d.say("write")
	d.asked(`create docs/a\.md`)
	d.Press("?")
	d.WaitFor(`A allow edits of docs/a\.md from now on`)
	d.Press("A")
	d.WaitFor(`(?m)^rule: edit\(docs/a\.md\)$`)
	d.Press("ctrl+u")
	d.Type("edit(**)")
	d.WaitFor(`! it covers every file`)
	d.Press("ctrl+u")
	d.Type("edit(docs/**)")
	d.WaitFor(`Enter yes, and allow it for this session`)
	d.Press("enter")
	d.asked(`create c\.md`)
	d.Press("n")
	d.WaitFor(`Declined\. What should I do`)
	if d.read("docs/a.md") != "a\n" || d.read("docs/sub/b.md") != "b\n" {
		t.Error("not written")
	}
	d.absent("c.md")
	d.idle()
	d.leave()
}

// TestLongFolderName: a session starts, and keeps a rule, in a folder with the longest name
// that a file system allows.
func TestLongFolderName(t *testing.T) {
	t.Parallel()
	vet := runTurn("go vet ./a")
	d := newDesk(t, llmtest.NewServer(t, vet, llmtest.Turn{Text: "First."}, vet, llmtest.Turn{Text: "Second."}), nil)
	d.dir = filepath.Join(d.dir, strings.Repeat("n", 255))
	d.write("a.txt", "a\n")
	d.sit()
	d.say("check it")
	d.asked(`A allow all .go vet ….\s+from now on`)
	d.Press("A", "tab", "enter")
	d.WaitFor(`First\.`)
	d.leave()

	d.sit()
	d.say("check it again")
	d.WaitFor(`Second\.`)
	d.leave()
}
