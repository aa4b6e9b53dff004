//go:build unix

package main

import (
	"os"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// TestHintsNameTheAnswersOfTheQuestion: a key that does nothing names the answers of this question,
// at a limit, in the file view of a turn, and in that view y answers.
func TestHintsNameTheAnswersOfTheQuestion(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, reading(3)...), map[string]string{"main.go": program})
	d.sit("--max-turns", "1")
	d.say("read")
	d.limited(`Request limit reached: 1 of 1`)
	d.Press("home", "enter")
	d.WaitFor(`Press → to choose an answer, then Enter · 1 one more request · 2 add 1 request · 3 stop here`)
	d.Press("n")
	d.idle()
	d.leave()

	d = newDesk(t, llmtest.NewServer(t, llmtest.Turn{Calls: []llmtest.Call{writeCall("a.txt", "a\n"), writeCall("b.txt", "b\n")}}, llmtest.Turn{Text: "Done."}), nil)
	d.keep("config.yaml", "review: turn\n")
	d.sit()
	d.say("write")
	d.asked(`all changes of this turn: 2 files`)
	d.Press("enter")
	d.WaitFor(`(?s)file 1 of 2.*1 y accept the files marked ● · 3 n no`)
	d.Press("a")
	d.WaitFor(`That key does nothing here\. · 1 accept the files marked ● · 3 no`)
	d.Press("y")
	d.WaitFor(`You have not opened 1 file yet\. Press y again to accept anyway\.`)
	d.Press("tab")
	d.WaitFor(`file 2 of 2`)
	d.Press("y")
	d.WaitFor(`Done\.`)
	d.idle()
	if d.read("a.txt") != "a\n" || d.read("b.txt") != "b\n" {
		t.Error("the files were not written")
	}
	d.leave()
}

// TestAYesToAFileOfKeysTellsHowLong: it lasts until the session ends, and /permissions ends it.
func TestAYesToAFileOfKeysTellsHowLong(t *testing.T) {
	t.Parallel()
	read := llmtest.Turn{Calls: []llmtest.Call{{Name: "read_file", Args: `{"path":".env"}`}}}
	d := newDesk(t, llmtest.NewServer(t, read, read, llmtest.Turn{Text: "Twice."}, read, llmtest.Turn{Text: "No."}), map[string]string{".env": "KEY=x\n"})
	d.sit()
	d.say("read")
	d.asked(`(?s)It may contain passwords, and its contents would be sent to the model\. A yes\s+lasts\s+until\s+the\s+session\s+ends \(/permissions\)`)
	d.Press("y")
	d.WaitFor(`Twice\.`)
	d.say("/permissions")
	d.WaitFor(`(?m)ask again: reading .*\.env`)
	d.Type("ask again")
	d.Press("enter")
	d.WaitFor(`asks again: reading .*\.env`)
	d.say("again")
	d.asked(`(?s)asks again.*read a file that may contain passwords`)
	d.Press("n")
	d.WaitFor(`Declined\. What should I do instead\?`)
	d.leave()
}

// TestShiftTabAtAQuestion: the mode changes, and the question still waits.
func TestShiftTabAtAQuestion(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Calls: []llmtest.Call{writeCall("a.txt", "a\n")}}, llmtest.Turn{Calls: []llmtest.Call{writeCall("b.txt", "b\n")}}, llmtest.Turn{Text: "Done."}), nil)
	d.sit()
	d.say("write")
	d.asked(`create a\.txt`)
	d.Press("shift+tab")
	d.WaitFor(`accept-edits mode from the next question on; this one still needs your answer`)
	if _, err := os.Stat(d.path("a.txt")); err == nil {
		t.Error("a.txt was written without an answer")
	}
	d.Press("y")
	d.WaitFor(`Done\.`)
	if d.read("b.txt") != "b\n" {
		t.Error("b.txt was not written")
	}
	d.leave()
}

// TestModelsAreChecked: a name that the server does not list is a warning.
func TestModelsAreChecked(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Text: "Hi."}), nil)
	d.sit()
	d.say("/model openai/test-modle")
	d.WaitFor(`(?s)Model: openai/test-modle.*does not list this model.*did\s+you mean openai/test-model\?`)
	d.say("/model openai/test-model")
	d.WaitFor(`(?m)^ +Model: openai/test-model$`)
	d.say("/plan")
	d.WaitFor(`Plan mode: the model reads and plans`)
	d.say("/review")
	d.WaitFor(`❯ Review the uncommitted changes`)
	d.Press("ctrl+c")
	d.leave()
	if n := len(d.server.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// TestSharpProposesALine: "# text" becomes a prompt that asks for a line of AGENTS.md; the line is an edit like
// any other. A heading above further lines stays a prompt.
func TestSharpProposesALine(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Calls: []llmtest.Call{writeCall("AGENTS.md", "- use tabs\n")}}, llmtest.Turn{Text: "Done."}, llmtest.Turn{Text: "A heading."}), nil)
	d.sit()
	d.say("# use tabs")
	d.WaitFor(`(?s)the model proposes it as an edit:.*❯ Add this line to AGENTS\.md, and change nothing else: use tabs`)
	if n := len(d.server.Requests()); n != 0 {
		t.Errorf("%d requests before it was sent", n)
	}
	d.Press("enter")
	d.asked(`(?s)create AGENTS\.md.*use tabs`)
	d.Press("y")
	d.WaitFor(`Done\.`)
	d.idle()
	if got := d.read("AGENTS.md"); got != "- use tabs\n" {
		t.Errorf("AGENTS.md: %q", got)
	}
	d.Paste("# A heading\n\nand its text")
	d.Press("enter")
	d.WaitFor(`A heading\.`)
	d.idle()
	d.leave()
}
