//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// wire encodes the answer to request n as the events of a protocol.
type wire interface {
	text(n int, text string) (before []string, piece func(string) string, after []string)
	call(n int, tool, args string) []string
}

// wireOf returns the protocol of a path, or nil if the path is not a model's.
func wireOf(path string) wire {
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return chat{}
	case strings.HasSuffix(path, "/messages"):
		return messages{}
	case strings.HasSuffix(path, "/responses"):
		return responses{}
	}
	return nil
}

// quote returns s as a JSON string.
func quote(s string) string {
	b, _ := json.Marshal(s) //nolint:errchkjson // a string
	return string(b)
}

// chat is the protocol of chat completions.
type chat struct{}

func (c chat) text(int, string) (before []string, piece func(string) string, after []string) {
	return nil, func(text string) string { return c.chunk(`{"content":`+quote(text)+`}`, "null") }, c.end("stop")
}

func (c chat) call(n int, tool, args string) []string {
	call := fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"call_%d","type":"function","function":{"name":%q,"arguments":%s}}]}`, n, tool, quote(args))
	return append([]string{c.chunk(call, "null")}, c.end("tool_calls")...)
}

func (chat) chunk(delta, finish string) string {
	return `{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}]}`
}

func (c chat) end(finish string) []string {
	return []string{
		c.chunk("{}", quote(finish)),
		`{"id":"c","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}}`,
		"[DONE]",
	}
}

// messages is Anthropic's Messages API.
type messages struct{}

func (m messages) text(n int, _ string) (before []string, piece func(string) string, after []string) {
	piece = func(text string) string { return m.delta(`{"type":"text_delta","text":` + quote(text) + `}`) }
	return m.begin(n, `{"type":"text","text":""}`), piece, m.end("end_turn")
}

func (m messages) call(n int, tool, args string) []string {
	events := m.begin(n, fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":%q,"input":{}}`, n, tool))
	events = append(events, m.delta(`{"type":"input_json_delta","partial_json":`+quote(args)+`}`))
	return append(events, m.end("tool_use")...)
}

func (messages) begin(n int, block string) []string {
	return []string{
		fmt.Sprintf(`{"type":"message_start","message":{"id":"msg_%d","type":"message","role":"assistant","content":[],"usage":{"input_tokens":100,"output_tokens":1}}}`, n),
		`{"type":"content_block_start","index":0,"content_block":` + block + `}`,
	}
}

func (messages) delta(delta string) string {
	return `{"type":"content_block_delta","index":0,"delta":` + delta + `}`
}

func (messages) end(reason string) []string {
	return []string{
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"` + reason + `"},"usage":{"output_tokens":10}}`,
		`{"type":"message_stop"}`,
	}
}

// responses is OpenAI's Responses API.
type responses struct{}

func (r responses) text(n int, text string) (before []string, piece func(string) string, after []string) {
	item := func(content string) string {
		return fmt.Sprintf(`{"type":"message","id":"msg_%d","role":"assistant","content":[%s]}`, n, content)
	}
	piece = func(text string) string {
		return `{"type":"response.output_text.delta","output_index":0,"delta":` + quote(text) + `}`
	}
	return r.begin(n, item("")), piece, r.end(n, item(`{"type":"output_text","text":`+quote(text)+`}`))
}

func (r responses) call(n int, tool, args string) []string {
	item := func(args string) string {
		return fmt.Sprintf(`{"type":"function_call","id":"fc_%d","call_id":"call_%d","name":%q,"arguments":%s}`, n, n, tool, quote(args))
	}
	events := append(r.begin(n, item("")), `{"type":"response.function_call_arguments.delta","output_index":0,"delta":`+quote(args)+`}`)
	return append(events, r.end(n, item(args))...)
}

func (responses) begin(n int, item string) []string {
	return []string{
		fmt.Sprintf(`{"type":"response.created","response":{"id":"resp_%d"}}`, n),
		`{"type":"response.output_item.added","output_index":0,"item":` + item + `}`,
	}
}

func (responses) end(n int, item string) []string {
	return []string{
		`{"type":"response.output_item.done","output_index":0,"item":` + item + `}`,
		fmt.Sprintf(`{"type":"response.completed","response":{"id":"resp_%d","usage":{"input_tokens":100,"output_tokens":10}}}`, n),
	}
}
