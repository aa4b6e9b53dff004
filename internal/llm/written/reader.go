package written

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/lenient"
)

// call is a call that was read; args is a JSON object.
type call struct{ name, args string }

// schema is the part of a tool's schema that decides how a call is read.
type schema struct {
	Properties map[string]struct {
		Type any `json:"type"`
	} `json:"properties"`
	Required []string `json:"required"`
	reads    bool     // see llm.ToolSpec
}

// reader reads the calls at the end of an answer. Its methods return false for anything
// else, which drops all that was read.
type reader struct {
	text  string
	i     int
	tools map[string]schema
	cut   bool // the text may be cut off: no end may be missing
	open  bool // the last value has no end
	calls []call
	// See find.
	fault  string
	quoted bool
}

// endTokens matches the tokens that end an answer, which some servers leave in it.
var endTokens = lazyregexp.New(`(?:\s|<\|im_end\|>|<\|eot_id\|>|<\|end_of_text\|>|<\|endoftext\|>|</s>|<｜end▁of▁sentence｜>|<\|END_OF_TURN_TOKEN\|>|` +
	`<end_of_turn>|<turn\|>|<eos>|<\|assistant_end\|>|<\|stop\|>|\[e~\[|<seed:eos>|<SPECIAL_12>)+$`)

func newReader(text string, specs []llm.ToolSpec) *reader {
	text = endTokens.ReplaceAllString(text, "")
	r := &reader{text: text, tools: map[string]schema{}}
	for _, s := range specs {
		var known schema
		_ = json.Unmarshal(s.ObjectSchema(), &known) // an odd schema describes nothing
		known.reads = s.Reads
		r.tools[s.Name] = known
	}
	return r
}

// maxTries limits the places of a text that are read.
const maxTries = 32

// find reads the calls, and returns the place in text where they begin. All of the text from
// the first token of a call on has to be calls: otherwise it reads nothing, and sets fault. It
// does not read a call that other text quotes, and sets quoted if the answer ends with it.
func (r *reader) find() (start int, ok bool) {
	if r.bare() || r.fault != "" {
		return 0, r.fault == ""
	}
	if at, ok := r.fenced(); ok {
		return at, r.fault == ""
	}
	var before []mark
	for m := range marks(r.text) {
		switch {
		case !r.mayCall(m):
			if before = append(before, m); len(before) > maxTries {
				before = before[1:]
			}
		case m.says(r.text):
		default:
			ok := r.read(m) && r.alone(before)
			if !ok {
				r.refuse()
			}
			return m.at, ok
		}
	}
	r.look(before)
	return 0, false
}

// mayCall reports whether a call may begin at a mark.
func (r *reader) mayCall(m mark) bool {
	return m.begins && m.shape.read != nil && m.shape.token != "" && (!m.shape.weak || r.read(m))
}

// look sets quoted or fault by the marks of a text without calls.
func (r *reader) look(before []mark) {
	for _, m := range before {
		r.quoted = r.quoted || r.read(m) && !r.space() && (m.shape.token != "" || r.fits())
	}
	r.calls, r.fault = nil, ""
	if slices.ContainsFunc(before, func(m mark) bool { return m.begins && openers.MatchString(m.shape.token) }) && !r.quoted {
		r.fault = "its form is not known"
		r.refuse()
	}
}

// read reads the calls from m to the end of the text.
func (r *reader) read(m mark) bool {
	r.i, r.calls, r.fault, r.open = m.at, nil, "", false
	return m.shape.read != nil && m.shape.read(r) && len(r.calls) > 0
}

// alone reports whether the marks before the calls are of no call and no result: the calls
// may build on one that was not read.
func (r *reader) alone(before []mark) bool {
	calls := r.calls
	for _, m := range before {
		if m.shape.token != "" {
			r.fault = "the text before it has a part of a call or of a result (" + strings.TrimSpace(m.shape.token) + ")"
			return false
		}
		if r.read(m) || len(r.calls) > 0 {
			r.fault = "the text before it has a call that is not marked"
			return false
		}
	}
	r.calls, r.fault = calls, ""
	return true
}

// refuse drops the calls and explains it.
func (r *reader) refuse() {
	why := cmp.Or(r.fault, "it is not whole, does not end the answer, or has several readings")
	r.fault = "the model wrote a call as text that cannot be read (" + why + "), so none of the calls in this answer was run: " +
		"ask again, or try a model that is trained to call tools"
	r.calls = nil
}

// rest returns the text that is not read yet.
func (r *reader) rest() string { return r.text[r.i:] }

// space skips white space, and reports whether text is left.
func (r *reader) space() (more bool) {
	r.i = len(r.text) - len(strings.TrimLeft(r.rest(), " \t\r\n"))
	return r.i < len(r.text)
}

