package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

// anyID accepts any id that is not empty.
var anyID = cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".ID" },
	cmp.Comparer(func(a, b string) bool { return a == b || a == "*" && b != "" || b == "*" && a != "" }))

func TestCallsAreAssembled(t *testing.T) {
	const a1 = `"function":{"name":"f","arguments":"{\"a\":"}`
	tests := map[string]struct {
		parts []string
		want  []llm.ToolCall
	}{
		"by index, interleaved": {
			parts: []string{
				callPart(`"index":0,"id":"x",` + a1), callPart(`"index":1,"id":"y","function":{"name":"g","arguments":""}`),
				callPart(`"index":0,"function":{"arguments":"1}"}`), callPart(`"index":1,"function":{"arguments":"{\"b\":2}"}`),
			},
			want: []llm.ToolCall{{ID: "x", Name: "f", Args: `{"a":1}`}, {ID: "y", Name: "g", Args: `{"b":2}`}},
		},
		"by id": {
			parts: []string{
				callPart(`"id":"x",` + a1), callPart(`"id":"y",` + a1),
				callPart(`"id":"x","function":{"arguments":"1}"}`), callPart(`"id":"y","function":{"arguments":"2}"}`),
			},
			want: []llm.ToolCall{{ID: "x", Name: "f", Args: `{"a":1}`}, {ID: "y", Name: "f", Args: `{"a":2}`}},
		},
		"by nothing": {
			parts: []string{
				callPart(a1), callPart(`"function":{"arguments":"1}"}`), callPart(a1), callPart(`"function":{"arguments":"2}"}`),
			},
			want: []llm.ToolCall{{ID: "*", Name: "f", Args: `{"a":1}`}, {ID: "*", Name: "f", Args: `{"a":2}`}},
		},
		"by nothing, without arguments": {
			parts: []string{callPart(`"function":{"name":"f"}`), callPart(`"function":{"name":"g"}`)},
			want:  []llm.ToolCall{{ID: "*", Name: "f", Args: `{}`}, {ID: "*", Name: "g", Args: `{}`}},
		},
		"id and name sent again": {
			parts: []string{callPart(`"index":0,"id":"x",` + a1), callPart(`"index":0,"id":"x","function":{"name":"f","arguments":"1}"}`), callPart(`"index":0,"id":"x","function":{"name":"f","arguments":""}`)},
			want:  []llm.ToolCall{{ID: "x", Name: "f", Args: `{"a":1}`}},
		},
		"one index for all": {
			parts: []string{callPart(`"index":0,"id":"x","function":{"name":"f","arguments":"{}"}`), callPart(`"index":0,"id":"y","function":{"name":"f","arguments":"{}"}`)},
			want:  []llm.ToolCall{{ID: "x", Name: "f", Args: `{}`}, {ID: "y", Name: "f", Args: `{}`}},
		},
		"faults with one reading": {
			parts: []string{
				callPart(`"index":0,"id":"x","function":{"name":"f","arguments":"{'a':True,}"}`), callPart(`"index":1,"id":"y","function":{"name":"f","arguments":"{\"a\":\"1\n2\""}`),
				callPart(`"index":2,"id":"z","function":{"name":"f","arguments":"\"{\\\"a\\\":1}\""}`),
			},
			want: []llm.ToolCall{{ID: "x", Name: "f", Args: `{"a":true}`}, {ID: "y", Name: "f", Args: `{"a":"1\n2"}`}, {ID: "z", Name: "f", Args: `{"a":1}`}},
		},
		"several in one event": {
			parts: []string{`{"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"g","arguments":"{}"}}]}}]}`},
			want:  []llm.ToolCall{{ID: "*", Name: "f", Args: `{}`}, {ID: "*", Name: "g", Args: `{}`}},
		},
		"empty arguments": {
			parts: []string{callPart(`"index":0,"id":"x","function":{"name":"f","arguments":""}`), callPart(`"index":1,"id":"y","function":{"name":"g"}`), callPart(`"index":2,"id":"z","function":{"name":"h","arguments":null}`)},
			want:  []llm.ToolCall{{ID: "x", Name: "f", Args: `{}`}, {ID: "y", Name: "g", Args: `{}`}, {ID: "z", Name: "h", Args: `{}`}},
		},
		"arguments as an object": {
			parts: []string{callPart(`"index":0,"id":"x","function":{"name":"f","arguments":{"a":1}}`)},
			want:  []llm.ToolCall{{ID: "x", Name: "f", Args: `{"a":1}`}},
		},
		"the same call twice runs once": {
			parts: []string{callPart(`"index":0,"id":"x","function":{"name":"f","arguments":"{}"}`), callPart(`"index":1,"id":"x","function":{"name":"f","arguments":"{}"}`), callPart(`"id":"x","function":{"name":"f","arguments":"{}"}`)},
			want:  []llm.ToolCall{{ID: "x", Name: "f", Args: `{}`}},
		},
		"one id for two calls": {
			parts: []string{callPart(`"index":0,"id":"x","function":{"name":"f","arguments":"{}"}`), callPart(`"index":1,"id":"x","function":{"name":"g","arguments":"{}"}`)},
			want:  []llm.ToolCall{{ID: "x", Name: "f", Args: `{}`}, {ID: "*", Name: "g", Args: `{}`}},
		},
		"fields to send back": {
			parts: []string{callPart(`"index":0,"id":"x","extra_content":{"google":{"thought_signature":"s="}},"function":{"name":"f","arguments":"{}"}`)},
			want:  []llm.ToolCall{{ID: "x", Name: "f", Args: `{}`, Extra: json.RawMessage(`{"extra_content":{"google":{"thought_signature":"s="}}}`)}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServer(t, sse(events(append(test.parts, stop, finished)...)))
			h := collect(t.Context(), client(t, s.URL()), hello())
			if h.err != nil || h.end == nil {
				t.Fatal(h.err)
			}
			if diff := cmp.Diff(test.want, h.end.Calls, anyID); diff != "" {
				t.Error(diff)
			}
			if h.end.Stop != llm.StopTools || len(h.pending) == 0 {
				t.Errorf("stop %q, progress %v", h.end.Stop, h.pending)
			}
			seen := map[string]bool{}
			for _, c := range h.end.Calls {
				if seen[c.ID] {
					t.Errorf("the id %q is there twice", c.ID)
				}
				seen[c.ID] = true
			}
		})
	}
}

