// Package diffview renders a proposed change or command for a person to judge. It guarantees
// that the display is reliable: every changed line appears whole (wrapped, never cut);
// characters that hide something are made visible and counted in the header; invisible
// changes (white space, line endings, the final newline) are named and made visible; and a
// command appears exactly as it will run. The cost of a view depends on its visible lines,
// not on the size of the file.
package diffview

import (
	"fmt"
	"io/fs"

	"github.com/bb2d0cf4/agent/internal/diff"
)

// Change is the proposed content of one file. Its texts are not sanitized.
type Change struct {
	Name   string // for the user
	Before string
	After  string
	Exists bool   // false for a new file
	Delete bool   // remove the file
	To     string // the name that the file gets by a move; empty if it stays
	Size   int64  // bytes of the file before

	Encoding string // "" and "utf-8" are not mentioned
	BOM      bool
	Mode     fs.FileMode
	Notes    []string // remarks that the reviewer must see
	Revised  bool     // it follows a refused proposal, which Since shows
	Since    bool     // Before is the refused proposal
}

// Options describes the terminal and the layout.
type Options struct {
	Width   int  // columns
	NoColor bool // no escape sequences
	Tint    bool // color the background of added and deleted lines, over the full width
	Context int  // unchanged lines around a change; 0 means 3
	Layout  Layout
	Whole   string // the key that shows the omitted part of a summary; empty for none
}

// Layout is the arrangement of the old and the new text.
type Layout int

// The layouts.
const (
	Auto    Layout = iota // side by side if the terminal is wide enough
	Unified               // one below the other
	Split                 // side by side unless the terminal is too narrow to read
)

// LayoutOf returns the layout with the given name: "unified", "split", or Auto for any other.
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
	wide   = 140 // minimum columns for Auto to split
	narrow = 60  // minimum columns for Split
)

// split reports whether the texts are side by side.
func (o Options) split() bool {
	return o.Layout == Split && o.Width >= narrow || o.Layout == Auto && o.Width >= wide
}

const (
	defaultContext = 3
	summaryLines   = 12
)

// View renders a change for a panel. It is not safe for concurrent use.
type View struct {
	change Change
	opt    Options
	diff   *diff.Diff
	all    bool // show unchanged lines
	hunks  *Hunks
	header []string
	body   body
	last   window
}

// window caches the last result of Lines: a panel asks for it every frame.
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

// layout lays out the view for its width.
func (v *View) layout() {
	v.body.layout(v.opt)
	v.head()
	v.last = window{}
}

// head renders the header for the hunks that are kept.
func (v *View) head() {
	c, d := v.change, v.diff
	out := v.hunks.Out()
	if len(out) > 0 {
		c.After = v.hunks.Text()
		d = diff.Lines(c.Before, c.After)
	}
	v.header = changeHeader(c, d, v.opt)
	if len(out) > 0 {
		text := fmt.Sprintf("%d of %d hunks left out: they stay unchanged", len(out), v.hunks.Len())
		v.header = append(v.header, warningLines(text, v.opt)...)
	}
}

// Header returns the lines that must be on the screen before an answer is possible: the file,
// what happens to it, and all warnings.
func (v *View) Header() []string { return v.header }

// Len returns the number of terminal lines of the body.
func (v *View) Len() int { return v.body.len() }

// Changed returns the number of terminal lines of the body up to the last change.
func (v *View) Changed() int { return v.body.changed() }

// Begin returns the line of the body from which height lines show the first hunk, or as much
// of it as fits below a few unchanged lines: zero if it is there from the top.
func (v *View) Begin(height int) int { return v.body.begin(height) }

// Lines returns at most height lines of the body from line offset (0-based).
func (v *View) Lines(offset, height int) []string {
	if v.last.lines == nil || v.last.offset != offset || v.last.height != height {
		v.last = window{offset: offset, height: height, lines: v.body.lines(offset, height)}
	}
	return v.last.lines
}

// Expand shows or folds all unchanged lines. It invalidates offsets into the body.
func (v *View) Expand(all bool) {
	if v.all != all {
		v.all = all
		v.build()
	}
}

// Expanded reports whether all unchanged lines are shown.
func (v *View) Expanded() bool { return v.all }

// Resize sets the width in columns.
func (v *View) Resize(width int) {
	if width != v.opt.Width {
		v.opt.Width = width
		v.layout()
	}
}

// Split reports whether the texts are side by side now.
func (v *View) Split() bool { return v.opt.split() }

// Splits reports whether the width has room for the texts side by side.
func (v *View) Splits() bool { return v.opt.Width >= narrow }

// Arrange changes the layout. It invalidates offsets into the body.
func (v *View) Arrange(l Layout) {
	v.opt.Layout = l
	v.layout()
}

// Counts returns the number of added and removed lines.
func (v *View) Counts() (added, removed int) { return v.diff.Counts() }

// Hunks returns the hunks of the change.
func (v *View) Hunks() *Hunks { return v.hunks }
