//go:build unix

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// Reasoning on every wire: the line above the prompt shows that the model thinks, one line stays of the
// thought, and the pager shows all of it, in a resumed session as well.
func TestThinkingIsFolded(t *testing.T) {
	const thought = "They want a sum.\nTwo and two,\nwithout carrying."
	for wire, turn := range map[string]llmtest.Turn{
		"anthropic": {Reasoning: thought, Text: "It is 4."},
		"responses": {Reasoning: thought, Text: "It is 4."},
		"chat":      {Reasoning: thought, Text: "It is 4."},
		"written":   {Text: "<think>" + thought + "</think>\nIt is 4.", Chunk: 3},
	} {
		t.Run(wire, func(t *testing.T) {
			gate := make(chan struct{})
			held := turn
			held.Gate = gate
			held.Chunk, held.Pace = 3, 60*time.Millisecond
			d := newDesk(t, llmtest.NewServer(t, held, turn), nil)
			speak := wire
			if wire == "written" {
				speak = "chat"
			}
			d.keep("config.yaml", "providers:\n  mine:\n    base_url: "+d.server.URL()+"\n    wire: "+speak+"\n    models:\n      large: {}\n")
			d.sit("--model", "mine/large")
			d.say("what is two and two?")
			d.WaitFor(`waiting for the model`)
			close(gate)
			d.WaitFor(`thinking · \d+s`)
			d.WaitFor(`(?m)^◌ They want a sum\. · \ds · ~\d+ tokens, Ctrl\+O\s+It is 4\.`)
			d.idle()
			if strings.Contains(d.Screen(), "without carrying") {
				t.Errorf("the thought is not folded:\n%s", d.Screen())
			}
			d.Press("ctrl+o")
			d.WaitFor(`(?m)^The model thought:\nThey want a sum\.\nTwo and two,\nwithout carrying\.\n\nIt is 4\.`)
			d.Press("q")
			d.leave()
			d.sit("-c", "--model", "mine/large")
			d.WaitFor(`(?m)^◌ They want a sum\. · ~\d+ tokens, Ctrl\+O\s+It is 4\.`)
			d.leave()
		})
	}
}
