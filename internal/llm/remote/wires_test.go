package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/transcriptjudge"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/anthropic"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/llm/openai"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
	"github.com/bb2d0cf4/agent/internal/llm/responses"
)

// wire is a protocol with its judge.
type wire struct {
	name     string
	path     string
	protocol func() remote.Protocol
	judge    func(body []byte) error
}

var wires = []wire{
	{"chat", "/chat/completions", func() remote.Protocol { return openai.New(openai.Options{Model: "m"}) }, transcriptjudge.Check},
	{"messages", "/messages", func() remote.Protocol { return anthropic.New(anthropic.Options{Model: "m"}) }, transcriptjudge.CheckMessages},
	{"responses", "/responses", func() remote.Protocol { return responses.New(responses.Options{Model: "m"}) }, transcriptjudge.CheckResponses},
}

// answer is all that a caller gets of one answer.
type answer struct {
	text, reasoning string
	void            []string // text before each retry
	end             *llm.End
	err             error
}

func ask(ctx context.Context, m llm.Model, req llm.Request) (a answer) {
	for d, err := range m.Stream(ctx, req) {
		if d.Retry != nil {
			a.void = append(a.void, a.text)
			a.text, a.reasoning = "", ""
		}
		a.text += d.Text
		a.reasoning += d.Reasoning
		if d.End != nil {
			a.end = d.End
		}
		a.err = err
	}
	return a
}

func client(w wire, url string, transport http.RoundTripper) *remote.Client {
	return remote.New(remote.Options{
		BaseURL: url, Transport: transport, Limits: remote.Limits{MaxAttempts: 1},
		Clock: remote.Clock{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }},
	}, w.protocol())
}

func randomTurn(r *rand.Rand) llmtest.Turn {
	t := llmtest.Turn{Chunk: 1 + r.IntN(20), Usage: &llmtest.Usage{Input: 100, Output: 7, Cached: 40}}
	if r.IntN(2) == 0 {
		t.Reasoning = "I think: <ünder> \"it\"\n"
	}
	if r.IntN(3) > 0 {
		t.Text = "An answer\nwith 世界 in it.\n"
	}
	for i := range r.IntN(3) {
		t.Calls = append(t.Calls, llmtest.Call{Name: fmt.Sprintf("tool%d", i), Args: `{"path":"a b","text":"<\n>"}`})
	}
	return t
}

// check compares what came with the turn.
func (a answer) check(t *testing.T, turn llmtest.Turn) {
	t.Helper()
	if a.err != nil || a.end == nil {
		t.Fatalf("%v after %q", a.err, a.text)
	}
	if a.text != turn.Text || a.reasoning != turn.Reasoning || len(a.end.Calls) != len(turn.Calls) {
		t.Fatalf("%+v of %+v", a, turn)
	}
	for i, c := range a.end.Calls {
		if c.Problem != "" || c.ID == "" || c.Name != turn.Calls[i].Name || c.Args != turn.Calls[i].Args {
			t.Fatalf("%+v of %+v", c, turn.Calls[i])
		}
	}
	want := llm.StopEnd
	if len(turn.Calls) > 0 {
		want = llm.StopTools
	}
	if d := cmp.Diff(llm.Usage{Input: 100, Output: 7, Cached: 40}, a.end.Usage); d != "" || a.end.Stop != want {
		t.Fatal(a.end.Stop, d)
	}
}

// TestRoundsOnEveryWire has conversations of many rounds; a judge reads each request.
func TestRoundsOnEveryWire(t *testing.T) {
	for _, w := range wires {
		t.Run(w.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			var turn llmtest.Turn
			s := llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
				if err := w.judge(body); err != nil {
					t.Errorf("%v\n%s", err, body)
				}
				return turn
			})
			for range 20 {
				c := client(w, s.URL(), nil)
				req := llm.Request{System: "Be good.", Messages: []llm.Message{llm.TextMessage(llm.User, "go")}}
				for range 20 {
					turn = randomTurn(r)
					a := ask(t.Context(), c, req)
					a.check(t, turn)
					m := llm.TextMessage(llm.Assistant, a.text)
					m.Calls, m.Extra = a.end.Calls, a.end.Extra
					req.Messages = append(req.Messages, m)
					for _, call := range a.end.Calls {
						reply := llm.TextMessage(llm.ToolReply, "done")
						reply.CallID = call.ID
						req.Messages = append(req.Messages, reply)
					}
					if len(a.end.Calls) == 0 || r.IntN(4) == 0 {
						req.Messages = append(req.Messages, llm.TextMessage(llm.User, "more"))
					}
				}
			}
		})
	}
}

