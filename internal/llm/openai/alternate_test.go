package openai_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/transcriptjudge"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/llm/openai"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

// TestRolesThatMustAlternate checks that the client repeats a request at once, with an
// answer before the user's message, if the server refuses a user's message right after
// a tool's result; that it does so from then on; and that other servers never see it.
func TestRolesThatMustAlternate(t *testing.T) {
	for name, refusal := range map[string]llmtest.Turn{
		"Mistral":   llmtest.Raw(400, "application/json", `{"object":"error","message":"Unexpected role 'user' after role 'tool'","type":"invalid_request_message_order","code":"3230"}`),
		"llama.cpp": llmtest.Raw(500, "application/json", `{"error":{"code":500,"message":"After the optional system message, conversation roles must alternate user/assistant/user/assistant/...","type":"server_error"}}`),
		"none":      {Text: "ok"},
	} {
		t.Run(name, func(t *testing.T) {
			refused := 0
			server := llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
				if strings.Contains(unnamed(body), `"content":"result","tool_call_id":"a"},{"role":"user"`) {
					refused++
					return refusal
				}
				return llmtest.Turn{Text: "ok"}
			})
			client := remote.New(remote.Options{BaseURL: server.URL(), Transport: http.DefaultTransport}, openai.New(openai.Options{Model: "m"}))
			messages := []llm.Message{
				llm.TextMessage(llm.User, "go"),
				{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "a", Name: "read", Args: "{}"}}},
				{Role: llm.ToolReply, CallID: "a", Parts: []llm.Part{{Kind: llm.TextPart, Text: "result"}}},
				llm.TextMessage(llm.User, "stop"),
			}
			for range 2 {
				for _, err := range client.Stream(t.Context(), llm.Request{Messages: messages}) {
					if err != nil {
						t.Fatal(err)
					}
				}
				messages = append(messages, llm.TextMessage(llm.Assistant, "ok"), llm.TextMessage(llm.User, "more"))
			}
			want, bridged := 3, 2
			if name == "none" {
				want, bridged = 2, 0
			}
			requests := server.Requests()
			if len(requests) != want {
				t.Fatalf("%d requests, want %d", len(requests), want)
			}
			for _, body := range requests {
				if err := transcriptjudge.Check(body); err != nil {
					t.Error(err)
				}
				bridged -= strings.Count(unnamed(body), `"content":"result","tool_call_id":"a"},{"role":"assistant"`)
			}
			if bridged != 0 || name != "none" && refused != 1 {
				t.Errorf("%d refused, %d bridges are missing", refused, bridged)
			}
		})
	}
}

// unnamed returns body without the name of the result, which such servers get, too.
func unnamed(body []byte) string { return strings.ReplaceAll(string(body), `"name":"read",`, "") }
