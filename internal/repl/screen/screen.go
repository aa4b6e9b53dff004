// Package screen draws on a terminal without taking it over. It guarantees that finished
// lines reach the terminal's scrollback exactly once and in order; that below them it writes
// only the changes of the live region, in one write per frame; that a line can only show
// styled text; and that Close restores the terminal.
package screen

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/repl/paint"
)

// Options configures a Screen.
type Options struct {
	In, Out *os.File // must be a terminal
	Env     []string // "KEY=value", for the colors and the habits of the terminal
	Window  Window   // may be nil
	Fresh   bool     // discard pending input
}

// Window sets up the terminal beyond drawing. Enter returns what to write when the terminal
// is taken, and is called by the goroutine that takes it; Leave returns what to write when it
// is given back, and may be called from any goroutine.
type Window interface {
	Enter() string
	Leave() string
}

// Cursor is a position in the live region, 0-based, in cells.
type Cursor struct{ X, Y int }

// Screen is an open terminal. Close, Size, Lent and Err are safe for concurrent use; all
// other methods belong to one goroutine.
type Screen struct {
	habits habits
	window Window // may be nil
	lines  preparer
	wanted frame // the next frame; the owner's

	columns []int // answers about the column of the cursor

	mu    sync.Mutex // guards the following: the owner draws, any goroutine may close
	tty   tty
	now   func() time.Time
	shown display
	state state
	err   error
}

// frame is the content requested by the owner.
type frame struct {
	finished []string // lines for the scrollback, unprepared
	tail     []string // the live region, unprepared
	cursor   *Cursor
	alt      bool
	signals  string // sequences for the window
	clear    bool   // once
	redraw   bool   // once
	width    int    // last reported or read
	height   int
	known    int // the width that the owner knows
}

// state is who has the terminal.
type state int

const (
	taken     state = iota
	suspended       // suspended
	closed
)

// tty is the terminal device.
type tty interface {
	// raw switches to raw mode, or restores the original mode and discards pending input.
	raw(on bool) error
	size() (width, height int, err error)
	Write(b []byte) (int, error)
}

// Open puts the terminal into raw mode and asks for its support of synchronized output, its
// background color and the width of ambiguous characters; the answers arrive as input.
func Open(opt Options) (*Screen, error) {
	t, err := openTTY(opt.In, opt.Out)
	if err != nil {
		return nil, err
	}
	return open(t, opt, time.Now)
}

func open(t tty, opt Options, now func() time.Time) (*Screen, error) {
	h := detect(opt.Env)
	s := &Screen{habits: h, window: opt.Window, tty: t, now: now, lines: preparer{palette: palette{profile: h.profile}}}
	s.wanted.width, s.wanted.height = s.Size()
	s.wanted.known = s.wanted.width
	s.shown.sync, s.shown.latency = h.sync, h.latency
	s.shown.main.rewrap, s.shown.alt.absolute = h.rewrap, true
	if opt.Fresh {
		if err := t.raw(false); err != nil { // discards it
			return nil, fmt.Errorf("cannot discard pending input: %w", err)
		}
	}
	if err := t.raw(true); err != nil {
		return nil, fmt.Errorf("cannot switch the terminal to raw mode: %w", err)
	}
	if _, err := t.Write([]byte(take(s.window) + askTerminal)); err != nil {
		return nil, errors.Join(err, t.raw(false))
	}
	return s, nil
}

// Close restores the terminal and leaves the cursor below the live region. It may be called
// more than once, such as from a panic handler and a signal handler.
func (s *Screen) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == closed {
		return nil
	}
	var err error
	if s.state == taken {
		out := s.shown.leave()
		_, err = s.tty.Write(append(out, give(s.window)...))
		err = errors.Join(err, s.tty.raw(false))
	}
	s.state = closed
	return err
}

// Suspend erases the live region and restores the terminal. Nothing is written until Resume.
func (s *Screen) Suspend() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != taken {
		return nil
	}
	s.state = suspended
	width, height := s.Size()
	out := s.shown.erase(width, height, s.now())
	_, err := s.tty.Write(append(out, give(s.window)...))
	return errors.Join(err, s.tty.raw(false))
}

// Resume takes the terminal back; the next Flush draws the live region below whatever was
// written meanwhile. Without a preceding Suspend, it takes over from other programs that used
// the terminal while this one was stopped, and leaves the old live region in place.
func (s *Screen) Resume() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == closed {
		return nil
	}
	var out []byte
	if s.state == taken {
		out = append(s.shown.leave(), give(s.window)...)
		s.shown.hidden = false
	}
	if err := s.tty.raw(true); err != nil {
		return err
	}
	s.state = taken
	_, err := s.tty.Write(append(out, "\r"+take(s.window)...))
	return err
}

// Suspended reports whether s is suspended. It is safe for concurrent use.
func (s *Screen) Suspended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == suspended
}

