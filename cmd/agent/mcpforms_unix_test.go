//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// A server asks the person during a call: its name is shown, an answer goes to it, no answer
// and a wrong one decline, and it asks five times at most.
func TestServerAsks(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, callOf("mcp__t__form", `{}`), llmtest.Turn{Text: "All done."}), nil)
	d.servers("t")
	d.sit("--allow", "mcp__t")
	d.say("ask me")
	question := func(text, hint, key string) {
		t.Helper()
		d.WaitFor(`(?s)The MCP server t asks.*` + text + `.*Your answer goes to that server`)
		d.awake(hint)
		d.Press(key)
	}
	question("round 1.*colour", "to 2 take an answer", "2")
	question("round 1.*How many", "takes the answer", "1")
	for i := range 4 {
		question(fmt.Sprintf("round %d.*colour", i+2), "to 2 take an answer", "n")
	}
	d.WaitFor(`All done`)
	d.idle()
	d.leave()
	if got := d.told(1); got != "accept green 3"+strings.Repeat("; decline <nil> <nil>", 6) {
		t.Errorf("the server was told %q", got)
	}
	if evil := escaped(string(d.Bytes())); evil != "" {
		t.Errorf("%q reached the terminal", evil)
	}
}

// An answer to a server is read by that server alone: it is no part of a request, of the prompts
// or of a file, also if it was not sent.
func TestServerAsksForASecret(t *testing.T) {
	t.Parallel()
	const secret = "pyjama7hyena" // of y, a and n, which answer other questions
	d := newDesk(t, llmtest.NewServer(t, callOf("mcp__t__form", `{"text":"secret"}`), callOf("mcp__t__form", `{"text":"secret"}`), llmtest.Turn{Text: "All done."}), nil)
	d.servers("t")
	d.sit("--allow", "mcp__t")
	d.say("ask me")
	hint := "your answer; the MCP server t reads this"
	d.WaitFor(`(?s)The MCP server t asks.*password.*` + hint)
	d.Type(secret)
	d.WaitFor(secret)
	d.awake(hint)
	d.Press("enter")
	if got := d.told(1); got != fmt.Sprintf("accept with %d letters", len(secret)) {
		t.Errorf("the server was told %q", got)
	}
	d.WaitFor(hint)
	d.Type(secret)
	d.WaitFor(secret)
	d.Press("esc") // back to the question
	d.awake("c answer in your own words")
	d.Press("esc") // stops the turn
	d.idle()
	d.Press("enter", "up")
	d.WaitFor("ask me")
	d.Press("ctrl+c")
	d.say("go on")
	d.WaitFor(`All done`)
	d.idle()
	d.leave()
	for i := range 3 {
		if strings.Contains(string(d.request(i)), secret) {
			t.Errorf("request %d has the secret", i)
		}
	}
	err := filepath.WalkDir(d.home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), secret) {
			t.Errorf("%s has the secret", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Without a person, a server's question is declined.
func TestServerAsksNobody(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, callOf("mcp__t__form", `{}`), llmtest.Turn{Text: "Done."}), nil)
	d.servers("t")
	if code, out := d.prompted("--allow", "mcp__t"); code != 0 {
		t.Fatal(out)
	}
	if got := d.told(1); got != "decline <nil> <nil>"+strings.Repeat("; decline <nil> <nil>", 6) {
		t.Errorf("the server was told %q", got)
	}
}

// The plain face and the one for screen readers ask with the server's name, too.
func TestServerAsksInPlainText(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, callOf("mcp__t__form", `{}`), llmtest.Turn{Text: "All done."}), nil)
	d.servers("t")
	d.open()
	d.run("agent", "--screen-reader", "--allow", "mcp__t")
	d.WaitFor(`(?m)^you:`)
	d.say("ask me")
	line := `(?s)The MCP server t asks: .*colour.*1 red.*2 green.*Your answer\? \[1 to 2 / answer and your own words / n: no answer\]`
	d.answerLine(line, "my secret")
	d.WaitFor(`Neither sent nor kept\. To answer in your own words, begin with answer`)
	d.answerLine(`Your answer`, "2")
	d.answerLine(line+`.*How many.*1 3.*Your answer`, "answer many")
	d.WaitFor(`(?s)Nothing was sent to the MCP server.*your answer is not a valid integer`)
	d.answerLine(`(?s)round 2.*Your answer`, "n")
	d.answerLine(`(?s)round 3.*Your answer`, "n")
	d.answerLine(`(?s)round 4.*Your answer`, "n")
	d.answerLine(`(?s)round 5.*Your answer`, "n")
	d.WaitFor(`All done`)
	d.leave()
}