// stream returns the bytes with which a server answers a turn.
func stream(t *testing.T, w wire, turn llmtest.Turn) []byte {
	t.Helper()
	s := llmtest.NewServer(t, turn)
	resp, err := http.Post(s.URL()+w.path, "application/json", strings.NewReader("{}")) //nolint:noctx // a server of this test
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// from returns a transport that answers with what body reads.
type from func() io.Reader

func (f from) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(f())}, nil
}

// pieces reads a random number of bytes at a time.
type pieces struct {
	io.Reader
	r *rand.Rand
}

func (p pieces) Read(b []byte) (int, error) { return p.Reader.Read(b[:min(len(b), 1+p.r.IntN(30))]) }

func TestHoweverTheNetworkSplitsEveryWire(t *testing.T) {
	for _, w := range wires {
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, 3))
			turn := randomTurn(r)
			body := stream(t, w, turn)
			c := client(w, "http://model.test/v1", from(func() io.Reader { return pieces{bytes.NewReader(body), r} }))
			ask(t.Context(), c, llm.Request{Messages: []llm.Message{llm.TextMessage(llm.User, "go")}}).check(t, turn)
		}
	}
}

// TestNoCallOfACutAnswer cuts an answer at every byte: it is complete or an error, its
// text is a part of the real one, and no call of it is delivered.
func TestNoCallOfACutAnswer(t *testing.T) {
	turn := llmtest.Turn{Reasoning: "hm", Text: "I write.", Calls: []llmtest.Call{{Name: "write", Args: `{"path":"a"}`}}}
	for _, w := range wires {
		body := stream(t, w, turn)
		whole, cut := 0, 0
		for at := range len(body) {
			c := client(w, "http://model.test/v1", from(func() io.Reader { return bytes.NewReader(body[:at]) }))
			a := ask(t.Context(), c, llm.Request{Messages: []llm.Message{llm.TextMessage(llm.User, "go")}})
			var failed *llm.Error
			switch {
			case a.end != nil && a.err == nil:
				whole++
				if a.text != turn.Text || len(a.end.Calls) != 1 || a.end.Calls[0].Args != turn.Calls[0].Args {
					t.Errorf("%s, cut at %d: %+v", w.name, at, a)
				}
			case errors.As(a.err, &failed) && a.end == nil && strings.HasPrefix(turn.Text, a.text):
				cut++
			default:
				t.Errorf("%s, cut at %d: %+v", w.name, at, a)
			}
		}
		if cut < len(body)/2 || whole == 0 {
			t.Errorf("%s: %d cuts, %d complete answers", w.name, cut, whole)
		}
	}
}

// TestErrorsOnEveryWire reports errors before and in the middle of an answer.
func TestErrorsOnEveryWire(t *testing.T) {
	for name, c := range map[string]struct {
		wire   wire
		status int
		body   string
		kind   llm.ErrorKind
		text   string
	}{
		"refused": {
			wires[1], 401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, llm.Unauthorized, "invalid x-api-key",
		},
		"overloaded in the middle": {
			wires[1], 200, "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"Hel\"}}\n\n" +
				"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n", llm.Temporary, "Overloaded",
		},
		"failed": {
			wires[2], 200, "data: {\"type\":\"response.created\",\"response\":{}}\n\n" +
				"data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"server_error\",\"message\":\"it broke\"}}}\n\n", llm.Temporary, "it broke",
		},
		"error event": {
			wires[2], 200, "data: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"slower\"}\n\n", llm.Temporary, "slower",
		},
		"too long": {
			wires[1], 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213000 tokens > 200000 maximum"}}`, llm.TooLong, "213000",
		},
	} {
		s := llmtest.NewServer(t, llmtest.Raw(c.status, "text/event-stream", c.body))
		a := ask(t.Context(), client(c.wire, s.URL(), nil), llm.Request{Messages: []llm.Message{llm.TextMessage(llm.User, "go")}})
		var failed *llm.Error
		if !errors.As(a.err, &failed) || failed.Kind != c.kind || !strings.Contains(failed.Message, c.text) {
			t.Errorf("%s: %v", name, a.err)
		}
	}
}

