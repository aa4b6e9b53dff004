package remote_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// recorded is an answer in the shape in which a server sends it.
type recorded struct {
	wire   int // in wires
	stream string
	want   answer // without Extra and Written
}

// sse returns events, each as data, with lines that end in eol.
func sse(eol string, events ...string) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("data: " + e + eol + eol)
	}
	return b.String()
}

// named returns events with the name that is their type.
func named(eol string, events ...string) string {
	var b strings.Builder
	for _, e := range events {
		name := strings.Split(e, `"`)[3]
		b.WriteString("event: " + name + eol + "data: " + e + eol + eol)
	}
	return b.String()
}

func choice(rest string) string {
	return `{"id":"chatcmpl-9","object":"chat.completion.chunk","created":1769000000,"model":"m","choices":[{"index":0,` + rest + `}]}`
}

func delta(fields string) string { return choice(`"delta":{` + fields + `},"finish_reason":null`) }

// said is the text of each answer: of every length in UTF-8, in all forms of escapes.
const said = "Grüße, 世界 😀 \"a\\b\"\n\tend"

// read and edit are the calls of each answer.
var called = []llm.ToolCall{
	{ID: "call_1", Name: "read_file", Args: `{"path":"ä b.go","limit":20}`},
	{ID: "call_2", Name: "edit_file", Args: `{"path":"c","old_string":"\u00fc\n","new_string":"\"<&>\""}`},
}

// want returns the answer with the calls, or without.
func want(reasoning string, calls bool, u llm.Usage) answer {
	a := answer{text: said, reasoning: reasoning, end: &llm.End{Stop: llm.StopEnd, Usage: u}}
	if calls {
		a.end.Stop, a.end.Calls = llm.StopTools, called
	}
	return a
}

