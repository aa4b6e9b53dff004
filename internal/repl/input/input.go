// Package input is the prompt: a line editor with history and completion. It guarantees that
// the cost of a key depends only on the size of the text, that a paste of any size stays
// small on the screen and arrives whole, and that text is shown without control characters.
//
// The text belongs to package edit, which differs from common text areas in its unit: a paste
// is one glyph, which the cursor steps over, Backspace deletes and undo restores.
package input

import (
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/repl/input/edit"
	"github.com/bb2d0cf4/agent/internal/repl/input/vi"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// Action is the effect of a key.
type Action int

// The effects of a key.
const (
	Ignored Action = iota // not a key of the prompt
	Handled
	Submit // the text is complete: call Take
)

// Command is an entry of the palette that opens on a leading slash.
type Command struct {
	Name string // with the slash
	Args string // arguments for the reader; empty if it takes none
	Help string
}

// Images creates placeholders for images.
type Images interface {
	// Attach returns the placeholder for the image at a pasted or typed path, if there is
	// one.
	Attach(path string) (mark string, ok bool)
}

// Options configures an Editor. All fields are optional.
type Options struct {
	// Commands returns the palette. It is called on keys, so it must return at once.
	Commands func() []Command
	// Files returns completions for @, best first, folders with a trailing slash. It is
	// called on keys, so it must return at once.
	Files func(query string) []string
	// Remark describes what Files leaves out; empty for nothing.
	Remark  func() string
	History History
	Images  Images // nil for no images
	Shell   bool   // a leading ! makes a command line
	Vi      bool   // use the keys of vi
	NoColor bool
	Keys    keys.Map
	Suggest string // shown until the first submission
}

// Editor is the text at the prompt.
type Editor struct {
	text   edit.Text
	past   recall
	list   completion
	view   view
	images Images
	keys   keys.Map
	vi     *vi.Mode // nil for the default keys
	seen   int      // version of the text that the list shows
}

// view is the state of drawing.
type view struct {
	shell  bool // a leading ! is visible
	style  style
	width  int
	top    int // first visible row
	goal   int // target column of Up and Down
	goalOf int // version of the text that goal belongs to

	suggest string // for an empty prompt
}

// New returns an empty Editor.
func New(opt Options) *Editor {
	if opt.Commands == nil {
		opt.Commands = func() []Command { return nil }
	}
	if opt.Remark == nil {
		opt.Remark = func() string { return "" }
	}
	e := &Editor{
		images: opt.Images,
		keys:   opt.Keys,
		past:   recall{history: opt.History, keys: opt.Keys},
		list:   completion{commands: opt.Commands, files: opt.Files, remark: opt.Remark, closed: -1},
		view:   view{shell: opt.Shell, style: style{noColor: opt.NoColor}, width: 80, goalOf: -1, suggest: sanitize.Line(opt.Suggest)},
	}
	if opt.Vi {
		e.vi = &vi.Mode{}
	}
	return e
}

// commanding reports whether keys are vi commands now.
func (e *Editor) commanding() bool { return e.vi != nil && e.vi.Normal() }

// maxPath is the maximum length of an attached path.
const maxPath = 4096

// Paste inserts pasted text. It shows a paste of more than 10 lines or 2,000 characters as a
// placeholder, which Take expands and Backspace deletes.
func (e *Editor) Paste(text string) {
	e.put(text, e.text.Put)
}

// put inserts text with do, unless it names an image.
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

// Insert puts text back before the present text, on its own lines. It shows typed lines as
// they are, and folds only a very long text.
func (e *Editor) Insert(text string) { e.insert(text, (*edit.Text).Give) }

// InsertPrompt is Insert for a prompt: Enter sends it as a prompt, even if it looks like a
// command, until its first character is deleted.
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

// Append adds text after the present text, on its own lines, and moves the cursor to its end.
func (e *Editor) Append(text string) {
	t := &e.text
	t.MoveTo(len(t.Gs))
	e.put("\n"+text, func(s string) { t.Give(s) })
}

// AsPrompt reports whether the text is a prompt although it looks like a command.
func (e *Editor) AsPrompt() bool {
	gs := e.text.Gs
	return len(gs) > 0 && gs[0].Folded
}

// InsertWord inserts a word at the cursor, as if typed, with a blank on each side.
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

// Take returns the text with its pastes expanded, adds it to the history and clears the
// prompt.
func (e *Editor) Take() string {
	text := e.Text()
	e.view.suggest = ""
	if e.AsPrompt() && strings.HasPrefix(text, "!") {
		e.past.add(" "+text, nil) // so that recalling it runs nothing
	} else {
		e.past.add(text, e.text.WithPastes())
	}
	if e.images != nil {
		e.text.MarkWords(func(word string) (string, bool) { return e.attached(word) })
		text = e.Text()
	}
	e.Reset()
	return text
}

// acts reports whether the text is a command line or a slash command, in which a path is an
// argument.
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
	return slices.ContainsFunc(e.list.commands(), func(c Command) bool { return c.Name == name })
}

