package responses

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/transcriptjudge"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

// exchange lets a server answer with events, and returns the answer and the next request.
func exchange(t *testing.T, events ...string) (answer llm.Message, end *llm.End, next []byte) {
	t.Helper()
	stream := "data: " + strings.Join(append(events, `{"type":"response.completed","response":{"usage":{"input_tokens":9,"output_tokens":2}}}`), "\n\ndata: ") + "\n\n"
	s := llmtest.NewServer(t, llmtest.Turn{Handler: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, stream) // the client may have gone
	}})
	p := New(Options{Model: "m"})
	messages := []llm.Message{llm.TextMessage(llm.User, "hi")}
	answer = llm.Message{Role: llm.Assistant}
	for d, err := range remote.New(remote.Options{BaseURL: s.URL()}, p).Stream(t.Context(), llm.Request{Messages: messages, Tools: specs}) {
		if err != nil {
			t.Fatalf("%v after %+v", err, answer)
		}
		if d.Text != "" {
			answer.Parts = append(answer.Parts, llm.Part{Kind: llm.TextPart, Text: d.Text})
		}
		if d.End != nil {
			end = d.End
			answer.Calls, answer.Extra = end.Calls, end.Extra
		}
	}
	messages = append(messages, answer)
	for _, c := range end.Calls {
		messages = append(messages, llm.Message{Role: llm.ToolReply, CallID: c.ID, Parts: []llm.Part{{Kind: llm.TextPart, Text: "ok"}}})
	}
	next = encode(t, p, append(messages, llm.TextMessage(llm.User, "go on")))
	if err := transcriptjudge.CheckResponses(next); err != nil {
		t.Errorf("%v in %s", err, next)
	}
	return answer, end, next
}

func itemDone(index, kind string) string {
	return `{"type":"response.output_item.done","output_index":` + index + `,"item":` + kind + `}`
}

// The phases of messages go back to the model that made them, and to no other.
func TestPhase(t *testing.T) {
	answer, _, next := exchange(t,
		`{"type":"response.output_item.added","output_index":0,"item":{"type":"message","role":"assistant","phase":"commentary","content":[]}}`,
		`{"type":"response.output_text.delta","output_index":0,"delta":"I look."}`,
		itemDone("0", `{"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"I look."}]}`),
		itemDone("1", `{"type":"message","role":"assistant","phase":"final_answer","content":[{"type":"output_text","text":"Done."}]}`),
		itemDone("2", `{"type":"message","role":"assistant","phase":null,"content":[{"type":"output_text","text":"Bye."}]}`))
	for _, want := range []string{
		`{"role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"I look."}]}`,
		`{"role":"assistant","phase":"final_answer","content":[{"type":"output_text","text":"Done."}]}`,
		`{"role":"assistant","content":[{"type":"output_text","text":"Bye."}]}`,
	} {
		if !bytes.Contains(next, []byte(want)) {
			t.Errorf("no %s in %s", want, next)
		}
	}
	other := encode(t, New(Options{Model: "other"}), []llm.Message{llm.TextMessage(llm.User, "hi"), answer, llm.TextMessage(llm.User, "go on")})
	if bytes.Contains(other, []byte("phase")) {
		t.Errorf("another model gets %s", other)
	}
}

// Events and items that are not known do not fail an answer, whatever their form; they do not go
// back, nor does reasoning that led to one of them.
func TestUnknown(t *testing.T) {
	answer, end, next := exchange(t,
		`{"type":"response.compaction_delta","delta":{"of":["another form"]},"output_index":"0","item":7}`,
		`{"type":"response.future.delta","arguments":{},"refusal":[],"response":"x"}`,
		itemDone("0", `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"enc1"}`),
		`{"type":"response.output_item.added","output_index":1,"item":{"type":"future_call","arguments":{},"content":"x","name":7}}`,
		itemDone("1", `{"type":"future_call","arguments":{},"content":"x","call_id":null}`),
		itemDone("2", `{"type":"compaction","id":"cmp_1","encrypted_content":"all before"}`),
		itemDone("3", `{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"enc2"}`),
		`{"type":"response.output_text.delta","output_index":4,"delta":"Done."}`,
		`{"type":"response.output_text.annotation.added","output_index":4,"annotation":{}}`)
	if answer.Text() != "Done." || end.Stop != llm.StopEnd || end.Usage.Input != 9 {
		t.Errorf("%+v, %+v", answer, end)
	}
	for text, want := range map[string]bool{"rs_1": false, "future_call": false, `{"type":"compaction","id":"cmp_1","encrypted_content":"all before"}`: true, "rs_2": true} {
		if bytes.Contains(next, []byte(text)) != want {
			t.Errorf("%s: want %v in %s", text, want, next)
		}
	}
}

// The server's own tool counts among the most that a request may have.
func TestSearchAmongManyTools(t *testing.T) {
	var many []llm.ToolSpec
	for i := range 140 {
		many = append(many, llm.ToolSpec{Name: fmt.Sprintf("mcp__a__t%d", i), Foreign: true, Schema: json.RawMessage(`{"type":"object"}`)})
	}
	s := llmtest.NewServer(t, llmtest.Turn{Text: "ok"})
	c := remote.New(remote.Options{BaseURL: s.URL()}, New(Options{Model: "m", Search: true}))
	for _, err := range c.Stream(t.Context(), llm.Request{Messages: []llm.Message{llm.TextMessage(llm.User, "hi")}, Tools: many}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	body := s.Requests()[0]
	if n := bytes.Count(body, []byte(`"type":"function"`)); n != 127 || !bytes.Contains(body, []byte(`{"type":"web_search"}]`)) {
		t.Errorf("%d tools of ours: %s", n, body)
	}
	if err := transcriptjudge.CheckResponses(body); err != nil {
		t.Error(err)
	}
}

// An id of a call goes back unchanged if the API takes it.
func TestCallIDs(t *testing.T) {
	for id, same := range map[string]bool{"call_" + strings.Repeat("a", 59): true, "fc-1_B": true, strings.Repeat("a", 65): false, "a:b": false} {
		_, end, next := exchange(t, itemDone("0", `{"type":"function_call","call_id":"`+id+`","name":"list","arguments":"{}"}`))
		var req struct {
			Input []struct {
				CallID string `json:"call_id"`
			} `json:"input"`
		}
		if err := json.Unmarshal(next, &req); err != nil || len(end.Calls) != 1 || end.Calls[0].ID != id {
			t.Fatalf("%v, %+v", err, end)
		}
		if got := req.Input[1].CallID; (got == id) != same || got != req.Input[2].CallID || len(got) > 64 {
			t.Errorf("%s went back as %s, and its result as %s", id, got, req.Input[2].CallID)
		}
	}
}
