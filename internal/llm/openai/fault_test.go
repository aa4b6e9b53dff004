package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

// fullAnswer is a stream with everything that an answer can have, and all kinds of
// noise.
const fullAnswer = ": hello\n\n" +
	`data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}` + "\n\n" +
	`data: {"choices":[{"index":0,"delta":{"reasoning_content":"first "}}]}` + "\n\n" +
	`data: {"choices":[{"index":0,"delta":{"reasoning_content":"think\u00e9"}}]}` + "\r\n\r\n" +
	"event: message\n" + `data: {"choices":[{"index":0,"delta":{"content":"Hello, "}}]}` + "\n\n" +
	`data: {"choices":[{"index":0,` + "\n" + `data: "delta":{"content":"wörld\n"}}]}` + "\n\n" +
	`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"write_file","arguments":""}}]}}]}` + "\n\n" +
	`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":\"a\","}}]}}]}` + "\n\n: ka\n\n" +
	`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"content\":\"b\"}"}}]}}]}` + "\n\n" +
	`data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n" +
	`data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}` + "\n\n" +
	"data: [DONE]\n\n"

// over returns a client that reads every answer from body.
func over(body func() io.Reader) *remote.Client {
	return open(options{Options: remote.Options{
		Limits: remote.Limits{MaxAttempts: 1},
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return nil, err
			}
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(body())}, nil
		}),
	}})
}

func wantFull() response {
	return response{
		text: "Hello, wörld\n", reasoning: "first thinké",
		end: &llm.End{
			Stop:  llm.StopTools,
			Calls: []llm.ToolCall{{ID: "x", Name: "write_file", Args: `{"path":"a","content":"b"}`}},
			Usage: llm.Usage{Input: 5, Output: 7},
			Extra: json.RawMessage(`{"reasoning_content":"first thinké","source":"http://model.test/v1 "}`),
		},
	}
}

// TestCutAnywhere ends a stream after each of its bytes, in order and by a broken
// connection. The text received is a prefix of the answer; an end and a call are
// delivered only if the model has finished.
func TestCutAnywhere(t *testing.T) {
	finish := strings.Index(fullAnswer, `"finish_reason":"tool_calls"}]}`) + len(`"finish_reason":"tool_calls"}]}`)
	want, ended, failed := wantFull(), 0, 0
	for cut := range len(fullAnswer) {
		for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET} {
			h := collect(t.Context(), over(func() io.Reader {
				return io.MultiReader(strings.NewReader(fullAnswer[:cut]), iotest.ErrReader(end))
			}), hello())
			if !strings.HasPrefix(want.text, h.text) || !strings.HasPrefix(want.reasoning, h.reasoning) {
				t.Fatalf("cut at %d: response %q, thinking %q", cut, h.text, h.reasoning)
			}
			switch {
			case h.end != nil && cut < finish:
				t.Fatalf("cut at %d: an answer cut before its end was taken for whole", cut)
			case h.end != nil:
				ended++
				if diff := cmp.Diff(want.end.Calls, h.end.Calls); diff != "" || h.err != nil {
					t.Fatalf("cut at %d: %s %v", cut, diff, h.err)
				}
			default:
				failed++
				var e *llm.Error
				if !errors.As(h.err, &e) || e.Kind != llm.Truncated {
					t.Fatalf("cut at %d: %v", cut, h.err)
				}
			}
		}
	}
	t.Logf("%d streams cut: %d had ended, %d failed", 3*len(fullAnswer), ended, failed)
	if ended == 0 || failed == 0 {
		t.Error("one of the two never came")
	}
}

// TestHoweverTheNetworkSplitsIt checks that the answer does not depend on the split.
func TestHoweverTheNetworkSplitsIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sizes []int
		for left := len(fullAnswer); left > 0; left -= sizes[len(sizes)-1] {
			sizes = append(sizes, rapid.IntRange(1, min(left, 300)).Draw(t, "piece"))
		}
		c := over(func() io.Reader {
			var parts []io.Reader
			rest := fullAnswer
			for _, n := range sizes {
				parts = append(parts, strings.NewReader(rest[:n]))
				rest = rest[n:]
			}
			return io.MultiReader(parts...)
		})
		got := collect(t.Context(), c, hello())
		if got.err != nil {
			t.Fatal(got.err)
		}
		got.pending, got.steps = nil, 0 // the number of steps depends on the split
		if diff := cmp.Diff(wantFull(), got, cmp.AllowUnexported(response{})); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestAnyBytes checks that any bytes of a server yield either an end or an error, and
// an end only for an answer that is marked as finished.
func TestAnyBytes(t *testing.T) {
	piece := rapid.OneOf(
		rapid.SampledFrom(strings.SplitAfter(fullAnswer, "\n")),
		rapid.SampledFrom([]string{"data: {", "}", "data: null\n\n", "data: []\n\n", "<", "{", "\n", "\x1e", "data: {\"error\":1}\n\n", "data: {\"choices\":[null]}\n\n"}),
		rapid.StringN(0, 5, 20),
	)
	ends, errs := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		lines := strings.SplitAfter(fullAnswer, "\n")
		for range rapid.IntRange(0, 6).Draw(t, "edits") {
			at := rapid.IntRange(0, len(lines)-1).Draw(t, "at")
			lines[at] = piece.Draw(t, "piece")
		}
		body := strings.Join(lines[:rapid.IntRange(len(lines)/2, len(lines)).Draw(t, "length")], "")
		h := collect(t.Context(), over(func() io.Reader { return strings.NewReader(body) }), hello())
		if (h.end == nil) == (h.err == nil) {
			t.Fatalf("end %+v, error %v", h.end, h.err)
		}
		if h.end == nil {
			errs++
			return
		}
		ends++
		if !strings.Contains(body, "finish_reason") && !strings.Contains(body, "[DONE]") {
			t.Fatalf("an end nobody has sent: %+v", h.end)
		}
		for _, c := range h.end.Calls {
			if !isObject(c.Args) || c.ID == "" || c.Name == "" {
				t.Fatalf("the call %+v", c)
			}
		}
	})
	if ends == 0 || errs == 0 {
		t.Errorf("%d ends, %d errors", ends, errs)
	}
}

// TestRealConnectionsBreak does what TestCutAnywhere does over a real connection, at
// each event.
func TestRealConnectionsBreak(t *testing.T) {
	turn := llmtest.Turn{Reasoning: "hm", Text: "hello there", Chunk: 4, Calls: []llmtest.Call{{ID: "x", Name: "f", Args: `{"a":"bcd"}`}}}
	const events = 9 // reasoning, 3 of text, 2 of the call, finish, usage, end mark
	for _, fault := range []llmtest.Fault{llmtest.Drop, llmtest.Truncate} {
		var turns []llmtest.Turn
		for after := range events {
			turn.Fault, turn.After = fault, after
			turns = append(turns, turn)
		}
		s := llmtest.NewServer(t, turns...)
		for after := range events {
			h := collect(t.Context(), client(t, s.URL(), func(o *options) { o.Limits.MaxAttempts = 1 }), hello())
			if whole := after >= 7; (h.end != nil) != whole || (h.err == nil) != whole {
				t.Errorf("cut after %d events: end %+v, error %v", after, h.end, h.err)
			}
		}
		if s.Fired(fault) != events {
			t.Errorf("%d faults", s.Fired(fault))
		}
	}
}

// TestEveryBodyIsClosed checks that every body is closed, however the answer ends.
func TestEveryBodyIsClosed(t *testing.T) {
	bodies := map[string]string{
		"whole": fullAnswer, "cut": fullAnswer[:400], "page": "<html>", "error": `{"error":"x"}`, "empty": "", "one answer": `{"choices":[{"message":{"content":"hi"}}]}`,
	}
	for name, body := range bodies {
		for _, status := range []int{200, 500} {
			b := &closing{Reader: bytes.NewReader([]byte(body))}
			c := open(options{Options: remote.Options{Limits: remote.Limits{MaxAttempts: 1}, Transport: roundTrip(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: status, Body: b}, nil
			})}})
			collect(t.Context(), c, hello())
			if b.closed == 0 {
				t.Errorf("%s, %d: the body was left open", name, status)
			}
			b.closed = 0
			_, _ = c.ListModels(t.Context())
			if b.closed == 0 {
				t.Errorf("%s, %d: the body of the list was left open", name, status)
			}
		}
	}
}

type closing struct {
	io.Reader
	closed int
}

func (c *closing) Close() error { c.closed++; return nil }
