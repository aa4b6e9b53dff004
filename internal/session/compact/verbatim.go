package compact

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// verbatim holds the parts that no model writes, unchanged as far as there is room.
type verbatim struct {
	ledger, pinned, prompt string
	short                  bool // a part is shortened
}

// verbatim returns the verbatim parts of the compacted items, and of the current prompt
// if it is compacted; done are further deeds.
func (r Room) verbatim(items []history.Item, prompt string, done ...history.Deed) verbatim {
	var e verbatim
	var whole bool
	e.ledger, whole = Ledger(append(deedsOf(items), done...), r.ledger())
	e.short = !whole
	e.prompt = e.within(prompt, r.words())
	left := max(r.words()-len(e.prompt), r.words()/4)
	var pinned []string
	for i := len(items) - 1; i >= 0; i-- { // newest first: they are the last to be shortened
		if items[i].Pinned {
			s := e.within(items[i].Message.UserText(), max(left, shortEntry))
			left -= len(s)
			pinned = append([]string{s}, pinned...)
		}
	}
	e.pinned = strings.Join(pinned, "\n\n---\n\n")
	return e
}

// within returns s, marked and with its middle cut out if it has more than n bytes.
func (e *verbatim) within(s string, n int) string {
	if len(s) <= n {
		return s
	}
	e.short = true
	return shortened + "\n" + history.Clip(s, n)
}

func (e verbatim) size() int { return len(e.ledger) + len(e.pinned) + len(e.prompt) }

// fileNote returns the sentence that names the file with the full text.
func fileNote(file string) string {
	s := "\nWhat is marked " + shortened + " below, or left out, stands word for word in "
	if file == "" {
		return s + "the session's file, which only the user can read: ask where it matters.\n"
	}
	return s + file + ": look there with read_file before you rely on it.\n"
}

// WithFullFile returns c with another file for the full text.
func WithFullFile(c history.Compaction, file string) history.Compaction {
	if c.Replaces() {
		head := opening + c.Summary + endOfSummary
		c.Text = head + strings.Replace(strings.TrimPrefix(c.Text, head), fileNote(c.FullFile), fileNote(file), 1)
	}
	c.FullFile = file
	return c
}

// FullText returns all deeds of items, all prompts, and the results that c cuts, word for
// word, for a model whose reading tool cuts very long lines.
func FullText(items []history.Item, c history.Compaction) string {
	var b strings.Builder
	b.WriteString("A line that ends in \"" + goesOn + "\" is one with the next.\n\n# What was changed, run and refused, in order\n")
	for _, d := range deedsOf(items) {
		b.WriteString("\n" + entry(d) + "\n")
	}
	b.WriteString("\n# What the user said, in order\n")
	n := 0
	for _, it := range items {
		if !it.Prompts() {
			continue
		}
		n++
		pinned := ""
		if it.Pinned {
			pinned = ", pinned"
		}
		fmt.Fprintf(&b, "\n## %d%s\n\n%s\n", n, pinned, history.Fenced("", it.Message.UserText()))
	}
	results(&b, items, c)
	return breakLines(b.String())
}

// results writes the results that c cuts.
func results(b *strings.Builder, items []history.Item, c history.Compaction) {
	calls, none := map[string]llm.ToolCall{}, true
	for _, it := range items[history.At(items, c.Before):] {
		for _, call := range it.Message.Calls {
			calls[call.ID] = call
		}
		if !c.Cuts(it) {
			continue
		}
		if none {
			b.WriteString("\n# Results of calls that were cut, in order\n")
			none = false
		}
		call := calls[it.Message.CallID]
		fmt.Fprintf(b, "\n## %s\n\n%s %s\n%s\n", history.ResultTitle(it), call.Name, call.Args, history.Fenced("", it.Message.Text()))
	}
}

// longestLine is the maximum length of a line in bytes; goesOn ends a line that is
// continued.
const (
	longestLine = 1500
	goesOn      = " [the line continues]"
)

// breakLines breaks the very long lines of s.
func breakLines(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		for len(line) > longestLine {
			n := longestLine
			for !utf8.RuneStart(line[n]) {
				n--
			}
			b.WriteString(line[:n] + goesOn + "\n")
			line = line[n:]
		}
		b.WriteString(line)
	}
	return b.String()
}