// TestCallsThatMustNotRun lists calls that are never repaired.
func TestCallsThatMustNotRun(t *testing.T) {
	call := func(args string) string {
		quoted, _ := json.Marshal(args)
		return callPart(`"index":0,"id":"x","function":{"name":"f","arguments":` + string(quoted) + `}`)
	}
	length := `{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`
	tests := map[string]struct {
		events  []string
		problem string
	}{
		"cut, and said to be whole":   {events: []string{call(`{"path":"a","content":"half`), stopTool}, problem: "not one complete JSON object"},
		"no end, and none said":       {events: []string{call(`{"path":"a"`)}, problem: "not one complete JSON object"},
		"no end, unknown reason":      {events: []string{call(`{"path":"a"`), `{"choices":[{"index":0,"delta":{},"finish_reason":"odd"}]}`}, problem: "not one complete JSON object"},
		"two readings":                {events: []string{call(`{'path':'it's'}`), stopTool}, problem: "not one complete JSON object"},
		"cut by the limit":            {events: []string{call(`{"path":"a","content":"half`), length}, problem: "token limit"},
		"cut by the limit, but whole": {events: []string{call(`{"path":"a"}`), length}, problem: "token limit"},
		"cut by the filter":           {events: []string{call(`{}`), `{"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}`}, problem: "content filter"},
		"two objects":                 {events: []string{call(`{}{}`), stopTool}, problem: "not one complete JSON object"},
		"a list":                      {events: []string{call(`[1]`), stopTool}, problem: "JSON object"},
		"a string":                    {events: []string{call(`"x"`), stopTool}, problem: "JSON object"},
		"null":                        {events: []string{call(`null`), stopTool}, problem: "JSON object"},
		"no name":                     {events: []string{callPart(`"index":0,"id":"x","function":{"arguments":"{}"}`), stopTool}, problem: "no tool"},
		"a lone surrogate":            {events: []string{callPart(`"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\":\"\ud83d\"}"}`), stopTool}, problem: "not valid Unicode"},
		"bytes that are no UTF-8":     {events: []string{callPart(`"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\":\"` + "\xff" + `\"}"}`), stopTool}, problem: "not valid Unicode"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServer(t, sse(events(append(test.events, finished)...)))
			h := collect(t.Context(), client(t, s.URL()), hello())
			if h.err != nil || h.end == nil || len(h.end.Calls) != 1 {
				t.Fatalf("response %+v", h)
			}
			c := h.end.Calls[0]
			if c.Args != "{}" || !strings.Contains(c.Problem, test.problem) || c.Name == "" || c.ID == "" {
				t.Errorf("the call is %+v", c)
			}
		})
	}
}

