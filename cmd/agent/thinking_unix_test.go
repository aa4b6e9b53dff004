//go:build unix

package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// Reasoning on every wire: the line above the prompt shows that the model thinks, one line stays of the
// thought, and the pager shows all of it, in a resumed session as well.
func TestThinkingIsFolded(t *testing.T) {
	t.Parallel()
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

// A model that thinks without a word of it thinks on the screen too, and leaves no line.
func TestThinkingWithoutText(t *testing.T) {
	t.Parallel()
	for wire, events := range map[string][2]string{
		"anthropic": {
			`{"type":"message_start","message":{"usage":{"input_tokens":9}}}
{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"x"}}`,
			`{"type":"content_block_stop","index":0}
{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"It is 4."}}
{"type":"content_block_stop","index":1}
{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}
{"type":"message_stop"}`,
		},
		"responses": {
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[]}}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"x"}}
{"type":"response.output_item.added","output_index":1,"item":{"type":"message","role":"assistant","content":[]}}
{"type":"response.output_text.delta","output_index":1,"delta":"It is 4."}
{"type":"response.completed","response":{"usage":{"input_tokens":9,"output_tokens":9}}}`,
		},
	} {
		t.Run(wire, func(t *testing.T) {
			gate := make(chan struct{})
			d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Handler: func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				for i, part := range events {
					for _, event := range strings.Split(part, "\n") {
						_, _ = io.WriteString(w, "data: "+event+"\n\n") // a client that has left is no error here
					}
					if i == 0 {
						w.(http.Flusher).Flush()
						select {
						case <-gate:
						case <-r.Context().Done():
						}
					}
				}
			}}), nil)
			d.keep("config.yaml", "providers:\n  mine:\n    base_url: "+d.server.URL()+"\n    wire: "+wire+"\n    models:\n      large: {}\n")
			d.sit("--model", "mine/large")
			d.say("what is two and two?")
			d.WaitFor(`thinking · \d+s`)
			close(gate)
			d.WaitFor(`It is 4\.`)
			d.idle()
			if strings.Contains(d.Screen(), "◌") {
				t.Errorf("a line of nothing:\n%s", d.Screen())
			}
			d.leave()
		})
	}
}
