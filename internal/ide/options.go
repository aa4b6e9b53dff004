package ide

import (
	"math/rand/v2"
	"time"

	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/lock"
)

// Options configures a Bridge.
type Options struct {
	// Search configures where to look for editors, Connect how to connect; the Bridge
	// sets its Events.
	Search  lock.Search
	Connect client.Options
	// Auto connects to the best editor at the start, and again after a loss.
	Auto bool
	// Diffs shows proposals in the editor.
	Diffs bool
	// Inline shows proposals in the document itself, in editors that can do that.
	Inline bool
	// Unattended means that no terminal can answer: closing a diff by hand is then a no.
	Unattended bool
	Tell       Tell
	Face       Face
	// May reports whether the model may see a file; nil allows all. Read returns a file's
	// text.
	May   func(path string) bool
	Read  func(path string) (string, error)
	Clock Clock
}

// Tell selects the parts of State.
type Tell struct{ Tabs, Diagnostics, Selection bool }

// Face shows things to a person. Its functions must not block; each may be nil. Texts
// are not sanitized.
type Face struct {
	// Note sets the remark on the question with the given id; "" removes it.
	Note func(id, text string)
	// Mention puts a file into the prompt; lines are 1-based, 0 for all of it.
	Mention func(path string, start, end int)
	// Changed is called when Status or the selection has changed.
	Changed func()
	// Linked is called when a link has been made, and when none is looked for any longer.
	Linked func()
}

func (f Face) note(id, text string) {
	if f.Note != nil {
		f.Note(id, text)
	}
}

func (f Face) changed() {
	if f.Changed != nil {
		f.Changed()
	}
}

func (f Face) linked() {
	if f.Linked != nil {
		f.Linked()
	}
}

// Clock replaces the sources of time and chance; a zero field means the real one.
type Clock struct {
	// Wall returns the time of day, which runs on while the machine sleeps.
	Wall func() time.Time
	// Jitter returns a number in [0, 1).
	Jitter func() float64
}

func (c Clock) withDefaults() Clock {
	if c.Wall == nil {
		c.Wall = func() time.Time { return time.Now().Round(0) }
	}
	if c.Jitter == nil {
		c.Jitter = rand.Float64
	}
	return c
}
