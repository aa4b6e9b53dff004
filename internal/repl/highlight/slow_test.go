package highlight

import (
	"testing"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/repl/paint"
)

// badLexer is a language whose rules are wrong in one way or another.
type badLexer struct {
	chroma.Lexer
	tokenise func() chroma.Iterator
}

func (b badLexer) Tokenise(*chroma.TokeniseOptions, string) (chroma.Iterator, error) {
	return b.tokenise(), nil
}

func TestBadLanguagesAreGivenUp(t *testing.T) {
	clock := time.Unix(0, 0)
	for name, tokenise := range map[string]func() chroma.Iterator{
		"panics": func() chroma.Iterator { panic("no such state") },
		"slow": func() chroma.Iterator {
			return func() chroma.Token {
				clock = clock.Add(patience * 2)
				return chroma.Token{Type: chroma.Keyword, Value: "i"}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := &Lines{lexer: badLexer{tokenise: tokenise}, theme: themeFor(true), now: func() time.Time { return clock }}
			if d := cmp.Diff([]paint.Span{{Text: "if x"}}, l.Line("if x")); d != "" {
				t.Error(d)
			}
			if l.lexer != nil {
				t.Error("the language is still used")
			}
		})
	}
}

func TestTextOfOthersIsNotTaken(t *testing.T) {
	l := &Lines{theme: themeFor(true), now: time.Now, lexer: badLexer{tokenise: func() chroma.Iterator {
		return chroma.Literator(chroma.Token{Type: chroma.Keyword, Value: "something else"})
	}}}
	if d := cmp.Diff([]paint.Span{{Text: "if x"}}, l.Line("if x")); d != "" {
		t.Error(d)
	}
}
