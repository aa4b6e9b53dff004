package written

import (
	"slices"
	"strings"
)

// params collects the parameters of one call.
type params struct {
	r    *reader
	tool string
	keys []string
	json strings.Builder
}

// params begins a call of a tool.
func (r *reader) params(tool string) params {
	return params{r: r, tool: plain(tool)}
}

// add records a parameter with its JSON value. A repeated key may be a part of a value.
func (p *params) add(key, value string) bool {
	if slices.Contains(p.keys, key) || key == "" {
		p.r.fault = "a parameter of " + p.tool + " is given twice"
		return false
	}
	p.keys = append(p.keys, key)
	if p.json.Len() > 0 {
		p.json.WriteByte(',')
	}
	p.json.WriteString(quote(key) + ":" + value)
	return true
}

// end records the call.
func (p *params) end() bool { return p.r.add(p.tool, "{"+p.json.String()+"}") }

// open reports whether the text ends here and the end of the call may be missing, as more parameters
// may be: only tools that change nothing get such a call.
func (p *params) open() bool {
	if !p.r.ended() {
		return false
	}
	if !p.r.tools[p.tool].reads {
		p.r.fault = "the end of the arguments of " + p.tool + " is missing"
		return false
	}
	return true
}

// endTagged is end for a call whose values are text between tags. A key that the tool does
// not have may be a part of a value, or another name of a key that the tool demands.
func (p *params) endTagged() bool {
	known, missing := p.r.tools[p.tool], 0
	if len(known.Properties) == 0 {
		return p.end()
	}
	for _, key := range known.Required {
		if !slices.Contains(p.keys, key) {
			missing++
		}
	}
	for _, key := range p.keys {
		if _, ok := known.Properties[key]; ok {
			continue
		}
		if missing--; missing < 0 {
			p.r.fault = p.tool + " has no parameter " + quote(key) + ", which may be part of another value"
			return false
		}
	}
	return p.end()
}

// endParameter ends a value in Qwen's form.
const endParameter = "</parameter>"

// value returns the text of a parameter in Qwen's form, and skips its end tag.
func (p *params) value() (string, bool) {
	r, end, tag := p.r, -1, ""
	rest := r.rest()
	for _, t := range []string{endParameter, "<parameter=", "</function>", "</tool_call>"} {
		if n := strings.Index(rest, t); n >= 0 && (end < 0 || n < end) {
			end, tag = n, t
		}
	}
	if end < 0 {
		end = len(rest)
	}
	if !p.endsAt(rest, end, tag) {
		r.fault = "the end of a parameter of " + p.tool + " is missing, or has several readings"
		return "", false
	}
	r.i += end
	r.take(endParameter)
	r.space()
	after := r.rest()
	ok := after == "" || strings.HasPrefix(after, "<parameter=") || strings.HasPrefix(after, "</function>") || strings.HasPrefix(after, "</tool_call>")
	return strings.TrimSuffix(strings.TrimPrefix(rest[:end], "\n"), "\n"), ok
}

// endsAt reports whether rest[:end] is surely all of a value. tag follows it; empty at the
// end of the text. Only tools that change nothing get a value without an end tag.
func (p *params) endsAt(rest string, end int, tag string) bool {
	known := p.r.tools[p.tool]
	switch tag {
	case endParameter:
		// A value that begins on its own line ends with one, so a later end may be meant.
		return !strings.HasPrefix(rest, "\n") || strings.HasSuffix(rest[:end], "\n") || !strings.Contains(rest[end:], "\n"+endParameter)
	case "<parameter=":
		key, _, _ := strings.Cut(rest[end+len(tag):], ">")
		_, ok := known.Properties[strings.Trim(strings.TrimSpace(key), `"'`)]
		own := strings.HasSuffix(strings.TrimRight(rest[:end], " \t"), "\n")
		return ok && own && known.reads && !strings.Contains(rest, endParameter)
	case "</function>":
		return true
	}
	return known.reads && (tag != "" || !p.r.cut)
}