// attached returns the placeholder for the image that text names.
func (e *Editor) attached(text string) (mark string, ok bool) {
	if e.images == nil || len(text) > maxPath || e.acts() {
		return "", false
	}
	return e.images.Attach(text)
}

// Text returns the text with its pastes expanded.
func (e *Editor) Text() string { return edit.Plain(e.text.Gs) }

// Source returns the text as shown, with placeholders, for an external editor.
func (e *Editor) Source() string { return edit.Source(e.text.Gs) }

// Replace replaces the text. Placeholders in it keep their meaning if they are at the prompt
// now.
func (e *Editor) Replace(text string) {
	e.text.Set(edit.Parse(edit.Tidy(text), e.text.Gs))
	e.follow()
}

// Sign returns the label of the prompt, which shows what Enter does with the text.
func (e *Editor) Sign() string {
	switch {
	case e.commanding():
		return "❮ "
	case e.Runs():
		return "$ "
	}
	return "❯ "
}

// Runs reports whether the text is a command line: it begins with a visible !, not one in a
// folded paste or after blanks.
func (e *Editor) Runs() bool {
	gs := e.text.Gs
	return e.view.shell && len(gs) > 0 && gs[0].Text == "!" && !gs[0].Folded
}

// Empty reports whether there is no text.
func (e *Editor) Empty() bool { return len(e.text.Gs) == 0 }

// Drop clears the prompt. ↑ brings the text back.
func (e *Editor) Drop() {
	if text := e.Text(); strings.TrimSpace(text) != "" {
		draft := e.text.Clone()
		e.past.load()
		e.past.push(Entry{Text: text, Here: true, draft: true, typed: &draft})
	}
	e.Reset()
}

// Reset clears the prompt. Cut text can still be yanked.
func (e *Editor) Reset() {
	e.text.Reset()
	if e.vi != nil {
		e.vi.Reset()
	}
	e.view.top = 0
	e.past.search.open = false
	e.follow()
}

// Version changes with the text.
func (e *Editor) Version() int { return e.text.Version() }

// NamesChanged refreshes the list of completions: what Options.Files or Options.Commands
// returns has changed.
func (e *Editor) NamesChanged() {
	if !e.past.search.open {
		e.list.refresh(&e.text.Buffer)
	}
}

// Completing reports whether Esc would close a list or a search.
func (e *Editor) Completing() bool { return e.past.search.open || e.list.open() }

// Err returns the first error of the history, once.
func (e *Editor) Err() error {
	err := e.past.err
	e.past.err = nil
	return err
}

// View returns the prompt at the given width, at most maxLines rows around the cursor, then
// at most maxLines rows of an open list, and the cursor's position, 0-based, in cells.
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
		lines[0] = e.suggestion(width)
	}
	cursorX, cursorY = edit.Column(t.Gs, rs[row], t.At, width), row-top
	if e.past.search.open {
		return append(lines, e.past.prompt(width, e.view.style)), cursorX, cursorY
	}
	return append(lines, e.list.draw(width, maxLines, e.view.style)...), cursorX, cursorY
}
