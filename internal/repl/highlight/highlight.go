// Package highlight colours source code line by line. It guarantees that the text
// it returns is the text it was given, whatever the language, and that a line costs
// the same wherever it stands: what a line inherits from those before it (an open
// comment, an open string) is followed by a scan of our own, for the languages in
// which that is common, and guessed at in no other. A language whose rules turn out
// to be slow on a text is given up for the rest of it.
package highlight

import (
	"strings"
	"time"

	"github.com/alecthomas/chroma/v2"

	"github.com/bb2d0cf4/agent/internal/repl/paint"
)

// maxLine is the length in bytes up to which a line is coloured.
const maxLine = 1000

// patience is how long a line may take. The rules are regular expressions that can
// backtrack, and the text is not ours.
const patience = time.Second

// Lines colours the lines of one text, in order.
type Lines struct {
	lexer chroma.Lexer // nil: plain text
	scan  scanner
	now   func() time.Time
}

// ForLanguage returns Lines for a language by the name that Markdown uses after a
// fence; for a name that is not known, the lines stay plain.
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

// Skip takes note of a line without colouring it, at a small part of the cost.
func (l *Lines) Skip(line string) { l.scan.line(line) }

// Line returns the next line, which holds no newline, in colours.
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

// code colours a piece of a line that begins in the language's ground state.
func (l *Lines) code(text string) (spans []paint.Span) {
	if strings.TrimSpace(text) == "" {
		return plain(text)
	}
	defer func() {
		if recover() != nil { // a mistake in the language's rules: colour nothing
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

// appendSpan appends text to spans, joining it to the last one of the same style.
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

// Peek is Line without going on to the next: for a line that is not whole yet.
func (l *Lines) Peek(line string) []paint.Span {
	ahead := *l
	return ahead.Line(line)
}

// Fresh returns Lines for another text in the same language.
func (l *Lines) Fresh() *Lines {
	return &Lines{lexer: l.lexer, now: l.now, scan: scanner{syntax: l.scan.syntax}}
}
