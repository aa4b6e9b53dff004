package llmtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// Conversation returns a random conversation of n prompts as a session keeps it:
// answers with and without text, thinking and calls, each call with one result
// after it, answers that were cancelled, ids of other providers, images, asides.
// Answers come over one of wires, from one of models.
func Conversation(r *rand.Rand, n int, wires, models []string) []llm.Message {
	var all []llm.Message
	for range n {
		all = append(all, prompt(r))
		for r.IntN(4) > 0 {
			answer := randomAnswer(r, len(all), pick(r, wires...), pick(r, models...))
			all = append(all, answer)
			for _, c := range answer.Calls {
				all = append(all, result(r, c.ID))
			}
			if len(answer.Calls) == 0 {
				break
			}
		}
	}
	return append(all, prompt(r))
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func prompt(r *rand.Rand) llm.Message {
	m := llm.TextMessage(llm.User, pick(r, "hello", "<b>&\u2028", "", " \n", "ünïcödé \xff"))
	if r.IntN(4) == 0 {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.ImagePart, Mime: "image/png", Data: []byte{1, 2, 3}})
	}
	if r.IntN(4) == 0 {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.TextPart, Text: "an aside", Aside: true})
	}
	return m
}

func result(r *rand.Rand, id string) llm.Message {
	m := llm.TextMessage(llm.ToolReply, pick(r, "done", "", "  ", "{\"a\":1}\n\n"))
	m.CallID = id
	if r.IntN(8) == 0 {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.ImagePart, Mime: "image/jpeg", Data: []byte{4}})
	}
	return m
}

// randomAnswer returns an answer; at makes its calls' ids unique.
func randomAnswer(r *rand.Rand, at int, wire, model string) llm.Message {
	m := llm.Message{Role: llm.Assistant}
	order := llm.Order{Wire: wire, Model: model}
	for i := range r.IntN(5) {
		switch r.IntN(3) {
		case 0:
			text := pick(r, "I look.", "", " ", "Done.\n")
			m.Parts = append(m.Parts, llm.Part{Kind: llm.TextPart, Text: text})
			part := llm.OrderPart{Text: len(text)}
			if wire == "responses" {
				part.Phase = pick(r, "", "commentary", "final_answer")
			}
			order.Parts = append(order.Parts, part)
		case 1:
			id := fmt.Sprintf(pick(r, "call_%d_%d", "functions.read_file:%d:%d", "toolu_%d_%d", "%d|%d", "call_%d_%d_"+strings.Repeat("x", 100)), at, i)
			m.Calls = append(m.Calls, llm.ToolCall{ID: id, Name: "read_file", Args: pick(r, "{}", `{"path":"a"}`, " {} ")})
			order.Parts = append(order.Parts, llm.OrderPart{Call: true})
		case 2:
			m.Parts = append(m.Parts, llm.Part{Kind: llm.ReasoningPart, Text: "hm"})
			order.Parts = append(order.Parts, llm.OrderPart{Opaque: thinking(r, wire, at)})
			if r.IntN(3) == 0 {
				order.Parts = append(order.Parts, searched(wire, fmt.Sprintf("srv_%d_%d", at, i))...)
			}
		}
	}
	m.Extra = order.Extra()
	if r.IntN(8) == 0 && len(m.Parts) > 0 {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.TextPart, Text: "(changed)"})
	}
	return m
}

// thinking returns a block that only the provider of wire can read.
func thinking(r *rand.Rand, wire string, at int) json.RawMessage {
	text := fmt.Sprintf("<thought> & %d.%d", at, r.IntN(1000))
	if wire == "anthropic" {
		return pick(r, raw(map[string]string{"type": "thinking", "thinking": text, "signature": "sig"}),
			raw(map[string]string{"type": "redacted_thinking", "data": text}))
	}
	return raw(map[string]any{"type": "reasoning", "id": text, "summary": []string{}, "encrypted_content": "enc"})
}

// searched returns the parts of an answer in which the server searches the web.
func searched(wire, id string) []llm.OrderPart {
	if wire == "anthropic" {
		return []llm.OrderPart{
			{Opaque: raw(map[string]any{"type": "server_tool_use", "id": id, "name": "web_search", "input": map[string]string{"query": "x"}})},
			{Opaque: raw(map[string]any{"type": "web_search_tool_result", "tool_use_id": id, "content": []any{}})},
		}
	}
	return []llm.OrderPart{{Opaque: raw(map[string]any{"type": "web_search_call", "id": id, "status": "completed", "action": map[string]string{"type": "search"}})}}
}

func raw(v any) json.RawMessage {
	data, _ := json.Marshal(v) // of strings: it cannot fail
	return data
}
