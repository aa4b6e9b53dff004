// Package highlight colors source code line by line. It guarantees that it returns the text
// it was given, whatever the language, and that the cost of a line does not depend on its
// position: a small scanner carries open comments and strings to the next line, for the
// languages in which they are common. If the rules of a language turn out slow on a text, the
// rest stays plain.
package highlight

import (
	"strings"
	"time"

	"github.com/alecthomas/chroma/v2"

	"github.com/bb2d0cf4/agent/internal/repl/paint"
)

// maxLine is the maximum length in bytes of a colored line.
const maxLine = 1000

// patience limits the time for one line. The rules are regular expressions that can
// backtrack, and the text is untrusted.
const patience = time.Second

// Lines colors the lines of one text, in order.
type Lines struct {
	lexer chroma.Lexer // nil: plain text
	scan  scanner
	now   func() time.Time
}

// ForLanguage returns Lines for a language by its Markdown name, as after a fence. For an
// unknown name the lines stay plain.
func ForLanguage(name string) *Lines {
	return forLexer(byLanguage(name))
}

// ForFile returns Lines for a file by its name.
func ForFile(name string) *Lines {
	return forLexer(known().Match(name))
}

func forLexer(lexer chroma.Lexer) *Lines {
	l := &Lines{lexer: lexer, now: time.Now}
	if lexer != nil {
		l.scan.syntax = syntaxOf(lexer.Config().Name)
	}
	return l
}

// Skip advances over a line without coloring it, which is much cheaper.
func (l *Lines) Skip(line string) { l.scan.line(line) }

// Line returns the next line in color. It must not contain a newline.
func (l *Lines) Line(line string) []paint.Span {
	if l.lexer == nil || line == "" {
		return plain(line)
	}
	p := l.scan.line(line)
	if len(line) > maxLine {
		return plain(line)
	}
	spans := appendSpan(nil, line[:p.head], styleOf(p.headType))
	spans = append(spans, l.code(line[p.head:p.tail])...)
	return appendSpan(spans, line[p.tail:], styleOf(p.tailType))
}

// code colors a piece of a line that begins in the language's initial state.
func (l *Lines) code(text string) (spans []paint.Span) {
	if strings.TrimSpace(text) == "" {
		return plain(text)
	}
	defer func() {
		if recover() != nil { // the language's rules are broken: color nothing
			l.lexer, spans = nil, plain(text)
		}
	}()
	tokens, err := l.lexer.Tokenise(nil, text)
	if err != nil {
		return plain(text)
	}
	rest := text
	deadline := l.now().Add(patience)
	for token := tokens(); token != chroma.EOF && rest != ""; token = tokens() {
		if l.now().After(deadline) {
			l.lexer = nil
			break
		}
		value := token.Value
		if len(value) > len(rest) {
			value = strings.TrimSuffix(value, "\n")
		}
		if !strings.HasPrefix(rest, value) {
			return plain(text)
		}
		spans = appendSpan(spans, rest[:len(value)], styleOf(token.Type))
		rest = rest[len(value):]
	}
	return appendSpan(spans, rest, paint.Style{})
}

func plain(text string) []paint.Span {
	return appendSpan(nil, text, paint.Style{})
}

// appendSpan appends text to spans, merging it into the last one if the styles are equal.
func appendSpan(spans []paint.Span, text string, style paint.Style) []paint.Span {
	if text == "" {
		return spans
	}
	if n := len(spans); n > 0 && spans[n-1].Style == style {
		spans[n-1].Text += text
		return spans
	}
	return append(spans, paint.Span{Text: text, Style: style})
}

// Peek colors an incomplete line without advancing.
func (l *Lines) Peek(line string) []paint.Span {
	ahead := *l
	return ahead.Line(line)
}

// Fresh returns Lines for another text in the same language.
func (l *Lines) Fresh() *Lines {
	return &Lines{lexer: l.lexer, now: l.now, scan: scanner{syntax: l.scan.syntax}}
}
