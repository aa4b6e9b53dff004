package written

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/llm/lenient"
)

// bare reads an answer that is only JSON, only a list in Python's notation, or only names of tools with
// their arguments. Nothing marks it as calls, so the arguments have to be those that the tools demand.
func (r *reader) bare() bool {
	for _, read := range []func() bool{r.objects, r.pythonList, r.named} {
		ok := r.back(0) && read() && !r.space()
		if fits := r.fits(); fits && ok {
			return true
		} else if fits && r.fault != "" { // a call of a tool, and something else
			r.refuse()
			return false
		}
		r.fault = ""
	}
	return false
}

// named reads calls like read_file{"path":"a"}, whose tokens a server left out: those of Mistral, of
// Functionary and of earlier versions of GLM.
func (r *reader) named() bool {
	for r.space() {
		r.take(">>>")
		name := r.name()
		r.take("[ARGS]")
		if name == "" || !r.space() || r.text[r.i] != '{' {
			return false
		}
		if args, ok := r.value(); !ok || !r.add(name, args) {
			return false
		}
	}
	return len(r.calls) > 0
}

// fences of calls: Gemma's, and Cohere's earlier.
var callFence = lazyregexp.New("(?s)(?:^|\n)((?:Action: *```json|```(?:tool_code|tool_calls?))[ \t]*\n)(.*?)(?:\n```)?$")

// fenced reads calls in a code block that is only for them, at the end of the text. It returns the place
// where the block begins; ok is false if the text has none.
func (r *reader) fenced() (at int, ok bool) {
	m := callFence.FindStringSubmatchIndex(r.text)
	if m == nil {
		return 0, false
	}
	var q quotes
	for line := range strings.Lines(r.text[:m[2]]) {
		q.next(line)
	}
	if q.fence != "" || strings.Contains(r.text[m[4]:m[5]], "```") {
		return 0, false
	}
	whole, before := r.text, slices.Collect(marks(r.text[:m[2]]))
	r.text, r.cut = r.text[m[4]:m[5]], r.cut && !strings.HasSuffix(r.text, "```")
	read := r.back(0) && r.objects() && !r.space() || r.back(0) && r.pythonLines()
	r.text = whole
	if !read || !r.alone(before) {
		r.refuse()
	}
	return m[2], true
}

// pythonLines reads calls in lines of their own, which may be printed.
func (r *reader) pythonLines() bool {
	for r.space() {
		from := r.i
		switch printed := r.take("print("); {
		case r.text[from] == '[' && r.pythonList():
		case !r.pythonCall() || printed && !r.take(")"):
			return false
		}
	}
	return len(r.calls) > 0
}

// tagged reads the calls of Hermes, Qwen and GLM: <tool_call>, and then JSON,
// <function=name>, or the name and its arguments. The last end tags may be missing.
func (r *reader) tagged() bool {
	for r.space() {
		outer := r.take("<tool_call>", "<seed:tool_call>")
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
		if !ok || outer && !r.take("</tool_call>", "</seed:tool_call>") && !r.ended() {
			return false
		}
		if !outer {
			r.take("</tool_call>") // models leave out <tool_call>
		}
		if r.space() && strings.HasPrefix(r.rest(), "</tool_calls>") {
			return len(r.calls) > 0 // see between
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
	if r.space() && r.text[r.i] == '{' { // Llama and Functionary
		args, ok := r.value()
		return ok && r.add(p.tool, args) && (r.take("</function>") || r.ended())
	}
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
	return (r.take("</function>") || p.open() || strings.HasPrefix(r.rest(), "</tool_call>")) && p.endTagged()
}

// glm reads a call after <tool_call>: its name, and pairs of tags.
func (r *reader) glm() bool {
	p := r.params(r.name())
	r.take("<tool_sep>") // Hunyuan
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
	r.space()
	return (strings.HasPrefix(r.rest(), "</tool_call>") || p.open()) && p.endTagged()
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
	if from := r.i; !r.objects() && !(r.back(from) && r.pythonList()) && !(r.back(from) && r.pythonCall()) {
		return false
	}
	for r.take("<|python_end|>", "<|eom_id|>", "<|eot_id|>", "<|eot|>") {
	}
	return !r.space()
}

// objects reads calls as JSON, with semicolons, commas or line ends between them.
func (r *reader) objects() bool {
	for {
		if !r.take("{", "[") {
			return false
		}
		r.i--
		if !r.object() {
			return false
		}
		if !r.take(";", ",") && (!r.space() || r.text[r.i] != '{') {
			return true
		}
	}
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
		if !r.take("</｜DSML｜invoke>") && !p.open() || !p.endTagged() {
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

// The tokens of gpt-oss: the beginnings of a message, the address of a call, and its end.
const (
	harmonyStart   = "<|start|>assistant"
	harmonyChannel = "<|channel|>"
	recipient      = "to=functions."
	endCall        = "<|call|>"
)

// says reports whether m begins a message of gpt-oss that addresses no tool.
func (m mark) says(text string) bool {
	head, _, _ := strings.Cut(text[m.at:], "<|message|>")
	return (m.shape.token == harmonyStart || m.shape.token == harmonyChannel) && !strings.Contains(head, "to=")
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
