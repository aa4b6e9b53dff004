//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
)

// thirty returns a file of thirty lines.
func thirty() string {
	var b strings.Builder
	for i := 1; i <= 30; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func writeCall(path, text string) llmtest.Call {
	args, _ := json.Marshal(map[string]string{"path": path, "content": text})
	return llmtest.Call{Name: "write_file", Args: string(args)}
}

// A part of an edit is accepted: that part is written, and the model learns about the
// rest and the reasons.
func TestPartOfAnEdit(t *testing.T) {
	t.Parallel()
	proposed := strings.NewReplacer("line 3\n", "three\n", "line 15\n", "fifteen\n", "line 29\n", "twenty-nine\n").Replace(thirty())
	d := newDesk(t, llmtest.NewServer(t,
		llmtest.Turn{Text: "I write numbers out.", Calls: []llmtest.Call{writeCall("a.txt", proposed), writeCall("b.txt", "x\n")}},
		llmtest.Turn{Text: "So be it."}), map[string]string{"a.txt": thirty()})
	d.sit()
	d.say("words, please")
	d.asked(`edit a\.txt \+3 −3`)
	d.WaitFor(`call 1 of 2 · then .*b\.txt`)
	d.Press("l")
	d.WaitFor(`(?m)^❯ 1 of 2`)
	d.Press("l", "?")
	d.WaitFor(`space leave out a hunk`)
	d.Press("?", "]")
	d.WaitFor(`hunk 1 of 3 · space leave it out`)
	d.Press("]", "space")
	d.WaitFor(`(?s)1 of 3 hunks left out.*×▌fifteen.*hunk 2 of 3 · space includes it`)
	d.Press("m")
	d.WaitFor(`on hunk 2:`)
	d.Type("keep the number")
	d.WaitFor(`on hunk 2: keep the number`)
	d.Press("enter")
	d.WaitFor(`y accept 2 of 3 hunks`)
	d.Press("y")
	d.asked(`create b\.txt`)
	want := strings.NewReplacer("line 3\n", "three\n", "line 29\n", "twenty-nine\n").Replace(thirty())
	if got := d.read("a.txt"); got != want {
		t.Errorf("the file holds %q", got)
	}
	d.WaitFor(`call 2 of 2`)
	d.Press("y")
	d.WaitFor(`So be it`)
	told := string(d.request(1))
	for _, want := range []string{
		"I accepted 2 of the 3 hunks", "comment on line 15 of the proposal: keep the number",
		"left out: the hunk @@ -14,3 +14,3 @@", `-fifteen\n+line 15`,
	} {
		if !strings.Contains(told, want) {
			t.Errorf("the model is not told %q in\n%s", want, told)
		}
	}
	d.idle()
	d.leave()
}

// asideKey moves the focus to the prompt during a question: queued text and text that
// Ctrl+C cleared is edited there, and typing answers nothing.
func asideKey(t *testing.T, seen *pressed) {
	gate := make(chan struct{})
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Calls: []llmtest.Call{writeCall("a.txt", "one\n")}, Gate: gate}, llmtest.Turn{Text: "All done."}), nil)
	d.sit()
	d.say("go")
	d.WaitFor(`Esc stops`)
	d.say("and then")
	d.WaitFor(`queued: and then`)
	d.Type("half a draft")
	d.Press("ctrl+c")
	d.WaitFor(`Ctrl\+C again`)
	d.Press("left")
	d.gone("Ctrl+C again")
	close(gate)
	d.asked(`create a\.txt`)
	d.steps(seen, keys.Question, step{"p", `at the prompt: Enter queues it`})
	d.Press("up")
	d.WaitFor(`(?m)^❯ and then$`)
	d.Type(" say why, y")
	d.Press("enter")
	d.WaitFor(`queued: and then say why, y`)
	d.awake("y yes")
	d.Press("p", "up", "ctrl+u", "up", "up")
	d.WaitFor(`(?m)^❯ half a draft$`)
	d.Press("esc")
	d.awake("y yes")
	d.WaitFor(`(?m)^❯ half a draft$`)
	d.Press("y")
	d.WaitFor(`All done`)
	if got := d.read("a.txt"); got != "one\n" {
		t.Errorf("the file holds %q", got)
	}
	d.idle()
	d.Press("ctrl+u")
	d.leave()
}

// A question that does not fit above the prompt covers the screen, with the draft of
// its comment, and returns to its place once there is room.
func TestAQuestionInALowWindow(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t,
		llmtest.Turn{Text: "I count.", Calls: []llmtest.Call{writeCall("a.txt", "one\n2\nthree\n")}}, llmtest.Turn{Text: "All done."}),
		map[string]string{"a.txt": "one\ntwo\nthree\n"})
	d.sit()
	d.say("go")
	d.asked(`(?s)I count.*edit a\.txt`)
	d.Resize(80, 6)
	d.WaitFor(`(?s)^edit a\.txt.*- two.*\+ 2.*y yes`)
	if !d.Modes().AltScreen {
		t.Error("the question does not cover the screen")
	}
	d.Press("c")
	d.WaitFor(`no, because:`)
	d.Type("two is a word")
	d.WaitFor(`no, because: two is a word`)
	d.Press("esc")
	d.gone("no, because")
	d.Resize(80, 24)
	d.asked(`(?s)I count.*edit a\.txt`)
	if d.Modes().AltScreen {
		t.Error("the question covers the screen still")
	}
	d.Resize(80, 6)
	d.WaitFor(`^edit a\.txt`)
	d.Press("y")
	d.WaitFor(`All done`)
	if got := d.read("a.txt"); got != "one\n2\nthree\n" {
		t.Errorf("the file holds %q", got)
	}
	d.idle()
	d.leave()
}

// The layout chosen on one question stays for the next.
func TestLayoutIsRemembered(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t,
		llmtest.Turn{Calls: []llmtest.Call{writeCall("a.txt", "one\ntwo\n"), writeCall("b.txt", "x\n")}}, llmtest.Turn{Text: "Done."}),
		map[string]string{"a.txt": "one\n2\n"})
	d.sit()
	d.say("go")
	d.asked(`edit a\.txt`)
	d.Press("s")
	d.WaitFor(`2 - 2 +│  2 \+ two`)
	d.Press("y")
	d.asked(`create b\.txt`)
	d.WaitFor(`│  1 \+ x`)
	d.Press("s")
	d.WaitFor(`(?m)^ +1 \+ x`)
	d.Press("y")
	d.WaitFor(`Done`)
	d.idle()
	d.leave()
}

// revisionKey: after a no with a reason, r compares the next proposal with the refused one.
func revisionKey(t *testing.T, seen *pressed) {
	d := politeDesk(t, editCall("hello", "good evening"), llmtest.Turn{Text: "All done."})
	d.sit()
	d.say("be polite")
	d.asked(`edit main\.go`)
	d.Press("c")
	d.WaitFor(`no, because:`)
	d.Type("it is late")
	d.Press("enter")
	d.asked(`revised: edit main\.go`)
	d.steps(seen, keys.Question, step{"r", `since your refusal of main\.go`})
	d.WaitFor(`you said: it is late`)
	d.WaitFor(`-.*good day`)
	d.WaitFor(`\+.*good evening`)
	d.Press("r")
	d.WaitFor(`-.*hello`)
	d.Press("y")
	d.WaitFor(`All done`)
	if got := d.read("main.go"); !strings.Contains(got, "good evening") {
		t.Errorf("the file holds %q", got)
	}
	d.idle()
	d.leave()
}
