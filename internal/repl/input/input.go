// Package input is the prompt: a line editor with history and completion. It
// guarantees that a key costs no more than the text on the prompt, that a paste of
// any size stays small on the screen and arrives whole, and that whatever was typed
// or pasted is shown without control characters.
package input

import tea "charm.land/bubbletea/v2"

// Action says what a key came to.
type Action int

// The actions.
const (
	Ignored Action = iota // the key is none of the prompt's
	Handled
	Submit // the text is complete: Take it
)

// Command is an entry of the palette that opens on a leading slash.
type Command struct {
	Name string // with the slash
	Args string // what follows it, for the reader; empty for a command without arguments
	Help string
}

// History keeps what was submitted.
type History interface {
	// Entries returns what was submitted, oldest first.
	Entries() ([]string, error)
	// Add appends an entry.
	Add(entry string) error
}

// Options configures an Editor. All fields may be zero.
type Options struct {
	Commands []Command
	// Files returns the paths that @ completes. It is called on keys, so it has to
	// return at once: what is known, nil if nothing is known yet.
	Files   func() []string
	History History
	Dark    bool
	NoColor bool
}

// Editor is the text at the prompt.
type Editor struct{}

// New returns an empty Editor.
func New(opt Options) *Editor { return &Editor{} }

// Handle takes a key.
func (e *Editor) Handle(key tea.KeyPressMsg) Action { return Ignored }

// Paste inserts pasted text. A paste of more than 10 lines or 2,000 characters is
// shown as a placeholder, which Take expands and Backspace deletes whole.
func (e *Editor) Paste(text string) {}

// Insert inserts text at the cursor as if typed: newlines are kept.
func (e *Editor) Insert(text string) {}

// Take returns the text with its pastes expanded, adds it to the history and
// empties the prompt.
func (e *Editor) Take() string { return "" }

// Text returns the text with its pastes expanded.
func (e *Editor) Text() string { return "" }

// Empty says whether there is no text.
func (e *Editor) Empty() bool { return true }

// Reset empties the prompt.
func (e *Editor) Reset() {}

// Completing says whether a list or a search is open that Esc would close.
func (e *Editor) Completing() bool { return false }

// SetTheme follows the terminal's background.
func (e *Editor) SetTheme(dark bool) {}

// View returns the prompt at the given width, at most maxLines rows around the
// cursor, then the rows of an open list, at most maxLines too. The cursor's
// position is 0-based, in cells.
func (e *Editor) View(width, maxLines int) (lines []string, cursorX, cursorY int) {
	return []string{""}, 0, 0
}
