package provider

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// demand is one of several that a server states, in this order.
type demand struct {
	refused func(b body) bool
	answer  llmtest.Turn
}

var (
	limitDemand = demand{
		func(b body) bool { return b.has("max_tokens") },
		refusal(`"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens"`),
	}
	roleDemand = demand{
		func(b body) bool { return len(b.messages("system")) > 0 },
		refusal(`"Unsupported value: 'messages[0].role' does not support 'system' with this model.","param":"messages[0].role"`),
	}
	warmthDemand = demand{
		func(b body) bool { return b.has("temperature") },
		refusal(`"Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is supported.","param":"temperature"`),
	}
	noneDemand = demand{
		func(b body) bool { return offersTools(b) && b["reasoning_effort"] != "none" },
		refusal(`"Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.","param":"reasoning_effort"`),
	}
	noEffortDemand = demand{
		func(b body) bool { return offersTools(b) && b.has("reasoning_effort") },
		refusal(`"Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions. Please use /v1/responses instead.","param":"reasoning_effort"`),
	}
	alternateDemand = demand{
		userAfterTool,
		llmtest.Raw(400, "application/json", `{"object":"error","message":"Unexpected role 'user' after role 'tool'","type":"invalid_request_message_order","code":"3230"}`),
	}
	nameDemand = demand{
		func(b body) bool { return b.lacks("tool", "name") },
		llmtest.Raw(400, "application/json", `{"error":{"message":"Missing parameter 'name': messages with role 'tool' must have a 'name'."}}`),
	}
	googleNameDemand = demand{
		func(b body) bool { return b.lacks("tool", "name") },
		llmtest.Raw(400, "application/json", `[{"error":{"code":400,"message":"* GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.\n","status":"INVALID_ARGUMENT"}}]`),
	}
	signatureDemand = demand{
		func(b body) bool {
			return b.any("assistant", func(m body) bool {
				return m.has("tool_calls") && !strings.Contains(fmt.Sprint(m["tool_calls"]), "thought_signature:skip_thought_signature_validator")
			})
		},
		llmtest.Raw(400, "application/json", `[{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts.","status":"INVALID_ARGUMENT"}}]`),
	}
	kimiWarmthDemand = demand{
		func(b body) bool { return b.has("temperature") },
		refusal(`"invalid temperature: only 1 is allowed for this model"`),
	}
	kimiDemand = demand{
		func(b body) bool {
			return b.any("assistant", func(m body) bool { return m.has("tool_calls") && !m.has("reasoning_content") })
		},
		refusal(`"thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"`),
	}
	usageDemand    = demand{func(b body) bool { return b.has("stream_options") }, refusal(`"Unknown parameter: 'stream_options'."`)}
	parallelDemand = demand{func(b body) bool { return b.has("parallel_tool_calls") }, refusal(`"Unknown parameter: 'parallel_tool_calls'."`)}
	imageDemand    = demand{
		func(b body) bool { return strings.Contains(fmt.Sprint(b["messages"]), "image_url") },
		refusal(`"This model does not support image input."`),
	}
	serdeUsage    = demand{usageDemand.refused, serde("stream_options")}
	serdeParallel = demand{parallelDemand.refused, serde("parallel_tool_calls")}
	serdeWarmth   = demand{warmthDemand.refused, serde("temperature")}
)

// serde refuses a parameter and lists the accepted ones.
func serde(name string) llmtest.Turn {
	return llmtest.Raw(http.StatusUnprocessableEntity, "text/plain",
		"Failed to deserialize the JSON body into the target type: unknown field `"+name+"`, expected one of `model`, `messages`, `tools`, `max_tokens`, `stream` at line 1 column 90")
}

