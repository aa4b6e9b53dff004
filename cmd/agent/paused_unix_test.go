//go:build unix

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// messagesStream returns events of the Messages API, given as JSON, as an answer.
func messagesStream(events ...string) llmtest.Turn {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("data: " + e + "\n\n")
	}
	return llmtest.Raw(200, "text/event-stream", b.String())
}

const (
	startEvent  = `{"type":"message_start","message":{"usage":{"input_tokens":100,"output_tokens":1}}}`
	stopEvent   = `{"type":"message_stop"}`
	pausedEvent = `{"type":"message_delta","delta":{"stop_reason":"pause_turn"},"usage":{"output_tokens":7}}`
	endedEvent  = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}`
)

// pausedAnswer is one in which a tool of the server runs for long.
var pausedAnswer = messagesStream(startEvent,
	`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I search. "}}`,
	`{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}}`,
	`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"query\":"}}`,
	`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"go\"}"}}`,
	pausedEvent, stopEvent)

// An answer that the server pauses goes on by itself, after the part so far, and is one
// answer to the person and to later requests.
func TestPausedAnswerGoesOn(t *testing.T) {
	t.Parallel()
	const (
		use    = `{"id":"srvtoolu_1","input":{"query":"go"},"name":"web_search","type":"server_tool_use"}`
		result = `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}`
		soFar  = `{"role":"assistant","content":[{"type":"text","text":"I search. "},` + use
	)
	server := llmtest.NewServerFunc(t, func(n int, body []byte) llmtest.Turn {
		if n == 0 {
			return pausedAnswer
		}
		if n == 1 && !strings.HasSuffix(string(body), soFar+"]}]}") {
			t.Errorf("the answer so far does not end %s", body)
		}
		return messagesStream(startEvent,
			`{"type":"content_block_start","index":0,"content_block":`+result+`}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"Found it."}}`,
			endedEvent, stopEvent)
	})
	d := newDesk(t, server, nil)
	d.keep("config.yaml", "providers: {mine: {base_url: "+server.URL()+", wire: anthropic}}")
	d.keep("servers.json", `[{"address":"`+server.URL()+`","provider":"mine"}]`)
	code, out := d.prompted("--model", "mine/large", "--output-format", "json")
	var printed struct {
		Result string
		Usage  struct {
			Output int `json:"output_tokens"`
		}
	}
	_, object, _ := strings.Cut(out, "{") // after the notice of the search
	if err := json.Unmarshal([]byte("{"+object), &printed); err != nil || code != 0 || printed.Result != "I search. Found it." || printed.Usage.Output != 12 {
		t.Fatalf("exit status %d, %v: %s", code, err, out)
	}
	if code, out := d.prompted("--model", "mine/large", "--continue"); code != 0 || len(server.Requests()) != 3 {
		t.Fatalf("exit status %d, %d requests: %s", code, len(server.Requests()), out)
	}
	if last := string(server.Requests()[2]); !strings.Contains(last, soFar+","+result+`,{"type":"text","text":"Found it."}]}`) {
		t.Errorf("the answer does not go back as it came: %s", last)
	}
}

// A server that pauses an answer for ever is not asked for ever.
func TestEndlessPauses(t *testing.T) {
	t.Parallel()
	server := llmtest.NewServerFunc(t, func(int, []byte) llmtest.Turn { return pausedAnswer })
	d := newDesk(t, server, nil)
	d.keep("config.yaml", "providers: {mine: {base_url: "+server.URL()+", wire: anthropic}}")
	d.keep("servers.json", `[{"address":"`+server.URL()+`","provider":"mine"}]`)
	code, out := d.prompted("--model", "mine/large")
	if code != 1 || !strings.Contains(out, "has paused its answer 16 times") || len(server.Requests()) != 17 {
		t.Errorf("exit status %d, %d requests: %s", code, len(server.Requests()), out)
	}
}
