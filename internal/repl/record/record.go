// Package record keeps what was said and done in a conversation, so that it can be
// read again whole where the screen showed only a part. It guarantees that it holds
// no more than a bounded number of bytes, however long the session gets: what is
// oldest goes first, and the record says so.
package record

import (
	"fmt"
	"os"
	"strings"

	"github.com/bb2d0cf4/agent/internal/repl/markdown"
	"github.com/bb2d0cf4/agent/internal/repl/pager"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

const (
	// maxBytes is how much text is kept.
	maxBytes = 8 << 20
	// maxRead is how much of the outputs that lie in files is read for one page.
	maxRead = 64 << 20
)

// kind is what an entry is.
type kind int

const (
	prompt kind = iota
	answer
	call
	told
)

// entry is one thing that was said or done.
type entry struct {
	kind   kind
	text   string // of a call: its title
	output string
	file   string // holds the whole output, if there is more than output
	diffs  string
	folded bool // the screen did not show all of it
}

func (e *entry) size() int { return len(e.text) + len(e.output) + len(e.diffs) + 64 }

// Call is a tool call that has ended.
type Call struct {
	Title  string
	Output string
	// File holds the output from its beginning, where Output lacks a part of it.
	File string
	// Diffs are the unified diffs of what it changed.
	Diffs []string
	// Folded says that the screen did not show all of this.
	Folded bool
}

// Record is the conversation. It belongs to one goroutine.
type Record struct {
	entries []entry
	bytes   int
	dropped int // entries that are no longer kept
}

// Prompt adds what the user said.
func (r *Record) Prompt(text string) { r.add(entry{kind: prompt, text: text}) }

// Answer adds what the model said, in Markdown.
func (r *Record) Answer(text string) { r.add(entry{kind: answer, text: text}) }

// Told adds what the program told the model beside a prompt.
func (r *Record) Told(text string) { r.add(entry{kind: told, text: text}) }

// Call adds a tool call.
func (r *Record) Call(c Call) {
	r.add(entry{
		kind: call, text: c.Title, output: c.Output, file: c.File, diffs: strings.Join(c.Diffs, ""), folded: c.Folded,
	})
}

// Reset forgets everything.
func (r *Record) Reset() { *r = Record{} }

func (r *Record) add(e entry) {
	r.entries = append(r.entries, e)
	r.bytes += e.size()
	cut := 0
	for ; r.bytes > maxBytes && cut < len(r.entries)-1; cut++ {
		r.bytes -= r.entries[cut].size()
	}
	if cut > 0 {
		r.dropped += cut
		r.entries = append([]entry(nil), r.entries[cut:]...) // the array of the old ones goes, too
	}
}

// Page returns a function that lays the conversation out for reading, from the last
// output that the screen had no room for. It may be slow, as it reads files, and is
// independent of the record.
func (r *Record) Page() func() pager.Page {
	entries, dropped := append([]entry(nil), r.entries...), r.dropped
	return func() pager.Page { return page(entries, dropped) }
}

func page(entries []entry, dropped int) pager.Page {
	docs := make([][]pager.Doc, len(entries))
	at, room := -1, int64(maxRead)
	for i := len(entries) - 1; i >= 0; i-- { // the newest outputs are those that are read
		docs[i] = entries[i].docs(&room)
		if entries[i].folded && at < 0 {
			at = i
		}
	}
	var all []pager.Doc
	if dropped > 0 {
		all = append(all, pager.Text(fmt.Sprintf("… %d earlier entries are not kept here. /export writes the whole conversation.", dropped)))
	}
	line := -1
	for i, d := range docs {
		if i == at {
			line = pager.Join(all...).Len()
		}
		all = append(all, pager.Join(d...))
	}
	return pager.Page{Title: "The conversation, whole", Doc: pager.Join(all...), At: line}
}

// docs lays out an entry, a blank line before it.
func (e *entry) docs(room *int64) []pager.Doc {
	switch e.kind {
	case prompt:
		return []pager.Doc{blank, e.head("❯ ", func(st theme.Styles) theme.Style { return st.User })}
	case answer:
		text := e.text
		return []pager.Doc{blank, pager.Block(text, func(look theme.Look) []string {
			return markdown.Render(text, markdown.Options{Width: look.Width, NoColor: look.NoColor})
		})}
	case told:
		return []pager.Doc{blank, pager.Text("Told to the model with this prompt:"), pager.Text(e.text)}
	case call:
	}
	docs := []pager.Doc{blank, e.head("● ", func(st theme.Styles) theme.Style { return st.Accent })}
	if text := e.whole(room); text != "" {
		docs = append(docs, pager.Text(text))
	}
	if e.diffs != "" {
		docs = append(docs, pager.Diff(e.diffs))
	}
	return docs
}

var blank = pager.Text("")

// head is text that stands out, behind a mark.
func (e *entry) head(mark string, style func(theme.Styles) theme.Style) pager.Doc {
	text := strings.TrimSpace(e.text)
	return pager.Block(text, func(look theme.Look) []string {
		rows := theme.Wrap(sanitize.Text(text), "", look.Width-2)
		before := mark
		for i, row := range rows {
			rows[i] = theme.Paint(style(look.Styles), before+row)
			before = "  "
		}
		return rows
	})
}

// whole returns the output of a call, from its file if there is one and room for it.
func (e *entry) whole(room *int64) string {
	if e.file == "" {
		return e.output
	}
	info, err := os.Stat(e.file)
	if err == nil && info.Size() > *room {
		err = fmt.Errorf("too much to be shown at once: %s", e.file)
	}
	var data []byte
	if err == nil {
		*room -= info.Size()
		data, err = os.ReadFile(e.file)
	}
	if err != nil {
		return e.output + "\n(the whole output: " + err.Error() + ")"
	}
	return string(data)
}
