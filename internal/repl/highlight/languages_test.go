package highlight

import (
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/repl/paint"
)

// badLexer is a language with faulty rules.
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
			l := &Lines{lexer: badLexer{tokenise: tokenise}, now: func() time.Time { return clock }}
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
	l := &Lines{now: time.Now, lexer: badLexer{tokenise: func() chroma.Iterator {
		return chroma.Literator(chroma.Token{Type: chroma.Keyword, Value: "something else"})
	}}}
	if d := cmp.Diff([]paint.Span{{Text: "if x"}}, l.Line("if x")); d != "" {
		t.Error(d)
	}
}

func join(spans []paint.Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// No language loses text, whatever the input.
func TestNoTextIsLost(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"if", " ", "\t", "x", "(", ")", "\"", "'", "`", "/*", "*/", "//", "#", "<!--", "<?php ", "<", ">", "\"\"\"", "世界", "\\", "--", "{", "}",
		"\\u{1b}", "\xff", "0x1f", "=", "@", "$", "%", "\r", "${", "[[", "]]",
	})
	rapid.Check(t, func(t *rapid.T) {
		lang := rapid.SampledFrom(languages).Draw(t, "language")
		l := ForLanguage(lang)
		for range 5 {
			line := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "line"), "")
			if got := join(l.Line(line)); got != line {
				t.Fatalf("%s: %q became %q", lang, line, got)
			}
		}
	})
}

func TestEveryLanguageIsKnown(t *testing.T) {
	for _, name := range languages {
		if l := lexers.Get(name); l == nil || l.Config().Name != name {
			t.Errorf("chroma has no language %q", name)
		}
	}
	for _, file := range []string{"a.go", "dir/b.py", "c.tsx", "d.h", "Makefile", "Dockerfile", "e.yml", "f.rs", "g.json", "h.md", "i.sh"} {
		if got := ForFile(file).Line(`if x = "y" # 1`); join(got) != `if x = "y" # 1` {
			t.Errorf("%s: %v", file, got)
		}
	}
}
