package session

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/transcriptjudge"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/openai"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// wire turns requests into the bytes that the program's own client sends. It replaces
// the network.
type wire struct {
	client *remote.Client
	body   []byte
}

func newWire() *wire {
	w := &wire{}
	w.client = remote.New(remote.Options{BaseURL: "http://model.test/v1", Transport: w}, openai.New(openai.Options{Model: "test"}))
	return w
}

// RoundTrip records the body and answers with one word.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	var err error
	if w.body, err = io.ReadAll(r.Body); err != nil {
		return nil, err
	}
	const answer = `data: {"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(strings.NewReader(answer)), Request: r,
	}, nil
}

// bytes returns the body that the client sends for req.
func (w *wire) bytes(ctx context.Context, tb testing.TB, req llm.Request) []byte {
	w.body = nil
	for _, err := range w.client.Stream(context.WithoutCancel(ctx), req) {
		if err != nil {
			tb.Errorf("the client sends nothing: %v", err)
			return nil
		}
	}
	return w.body
}

// TestTheJudgeSeesFaults is the control of all tests that judge requests: a
// conversation that the transcript would refuse fails on the wire too and is not
// repaired.
func TestTheJudgeSeesFaults(t *testing.T) {
	ask, answer := history.Text(llm.User, "go"), llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{call("a", "read", "{}")}}
	for name, msgs := range map[string][]llm.Message{
		"no result":      {ask, answer},
		"prompt between": {ask, answer, ask, history.Result("a", "x")},
		"orphan":         {ask, history.Result("a", "x")},
		"result twice":   {ask, answer, history.Result("a", "x"), history.Result("a", "x")},
	} {
		body := newWire().bytes(t.Context(), t, llm.Request{Messages: msgs})
		if err := transcriptjudge.Check(body); err == nil {
			t.Errorf("%s: accepted\n%s", name, body)
		}
		chat, refused := &history.Transcript{}, false
		for _, m := range msgs {
			_, err := chat.Append(history.Item{Message: m})
			refused = refused || err != nil
		}
		if !refused && len(chat.Close("")) == 0 {
			t.Errorf("%s: the transcript takes it", name)
		}
	}
}
