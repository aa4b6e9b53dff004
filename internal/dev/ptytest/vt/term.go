// Package vt models a terminal for tests. It guarantees that it behaves like the common
// terminals for the sequences it knows, and counts all others, so that a test can
// require that none occur.
package vt

import "strings"

// Rewrap is what happens to lines when the terminal gets narrower.
type Rewrap int

// Kinds of terminals.
const (
	RewrapAll    Rewrap = iota // lines that are too wide continue on the next row, and join again
	RewrapOthers               // the same, but the line with the cursor is cut
	RewrapNone                 // all lines are cut
)

// Options describes a terminal.
type Options struct {
	Width, Height int // default 80×24
	Rewrap        Rewrap
	// NarrowEmoji makes characters that are wide only by a variation selector one
	// cell wide, as older terminals do.
	NarrowEmoji bool
	// WideLines makes box drawing and other characters of ambiguous width two cells wide,
	// as terminals set up for East Asian text do.
	WideLines bool
	// NoSync makes the terminal ignore synchronised output, NoKitty the Kitty keyboard
	// protocol.
	NoSync, NoKitty bool
	Background      string // answer to OSC 11; default "rgb:0000/0000/0000"
	// Reply receives the terminal's answers to queries; nil drops them.
	Reply func(answer []byte)
}

// Cell is one place on the screen. The second cell of a wide character has no text
// and the width -1.
type Cell struct {
	Text  string // one grapheme cluster; empty if never written
	Width int
	Style string // the parameters of the styles in force, in the order of their setting
}

// Modes is the state that a program can leave behind.
type Modes struct {
	AltScreen      bool
	BracketedPaste bool
	CursorHidden   bool
	NoWrap         bool
	Sync           bool
	Mouse          bool
	ModifyKeys     int // xterm's modifyOtherKeys
	KittyKeys      int // flags of the Kitty keyboard protocol on the current screen
	KittyPushed    int // entries on its stack
	Style          string
	Focus          bool   // it is reported
	Titles         int    // entries on the stack of titles
	Progress       string // of OSC 9;4, empty for none
}

// Stats are counters for tests.
type Stats struct {
	Bytes     int
	Frames    int      // synchronised frames
	Unknown   []string // unknown sequences
	Fences    []string // bodies of OSC 7777 sequences, see ptytest
	Title     string
	Notices   []string // desktop notifications: OSC 9, OSC 777
	Bells     int
	Clipboard string // from OSC 52: the clipboard's name, and base64
	// Touched lists finished rows that a program changed. A row is finished if it was
	// written while the terminal wraps (DECAWM) and then left by a line feed: a program
	// that redraws on the main screen turns wrapping off for its live rows.
	Touched []string
}

// Terminal is the model. It is not safe for concurrent use.
type Terminal struct {
	opt    Options
	parser parser
	modes  Modes
	stats  Stats
	style  style

	main, alt page
	kitty     [2]kitty // of the main and the alternate screen
	titles    []string // those that were pushed
	last      string   // the cluster printed last, which the next may join
}

// page is one screen and, for the main one, its scrollback.
type page struct {
	lines []line // scrollback, then the screen
	x, y  int    // the cursor, y from the top of the screen
	wrap  bool   // the next character wraps first
	saved [2]int
}

// New returns a blank terminal.
func New(opt Options) *Terminal {
	if opt.Width <= 0 {
		opt.Width = 80
	}
	if opt.Height <= 0 {
		opt.Height = 24
	}
	if opt.Background == "" {
		opt.Background = "rgb:0000/0000/0000"
	}
	t := &Terminal{opt: opt}
	t.main.lines = make([]line, opt.Height)
	t.alt.lines = make([]line, opt.Height)
	return t
}

// page returns the screen in use.
func (t *Terminal) page() *page {
	if t.modes.AltScreen {
		return &t.alt
	}
	return &t.main
}

// top is the index of the first line of the screen.
func (t *Terminal) top() int { return len(t.page().lines) - t.opt.Height }

// Size returns width and height.
func (t *Terminal) Size() (width, height int) { return t.opt.Width, t.opt.Height }

// Cursor returns the cursor's position, 0-based.
func (t *Terminal) Cursor() (x, y int) {
	p := t.page()
	return p.x, p.y
}

// Modes returns the modes that are set.
func (t *Terminal) Modes() Modes {
	m := t.modes
	k := t.kitty[t.screenIndex()]
	m.KittyKeys, m.KittyPushed = k.flags, len(k.stack)
	m.Style, m.Titles = t.style.String(), len(t.titles)
	return m
}

// Stats returns the counters.
func (t *Terminal) Stats() Stats { return t.stats }

func (t *Terminal) screenIndex() int {
	if t.modes.AltScreen {
		return 1
	}
	return 0
}

// Screen returns the rows of the screen as text, without blanks at their ends.
func (t *Terminal) Screen() []string { return text(t.page().lines[t.top():]) }

// Scrollback returns the rows that have scrolled off the main screen.
func (t *Terminal) Scrollback() []string {
	return text(t.main.lines[:len(t.main.lines)-t.opt.Height])
}

// History returns the rows of scrollback and main screen, without the blank ones at
// the end.
func (t *Terminal) History() []string {
	rows := text(t.main.lines)
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// Cell returns the cell at column x of row y of the screen.
func (t *Terminal) Cell(x, y int) Cell {
	l := t.page().lines[t.top()+y]
	if x >= len(l.cells) {
		return Cell{}
	}
	return l.cells[x]
}

// String returns the screen as one text.
func (t *Terminal) String() string {
	return strings.TrimRight(strings.Join(t.Screen(), "\n"), "\n")
}

func text(lines []line) []string {
	rows := make([]string, len(lines))
	for i, l := range lines {
		rows[i] = l.String()
	}
	return rows
}
