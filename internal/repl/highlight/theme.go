package highlight

import (
	"github.com/alecthomas/chroma/v2"

	"github.com/bb2d0cf4/agent/internal/repl/paint"
)

// theme gives a colour to a class of tokens. It uses the sixteen colours that a
// terminal's own theme defines, so it suits any background that the user chose.
type theme struct {
	keyword, typ, name, text, number, comment paint.Color
}

func themeFor(dark bool) *theme {
	if dark {
		return &theme{
			keyword: paint.Index(12), typ: paint.Index(14), name: paint.Index(11),
			text: paint.Index(2), number: paint.Index(13), comment: paint.Index(8),
		}
	}
	return &theme{
		keyword: paint.Index(4), typ: paint.Index(6), name: paint.Index(5),
		text: paint.Index(2), number: paint.Index(1), comment: paint.Index(8),
	}
}

func (t *theme) of(token chroma.TokenType) paint.Style {
	switch token.Category() {
	case chroma.Keyword:
		if token == chroma.KeywordType {
			return paint.Style{FG: t.typ}
		}
		return paint.Style{FG: t.keyword}
	case chroma.Name:
		return paint.Style{FG: t.nameColor(token)}
	case chroma.Comment:
		return paint.Style{FG: t.comment}
	case chroma.Literal:
		if token.InSubCategory(chroma.LiteralNumber) {
			return paint.Style{FG: t.number}
		}
		return paint.Style{FG: t.text}
	case chroma.Generic:
		return t.generic(token)
	}
	return paint.Style{}
}

func (t *theme) nameColor(token chroma.TokenType) paint.Color {
	switch token {
	case chroma.NameFunction, chroma.NameFunctionMagic, chroma.NameDecorator:
		return t.name
	case chroma.NameClass, chroma.NameBuiltin, chroma.NameBuiltinPseudo, chroma.NameTag:
		return t.typ
	case chroma.NameAttribute, chroma.NameConstant:
		return t.name
	}
	return 0
}

// generic colours the tokens of languages that are no code: diffs, sessions.
func (t *theme) generic(token chroma.TokenType) paint.Style {
	switch token {
	case chroma.GenericInserted:
		return paint.Style{FG: paint.Index(2)}
	case chroma.GenericDeleted, chroma.GenericError:
		return paint.Style{FG: paint.Index(1)}
	case chroma.GenericHeading, chroma.GenericSubheading, chroma.GenericStrong:
		return paint.Style{Attr: paint.Bold}
	case chroma.GenericEmph:
		return paint.Style{Attr: paint.Italic}
	case chroma.GenericPrompt:
		return paint.Style{FG: t.comment}
	}
	return paint.Style{}
}
