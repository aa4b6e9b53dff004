package theme

import (
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/bb2d0cf4/agent/internal/repl/paint"
)

// The styles of the interface: every piece of styled text uses one of these, or one laid over
// another. Their colors are those of the program, which the screen replaces by the theme's.
var (
	Dim      = paint.Style{FG: paint.Dim}
	Accent   = paint.Style{FG: paint.Accent}
	Good     = paint.Style{FG: paint.Good}
	Bad      = paint.Style{FG: paint.Bad}
	Warn     = paint.Style{FG: paint.Warn}
	Warning  = paint.Style{FG: paint.Warn, Attr: paint.Bold}
	User     = paint.Style{FG: paint.Strong, Attr: paint.Bold} // the user's words
	Title    = paint.Style{Attr: paint.Bold}
	Selected = paint.Style{FG: paint.Accent, Attr: paint.Bold} // in a list
	Match    = paint.Style{Attr: paint.Underline}              // of a filter
	Found    = paint.Style{Attr: paint.Reverse}                // by a search, or selected at the prompt
)

// Styles of Markdown.
var (
	Heading    = paint.Style{FG: paint.Code, Attr: paint.Bold}
	Subheading = paint.Style{Attr: paint.Bold}
	Strong     = paint.Style{Attr: paint.Bold}
	Emphasis   = paint.Style{Attr: paint.Italic}
	Struck     = paint.Style{Attr: paint.Strike}
	Code       = paint.Style{FG: paint.Code}
	Link       = paint.Style{Attr: paint.Underline}
	ListMark   = paint.Style{FG: paint.Code}
	QuoteBar   = paint.Style{FG: paint.Dim}
)

// Styles of source code.
var (
	Keyword  = paint.Style{FG: paint.Keyword}
	TypeName = paint.Style{FG: paint.Type}
	Name     = paint.Style{FG: paint.Name} // functions, attributes, constants
	String   = paint.Style{FG: paint.String}
	Number   = paint.Style{FG: paint.Number}
	Comment  = paint.Style{FG: paint.Dim}
)

// Styles of diffs.
var (
	AddedLine    = paint.Style{BG: paint.GoodTint}
	DeletedLine  = paint.Style{BG: paint.BadTint}
	AddedWords   = paint.Style{BG: paint.GoodBack}
	DeletedWords = paint.Style{BG: paint.BadBack}
	Revealed     = paint.Style{Attr: paint.Reverse} // a hidden character, unlike the same escape in plain text
	LeftOut      = paint.Style{FG: paint.Dim, Attr: paint.Strike}
)

// Style is a style for whole lines.
type Style = lipgloss.Style

// Styles are those of whole lines; the zero value has no styles.
type Styles struct {
	Dim, Accent, Good, Bad, Warn, User, Selected Style
}

// lineStyles returns the styles of whole lines from the table.
func lineStyles() Styles {
	return Styles{
		Dim: forLines(Dim), Accent: forLines(Accent), Good: forLines(Good),
		Bad: forLines(Bad), Warn: forLines(Warn), User: forLines(User), Selected: forLines(Selected),
	}
}

func forLines(s paint.Style) Style {
	return lipgloss.NewStyle().Foreground(ansi.BasicColor(s.FG.Slot())).Bold(s.Attr&paint.Bold != 0)
}
