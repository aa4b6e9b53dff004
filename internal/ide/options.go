package ide

import (
	"math/rand/v2"
	"time"

	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/lock"
)

// Options configures a Bridge.
type Options struct {
	// Search says where to look for editors. Connect says how to connect; its
	// Events are the Bridge's own.
	Search  lock.Search
	Connect client.Options
	// Auto connects to the best editor at the start and again when it was lost.
	Auto bool
	// Diffs shows proposals in the editor.
	Diffs bool
	// Inline shows them in the document itself, where the editor can do that.
	Inline bool
	// Alone says that no terminal can answer: a diff that is closed by hand is then
	// a no.
	Alone bool
	Tell  Tell
	Face  Face
	// May says whether the model may be told of a file; nil: of all. Read returns a
	// file's text.
	May   func(path string) bool
	Read  func(path string) (string, error)
	Clock Clock
}

// Tell says what State holds.
type Tell struct{ Tabs, Diagnostics, Selection bool }

// Face is told what a person should see. Its functions must not block; a nil one
// is left out. Texts are not sanitised.
type Face struct {
	// Note sets the remark on the question with the given id; "" removes it.
	Note func(id, text string)
	// Mention puts a file into the prompt; lines are 1-based, 0 for all of it.
	Mention func(path string, start, end int)
	// Changed says that Status or the selection is another one now.
	Changed func()
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

// Clock replaces what time depends on; zero fields stand for the real ones.
type Clock struct {
	// Wall is the time of day, which goes on while the machine sleeps.
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
