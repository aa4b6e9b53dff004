package written

import (
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// mark is a place in a text where a call may begin.
type mark struct {
	at    int
	first bool // only blanks before it in its line
	shape shape
}

// shape is a form of calls.
type shape struct {
	token string // begins it
	close string // ends it; empty if nothing does
	read  func(*reader) bool
	plain bool // token is ordinary text to a tokenizer, so that answers may quote it
}

var shapes = []shape{
	{"<tool_call>", "</tool_call>", (*reader).tagged, true},
	{"<function=", "</function>", (*reader).tagged, true},
	{"[TOOL_CALLS]", "", (*reader).mistral, true},
	{"<|python_start|>", "<|python_end|>", (*reader).llama, false},
	{"<|python_tag|>", "", (*reader).llama, false},
	{"<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", (*reader).kimi, false},
	{"<|tool_call_begin|>", "<|tool_call_end|>", (*reader).kimi, false},
	{"<｜DSML｜function_calls>", "</｜DSML｜function_calls>", (*reader).dsml, false},
	{"<｜DSML｜tool_calls>", "</｜DSML｜tool_calls>", (*reader).dsml, false},
	{"<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", (*reader).deepseek, false},
	{"<|start|>assistant", endCall, (*reader).harmony, false},
	{"<|channel|>", endCall, (*reader).harmony, false},
}

// fence matches the line that begins or ends a code block.
var fence = lazyregexp.New("^ {0,3}(```+|~~~+)")

// marks returns the first marks in text that are not in code or a quotation, at most n.
func marks(text string, n int) []mark {
	var all []mark
	open, at := "", 0
	for line := range strings.Lines(text) {
		if f := fence.FindStringSubmatch(line); f != nil {
			switch {
			case open == "":
				open = f[1]
			case strings.HasPrefix(f[1], open) && strings.TrimSpace(strings.TrimLeft(line, " `~")) == "":
				open = ""
			}
		} else if open == "" {
			all = append(all, lineMarks(line, at)...)
		}
		if at += len(line); len(all) > n {
			return all[:n]
		}
	}
	return all
}

// lineMarks returns the marks of a line, which is at a place of the text.
func lineMarks(line string, at int) []mark {
	indented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
	if indented || strings.HasPrefix(strings.TrimSpace(line), ">") {
		return nil
	}
	var all []mark
	for _, s := range shapes {
		for i := 0; ; {
			n := strings.Index(line[i:], s.token)
			if n < 0 {
				break
			}
			i += n
			if strings.Count(line[:i], "`")%2 == 0 && (!s.plain || begins(line[:i])) {
				all = append(all, mark{at + i, strings.TrimSpace(line[:i]) == "", s})
			}
			i += len(s.token)
		}
	}
	slices.SortStableFunc(all, func(a, b mark) int { return a.at - b.at })
	return all
}

// begins reports whether a call may begin after before, the beginning of its line: a call
// that continues a sentence is quoted.
func begins(before string) bool {
	before = strings.TrimRight(before, " \t")
	if before == "" {
		return true
	}
	for _, end := range []string{".", "!", "?", ":", "…", "。", "！", "？", "：", "</think>"} {
		if strings.HasSuffix(before, end) {
			return true
		}
	}
	return false
}

// meant reports whether a call that cannot be read was surely meant: m begins a line, and
// nothing follows its end. Text that an answer only quotes is seldom its end.
func (m mark) meant(text string) bool {
	text = text[m.at:]
	channel := m.shape.close == endCall && !strings.Contains(text, recipient)
	if !m.first || channel {
		return false
	}
	last := strings.LastIndex(text, m.shape.close)
	if m.shape.close == "" || last < 0 {
		return true
	}
	after := strings.TrimSpace(text[last+len(m.shape.close):])
	return after == "" || strings.HasPrefix(after, "</") || strings.HasPrefix(after, "<|")
}
