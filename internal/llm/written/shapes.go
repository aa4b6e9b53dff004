package written

import (
	"encoding/json"
	"strings"

	"github.com/bb2d0cf4/agent/internal/llm/lenient"
)

// bare reads an answer that is only JSON or only a list in Python's notation. Nothing
// marks it as calls, so the arguments have to be those that the tools demand.
func (r *reader) bare() bool {
	for _, read := range []func() bool{r.object, r.pythonList} {
		r.i, r.calls, r.open = 0, nil, false
		if r.take("[") || r.take("{") {
			r.i--
			if read() && !r.space() && r.fits() {
				return true
			}
		}
	}
	return false
}

// tagged reads the calls of Hermes, Qwen and GLM: <tool_call>, and then JSON,
// <function=name>, or the name and its arguments. The last end tags may be missing.
func (r *reader) tagged() bool {
	for r.space() {
		outer := r.take("<tool_call>")
		more := r.space()
		var ok bool
		switch {
		case !more:
			return false
		case r.text[r.i] == '{', r.text[r.i] == '[':
			ok = outer && r.objectInTag()
		case r.take("<function="):
			ok = r.qwen()
		default:
			ok = outer && r.glm()
		}
		if !ok || outer && !r.take("</tool_call>") && !r.ended() {
			return false
		}
		if !outer {
			r.take("</tool_call>") // models leave out <tool_call>
		}
	}
	return true
}

// objectInTag reads JSON before </tool_call>, with a bracket too many or too few at its
// end.
func (r *reader) objectInTag() bool {
	if r.object() {
		for r.take("}") {
		}
		return true
	}
	from := r.i
	inner, ok := r.until("</tool_call>")
	value, rest, whole := lenient.Value(inner, true)
	if !ok || !whole || strings.TrimSpace(rest) != "" {
		return false
	}
	r.i = from + len(inner)
	return r.addObject(json.RawMessage(value))
}

// qwen reads a call after <function=.
func (r *reader) qwen() bool {
	name, ok := r.until(">")
	if !ok {
		return false
	}
	p := r.params(strings.Trim(strings.TrimSpace(name), `"'`))
	for r.take("<parameter=") {
		key, ok := r.until(">")
		if !ok {
			return false
		}
		value, ok := p.value()
		key = strings.Trim(strings.TrimSpace(key), `"'`)
		if !ok || !p.add(key, r.typed(p.tool, key, value)) {
			return false
		}
	}
	return (r.take("</function>") || r.ended() || strings.HasPrefix(r.rest(), "</tool_call>")) && p.endTagged()
}

// glm reads a call after <tool_call>: its name, and pairs of tags.
func (r *reader) glm() bool {
	p := r.params(r.name())
	for r.take("<arg_key>") {
		key, ok := r.until("</arg_key>")
		if !ok || !r.take("<arg_value>") {
			return false
		}
		value, ok := r.until("</arg_value>")
		key = strings.TrimSpace(key)
		if !ok || !p.add(key, r.typed(p.tool, key, value)) {
			return false
		}
	}
	return p.endTagged()
}

// mistral reads [TOOL_CALLS] and JSON, or names with their arguments.
func (r *reader) mistral() bool {
	for r.take("[TOOL_CALLS]") {
		if !r.space() {
			return false
		}
		if c := r.text[r.i]; c == '[' || c == '{' {
			if !r.object() {
				return false
			}
			continue
		}
		name := r.name()
		if r.take("[CALL_ID]") {
			r.name()
		}
		r.take("[ARGS]")
		args, ok := r.value()
		if !ok || !r.add(name, args) {
			return false
		}
	}
	r.take("</s>")
	return !r.space()
}

// llama reads calls after <|python_start|> or <|python_tag|>: JSON, or Python.
func (r *reader) llama() bool {
	if !r.take("<|python_start|>", "<|python_tag|>") || !r.space() {
		return false
	}
	from := r.i
	again := func() bool {
		r.i, r.calls, r.fault, r.open = from, nil, "", false
		return true
	}
	if !r.objects() && !(again() && r.pythonList()) && !(again() && r.pythonCall()) {
		return false
	}
	for r.take("<|python_end|>", "<|eom_id|>", "<|eot_id|>", "<|eot|>") {
	}
	return !r.space()
}

// objects reads calls as JSON, with semicolons between them.
func (r *reader) objects() bool {
	if !r.object() {
		return false
	}
	for r.take(";") {
		if !r.object() {
			return false
		}
	}
	return true
}

