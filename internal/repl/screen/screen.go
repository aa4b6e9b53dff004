// Package screen draws on a terminal without taking it over. It guarantees that
// finished lines reach the terminal's own scrollback exactly once and in order,
// that below them only what changed in the live region is written, in one write a
// frame, and that Close leaves the terminal as Open found it.
package screen

import (
	"os"

	"github.com/charmbracelet/colorprofile"
)

// Options says which terminal to draw on.
type Options struct {
	In, Out *os.File // both a terminal
	Env     []string // "KEY=value", for the colours and the habits of the terminal
}

// Cursor is a position in the live region, 0-based.
type Cursor struct{ X, Y int }

// Screen is an open terminal. Close and Size may be called from any goroutine, at
// any time; everything else belongs to one goroutine.
type Screen struct{}

// Open puts the terminal into raw mode and asks it for its background colour; the
// answer arrives as input.
func Open(opt Options) (*Screen, error) { return &Screen{}, nil }

// Close restores the terminal and leaves the cursor below the live region. It may
// be called twice, from a panic handler and from a signal's goroutine.
func (s *Screen) Close() error { return nil }

// Suspend gives the terminal away, as it was found and without the live region.
// Until Resume, nothing is written.
func (s *Screen) Suspend() error { return nil }

// Resume takes the terminal back; the next Flush draws the live region again.
func (s *Screen) Resume() error { return nil }

// Size returns the terminal's width and height in cells, both at least 1.
func (s *Screen) Size() (width, height int) { return 80, 24 }

// Print queues finished lines for the scrollback. They may be styled; a line that
// is wider than the terminal is wrapped, one with a newline in it is split.
func (s *Screen) Print(lines ...string) {}

// SetTail replaces the live region, one line a row: a line that is too wide is cut,
// and of more rows than fit the last ones are shown. A nil cursor is hidden. The
// lines are not kept beyond the next SetTail.
func (s *Screen) SetTail(lines []string, cursor *Cursor) {}

// Flush writes what has changed, in one write; nothing if nothing has.
func (s *Screen) Flush() {}

// Err returns the first error of a write: the terminal is gone.
func (s *Screen) Err() error { return nil }

// Resize says that the terminal has another size now.
func (s *Screen) Resize(width, height int) {}

// Clear empties the visible screen; the scrollback stays. The live region is drawn
// again at the top by the next Flush.
func (s *Screen) Clear() {}

// EnterAlt shows the live region on the whole of the alternate screen. What is
// printed waits for LeaveAlt.
func (s *Screen) EnterAlt() {}

// LeaveAlt returns to the conversation.
func (s *Screen) LeaveAlt() {}

// SetSync says whether the terminal knows synchronised output, once it has
// answered (tea.ModeReportMsg). Until then it is believed to.
func (s *Screen) SetSync(supported bool) {}

// Profile returns the colours that the terminal shows.
func (s *Screen) Profile() colorprofile.Profile { return colorprofile.TrueColor }

// NoColor says that the user or the terminal wants no colours.
func (s *Screen) NoColor() bool { return false }
