package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/app/allowedservers"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/dev/transcriptjudge"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// body is a request as a server reads it.
type body map[string]any

func (b body) messages(role string) []body {
	var list []body
	for _, m := range b["messages"].([]any) {
		if m := body(m.(map[string]any)); role == "" || m["role"] == role {
			list = append(list, m)
		}
	}
	return list
}

func (b body) has(field string) bool { _, ok := b[field]; return ok }

// any reports whether a message of a role satisfies f.
func (b body) any(role string, f func(m body) bool) bool {
	return slices.ContainsFunc(b.messages(role), f)
}

// lacks reports whether a message of a role lacks a field.
func (b body) lacks(role, field string) bool {
	return b.any(role, func(m body) bool { return !m.has(field) })
}

func refusal(message string) llmtest.Turn {
	return llmtest.Raw(http.StatusBadRequest, "application/json", `{"error":{"message":`+message+`,"type":"invalid_request_error","code":null}}`)
}

func offersTools(b body) bool { return b.has("tools") }

var warm, yes = 0.7, true

// demands are servers with a demand, and the refusals with which they state it.
var demands = map[string]struct {
	options config.ModelOptions
	refused func(b body) bool
	answer  llmtest.Turn
	learned []string // none: the demand is always met
	calls   string   // the server's own answer with a call, if not the usual one
}{
	"OpenRouter": {
		calls: routed,
		refused: func(b body) bool {
			return b.any("assistant", func(m body) bool {
				return strings.Contains(fmt.Sprint(m["tool_calls"]), "own") &&
					fmt.Sprint(m["reasoning_details"]) != "[map[index:0 text:hm type:reasoning.text]]"
			})
		},
		answer: refusal(`"Reasoning blocks of earlier answers must be sent back unchanged."`),
	},
	"Gemini, its own calls": {
		calls: routed,
		refused: func(b body) bool {
			return b.any("assistant", func(m body) bool {
				calls := fmt.Sprint(m["tool_calls"])
				return strings.Contains(calls, "own") && !strings.Contains(calls, "thought_signature:s]")
			})
		},
		answer: refusal(`"Function call is missing a thought_signature in functionCall parts."`),
	},
	"Qwen behind vLLM": {
		options: config.ModelOptions{Extra: map[string]any{"chat_template_kwargs": map[string]any{"enable_thinking": false}}},
		refused: func(b body) bool { return fmt.Sprint(b["chat_template_kwargs"]) != "map[enable_thinking:false]" },
		answer:  refusal(`"Thinking is on."`),
	},
	"a template, one system message": {
		refused: func(b body) bool { return len(b.messages("system")) != 1 || b.messages("")[0]["role"] != "system" },
		answer:  refusal(`"System message must be at the beginning."`),
	},
	"proxy, two at once": {
		options: config.ModelOptions{Temperature: &warm},
		refused: func(b body) bool { return b.has("stream_options") || b.has("temperature") },
		answer:  llmtest.Raw(422, "application/json", `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"},{"type":"extra_forbidden","loc":["body","temperature"],"msg":"Extra inputs are not permitted"}]}`),
		learned: []string{"no stream_options", "no temperature"},
	},
	"proxy, two in one sentence": {
		options: config.ModelOptions{Temperature: &warm},
		refused: func(b body) bool { return b.has("stream_options") || b.has("temperature") },
		answer:  refusal(`"Unrecognized request arguments supplied: stream_options, temperature"`),
		learned: []string{"no stream_options", "no temperature"},
	},
	"DeepSeek V4": {
		refused: func(b body) bool { return offersTools(b) && b.lacks("assistant", "reasoning_content") },
		answer:  refusal(`"The \u0060reasoning_content\u0060 in the thinking mode must be passed back to the API."`),
		learned: []string{"reasoning_content in every answer"},
	},
	"DeepSeek V3.2": {
		refused: func(b body) bool { return offersTools(b) && b.lacks("assistant", "reasoning_content") },
		answer:  refusal(`"Missing \u0060reasoning_content\u0060 field in the assistant message at message index 4."`),
		learned: []string{"reasoning_content in every answer"},
	},
	"DeepSeek R1": {
		refused: func(b body) bool { return b.any("assistant", func(m body) bool { return m.has("reasoning_content") }) },
		answer:  refusal(`"The reasoning_content is an intermediate result for display purposes only and will not be included in the context for inference. Please remove the reasoning_content from your message to reduce network traffic."`),
		learned: []string{"no reasoning_content"},
	},
	"pydantic": {
		refused: func(b body) bool { return b.any("assistant", func(m body) bool { return m.has("reasoning_content") }) },
		answer:  llmtest.Raw(422, "application/json", `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","messages",2,"assistant","reasoning_content"],"msg":"Extra inputs are not permitted","input":"hm"}]},"type":"invalid_request_error"}`),
		learned: []string{"no reasoning_content"},
	},
	"Kimi": {
		refused: func(b body) bool {
			return b.any("assistant", func(m body) bool { return m.has("tool_calls") && !m.has("reasoning_content") })
		},
		answer:  refusal(`"thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"`),
		learned: []string{"reasoning_content in answers with calls"},
	},
	"Kimi behind OpenRouter": {
		refused: func(b body) bool {
			return b.any("assistant", func(m body) bool { return m.has("tool_calls") && !m.has("reasoning_content") })
		},
		answer:  llmtest.Raw(400, "application/json", `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"thinking is enabled but reasoning_content is missing in assistant tool call message at index 2\",\"type\":\"invalid_request_error\"}}","provider_name":"Moonshot AI"}}}`),
		learned: []string{"reasoning_content in answers with calls"},
	},
	"gpt-5.6": {
		options: config.ModelOptions{Effort: "high"},
		refused: func(b body) bool { return offersTools(b) && b["reasoning_effort"] != "none" },
		answer:  refusal(`"Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.","param":"reasoning_effort"`),
		learned: []string{"reasoning_effort none with tools", "role developer"},
	},
	"gpt-5.6 without an effort": {
		refused: func(b body) bool { return offersTools(b) && b["reasoning_effort"] != "none" },
		answer:  refusal(`"To use function tools, use /v1/responses or set reasoning_effort to 'none'."`),
		learned: []string{"reasoning_effort none with tools", "role developer"},
	},
	"gpt-5.4": {
		options: config.ModelOptions{Effort: "medium"},
		refused: func(b body) bool { return offersTools(b) && b.has("reasoning_effort") },
		answer:  refusal(`"Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions. Please use /v1/responses instead.","param":"reasoning_effort"`),
		learned: []string{"no reasoning_effort", "role developer"},
	},
	"gpt-5.5 without an effort": {
		refused: func(b body) bool { return offersTools(b) && b["reasoning_effort"] != "none" },
		answer:  refusal(`"Function tools with reasoning_effort are not supported for gpt-5.5 in /v1/chat/completions. Please use /v1/responses instead."`),
		learned: []string{"reasoning_effort none with tools", "role developer"},
	},
	"o-series, limit": {
		options: config.ModelOptions{MaxTokens: 900},
		refused: func(b body) bool { return b.has("max_tokens") || b["max_completion_tokens"] != 900.0 },
		answer:  refusal(`"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens"`),
		learned: []string{"max_completion_tokens", "role developer"},
	},
	"o-series, temperature": {
		options: config.ModelOptions{Temperature: &warm},
		refused: func(b body) bool { return b.has("temperature") },
		answer:  refusal(`"Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is supported.","param":"temperature"`),
		learned: []string{"role developer", "no temperature"},
	},
	"o-series, role": {
		refused: func(b body) bool { return len(b.messages("system")) > 0 || len(b.messages("developer")) != 1 },
		answer:  refusal(`"Unsupported value: 'messages[0].role' does not support 'system' with this model.","param":"messages[0].role"`),
		learned: []string{"role developer"},
	},
	"proxy, usage": {
		refused: func(b body) bool { return b.has("stream_options") },
		answer:  refusal(`"Unrecognized request argument supplied: stream_options"`),
		learned: []string{"no stream_options"},
	},
	"proxy, parallel calls": {
		options: config.ModelOptions{Extra: map[string]any{"parallel_tool_calls": true}},
		refused: func(b body) bool { return b.has("parallel_tool_calls") },
		answer:  refusal(`"parallel_tool_calls: Extra inputs are not permitted"`),
		learned: []string{"no parallel_tool_calls"},
	},
	"proxy, cache markers": {
		options: config.ModelOptions{CacheMarkers: &yes},
		refused: func(b body) bool { return strings.Contains(fmt.Sprint(b["messages"]), "cache_control") },
		answer:  refusal(`"messages.0.content.0.cache_control: Extra inputs are not permitted"`),
		learned: []string{"no cache markers"},
	},
	"proxy, images": {
		options: config.ModelOptions{Images: &yes},
		refused: func(b body) bool {
			return strings.Contains(fmt.Sprint(b["messages"]), "image_url")
		},
		answer:  llmtest.Raw(http.StatusUnprocessableEntity, "application/json", `{"error":{"message":"Failed to deserialize the JSON body into the target type: messages[1]: unknown variant \u0060image_url\u0060, expected \u0060text\u0060"}}`),
		learned: []string{"no images"},
	},
	"llama.cpp, images": {
		options: config.ModelOptions{Images: &yes},
		refused: func(b body) bool {
			return strings.Contains(fmt.Sprint(b["messages"]), "image_url")
		},
		answer:  llmtest.Raw(http.StatusInternalServerError, "application/json", `{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`),
		learned: []string{"no images"},
	},
	"Gemini, names": {
		refused: func(b body) bool { return b.any("tool", func(m body) bool { return m["name"] != "list" }) },
		answer:  llmtest.Raw(400, "application/json", `[{"error":{"code":400,"message":"* GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.\n","status":"INVALID_ARGUMENT"}}]`),
		learned: []string{"tool results have a name", "calls have a signature"},
	},
	"Gemini, calls": {
		refused: func(b body) bool {
			return b.any("assistant", func(m body) bool {
				return m.has("tool_calls") && !strings.Contains(fmt.Sprint(m["tool_calls"]), "thought_signature:skip_thought_signature_validator")
			})
		},
		answer:  llmtest.Raw(400, "application/json", `[{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance.","status":"INVALID_ARGUMENT"}}]`),
		learned: []string{"tool results have a name", "calls have a signature"},
	},
	"template, names": {
		refused: func(b body) bool { return b.lacks("tool", "name") },
		answer:  llmtest.Raw(400, "application/json", `{"error":{"message":"Missing parameter 'name': messages with role 'tool' must have a 'name'."}}`),
		learned: []string{"roles alternate", "tool results have a name"},
	},
	"LM Studio, content": {
		refused: withoutContent,
		answer:  llmtest.Raw(400, "application/json", `{"error":"Invalid 'content': 'content' field must be a string or an array of objects."}`),
		learned: []string{"content in answers with calls"},
	},
	"proxy, content": {
		refused: withoutContent,
		answer:  refusal(`"messages[2]: content is required"`),
		learned: []string{"content in answers with calls"},
	},
	"pydantic, content": {
		refused: withoutContent,
		answer:  llmtest.Raw(422, "application/json", `{"detail":[{"type":"missing","loc":["body","messages",2,"assistant","content"],"msg":"Field required","input":{"role":"assistant"}}]}`),
		learned: []string{"content in answers with calls"},
	},
	"serde, content": {
		refused: withoutContent,
		answer:  llmtest.Raw(422, "text/plain", "Failed to deserialize the JSON body into the target type: messages[2]: missing field `content` at line 1 column 300"),
		learned: []string{"content in answers with calls"},
	},
	"Ollama, content": {
		refused: withoutContent,
		answer:  refusal(`"invalid message content type: <nil>"`),
		learned: []string{"content in answers with calls"},
	},
	"Mistral": {
		refused: userAfterTool,
		answer:  llmtest.Raw(400, "application/json", `{"object":"error","message":"Unexpected role 'user' after role 'tool'","type":"invalid_request_message_order","code":"3230"}`),
		learned: []string{"roles alternate", "tool results have a name"},
	},
	"llama.cpp": {
		refused: userAfterTool,
		answer:  llmtest.Raw(500, "application/json", `{"error":{"code":500,"message":"After the optional system message, conversation roles must alternate user/assistant/user/assistant/...","type":"server_error"}}`),
		learned: []string{"roles alternate", "tool results have a name"},
	},
}

