//go:build unix

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/repl/keyboard"
)

// take moves the focus from a draft to the question. It presses Tab after a pause, as
// people do: right after a letter Tab may mean completion.
func (d *desk) take() {
	d.t.Helper()
	d.awake("Tab to answer")
	d.Press("tab")
	d.awake("y yes")
}

// deskBeforeAQuestion returns a session whose model is about to propose an edit, and a
// function that lets it.
func deskBeforeAQuestion(t *testing.T) (d *desk, ask func()) {
	t.Helper()
	gate := make(chan struct{})
	turn := editCall("hello", "good day")
	turn.Gate = gate
	d = newDesk(t, llmtest.NewServer(t, turn, llmtest.Turn{Text: "All done."}), map[string]string{"main.go": program})
	d.sit()
	d.say("be polite")
	d.WaitFor(`Esc stops`)
	return d, func() { close(gate) }
}

// A question comes while a prompt is half typed: the rest goes to the draft, however
// long the pause, and Tab lets the next key answer.
func TestAHalfTypedPromptDoesNotAnswer(t *testing.T) {
	t.Parallel()
	d, ask := deskBeforeAQuestion(t)
	d.Type("please ")
	d.WaitFor(`(?m)^❯ please`)
	ask()
	d.WaitFor(`good day`)
	d.awake("Tab to answer") // a pause to think
	d.Type("also y")
	d.WaitFor(`(?m)^❯ please also y$`)
	if d.read("main.go") != program {
		t.Fatal("a word of the draft approved the edit")
	}
	d.take()
	d.Press("y")
	d.WaitFor(`All done`)
	d.WaitFor(`(?m)^❯ please also y$`)
	if d.read("main.go") == program {
		t.Error("y after Tab did not approve the edit")
	}
	d.idle()
	d.Press("ctrl+u")
	d.leave()
}

// A question is withdrawn while its comment is half typed: the comment becomes a draft.
func TestACommentOutlivesItsQuestion(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, editCall("hello", "good day"), llmtest.Turn{Text: "All done."}), map[string]string{"main.go": program})
	e := d.editor(idetest.Ours())
	d.sit()
	d.WaitFor(`Visual Studio Code`)
	d.say("be polite")
	diff := e.NextDiff()
	d.asked(`good day`)
	d.Press("c")
	d.WaitFor(`no, because:`)
	d.Type("please ")
	d.WaitFor(`no, because: please`)
	diff.Accept()
	d.WaitFor(`(?m)^❯ please`)
	d.Type("also y")
	d.WaitFor(`(?m)^❯ please also y$`)
	d.WaitFor(`All done`)
	d.idle()
	d.Press("ctrl+u")
	d.leave()
}

// A command's question comes while an edit's question is on the screen: both are
// answered, one after the other.
func TestTwoQuestionsAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, editCall("hello", "good day"), llmtest.Turn{Text: "All done."}),
		map[string]string{"main.go": program, "old.md": "old\n"})
	d.sit()
	d.say("be polite")
	d.asked(`good day`)
	d.Press("p")
	d.WaitFor(`at the prompt`)
	d.say("/export old.md")
	d.WaitFor(`(?m)^❯ /export old\.md`)
	d.asked(`edit main\.go`)
	d.Press("y")
	d.asked(`edit old\.md`)
	if got := d.read("old.md"); got != "old\n" {
		t.Errorf("old.md was written before the answer: %q", got)
	}
	d.Press("end") // a yes counts at once if the end was on the screen
	d.WaitFor(`lines \d+–26 of 26`)
	d.Press("y")
	d.WaitFor(`written to old\.md`)
	d.WaitFor(`All done`)
	if got := d.read("main.go"); !strings.Contains(got, "good day") {
		t.Errorf("main.go: %q", got)
	}
	if got := d.read("old.md"); !strings.Contains(got, "be polite") {
		t.Errorf("old.md: %q", got)
	}
	d.idle()
	d.leave()
}

