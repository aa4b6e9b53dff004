package llmtest

import "fmt"

// messagesEvents returns the turn as events of the Messages API.
func (t Turn) messagesEvents(n int) []string {
	u := t.counts(n)
	var events []string
	add := func(kind string, fields map[string]any) {
		fields["type"] = kind
		events = append(events, encode(fields))
	}
	index := 0
	block := func(start map[string]any, deltas ...map[string]any) {
		add("content_block_start", map[string]any{"index": index, "content_block": start})
		for _, d := range deltas {
			add("content_block_delta", map[string]any{"index": index, "delta": d})
		}
		add("content_block_stop", map[string]any{"index": index})
		index++
	}
	add("message_start", map[string]any{"message": map[string]any{
		"id": fmt.Sprintf("msg_%d", n), "role": "assistant", "content": []any{},
		"usage": map[string]any{
			"input_tokens": u.Input - u.Cached - u.Written, "cache_read_input_tokens": u.Cached,
			"cache_creation_input_tokens": u.Written, "output_tokens": 1,
			"cache_creation": map[string]any{"ephemeral_5m_input_tokens": u.Written - u.WrittenHour, "ephemeral_1h_input_tokens": u.WrittenHour},
		},
	}})
	add("ping", map[string]any{})
	if t.Reasoning != "" {
		deltas := deltasOf("thinking_delta", "thinking", pieces(t.Reasoning, t.Chunk))
		deltas = append(deltas, map[string]any{"type": "signature_delta", "signature": fmt.Sprintf("sig-%d", n)})
		block(map[string]any{"type": "thinking", "thinking": "", "signature": ""}, deltas...)
	}
	if t.Search != "" {
		id, query := fmt.Sprintf("srvtoolu_%d", n), encode(map[string]string{"query": t.Search})
		block(map[string]any{"type": "server_tool_use", "id": id, "name": "web_search", "input": map[string]any{}},
			deltasOf("input_json_delta", "partial_json", pieces(query, t.Chunk))...)
		block(map[string]any{"type": "web_search_tool_result", "tool_use_id": id, "content": []any{
			map[string]any{"type": "web_search_result", "url": "https://go.dev", "title": "Go", "encrypted_content": "found"},
		}})
	}
	if t.Text != "" {
		block(map[string]any{"type": "text", "text": ""}, deltasOf("text_delta", "text", pieces(t.Text, t.Chunk))...)
	}
	for i, c := range t.Calls {
		deltas := deltasOf("input_json_delta", "partial_json", append([]string{""}, pieces(c.Args, 4*max(t.Chunk, 16))...))
		block(map[string]any{"type": "tool_use", "id": c.id("toolu", n, i), "name": c.Name, "input": map[string]any{}}, deltas...)
	}
	stop := map[string]string{"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}[t.finish()]
	add("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop}, "usage": map[string]any{"output_tokens": u.Output}})
	add("message_stop", map[string]any{})
	return events
}

func deltasOf(kind, field string, texts []string) []map[string]any {
	deltas := make([]map[string]any, len(texts))
	for i, text := range texts {
		deltas[i] = map[string]any{"type": kind, field: text}
	}
	return deltas
}

// id returns the call's id, or one made of the API's prefix.
func (c Call) id(prefix string, n, i int) string {
	if c.ID != "" {
		return c.ID
	}
	return fmt.Sprintf("%s_%d_%d", prefix, n, i)
}

// future holds events of the Responses API that no client knows yet.
var future = []string{
	`{"type":"response.mood.delta","output_index":0,"delta":{"mood":["calm"]},"item":7}`,
	`{"type":"response.output_item.added","output_index":90,"item":{"type":"mood","id":["m"],"content":"calm","arguments":{}}}`,
	`{"type":"response.output_item.done","output_index":90,"item":{"type":"mood","id":["m"],"content":"calm","arguments":{},"name":null}}`,
	`{"type":"response.output_text.annotation.added","output_index":0,"annotation":{"type":"url_citation"},"annotation_index":0}`,
}

// responsesEvents returns the turn as events of the Responses API.
func (t Turn) responsesEvents(n int) []string {
	var events []string
	add := func(kind string, fields map[string]any) {
		fields["type"] = kind
		events = append(events, encode(fields))
	}
	index := 0
	item := func(begun, done map[string]any, delta string, texts []string) {
		add("response.output_item.added", map[string]any{"output_index": index, "item": begun})
		for _, text := range texts {
			add(delta, map[string]any{"output_index": index, "delta": text})
		}
		add("response.output_item.done", map[string]any{"output_index": index, "item": done})
		index++
	}
	add("response.created", map[string]any{"response": map[string]any{"id": fmt.Sprintf("resp_%d", n)}})
	if t.Reasoning != "" {
		head := map[string]any{"type": "reasoning", "id": fmt.Sprintf("rs_%d", n), "summary": []any{}}
		done := map[string]any{"type": "reasoning", "id": fmt.Sprintf("rs_%d", n), "summary": []any{}, "encrypted_content": fmt.Sprintf("enc-%d", n)}
		item(head, done, "response.reasoning_summary_text.delta", pieces(t.Reasoning, t.Chunk))
	}
	if t.Search != "" {
		found := func(status string) map[string]any {
			return map[string]any{
				"type": "web_search_call", "id": fmt.Sprintf("ws_%d", n), "status": status,
				"action": map[string]any{"type": "search", "query": t.Search, "sources": []any{map[string]string{"type": "url", "url": "https://go.dev"}}},
			}
		}
		item(found("in_progress"), found("completed"), "", nil)
	}
	if t.Text != "" {
		phase := "final_answer"
		if len(t.Calls) > 0 {
			phase = "commentary"
		}
		done := map[string]any{"type": "message", "role": "assistant", "phase": phase, "content": []any{map[string]any{"type": "output_text", "text": t.Text}}}
		item(map[string]any{"type": "message", "role": "assistant", "content": []any{}}, done, "response.output_text.delta", pieces(t.Text, t.Chunk))
	}
	for i, c := range t.Calls {
		call := func(args string) map[string]any {
			return map[string]any{"type": "function_call", "id": fmt.Sprintf("fc_%d_%d", n, i), "call_id": c.id("call", n, i), "name": c.Name, "arguments": args}
		}
		item(call(""), call(c.Args), "response.function_call_arguments.delta", pieces(c.Args, 4*max(t.Chunk, 16)))
	}
	events = append(events, future...)
	u := t.counts(n)
	end := map[string]any{"usage": map[string]any{
		"input_tokens": u.Input, "output_tokens": u.Output, "input_tokens_details": map[string]any{"cached_tokens": u.Cached},
	}}
	kind := "response.completed"
	if reason := map[string]string{"length": "max_output_tokens", "content_filter": "content_filter"}[t.finish()]; reason != "" {
		kind = "response.incomplete"
		end["incomplete_details"] = map[string]any{"reason": reason}
	}
	add(kind, map[string]any{"response": end})
	return events
}
