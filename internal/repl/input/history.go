package input

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// History keeps what was submitted.
type History interface {
	// Entries returns what was submitted, oldest first.
	Entries() ([]string, error)
	// Add appends an entry.
	Add(entry string) error
}

// recall walks through the history and searches it.
type recall struct {
	history History
	loaded  bool
	entries []string
	err     error

	walking bool
	edits   int    // of the text, when the entry was put there
	at      int    // the entry; len(entries) is what was typed
	prefix  string // what the entries begin with
	draft   buffer // what was typed

	searching bool
	query     string
	found     int // the entry on the prompt; len(entries): none
}

// load reads the history when it is first needed.
func (r *recall) load() {
	if r.loaded || r.history == nil {
		return
	}
	r.loaded = true
	old, err := r.history.Entries()
	if err != nil {
		r.err = err
	}
	r.entries = append(old, r.entries...)
}

// add remembers a submitted text, unless it repeats the last one.
func (r *recall) add(text string) {
	if strings.TrimSpace(text) == "" || len(r.entries) > 0 && r.entries[len(r.entries)-1] == text {
		return
	}
	r.entries = append(r.entries, text)
	if r.history == nil {
		return
	}
	if err := r.history.Add(text); err != nil && r.err == nil {
		r.err = err
	}
}

// walks says whether an entry is on the prompt that nobody has edited.
func (r *recall) walks(t *text) bool { return r.walking && r.edits == t.edits }

// walk puts the next older (-1) or newer (1) entry on the prompt. Entries that do
// not begin with what stood before the cursor are passed over.
func (r *recall) walk(t *text, step int) Action {
	r.load()
	if !r.walks(t) {
		if step > 0 {
			return Ignored
		}
		r.at, r.prefix = len(r.entries), plain(t.gs[:t.at])
		r.draft = buffer{gs: slices.Clone(t.gs), at: t.at}
	}
	shown := plain(t.gs)
	for at := r.at + step; at >= 0 && at < len(r.entries); at += step {
		if entry := r.entries[at]; strings.HasPrefix(entry, r.prefix) && entry != shown {
			t.replace(entry)
			r.walking, r.at, r.edits = true, at, t.edits
			return Handled
		}
	}
	if step > 0 {
		t.edit(other, func() { t.buffer = r.draft })
		r.walking, r.draft = false, buffer{}
	}
	return Handled
}

// startSearch opens the search through the history.
func (r *recall) startSearch(t *text) {
	r.load()
	r.searching, r.query, r.found = true, "", len(r.entries)
	r.draft = buffer{gs: slices.Clone(t.gs), at: t.at}
}

// key handles a key while the search is open. Enter and Tab take what was found; keys
// that are none of the search's do so too, and then what they always do.
func (r *recall) key(t *text, key tea.KeyPressMsg) (Action, bool) {
	switch name := key.Keystroke(); {
	case isText(key):
		r.query += key.Text
		r.search(t, min(r.found, len(r.entries)-1))
	case name == "backspace", name == "ctrl+h":
		gs := glyphs(r.query)
		r.query = plain(gs[:max(0, len(gs)-1)])
		r.search(t, len(r.entries)-1)
	case name == "ctrl+r":
		r.search(t, min(r.found, len(r.entries))-1)
	case name == "esc", name == "ctrl+g", name == "ctrl+c":
		r.searching = false
		t.edit(other, func() { t.buffer = r.draft })
	default:
		r.searching = false
		return Handled, name == "enter" || name == "tab"
	}
	return Handled, true
}

// search shows the newest entry from at on back that holds the query.
func (r *recall) search(t *text, at int) {
	if r.query == "" {
		return
	}
	for ; at >= 0; at-- {
		if r.holds(at) {
			r.found = at
			t.replace(r.entries[at])
			return
		}
	}
	if !r.holds(r.found) {
		r.found = len(r.entries)
	}
}

func (r *recall) holds(at int) bool {
	return at < len(r.entries) && strings.Contains(strings.ToLower(r.entries[at]), strings.ToLower(r.query))
}

// prompt is the line below the text while the search is open.
func (r *recall) prompt(width int, st style) string {
	label := "search the history: "
	if r.query != "" && r.found >= len(r.entries) {
		label = "not in the history: "
	}
	return ansi.Truncate(st.dim(label)+sanitize.Line(r.query), width, "…")
}

// Store is where a FileHistory lives: a file of its own.
type Store interface {
	Read() ([]byte, error)        // all of it; nil if there is none yet
	Append(line []byte) error     // in one write
	Replace(content []byte) error // at once
}

// FileHistory is a History in a file: one entry a line, as a JSON string. Several
// programs may append to it at the same time.
type FileHistory struct {
	store Store
	limit int
	torn  bool // the file does not end in a newline
}

// maxEntry is the longest entry that is written, in bytes: a paste that is longer
// than that belongs to the session alone.
const maxEntry = 64 << 10

// NewHistory returns the history in store. Of more than limit entries the oldest are
// forgotten, not at once, but before there are twice as many.
func NewHistory(store Store, limit int) *FileHistory {
	return &FileHistory{store: store, limit: max(1, limit)}
}

// Entries returns what was submitted, oldest first. Lines that are no entries (a
// write that was cut) are passed over.
func (h *FileHistory) Entries() ([]string, error) {
	data, err := h.store.Read()
	if err != nil {
		return nil, err
	}
	h.torn = len(data) > 0 && data[len(data)-1] != '\n'
	var entries []string
	for line := range bytes.Lines(data) {
		var entry string
		if json.Unmarshal(line, &entry) == nil {
			entries = append(entries, entry)
		}
	}
	if len(entries) <= h.limit {
		return entries, nil
	}
	entries = entries[len(entries)-h.limit:]
	if len(entries)+h.limit > bytes.Count(data, []byte{'\n'}) {
		return entries, nil
	}
	return entries, h.rewrite(entries)
}

func (h *FileHistory) rewrite(entries []string) error {
	var data []byte
	for _, entry := range entries {
		line, err := encode(entry)
		if err != nil {
			return err
		}
		data = append(data, line...)
	}
	h.torn = false
	return h.store.Replace(data)
}

// Add appends an entry. One of more than 64 KiB is not kept.
func (h *FileHistory) Add(entry string) error {
	if len(entry) > maxEntry {
		return nil
	}
	line, err := encode(entry)
	if err != nil {
		return err
	}
	if h.torn {
		line = append([]byte{'\n'}, line...)
		h.torn = false
	}
	return h.store.Append(line)
}

func encode(entry string) ([]byte, error) {
	line, err := json.Marshal(entry)
	return append(line, '\n'), err
}