// Esc on a command's question declines the command only: the turn continues.
func TestEscOnACommandsQuestionKeepsTheTurn(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	second := llmtest.Turn{Text: "All done.", Gate: gate}
	d := newDesk(t, llmtest.NewServer(t, editCall("hello", "good day"), second), map[string]string{"main.go": program, "old.md": "old\n"})
	d.sit()
	d.say("be polite")
	d.asked(`good day`)
	d.Press("y")
	if err := d.server.Await(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	d.say("/export old.md")
	d.asked(`edit old\.md`)
	d.Press("esc")
	d.WaitFor(`nothing was written`)
	close(gate)
	d.WaitFor(`All done`)
	if got := d.read("old.md"); got != "old\n" {
		t.Errorf("old.md: %q", got)
	}
	d.idle()
	d.leave()
}

// A list keeps the focus when a question comes: typing into its filter does not answer.
func TestAListKeepsTheKeys(t *testing.T) {
	t.Parallel()
	d, ask := deskBeforeAQuestion(t)
	d.say("/permissions")
	d.WaitFor(`(?m)^› default mode`)
	ask()
	d.WaitFor(`a question is waiting for your answer`)
	d.Type("a")
	d.WaitFor(`(?m)^› accept-edits`)
	d.Press("esc")
	d.asked(`good day`)
	if d.read("main.go") != program {
		t.Fatal("a key for the list approved the edit")
	}
	d.Press("y")
	d.WaitFor(`All done`)
	d.idle()
	d.leave()
}

// Ctrl+C clears the draft, then stops the turn, then quits; the last step must come
// within two seconds.
func TestCtrlCGoesOneStepAtATime(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, talk, llmtest.Turn{Text: "Here again."}), nil)
	d.sit()
	d.say("talk")
	d.WaitFor(`Words, words`)
	d.Type("half a thought")
	d.WaitFor(`half a thought`)
	d.Press("ctrl+c")
	d.WaitFor(`Ctrl\+C again stops the model`)
	d.gone("half a thought")
	d.Press("ctrl+c")
	d.WaitFor(`Interrupted`)
	d.WaitFor(`Ctrl\+C again to quit`)
	d.gone("again to quit")
	d.say("still there?")
	d.WaitFor(`Here again`)
	d.idle()
	d.Press("ctrl+c")
	d.WaitFor(`Ctrl\+C again to quit`)
	d.Press("ctrl+c")
	if code := d.Wait(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	d.restored()
}

// With an empty draft, the letters of a prompt that begins are no answers, however many of them
// would be; one alone is, and after a yes for the session a line names the rule.
func TestTheFirstLetterOfAPromptDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for !firstLetters(t) {
		t.Log("the machine stood still for longer than a person who types: once more")
	}
}

// firstLetters types drafts during a question, 12 keys a second. It reports whether a machine under
// load let it.
func firstLetters(t *testing.T) bool {
	t.Helper()
	d := newDesk(t, llmtest.NewServer(t, editCall("hello", "good day"), editCall("main()", "main() "), llmtest.Turn{Text: "All done."}), map[string]string{"main.go": program})
	d.sit()
	d.say("be polite")
	for _, text := range []string{"and also the tests", "yes but later", "2 of 3", "no wait", "Always", "pony", "call it n", "jot", "y\r"} {
		d.asked(`good day`)
		for n, r := range text {
			last := time.Now()
			d.Type(string(r))
			<-time.After(80 * time.Millisecond)
			if n == 0 && time.Since(last) > keyboard.Burst*3/4 {
				return false
			}
		}
		d.WaitFor(`(?m)^❯ ` + strings.TrimSpace(text) + `$`)
		d.Press("ctrl+u")
		d.gone("Tab to answer")
	}
	if got := d.read("main.go"); got != program {
		t.Errorf("a draft wrote main.go: %q", got)
	}
	d.asked(`good day`)
	d.Press("a")
	d.WaitFor(`From now on edits are allowed without a question in this session\. Undo: /permissions`)
	d.WaitFor(`All done`)
	d.idle()
	d.leave()
	return true
}

// A no counts at once, also in the first half second of a question: an editor's later yes does not
// outrun it, even while the terminal waits to see whether the letter begins a prompt. It runs alone,
// because an editor's yes waits for the terminal for half a second only.
func TestEarlyNoBeatsALaterYes(t *testing.T) {
	for _, wait := range []time.Duration{0, 20 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond} {
		d := newDesk(t, llmtest.NewServer(t, editCall("hello", "good day"), llmtest.Turn{Text: "All done."}), map[string]string{"main.go": program})
		e := d.editor(idetest.Ours())
		d.sit()
		d.WaitFor(`Visual Studio Code`)
		d.say("be polite")
		diff := e.NextDiff()
		d.WaitFor(`good day`)
		d.Type("n")
		d.Read()
		<-time.After(wait)
		diff.Accept()
		d.idle()
		if got := d.read("main.go"); got != program {
			t.Errorf("a yes %s after the no wrote main.go: %q", wait, got)
		}
		d.leave()
	}
}
