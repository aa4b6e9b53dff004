package responses

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/transcriptjudge"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

var specs = []llm.ToolSpec{{Name: "list", Description: "List <it>.", Schema: json.RawMessage(`{"type":"object"}`)}}

func encode(t *testing.T, p *Protocol, messages []llm.Message) []byte {
	t.Helper()
	pieces, err := p.Encode(llm.Request{Session: "k", System: "Be good.", Messages: messages, Tools: specs})
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Join(pieces.Body, nil)
}

func TestConversations(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 2))
		messages := llmtest.Conversation(r, 1+r.IntN(5), []string{wireName, "anthropic"}, []string{"m", "other"})
		p := New(Options{Model: "m"})
		var before []byte
		for i, m := range messages {
			if m.Role == llm.Assistant || i+1 < len(messages) && messages[i+1].Role == llm.ToolReply {
				continue
			}
			body := encode(t, p, messages[:i+1])
			if err := transcriptjudge.CheckResponses(body); err != nil {
				t.Fatalf("seed %d, message %d: %v\n%s", seed, i, err, body)
			}
			fresh := encode(t, New(Options{Model: "m"}), messages[:i+1])
			if d := cmp.Diff(string(fresh), string(body)); d != "" {
				t.Fatalf("seed %d, message %d: encoded in steps it differs: %s", seed, i, d)
			}
			if !bytes.HasPrefix(body, bytes.TrimSuffix(before, []byte("]}"))) {
				t.Fatalf("seed %d, message %d: it does not begin with the request before:\n%s\n%s", seed, i, before, body)
			}
			before = body
		}
	}
}

func TestParameters(t *testing.T) {
	warm := 0.5
	for name, c := range map[string]struct {
		opt     Options
		session string
		want    string
	}{
		"plain": {Options{}, "", `{"include":["reasoning.encrypted_content"],"model":"m","reasoning":{"summary":"auto"},"store":false,"stream":true}`},
		"all": {
			Options{Effort: "high", Temperature: &warm, MaxTokens: 9, Extra: map[string]any{"include": nil, "user": "me"}},
			"k", `{"max_output_tokens":9,"model":"m","prompt_cache_key":"k","reasoning":{"effort":"high","summary":"auto"},"store":false,"stream":true,"temperature":0.5,"user":"me"}`,
		},
	} {
		c.opt.Model = "m"
		pieces, err := New(c.opt).Encode(llm.Request{Session: c.session, Messages: []llm.Message{llm.TextMessage(llm.User, "x")}})
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(bytes.Join(pieces.Body, nil)), `,"input"`)
		if head+"}" != c.want {
			t.Errorf("%s: %s", name, head)
		}
	}
}
