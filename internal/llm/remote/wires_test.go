package remote_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
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

// refusing returns a server that refuses requests that hold a text, with a message, and the
// number of its refusals.
func refusing(t *testing.T, text, message string) (*llmtest.Server, *int) {
	refused := 0
	return llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
		if bytes.Contains(body, []byte(text)) {
			refused++
			return llmtest.Raw(400, "application/json", fmt.Sprintf(`{"error":{"type":"invalid_request_error","message":%q}}`, message))
		}
		return llmtest.Turn{Text: "ok"}
	}), &refused
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
		s, refused := refusing(t, c.refuse, c.with)
		m := remote.New(remote.Options{BaseURL: s.URL()}, c.protocol)
		for range 3 {
			if a := ask(t.Context(), m, llm.Request{Messages: []llm.Message{llm.TextMessage(llm.User, "go")}}); a.text != "ok" || a.err != nil {
				t.Errorf("%s: %+v", name, a)
			}
		}
		if n := len(s.Requests()); *refused != 1 || n != 4 {
			t.Errorf("%s: %d requests, %d refused", name, n, *refused)
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
				t.Parallel()
				s := llmtest.NewServer(t, b, b, turn)
				transport := remote.NewTransport(nil)
				t.Cleanup(transport.CloseIdleConnections)
				c := remote.New(remote.Options{
					BaseURL: s.URL(), Transport: transport, Limits: remote.Limits{Idle: 2 * time.Second},
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

// TestMarkAlone ends an answer with the end mark of the stream, but without the event that
// ends it in this protocol: it is not whole, and asked for again.
func TestMarkAlone(t *testing.T) {
	turn := llmtest.Turn{Text: "An answer.", Usage: &llmtest.Usage{Input: 100, Output: 7, Cached: 40}}
	for w, half := range map[int]string{
		1: `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"An ans"}}`,
		2: `{"type":"response.output_text.delta","output_index":0,"delta":"An ans"}`,
	} {
		s := llmtest.NewServer(t, llmtest.Raw(200, "text/event-stream", "data: "+half+"\n\ndata: [DONE]\n\n"), turn)
		c := remote.New(remote.Options{
			BaseURL: s.URL(), Clock: remote.Clock{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }},
		}, wires[w].protocol())
		a := ask(t.Context(), c, llm.Request{Messages: []llm.Message{llm.TextMessage(llm.User, "go")}})
		a.check(t, turn)
		if !slices.Equal(a.void, []string{"An ans"}) {
			t.Errorf("%s: void %q", wires[w].name, a.void)
		}
	}
}

// TestRefusedParts refuses parts of a conversation that would be in every later request,
// too: they are left out, and the conversation goes on.
func TestRefusedParts(t *testing.T) {
	picture := llm.Part{Kind: llm.ImagePart, Mime: "image/png", Data: []byte("a picture")}
	prompt := llm.Message{Role: llm.User, Parts: []llm.Part{{Kind: llm.TextPart, Text: "look"}, picture}}
	opaque := func(wire, part string) llm.Message {
		m := llm.TextMessage(llm.Assistant, "yes")
		m.Extra = llm.Order{Wire: wire, Model: "m", Parts: []llm.OrderPart{{Opaque: []byte(part)}, {Text: len("yes")}}}.Extra()
		return m
	}
	encoded := base64.StdEncoding.EncodeToString(picture.Data)
	for name, c := range map[string]struct {
		wires    []wire
		messages []llm.Message
		refuse   string // a request that holds this
		with     string
		remark   string // in the place of the part, which the next request has
		told     bool   // the person is told
	}{
		"no images": {
			wires[1:], []llm.Message{prompt}, encoded, "This model does not support image inputs.", "(an image that this model cannot see)", false,
		},
		"a certain image": {
			wires, []llm.Message{prompt}, encoded, "Could not process image", "(an image that the server could not read)", true,
		},
		"encrypted reasoning of another server": {
			wires[2:],
			[]llm.Message{llm.TextMessage(llm.User, "a"), opaque("responses", `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"AAAA"}`), llm.TextMessage(llm.User, "b")},
			"AAAA", "The encrypted content AAAA could not be verified. Reason: Encrypted content could not be decrypted or parsed.", "yes", false,
		},
		"a signature of another server": {
			wires[1:2],
			[]llm.Message{llm.TextMessage(llm.User, "a"), opaque("anthropic", `{"type":"thinking","thinking":"hm","signature":"AAAA"}`), llm.TextMessage(llm.User, "b")},
			"AAAA", "messages.1.content.0: Invalid `signature` in `thinking` block", "yes", false,
		},
	} {
		for _, w := range c.wires {
			s, refused := refusing(t, c.refuse, c.with)
			m := remote.New(remote.Options{BaseURL: s.URL()}, w.protocol())
			notices := 0
			for range 3 {
				a := ask(t.Context(), m, llm.Request{Messages: c.messages})
				if a.text != "ok" || a.err != nil {
					t.Errorf("%s, %s: %+v", w.name, name, a)
				}
				notices += len(a.void)
			}
			r := s.Requests()
			if *refused != 1 || len(r) != 4 || !bytes.Contains(r[3], []byte(c.remark)) || (notices == 1) != c.told {
				t.Errorf("%s, %s: %d requests, %d refused, %d notices: %s", w.name, name, len(r), *refused, notices, r[len(r)-1])
			}
		}
	}
}

// TestOtherPartsStay refuses one image and one signature: others are sent.
func TestOtherPartsStay(t *testing.T) {
	picture := func(data string) llm.Message {
		return llm.Message{Role: llm.User, Parts: []llm.Part{{Kind: llm.ImagePart, Mime: "image/png", Data: []byte(data)}}}
	}
	sign := func(signature string) llm.Message {
		m := llm.TextMessage(llm.Assistant, "yes")
		m.Extra = llm.Order{Wire: "anthropic", Model: "m", Parts: []llm.OrderPart{{Opaque: []byte(`{"type":"thinking","thinking":"hm","signature":"` + signature + `"}`)}, {Text: len("yes")}}}.Extra()
		return m
	}
	base := func(s string) []byte { return []byte(base64.StdEncoding.EncodeToString([]byte(s))) }
	s := llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
		switch {
		case bytes.Contains(body, base("the second one")):
			return llmtest.Raw(400, "application/json", `{"error":{"type":"invalid_request_error","message":"Could not process image"}}`)
		case bytes.Contains(body, []byte("OLD")):
			return llmtest.Raw(400, "application/json", "{\"error\":{\"message\":\"Invalid `signature` in `thinking` block\"}}")
		}
		return llmtest.Turn{Text: "ok"}
	})
	m := remote.New(remote.Options{BaseURL: s.URL()}, wires[1].protocol())
	messages := []llm.Message{picture("the first one"), sign("OLD"), picture("the second one")}
	for range 2 {
		if a := ask(t.Context(), m, llm.Request{Messages: messages}); a.err != nil {
			t.Fatal(a.err)
		}
		messages = append(messages, sign("NEW"), picture("the third one"))
	}
	r := s.Requests()
	last := r[len(r)-1]
	if len(r) != 4 || !bytes.Contains(last, base("the first one")) || !bytes.Contains(last, base("the third one")) || !bytes.Contains(last, []byte("NEW")) {
		t.Errorf("%d requests: %s", len(r), last)
	}
}

