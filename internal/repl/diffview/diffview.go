// Package diffview renders a proposed change or command for a person to judge. It
// guarantees that what is shown can be relied on: every changed line is shown whole
// (wrapped, never cut), characters that hide something are made visible and counted
// in the header, changes that cannot be seen (white space, line endings, the final
// newline) are named and made visible, and a command is shown as it will be run. A
// view costs what its visible lines cost, whatever the size of the file.
package diffview

import (
	"fmt"
	"io/fs"

	"github.com/bb2d0cf4/agent/internal/diff"
)

// Change is a proposed new content of one file. Its texts are not sanitised.
type Change struct {
	Name   string // as shown to the user
	Before string
	After  string
	Exists bool // false: the file is new
	Delete bool // the file is to be removed

	Encoding string // "" and "utf-8" are not mentioned
	BOM      bool
	Mode     fs.FileMode
	Notes    []string // remarks that the reviewer must see
}

// Options say for which terminal to render, and how.
type Options struct {
	Width   int  // columns
	NoColor bool // no escape sequences
	Tint    bool // added and deleted lines have a background, over the whole width
	Context int  // unchanged lines around a change; 0 means 3
	Layout  Layout
	Whole   string // the key that shows what a summary leaves out; empty: none
}

// Layout says how the old and the new text are placed.
type Layout int

// The layouts.
const (
	Auto    Layout = iota // side by side where there is room for it
	Unified               // one below the other
	Split                 // side by side, wherever it can be read at all
)

// LayoutOf returns the layout of a name: "unified", "split", or Auto for all others.
func LayoutOf(name string) Layout {
	switch name {
	case "unified":
		return Unified
	case "split":
		return Split
	}
	return Auto
}

const (
	wide   = 140 // columns from which on Auto is side by side
	narrow = 60  // columns below which nothing is
)

// split says whether the texts are side by side.
func (o Options) split() bool {
	return o.Layout == Split && o.Width >= narrow || o.Layout == Auto && o.Width >= wide
}

const (
	defaultContext = 3
	summaryLines   = 12
)

// View is a change rendered for a panel. It belongs to one goroutine.
type View struct {
	change Change
	opt    Options
	diff   *diff.Diff
	all    bool // unchanged lines are shown
	hunks  *Hunks
	header []string
	body   body
	last   window
}

// window keeps what Lines returned last: a panel asks again each frame.
type window struct {
	offset, height int
	lines          []string
}

// New prepares c for display.
func New(c Change, o Options) *View {
	if o.Context == 0 {
		o.Context = defaultContext
	}
	if c.Delete {
		c.After = ""
	}
	v := &View{change: c, opt: o, diff: diff.Lines(c.Before, c.After)}
	v.body.painter = newPainter(c.Name, o, sliceSource(v.diff.A), sliceSource(v.diff.B))
	v.body.painter.showCR = mixedEndings(c.Before, c.After)
	v.hunks = newHunks(v)
	v.body.painter.hunks = v.hunks
	v.build()
	return v
}

func (v *View) build() {
	context := v.opt.Context
	if v.all {
		context = max(len(v.diff.A), len(v.diff.B))
	}
	v.body.rows = foldedRows(v.diff.Hunks(context), v.diff.A)
	v.hunks.number(v.body.rows)
	v.layout()
}

// layout fits the view to its width.
func (v *View) layout() {
	v.body.layout(v.opt)
	v.head()
	v.last = window{}
}

// head makes the header, of what is kept.
func (v *View) head() {
	c, d := v.change, v.diff
	out := v.hunks.Out()
	if len(out) > 0 {
		c.After = v.hunks.Text()
		d = diff.Lines(c.Before, c.After)
	}
	v.header = changeHeader(c, d, v.opt)
	if len(out) > 0 {
		text := fmt.Sprintf("%d of %d hunks left out: they stay as they are", len(out), v.hunks.Len())
		v.header = append(v.header, warningLines(text, v.opt)...)
	}
}

// Header returns the lines that have to be on the screen before an answer is
// possible: what happens to which file, and every warning.
func (v *View) Header() []string { return v.header }

// Len returns the number of terminal lines of the body.
func (v *View) Len() int { return v.body.len() }

// Changed returns the number of terminal lines of the body up to the last one that
// changes.
func (v *View) Changed() int { return v.body.changed() }

// Lines returns at most height lines of the body from line offset (0-based).
func (v *View) Lines(offset, height int) []string {
	if v.last.lines == nil || v.last.offset != offset || v.last.height != height {
		v.last = window{offset: offset, height: height, lines: v.body.lines(offset, height)}
	}
	return v.last.lines
}

// Expand shows all unchanged lines, or folds them again. Offsets into the body are
// not valid after it.
func (v *View) Expand(all bool) {
	if v.all != all {
		v.all = all
		v.build()
	}
}

// Expanded says whether all unchanged lines are shown.
func (v *View) Expanded() bool { return v.all }

// Resize sets the width in columns.
func (v *View) Resize(width int) {
	if width != v.opt.Width {
		v.opt.Width = width
		v.layout()
	}
}

// Split says whether the texts are side by side now.
func (v *View) Split() bool { return v.opt.split() }

// Arrange places the texts in another way. Offsets into the body are not valid after
// it.
func (v *View) Arrange(l Layout) {
	v.opt.Layout = l
	v.layout()
}

// Counts returns the number of added and removed lines.
func (v *View) Counts() (added, removed int) { return v.diff.Counts() }

// Hunks returns the places that the change touches.
func (v *View) Hunks() *Hunks { return v.hunks }