// withoutContent reports whether an answer with calls has no content, or null.
func withoutContent(b body) bool {
	return b.any("assistant", func(m body) bool { return m["content"] == nil })
}

func userAfterTool(b body) bool {
	last := any("")
	for _, m := range b.messages("") {
		if last == "tool" && m["role"] == "user" {
			return true
		}
		last = m["role"]
	}
	return false
}

// A conversation that begins with another model, is cancelled twice and goes back meets
// each demand after at most one refusal, which nobody sees; a new client meets none.
func TestDialectsAreLearned(t *testing.T) {
	for name, demand := range demands {
		t.Run(name, func(t *testing.T) {
			refused, want := 0, min(len(demand.learned), 1)
			server := serve(t, func(b body) *llmtest.Turn {
				if demand.calls == "" && b.any("", func(m body) bool { return m.has("reasoning_details") }) {
					t.Error("got another provider's reasoning")
				}
				if demand.refused(b) {
					refused++
					return &demand.answer
				}
				if all := b.messages(""); demand.calls != "" && all[len(all)-1]["role"] == "user" {
					turn := named(demand.calls, fmt.Sprintf("own%d", len(all)))
					return &turn
				}
				return nil
			})
			other := serve(t, func(b body) *llmtest.Turn {
				if b.any("", func(m body) bool { return m.has("reasoning_content") || m.has("name") }) || strings.Contains(fmt.Sprint(b["messages"]), "skip_thought") {
					t.Error("another server was sent what this one demands")
				}
				if last := len(b.messages("")) - 1; last >= 0 && b.messages("")[last]["role"] == "user" {
					turn := named(routed, fmt.Sprintf("r%d", last))
					return &turn
				}
				return nil
			})
			cfg := config.Config{Home: t.TempDir(), Providers: map[string]config.Provider{}}
			a, b := open(t, &cfg, "a", server, demand.options), open(t, &cfg, "b", other, config.ModelOptions{})
			c := &talk{t: t}
			c.goThrough(a, b)
			if refused != want {
				t.Errorf("%d refusals, want %d", refused, want)
			}
			c.prompt(open(t, &cfg, "a", server, demand.options))
			if refused != want {
				t.Error("a new client was refused")
			}
			all, err := OpenDialects(cfg.Home).List()
			if err != nil || len(all) != want {
				t.Fatalf("%v, %v", all, err)
			}
			if diff := cmp.Diff([]Dialect{{BaseURL: server.URL(), Model: "m", Learned: demand.learned}}, all); want > 0 && diff != "" {
				t.Error(diff)
			}
			for _, request := range slices.Concat(server.Requests(), other.Requests()) {
				// The judge knows the demands of most servers only.
				request = []byte(strings.NewReplacer(`"role":"developer"`, `"role":"system"`, `"content":"",`, "").Replace(string(request)))
				if err := transcriptjudge.Check(request); err != nil {
					t.Errorf("%v in %s", err, request)
				}
			}
		})
	}
}

