// Package screen draws on a terminal without taking it over. It guarantees that
// finished lines reach the terminal's own scrollback exactly once and in order,
// that below them only what changed in the live region is written, in one write a
// frame, that no line can do more to the terminal than show text in a style, and
// that Close leaves the terminal as Open found it.
package screen

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/charmbracelet/colorprofile"

	"github.com/bb2d0cf4/agent/internal/repl/paint"
)

// Options says which terminal to draw on.
type Options struct {
	In, Out *os.File // both a terminal
	Env     []string // "KEY=value", for the colours and the habits of the terminal
	Window  Window   // may be nil
	Fresh   bool     // what was typed before is dropped
}

// Window is what is done to the terminal besides drawing. Enter returns what is
// written whenever the terminal is taken, by the goroutine that takes it; Leave what
// is written whenever it is given back, by any.
type Window interface {
	Enter() string
	Leave() string
}

// Cursor is a position in the live region, 0-based, in cells.
type Cursor struct{ X, Y int }

// Screen is an open terminal. Close, Size and Err may be called from any goroutine,
// at any time; everything else belongs to one goroutine.
type Screen struct {
	habits habits
	window Window // may be nil
	lines  preparer
	wanted frame // what the next Flush shows; the owner's

	mu    sync.Mutex // guards what follows: the owner draws, anybody may close
	tty   tty
	now   func() time.Time
	shown display
	state state
	err   error
}

// frame is what the owner wants to be seen.
type frame struct {
	finished []string // lines for the scrollback, as given
	tail     []string // the live region, as given
	cursor   *Cursor
	alt      bool
	signals  string // for the window
	clear    bool   // once
	redraw   bool   // once
	width    int    // last told or found
	height   int
}

// state is what has been done to the terminal.
type state int

const (
	taken state = iota
	lent        // suspended
	closed
)

// tty is the terminal as a device.
type tty interface {
	// raw takes the line discipline away, or puts it back as it was found.
	raw(on bool) error
	size() (width, height int, err error)
	Write(b []byte) (int, error)
}

// Open puts the terminal into raw mode, and asks it whether it knows synchronised
// output and which colour its background has; the answers arrive as input.
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
	s.shown.sync, s.shown.latency = h.sync, h.latency
	s.shown.main.rewrap, s.shown.alt.absolute = h.rewrap, true
	if opt.Fresh {
		if err := t.raw(false); err != nil { // which drops it
			return nil, fmt.Errorf("what was typed before cannot be dropped: %w", err)
		}
	}
	if err := t.raw(true); err != nil {
		return nil, fmt.Errorf("the terminal does not go into raw mode: %w", err)
	}
	if _, err := t.Write([]byte(take(s.window) + askTerminal)); err != nil {
		return nil, errors.Join(err, t.raw(false))
	}
	return s, nil
}

// Close restores the terminal and leaves the cursor below the live region. It may
// be called twice, from a panic handler and from a signal's goroutine.
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

// Suspend gives the terminal away, as it was found and without the live region.
// Until Resume nothing is written.
func (s *Screen) Suspend() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != taken {
		return nil
	}
	s.state = lent
	width, height := s.Size()
	out := s.shown.erase(width, height, s.now())
	_, err := s.tty.Write(append(out, give(s.window)...))
	return errors.Join(err, s.tty.raw(false))
}

// Resume takes the terminal back; the next Flush draws the live region again, below
// whatever was written meanwhile. Without a Suspend it takes back what others have
// used while the program was stopped: what was live then stays where it is.
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

// Lent says whether s is suspended. It may be called from any goroutine.
func (s *Screen) Lent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == lent
}

// take returns what is done to a terminal that becomes ours, give what undoes it.
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

// Size returns the terminal's width and height in cells, both at least 1. A
// terminal that does not know its size counts as 80×24.
func (s *Screen) Size() (width, height int) {
	w, h, err := s.tty.size()
	if err != nil || w <= 0 || h <= 0 {
		return 80, 24
	}
	return w, h
}

// Print queues finished lines for the scrollback. They may be styled; a line that
// is wider than the terminal is wrapped, one with a newline in it is split.
func (s *Screen) Print(lines ...string) {
	s.wanted.finished = append(s.wanted.finished, lines...)
}

// SetTail replaces the live region, one line a row: a line that is too wide is cut,
// and of more rows than the terminal's height less one the last ones are shown. A
// nil cursor is hidden. The caller leaves lines alone until the next SetTail.
func (s *Screen) SetTail(lines []string, cursor *Cursor) {
	s.wanted.tail, s.wanted.cursor = lines, cursor
}

// Flush writes what has changed, in one write; nothing if nothing has.
func (s *Screen) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w, h, err := s.tty.size(); err == nil && w > 0 && h > 0 && (w != s.wanted.width || h != s.wanted.height) {
		s.wanted.width, s.wanted.height = w, h // it has changed since Resize
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

// Resize says that the terminal has, or may have had, another size. It is to be
// called for every change, even one that was taken back: what the terminal did to
// the live region on the way there is not known.
func (s *Screen) Resize(width, height int) {
	s.wanted.width, s.wanted.height = max(1, width), max(1, height)
	s.wanted.redraw = true
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown.resize(size{s.wanted.width, s.wanted.height}, s.now())
}

// Latency returns the time after which the terminal has surely seen what was written.
// Who draws while the size changes faster than that may leave rows behind.
func (s *Screen) Latency() time.Duration { return s.habits.latency }

// Stray reports whether rows of earlier frames may be left above the live region,
// after changes of size. Clear and Tidied end that.
func (s *Screen) Stray() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.main.stray
}

// Tidied notes that the lines of the conversation are about to be printed again, below
// the stray rows.
func (s *Screen) Tidied() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown.main.stray = false
}

// Clear empties the visible screen into the scrollback. The next Flush draws the
// live region at the top.
func (s *Screen) Clear() { s.wanted.clear = true }

// SetAlt shows the live region on the whole of the alternate screen, or returns to
// the conversation. What is printed meanwhile waits for that.
func (s *Screen) SetAlt(on bool) { s.wanted.alt = on }

// Send writes seq with the next Flush. It is for the window around the text: it must
// neither draw nor move.
func (s *Screen) Send(seq string) { s.wanted.signals += seq }

// SetSync says whether the terminal knows synchronised output, once it has
// answered (tea.ModeReportMsg). Until then it is believed to.
func (s *Screen) SetSync(supported bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown.sync = supported
}

// SetPalette says what the colours of the program look like from now on; no other
// colour reaches the terminal then.
func (s *Screen) SetPalette(colours paint.Palette) { s.lines.use(colours) }

// Profile returns the colours that the terminal shows; one below colorprofile.ANSI
// says that there are none, or that the user wants none.
func (s *Screen) Profile() colorprofile.Profile { return s.habits.profile }