func TestAReplacementCharacterOfTheModelsOwnIsKept(t *testing.T) {
	for _, args := range []string{`"{\"a\":\"\ufffd\"}"`, `"{\"a\":\"` + "\uFFFD" + `\"}"`} {
		s := llmtest.NewServer(t, sse(events(callPart(`"index":0,"id":"x","function":{"name":"f","arguments":`+args+`}`), stopTool, finished)))
		h := collect(t.Context(), client(t, s.URL()), hello())
		if h.end == nil || len(h.end.Calls) != 1 || h.end.Calls[0].Problem != "" {
			t.Errorf("response %+v", h.end)
		}
	}
}

// TestNoCallOfABrokenStream checks that an answer that broke off delivers no call,
// however complete it looks.
func TestNoCallOfABrokenStream(t *testing.T) {
	for _, fault := range []llmtest.Fault{llmtest.Drop, llmtest.Truncate} {
		s := llmtest.NewServerFunc(t, func(int, []byte) llmtest.Turn {
			return llmtest.Turn{Calls: []llmtest.Call{{Name: "f", Args: "{}"}}, Fault: fault, After: 2}
		})
		h := collect(t.Context(), client(t, s.URL()), hello())
		if e := h.kind(t); e.Kind != llm.Truncated {
			t.Errorf("kind %d, %v", e.Kind, e)
		}
		if n := remote.DefaultMaxAttempts; len(h.pending) == 0 || len(h.retries) != n-1 || len(s.Requests()) != n || s.Fired(fault) != n {
			t.Errorf("pending %v, retries %v, requests %d, faults %d", h.pending, h.retries, len(s.Requests()), s.Fired(fault))
		}
	}
}

func TestAnIDOfAnEarlierAnswerIsNotUsedAgain(t *testing.T) {
	s := llmtest.NewServer(t, llmtest.Turn{Calls: []llmtest.Call{{ID: "call_0", Name: "f", Args: "{}"}}})
	req := hello()
	req.Messages = append(req.Messages,
		llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "call_0", Name: "f", Args: "{}"}}},
		llm.Message{Role: llm.ToolReply, CallID: "call_0", Parts: []llm.Part{{Kind: llm.TextPart, Text: "done"}}})
	h := collect(t.Context(), client(t, s.URL()), req)
	if h.end == nil || len(h.end.Calls) != 1 || h.end.Calls[0].ID == "call_0" || h.end.Calls[0].ID == "" {
		t.Errorf("response %+v", h)
	}
}