// inTurn are the rows of demands that servers may state one after another. refusals is 1
// unless the first refusal tells nothing of the next.
var inTurn = map[string]struct {
	options  config.ModelOptions
	demands  []demand
	refusals int
	learned  []string
}{
	"Kimi": {
		config.ModelOptions{Temperature: &warm},
		[]demand{kimiWarmthDemand, kimiDemand},
		1,
		[]string{"reasoning_content in answers with calls", "no temperature"},
	},
	"Gemini": {
		config.ModelOptions{},
		[]demand{signatureDemand, googleNameDemand},
		1,
		[]string{"tool results have a name", "calls have a signature"},
	},
	"Gemini, the other way round": {
		config.ModelOptions{},
		[]demand{googleNameDemand, signatureDemand},
		1,
		[]string{"tool results have a name", "calls have a signature"},
	},
	"gpt-5.6": {
		config.ModelOptions{Effort: "high", MaxTokens: 900},
		[]demand{noneDemand, limitDemand, roleDemand},
		1,
		[]string{"reasoning_effort none with tools", "max_completion_tokens", "role developer"},
	},
	"gpt-5.4": {
		config.ModelOptions{Effort: "high", MaxTokens: 900},
		[]demand{noEffortDemand, limitDemand, roleDemand},
		1,
		[]string{"no reasoning_effort", "max_completion_tokens", "role developer"},
	},
	"o-series": {
		config.ModelOptions{MaxTokens: 900, Temperature: &warm},
		[]demand{limitDemand, roleDemand, warmthDemand},
		1,
		[]string{"max_completion_tokens", "role developer", "no temperature"},
	},
	"o-series, from the end": {
		config.ModelOptions{MaxTokens: 900, Temperature: &warm},
		[]demand{warmthDemand, roleDemand, limitDemand},
		1,
		[]string{"max_completion_tokens", "role developer", "no temperature"},
	},
	"Mistral": {
		config.ModelOptions{},
		[]demand{alternateDemand, nameDemand},
		1,
		[]string{"roles alternate", "tool results have a name"},
	},
	"template": {
		config.ModelOptions{},
		[]demand{nameDemand, alternateDemand},
		1,
		[]string{"roles alternate", "tool results have a name"},
	},
	"proxy": {
		config.ModelOptions{Extra: map[string]any{"parallel_tool_calls": true}},
		[]demand{usageDemand, parallelDemand},
		1,
		[]string{"no stream_options", "no parallel_tool_calls"},
	},
	"proxy that lists its parameters": {
		config.ModelOptions{Temperature: &warm, Extra: map[string]any{"parallel_tool_calls": true}},
		[]demand{serdeWarmth, serdeUsage, serdeParallel},
		1,
		[]string{"no stream_options", "no parallel_tool_calls", "no temperature"},
	},
	// A parameter tells nothing of pictures, and other models take an effort with tools.
	"proxy, images": {
		config.ModelOptions{Images: &yes},
		[]demand{usageDemand, imageDemand},
		2,
		[]string{"no stream_options", "no images"},
	},
	"gpt-5.6, the limit first": {
		config.ModelOptions{Effort: "high", MaxTokens: 900},
		[]demand{limitDemand, noneDemand},
		2,
		[]string{"reasoning_effort none with tools", "max_completion_tokens", "role developer"},
	},
	// A wrong inference is taken back.
	"proxy with an old list of roles": {
		config.ModelOptions{MaxTokens: 900},
		[]demand{limitDemand, {
			func(b body) bool { return len(b.messages("developer")) > 0 },
			refusal(`"messages.0.role: unknown role 'developer'"`),
		}},
		2,
		[]string{"max_completion_tokens", "role system"},
	},
}

// A server that states its demands one after another refuses once if the first tells
// which kind of server it is.
func TestDemandsInTurn(t *testing.T) {
	for name, c := range inTurn {
		t.Run(name, func(t *testing.T) {
			refused := 0
			server := serve(t, func(b body) *llmtest.Turn {
				for i, d := range c.demands {
					if d.refused(b) {
						refused++
						return &c.demands[i].answer
					}
				}
				return nil
			})
			other := serve(t, func(body) *llmtest.Turn { return nil })
			cfg := config.Config{Home: t.TempDir(), Providers: map[string]config.Provider{}}
			a, b := open(t, &cfg, "a", server, c.options), open(t, &cfg, "b", other, config.ModelOptions{})
			conversation := &talk{t: t}
			conversation.goThrough(a, b)
			conversation.prompt(open(t, &cfg, "a", server, c.options))
			if refused != c.refusals {
				t.Errorf("%d refusals, want %d", refused, c.refusals)
			}
			all, err := OpenDialects(cfg.Home).List()
			if diff := cmp.Diff([]Dialect{{BaseURL: server.URL(), Model: "m", Learned: c.learned}}, all); err != nil || diff != "" {
				t.Error(err, diff)
			}
		})
	}
}
