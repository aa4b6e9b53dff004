// Package markdown renders Markdown for a terminal while it is still arriving.
package markdown

// Options say for which terminal to render.
type Options struct {
	Width   int  // columns; lines are at most this wide
	Dark    bool // the terminal's background is dark
	NoColor bool
}

// Stream renders one text that arrives in pieces.
type Stream struct{ opt Options }

// New returns a Stream for one text.
func New(opt Options) *Stream { return &Stream{opt: opt} }

// Push adds text and returns the lines that it finished: they will never change.
func (s *Stream) Push(text string) []string { return nil }

// Tail returns the lines of the unfinished part, the last max of them.
func (s *Stream) Tail(max int) []string { return nil }

// Close ends the text and returns its last lines. The Stream is then spent.
func (s *Stream) Close() []string { return nil }

// Resize changes the width of what is rendered from now on.
func (s *Stream) Resize(width int) { s.opt.Width = width }

// Render renders a whole text.
func Render(text string, opt Options) []string {
	s := New(opt)
	return append(s.Push(text), s.Close()...)
}
