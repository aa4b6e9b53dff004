package repl

import (
	"time"

	"github.com/bb2d0cf4/agent/internal/repl/desktop"
	"github.com/bb2d0cf4/agent/internal/repl/input"
	"github.com/bb2d0cf4/agent/internal/repl/jobcontrol"
	"github.com/bb2d0cf4/agent/internal/repl/printer"
	"github.com/bb2d0cf4/agent/internal/repl/screen"
	"github.com/bb2d0cf4/agent/internal/repl/stream"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

// model is the state of the interface. Bubble Tea's event loop owns it and all of its parts.
type model struct {
	opt   *Options
	inbox *stream.Inbox

	scr     window
	look    theme.Look
	ed      *input.Editor
	out     *printer.Printer
	sched   *scheduler
	ask     *questions
	strokes *strokes
	menu    *menu
	view    *viewer

	resizes  int  // number of size changes
	resizing bool // the last one is too recent to draw
	tidying  bool // a reprint is on its way
	onAlt    bool // the last view covered the screen

	quitAt time.Time // time of a first Ctrl+C
	quits  bool      // the last line was /quit, while commands run in the background
	hint   hint      // replaces the status line until the next key
}

// hint is a line for the user, or the short list of keys.
type hint struct {
	text  string
	keys  bool
	again bool // pressing the same key again carries out the text
	quits bool // it lasts as long as the same key again quits
	// leaves means that it names the commands that end when the person leaves.
	leaves bool
}

// window is the terminal with its title and notifications.
type window struct {
	*screen.Screen
	desk *desktop.Desktop
	sigs *jobcontrol.Signals
	now  func() time.Time
}

// announce shows the state outside the text.
func (w window) announce(s desktop.State, what string) { w.Send(w.desk.Show(s, what, w.now())) }
