package input

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/repl/input/edit"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// History stores submitted texts.
type History interface {
	// Entries returns the submitted texts, oldest first.
	Entries() ([]Entry, error)
	// Add appends an entry.
	Add(text string) error
}

// Entry is a submitted text. Here reports whether it was submitted in this project.
type Entry struct {
	Text string
	Here bool

	draft bool         // was not submitted
	typed *edit.Buffer // with its placeholders, if known
}

// recall walks and searches the history.
type recall struct {
	history History
	loaded  bool
	entries []Entry // other projects' first, then this project's, each oldest first
	others  int     // number of entries of other projects
	err     error
	failing bool // an error has been reported

	stand
	search finder
	keys   keys.Map
}

// stand is the position of ↑ and ↓.
type stand struct {
	walking bool
	edits   int         // of the text, when the entry was inserted
	at      int         // index of the entry; len(entries) for the draft
	prefix  string      // common prefix of the visited entries
	draft   edit.Buffer // the text typed
}

// load reads the history on first use.
func (r *recall) load() {
	if r.loaded || r.history == nil {
		return
	}
	r.loaded = true
	old, err := r.history.Entries()
	if err != nil {
		r.err = err
	}
	for _, e := range old {
		if !e.Here {
			r.entries = slices.Insert(r.entries, r.others, e)
			r.others++
		}
	}
	here := slices.DeleteFunc(old, func(e Entry) bool { return !e.Here })
	r.entries = slices.Insert(r.entries, r.others, here...)
}

// add appends a submitted text, unless it repeats the last one. typed is the text with its
// placeholders, or nil.
func (r *recall) add(text string, typed *edit.Buffer) {
	if strings.TrimSpace(text) == "" || !r.push(Entry{Text: text, Here: true, typed: typed}) || r.history == nil {
		return
	}
	err := r.history.Add(text)
	if !r.failing && r.err == nil {
		r.err = err
	}
	r.failing = err != nil
}

// push appends an entry and reports whether it differs from the last one; a draft that is
// finally submitted is new.
func (r *recall) push(e Entry) bool {
	n := len(r.entries)
	if n == 0 || r.entries[n-1].Text != e.Text {
		r.entries = append(r.entries, e)
		return true
	}
	was := r.entries[n-1]
	if e.draft && !was.draft {
		return false
	}
	r.entries[n-1] = e
	return was.draft
}

// walks reports whether the prompt shows an unedited entry.
func (r *recall) walks(t *edit.Text) bool { return r.walking && r.edits == t.Edits() }

// walk shows the next older (-1) or newer (1) entry that begins with the text before the
// cursor.
func (r *recall) walk(t *edit.Text, step int) Action {
	r.load()
	if !r.walks(t) {
		if step > 0 {
			return Ignored
		}
		r.at, r.prefix = len(r.entries), edit.Plain(t.Gs[:t.At])
		r.draft = t.Clone()
	}
	shown := edit.Plain(t.Gs)
	for at := r.at + step; at >= 0 && at < len(r.entries); at += step {
		if text := r.entries[at].Text; strings.HasPrefix(text, r.prefix) && text != shown {
			r.entries[at].put(t)
			r.walking, r.at, r.edits = true, at, t.Edits()
			return Handled
		}
	}
	if step > 0 {
		t.Set(r.draft)
		r.walking, r.draft = false, edit.Buffer{}
	}
	return Handled
}

// put shows an entry at the prompt.
func (e Entry) put(t *edit.Text) {
	if e.typed == nil {
		t.Replace(e.Text)
		return
	}
	t.Set(edit.Buffer{Gs: slices.Clone(e.typed.Gs), At: len(e.typed.Gs)})
}

// finder searches the history.
type finder struct {
	open  bool
	all   bool // in all projects
	query string
	found int // the entry at the prompt, or -1
	hit   edit.Row
	draft edit.Buffer // the text typed
}

// startSearch opens the search, in this project's history if there is any.
func (r *recall) startSearch(t *edit.Text) {
	r.load()
	r.search = finder{open: true, all: r.others == len(r.entries), found: -1, draft: t.Clone()}
}

// key handles a key, whose action is a, while the search is open. Those that send or complete accept
// the match; so do keys unknown to the search, which then have their usual effect.
func (r *recall) key(t *edit.Text, key tea.KeyPressMsg, a keys.Action) (Action, bool) {
	s := &r.search
	newest := len(r.entries) - 1
	switch {
	case isText(key):
		s.query += key.Text
		if s.found >= 0 {
			newest = s.found
		}
		r.find(t, newest)
	case a == keys.SearchDelete:
		gs := edit.Glyphs(s.query)
		s.query = edit.Plain(gs[:max(0, len(gs)-1)])
		r.find(t, newest)
	case a == keys.SearchOlder:
		if s.found >= 0 {
			newest = s.found - 1
		}
		r.find(t, newest)
	case a == keys.SearchScope:
		s.all = !s.all
		s.found = -1
		r.find(t, newest)
	case a == keys.SearchClose, a == keys.Interrupt:
		s.open = false
		t.Set(s.draft)
	default:
		s.open = false
		t.MoveTo(len(t.Gs))
		return Handled, a == keys.Send || a == keys.Complete
	}
	return Handled, true
}

// find shows the newest match from entry at backwards, within the scope. It skips repeated
// texts.
func (r *recall) find(t *edit.Text, at int) {
	s := &r.search
	if s.query == "" {
		s.hit = edit.Row{}
		return
	}
	shown := ""
	if at < s.found {
		shown = r.entries[s.found].Text
	}
	for ; at >= r.oldest(); at-- {
		if text := r.entries[at].Text; text != shown && holds(text, s.query) {
			s.found = at
			r.entries[at].put(t)
			s.hit = mark(t, s.query)
			return
		}
	}
	if s.found >= 0 && !holds(r.entries[s.found].Text, s.query) {
		s.found, s.hit = -1, edit.Row{}
	}
}

// oldest returns the first entry of the scope.
func (r *recall) oldest() int {
	if r.search.all {
		return 0
	}
	return r.others
}

func holds(text, query string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(query))
}

// mark returns the position of the query in the text, and moves the cursor there.
func mark(t *edit.Text, query string) edit.Row {
	q := edit.Glyphs(query)
	for i := 0; i+len(q) <= len(t.Gs); i++ {
		same := func(a, b edit.Glyph) bool { return strings.EqualFold(a.Text, b.Text) }
		if slices.EqualFunc(t.Gs[i:i+len(q)], q, same) {
			t.At = i + len(q)
			return edit.Row{Start: i, End: i + len(q)}
		}
	}
	return edit.Row{}
}

// prompt returns the line below the text while the search is open.
func (r *recall) prompt(width int, st style) string {
	s := &r.search
	scope, other := "this project", "all"
	if s.all {
		scope, other = "all projects", "this project"
	}
	label := "search " + scope + ": "
	if s.query != "" && s.found < 0 {
		label = "not in " + scope + ": "
	}
	k := r.keys
	help := " · " + k.Hint("older", keys.SearchOlder) + " · " + k.Hint(other, keys.SearchScope) + " · " + k.Hint("", keys.SearchClose)
	return cells.Truncate(st.dim(label)+sanitize.Line(s.query)+st.dim(help), width, "…")
}