// routed is an answer as OpenRouter sends it.
const routed = `data: {"choices":[{"index":0,"delta":{"reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","index":0}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_r","type":"function","function":{"name":"list","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}]},"finish_reason":"tool_calls"}]}

data: [DONE]

`

// named returns an answer whose call has this id.
func named(events, id string) llmtest.Turn {
	return llmtest.Raw(200, "text/event-stream", strings.ReplaceAll(events, "call_r", id))
}

// serve returns a server that answers a prompt with a call, and a result with a text,
// unless special answers.
func serve(t *testing.T, special func(b body) *llmtest.Turn) *llmtest.Server {
	return llmtest.NewServerFunc(t, func(_ int, request []byte) llmtest.Turn {
		var b body
		if err := json.Unmarshal(request, &b); err != nil {
			t.Error(err)
		}
		if turn := special(b); turn != nil {
			return *turn
		}
		all := b.messages("")
		if all[len(all)-1]["role"] == "tool" {
			return llmtest.Turn{Reasoning: "I see.", Text: strings.Repeat("Nothing there. ", 5)}
		}
		return llmtest.Turn{Reasoning: "I look.", Calls: []llmtest.Call{{Name: "list", Args: "{}"}}}
	})
}

func open(t *testing.T, cfg *config.Config, name string, server *llmtest.Server, o config.ModelOptions) llm.Model {
	t.Helper()
	return openWire(t, cfg, name, server, config.WireChat, o)
}