func TestWhatIsEchoed(t *testing.T) {
	call := callPart(`"index":0,"id":"x","function":{"name":"f","arguments":"{}"}`)
	delta := func(fields string) string { return `{"choices":[{"index":0,"delta":{` + fields + `}}]}` }
	tests := map[string]struct {
		events []string
		want   string
	}{
		"reasoning_content with calls": {events: []string{delta(`"reasoning_content":"a"`), delta(`"reasoning_content":"\u00e9b"`), call}, want: `"reasoning_content":"aéb"`},
		"reasoning with calls":         {events: []string{delta(`"reasoning":"a"`), call}, want: `"reasoning":"a"`},
		"reasoning without calls":      {events: []string{delta(`"reasoning_content":"a"`), says("hi")}},
		"details, in pieces": {
			events: []string{
				delta(`"reasoning":"a","reasoning_details":[{"type":"reasoning.text","index":0,"text":"a","signature":null}]`),
				delta(`"reasoning":"b","reasoning_details":[{"type":"reasoning.text","index":0,"text":"b","signature":"s"}]`),
				delta(`"reasoning_details":[{"type":"reasoning.encrypted","index":1,"data":"zz","id":1.50}]`), says("hi"),
			},
			want: `"reasoning_details":[{"index":0,"signature":"s","text":"ab","type":"reasoning.text"},{"data":"zz","id":1.50,"index":1,"type":"reasoning.encrypted"}]`,
		},
		"extra_content": {events: []string{delta(`"content":"hi","extra_content":{"g":1}`)}, want: `"extra_content":{"g":1}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServer(t, sse(events(append(test.events, stop, finished)...)), llmtest.Turn{Text: "ok"})
			c := client(t, s.URL())
			h := collect(t.Context(), c, hello())
			if h.end == nil {
				t.Fatal(h.err)
			}
			if name == "details, in pieces" && h.reasoning != "ab" {
				t.Errorf("shown: %q", h.reasoning)
			}
			source := `"source":"` + s.URL() + ` test-model"`
			if diff := cmp.Diff("{"+strings.Trim(test.want+","+source, ",")+"}", string(h.end.Extra)); diff != "" {
				t.Error(diff)
			}
			req := hello()
			req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Kind: llm.TextPart, Text: h.text}}, Calls: h.end.Calls, Extra: h.end.Extra})
			if h := collect(t.Context(), c, req); h.err != nil {
				t.Fatal(h.err)
			}
			if second := string(s.Requests()[1]); !strings.Contains(second, test.want) || strings.Contains(second, `"source"`) {
				t.Errorf("want %s and no source in %s", test.want, second)
			}
		})
	}
}

// A server that numbers the parts of an answer as choices loses no call.
func TestCallsInAnyChoice(t *testing.T) {
	inChoice := func(n, fields string) string {
		return `{"choices":[{"index":` + n + `,"delta":{"tool_calls":[{` + fields + `}]}}]}`
	}
	s := llmtest.NewServer(t, sse(events(
		`{"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}`, `{"choices":[{"index":1,"delta":{"content":"I look."}}]}`,
		inChoice("2", `"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\":"}`), inChoice("2", `"index":0,"function":{"arguments":"1}"}`),
		inChoice("3", `"index":0,"id":"y","function":{"name":"f","arguments":"{}"}`),
		`{"choices":[{"index":4,"delta":{},"finish_reason":"tool_calls"}]}`, finished)))
	h := collect(t.Context(), client(t, s.URL()), hello())
	if h.err != nil || h.text != "I look." || h.reasoning != "hm" || h.end.Stop != llm.StopTools {
		t.Fatalf("%+v", h)
	}
	want := []llm.ToolCall{{ID: "x", Name: "f", Args: `{"a":1}`}, {ID: "y", Name: "f", Args: "{}"}}
	if diff := cmp.Diff(want, h.end.Calls); diff != "" {
		t.Error(diff)
	}
}

