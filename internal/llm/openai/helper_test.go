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
	"github.com/bb2d0cf4/agent/internal/llm/remote"
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
			h.text, h.reasoning, h.steps = "", "", 0
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

// options are those of the client and of the protocol.
type options struct {
	remote.Options
	Params Options
}

// open returns a client that speaks chat completions.
func open(o options) *remote.Client {
	if o.BaseURL == "" {
		o.BaseURL = "http://model.test/v1" // the transport answers
	}
	o.Params.BaseURL = o.BaseURL
	return remote.New(o.Options, New(o.Params))
}

// client returns a client of the server at url that never sleeps; change adjusts it.
func client(t *testing.T, url string, change ...func(*options)) *remote.Client {
	t.Helper()
	transport := remote.NewTransport(nil)
	t.Cleanup(transport.CloseIdleConnections)
	o := options{
		Options: remote.Options{
			Name: "test/model", BaseURL: url, Transport: transport,
			Clock: remote.Clock{
				Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
				Rand:  func() float64 { return 1 },
			},
		},
		Params: Options{Model: "test-model"},
	}
	for _, c := range change {
		c(&o)
	}
	return open(o)
}

// The limits of remote.
const (
	firstWait = 500 * time.Millisecond // before the second attempt
	maxWait   = 60 * time.Second       // however long the server asks for
	endTime   = 5 * time.Second        // after the end of an answer
	maxAnswer = 128 << 20              // bytes
)

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