// back goes back to a place, with no calls.
func (r *reader) back(to int) bool {
	r.i, r.calls, r.fault, r.open = to, nil, "", false
	return true
}

// ended reports whether the text ends here on purpose, so that end tags may be missing.
func (r *reader) ended() bool { return !r.space() && !r.cut }

// take skips white space and one of tokens, and reports whether one was there.
func (r *reader) take(tokens ...string) bool {
	r.space()
	for _, token := range tokens {
		if strings.HasPrefix(r.rest(), token) {
			r.i += len(token)
			return true
		}
	}
	return false
}

// until returns the text before token, and skips both.
func (r *reader) until(token string) (string, bool) {
	before, _, ok := strings.Cut(r.rest(), token)
	if ok {
		r.i += len(before) + len(token)
	}
	return before, ok
}

// name returns the letters of a name at the current place.
func (r *reader) name() string {
	r.space()
	name := prefix(r.rest())
	r.i += len(name)
	return name
}

// prefix returns the name at the beginning of s.
func prefix(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."))]
}

// quote returns s as JSON.
func quote(s string) string {
	quoted, _ := json.Marshal(s) // a string: it cannot fail
	return string(quoted)
}

// value returns a JSON value.
func (r *reader) value() (string, bool) {
	r.space()
	value, rest, ok := lenient.Value(r.rest(), false)
	if !ok && !r.cut {
		value, rest, ok = lenient.Value(r.rest(), true)
		r.open = ok
	}
	if !ok {
		r.fault = "its arguments are not JSON"
		return "", false
	}
	r.i = len(r.text) - len(rest)
	return value, true
}

// plain returns the name of a tool without the prefixes of gpt-oss and Gemma.
func plain(name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(name), "functions."), "default_api.")
}

// add records a call of a tool on offer.
func (r *reader) add(name, args string) bool {
	name = plain(name)
	known, ok := r.tools[name]
	if !ok {
		r.fault = "there is no tool of that name"
		return false
	}
	if r.open && !known.reads {
		r.fault = "the end of the arguments of " + name + " is missing"
		return false
	}
	object, ok := lenient.Object(args, true)
	if !ok {
		r.fault = "the arguments of " + name + " are not one JSON object"
		return false
	}
	r.calls = append(r.calls, call{name, object})
	return true
}

// object reads a call as JSON: its name and arguments.
func (r *reader) object() bool {
	value, ok := r.value()
	return ok && r.addObject(json.RawMessage(value))
}

// addObject records a call that is JSON, or a list of calls.
func (r *reader) addObject(value json.RawMessage) bool {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) == nil {
		return len(list) > 0 && !slices.ContainsFunc(list, func(c json.RawMessage) bool { return !r.addObject(c) })
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return false
	}
	if function := members["function"]; len(function) > 0 && function[0] == '{' {
		return onlyKeys(members, "function", "type", "id", "index") && r.addObject(function)
	}
	if members["arguments"] != nil && members["parameters"] != nil || !onlyKeys(members, "name", "tool_name", "arguments", "parameters", "id", "tool_call_id", "type") {
		return false
	}
	args := first(members, "arguments", "parameters")
	if args == nil || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	var name string
	given := first(members, "name", "tool_name") // the second is Cohere's
	return json.Unmarshal(given, &name) == nil && name != "" && r.add(name, string(args))
}

// first returns the value of the first key that is there, or nil.
func first(members map[string]json.RawMessage, keys ...string) json.RawMessage {
	for _, key := range keys {
		if members[key] != nil {
			return members[key]
		}
	}
	return nil
}

// onlyKeys reports whether members has no other keys.
func onlyKeys(members map[string]json.RawMessage, keys ...string) bool {
	for key := range members {
		if !slices.Contains(keys, key) {
			return false
		}
	}
	return true
}

// fits reports whether each call has the keys that its tool demands, and no others. It
// tells a call from other JSON.
func (r *reader) fits() bool {
	for _, c := range r.calls {
		var args map[string]json.RawMessage
		if json.Unmarshal([]byte(c.args), &args) != nil {
			return false
		}
		known := r.tools[c.name]
		for key := range args {
			if _, ok := known.Properties[key]; !ok {
				return false
			}
		}
		for _, key := range known.Required {
			if _, ok := args[key]; !ok {
				return false
			}
		}
	}
	return len(r.calls) > 0
}

// typed returns the JSON value that text is for a parameter of a tool: text itself unless
// the tool wants another type.
func (r *reader) typed(tool, param, text string) string {
	kind, known := r.tools[tool].Properties[param]
	if known && kind.Type != "string" {
		if value, rest, ok := lenient.Value(text, false); ok && strings.TrimSpace(rest) == "" {
			return value
		}
	}
	return quote(text)
}
