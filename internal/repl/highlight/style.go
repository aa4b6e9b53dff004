package highlight

import (
	"github.com/alecthomas/chroma/v2"

	"github.com/bb2d0cf4/agent/internal/repl/paint"
)

// styleOf returns the style of a class of tokens.
func styleOf(token chroma.TokenType) paint.Style {
	switch token.Category() {
	case chroma.Keyword:
		if token == chroma.KeywordType {
			return paint.Style{FG: paint.Type}
		}
		return paint.Style{FG: paint.Keyword}
	case chroma.Name:
		return paint.Style{FG: nameColor(token)}
	case chroma.Comment:
		return paint.Style{FG: paint.Dim}
	case chroma.Literal:
		if token.InSubCategory(chroma.LiteralNumber) {
			return paint.Style{FG: paint.Number}
		}
		return paint.Style{FG: paint.String}
	case chroma.Generic:
		return generic(token)
	}
	return paint.Style{}
}

func nameColor(token chroma.TokenType) paint.Color {
	switch token {
	case chroma.NameFunction, chroma.NameFunctionMagic, chroma.NameDecorator:
		return paint.Name
	case chroma.NameClass, chroma.NameBuiltin, chroma.NameBuiltinPseudo, chroma.NameTag:
		return paint.Type
	case chroma.NameAttribute, chroma.NameConstant:
		return paint.Name
	}
	return 0
}

// generic styles the tokens of diffs and terminal sessions.
func generic(token chroma.TokenType) paint.Style {
	switch token {
	case chroma.GenericInserted:
		return paint.Style{FG: paint.Good}
	case chroma.GenericDeleted, chroma.GenericError:
		return paint.Style{FG: paint.Bad}
	case chroma.GenericHeading, chroma.GenericSubheading, chroma.GenericStrong:
		return paint.Style{Attr: paint.Bold}
	case chroma.GenericEmph:
		return paint.Style{Attr: paint.Italic}
	case chroma.GenericPrompt:
		return paint.Style{FG: paint.Dim}
	}
	return paint.Style{}
}