// pythonList reads calls like [f(a="x"), g(b=1)].
func (r *reader) pythonList() bool {
	if !r.take("[") || !r.pythonCall() {
		return false
	}
	for r.take(",") {
		if !r.pythonCall() {
			return false
		}
	}
	return r.take("]")
}

// pythonCall reads a call like f(a="x", b=[1]).
func (r *reader) pythonCall() bool {
	p := r.params(r.name())
	if p.tool == "" || !r.take("(") {
		return false
	}
	for !r.take(")") {
		if len(p.keys) > 0 && !r.take(",") {
			return false
		}
		key := r.name()
		if !r.take("=") {
			return false
		}
		value, ok := r.value()
		if !ok || !p.add(key, value) {
			return false
		}
	}
	return p.end()
}

// kimi reads calls between tokens that number them: functions.name:0.
func (r *reader) kimi() bool {
	r.take("<|tool_calls_section_begin|>")
	for r.take("<|tool_call_begin|>") {
		id, ok := r.until("<|tool_call_argument_begin|>")
		if !ok {
			return false
		}
		args, ok := r.value()
		name, _, _ := strings.Cut(strings.TrimSpace(id), ":")
		if !ok || !r.add(name, args) || !r.take("<|tool_call_end|>") && !r.ended() {
			return false
		}
	}
	r.take("<|tool_calls_section_end|>")
	return !r.space()
}

// dsml reads the tags of newer DeepSeek models.
func (r *reader) dsml() bool {
	if !r.take("<｜DSML｜function_calls>", "<｜DSML｜tool_calls>") {
		return false
	}
	for r.take(`<｜DSML｜invoke name="`) {
		name, ok := r.until(`">`)
		if !ok {
			return false
		}
		p := r.params(name)
		for r.take(`<｜DSML｜parameter name="`) {
			if !r.dsmlParameter(&p) {
				return false
			}
		}
		if !r.take("</｜DSML｜invoke>") && !r.ended() || !p.endTagged() {
			return false
		}
	}
	r.take("</｜DSML｜function_calls>", "</｜DSML｜tool_calls>")
	return !r.space()
}

// dsmlParameter reads a parameter. Its tag marks a string.
func (r *reader) dsmlParameter(p *params) bool {
	key, ok := r.until(`"`)
	if !ok {
		return false
	}
	attribute, ok := r.until(">")
	if !ok {
		return false
	}
	value, ok := r.until("</｜DSML｜parameter>")
	if strings.Contains(attribute, `string="false"`) {
		return ok && p.add(key, r.typed(p.tool, key, value))
	}
	return ok && p.add(key, quote(value))
}

// deepseek reads the tokens of earlier DeepSeek models: the name, a separator, and JSON
// that may be in a code block.
func (r *reader) deepseek() bool {
	r.take("<｜tool▁calls▁begin｜>")
	for r.take("<｜tool▁call▁begin｜>") {
		name, ok := r.until("<｜tool▁sep｜>")
		if !ok {
			return false
		}
		if strings.TrimSpace(name) == "function" {
			name = r.name()
		}
		block := r.take("```json")
		args, ok := r.value()
		if block && !r.take("```") {
			return false
		}
		if !ok || !r.add(name, args) || !r.take("<｜tool▁call▁end｜>") && !r.ended() {
			return false
		}
	}
	r.take("<｜tool▁calls▁end｜>")
	return !r.space()
}

// The tokens of gpt-oss: the address of a call, and its end.
const (
	recipient = "to=functions."
	endCall   = "<|call|>"
)

// says reports whether m begins a message of gpt-oss that addresses no tool.
func (m mark) says(text string) bool {
	head, _, _ := strings.Cut(text[m.at:], "<|message|>")
	return m.shape.close == endCall && !strings.Contains(head, "to=")
}

// harmony reads the channels of gpt-oss.
func (r *reader) harmony() bool {
	for r.space() {
		if !strings.HasPrefix(r.rest(), "<|start|>") && !strings.HasPrefix(r.rest(), "<|channel|>") {
			return false
		}
		head, ok := r.until("<|message|>")
		_, to, addressed := strings.Cut(head, recipient)
		if !ok || !addressed || strings.Contains(to, recipient) {
			return false
		}
		args, ok := r.value()
		if !ok || !r.add(prefix(to), args) || !r.take(endCall, "<|end|>") && r.space() {
			return false
		}
	}
	return true
}
