package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/transcriptjudge"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

var specs = []llm.ToolSpec{
	{Name: "read_file", Description: "Read a <file>.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
	{Name: "list", Description: "List.", Schema: json.RawMessage(`{"type":"object"}`)},
}

func encode(t *testing.T, p *Protocol, messages []llm.Message) []byte {
	t.Helper()
	pieces, err := p.Encode(llm.Request{System: "Be good.", Messages: messages, Tools: specs})
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Join(pieces.Body, nil)
}

// withoutMarkers returns body without its cache markers, which move.
func withoutMarkers(body []byte) []byte {
	return bytes.ReplaceAll(body, []byte(remote.CacheMarker(false)), nil)
}

func TestConversations(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		messages := llmtest.Conversation(r, 1+r.IntN(5), []string{wireName, "responses"}, []string{"m", "other"})
		p := New(Options{Model: "m"})
		var before []byte
		// A session asks after each result and each prompt.
		for i, m := range messages {
			if m.Role == llm.Assistant || i+1 < len(messages) && messages[i+1].Role == llm.ToolReply {
				continue
			}
			body := encode(t, p, messages[:i+1])
			if err := transcriptjudge.CheckMessages(body); err != nil {
				t.Fatalf("seed %d, message %d: %v\n%s", seed, i, err, body)
			}
			fresh := encode(t, New(Options{Model: "m"}), messages[:i+1])
			if d := cmp.Diff(string(fresh), string(body)); d != "" {
				t.Fatalf("seed %d, message %d: encoded in steps it differs: %s", seed, i, d)
			}
			now := withoutMarkers(body)
			if !bytes.HasPrefix(now, bytes.TrimSuffix(before, []byte("]}]}"))) {
				t.Fatalf("seed %d, message %d: it does not begin with the request before:\n%s\n%s", seed, i, before, now)
			}
			before = now
		}
	}
}

func TestThinkingGoesBackUnchanged(t *testing.T) {
	block := `{"type":"thinking","thinking":"a <b> & c","signature":"s"}`
	order := llm.Order{Wire: wireName, Model: "m", Parts: []llm.OrderPart{{Opaque: json.RawMessage(block)}, {Text: 2}, {Call: true}}}
	answer := llm.TextMessage(llm.Assistant, "ok")
	answer.Calls, answer.Extra = []llm.ToolCall{{ID: "a", Name: "list", Args: "{}"}}, order.Extra()
	reply := llm.TextMessage(llm.ToolReply, "done")
	reply.CallID = "a"
	messages := []llm.Message{llm.TextMessage(llm.User, "x"), answer, reply}
	for model, want := range map[string]int{"m": 1, "other": 0} {
		body := encode(t, New(Options{Model: model}), messages)
		got, err := transcriptjudge.ThinkingOf(body)
		if err != nil || len(got) != want {
			t.Fatalf("%s: %q, %v", model, got, err)
		}
		for _, each := range got {
			var a, b map[string]string
			if json.Unmarshal([]byte(each), &a) != nil || json.Unmarshal([]byte(block), &b) != nil || !cmp.Equal(a, b) {
				t.Errorf("%s", each)
			}
		}
	}
}

func TestParameters(t *testing.T) {
	warm := 0.5
	for name, c := range map[string]struct {
		opt  Options
		want string
	}{
		"plain":       {Options{}, `{"max_tokens":32000,"model":"m","stream":true}`},
		"temperature": {Options{Temperature: &warm}, `{"max_tokens":32000,"model":"m","stream":true,"temperature":0.5}`},
		"effort":      {Options{Effort: "high", Temperature: &warm, MaxTokens: 9}, `{"max_tokens":9,"model":"m","output_config":{"effort":"high"},"stream":true,"thinking":{"type":"adaptive"}}`},
		"extra":       {Options{Extra: map[string]any{"top_k": 3, "stream": nil, "messages": 1}}, `{"max_tokens":32000,"model":"m","top_k":3}`},
	} {
		c.opt.Model = "m"
		pieces, err := New(c.opt).Encode(llm.Request{Messages: []llm.Message{llm.TextMessage(llm.User, "x")}})
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(bytes.Join(pieces.Body, nil)), `,"messages"`)
		if head+"}" != c.want {
			t.Errorf("%s: %s", name, head)
		}
	}
}

func TestLearn(t *testing.T) {
	p := New(Options{Model: "m", Effort: "low", MaxTokens: 64_000})
	p.parameters("low", nil)
	var asked []string
	for _, refusal := range []string{
		"max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for m",
		"thinking.type: Input tag 'adaptive' found using 'type' does not match any of the expected tags",
		"thinking: this model does not support extended thinking",
	} {
		if !p.Learn(&llm.Error{Kind: llm.Refused, Message: refusal}) {
			t.Errorf("nothing learned from %q", refusal)
		}
		f := p.parameters("low", nil)
		asked = append(asked, fmt.Sprint(f["max_tokens"], f["thinking"], f["output_config"]))
	}
	want := []string{
		"8192 map[type:adaptive] map[effort:low]", "8192 map[budget_tokens:4096 type:enabled] <nil>", "8192 <nil> <nil>",
	}
	if d := cmp.Diff(want, asked); d != "" {
		t.Error(d)
	}
	for _, refusal := range []string{"max_tokens: 8192 > 8192", "thinking is odd", "invalid x-api-key"} {
		if p.Learn(&llm.Error{Kind: llm.Refused, Message: refusal}) {
			t.Errorf("learned from %q, endlessly", refusal)
		}
	}
	if !p.NoEffort() {
		t.Error("an effort seems to help")
	}
}

// A refusal of the conversation or of a number is no refusal to think.
func TestLearnNothing(t *testing.T) {
	p := New(Options{Model: "m", Effort: "low"})
	p.parameters("low", nil)
	about := func(refusal string) *llm.Error { return &llm.Error{Kind: llm.Refused, Message: refusal} }
	others := []string{
		"messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block",
		"Expected `thinking` or `redacted_thinking`, but found `tool_use`",
		"messages.3.content.0: Invalid `signature` in `thinking` block",
		"Invalid `signature` in `thinking` block",
		"messages.5: `thinking` blocks in the latest message cannot be modified",
		"`max_tokens` must be greater than `thinking.budget_tokens`",
	}
	for _, adaptive := range []bool{true, false} {
		before := p.Learned()
		for _, refusal := range others {
			if p.Learn(about(refusal)) || !slices.Equal(p.Learned(), before) {
				t.Errorf("learned %q from %q", p.Learned(), refusal)
			}
		}
		if adaptive && !p.Learn(about("thinking.type: adaptive is not supported on this model")) {
			t.Error("nothing learned about adaptive thinking")
		}
	}
	if p.Learn(about("thinking.budget_tokens: Input should be less than 2000")) || p.NoEffort() {
		t.Error("a budget that was refused ended all thinking")
	}
	if !p.Learn(about("thinking: Extra inputs are not permitted")) || !p.NoEffort() {
		t.Error("nothing learned about thinking")
	}
	p = New(Options{Model: "m"})
	for _, refusal := range []string{
		"output_config.effort: Input should be 'low', 'medium' or 'high'",
		"This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.",
	} {
		p.parameters("xhigh", nil)
		if p.Learn(&llm.Error{Kind: llm.Refused, Message: refusal}) || p.NoEffort() {
			t.Errorf("learned from %q, which is for the user", refusal)
		}
	}
}