var recordings = map[string]recorded{
	"OpenAI": {
		0, sse("\n",
			choice(`"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null`),
			delta(`"content":"Gr\u00fc\u00dfe, "`), delta(`"content":"世"`), delta(`"content":"界 \ud83d\ude00 "`), delta(`"content":"\"a\\b\"\n\tend"`),
			delta(`"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"read_file","arguments":""}}]`),
			delta(`"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":\"ä b"}}]`), delta(`"tool_calls":[{"index":0,"function":{"arguments":".go\",\"limit\":20}"}}]`),
			delta(`"tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"name":"edit_file","arguments":""}}]`),
			delta(`"tool_calls":[{"index":1,"function":{"arguments":"{\"path\":\"c\",\"old_string\":\"\\u00fc\\n\",\"new_string\":\"\\\"<&>\\\"\"}"}}]`),
			choice(`"delta":{},"logprobs":null,"finish_reason":"tool_calls"`),
			`{"id":"chatcmpl-9","choices":[],"usage":{"prompt_tokens":1200,"completion_tokens":84,"total_tokens":1284,"prompt_tokens_details":{"cached_tokens":1024}}}`, "[DONE]"),
		want("", true, llm.Usage{Input: 1200, Output: 84, Cached: 1024}),
	},
	"DeepSeek": {
		0, sse("\n",
			delta(`"role":"assistant","content":null,"reasoning_content":""`), delta(`"content":null,"reasoning_content":"Hm, "`), delta(`"content":null,"reasoning_content":"größer?\n"`),
			delta(`"content":"Grüße, 世界 😀 ","reasoning_content":null`), delta(`"content":"\"a\\b\"\n\tend"`),
			choice(`"delta":{"content":""},"finish_reason":"stop"`)+"\n\n: keep-alive",
			`{"choices":[],"usage":{"prompt_tokens":50,"completion_tokens":9,"prompt_cache_hit_tokens":32,"prompt_cache_miss_tokens":18}}`, "[DONE]"),
		want("Hm, größer?\n", false, llm.Usage{Input: 50, Output: 9, Cached: 32}),
	},
	"OpenRouter": {
		0, ": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n" + sse("\n",
			delta(`"role":"assistant","content":"","reasoning":"Hm, ","reasoning_details":[{"type":"reasoning.text","text":"Hm, ","format":"anthropic-claude-v1","index":0}]`),
			delta(`"content":"","reasoning":"größer?\n","reasoning_details":[{"type":"reasoning.text","text":"größer?\n","signature":"c2ln","index":0}]`),
			delta(`"content":"Grüße, 世界 😀 \"a\\b\"\n\tend"`),
			delta(`"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"\u00e4 b.go\",\"limit\":20}"}},{"index":1,"id":"call_2","type":"function","function":{"name":"edit_file","arguments":"{\"path\":\"c\",\"old_string\":\"\\u00fc\\n\",\"new_string\":\"\\\"<&>\\\"\"}"}}]`),
			choice(`"delta":{"content":""},"finish_reason":"tool_calls","native_finish_reason":"tool_use"`),
			`{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":{"prompt_tokens":80,"completion_tokens":30,"cost":0.0042,"prompt_tokens_details":{"cached_tokens":0}}}`, "[DONE]"),
		want("Hm, größer?\n", true, llm.Usage{Input: 80, Output: 30, CostUSD: 0.0042}),
	},
	"Gemini": {
		0, sse("\r\n",
			choice(`"delta":{"role":"assistant","content":"Grüße, 世界 😀 \"a\\b\"\n\tend"}`),
			choice(`"delta":{"role":"assistant","tool_calls":[{"extra_content":{"google":{"thought_signature":"c2ln=="}},"function":{"arguments":"{\"path\":\"ä b.go\",\"limit\":20}","name":"read_file"},"id":"call_1","type":"function"},{"function":{"arguments":"{\"path\":\"c\",\"old_string\":\"\\u00fc\\n\",\"new_string\":\"\\\"<&>\\\"\"}","name":"edit_file"},"id":"call_2","type":"function"}]},"finish_reason":"tool_calls"`),
			`{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}`, "[DONE]"),
		want("", true, llm.Usage{Input: 7, Output: 3}),
	},
	"parts as choices": {
		0, sse("\n",
			`{"choices":[{"index":0,"delta":{"reasoning_content":"Hm, größer?\n"}}]}`, `{"choices":[{"index":1,"delta":{"content":"Grüße, 世界 😀 "}}]}`, `{"choices":[{"index":1,"delta":{"content":"\"a\\b\"\n\tend"}}]}`,
			`{"choices":[{"index":2,"delta":{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"read_file","arguments":"{\"path\":\"ä b.go\",\"limit\":20}"}},{"index":1,"id":"call_2","function":{"name":"edit_file","arguments":"{\"path\":\"c\",\"old_string\":\"\\u00fc\\n\",\"new_string\":\"\\\"<&>\\\"\"}"}}]}}]}`,
			`{"choices":[{"index":3,"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}`, "[DONE]"),
		want("Hm, größer?\n", true, llm.Usage{Input: 7, Output: 3}),
	},
	"<think>": {
		0, sse("\n",
			delta(`"content":"<th"`), delta(`"content":"ink>\nHm, grö"`), delta(`"content":"ßer?</thi"`), delta(`"content":"nk>\n\nGrüße, 世界 😀 \"a\\b\"\n\tend"`), choice(`"delta":{},"finish_reason":"stop"`),
			`{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}`, "[DONE]"),
		want("Hm, größer?", false, llm.Usage{Input: 7, Output: 3}),
	},
	"Anthropic":       {1, named("\n", anthropicEvents...), want("Hm, größer?\n", true, llm.Usage{Input: 1500, Output: 99, Cached: 1400, Written: 90})},
	"Anthropic, CRLF": {1, named("\r\n", anthropicEvents...), want("Hm, größer?\n", true, llm.Usage{Input: 1500, Output: 99, Cached: 1400, Written: 90})},
	"Responses":       {2, named("\n", responsesEvents...), want("Hm, größer?\n", true, llm.Usage{Input: 1200, Output: 84, Cached: 1024})},
}

