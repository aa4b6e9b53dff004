// Package record keeps a whole conversation. The viewer shows it in the pager, for the
// parts that the screen shortened. It guarantees a bounded size, however long the
// session: it drops the oldest entries first, with a note.
package record

import (
	"fmt"
	"os"
	"strings"

	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/markdown"
	"github.com/bb2d0cf4/agent/internal/repl/pager"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

const (
	// maxBytes bounds the text kept.
	maxBytes = 8 << 20
	// maxRead bounds the bytes of output files read for one page.
	maxRead = 64 << 20
)

// kind distinguishes entries.
type kind int

const (
	prompt kind = iota
	answer
	thought
	call
	added
)

// entry is one event of the conversation.
type entry struct {
	kind   kind
	text   string // the title of a call
	output string
	file   string // holds the complete output if output is only a part
	// load, if not nil, returns the output, which takes about stored bytes.
	load   func() string
	stored int
	diffs  string
	plan   string // an accepted one, in Markdown
	folded bool   // the screen showed only a part
	state  State
}

func (e *entry) size() int {
	return len(e.text) + len(e.output) + e.stored + len(e.diffs) + len(e.plan) + 64
}

// State is how a call ended.
type State int

// States of a call. A refused one was declined by a person or a rule.
const (
	Done State = iota
	Failed
	Refused
)

// StateOf returns the state of a call; one that was refused counts as failed, too.
func StateOf(failed, refused bool) State {
	switch {
	case refused:
		return Refused
	case failed:
		return Failed
	}
	return Done
}

// mark returns the mark of a call, which is that of the screen.
func (s State) mark() string { return [...]string{Done: "●", Failed: "✗", Refused: "○"}[s] }

func (s State) style(st theme.Styles) theme.Style {
	return [...]theme.Style{Done: st.Good, Failed: st.Bad, Refused: st.Warn}[s]
}

// Call is a completed tool call.
type Call struct {
	Title  string
	Output string
	// File holds the complete output if Output is only a part of it.
	File string
	// Load, if not nil, returns the output, of about Stored bytes.
	Load   func() string
	Stored int
	// Diffs are the unified diffs of its changes.
	Diffs []string
	// Plan is an accepted plan, in Markdown.
	Plan string
	// Folded reports that the screen showed only a part.
	Folded bool
	State  State
}

// Record is a conversation. It is not safe for concurrent use.
type Record struct {
	entries []entry
	bytes   int
	dropped int // number of entries dropped
}

// Prompt adds a prompt of the user.
func (r *Record) Prompt(text string) { r.add(entry{kind: prompt, text: text}) }

// Answer adds an answer of the model, in Markdown.
func (r *Record) Answer(text string) { r.add(entry{kind: answer, text: text}) }

// Thought adds reasoning of the model; folded reports that the screen showed only a part.
func (r *Record) Thought(text string, folded bool) {
	r.add(entry{kind: thought, text: text, folded: folded})
}

// Context adds text of the program for the model that accompanied a prompt.
func (r *Record) Context(text string) { r.add(entry{kind: added, text: text}) }

// Call adds a tool call.
func (r *Record) Call(c Call) {
	r.add(entry{
		kind: call, text: c.Title, output: c.Output, file: c.File, load: c.Load, stored: c.Stored, diffs: strings.Join(c.Diffs, ""), plan: c.Plan, folded: c.Folded, state: c.State,
	})
}

// Reset drops all entries.
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
		r.entries = append([]entry(nil), r.entries[cut:]...) // a copy, to free the old array
	}
}

// Page returns a function that lays out the conversation, starting at the last folded output.
// The function may be slow, because it reads files, and is independent of the record.
func (r *Record) Page() func() pager.Page {
	entries, dropped := append([]entry(nil), r.entries...), r.dropped
	return func() pager.Page { return page(entries, dropped) }
}

func page(entries []entry, dropped int) pager.Page {
	docs := make([][]pager.Doc, len(entries))
	at, room := -1, int64(maxRead)
	for i := len(entries) - 1; i >= 0; i-- { // read the newest outputs
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
	return pager.Page{Title: "The full conversation", Doc: pager.Join(all...), At: line}
}

// docs lays out an entry after a blank line.
func (e *entry) docs(room *int64) []pager.Doc {
	switch e.kind {
	case prompt:
		return []pager.Doc{blank, e.head("❯", user, user)}
	case answer:
		text := e.text
		return []pager.Doc{blank, pager.Block(text, func(look theme.Look) []string {
			return markdown.Render(text, markdown.Options{Width: look.Width, NoColor: look.NoColor})
		})}
	case added:
		return []pager.Doc{blank, pager.Text("Sent to the model with this prompt:"), pager.Text(e.text)}
	case thought:
		return []pager.Doc{blank, pager.Text("The model thought:"), pager.Text(e.text)}
	case call:
	}
	docs := []pager.Doc{blank, e.head(e.state.mark(), e.state.style, accent)}
	if text := e.whole(room); text != "" {
		docs = append(docs, pager.Text(text))
	}
	if e.diffs != "" {
		docs = append(docs, diffview.Doc(e.diffs))
	}
	if e.plan != "" {
		docs = append(docs, blank, pager.Marked(e.plan))
	}
	return docs
}

var blank = pager.Text("")

func user(st theme.Styles) theme.Style   { return st.User }
func accent(st theme.Styles) theme.Style { return st.Accent }

// head returns the text after a mark, each in its style.
func (e *entry) head(mark string, marked, style func(theme.Styles) theme.Style) pager.Doc {
	text := strings.TrimSpace(e.text)
	return pager.Block(text, func(look theme.Look) []string {
		rows := theme.Wrap(sanitize.Text(text), "", look.Width-2)
		before := theme.Paint(marked(look.Styles), mark) + " "
		for i, row := range rows {
			rows[i] = before + theme.Paint(style(look.Styles), row)
			before = "  "
		}
		return rows
	})
}

// whole returns the output of a call, from its file if there is one and room allows.
func (e *entry) whole(room *int64) string {
	if e.load != nil {
		return e.load()
	}
	if e.file == "" {
		return e.output
	}
	info, err := os.Stat(e.file)
	if err == nil && info.Size() > *room {
		err = fmt.Errorf("too large to show at once: %s", e.file)
	}
	var data []byte
	if err == nil {
		*room -= info.Size()
		data, err = os.ReadFile(e.file)
	}
	if err != nil {
		return e.output + "\n(full output: " + err.Error() + ")"
	}
	return string(data)
}
