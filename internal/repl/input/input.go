// Package input is the prompt: a line editor with history and completion. It
// guarantees that a key costs no more than the text on the prompt, that a paste of
// any size stays small on the screen and arrives whole, and that whatever was typed
// or pasted is shown without control characters.
//
// The text is that of package edit: an editor of its own, and not the common text area, because of the unit that
// it edits: a paste is one glyph, which the cursor steps over, Backspace deletes and
// undo brings back.
package input

import (
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/repl/input/edit"
	"github.com/bb2d0cf4/agent/internal/repl/input/vi"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// Action says what a key came to.
type Action int

// The actions.
const (
	Ignored Action = iota // the key is none of the prompt's
	Handled
	Submit // the text is complete: Take it
)

// Command is an entry of the palette that opens on a leading slash.
type Command struct {
	Name string // with the slash
	Args string // what follows it, for the reader; empty for a command without arguments
	Help string
}

// Images makes placeholders for images.
type Images interface {
	// Attach returns the placeholder for a path that was pasted or typed, if there is
	// one for it. A placeholder stands for itself.
	Attach(path string) (mark string, ok bool)
}

// Options configures an Editor. All fields may be zero.
type Options struct {
	Commands []Command
	// Files returns the names that @ completes, the best first; those of folders end
	// in a slash. It is called on keys, so it has to return at once.
	Files   func(query string) []string
	History History
	Images  Images // nil: none are attached
	Shell   bool   // a leading ! makes it a command line
	Vi      bool   // the keys of vi
	NoColor bool
	// Search puts the user's own keys into the hint of the search for older prompts;
	// nil: they are the usual ones.
	Search  func(hint string) string
	Suggest string // shown while nothing was ever entered
	Take    string // what the key is called that takes it, as → does
}

// Editor is the text at the prompt.
type Editor struct {
	text   edit.Text
	past   recall
	list   completion
	view   view
	images Images
	vi     *vi.Mode // nil: other keys
	seen   int      // version of the text that the list follows
}

// view is how the prompt was last drawn.
type view struct {
	shell  bool // a leading ! is shown
	style  style
	width  int
	top    int // first row in sight
	goal   int // column that Up and Down head for
	goalOf int // version of the text that goal belongs to

	suggest string // on an empty prompt
	take    string // the key that takes it
}

// New returns an empty Editor.
func New(opt Options) *Editor {
	e := &Editor{
		images: opt.Images,
		past:   recall{history: opt.History, rename: opt.Search},
		list:   completion{commands: opt.Commands, files: opt.Files, closed: -1},
		view:   view{shell: opt.Shell, style: style{noColor: opt.NoColor}, width: 80, goalOf: -1, suggest: sanitize.Line(opt.Suggest), take: opt.Take},
	}
	if opt.Vi {
		e.vi = &vi.Mode{}
	}
	return e
}

// commanding says whether keys are commands of vi now.
func (e *Editor) commanding() bool { return e.vi != nil && e.vi.Normal() }

// maxPath is the length of the longest path that is attached.
const maxPath = 4096

// Paste inserts pasted text. A paste of more than 10 lines or 2,000 characters is
// shown as a placeholder, which Take expands and Backspace deletes whole.
func (e *Editor) Paste(text string) {
	e.put(text, e.text.Put)
}

// put inserts text, by do if it names no image.
func (e *Editor) put(text string, do func(string)) {
	if text = edit.Tidy(text); text == "" {
		return
	}
	e.past.search.open = false
	if mark, ok := e.attached(text); ok {
		e.text.PutMark(mark)
	} else {
		do(text)
	}
	e.follow()
}

// Insert gives text back to the prompt: before what is there, on lines of its own.
// What was typed in many lines is shown, and only a very long text folded.
func (e *Editor) Insert(text string) { e.insert(text, (*edit.Text).Give) }

// InsertPrompt is Insert for a prompt: Enter sends it as one, although it may begin
// like a command, until its first character is deleted.
func (e *Editor) InsertPrompt(text string) { e.insert(text, (*edit.Text).GivePrompt) }

func (e *Editor) insert(text string, give func(*edit.Text, string)) {
	t := &e.text
	behind := len(t.Gs) - t.At
	if len(t.Gs) > 0 {
		text = strings.TrimRight(text, "\n") + "\n"
	}
	t.MoveTo(0)
	e.put(text, func(s string) { give(t, s) })
	t.MoveTo(len(t.Gs) - behind)
	e.follow()
}

// Append puts text behind what is there, on lines of its own, and the cursor behind it.
func (e *Editor) Append(text string) {
	t := &e.text
	t.MoveTo(len(t.Gs))
	e.put("\n"+text, func(s string) { t.Give(s) })
}

// AsPrompt reports whether the text is a prompt although it begins like a command.
func (e *Editor) AsPrompt() bool {
	gs := e.text.Gs
	return len(gs) > 0 && gs[0].Folded
}

// InsertWord puts a word at the cursor as if typed there, with a blank on each side.
func (e *Editor) InsertWord(word string) {
	t := &e.text
	if t.At > 0 && !t.Gs[t.At-1].IsSpace() {
		word = " " + word
	}
	if t.At == len(t.Gs) || !t.Gs[t.At].IsSpace() {
		word += " "
	}
	e.put(word, func(s string) { t.Give(s) })
}

// Take returns the text with its pastes expanded, adds it to the history and
// empties the prompt.
func (e *Editor) Take() string {
	text := e.Text()
	e.view.suggest = ""
	if e.AsPrompt() && strings.HasPrefix(text, "!") {
		e.past.add(" " + text) // so that it runs nothing when it is back
	} else {
		e.past.add(text)
	}
	if e.images != nil {
		e.text.MarkWords(func(word string) (string, bool) { return e.attached(word) })
		text = e.Text()
	}
	e.Reset()
	return text
}

// acts says whether the text is a command line or a slash command, in which a path is
// an argument.
func (e *Editor) acts() bool {
	gs := e.text.Gs
	if len(gs) == 0 || gs[0].Folded || gs[0].Text != "!" && gs[0].Text != "/" {
		return false
	}
	if gs[0].Text == "!" {
		return e.view.shell
	}
	end := slices.IndexFunc(gs, edit.Glyph.IsSpace)
	if end < 0 {
		end = len(gs)
	}
	name := edit.Plain(gs[:end])
	return slices.ContainsFunc(e.list.commands, func(c Command) bool { return c.Name == name })
}

// attached returns the placeholder for what text names.
func (e *Editor) attached(text string) (mark string, ok bool) {
	if e.images == nil || len(text) > maxPath || e.acts() {
		return "", false
	}
	return e.images.Attach(text)
}

// Text returns the text with its pastes expanded.
func (e *Editor) Text() string { return edit.Plain(e.text.Gs) }

// Source returns the text as it is shown, placeholders and all, for an editor that is
// not ours.
func (e *Editor) Source() string { return edit.Source(e.text.Gs) }

// Replace puts text in the place of all that is there. Placeholders in it stand for
// what they stood for, if they are on the prompt now.
func (e *Editor) Replace(text string) {
	e.text.Set(edit.Parse(edit.Tidy(text), e.text.Gs))
	e.follow()
}

// Sign is what stands before the prompt: it says what Enter will do with the text.
func (e *Editor) Sign() string {
	switch {
	case e.commanding():
		return "❮ "
	case e.Runs():
		return "$ "
	}
	return "❯ "
}

// Runs says whether the text of e is a command line: it begins with a ! that is in sight,
// not with one in a folded paste or behind blanks.
func (e *Editor) Runs() bool {
	gs := e.text.Gs
	return e.view.shell && len(gs) > 0 && gs[0].Text == "!" && !gs[0].Folded
}

// Empty says whether there is no text.
func (e *Editor) Empty() bool { return len(e.text.Gs) == 0 }

// Drop empties the prompt. ↑ brings back what stood there.
func (e *Editor) Drop() {
	if text := e.Text(); strings.TrimSpace(text) != "" {
		draft := e.text.Clone()
		e.past.load()
		e.past.push(Entry{Text: text, Here: true, draft: &draft})
	}
	e.Reset()
}

// Reset empties the prompt. What was cut can still be yanked.
func (e *Editor) Reset() {
	e.text.Reset()
	if e.vi != nil {
		e.vi.Reset()
	}
	e.view.top = 0
	e.past.search.open = false
	e.follow()
}

// Searching says whether the search through the history is open.
func (e *Editor) Searching() bool { return e.past.search.open }

// Version changes with the text.
func (e *Editor) Version() int { return e.text.Version() }

// Completing says whether a list or a search is open that Esc would close.
func (e *Editor) Completing() bool { return e.past.search.open || e.list.open() }

// Err returns, once, the first error of reading or writing the history.
func (e *Editor) Err() error {
	err := e.past.err
	e.past.err = nil
	return err
}

// View returns the prompt at the given width, at most maxLines rows around the
// cursor, then the rows of an open list, at most maxLines too. The cursor's
// position is 0-based, in cells.
func (e *Editor) View(width, maxLines int) (lines []string, cursorX, cursorY int) {
	width, maxLines = max(1, width), max(1, maxLines)
	e.view.width = width
	t := &e.text
	rs := edit.Rows(t.Gs, width)
	row := edit.RowOf(rs, t.At)
	top := min(e.view.top, max(0, len(rs)-maxLines))
	top = min(max(top, row-maxLines+1), row)
	e.view.top = top
	st := edit.Styles{Folded: e.view.style.dim, Hit: e.view.style.hit}
	if e.past.search.open {
		st.Marked = e.past.search.hit
	} else if e.vi != nil {
		if from, to, ok := e.vi.Selected(t); ok {
			st.Marked = edit.Row{Start: from, End: to}
		}
	}
	for _, r := range rs[top:min(len(rs), top+maxLines)] {
		lines = append(lines, edit.Draw(t.Gs, r, width, st))
	}
	if e.Empty() && e.view.suggest != "" && !e.past.search.open {
		lines[0] = e.view.suggestion(width)
	}
	cursorX, cursorY = edit.Column(t.Gs, rs[row], t.At, width), row-top
	if e.past.search.open {
		return append(lines, e.past.prompt(width, e.view.style)), cursorX, cursorY
	}
	return append(lines, e.list.draw(width, maxLines, e.view.style)...), cursorX, cursorY
}