// TestSameRefusalTwice refuses two requests of one model at the same time: both are sent
// again in the form that the first refusal teaches.
func TestSameRefusalTwice(t *testing.T) {
	for _, w := range wires {
		var arrived sync.WaitGroup
		arrived.Add(2)
		field := map[string]string{"chat": `"stream_options"`, "messages": `"temperature"`, "responses": `"prompt_cache_key"`}[w.name]
		s := llmtest.NewServerFunc(t, func(n int, body []byte) llmtest.Turn {
			if n < 2 {
				arrived.Done()
				arrived.Wait()
			}
			if bytes.Contains(body, []byte(field)) {
				return llmtest.Raw(400, "application/json", fmt.Sprintf(`{"error":{"message":"Unsupported parameter: %s is not supported with this model."}}`, strings.Trim(field, `"`)))
			}
			return llmtest.Turn{Text: "ok"}
		})
		protocol := w.protocol()
		if w.name == "messages" {
			protocol = anthropic.New(anthropic.Options{Model: "m", Temperature: new(float64)})
		}
		m := remote.New(remote.Options{BaseURL: s.URL()}, protocol)
		var work sync.WaitGroup
		for range 2 {
			work.Go(func() {
				if a := ask(t.Context(), m, llm.Request{Session: "s", Messages: []llm.Message{llm.TextMessage(llm.User, "go")}}); a.text != "ok" || a.err != nil {
					t.Errorf("%s: %+v", w.name, a)
				}
			})
		}
		work.Wait()
		if n := len(s.Requests()); n != 4 {
			t.Errorf("%s: %d requests", w.name, n)
		}
	}
}

// TestZeroAfterACount sends a zero after the count, as some gateways do.
func TestZeroAfterACount(t *testing.T) {
	turn := llmtest.Turn{Text: "An answer.", Usage: &llmtest.Usage{Input: 100, Output: 7, Cached: 40}}
	body := string(stream(t, wires[1], turn))
	zero := strings.Replace(body, `"usage":{"output_tokens":7}`, `"usage":{"input_tokens":0,"cache_read_input_tokens":0,"output_tokens":7}`, 1)
	if zero == body {
		t.Fatal(body)
	}
	s := llmtest.NewServer(t, llmtest.Raw(200, "text/event-stream", zero))
	ask(t.Context(), client(wires[1], s.URL(), nil), llm.Request{Messages: []llm.Message{llm.TextMessage(llm.User, "go")}}).check(t, turn)
}

// TestOneIDForTwoCalls gives two different calls one id: both are delivered.
func TestOneIDForTwoCalls(t *testing.T) {
	for _, w := range wires {
		calls := []llmtest.Call{{Name: "run", Args: `{"command":"one"}`}, {Name: "run", Args: `{"command":"two"}`}}
		body := stream(t, w, llmtest.Turn{Calls: calls})
		id := regexp.MustCompile(`"(call_id|id)":"((?:call|toolu)_[^"]*)"`)
		same := id.ReplaceAllString(string(body), `"$1":"call_same"`)
		if !strings.Contains(same, "call_same") {
			t.Fatalf("%s: no id in %s", w.name, body)
		}
		s := llmtest.NewServer(t, llmtest.Raw(200, "text/event-stream", same))
		a := ask(t.Context(), client(w, s.URL(), nil), llm.Request{Messages: []llm.Message{llm.TextMessage(llm.User, "go")}})
		if a.err != nil || a.end == nil || len(a.end.Calls) != 2 {
			t.Fatalf("%s: %+v", w.name, a)
		}
		if first, second := a.end.Calls[0], a.end.Calls[1]; first.ID == second.ID || first.Args == second.Args {
			t.Errorf("%s: %+v", w.name, a.end.Calls)
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
