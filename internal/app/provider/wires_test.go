package provider

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/dev/transcriptjudge"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// wireDemands are servers of the other wires with a demand.
var wireDemands = map[string]struct {
	wire    string
	options config.ModelOptions
	refused func(b body) bool
	answer  llmtest.Turn
	learned []string
}{
	"anthropic, limit": {
		wire: config.WireAnthropic, options: config.ModelOptions{MaxTokens: 64_000},
		refused: func(b body) bool { return b["max_tokens"].(float64) > 8192 },
		answer:  refusal(`"max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for m"`),
		learned: []string{"max_tokens 8192"},
	},
	"anthropic, older thinking": {
		wire: config.WireAnthropic, options: config.ModelOptions{Effort: "high"},
		refused: func(b body) bool { return strings.Contains(fmt.Sprint(b["thinking"]), "adaptive") },
		answer:  refusal(`"thinking.type: Input tag 'adaptive' found using 'type' does not match any of the expected tags: 'disabled', 'enabled'"`),
		learned: []string{"thinking with a budget"},
	},
	"anthropic, no effort": {
		wire: config.WireAnthropic, options: config.ModelOptions{Effort: "high"},
		refused: func(b body) bool { return b.has("output_config") },
		answer:  refusal(`"This model does not support the effort parameter."`),
		learned: []string{"thinking with a budget"},
	},
	"anthropic, no thinking": {
		wire: config.WireAnthropic, options: config.ModelOptions{Effort: "high"},
		refused: func(b body) bool { return b.has("thinking") },
		answer:  refusal(`"'m' does not support thinking."`),
		learned: []string{"no thinking"},
	},
	"anthropic, no temperature": {
		wire: config.WireAnthropic, options: config.ModelOptions{Temperature: &warm},
		refused: func(b body) bool { return b.has("temperature") },
		answer:  refusal(`"\u0060temperature\u0060 is deprecated for this model."`),
		learned: []string{"no temperature"},
	},
	"anthropic, temperature while it thinks": {
		wire: config.WireAnthropic, options: config.ModelOptions{Temperature: &warm},
		refused: func(b body) bool { return b.has("temperature") },
		answer:  refusal(`"\u0060temperature\u0060 may only be set to 1 when thinking is enabled or in adaptive mode."`),
		learned: []string{"no temperature"},
	},
	"responses, a proxy that lists its parameters": {
		wire: config.WireResponses, options: config.ModelOptions{MaxTokens: 900, Temperature: &warm},
		refused: func(b body) bool { return b.has("prompt_cache_key") || b.has("include") || b.has("temperature") },
		answer:  llmtest.Raw(422, "text/plain", "unknown field `prompt_cache_key`, expected one of `model`, `input`, `instructions`, `tools`, `stream`, `store`, `max_output_tokens`, `reasoning` at line 1 column 80"),
		learned: []string{"no temperature", "no prompt_cache_key", "no include"},
	},
	"responses, no reasoning": {
		wire:    config.WireResponses,
		refused: func(b body) bool { return b.has("include") || b.has("reasoning") },
		answer:  refusal(`"Encrypted content is not supported with this model.","param":"include"`),
		learned: []string{"no include", "no reasoning"},
	},
	"responses, no effort": {
		wire: config.WireResponses, options: config.ModelOptions{Effort: "high"},
		refused: func(b body) bool { return b.has("reasoning") },
		answer:  refusal(`"Unsupported parameter: 'reasoning.effort' is not supported with this model.","param":"reasoning.effort"`),
		learned: []string{"no include", "no reasoning"},
	},
	"responses, temperature": {
		wire: config.WireResponses, options: config.ModelOptions{Temperature: &warm},
		refused: func(b body) bool { return b.has("temperature") },
		answer:  refusal(`"Unsupported parameter: 'temperature' is not supported with this model.","param":"temperature"`),
		learned: []string{"no temperature"},
	},
	"responses, two in one sentence": {
		wire: config.WireResponses, options: config.ModelOptions{Temperature: &warm},
		refused: func(b body) bool { return b.has("prompt_cache_key") || b.has("temperature") },
		answer:  refusal(`"Parameters 'prompt_cache_key' and 'temperature' are not supported with this model."`),
		learned: []string{"no temperature", "no prompt_cache_key"},
	},
	"responses, a proxy": {
		wire: config.WireResponses, options: config.ModelOptions{MaxTokens: 900},
		refused: func(b body) bool { return b.has("prompt_cache_key") || b.has("max_output_tokens") },
		answer:  llmtest.Raw(422, "application/json", `{"detail":[{"type":"extra_forbidden","loc":["body","prompt_cache_key"],"msg":"Extra inputs are not permitted"},{"type":"extra_forbidden","loc":["body","max_output_tokens"],"msg":"Extra inputs are not permitted"}]}`),
		learned: []string{"no max_output_tokens", "no prompt_cache_key"},
	},
}

// The demands of servers of other wires are learned like those of chat completions: one
// refusal, which nobody sees, and none for a new client.
func TestWiresLearn(t *testing.T) {
	judges := map[string]func(body []byte) error{
		config.WireAnthropic: transcriptjudge.CheckMessages, config.WireResponses: transcriptjudge.CheckResponses,
	}
	for name, demand := range wireDemands {
		t.Run(name, func(t *testing.T) {
			refused := 0
			server := serveWire(t, func(b body) *llmtest.Turn {
				if demand.refused(b) {
					refused++
					return &demand.answer
				}
				return nil
			})
			other := serve(t, func(body) *llmtest.Turn { return nil })
			cfg := config.Config{Home: t.TempDir(), Providers: map[string]config.Provider{}}
			a, b := openWire(t, &cfg, "a", server, demand.wire, demand.options), open(t, &cfg, "b", other, config.ModelOptions{})
			c := &talk{t: t}
			c.goThrough(a, b)
			if refused != 1 {
				t.Errorf("%d refusals, want 1", refused)
			}
			c.prompt(openWire(t, &cfg, "a", server, demand.wire, demand.options))
			if refused != 1 {
				t.Error("a new client was refused")
			}
			all, err := OpenDialects(cfg.Home).List()
			want := []Dialect{{BaseURL: server.URL(), Model: "m", Wire: demand.wire, Learned: demand.learned}}
			if diff := cmp.Diff(want, all); err != nil || diff != "" {
				t.Error(err, diff)
			}
			for _, request := range server.Requests() {
				if err := judges[demand.wire](request); err != nil {
					t.Errorf("%v in %s", err, request)
				}
			}
		})
	}
}

// serveWire is serve for the other wires.
func serveWire(t *testing.T, special func(b body) *llmtest.Turn) *llmtest.Server {
	return llmtest.NewServerFunc(t, func(_ int, request []byte) llmtest.Turn {
		var b body
		if err := json.Unmarshal(request, &b); err != nil {
			t.Error(err)
		}
		if turn := special(b); turn != nil {
			return *turn
		}
		items, ok := b["messages"].([]any)
		if !ok {
			items, _ = b["input"].([]any)
		}
		last := fmt.Sprint(items[len(items)-1])
		asked := strings.LastIndex(last, "type:text") > strings.LastIndex(last, "type:tool_result") || strings.Contains(last, "input_text")
		if asked {
			return llmtest.Turn{Reasoning: "I look.", Calls: []llmtest.Call{{Name: "list", Args: "{}"}}}
		}
		return llmtest.Turn{Reasoning: "I see.", Text: strings.Repeat("Nothing there. ", 5)}
	})
}