var anthropicEvents = []string{
	`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":90,"cache_read_input_tokens":1400,"output_tokens":1}}}`,
	`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
	`{"type":"ping"}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm, gr\u00f6"}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"ßer?\n"}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQBCgIYAhIM/+=="}}`,
	`{"type":"content_block_stop","index":0}`,
	`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"Zm9v"}}`,
	`{"type":"content_block_stop","index":1}`,
	`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}`,
	`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Grüße, 世"}}`,
	`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"界 \ud83d\ude00 \"a\\b\"\n\tend"}}`,
	`{"type":"content_block_stop","index":2}`,
	`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"call_1","name":"read_file","input":{}}}`,
	`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}`,
	`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\"ä b"}}`,
	`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":".go\",\"limit\":20}"}}`,
	`{"type":"content_block_stop","index":3}`,
	`{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"call_2","name":"edit_file","input":{}}}`,
	`{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\"c\",\"old_string\":\"\\u00fc\\n\",\"new_string\":\"\\\"<&>\\\"\"}"}}`,
	`{"type":"content_block_stop","index":4}`,
	`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":99}}`,
	`{"type":"message_stop"}`,
}

var responsesEvents = []string{
	`{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","status":"in_progress","output":[]}}`,
	`{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}`,
	`{"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}`,
	`{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"Hm, gr\u00f6"}`,
	`{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"ßer?\n"}`,
	`{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","encrypted_content":"gAAAAABo/+==","summary":[{"type":"summary_text","text":"Hm, größer?\n"}]}}`,
	`{"type":"response.output_item.added","output_index":1,"item":{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"}}`,
	`{"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"Grüße, 世","logprobs":[],"obfuscation":"xK2"}`,
	`{"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"界 \ud83d\ude00 \"a\\b\"\n\tend"}`,
	`{"type":"response.output_text.done","item_id":"msg_1","output_index":1,"content_index":0,"text":"Grüße, 世界 😀 \"a\\b\"\n\tend"}`,
	`{"type":"response.output_item.done","output_index":1,"item":{"id":"msg_1","type":"message","status":"completed","content":[{"type":"output_text","annotations":[],"text":"Grüße, 世界 😀 \"a\\b\"\n\tend"}],"role":"assistant"}}`,
	`{"type":"response.output_item.added","output_index":2,"item":{"id":"fc_1","type":"function_call","status":"in_progress","arguments":"","call_id":"call_1","name":"read_file"}}`,
	`{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":2,"delta":"{\"path\":\"ä b"}`,
	`{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":2,"delta":".go\",\"limit\":20}"}`,
	`{"type":"response.output_item.done","output_index":2,"item":{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"path\":\"ä b.go\",\"limit\":20}","call_id":"call_1","name":"read_file"}}`,
	`{"type":"response.output_item.done","output_index":3,"item":{"id":"fc_2","type":"function_call","status":"completed","arguments":"{\"path\":\"c\",\"old_string\":\"\\u00fc\\n\",\"new_string\":\"\\\"<&>\\\"\"}","call_id":"call_2","name":"edit_file"}}`,
	`{"type":"response.completed","response":{"id":"resp_1","status":"completed","usage":{"input_tokens":1200,"input_tokens_details":{"cached_tokens":1024},"output_tokens":84,"output_tokens_details":{"reasoning_tokens":40},"total_tokens":1284}}}`,
}

// ServeHTTP sends the answer.
func (r recorded) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if _, err := io.Copy(io.Discard, req.Body); err != nil { // a rest that is not read makes Windows cut the connection off
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Content-Length", fmt.Sprint(len(r.stream)))
	if _, err := w.Write([]byte(r.stream)); err != nil {
		panic(http.ErrAbortHandler) // the client is gone
	}
}