// TestRefusalsAreLearned answers a refusal with one more request, and with none later.
func TestRefusalsAreLearned(t *testing.T) {
	for name, c := range map[string]struct {
		protocol remote.Protocol
		refuse   string // a request that holds this
		with     string
	}{
		"a smaller limit": {
			anthropic.New(anthropic.Options{Model: "m", MaxTokens: 64000}), `"max_tokens":64000`,
			"max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for m",
		},
		"another way to think": {
			anthropic.New(anthropic.Options{Model: "m", Effort: "high"}), `"adaptive"`,
			"thinking.type: Input tag 'adaptive' found using 'type' does not match any of the expected tags: 'disabled', 'enabled'",
		},
		"a newer way to think": {
			anthropic.New(anthropic.Options{Model: "m", Effort: "high", Learned: []string{"thinking with a budget"}}), `"enabled"`,
			`"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`,
		},
		"no reasoning": {
			responses.New(responses.Options{Model: "m"}), `"reasoning"`, "Unsupported parameter: 'reasoning.summary' is not supported with this model.",
		},
		"no encrypted content": {
			responses.New(responses.Options{Model: "m"}), `"include"`, "Encrypted content is not supported with this model.",
		},
		"no temperature": {
			responses.New(responses.Options{Model: "m", Temperature: new(float64)}), `"temperature"`, "Unsupported parameter: 'temperature' is not supported with this model.",
		},
	} {
		refused := 0
		s := llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
			if bytes.Contains(body, []byte(c.refuse)) {
				refused++
				return llmtest.Raw(400, "application/json", fmt.Sprintf(`{"error":{"type":"invalid_request_error","message":%q}}`, c.with))
			}
			return llmtest.Turn{Text: "ok"}
		})
		m := remote.New(remote.Options{BaseURL: s.URL()}, c.protocol)
		for range 3 {
			if a := ask(t.Context(), m, llm.Request{Messages: []llm.Message{llm.TextMessage(llm.User, "go")}}); a.text != "ok" || a.err != nil {
				t.Errorf("%s: %+v", name, a)
			}
		}
		if n := len(s.Requests()); refused != 1 || n != 4 {
			t.Errorf("%s: %d requests, %d refused", name, n, refused)
		}
	}
}

