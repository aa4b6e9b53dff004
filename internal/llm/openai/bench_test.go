package openai

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

// canned returns a client whose requests are read to their end and answered with body.
func canned(body []byte) *remote.Client { return open(cannedOptions(body)) }

func cannedOptions(body []byte) options {
	return options{Options: remote.Options{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(body))}, nil
	})}}
}

// chunks returns an answer of n events of four characters each.
func chunks(n int) []byte {
	event := `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"abc\n"},"finish_reason":null}]}`
	return []byte(strings.Repeat("data: "+event+"\n\n", n) + events(stop, finished))
}

// BenchmarkFlood reads an answer of 100,000 characters that is available at once.
func BenchmarkFlood(b *testing.B) {
	c := canned(chunks(25_000))
	b.ReportAllocs()
	for b.Loop() {
		if h := collect(b.Context(), c, hello()); h.end == nil || len(h.text) != 100_000 {
			b.Fatal(h.err)
		}
	}
}

// BenchmarkTrickle reads the same answer over a real connection, each event sent alone.
func BenchmarkTrickle(b *testing.B) {
	s := llmtest.NewServerFunc(b, func(int, []byte) llmtest.Turn {
		return llmtest.Turn{Text: strings.Repeat("abc\n", 25_000), Chunk: 4}
	})
	c := open(options{Options: remote.Options{BaseURL: s.URL()}})
	b.ReportAllocs()
	for b.Loop() {
		h := collect(b.Context(), c, hello())
		if h.end == nil || len(h.text) != 100_000 {
			b.Fatal(h.err)
		}
		b.ReportMetric(float64(h.steps), "steps")
	}
}

// BenchmarkRound sends a conversation of the given number of messages of 2 KB, two of
// them new.
func BenchmarkRound(b *testing.B) {
	for _, n := range []int{20, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := New(Options{})
			c := remote.New(cannedOptions(chunks(1)).Options, p)
			req := hello()
			text := strings.Repeat("some \"output\"\n", 146)
			for range n {
				req.Messages = append(req.Messages, llm.TextMessage(llm.User, text))
			}
			collect(b.Context(), c, req)
			b.ReportAllocs()
			for b.Loop() {
				req.Messages = append(req.Messages[:n:n], llm.TextMessage(llm.User, text), llm.TextMessage(llm.User, text))
				if len(p.conv.sent) > n {
					b.StopTimer()
					p.conv = conversation{} // back to the first n
					p.conv.encode(llm.Request{Messages: req.Messages[:n]}, 0)
					b.StartTimer()
				}
				if h := collect(b.Context(), c, req); h.end == nil {
					b.Fatal(h.err)
				}
			}
		})
	}
}
