//go:build unix

package main

import (
	"fmt"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// reading returns n answers that each read a file, and then a last one.
func reading(n int) []llmtest.Turn {
	var turns []llmtest.Turn
	for i := range n {
		turns = append(turns, llmtest.Turn{Calls: []llmtest.Call{{Name: "read_file", Args: fmt.Sprintf(`{"path":"main.go","offset":%d}`, i+1)}}})
	}
	return append(turns, llmtest.Turn{Text: "All done."})
}

// limited waits for the question at a limit.
func (d *desk) limited(pattern string) {
	d.t.Helper()
	d.WaitFor(pattern)
	d.awake("y one more request")
}

// TestLimitAsks: at a limit the person is asked, also in bypass mode: one more request, as
// many again, or the end.
func TestLimitAsks(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, reading(5)...), map[string]string{"main.go": program})
	d.sit("--max-turns", "2", "--permission-mode", "bypass")
	d.say("read")
	d.limited(`Request limit reached: 2 of 2 for this prompt \(max_turns\)`)
	d.WaitFor(`a add 2 requests`)
	d.Press("y")
	d.limited(`Request limit reached: 3 of 2`)
	d.Press("a")
	d.limited(`Request limit reached: 4 of 4`)
	d.Press("n")
	d.WaitFor(`Request limit reached: 4 of 4 for this prompt`)
	d.idle()
	d.leave()
}

// TestDailyLimit: the cost of a day is kept over sessions.
func TestDailyLimit(t *testing.T) {
	t.Parallel()
	turn := llmtest.Turn{Text: "Fine.", Usage: &llmtest.Usage{Input: 1_000_000, Output: 1}}
	d := newDesk(t, llmtest.NewServer(t, turn, turn, llmtest.Turn{Text: "Never asked."}), nil)
	scratch.Write(t, d.home+"/config.yaml", "max_cost_usd_per_day: 1.5\nproviders:\n  openai: {models: {test: {price_input: 1, price_output: 1}}}\n")
	d.sit()
	d.say("one")
	d.WaitFor(`Fine\.`)
	d.idle()
	d.leave()
	d.sit()
	d.say("two")
	d.WaitFor(`Fine\.`)
	d.idle()
	d.say("three")
	d.limited(`Daily cost limit reached: \$2\.00 of \$1\.50 \(max_cost_usd_per_day\)`)
	d.Press("n")
	d.WaitFor(`Daily cost limit reached`)
	d.idle()
	d.leave()
}

// TestExpensiveRequest: a request above max_request_usd is sent only after a yes.
func TestExpensiveRequest(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Text: "Fine."}), nil)
	scratch.Write(t, d.home+"/config.yaml", "max_request_usd: 0.01\nproviders:\n  openai: {models: {test: {price_input: 1000, price_output: 1}}}\n")
	d.sit()
	d.say("one")
	d.limited(`The next request costs about \$[0-9.]+, more than \$0\.0100: [0-9,]+ tokens`)
	if n := len(d.server.Requests()); n != 0 {
		t.Errorf("%d requests were sent unasked", n)
	}
	d.Press("y")
	d.WaitFor(`Fine\.`)
	d.idle()
	d.leave()
}
