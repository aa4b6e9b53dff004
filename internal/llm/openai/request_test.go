package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

func part(text string) []llm.Part { return []llm.Part{{Kind: llm.TextPart, Text: text}} }

func TestMessagesAreEncoded(t *testing.T) {
	tests := map[string]struct {
		m    llm.Message
		want string
	}{
		"user":          {llm.TextMessage(llm.User, "a \"b\" <c> \u2028\n\x01"), `{"role":"user","content":"a \"b\" <c> ` + "\u2028" + `\n\u0001"}`},
		"empty user":    {llm.TextMessage(llm.User, ""), `{"role":"user","content":"(no text)"}`},
		"no UTF-8":      {llm.TextMessage(llm.User, "a\xffb"), "{\"role\":\"user\",\"content\":\"a\uFFFDb\"}"},
		"image":         {llm.Message{Role: llm.User, Parts: []llm.Part{{Kind: llm.TextPart, Text: "see"}, {Kind: llm.ImagePart, Mime: "image/png", Data: []byte{1, 2}}}}, `{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AQI="}}]}`},
		"answer":        {llm.TextMessage(llm.Assistant, "hi"), `{"role":"assistant","content":"hi"}`},
		"empty answer":  {llm.Message{Role: llm.Assistant}, `{"role":"assistant","content":"(no text)"}`},
		"reasoning":     {llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Kind: llm.ReasoningPart, Text: "hm"}, {Kind: llm.TextPart, Text: "hi"}}}, `{"role":"assistant","content":"hi"}`},
		"calls alone":   {llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "x", Name: "f", Args: ""}}}, `{"role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}}]}`},
		"blank text":    {llm.Message{Role: llm.Assistant, Parts: part(" \n"), Calls: []llm.ToolCall{{ID: "x", Name: "f", Args: "{}"}}}, `{"role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}}]}`},
		"broken call":   {llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "x", Name: "f", Args: `{"a`}}}, `{"role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}}]}`},
		"text and call": {llm.Message{Role: llm.Assistant, Parts: part("so"), Calls: []llm.ToolCall{{ID: "x", Name: "f", Args: `{"a":1}`}, {ID: "y", Name: "g", Args: "{}", Extra: json.RawMessage(`{"extra_content":{"s":"1"},"id":"no"}`)}}}, `{"role":"assistant","content":"so","tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},{"id":"y","type":"function","function":{"name":"g","arguments":"{}"},"extra_content":{"s":"1"}}]}`},
		"extra":         {llm.Message{Role: llm.Assistant, Parts: part("hi"), Extra: json.RawMessage(`{"reasoning_details":[1],"content":"no"}`)}, `{"role":"assistant","content":"hi","reasoning_details":[1]}`},
		"no extra":      {llm.Message{Role: llm.Assistant, Parts: part("hi"), Extra: json.RawMessage(`[1]`)}, `{"role":"assistant","content":"hi"}`},
		"result":        {llm.Message{Role: llm.ToolReply, CallID: "x", Parts: part("done")}, `{"role":"tool","content":"done","tool_call_id":"x"}`},
		"empty result":  {llm.Message{Role: llm.ToolReply, CallID: "x", Parts: part(" \n")}, `{"role":"tool","content":"(no output)","tool_call_id":"x"}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := string(messageEncoder{}.append(nil, test.m))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if !json.Valid([]byte(got)) {
				t.Error("not JSON")
			}
		})
	}
}

// requestBody is a request as a server reads it.
type requestBody struct {
	Model         string           `json:"model"`
	Stream        bool             `json:"stream"`
	StreamOptions map[string]any   `json:"stream_options"`
	MaxTokens     int              `json:"max_tokens"`
	Temperature   *float64         `json:"temperature"`
	Messages      []map[string]any `json:"messages"`
	Tools         []map[string]any `json:"tools"`
	TopK          int              `json:"top_k"`
	N             int              `json:"n"`
}

func parse(t *testing.T, body []byte) requestBody {
	t.Helper()
	var r requestBody
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return r
}

// TestAnyModelTakesAnyParameter checks that go-openai's limits for certain models do
// not apply, and that a temperature of zero is sent.
func TestAnyModelTakesAnyParameter(t *testing.T) {
	zero := 0.0
	for _, model := range []string{"o1", "o3-mini", "o4-mini", "gpt-5", "gpt-6-sol", "gpt-6-astra", "gpt-4o", "a/b:c"} {
		s := llmtest.NewServer(t, llmtest.Turn{Text: "hi"})
		req := hello()
		req.Tools = []llm.ToolSpec{{Name: "f", Description: "does f", Schema: json.RawMessage("{\n \"type\": \"object\" }")}, {Name: "g"}}
		h := collect(t.Context(), client(t, s.URL(), func(o *options) {
			o.Params = Options{Model: model, MaxTokens: 100, Temperature: &zero, Extra: map[string]any{"top_k": 5, "n": 2, "stream_options": nil, "messages": "no", "tools": "no"}}
		}), req)
		if h.err != nil {
			t.Fatal(h.err)
		}
		got := parse(t, s.Requests()[0])
		want := requestBody{
			Model: model, Stream: true, MaxTokens: 100, Temperature: &zero, TopK: 5,
			Messages: []map[string]any{{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}},
			Tools: []map[string]any{
				{"type": "function", "function": map[string]any{"name": "f", "description": "does f", "parameters": map[string]any{"type": "object"}}},
				{"type": "function", "function": map[string]any{"name": "g", "parameters": map[string]any{"type": "object", "properties": map[string]any{}}}},
			},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(model, diff)
		}
	}
}

func TestTheFirstProviderKnowsAnotherNameForTheLimit(t *testing.T) {
	for url, want := range map[string]string{
		"https://api.openai.com/v1": "max_completion_tokens", "https://x.openai.azure.com/openai/v1": "max_completion_tokens",
		"http://localhost/v1": "max_tokens", "https://openai.com.other.example": "max_tokens",
	} {
		if got := limitName(url); got != want {
			t.Errorf("%s: %s", url, got)
		}
	}
}

func TestUsageIsAskedFor(t *testing.T) {
	s := llmtest.NewServer(t, llmtest.Turn{Text: "hi"})
	collect(t.Context(), client(t, s.URL()), llm.Request{Messages: hello().Messages})
	got := parse(t, s.Requests()[0])
	want := requestBody{
		Model: "test-model", Stream: true, StreamOptions: map[string]any{"include_usage": true},
		Messages: []map[string]any{{"role": "user", "content": "hello"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestHeadersAndKey(t *testing.T) {
	asked := 0
	s := llmtest.NewServer(t, llmtest.Raw(401, "application/json", `{"error":{"message":"bad key secret-key-1."}}`), llmtest.Turn{Text: "a"}, llmtest.Turn{Text: "b"})
	var headers []string
	c := client(t, s.URL(), func(o *options) {
		o.Headers = map[string]string{"X-Title": "mine"}
		o.Key = func(context.Context) (string, error) { asked++; return fmt.Sprintf(" secret-key-%d\n", asked), nil }
		inner := o.Transport
		o.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			headers = append(headers, r.Header.Get("Authorization")+" "+r.Header.Get("X-Title")+" "+r.Header.Get("User-Agent"))
			return inner.RoundTrip(r)
		})
	})
	if asked != 0 {
		t.Error("the key was read before it was needed")
	}
	e := collect(t.Context(), c, hello()).kind(t)
	if strings.Contains(e.Message, "secret") || !strings.Contains(e.Message, "[key]") {
		t.Errorf("the message is %q", e.Message)
	}
	for range 2 {
		if h := collect(t.Context(), c, hello()); h.err != nil {
			t.Fatal(h.err)
		}
	}
	want := []string{"Bearer secret-key-1 mine agent", "Bearer secret-key-2 mine agent", "Bearer secret-key-2 mine agent"}
	if diff := cmp.Diff(want, headers); diff != "" {
		t.Error(diff)
	}
}

// A server's error may repeat the request, and an address may hold a password.
func TestSecretsAreInNoMessage(t *testing.T) {
	for name, turn := range map[string]llmtest.Turn{
		"error": llmtest.Raw(400, "application/json", `{"error":{"message":"I do not know canary-header, canary-token or canary-key"}}`),
		"page":  llmtest.Raw(200, "text/html", "<html><title>canary-header canary-token canary-key</title></html>"),
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServer(t, turn)
			c := client(t, strings.Replace(s.URL(), "://", "://user:canary-password@", 1), func(o *options) {
				o.Headers = map[string]string{"api-key": "canary-header", "X-Auth": "Bearer canary-token"}
				o.Key = func(context.Context) (string, error) { return "canary-key", nil }
			})
			e := collect(t.Context(), c, hello()).err
			if e == nil || strings.Contains(e.Error(), "canary") {
				t.Errorf("the error is %v", e)
			}
		})
	}
}

func TestShown(t *testing.T) {
	for address, want := range map[string]string{
		"http://a/v1": "http://a/v1", "https://u:p@a:1/v1": "https://xxxxx@a:1/v1", "token@host": "xxxxx@host",
		"http://a/@b": "http://a/@b", "http://u@v:p@a": "http://xxxxx@a", "": "",
	} {
		if got := remote.Shown(address); got != want {
			t.Errorf("remote.Shown(%q) = %q, want %q", address, got, want)
		}
	}
}

func TestAKeyThatCannotBeRead(t *testing.T) {
	broken := errors.New("pass: not found")
	s := llmtest.NewServer(t)
	c := client(t, s.URL(), func(o *options) { o.Key = func(context.Context) (string, error) { return "", broken } })
	e := collect(t.Context(), c, hello()).kind(t)
	if e.Kind != llm.Unauthorized || !errors.Is(e, broken) || len(s.Requests()) != 0 {
		t.Errorf("kind %d, %v", e.Kind, e)
	}
	if _, err := c.ListModels(t.Context()); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// TestRequestsGrowAtTheirEnd checks that a request begins with the bytes of the
// previous one, which providers cache, and that only new messages are encoded.
func TestRequestsGrowAtTheirEnd(t *testing.T) {
	s := llmtest.NewServerFunc(t, func(int, []byte) llmtest.Turn { return llmtest.Turn{Text: "ok"} })
	c := client(t, s.URL())
	req := hello()
	req.Tools = []llm.ToolSpec{{Name: "f", Schema: json.RawMessage(`{"type":"object"}`)}}
	for i := range 40 {
		if h := collect(t.Context(), c, req); h.err != nil {
			t.Fatal(h.err)
		}
		id := fmt.Sprint("c", i)
		req.Messages = append(req.Messages,
			llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: id, Name: "f", Args: "{}"}}},
			llm.Message{Role: llm.ToolReply, CallID: id, Parts: part(strings.Repeat("output ", 1000))})
	}
	requests := s.Requests()
	for i, r := range requests {
		if got := parse(t, r); len(got.Messages) != 2+2*i {
			t.Fatalf("request %d has %d messages", i, len(got.Messages))
		}
		if i > 0 && !bytes.HasPrefix(r, bytes.TrimSuffix(requests[i-1], []byte("]}"))) {
			t.Fatalf("request %d does not begin with the one before", i)
		}
	}
}

// TestConversationEncodesWhatItIsGiven compares the cache with a fresh encoding, over
// conversations that grow, change in place, shrink and branch.
func TestConversationEncodesWhatItIsGiven(t *testing.T) {
	fresh := func(req llm.Request, d dialect) string {
		var c conversation
		return join(c.encode(req, d))
	}
	rapid.Check(t, func(t *rapid.T) {
		var c conversation
		var messages []llm.Message
		text := rapid.SampledFrom([]string{"", "a", "long " + strings.Repeat("x", 40_000), "ü\xff"})
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			i := 0
			if len(messages) > 0 {
				i = rapid.IntRange(0, len(messages)-1).Draw(t, "at")
			}
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				messages = messages[:i]
			case 1:
				if len(messages) > 0 {
					messages[i].Parts[0].Text += "!" // against the rules, but seen
				}
			case 2:
				messages = append([]llm.Message(nil), messages...)
			case 3:
				messages = append(messages, llm.Message{Role: llm.Assistant, Parts: part(text.Draw(t, "text")), Calls: []llm.ToolCall{{ID: fmt.Sprint(len(messages)), Name: "f", Args: "{}"}}})
			default:
				messages = append(messages, llm.TextMessage(llm.User, text.Draw(t, "text")))
			}
			req := llm.Request{Messages: messages, System: text.Draw(t, "system")}
			if rapid.Bool().Draw(t, "tools") {
				req.Tools = []llm.ToolSpec{{Name: "f"}}
			}
			d := dialect(rapid.SampledFrom([]uint{0, 0, 0, uint(thinkingWithCalls | thinkingInAll), uint(alternate)}).Draw(t, "dialect"))
			if got, want := join(c.encode(req, d)), fresh(req, d); got != want {
				t.Fatalf("encoded %d messages as\n%.300s\nwant\n%.300s", len(messages), got, want)
			}
		}
	})
}

func join(q query) string { return string(q.tools) + "|" + string(bytes.Join(q.messages, nil)) }

// TestRequestsUnderWayKeepTheirBytes checks that encoding the next request does not
// touch one that is being sent.
func TestRequestsUnderWayKeepTheirBytes(t *testing.T) {
	var c conversation
	req := hello()
	var under []query
	var want []string
	for i := range 50 {
		q := c.encode(req, 0)
		under, want = append(under, q), append(want, join(q))
		if i%7 == 6 {
			req.Messages = req.Messages[:1:1]
		}
		req.Messages = append(req.Messages, llm.TextMessage(llm.User, fmt.Sprint(strings.Repeat("x", 100*i))))
	}
	for i, q := range under {
		if join(q) != want[i] {
			t.Errorf("request %d has changed", i)
		}
	}
}

func TestClientIsSafeForSeveral(t *testing.T) {
	s := llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
		return llmtest.Turn{Text: fmt.Sprint(bytes.Count(body, []byte(`"role"`)))}
	})
	c := client(t, s.URL())
	var wait sync.WaitGroup
	for n := range 4 {
		wait.Go(func() {
			var req llm.Request
			for i := range 10 {
				req.Messages = append(req.Messages, llm.TextMessage(llm.User, fmt.Sprint(n, i)))
				if h := collect(t.Context(), c, req); h.text != fmt.Sprint(i+1) {
					t.Errorf("%d messages were sent as %q, %v", i+1, h.text, h.err)
				}
			}
		})
	}
	wait.Wait()
}

// TestImagesAreNoText: the bytes of an image do not count for an estimate of the tokens.
func TestImagesAreNoText(t *testing.T) {
	see := llm.TextMessage(llm.User, "see")
	see.Parts = append(see.Parts, llm.Part{Kind: llm.ImagePart, Mime: "image/png", Data: make([]byte, 1<<20)})
	result := llm.Message{Role: llm.ToolReply, CallID: "c", Parts: see.Parts}
	call := llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "c", Name: "read_file", Args: "{}"}}}
	for _, learned := range [][]string{nil, {"no images"}} {
		p := New(Options{Model: "m", Learned: learned})
		for range 2 { // the second request uses the encoding of the first
			r, err := p.Encode(llm.Request{Messages: []llm.Message{see, call, result}})
			if err != nil {
				t.Fatal(err)
			}
			size := 0
			for _, piece := range r.Body {
				size += len(piece)
			}
			if shown := size > 2<<20; shown != (learned == nil) || r.Size < 100 || r.Size > 2000 {
				t.Errorf("%q: a request of %d bytes counts as %d", learned, size, r.Size)
			}
		}
	}
}

// TestIDsOfOtherServers continues a conversation whose calls were made by another server:
// OpenAI allows ids of 40 bytes, Mistral such of nine letters only; proxies keep signatures in theirs.
func TestIDsOfOtherServers(t *testing.T) {
	const long = "chatcmpl-tool-0123456789abcdef0123456789abcdef"
	signed := "call_1__thought__" + strings.Repeat("aB9/", 300)
	for name, test := range map[string]struct {
		id, refusal string
		fits        *regexp.Regexp
		requests    int
	}{
		"OpenAI": {
			long, "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 46 instead.",
			regexp.MustCompile(`^[\w-]{1,40}$`), 3,
		},
		"a signature": {signed, "", regexp.MustCompile(`^` + signed + `$`), 2},
		"Mistral": {
			"call_0123456789", "Tool call id was call_0123456789 but must be a-z, A-Z, 0-9, with a length of 9.", regexp.MustCompile(`^[a-zA-Z0-9]{9}$`), 3,
		},
		"their own": {"functions.read_file:0", "", regexp.MustCompile(`^functions\.read_file:0$`), 2},
	} {
		ids := regexp.MustCompile(`"(?:tool_call_id|id)":"([^"]*)"`)
		var sent []string
		s := llmtest.NewServerFunc(t, func(_ int, body []byte) llmtest.Turn {
			sent = nil
			for _, m := range ids.FindAllSubmatch(body, -1) {
				sent = append(sent, string(m[1]))
				if !test.fits.Match(m[1]) {
					return llmtest.Raw(400, "application/json", `{"object":"error","message":"`+test.refusal+`","type":"invalid_request_error"}`)
				}
			}
			return llmtest.Turn{Text: "ok"}
		})
		c := client(t, s.URL())
		req := hello()
		req.Messages = append(req.Messages,
			llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: test.id, Name: "f", Args: "{}"}}},
			llm.Message{Role: llm.ToolReply, CallID: test.id, Parts: []llm.Part{{Kind: llm.TextPart, Text: "done"}}})
		for range 2 {
			if h := collect(t.Context(), c, req); h.err != nil {
				t.Errorf("%s: %v", name, h.err)
			}
		}
		if len(sent) != 2 || sent[0] != sent[1] || len(s.Requests()) != test.requests {
			t.Errorf("%s: %d requests with the ids %q", name, len(s.Requests()), sent)
		}
	}
}
