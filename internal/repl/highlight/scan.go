package highlight

import (
	"strings"

	"github.com/alecthomas/chroma/v2"
)

// syntax describes what in a language can span lines, and what hides its delimiters.
type syntax struct {
	comment string // begins a comment up to the end of the line
	quotes  string // characters that quote within a line
	spans   []span
}

// span is a construct that may span lines.
type span struct {
	open, close string
	token       chroma.TokenType
}

// syntaxOf returns the syntax of a language by its name in chroma.
func syntaxOf(name string) syntax {
	block := span{"/*", "*/", chroma.CommentMultiline}
	raw := span{"`", "`", chroma.LiteralStringBacktick}
	switch strings.ToLower(name) {
	case "go", "javascript", "typescript", "jsx", "tsx", "react":
		return syntax{comment: "//", quotes: `"'`, spans: []span{block, raw}}
	case "c", "c++", "c#", "java", "rust", "swift", "kotlin", "scala", "dart", "php", "objective-c", "groovy",
		"protocol buffer", "zig", "scss", "less":
		return syntax{comment: "//", quotes: `"'`, spans: []span{block}}
	case "css":
		return syntax{quotes: `"'`, spans: []span{block}}
	case "sql", "postgresql sql dialect", "mysql", "plpgsql", "sqlite":
		return syntax{comment: "--", quotes: `"'`, spans: []span{block}}
	case "python", "python 2", "starlark":
		doc := chroma.LiteralStringDoc
		return syntax{comment: "#", quotes: `"'`, spans: []span{{`"""`, `"""`, doc}, {"'''", "'''", doc}}}
	case "html", "xml", "markdown", "vue", "svelte":
		return syntax{spans: []span{{"<!--", "-->", chroma.CommentMultiline}}}
	case "lua":
		return syntax{comment: "", quotes: `"'`, spans: []span{{"--[[", "]]", chroma.CommentMultiline}}}
	}
	return syntax{}
}

// scanner tracks constructs that are open at the end of a line.
type scanner struct {
	syntax syntax
	open   *span
}

// parts divides a line: bytes before head belong to a construct from an earlier line, bytes
// from tail on to one that this line leaves open.
type parts struct {
	head, tail         int
	headType, tailType chroma.TokenType
}

// line scans one line, which must not contain a newline.
func (s *scanner) line(line string) parts {
	p := parts{tail: len(line)}
	if s.open != nil {
		p.headType = s.open.token
		i := strings.Index(line, s.open.close)
		if i < 0 {
			p.head = len(line)
			return p
		}
		p.head = i + len(s.open.close)
		s.open = nil
	}
	for i := p.head; i < len(line); {
		n := s.step(line[i:])
		if n == 0 {
			break
		}
		if s.open != nil {
			p.tail, p.tailType = i, s.open.token
			break
		}
		i += n
	}
	return p
}

// step returns the length of the token at the start of rest, or 0 if nothing in the rest of
// the line matters. If rest opens a span and does not close it, step sets s.open.
func (s *scanner) step(rest string) int {
	if s.syntax.comment != "" && strings.HasPrefix(rest, s.syntax.comment) {
		return 0
	}
	for i := range s.syntax.spans {
		sp := &s.syntax.spans[i]
		if !strings.HasPrefix(rest, sp.open) {
			continue
		}
		end := strings.Index(rest[len(sp.open):], sp.close)
		if end < 0 {
			s.open = sp
			return len(rest)
		}
		return len(sp.open) + end + len(sp.close)
	}
	if strings.IndexByte(s.syntax.quotes, rest[0]) >= 0 {
		return quoted(rest)
	}
	return 1
}

// quoted returns the length of the quoted text at the start of rest, or 1 if the quote is not
// closed on this line.
func quoted(rest string) int {
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case rest[0]:
			return i + 1
		}
	}
	return 1
}
