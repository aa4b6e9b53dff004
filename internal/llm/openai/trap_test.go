package openai

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

// TestStreamsThatAreAnswers lists the dialects of servers.
func TestStreamsThatAreAnswers(t *testing.T) {
	tests := map[string]struct {
		turn      llmtest.Turn
		text      string
		reasoning string
		stop      llm.StopReason
	}{
		"plain":           {turn: sse(events(says("hi "), says("there"), stop, finished)), text: "hi there"},
		"no end mark":     {turn: sse(events(says("hi"), stop)), text: "hi"},
		"no finish":       {turn: sse(events(says("hi"), finished)), text: "hi"},
		"CRLF":            {turn: sse(strings.ReplaceAll(events(says("hi"), stop, finished), "\n", "\r\n")), text: "hi"},
		"CR":              {turn: sse(strings.ReplaceAll(events(says("hi"), says("!"), stop, finished), "\n", "\r")), text: "hi!"},
		"no space":        {turn: sse(strings.ReplaceAll(events(says("hi"), stop, finished), "data: ", "data:")), text: "hi"},
		"no blank lines":  {turn: sse(strings.ReplaceAll(events(says("hi"), says("!"), stop, finished), "\n\n", "\n")), text: "hi!"},
		"400 keep-alives": {turn: sse(events(says("hi")) + strings.Repeat(": keep-alive\n\n", 400) + events(says("!"), stop, finished)), text: "hi!"},
		"event lines":     {turn: sse("event: message\nid: 7\nretry: 10\n" + events(says("hi"), stop, finished)), text: "hi"},
		"data on several lines": {
			turn: sse("data: {\"choices\":[{\"index\":0,\ndata: \"delta\":{\"content\":\"hi\"}}]}\n\n" + events(stop, finished)), text: "hi",
		},
		"byte order mark":       {turn: sse("\ufeff" + events(says("hi"), stop, finished)), text: "hi"},
		"wrong content type":    {turn: llmtest.Raw(200, "text/plain", events(says("hi"), stop, finished)), text: "hi"},
		"length":                {turn: sse(events(says("hi"), `{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`, finished)), text: "hi", stop: llm.StopLength},
		"filter":                {turn: sse(events(says("hi"), `{"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}`, finished)), text: "hi", stop: llm.StopFilter},
		"finish null in quotes": {turn: sse(events(`{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"null"}]}`, stop, finished)), text: "hi"},
		"context full":          {turn: sse(events(says("hi"), `{"choices":[{"index":0,"delta":{},"finish_reason":"model_context_window_exceeded"}]}`, finished)), text: "hi", stop: llm.StopLength},
		"error that is empty":   {turn: sse(events(`{"error":"","choices":[{"index":0,"delta":{"content":"h"}}]}`, `{"error":{},"choices":[{"index":0,"delta":{"content":"i"},"error":{}}]}`, stop, finished)), text: "hi"},
		"empty finish reason":   {turn: sse(events(`{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":""}]}`, stop, finished)), text: "hi"},
		"null content":          {turn: sse(events(`{"choices":[{"index":0,"delta":{"role":"assistant","content":null}}]}`, says("hi"), stop, finished)), text: "hi"},
		"parts as choices": {
			turn: sse(events(
				`{"choices":[{"index":0,"delta":{"reasoning":"h"}}]}`, `{"choices":[{"index":0,"delta":{"reasoning":"m"}}]}`,
				`{"choices":[{"index":1,"delta":{"content":"h"}}]}`, `{"choices":[{"index":1,"delta":{"content":"i"}}]}`,
				`{"choices":[{"index":3,"delta":{},"finish_reason":"stop"}]}`, finished)),
			text: "hi", reasoning: "hm",
		},
		"parts as choices of one event": {
			turn: llmtest.Raw(200, "application/json", `{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"length"},{"index":1,"message":{"content":" there"},"finish_reason":"stop"}]}`),
			text: "hi there", stop: llm.StopLength,
		},
		"a part that was cut off": {
			turn: sse(events(`{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"length"}]}`, `{"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}`, finished)),
			text: "hi", stop: llm.StopLength,
		},
		"refusal":           {turn: sse(events(`{"choices":[{"index":0,"delta":{"refusal":"I will not"}}]}`, stop, finished)), text: "I will not"},
		"reasoning_content": {turn: sse(events(`{"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}`, says("hi"), stop, finished)), text: "hi", reasoning: "hm"},
		"reasoning":         {turn: sse(events(`{"choices":[{"index":0,"delta":{"reasoning":"hm"}}]}`, says("hi"), stop, finished)), text: "hi", reasoning: "hm"},
		"reasoning twice": {
			turn: sse(events(`{"choices":[{"index":0,"delta":{"reasoning":"hm","reasoning_content":"hm"}}]}`, says("hi"), stop, finished)), text: "hi", reasoning: "hm",
		},
		"content in parts": {
			turn: sse(events(`{"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"hi"}]}}]}`, stop, finished)),
			text: "hi", reasoning: "hm",
		},
		"does not stream": {
			turn: llmtest.Raw(200, "application/json", "{\n \"choices\": [{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"hi\\nyou\"},\"finish_reason\":\"stop\"}],\n \"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}\n}\n"),
			text: "hi\nyou",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServer(t, test.turn)
			h := collect(t.Context(), client(t, s.URL()), hello())
			if h.err != nil {
				t.Fatal(h.err)
			}
			if h.text != test.text || h.reasoning != test.reasoning {
				t.Errorf("response %q, thinking %q", h.text, h.reasoning)
			}
			if test.stop == "" {
				test.stop = llm.StopEnd
			}
			if h.end == nil || h.end.Stop != test.stop {
				t.Errorf("the end is %+v", h.end)
			} else if h.end.NoReason != (name == "no finish") {
				t.Errorf("no reason for the end: %v", h.end.NoReason)
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// TestStreamsThatAreErrors lists the ways in which servers fail with a status of
// success. None may end as an answer, and none may lose the server's message.
func TestStreamsThatAreErrors(t *testing.T) {
	json := func(body string) llmtest.Turn { return llmtest.Raw(http.StatusOK, "application/json", body) }
	tests := map[string]struct {
		turn    llmtest.Turn
		kind    llm.ErrorKind
		message string
		text    string // delivered before
		retried bool
	}{
		"200 with an error":        {turn: json(`{"error":{"message":"no such thing","type":"invalid_request_error"}}`), kind: llm.Refused, message: "no such thing"},
		"200 with an error string": {turn: json(`{"error":"model is on fire"}`), kind: llm.Temporary, message: "model is on fire"},
		"200 with a list":          {turn: json(`[{"error":{"code":404,"message":"no model x","status":"NOT_FOUND"}}]`), kind: llm.NotFound, message: "no model x"},
		"200 without choices":      {turn: json(`{"detail":"nothing here"}`), kind: llm.Temporary, message: "nothing here"},
		"200 with a page":          {turn: llmtest.Raw(200, "text/html", "<!doctype html><html><title>Welcome &amp; hello</title>"), kind: llm.NotFound, message: "Welcome & hello"},
		"empty":                    {turn: sse(""), kind: llm.Truncated, message: "broke off", retried: true},
		"only keep-alives":         {turn: sse(": ping\n\n: ping\n\n"), kind: llm.Truncated, message: "broke off", retried: true},
		"only the end mark":        {turn: sse(events(finished)), kind: llm.Truncated, message: "broke off", retried: true},
		"truncated":                {turn: sse(events(says("hi"))), kind: llm.Truncated, message: "broke off", text: "hi", retried: true},
		"truncated in an event":    {turn: sse(events(says("hi")) + `data: {"choices":[{"ind`), kind: llm.Truncated, message: "broke off", text: "hi", retried: true},
		"not JSON":                 {turn: sse(events(says("hi"), "hello?")), kind: llm.Temporary, message: "cannot be read", text: "hi"},
		"error first":              {turn: sse(events(`{"error":{"message":"boom","code":"x"}}`)), kind: llm.Temporary, message: "boom"},
		"error after text":         {turn: sse(events(says("hi"), `{"error":{"message":"boom","code":503}}`)), kind: llm.Temporary, message: "boom", text: "hi", retried: true},
		"error after keep-alives":  {turn: sse(": ka\n\n: ka\n\n" + events(`{"error":{"message":"boom"}}`)), kind: llm.Temporary, message: "boom"},
		"error after event lines":  {turn: sse("event: x\n" + events(`{"error":{"message":"boom"}}`)), kind: llm.Temporary, message: "boom"},
		"error in a choice":        {turn: sse(events(says("hi"), `{"choices":[{"index":0,"delta":{},"finish_reason":"error","error":{"message":"boom","code":502}}]}`, finished)), kind: llm.Temporary, message: "boom", text: "hi", retried: true},
		"finish null, then no end": {turn: sse(events(`{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"null"}]}`)), kind: llm.Truncated, message: "broke off", text: "hi", retried: true},
		"error beside choices":     {turn: sse(events(says("hi"), `{"id":"1","error":{"message":"boom"},"choices":[]}`, finished)), kind: llm.Temporary, message: "boom", text: "hi"},
		"error by event name":      {turn: sse("event: error\ndata: {\"message\":\"boom\"}\n\n"), kind: llm.Temporary, message: "boom"},
		"error as text":            {turn: sse("event: error\ndata: boom\n\n"), kind: llm.Temporary, message: "boom"},
		"error by field":           {turn: sse("error: {\"code\":400,\"message\":\"boom\"}\n\n"), kind: llm.Refused, message: "boom"},
		"overloaded at once":       {turn: sse(events(`{"error":{"message":"boom","type":"overloaded_error"}}`)), kind: llm.Temporary, message: "boom", retried: true},
		"502 in the stream":        {turn: sse(events(`{"error":{"message":"boom","code":502}}`)), kind: llm.Temporary, message: "boom", retried: true},
		"too long in the stream":   {turn: sse(events(`{"error":{"message":"m","code":"context_length_exceeded"}}`)), kind: llm.TooLong, message: "too long for test/model: m."},
	}
	for _, reason := range []string{"error", "abort", "insufficient_system_resource", "network_error", "malformed_function_call"} {
		failing := tests["error after text"]
		failing.message = reason
		failing.turn = sse(events(says("hi"), callPart(`"index":0,"id":"x","function":{"name":"f","arguments":"{\"command\":\"rm -r build\""}`), `{"choices":[{"index":0,"delta":{},"finish_reason":"`+reason+`"}]}`, finished))
		tests["finish "+reason] = failing
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServerFunc(t, func(int, []byte) llmtest.Turn { return test.turn })
			h := collect(t.Context(), client(t, s.URL()), hello())
			e := h.kind(t)
			if e.Kind != test.kind || !strings.Contains(e.Message, test.message) {
				t.Errorf("kind %d, %q", e.Kind, e.Message)
			}
			if h.text != test.text {
				t.Errorf("response %q", h.text)
			}
			want := 1
			if test.retried {
				want = remote.DefaultMaxAttempts
			}
			if n := len(s.Requests()); n != want || len(h.retries) != want-1 {
				t.Errorf("%d requests and %d notices of a retry, want %d requests", n, len(h.retries), want)
			}
		})
	}
}

func TestStatusesAndTheirRetries(t *testing.T) {
	tests := map[string]struct {
		status  int
		body    string
		kind    llm.ErrorKind
		message string
		retried bool
	}{
		"400":            {status: 400, body: `{"error":{"message":"bad tool schema"}}`, kind: llm.Refused, message: "bad tool schema"},
		"400 too long":   {status: 400, body: `{"error":{"message":"This model's maximum context length is 10 tokens"}}`, kind: llm.TooLong, message: "maximum context length"},
		"401":            {status: 401, body: `{"error":{"message":"no","code":"invalid_api_key"}}`, kind: llm.Unauthorized, message: "Check the key"},
		"402":            {status: 402, body: `{"error":{"message":"top up"}}`, kind: llm.QuotaExceeded, message: "top up"},
		"403":            {status: 403, body: `{"message":"not yours"}`, kind: llm.Refused, message: "denied access: not yours. The key may not include this model"},
		"403 empty":      {status: 403, kind: llm.Refused, message: "denied access: Forbidden"},
		"403 region":     {status: 403, body: `{"error":{"message":"Country, region, or territory not supported","code":"unsupported_country_region_territory"}}`, kind: llm.Refused, message: "your region"},
		"403 key":        {status: 403, body: `{"error":{"message":"Your API key has expired"}}`, kind: llm.Unauthorized, message: "Check the key"},
		"403 page":       {status: 403, body: "<html><title>Web Filter</title></html>", kind: llm.Refused, message: "A proxy or firewall blocked the request"},
		"400 http":       {status: 400, body: "Client sent an HTTP request to an HTTPS server.\n", kind: llm.Refused, message: "Use https:// in the base URL"},
		"400 http nginx": {status: 400, body: "<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>", kind: llm.Refused, message: "Use https:// in the base URL"},
		"404 page":       {status: 404, body: "<html><body><h1>Not here</h1>", kind: llm.NotFound, message: "Not here"},
		"408":            {status: 408, kind: llm.Temporary, message: "Request Timeout", retried: true},
		"409":            {status: 409, body: `{"error":"locked"}`, kind: llm.Temporary, message: "locked", retried: true},
		"413":            {status: 413, body: "too big", kind: llm.TooLong, message: "too big"},
		"422 FastAPI":    {status: 422, body: `{"detail":[{"loc":["body"],"msg":"field required","type":"missing"}]}`, kind: llm.Refused, message: "field required"},
		"425":            {status: 425, body: "early", kind: llm.Temporary, message: "early", retried: true},
		"429":            {status: 429, body: `{"error":{"message":"slow down"}}`, kind: llm.Temporary, message: "Rate limited by", retried: true},
		"429 no quota":   {status: 429, body: `{"error":{"message":"pay","code":"insufficient_quota"}}`, kind: llm.QuotaExceeded, message: "pay"},
		"429 no quota 2": {status: 429, body: `{"error":{"message":"pay","type":"insufficient_quota"}}`, kind: llm.QuotaExceeded, message: "out of credit"},
		"500 string":     {status: 500, body: `{"error":"oops"}`, kind: llm.Temporary, message: "oops", retried: true},
		"502 page":       {status: 502, body: "<html><head><title>502 Bad Gateway</title></head></html>", kind: llm.Temporary, message: "502 Bad Gateway", retried: true},
		"503 FastAPI":    {status: 503, body: `{"detail":"loading"}`, kind: llm.Temporary, message: "loading", retried: true},
		"529":            {status: 529, body: `{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`, kind: llm.Temporary, message: "busy", retried: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServerFunc(t, func(int, []byte) llmtest.Turn { return llmtest.Raw(test.status, "application/json", test.body) })
			h := collect(t.Context(), client(t, s.URL()), hello())
			e := h.kind(t)
			if e.Kind != test.kind || e.Status != test.status || !strings.Contains(e.Message, test.message) {
				t.Errorf("kind %d, status %d, %q", e.Kind, e.Status, e.Message)
			}
			want := 1
			if test.retried {
				want = remote.DefaultMaxAttempts
			}
			if n := len(s.Requests()); n != want {
				t.Errorf("%d requests, want %d", n, want)
			}
		})
	}
}

func TestARetryThatSucceeds(t *testing.T) {
	s := llmtest.NewServer(t, llmtest.Raw(503, "text/plain", "starting up. wait"), llmtest.Turn{Fault: llmtest.Drop}, llmtest.Turn{Text: "hi"})
	h := collect(t.Context(), client(t, s.URL()), hello())
	if h.err != nil || h.text != "hi" || h.end == nil {
		t.Fatalf("response %+v", h)
	}
	if s.Fired(llmtest.Drop) != 1 {
		t.Error("nothing was dropped")
	}
	want := []llm.Retry{
		{Attempt: 2, Max: 6, Wait: firstWait, Reason: "test/model failed to answer: starting up (HTTP 503)"},
		{Attempt: 3, Max: 6, Wait: 2 * firstWait},
	}
	if diff := cmp.Diff(want, h.retries, cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Reason" }, cmp.Comparer(func(a, b string) bool { return a == b || a == "" || b == "" }))); diff != "" {
		t.Error(diff)
	}
	for _, r := range s.Requests()[1:] {
		if diff := cmp.Diff(string(s.Requests()[0]), string(r)); diff != "" {
			t.Error("a retry sent something else: ", diff)
		}
	}
}
