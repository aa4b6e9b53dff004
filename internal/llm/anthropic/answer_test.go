package anthropic

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

// A compaction of the server's goes back with its text, which comes in a part of its own; events,
// blocks and parts that are not known do not fail an answer, whatever their form.
func TestUnknown(t *testing.T) {
	stream := "data: " + strings.Join([]string{
		`{"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}`,
		`{"type":"future_event","index":"x","delta":[7],"usage":"none","content_block":3,"message":[]}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"compaction","content":null}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":"All before."}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"future_block","text":{"x":1},"id":7,"input":"y"}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"future_delta","text":[1],"content":[{"type":"z"}]}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"query\":\"go\"}"}}`,
		`{"type":"content_block_stop","index":2}`,
		`{"type":"content_block_start","index":3,"content_block":{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"https://go.dev","title":"Go","encrypted_content":"enc"}]}}`,
		`{"type":"content_block_stop","index":3}`,
		`{"type":"content_block_start","index":4,"content_block":{"type":"text","text":"","citations":null}}`,
		`{"type":"content_block_delta","index":4,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","url":"https://go.dev"}}}`,
		`{"type":"content_block_delta","index":4,"delta":{"type":"text_delta","text":"Done."}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn","container":{}},"usage":{"output_tokens":5}}`,
		`{"type":"message_stop"}`,
	}, "\n\ndata: ") + "\n\n"
	s := llmtest.NewServer(t, llmtest.Turn{Handler: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, stream) // the client may have gone
	}})
	p := New(Options{Model: "m"})
	messages := []llm.Message{llm.TextMessage(llm.User, "hi")}
	answer := llm.Message{Role: llm.Assistant}
	for d, err := range remote.New(remote.Options{BaseURL: s.URL()}, p).Stream(t.Context(), llm.Request{Messages: messages}) {
		if err != nil {
			t.Fatal(err)
		}
		if d.Text != "" {
			answer.Parts = append(answer.Parts, llm.Part{Kind: llm.TextPart, Text: d.Text})
		}
		if d.End != nil {
			answer.Extra = d.End.Extra
		}
	}
	pieces, err := p.Encode(llm.Request{Messages: append(messages, answer, llm.TextMessage(llm.User, "go on"))})
	if err != nil {
		t.Fatal(err)
	}
	next := bytes.Join(pieces.Body, nil)
	for text, want := range map[string]bool{
		`{"content":"All before.","type":"compaction"}`: true, "future": false, `"input":{"query":"go"}`: true, `"encrypted_content":"enc"`: true, "Done.": true,
	} {
		if bytes.Contains(next, []byte(text)) != want {
			t.Errorf("%s: want %v in %s", text, want, next)
		}
	}
}
