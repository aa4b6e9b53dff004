// Package diffview renders a proposed change or command for a person to judge.
package diffview

import (
	"io/fs"
	"time"
)

// Change is a proposed new content of one file.
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
	Width   int // columns
	Dark    bool
	NoColor bool
	Context int // unchanged lines around a change; 0 means 3
}

// View is a change rendered for a panel.
type View struct{ opt Options }

// New prepares c for display.
func New(c Change, o Options) *View { return &View{opt: o} }

// Header returns the lines that have to be on the screen before an answer is
// possible: what happens to which file, and every warning.
func (v *View) Header() []string { return nil }

// Len returns the number of lines of the body.
func (v *View) Len() int { return 0 }

// Lines returns at most height lines of the body from line offset (0-based).
func (v *View) Lines(offset, height int) []string { return nil }

// Expand shows all unchanged lines, or folds them again.
func (v *View) Expand(all bool) {}

// Expanded says whether all unchanged lines are shown.
func (v *View) Expanded() bool { return false }

// Resize sets the width in columns.
func (v *View) Resize(width int) {}

// Counts returns the number of added and removed lines.
func (v *View) Counts() (added, removed int) { return 0, 0 }

// Summary returns the lines for the scrollback after the change was accepted: the
// header, then at most 12 lines of the diff.
func (v *View) Summary() []string { return nil }

// Summarize renders the unified diff of a committed change as Summary does.
func Summarize(name, unified string, o Options) []string { return nil }

// Command is a command line to be approved.
type Command struct {
	Line       string
	Dir        string
	Timeout    time.Duration
	Background bool
	Notes      []string
}

// CommandView is a command rendered for a panel. It is never cut.
type CommandView struct{ opt Options }

// NewCommand prepares c for display.
func NewCommand(c Command, o Options) *CommandView { return &CommandView{opt: o} }

// Header returns the lines that have to be on the screen before an answer is possible.
func (v *CommandView) Header() []string { return nil }

// Len returns the number of lines of the body.
func (v *CommandView) Len() int { return 0 }

// Lines returns at most height lines of the body from line offset (0-based).
func (v *CommandView) Lines(offset, height int) []string { return nil }

// Resize sets the width in columns.
func (v *CommandView) Resize(width int) {}

// Summary returns the lines for the scrollback after the command was approved.
func (v *CommandView) Summary() []string { return nil }