// take returns the sequences that set up the terminal, give those that restore it.
func take(w Window) string {
	if w == nil {
		return takeModes
	}
	return takeModes + w.Enter()
}

func give(w Window) string {
	if w == nil {
		return giveModes
	}
	return w.Leave() + giveModes
}

// Size returns the terminal's width and height in cells, at least 1. A terminal of unknown
// size counts as 80×24.
func (s *Screen) Size() (width, height int) {
	w, h, err := s.tty.size()
	if err != nil || w <= 0 || h <= 0 {
		return 80, 24
	}
	return w, h
}

// Print queues finished lines for the scrollback. They may be styled. Lines wider than the
// terminal wrap; newlines split a line.
func (s *Screen) Print(lines ...string) {
	s.wanted.finished = append(s.wanted.finished, lines...)
}

// Show draws v: the lines of its Content are the live region, or cover the alternate screen.
// Nothing else of v is used but its Cursor. It includes Flush.
func (s *Screen) Show(v tea.View) {
	var cursor *Cursor
	if v.Cursor != nil {
		cursor = &Cursor{X: v.Cursor.X, Y: v.Cursor.Y}
	}
	s.SetAlt(v.AltScreen)
	s.SetTail(strings.Split(v.Content, "\n"), cursor)
	s.Flush()
}

// SetTail replaces the live region, one row per line. It cuts lines that are too wide, and
// shows the last rows if there are more than the terminal's height less one. A nil cursor is
// hidden. The caller must not modify lines until the next SetTail.
func (s *Screen) SetTail(lines []string, cursor *Cursor) {
	s.wanted.tail, s.wanted.cursor = lines, cursor
}

// Flush writes the changes since the last frame, if any, in one write.
func (s *Screen) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w, h, err := s.tty.size(); err == nil && w > 0 && h > 0 && (w != s.wanted.width || h != s.wanted.height) {
		s.wanted.width, s.wanted.height = w, h // changed since Resize
		s.shown.resize(size{w, h}, s.now())
	}
	if s.state != taken || s.err != nil {
		return
	}
	out := s.shown.next(&s.wanted, &s.lines, s.now())
	if len(out) == 0 {
		return
	}
	_, s.err = s.tty.Write(out)
	s.shown.written = s.now()
}

// Err returns the first error of Flush: the terminal is gone.
func (s *Screen) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Resize reports that the terminal's size has, or may have, changed. Call it for every
// change, even one that was reverted: its effect on the live region is unknown.
func (s *Screen) Resize(width, height int) {
	s.wanted.width, s.wanted.height = max(1, width), max(1, height)
	s.wanted.known = s.wanted.width
	s.wanted.redraw = true
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown.resize(size{s.wanted.width, s.wanted.height}, s.now())
}

// Latency returns the time after which the terminal has certainly seen a write. Drawing while
// the size changes faster may leave rows behind.
func (s *Screen) Latency() time.Duration { return s.habits.latency }

// Stray reports whether a resize may have left rows of earlier frames above the live region.
// Clear and Tidied reset it.
func (s *Screen) Stray() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.main.stray
}

// Tidied resets Stray, because the conversation is about to be printed again below the stray
// rows.
func (s *Screen) Tidied() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown.main.stray = false
}

// Clear scrolls the visible screen into the scrollback. The next Flush draws the live region
// at the top.
func (s *Screen) Clear() { s.wanted.clear = true }

// SetAlt shows the live region on the alternate screen, or returns to the main screen.
// Printed lines wait for the main screen.
func (s *Screen) SetAlt(on bool) { s.wanted.alt = on }

// Single reports whether the alternate screen may be the main one, which a page then overwrites.
func (s *Screen) Single() bool { return s.habits.single }

// Send writes seq with the next Flush. It is for the window: it must neither draw nor move
// the cursor.
func (s *Screen) Send(seq string) { s.wanted.signals += seq }

// SetSync sets whether the terminal supports synchronized output, once it has answered
// (tea.ModeReportMsg). Until then the Screen assumes that it does.
func (s *Screen) SetSync(supported bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown.sync = supported
}

// Measure takes an answer about the column of the cursor (tea.CursorPositionMsg). It reports
// whether it is known from now on that ambiguous characters are wide: all texts have to be laid
// out anew.
func (s *Screen) Measure(column int) bool {
	s.columns = append(s.columns, column)
	if len(s.columns) != 2 || s.columns[1]-s.columns[0] <= utf8.RuneCountInString(ambiguous) {
		return false
	}
	cells.WideAmbiguous(true)
	s.lines.last, s.wanted.redraw = nil, true
	return true
}

// SetPalette sets the colors of the program. No other color reaches the terminal then.
func (s *Screen) SetPalette(colors paint.Palette) { s.lines.use(colors) }

// Profile returns the color profile of the terminal; below colorprofile.ANSI there are no
// colors, or the user wants none.
func (s *Screen) Profile() colorprofile.Profile { return s.habits.profile }