// TestBrokenStreamsAreSentAgain breaks an answer in the middle. The next attempt replaces
// what was delivered of it.
func TestBrokenStreamsAreSentAgain(t *testing.T) {
	turn := llmtest.Turn{Reasoning: "I think", Text: "An answer of some length.", Chunk: 4, Calls: []llmtest.Call{{Name: "read", Args: `{"path":"a"}`}}}
	turn.Usage = &llmtest.Usage{Input: 100, Output: 7, Cached: 40}
	failed := []string{
		`{"error":{"message":"Overloaded","code":529}}`,
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
		`{"type":"response.failed","response":{"error":{"code":"server_error","message":"it broke"}}}`,
	}
	for i, w := range wires {
		broken := map[string]llmtest.Turn{}
		for name, fault := range map[string]llmtest.Fault{"drop": llmtest.Drop, "truncate": llmtest.Truncate, "stall": llmtest.Stall} {
			half := turn
			half.Fault, half.After = fault, 10
			broken[name] = half
		}
		body := stream(t, w, turn)
		half, _, _ := bytes.Cut(body, []byte("ngth"))
		half = half[:bytes.LastIndex(half, []byte("\n\n"))+2]
		broken["error"] = llmtest.Raw(200, "text/event-stream", string(half)+"data: "+failed[i]+"\n\n")
		for name, b := range broken {
			t.Run(w.name+"/"+name, func(t *testing.T) {
				s := llmtest.NewServer(t, b, b, turn)
				transport := remote.NewTransport(nil)
				t.Cleanup(transport.CloseIdleConnections)
				c := remote.New(remote.Options{
					BaseURL: s.URL(), Transport: transport, Limits: remote.Limits{Idle: 200 * time.Millisecond},
					Clock: remote.Clock{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }},
				}, w.protocol())
				a := ask(t.Context(), c, llm.Request{Messages: []llm.Message{llm.TextMessage(llm.User, "go")}})
				a.check(t, turn)
				if len(a.void) != 2 || a.void[0] == "" || !strings.HasPrefix(turn.Text, a.void[0]) {
					t.Errorf("void: %q", a.void)
				}
				if r := s.Requests(); len(r) != 3 || !bytes.Equal(r[0], r[2]) {
					t.Errorf("%d requests, or different ones", len(r))
				}
			})
		}
	}
}

// TestMessagesWithoutStopReason ends an answer in order, but without the reason: it is not
// whole, and asked for again.
func TestMessagesWithoutStopReason(t *testing.T) {
	w := wires[1]
	turn := llmtest.Turn{Text: "An answer.", Usage: &llmtest.Usage{Input: 100, Output: 7, Cached: 40}}
	body := string(stream(t, w, turn))
	at, stop := strings.Index(body, `data: {"delta":{"stop_reason"`), strings.Index(body, `data: {"type":"message_stop"}`)
	if at < 0 || stop < at || !strings.Contains(body[at:], `"stop_reason":"end_turn"`) {
		t.Fatal(body)
	}
	for name, end := range map[string]string{
		"no reason":             strings.Replace(body[at:], `"stop_reason":"end_turn"`, `"stop_reason":null`, 1),
		"no delta":              body[stop:],
		"no reason and no stop": "data: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":7}}\n\n",
	} {
		s := llmtest.NewServer(t, llmtest.Raw(200, "text/event-stream", body[:at]+end), turn)
		c := remote.New(remote.Options{
			BaseURL: s.URL(), Clock: remote.Clock{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }},
		}, w.protocol())
		a := ask(t.Context(), c, llm.Request{Messages: []llm.Message{llm.TextMessage(llm.User, "go")}})
		a.check(t, turn)
		if !slices.Equal(a.void, []string{turn.Text}) {
			t.Errorf("%s: void %q", name, a.void)
		}
	}
}

// TestUnknownEffort refuses one level of effort, naming the others: that is the user's
// mistake, and teaches nothing about the model.
func TestUnknownEffort(t *testing.T) {
	for _, w := range wires {
		s := llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
			if bytes.Contains(body, []byte(`"max"`)) {
				return llmtest.Raw(400, "application/json", `{"error":{"type":"invalid_request_error","param":"reasoning.effort",`+
					`"message":"Unsupported value: 'reasoning_effort' does not support 'max' with this model. Supported values are: 'low', 'medium', and 'high'."}}`)
			}
			return llmtest.Turn{Text: "ok"}
		})
		m := remote.New(remote.Options{BaseURL: s.URL()}, w.protocol())
		ask := func(effort string) answer {
			return ask(t.Context(), m, llm.Request{Effort: effort, Messages: []llm.Message{llm.TextMessage(llm.User, "go")}})
		}
		if a := ask("max"); a.err == nil || !strings.Contains(a.err.Error(), "Supported values are") {
			t.Errorf("%s: %+v", w.name, a)
		}
		if a := ask("high"); a.err != nil || !bytes.Contains(s.Requests()[1], []byte(`"high"`)) {
			t.Errorf("%s: %+v, %s", w.name, a, s.Requests())
		}
	}
}
