package openai

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// response is everything that a caller received of one answer.
type response struct {
	text, reasoning string
	steps           int // of text
	pending         []llm.Pending
	retries         []llm.Retry
	end             *llm.End
	err             error
}

func collect(ctx context.Context, m llm.Model, req llm.Request) response {
	var h response
	for d, err := range m.Stream(ctx, req) {
		switch {
		case err != nil:
			h.err = err
		case d.Text != "":
			h.text += d.Text
			h.steps++
		case d.Reasoning != "":
			h.reasoning += d.Reasoning
		case d.Pending != nil:
			h.pending = append(h.pending, *d.Pending)
		case d.Retry != nil:
			h.retries = append(h.retries, *d.Retry)
		case d.End != nil:
			h.end = d.End
		}
	}
	return h
}

func (h response) kind(t *testing.T) *llm.Error {
	t.Helper()
	var e *llm.Error
	if !errors.As(h.err, &e) {
		t.Fatalf("the error is %v, no *llm.Error; the answer %q", h.err, h.text)
	}
	if h.end != nil {
		t.Error("an answer was delivered beside the error")
	}
	return e
}

// hello returns a conversation of one prompt.
func hello() llm.Request {
	return llm.Request{System: "be brief", Messages: []llm.Message{llm.TextMessage(llm.User, "hello")}}
}

// client returns a client of the server at url that never sleeps; change adjusts it.
func client(t *testing.T, url string, change ...func(*Options)) *Client {
	t.Helper()
	opt := Options{
		Name: "test/model", Model: "test-model", BaseURL: url,
		Clock: Clock{
			Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
			Rand:  func() float64 { return 1 },
		},
	}
	transport := newTransport(nil)
	t.Cleanup(transport.CloseIdleConnections)
	opt.Transport = transport
	for _, c := range change {
		c(&opt)
	}
	return New(opt)
}

// sse returns a turn that streams body unchanged.
func sse(body string) llmtest.Turn { return llmtest.Raw(http.StatusOK, "text/event-stream", body) }

// events returns the SSE form of data, each an event.
func events(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		b.WriteString("data: " + d + "\n\n")
	}
	return b.String()
}

const (
	stop     = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	stopTool = `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	finished = "[DONE]"
)

func says(text string) string {
	return `{"choices":[{"index":0,"delta":{"content":"` + text + `"}}]}`
}

// callPart returns an event with a piece of a call.
func callPart(fields string) string {
	return `{"choices":[{"index":0,"delta":{"tool_calls":[{` + fields + `}]}}]}`
}

// roundTrip implements http.RoundTripper with a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
