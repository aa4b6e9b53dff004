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
	read  func(*reader) bool
	glued bool // it may follow the end of a sentence without a blank, as special tokens do
	weak  bool // other text has the token, too: it begins a call only if one can be read
}

var shapes = []shape{
	{token: "<tool_call>", read: (*reader).tagged},
	{token: "<seed:tool_call>", read: (*reader).tagged, glued: true},
	{token: "<function=", read: (*reader).tagged},
	{token: "[TOOL_CALLS]", read: (*reader).mistral, glued: true},
	{token: "<|python_start|>", read: (*reader).llama, glued: true},
	{token: "<|python_tag|>", read: (*reader).llama, glued: true},
	{token: "<|tool_calls_section_begin|>", read: (*reader).kimi, glued: true},
	{token: "<|tool_call_begin|>", read: (*reader).kimi, glued: true},
	{token: "<｜DSML｜function_calls>", read: (*reader).dsml, glued: true},
	{token: "<｜DSML｜tool_calls>", read: (*reader).dsml, glued: true},
	{token: "<｜tool▁calls▁begin｜>", read: (*reader).deepseek, glued: true},
	{token: harmonyStart, read: (*reader).harmony, glued: true},
	{token: harmonyChannel, read: (*reader).harmony, glued: true},
	{token: "<minimax:tool_call>", read: (*reader).invokes, glued: true},
	{token: "<function_calls>", read: (*reader).invokes},
	{token: "<invoke name=", read: (*reader).invokes},
	{token: "<|tool_call>", read: (*reader).gemma, glued: true},
	{token: "<start_function_call>", read: (*reader).gemma, glued: true},
	{token: "<|recipient|>", read: (*reader).functionary, glued: true},
	{token: "<|from|>assistant", read: (*reader).functionary, glued: true},
	{token: ">>>", read: (*reader).functionary, glued: true, weak: true},
	{token: "<|tools_prefix|>", read: (*reader).apertus, glued: true},
	between("<|tool_call_start|>", "<|tool_call_end|>", true), // LFM2
	between("<|tool_call|>", "<|/tool_call|>", true),          // Granite, Phi-4
	between("<TOOLCALL>", "</TOOLCALL>", true),                // Nemotron
	between("<tool_calls>", "</tool_calls>", false),           // Hunyuan, Jamba, MiniMax-M1
	between("<|START_ACTION|>", "<|END_ACTION|>", true),       // Cohere
	between("<|action_start|>", "<|action_end|>", true),       // InternLM
	between("<|function_call|>", "", true),                    // GigaChat
	between("function call<|role_sep|>", "", true),            // the same, earlier
	between("[TOOL_REQUEST]", "[END_TOOL_REQUEST]", true),     // LM Studio, for models that it does not know
	between("<function_call>", "</function_call>", false),     // Granite, earlier
	weakly(between("functools", "", false)),                   // Phi-4, FireFunction
	weakly(between("<tools>", "</tools>", false)),             // Qwen2.5-Coder
}

// between is a shape with JSON, or a list in Python's notation, between two tokens. The last end may be
// missing.
func between(begin, end string, glued bool) shape {
	return shape{token: begin, glued: glued, read: func(r *reader) bool {
		for r.take(begin) {
			r.take("<|plugin|>", "<|interpreter|>")
			r.space()
			switch from := r.i; {
			case strings.HasPrefix(r.rest(), "<tool_call>") && r.tagged():
			case r.back(from) && r.objects():
			case r.back(from) && r.pythonList():
			default:
				return false
			}
			if end != "" && !r.take(end) && !r.ended() {
				return false
			}
		}
		return !r.space()
	}}
}

func weakly(s shape) shape {
	s.weak = true
	return s
}

// unmarked is the shape of a line that may be a call in JSON or Python without a token.
var unmarked = shape{read: func(r *reader) bool { return r.object() || r.pythonList() }}

// strays matches the tokens of results, of other turns and of pieces of calls. A model that
// writes one before its calls made up a result, or lost a call.
var strays = lazyregexp.New(`(?i)</?(?:\w+:)?(?:tool|function)s?[_-]?(?:calls?|use|responses?|results?|outputs?)>|</function>|</?parameter[>=]|<(?:\w+:)?invoke name=|` +
	`</?arg_(?:key|value)>|</?observations?>|\[/?(?:tool_results?|tool_calls|inst|args|call_id)\]|</?(?:start|end)_of_turn>|</?s>|</?[|｜][^|｜<>\s]{1,40}[|｜]`)

// channels are the tokens of thoughts and messages that are no calls.
var channels = []string{
	"<|message|", "<|end|", "<|constrain|", "<|return|", "<|channel|",
	"<|START_THINKING|", "<|END_THINKING|", "<|START_RESPONSE|", "<|END_RESPONSE|", "<|START_TEXT|", "<|END_TEXT|", "<|inner_prefix|", "<|inner_suffix|",
}

// openers matches the strays that begin a call of a form that is not known.
var openers = lazyregexp.New(`(?i)^<(?:\w+:)?(?:tool|function)s?[_-]?calls?>|invoke name=|^<[|｜](?:tool|function)[^/]*(?:calls?|begin|start)[|｜]`)

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
	quoted := strings.HasPrefix(strings.TrimSpace(line), ">") && !addressed.MatchString(line)
	return strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") || quoted
}

// addressed matches the line that begins a call of Functionary.
var addressed = lazyregexp.New(`^>>>[A-Za-z_][\w.-]*\s*$`)

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
	for _, end := range []string{"</think>", "<|end|>", "<|call|>", "<|END_THINKING|>", "<|END_RESPONSE|>", "<|END_TEXT|>", "<|inner_suffix|>"} {
		if strings.HasSuffix(strings.TrimRight(before, " \t"), end) {
			return true
		}
	}
	ends := func(end string) bool { return strings.HasSuffix(before, end) }
	return s.glued && !item.MatchString(before) && slices.ContainsFunc([]string{".", "!", "?", ":", "…", "。", "！", "？", "："}, ends)
}