func openWire(t *testing.T, cfg *config.Config, name string, server *llmtest.Server, wire string, o config.ModelOptions) llm.Model {
	t.Helper()
	endpoint := config.Provider{BaseURL: server.URL(), Wire: wire}
	if err := allowedservers.Open(cfg.Home).Allow(t.Context(), allowedservers.Entry{Address: server.URL(), Provider: name}); err != nil {
		t.Fatal(err)
	}
	m, err := New(*cfg, config.Model{Ref: name + "/m", Provider: name, Name: "m", Endpoint: endpoint, Options: o})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// talk is a conversation as a session keeps it.
type talk struct {
	t   *testing.T
	all []llm.Message
}

// prompt runs a prompt to its end.
func (c *talk) prompt(m llm.Model) { c.run(m, 0) }

// cancelled runs a prompt that ends after half of the text (1) or after the result (2).
func (c *talk) cancelled(m llm.Model, how int) { c.run(m, how) }

// goThrough has a conversation that begins with b, goes on with a, is cancelled there
// twice, and changes to b and back.
func (c *talk) goThrough(a, b llm.Model) {
	c.t.Helper()
	c.prompt(b)
	c.prompt(a)
	c.cancelled(a, 1) // within the text
	c.prompt(a)
	c.cancelled(a, 2) // after a result
	c.prompt(a)
	c.prompt(b)
	c.prompt(a)
}

func (c *talk) run(m llm.Model, how int) {
	c.t.Helper()
	c.all = append(c.all, llm.Message{Role: llm.User, Parts: []llm.Part{
		{Kind: llm.TextPart, Text: "look"}, {Kind: llm.ImagePart, Mime: "image/png", Data: []byte{1}},
	}})
	for range 3 {
		answer, whole := c.answer(m, how == 1)
		c.all = append(c.all, answer)
		for _, call := range answer.Calls {
			result := llm.TextMessage(llm.ToolReply, "nothing")
			result.CallID = call.ID
			c.all = append(c.all, result)
		}
		if len(answer.Calls) == 0 || !whole || how == 2 {
			return
		}
	}
	c.t.Fatal("the prompt does not end")
}

// answer returns the model's answer; a cut one ends within its text.
func (c *talk) answer(m llm.Model, cut bool) (answer llm.Message, whole bool) {
	c.t.Helper()
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	req := llm.Request{Session: "s", System: "be brief", Messages: c.all, Tools: []llm.ToolSpec{{Name: "list"}}}
	answer.Role = llm.Assistant
	var reasoning, text string
	for d, err := range m.Stream(ctx, req) {
		switch {
		case err != nil && ctx.Err() == nil:
			c.t.Fatal(err)
		case d.Retry != nil:
			c.t.Errorf("the person saw: %s", d.Retry.Reason)
		case d.End != nil:
			answer.Calls, answer.Extra, whole = d.End.Calls, d.End.Extra, true
		}
		reasoning += d.Reasoning
		if text += d.Text; cut && text != "" {
			cancel()
			break
		}
	}
	if reasoning != "" {
		answer.Parts = append(answer.Parts, llm.Part{Kind: llm.ReasoningPart, Text: reasoning})
	}
	if text != "" {
		answer.Parts = append(answer.Parts, llm.Part{Kind: llm.TextPart, Text: text})
	}
	return answer, whole
}

// A dialect that is old, or has no time, is learned again.
func TestDialectsExpire(t *testing.T) {
	s := OpenDialects(t.TempDir())
	entry := func(model, at string) string {
		return `{"base_url":"http://a","model":"` + model + `","learned":["no temperature"]` + at + `}`
	}
	at := func(age time.Duration) string { return `,"at":"` + time.Now().Add(-age).Format(time.RFC3339) + `"` }
	file := "[" + entry("new", at(29*24*time.Hour)) + "," + entry("old", at(31*24*time.Hour)) + "," + entry("timeless", "") + "]"
	if err := os.WriteFile(filepath.Join(s.home, DialectsFile), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]bool{"new": true, "old": false, "timeless": false} {
		if d := s.find(config.Model{Name: model, Endpoint: config.Provider{BaseURL: "http://a"}}); (d.Learned != nil) != want || d.Model != model {
			t.Errorf("%s: %+v", model, d)
		}
	}
	if all, err := s.List(); err != nil || len(all) != 1 || all[0].Model != "new" {
		t.Errorf("%+v, %v", all, err)
	}
	if err := s.save(t.Context(), Dialect{BaseURL: "http://a", Model: "old", Learned: []string{"x"}}); err != nil {
		t.Fatal(err)
	}
	if all, err := s.List(); err != nil || len(all) != 2 || all[1].Model != "old" {
		t.Errorf("%+v, %v", all, err)
	}
	if data, err := os.ReadFile(filepath.Join(s.home, DialectsFile)); err != nil || strings.Contains(string(data), "timeless") {
		t.Errorf("%s, %v", data, err)
	}
}

func TestDialectsAreForgotten(t *testing.T) {
	s := OpenDialects(t.TempDir())
	ofB := config.Model{Name: "m", Endpoint: config.Provider{BaseURL: "http://b"}}
	for _, d := range []Dialect{{"http://b", "m", "", []string{"x"}}, {"http://a", "m", "", []string{"y"}}, {"http://b", "m", "", []string{"z"}}, {"http://b", "m", "responses", []string{"r"}}} {
		if err := s.save(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.List()
	if diff := cmp.Diff([]Dialect{{"http://a", "m", "", []string{"y"}}, {"http://b", "m", "", []string{"z"}}, {"http://b", "m", "responses", []string{"r"}}}, all); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if n, err := s.Forget(); n != 3 || err != nil || s.find(ofB).Learned != nil {
		t.Errorf("%d, %v", n, err)
	}
	if err := os.WriteFile(filepath.Join(s.home, DialectsFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.List(); err == nil {
		t.Error("no error for a malformed file")
	}
	if _, err := s.Forget(); err != nil || s.find(ofB).Learned != nil {
		t.Error(err)
	}
}
