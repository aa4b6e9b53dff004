//go:build unix

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

func runCall(line string) llmtest.Turn {
	args, _ := json.Marshal(map[string]string{"command": line})
	return llmtest.Turn{Text: "I run it.", Calls: []llmtest.Call{{Name: "execute_command", Args: string(args)}}}
}

// The pager shows output that is folded in the scrollback and was not sent to the
// model.
func TestWholeOutputInThePager(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, runCall("env seq 200000"), llmtest.Turn{Text: "It counted."}), nil)
	d.sit()
	d.say("count")
	d.asked(`seq 200000`)
	d.Press("y")
	d.WaitFor(`It counted`)
	d.WaitFor(`… 199,995 more lines, Ctrl\+O`)
	d.idle()
	if told := d.told(1); strings.Contains(told, "\n77777\n") {
		t.Fatal("the model was told all of it: nothing is shown by this test")
	}
	d.Press("ctrl+o")
	d.WaitFor(`(?m)^● Run env seq 200000\n1\n2\n`)
	d.WaitFor(`lines 5–\d+ of 2000\d\d`)
	d.Type("/77777")
	d.WaitFor(`(?m)^/77777`)
	d.Press("enter")
	d.WaitFor(`(?m)^77776\n77777\n`)
	d.Press("G")
	d.WaitFor(`(?m)^It counted`)
	d.Press("[")
	d.WaitFor(`(?m)^● Run env seq 200000\n1\n`)
	d.Press("g")
	d.WaitFor(`(?m)^❯ count`)
	d.Resize(60, 20)
	d.WaitFor(`(?m)^❯ count`)
	d.Press("q")
	d.WaitUntil("the conversation", func(m *vt.Terminal) bool { return strings.Contains(m.String(), "default mode") })
	if n := strings.Count(strings.Join(d.History(), "\n"), "199,995 more lines"); n != 1 {
		t.Errorf("the scrollback has the call %d times", n)
	}
	d.leave()
}

// A page that covers a question keeps the focus, and its keys do not answer.
func TestPagerOverAQuestion(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, editCall("one", "two"), llmtest.Turn{Text: "Changed."}), map[string]string{"main.go": "one\n"})
	d.sit()
	d.say("change it")
	d.asked(`edit main\.go`)
	d.Press("ctrl+o")
	d.WaitFor(`a question is waiting for your answer`)
	d.Press("y", "a")
	d.Type("q")
	d.Type("y") // at once, on a busy machine too
	d.take()    // the y that came too early is at the prompt
	if got := d.read("main.go"); got != "one\n" {
		t.Fatalf("a key for the pager wrote %q", got)
	}
	d.Press("y")
	d.WaitFor(`Changed`)
	if got := d.read("main.go"); got != "two\n" {
		t.Errorf("the file holds %q", got)
	}
	d.idle()
	d.Press("ctrl+c")
	d.leave()
}
