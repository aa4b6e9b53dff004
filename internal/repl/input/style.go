package input

import (
	"github.com/bb2d0cf4/agent/internal/repl/paint"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

// style paints the parts of the prompt.
type style struct{ noColor bool }

func (s style) dim(text string) string { return s.around(theme.Dim, text) }

// hit highlights a match of the search.
func (s style) hit(text string) string { return s.around(theme.Found, text) }

// accent highlights the selected entry.
func (s style) accent(text string) string {
	return s.around(theme.Selected, text)
}

func (s style) around(look paint.Style, text string) string {
	if s.noColor {
		look.FG = 0
	}
	return look.Around(text)
}
