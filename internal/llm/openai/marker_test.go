package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/transcriptjudge"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

// marked returns the numbers of the messages in a request that carry a cache marker.
func marked(t *testing.T, body []byte) []int {
	t.Helper()
	var req struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		t.Fatal(err)
	}
	var list []int
	for i, m := range req.Messages {
		if strings.Contains(string(m), remote.CacheMarker(false)) {
			list = append(list, i)
		}
	}
	return list
}

// wantMarked returns the messages that should carry one: the system prompt and the last
// message of each of the two newest turns.
// Images of results follow them in a message of their own.
func wantMarked(messages []llm.Message) []int {
	ends := []int{0}
	at, shows := 0, false
	for i, m := range messages {
		at++
		last := i+1 == len(messages)
		shows = m.Role == llm.ToolReply && (shows || m.Shows())
		if shows && (last || messages[i+1].Role != llm.ToolReply) {
			at, shows = at+1, false
		}
		if m.Role != llm.Assistant && (last || messages[i+1].Role == llm.Assistant) {
			ends = append(ends, at)
		}
	}
	return append(ends[:1], ends[max(1, len(ends)-2):]...)
}

// The markers move to the end of the conversation, and nothing else changes.
func TestCacheMarkers(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 2))
		messages := llmtest.Conversation(r, 1+r.IntN(5), []string{"chat", "anthropic"}, []string{"m", "other"})
		p := New(Options{Model: "m", CacheMarkers: true})
		var before []byte
		for i, m := range messages {
			if m.Role == llm.Assistant || i+1 < len(messages) && messages[i+1].Role == llm.ToolReply {
				continue
			}
			q, err := p.Encode(llm.Request{System: "be brief", Messages: messages[:i+1]})
			if err != nil {
				t.Fatal(err)
			}
			body := bytes.Join(q.Body, nil)
			if err := transcriptjudge.Check(body); err != nil {
				t.Fatalf("seed %d, message %d: %v\n%s", seed, i, err, body)
			}
			if d := cmp.Diff(wantMarked(messages[:i+1]), marked(t, body)); d != "" {
				t.Fatalf("seed %d, message %d: markers in the wrong messages: %s\n%s", seed, i, d, body)
			}
			now := bytes.ReplaceAll(body, []byte(remote.CacheMarker(false)), nil)
			if !bytes.HasPrefix(now, bytes.TrimSuffix(before, []byte("]}"))) {
				t.Fatalf("seed %d, message %d: it does not begin with the request before:\n%s\n%s", seed, i, before, now)
			}
			before = now
		}
	}
}

func TestRequestsWithoutCacheMarkers(t *testing.T) {
	for name, p := range map[string]*Protocol{
		"not configured": New(Options{Model: "m"}),
		"refused":        New(Options{Model: "m", CacheMarkers: true, Learned: []string{"no cache markers"}}),
	} {
		q, err := p.Encode(hello())
		if body := string(bytes.Join(q.Body, nil)); err != nil || strings.Contains(body, markerField) || !strings.Contains(body, `"content":"hello"`) {
			t.Errorf("%s: %s, %v", name, body, err)
		}
		refusal := &llm.Error{Status: 400, Message: fmt.Sprintf("messages[0].content[0].%s: Extra inputs are not permitted", markerField)}
		if p.Learn(refusal) {
			t.Errorf("%s: learned although no marker was sent", name)
		}
	}
}
