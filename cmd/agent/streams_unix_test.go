//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// The connection breaks in the middle of an answer: the session goes on with a whole one,
// below a mark, and keeps nothing of the half.
func TestAnswerThatBreaksOffIsAskedForAgain(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]llmtest.Fault{"drop": llmtest.Drop, "truncate": llmtest.Truncate} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, llmtest.NewServer(t,
				llmtest.Turn{Text: "one two half of it", Chunk: 8, Fault: fault, After: 2},
				llmtest.Turn{Text: "one two three four"},
				llmtest.Turn{Text: "Here again."}), nil)
			d.sit()
			d.say("count")
			d.WaitFor(`(?s)one two half of.*— the answer broke off; asking again —.*one two three four`)
			if n := strings.Count(d.Screen(), "three four"); n != 1 {
				t.Errorf("the whole answer is there %d times", n)
			}
			d.say("still there?")
			d.WaitFor(`Here again`)
			if body := string(d.request(2)); !strings.Contains(body, "three four") || strings.Contains(body, "half of") {
				t.Errorf("request %s", body)
			}
			d.idle()
			d.leave()
		})
	}
}

// Reasoning that a model writes into its text is not in the output of -p; with nothing else
// the answer is empty.
func TestThinkingInTheTextIsNoAnswer(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t,
		llmtest.Turn{Text: "<think>They want a sum.</think>\n\nIt is 4.", Chunk: 3},
		llmtest.Turn{Text: "<think>They want", Chunk: 3},
		llmtest.Turn{Text: "<think>a sum.\n</think>\n", Chunk: 3}), nil)
	if code, out := d.prompted(); code != 0 || out != "It is 4.\n" {
		t.Errorf("exit status %d: %q", code, out)
	}
	if code, out := d.prompted(); code != 1 || strings.HasPrefix(out, "\n") || strings.Contains(out, "want") || !strings.Contains(out, "empty answer twice") {
		t.Errorf("exit status %d: %q", code, out)
	}
}
