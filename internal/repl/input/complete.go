package input

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/fuzzy"
	"github.com/bb2d0cf4/agent/internal/repl/input/edit"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// completion is the list below the prompt: of commands while a leading /word is typed, of
// files while an @word is.
type completion struct {
	commands func() []Command
	files    func(query string) []string
	remark   func() string // see Options

	said     string // below the items
	items    []item
	selected int
	top      int // first visible item
	start    int // glyph at the start of the word
	closed   int // start of the word whose list the user closed, or -1
}

// item is an entry of the list.
type item struct {
	insert string // replaces the word
	label  string
	help   string
	run    bool   // a command without required arguments
	into   string // inserted by Tab instead: a folder, to continue from
}

func (c *completion) open() bool { return len(c.items) > 0 }

// close hides the list until another word begins.
func (c *completion) close() { c.items, c.said, c.closed = nil, "", c.start }

// update opens, narrows and closes the list as the text changes.
func (c *completion) update(b *edit.Buffer) {
	start, query := mention(b)
	word := edit.Plain(b.Gs[start:b.At])
	c.items, c.said, c.start, c.selected, c.top = nil, "", start, 0, 0
	switch {
	case word == "" || word[0] != '/' && word[0] != '@':
		c.closed = -1
		return
	case c.closed == start:
		return
	case word[0] == '/' && start == 0 && !b.Gs[0].Folded:
		c.items = c.matchCommands(word)
	case word[0] == '@' && c.files != nil:
		c.items, c.said = c.matchFiles(query), sanitize.Line(c.remark())
	}
}

// refresh lists the entries again; the selected one stays selected.
func (c *completion) refresh(b *edit.Buffer) {
	top, selected := c.top, ""
	if c.open() {
		selected = c.items[c.selected].label
	}
	c.update(b)
	c.top = top
	c.selected = max(0, slices.IndexFunc(c.items, func(it item) bool { return it.label == selected }))
	c.top = min(c.top, c.selected)
}

// at begins a name, quote a name with blanks.
const at, quote = "@", `"`

// mention returns the start of the word before the cursor and, if it is an @name, the name so
// far. A name with blanks is quoted.
func mention(b *edit.Buffer) (start int, name string) {
	first := b.LineStart() // once, because it scans the line
	for i := b.At - 2; i >= first; i-- {
		if b.Gs[i+1].Text == quote {
			if b.Gs[i].Text == at && (i == 0 || b.Gs[i-1].IsSpace()) {
				return i, edit.Plain(b.Gs[i+2 : b.At])
			}
			break // a closed quote, or an unrelated one
		}
	}
	if start = b.BlankLeft(); start < b.At && b.Gs[b.At-1].IsSpace() {
		start = b.At
	}
	return start, strings.TrimPrefix(edit.Plain(b.Gs[start:b.At]), "@")
}

// matchCommands lists the commands that begin with word, then those that contain its letters
// in order.
func (c *completion) matchCommands(word string) []item {
	var first, then []item
	for _, cmd := range c.commands() {
		it := item{insert: cmd.Name + " ", label: strings.TrimSpace(cmd.Name + " " + cmd.Args), help: cmd.Help}
		if strings.HasPrefix(cmd.Name, word) {
			it.run = cmd.Args == ""
			first = append(first, it)
		} else if fuzzy.Has(word, cmd.Name) {
			then = append(then, it)
		}
	}
	return append(first, then...)
}

// matchFiles lists the best matching files and folders.
func (c *completion) matchFiles(query string) []item {
	var out []item
	for _, path := range c.files(query) {
		if sanitize.Line(path) != path || strings.Contains(path, `"`) {
			continue // cannot be typed
		}
		it := item{insert: "@" + path + " ", label: path, into: "@" + path}
		if strings.ContainsAny(path, " \t") {
			it.insert, it.into = `@"`+path+`" `, `@"`+path
		}
		if !strings.HasSuffix(path, "/") {
			it.into = ""
		}
		out = append(out, it)
	}
	return out
}

// key handles an action while the list is open.
func (c *completion) key(t *edit.Text, a keys.Action) (Action, bool) {
	switch a {
	case keys.Previous:
		c.selected = (c.selected + len(c.items) - 1) % len(c.items)
	case keys.Next:
		c.selected = (c.selected + 1) % len(c.items)
	case keys.Stop:
		c.close()
	case keys.Complete:
		c.accept(t, cmp.Or(c.items[c.selected].into, c.items[c.selected].insert))
	case keys.Send:
		return c.enter(t), true
	default:
		return Ignored, false
	}
	return Handled, true
}

// enter inserts the selected entry. It submits a command without required arguments, and one
// typed in full.
func (c *completion) enter(t *edit.Text) Action {
	it := c.items[c.selected]
	typedOut := c.start == 0 && edit.Plain(t.Gs[:t.At])+" " == it.insert
	c.accept(t, it.insert)
	if !it.run && !typedOut {
		return Handled
	}
	t.Drop(t.At-1, t.At) // the blank for arguments
	return Submit
}

// accept replaces the word with text.
func (c *completion) accept(t *edit.Text, text string) {
	t.Edit(edit.Other, func() {
		t.Remove(c.start, t.At)
		t.Insert(edit.Glyphs(text)...)
		if next := t.At; next < len(t.Gs) && strings.HasSuffix(text, t.Gs[next].Text) {
			t.Remove(next, next+1) // an existing blank or quote
		}
	})
	c.items, c.said = nil, ""
}

// draw returns the rows of the list, at most height. The last one counts the entries below,
// if they do not fit. The remark, if any, is below them.
func (c *completion) draw(width, height int, st style) []string {
	if c.said != "" && height > 1 {
		return append(c.drawItems(width, height-1, st), cells.Truncate(st.dim("  "+c.said), width, "…"))
	}
	return c.drawItems(width, height, st)
}

func (c *completion) drawItems(width, height int, st style) []string {
	if !c.open() {
		return nil
	}
	if len(c.items) > height && height > 1 {
		height--
		rows := c.rows(width, height, st)
		if below := len(c.items) - c.top - height; below > 0 {
			rows = append(rows, cells.Truncate(st.dim(fmt.Sprintf("  … %d more ↓", below)), width, "…"))
		}
		return rows
	}
	return c.rows(width, height, st)
}

// rows returns the entries around the selected one.
func (c *completion) rows(width, height int, st style) []string {
	c.top = min(max(c.top, c.selected-height+1), c.selected)
	end := min(len(c.items), c.top+height)
	pad := 0
	for _, it := range c.items[c.top:end] {
		if it.help != "" {
			pad = max(pad, cells.Width(it.label)+2)
		}
	}
	var out []string
	for i, it := range c.items[c.top:end] {
		label, mark := it.label, "  "
		if it.help != "" {
			label += strings.Repeat(" ", pad-cells.Width(label))
		}
		if c.top+i == c.selected {
			mark, label = st.accent("› "), st.accent(label)
		}
		out = append(out, cells.Truncate(mark+label+st.dim(it.help), width, "…"))
	}
	return out
}
