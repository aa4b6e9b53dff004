package written

import (
	"iter"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// mark is a token outside code and quotations, and begins a call if its shape can be read.
type mark struct {
	at     int
	begins bool // a call may begin here: nothing else is in the line before it
	shape  shape
}

// shape is a form of calls.
type shape struct {
	token string // begins it
	close string // ends it; empty if nothing does
	read  func(*reader) bool
	glued bool // it may follow the end of a sentence without a blank, as special tokens do
}

var shapes = []shape{
	{"<tool_call>", "</tool_call>", (*reader).tagged, false},
	{"<function=", "</function>", (*reader).tagged, false},
	{"[TOOL_CALLS]", "", (*reader).mistral, true},
	{"<|python_start|>", "<|python_end|>", (*reader).llama, true},
	{"<|python_tag|>", "", (*reader).llama, true},
	{"<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", (*reader).kimi, true},
	{"<|tool_call_begin|>", "<|tool_call_end|>", (*reader).kimi, true},
	{"<｜DSML｜function_calls>", "</｜DSML｜function_calls>", (*reader).dsml, true},
	{"<｜DSML｜tool_calls>", "</｜DSML｜tool_calls>", (*reader).dsml, true},
	{"<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", (*reader).deepseek, true},
	{"<|start|>assistant", endCall, (*reader).harmony, true},
	{"<|channel|>", endCall, (*reader).harmony, true},
}

// unmarked is the shape of a line that may be a call in JSON or Python without a token.
var unmarked = shape{read: func(r *reader) bool { return r.object() || r.pythonList() }}

// strays matches the tokens of results, of other turns and of pieces of calls. A model that
// writes one before its calls made up a result, or lost a call.
var strays = lazyregexp.New(`(?i)</?(?:\w+:)?(?:tool|function)s?[_-]?(?:calls?|use|responses?|results?|outputs?)>|</function>|</?parameter[>=]|<(?:\w+:)?invoke name=|` +
	`</?arg_(?:key|value)>|</?observations?>|\[/?(?:tool_results?|tool_calls|inst|args|call_id)\]|</?(?:start|end)_of_turn>|</?s>|</?[|｜][^|｜<>\s]{1,40}[|｜]`)

// channels are the tokens of messages in gpt-oss's form that are no calls.
var channels = []string{"<|message|", "<|end|", "<|constrain|", "<|return|", "<|channel|"}

// marks yields the marks in text in their order.
func marks(text string) iter.Seq[mark] {
	return func(yield func(mark) bool) {
		var q quotes
		at := 0
		for line := range strings.Lines(text) {
			if !q.next(line) {
				for _, m := range q.marks(line, strings.TrimSpace(text[:at]) == "") {
					if m.at += at; !yield(m) {
						return
					}
				}
				q.end(line)
			}
			at += len(line)
		}
	}
}

// fences matches the line that begins a code block, which may be in a list.
var fences = lazyregexp.New("^[ \t]*(?:(?:[-+*]|\\d+[.)])[ \t]+)*(?:(```+)[^`]*$|(~~~+))")

// fenceOf returns the fence that a line begins a code block with, and its column.
func fenceOf(line string) (fence string, column int) {
	f := fences.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
	if f == nil {
		return "", 0
	}
	fence = f[1] + f[2]
	return fence, strings.Index(line, fence)
}

// elements matches the begins and ends of elements and strings that hold quotations.
var elements = lazyregexp.New(`(?i)<!--|-->|</?(?:pre|code|blockquote|details|examples?|quote|samp|xmp|textarea|template|document|file|diff|log|output)\b|"""|'''`)

// quotes knows which text of an answer is quoted. Its methods get the lines in their order.
type quotes struct {
	fence   string // of the open code block
	indent  int    // of that fence
	element string // the end of an open element
	ticks   int    // in the paragraph so far
}

// next begins a line, and reports whether all of it is code or a quotation.
func (q *quotes) next(line string) bool {
	if q.fence != "" {
		rest := strings.TrimLeft(line, " ")
		if strings.HasPrefix(rest, q.fence) && strings.Trim(rest, q.fence[:1]+" \t\r\n") == "" && len(line)-len(rest) <= q.indent+3 {
			q.fence = ""
		}
		return true
	}
	if q.fence, q.indent = fenceOf(line); q.fence != "" {
		q.ticks = 0
		return true
	}
	if strings.TrimSpace(line) == "" {
		q.ticks = 0
	}
	return strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") || strings.HasPrefix(strings.TrimSpace(line), ">")
}

// end ends a line that is not quoted.
func (q *quotes) end(line string) {
	q.element = q.after(line)
	q.ticks += strings.Count(line, "`")
}

// after returns the end of the element that is open after text of the current line.
func (q *quotes) after(text string) string {
	open := q.element
	for _, m := range elements.FindAllStringSubmatch(strings.ToLower(text), -1) {
		switch tag := m[0]; {
		case open == tag:
			open = ""
		case open != "" || tag == "-->" || strings.HasPrefix(tag, "</"):
		case tag == "<!--":
			open = "-->"
		case tag[0] == '<':
			open = "</" + tag[1:]
		default:
			open = tag
		}
	}
	return open
}

// marks returns the marks of a line. first reports whether no text is before the line.
func (q *quotes) marks(line string, first bool) []mark {
	var all []mark
	add := func(i int, s shape) {
		before := line[:i]
		if (q.ticks+strings.Count(before, "`"))%2 == 0 && q.after(before) == "" {
			all = append(all, mark{i, s.beginsAfter(before, first), s})
		}
	}
	for _, s := range shapes {
		for i := 0; ; i += len(s.token) {
			n := strings.Index(line[i:], s.token)
			if n < 0 {
				break
			}
			i += n
			add(i, s)
		}
	}
	for i := 0; ; {
		m := strays.FindStringIndex(line[i:])
		if m == nil {
			break
		}
		token, at := line[i+m[0]:i+m[1]], i+m[0]
		known := func(s shape) bool { return strings.HasPrefix(line[at:], s.token) }
		if !slices.Contains(channels, token) && !slices.ContainsFunc(shapes, known) {
			add(at, shape{token: token})
		}
		i += m[1]
	}
	if line[0] == '{' || line[0] == '[' {
		add(0, unmarked)
	}
	slices.SortStableFunc(all, func(a, b mark) int { return a.at - b.at })
	return all
}

// item matches the begin of a line of a diff, a list, a table or a comment.
var item = lazyregexp.New(`^(?:\s|[-+*•|#@\\]|//|\(?(?:\d+|[A-Za-z])[.)])`)

// beginsAfter reports whether a call may begin after before, the beginning of its line: one
// that continues a line is quoted, except that no blank precedes a special token.
func (s shape) beginsAfter(before string, first bool) bool {
	if before == "" || first && strings.TrimSpace(before) == "" {
		return true
	}
	for _, end := range []string{"</think>", "<|end|>", "<|call|>"} {
		if strings.HasSuffix(strings.TrimRight(before, " \t"), end) {
			return true
		}
	}
	ends := func(end string) bool { return strings.HasSuffix(before, end) }
	return s.glued && !item.MatchString(before) && slices.ContainsFunc([]string{".", "!", "?", ":", "…", "。", "！", "？", "："}, ends)
}
