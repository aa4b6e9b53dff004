package input

import "github.com/bb2d0cf4/agent/internal/repl/paint"

// style is how the prompt is coloured.
type style struct{ noColor bool }

func (s style) dim(text string) string { return s.around(paint.Style{FG: paint.Dim}, text) }

// hit marks what a search has found.
func (s style) hit(text string) string { return s.around(paint.Style{Attr: paint.Reverse}, text) }

// accent marks what is chosen.
func (s style) accent(text string) string {
	return s.around(paint.Style{FG: paint.Accent, Attr: paint.Bold}, text)
}

func (s style) around(look paint.Style, text string) string {
	if s.noColor {
		look.FG = 0
	}
	return look.Around(text)
}
