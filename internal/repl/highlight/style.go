package highlight

import (
	"github.com/alecthomas/chroma/v2"

	"github.com/bb2d0cf4/agent/internal/repl/paint"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

// styleOf returns the style of a class of tokens.
func styleOf(token chroma.TokenType) paint.Style {
	switch token.Category() {
	case chroma.Keyword:
		if token == chroma.KeywordType {
			return theme.TypeName
		}
		return theme.Keyword
	case chroma.Name:
		return nameStyle(token)
	case chroma.Comment:
		return theme.Comment
	case chroma.Literal:
		if token.InSubCategory(chroma.LiteralNumber) {
			return theme.Number
		}
		return theme.String
	case chroma.Generic:
		return generic(token)
	}
	return paint.Style{}
}

func nameStyle(token chroma.TokenType) paint.Style {
	switch token {
	case chroma.NameFunction, chroma.NameFunctionMagic, chroma.NameDecorator:
		return theme.Name
	case chroma.NameClass, chroma.NameBuiltin, chroma.NameBuiltinPseudo, chroma.NameTag:
		return theme.TypeName
	case chroma.NameAttribute, chroma.NameConstant:
		return theme.Name
	}
	return paint.Style{}
}

// generic styles the tokens of diffs and terminal sessions.
func generic(token chroma.TokenType) paint.Style {
	switch token {
	case chroma.GenericInserted:
		return theme.Good
	case chroma.GenericDeleted, chroma.GenericError:
		return theme.Bad
	case chroma.GenericHeading, chroma.GenericSubheading, chroma.GenericStrong:
		return theme.Strong
	case chroma.GenericEmph:
		return theme.Emphasis
	case chroma.GenericPrompt:
		return theme.Dim
	}
	return paint.Style{}
}
