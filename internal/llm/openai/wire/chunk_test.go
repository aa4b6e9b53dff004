package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

func TestDecode(t *testing.T) {
	one := 1
	tests := map[string]struct {
		in   string
		want Chunk
	}{
		"nothing":          {`{}`, Chunk{}},
		"no choices":       {`{"choices":[]}`, Chunk{}},
		"no delta":         {`{"choices":[{"index":0}]}`, Chunk{}},
		"text":             {`{"choices":[{"index":0,"delta":{"content":"\u00e9"}}]}`, Chunk{Text: "é"}},
		"another choice":   {`{"choices":[{"index":1,"delta":{"content":"a"}}]}`, Chunk{Text: "a"}},
		"parts as choices": {`{"choices":[{"index":0,"delta":{"reasoning":"hm"}},{"index":1,"delta":{"content":"a"}},{"index":2,"delta":{"tool_calls":[{"id":"x","function":{"name":"f"}}]}},{"index":3,"finish_reason":"tool_calls"}]}`, Chunk{Reasoning: "hm", ReasoningKey: "reasoning", Text: "a", Calls: []CallPart{{ID: "x", Name: "f"}}, Finish: "tool_calls"}},
		"two ends":         {`{"choices":[{"index":0,"finish_reason":"length"},{"index":1,"finish_reason":"stop"}]}`, Chunk{Finish: "length"}},
		"stop, then calls": {`{"choices":[{"index":0,"finish_reason":"stop"},{"index":1,"finish_reason":"tool_calls"}]}`, Chunk{Finish: "tool_calls"}},
		"null":             {`{"choices":[{"index":0,"delta":{"content":null,"reasoning":null,"tool_calls":null,"reasoning_details":null,"extra_content":null},"finish_reason":null}],"usage":null,"error":null}`, Chunk{}},
		"refusal":          {`{"choices":[{"delta":{"refusal":"no"}}]}`, Chunk{Text: "no"}},
		"finish":           {`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`, Chunk{Text: "a", Finish: "stop"}},
		"whole message":    {`{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`, Chunk{Text: "a", Finish: "stop"}},
		"parts":            {`{"choices":[{"delta":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}`, Chunk{Text: "ab"}},
		"thinking parts":   {`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}}]}`, Chunk{Reasoning: "hm"}},
		"odd parts":        {`{"choices":[{"delta":{"content":[1]}}]}`, Chunk{}},
		"odd content":      {`{"choices":[{"delta":{"content":3}}]}`, Chunk{}},
		"reasoning":        {`{"choices":[{"delta":{"reasoning":"hm"}}]}`, Chunk{Reasoning: "hm", ReasoningKey: "reasoning"}},
		"two reasonings":   {`{"choices":[{"delta":{"reasoning":"hm","reasoning_content":"hm"}}]}`, Chunk{Reasoning: "hm", ReasoningKey: "reasoning_content"}},
		"odd reasoning":    {`{"choices":[{"delta":{"reasoning":{"a":1}}}]}`, Chunk{}},
		"details":          {`{"choices":[{"delta":{"reasoning_details":[{"a":1},2]}}]}`, Chunk{Details: []json.RawMessage{[]byte(`{"a":1}`), []byte("2")}}},
		"odd details":      {`{"choices":[{"delta":{"reasoning_details":{"a":1}}}]}`, Chunk{}},
		"extra content":    {`{"choices":[{"delta":{"extra_content":{"a":1}}}]}`, Chunk{Extra: []byte(`{"a":1}`)}},
		"call":             {`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"x","type":"function","function":{"name":"f","arguments":"{}"}}]}}]}`, Chunk{Calls: []CallPart{{Index: &one, ID: "x", Name: "f", Args: "{}"}}}},
		"call, no args":    {`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":null}}]}}]}`, Chunk{Calls: []CallPart{{Name: "f"}}}},
		"call, object":     {`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":{"a": 1}}}]}}]}`, Chunk{Calls: []CallPart{{Args: `{"a": 1}`}}}},
		"call, surrogate":  {`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"\ud800"}}]}}]}`, Chunk{Calls: []CallPart{{Args: "\uFFFD", Garbled: true}}}},
		"call, bytes":      {"{\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"\xff\"}}]}}]}", Chunk{Calls: []CallPart{{Args: "\uFFFD", Garbled: true}}}},
		"call, own U+FFFD": {`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"\uFFFD"}}]}}]}`, Chunk{Calls: []CallPart{{Args: "\uFFFD"}}}},
		"call, extra":      {`{"choices":[{"delta":{"tool_calls":[{"extra_content":{"s":1},"function":{}}]}}]}`, Chunk{Calls: []CallPart{{Extra: []byte(`{"s":1}`)}}}},
		"usage":            {`{"usage":{"prompt_tokens":3,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":1},"cost":0.5}}`, Chunk{Usage: &Usage{Input: 3, Output: 2, Cached: 1, Cost: 0.5}}},
		"usage, no cost":   {`{"usage":{"prompt_tokens":3,"completion_tokens":2,"prompt_tokens_details":null,"cost":null}}`, Chunk{Usage: &Usage{Input: 3, Output: 2}}},
		"usage of zero":    {`{"usage":{"prompt_tokens":0,"completion_tokens":0}}`, Chunk{}},
		"usage elsewhere":  {`{"x_groq":{"usage":{"prompt_tokens":3}}}`, Chunk{Usage: &Usage{Input: 3}}},
		"error":            {`{"choices":[{"delta":{"content":"a"}}],"error":{"message":"m","code":500}}`, Chunk{Error: &remote.ServerError{Message: "m", Status: 500}}},
		"odd beside text":  {`{"id":7,"created":1.5,"model":null,"choices":[{"index":0,"logprobs":[],"content_filter_results":[],"delta":{"role":3,"content":"a"}}],"prompt_filter_results":{},"usage":{"prompt_tokens":3.0,"completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":1.5}}}`, Chunk{Text: "a", Usage: &Usage{Input: 3, Output: 2}}},
		"error in a list":  {`[{"error":{"message":"m"}}]`, Chunk{Error: &remote.ServerError{Message: "m"}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Decode([]byte(test.in))
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Error(diff, err)
			}
		})
	}
	for _, in := range []string{"", "hello", `"text"`, "3", `{"choices":3}`, `{"choices":[{"index":"x"}]}`, `{"id":7,"choices":[{"delta":{"tool_calls":{}}}]}`, "{}{}"} {
		if c, err := Decode([]byte(in)); err == nil || !strings.Contains(err.Error(), "not an event") {
			t.Errorf("%q: %+v, %v", in, c, err)
		}
	}
}
