package compact

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// exact is what no model writes: it stands as it was, as far as there is room.
type exact struct {
	ledger, pinned, prompt string
	short                  bool // not all of it is whole
}

// exact returns what is to be kept of items, which are gone, and of the prompt at
// hand, if it is gone, too; done are further deeds.
func (r Room) exact(items []history.Item, prompt string, done ...history.Deed) exact {
	var e exact
	var whole bool
	e.ledger, whole = Ledger(append(deedsOf(items), done...), r.ledger())
	e.short = !whole
	e.prompt = e.within(prompt, r.words())
	left := max(r.words()-len(e.prompt), r.words()/4)
	var pinned []string
	for i := len(items) - 1; i >= 0; i-- { // the newest whole rather than others
		if items[i].Pinned {
			s := e.within(items[i].Message.UserText(), max(left, shortEntry))
			left -= len(s)
			pinned = append([]string{s}, pinned...)
		}
	}
	e.pinned = strings.Join(pinned, "\n\n---\n\n")
	return e
}

// within returns s, cut in its middle and marked if it has more than n bytes.
func (e *exact) within(s string, n int) string {
	if len(s) <= n {
		return s
	}
	e.short = true
	return shortened + "\n" + history.Clip(s, n)
}

func (e exact) size() int { return len(e.ledger) + len(e.pinned) + len(e.prompt) }

// where says where the whole text is of what is shortened.
func where(file string) string {
	s := "\nWhat is marked " + shortened + " below, or left out, stands word for word in "
	if file == "" {
		return s + "the session's file, which only the user can read: ask where it matters.\n"
	}
	return s + file + ": look there with read_file before you rely on it.\n"
}

// WithFullFile returns c with another file for what it shortens.
func WithFullFile(c history.Compaction, file string) history.Compaction {
	head := opening + c.Summary + endOfSummary
	c.Text = head + strings.Replace(strings.TrimPrefix(c.Text, head), where(c.FullFile), where(file), 1)
	c.FullFile = file
	return c
}

// FullText is all that was done in items and all that the user said, word for word,
// for a model to read with a tool that shows a part of a very long line only.
func FullText(items []history.Item) string {
	var b strings.Builder
	b.WriteString("A line that ends in \"" + goesOn + "\" is one with the next.\n\n# What was changed, run and refused, in order\n")
	for _, d := range deedsOf(items) {
		b.WriteString("\n" + entry(d) + "\n")
	}
	b.WriteString("\n# What the user said, in order\n")
	n := 0
	for _, it := range items {
		if it.Message.Role != llm.User {
			continue
		}
		n++
		pinned := ""
		if it.Pinned {
			pinned = ", pinned"
		}
		fmt.Fprintf(&b, "\n## %d%s\n\n%s\n", n, pinned, history.Fenced("", it.Message.UserText()))
	}
	return broken(b.String())
}

// A line has longestLine bytes at most; goesOn is at its end if it was broken there.
const (
	longestLine = 1500
	goesOn      = " [the line goes on]"
)

// broken returns s with its very long lines broken.
func broken(s string) string {
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