// Reasoning reaches a server that demands reasoning_content, however it came and whether
// its answer has calls or not.
func TestReasoningGoesBackAsDemanded(t *testing.T) {
	delta := func(fields string) string { return `{"choices":[{"index":0,"delta":{` + fields + `}}]}` }
	call := callPart(`"index":0,"id":"x","function":{"name":"f","arguments":"{}"}`)
	for name, test := range map[string]struct {
		events  []string
		refusal string
		want    string
	}{
		"details alone, with calls": {
			[]string{delta(`"reasoning_details":[{"type":"reasoning.text","index":0,"text":"h"}]`), delta(`"reasoning_details":[{"type":"reasoning.text","index":0,"text":"m"}]`), call},
			"thinking is enabled but reasoning_content is missing in assistant tool call message at index 1", `"reasoning_content":"hm","reasoning_details":[`,
		},
		"details and calls as choices": {
			[]string{`{"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.summary","summary":"hm"}]}}]}`, `{"choices":[{"index":1,"delta":{"tool_calls":[{"id":"x","function":{"name":"f","arguments":"{}"}}]}}]}`},
			"thinking is enabled but reasoning_content is missing in assistant tool call message at index 1", `"reasoning_content":"hm","reasoning_details":[`,
		},
		"no calls": {
			[]string{delta(`"reasoning_content":"hm"`), says("hi")},
			"The `reasoning_content` in the thinking mode must be passed back to the API.", `"content":"hi","reasoning_content":"hm"`,
		},
		"no calls, field reasoning": {
			[]string{delta(`"reasoning":"hm"`), says("hi")},
			"The `reasoning_content` in the thinking mode must be passed back to the API.", `"content":"hi","reasoning_content":"hm"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServer(t, sse(events(append(test.events, stop, finished)...)),
				llmtest.Raw(400, "application/json", `{"error":{"message":"`+test.refusal+`"}}`), llmtest.Turn{Text: "ok"})
			c := client(t, s.URL())
			req := hello()
			req.Tools = []llm.ToolSpec{{Name: "f"}}
			h := collect(t.Context(), c, req)
			if h.reasoning != "hm" {
				t.Errorf("shown: %q", h.reasoning)
			}
			m := llm.Message{Role: llm.Assistant, Calls: h.end.Calls, Extra: h.end.Extra}
			m.Parts = []llm.Part{{Kind: llm.ReasoningPart, Text: h.reasoning}, {Kind: llm.TextPart, Text: h.text}}
			req.Messages = append(req.Messages, m)
			if h := collect(t.Context(), c, req); h.err != nil {
				t.Fatal(h.err)
			}
			if last := string(s.Requests()[2]); !strings.Contains(last, test.want) {
				t.Errorf("want %s in %s", test.want, last)
			}
		})
	}
}

func TestUsageAndCost(t *testing.T) {
	usage := `{"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":100,"prompt_tokens_details":{"cached_tokens":400}}}`
	prices := remote.Prices{Input: 2, Output: 10, Cached: 0.5}
	tests := map[string]struct {
		last   []string
		prices remote.Prices
		want   llm.Usage
	}{
		"counted":          {last: []string{stop, usage}, want: llm.Usage{Input: 1000, Output: 100, Cached: 400}},
		"priced":           {last: []string{stop, usage}, prices: prices, want: llm.Usage{Input: 1000, Output: 100, Cached: 400, CostUSD: 0.0024, SavedUSD: 0.0006}},
		"no cached price":  {last: []string{stop, usage}, prices: remote.Prices{Input: 2, Output: 10}, want: llm.Usage{Input: 1000, Output: 100, Cached: 400, CostUSD: 0.003}},
		"their own cost":   {last: []string{stop, `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":1,"cost":0.25}}`}, want: llm.Usage{Input: 10, Output: 1, CostUSD: 0.25}},
		"cache hits":       {last: []string{stop, `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":1,"prompt_cache_hit_tokens":7}}`}, want: llm.Usage{Input: 10, Output: 1, Cached: 7}},
		"in another place": {last: []string{`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":10,"completion_tokens":1}}}`}, want: llm.Usage{Input: 10, Output: 1}},
		"the last counts":  {last: []string{`{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":1}}`, stop, `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2}}`}, want: llm.Usage{Input: 10, Output: 2}},
		"not counted":      {last: []string{stop}, prices: remote.Prices{Input: 1e6}, want: llm.Usage{Input: 18, Output: 2, CostUSD: 18, Estimated: true}},
		"counted below 0":  {last: []string{stop, `{"choices":[],"usage":{"prompt_tokens":-1000000,"completion_tokens":1}}`}, want: llm.Usage{Input: 18, Output: 2, Estimated: true}},
		"too many to add":  {last: []string{stop, `{"choices":[],"usage":{"prompt_tokens":9223372036854775807,"completion_tokens":1}}`}, want: llm.Usage{Input: 18, Output: 2, Estimated: true}},
		"cache writes":     {last: []string{stop, `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":3,"cache_write_tokens":6}}}`}, want: llm.Usage{Input: 10, Output: 1, Cached: 3, Written: 6}},
		"cache creation":   {last: []string{stop, `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":1,"cache_creation_input_tokens":60,"prompt_tokens_details":{"cached_tokens":3}}}`}, want: llm.Usage{Input: 10, Output: 1, Cached: 3, Written: 7}},
		"more cached":      {last: []string{stop, `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":1,"prompt_cache_hit_tokens":70}}`}, prices: prices, want: llm.Usage{Input: 10, Output: 1, Cached: 10, CostUSD: 0.000015, SavedUSD: 0.000015}},
		"a cost below 0":   {last: []string{stop, `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":1,"cost":-5}}`}, want: llm.Usage{Input: 10, Output: 1}},
		"counted as zero":  {last: []string{stop, `{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0}}`}, want: llm.Usage{Input: 18, Output: 2, Estimated: true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServer(t, sse(events(append(append([]string{says("hello")}, test.last...), finished)...)))
			h := collect(t.Context(), client(t, s.URL(), func(o *options) { o.Prices = test.prices }), hello())
			if h.end == nil {
				t.Fatal(h.err)
			}
			if diff := cmp.Diff(test.want, h.end.Usage, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
