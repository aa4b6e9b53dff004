package written

import (
	"encoding/json"
	"strings"
)

// invokes reads the elements of MiniMax: <invoke name="f"> with <parameter name="k">. The elements
// around them and the last ends may be missing.
func (r *reader) invokes() bool {
	r.take("<minimax:tool_call>", "<function_calls>")
	for r.take("<invoke name=") {
		name, ok := r.until(">")
		if !ok {
			return false
		}
		p := r.params(strings.Trim(name, `"' `))
		for r.take("<parameter name=") {
			key, _ := r.until(">")
			value, ok := r.until(endParameter)
			key = strings.Trim(key, `"' `)
			after := strings.TrimLeft(r.rest(), " \t\r\n")
			if !ok || !strings.HasPrefix(after, "<parameter name=") && !strings.HasPrefix(after, "</invoke>") {
				r.fault = "the end of a parameter of " + p.tool + " is missing, or has several readings"
				return false
			}
			value = strings.TrimSuffix(strings.TrimPrefix(value, "\n"), "\n")
			if !p.add(key, r.typed(p.tool, key, value)) {
				return false
			}
		}
		if !r.take("</invoke>") && !p.open() || !p.endTagged() {
			return false
		}
		if r.take("</minimax:tool_call>", "</function_calls>") {
			r.take("<minimax:tool_call>", "<function_calls>")
		}
	}
	return !r.space()
}

// gemma reads the calls of Gemma 4 and FunctionGemma: call:f{k:v}, with tokens around texts.
func (r *reader) gemma() bool {
	for _, form := range []struct{ begin, mark, end string }{
		{"<|tool_call>", `<|"|>`, "<tool_call|>"}, {"<start_function_call>", "<escape>", "<end_function_call>"},
	} {
		for r.take(form.begin) {
			if !r.take("call:") {
				return false
			}
			name := r.name()
			args, ok := r.gemmaValue(form.mark)
			if !ok || !r.add(name, args) || !r.take(form.end) && !r.ended() {
				return false
			}
		}
	}
	return !r.space()
}

// gemmaValue reads a value whose texts are between marks and whose keys may have none, and returns
// it as JSON.
func (r *reader) gemmaValue(mark string) (string, bool) {
	switch {
	case r.take(mark):
		text, ok := r.until(mark)
		return quote(text), ok
	case r.take("{"):
		return r.gemmaMembers(mark)
	case r.take("["):
		var list []string
		for !r.take("]") {
			if len(list) > 0 && !r.take(",") {
				return "", false
			}
			value, ok := r.gemmaValue(mark)
			if !ok {
				return "", false
			}
			list = append(list, value)
		}
		return "[" + strings.Join(list, ",") + "]", true
	}
	return r.value()
}

// gemmaMembers reads the members of an object after its {.
func (r *reader) gemmaMembers(mark string) (string, bool) {
	p := params{r: r, tool: "an object"}
	for !r.take("}") {
		if len(p.keys) > 0 && !r.take(",") {
			return "", false
		}
		key := r.name()
		if key == "" {
			quoted, ok := r.gemmaValue(mark)
			if !ok || json.Unmarshal([]byte(quoted), &key) != nil {
				return "", false
			}
		}
		if !r.take(":") {
			return "", false
		}
		value, ok := r.gemmaValue(mark)
		if !ok || !p.add(key, value) {
			return "", false
		}
	}
	return "{" + p.json.String() + "}", true
}

// functionary reads calls after the name of a tool as their recipient.
func (r *reader) functionary() bool {
	for r.space() {
		r.take("<|from|>assistant")
		if !r.take("<|recipient|>", ">>>") {
			return false
		}
		name := r.name()
		r.take("<|content|>")
		if args, ok := r.value(); !ok || !r.add(name, args) {
			return false
		}
		r.take("<|stop|>")
	}
	return true
}

// apertus reads a list of objects whose only key is the name of a tool.
func (r *reader) apertus() bool {
	for r.take("<|tools_prefix|>") {
		value, ok := r.value()
		var list []map[string]json.RawMessage
		if !ok || json.Unmarshal([]byte(value), &list) != nil {
			return false
		}
		for _, call := range list {
			for name, args := range call {
				if len(call) != 1 || !r.add(name, string(args)) {
					return false
				}
			}
		}
		if !r.take("<|tools_suffix|>") && !r.ended() {
			return false
		}
	}
	return !r.space()
}
