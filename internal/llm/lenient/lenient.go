// Package lenient reads JSON as models write it: with trailing commas, single quotes,
// line ends in strings, names of Python. It guarantees that it never guesses: text that
// can be read in two ways is refused.
package lenient

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Object returns the one JSON object in text. An object inside a JSON string counts. If
// whole, the writer ended the text, so only closing brackets can be missing at its end.
func Object(text string, whole bool) (string, bool) {
	text = strings.TrimSpace(text)
	var inner string
	if strings.HasPrefix(text, `"`) && json.Unmarshal([]byte(text), &inner) == nil {
		text = strings.TrimSpace(inner)
	}
	if !strings.HasPrefix(text, "{") {
		return "", false
	}
	if json.Valid([]byte(text)) {
		return text, true
	}
	value, rest, ok := Value(text, whole)
	if !ok || strings.Trim(rest, " \t\r\n}") != "" { // one bracket too many changes nothing
		return "", false
	}
	return value, true
}

// Value returns the value at the beginning of text as JSON, and the text after it. whole
// is as in Object.
func Value(text string, whole bool) (value, rest string, ok bool) {
	p := parser{in: text, whole: whole}
	if !p.value() || !json.Valid(p.out) {
		return "", text, false
	}
	return string(p.out), text[p.i:], true
}

// maxDepth limits nested values.
const maxDepth = 100

// parser copies one value from in to out. Its methods return false if it has no single
// reading.
type parser struct {
	in    string
	i     int
	out   []byte
	whole bool
	depth int
}

// next skips white space and returns the next byte, zero at the end.
func (p *parser) next() byte {
	for ; p.i < len(p.in); p.i++ {
		if c := p.in[p.i]; c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
	}
	return 0
}

func (p *parser) value() bool {
	if p.depth++; p.depth > maxDepth {
		return false
	}
	defer func() { p.depth-- }()
	switch c := p.next(); c {
	case '{':
		return p.object()
	case '[':
		return p.list('[', ']', p.value)
	case '"', '\'':
		return p.text(c)
	}
	return p.word()
}

// object copies an object. A repeated key has no single reading.
func (p *parser) object() bool {
	keys := map[string]bool{}
	return p.list('{', '}', func() bool {
		start := len(p.out)
		if !p.key() || keys[string(p.out[start:])] {
			return false
		}
		keys[string(p.out[start:])] = true
		if p.next() != ':' {
			return false
		}
		p.i++
		p.out = append(p.out, ':')
		return p.value()
	})
}

// list copies members between brackets. A comma may follow the last one.
func (p *parser) list(open, end byte, member func() bool) bool {
	p.i++
	p.out = append(p.out, open)
	for n := 0; ; n++ {
		if p.next() == end {
			break
		}
		if n > 0 {
			p.out = append(p.out, ',')
		}
		if !member() {
			return false
		}
		switch c := p.next(); {
		case c == ',':
			p.i++
			continue
		case c == 0 && p.whole:
			p.out = append(p.out, end)
			return true
		case c != end:
			return false
		}
		break
	}
	p.i++
	p.out = append(p.out, end)
	return true
}

// key copies a key, which may lack its quotes.
func (p *parser) key() bool {
	if c := p.next(); c == '"' || c == '\'' {
		return p.text(c)
	}
	name := p.letters()
	p.out = append(append(append(p.out, '"'), name...), '"')
	return name != "" && (name[0] < '0' || name[0] > '9') && !strings.ContainsAny(name, "+-.")
}

// letters returns the letters, digits and signs at the current place.
func (p *parser) letters() string {
	start := p.i
	for ; p.i < len(p.in); p.i++ {
		c := p.in[p.i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '+' && c != '-' && c != '.' {
			break
		}
	}
	return p.in[start:p.i]
}

// word copies a number or a constant of JSON or Python.
func (p *parser) word() bool {
	name := p.letters()
	switch name {
	case "True":
		name = "true"
	case "False":
		name = "false"
	case "None":
		name = "null"
	}
	p.out = append(p.out, name...)
	return name != "" && json.Valid([]byte(name))
}

// text copies a string between quotes. Quotes of the same kind inside it must be
// escaped: the place of its end would be a guess.
func (p *parser) text(quote byte) bool {
	p.out = append(p.out, '"')
	for p.i++; p.i < len(p.in); p.i++ {
		switch c := p.in[p.i]; {
		case c == quote:
			p.i++
			p.out = append(p.out, '"')
			return true
		case c == '\\':
			if !p.escape() {
				return false
			}
		case c == '"':
			p.out = append(p.out, `\"`...)
		case c < ' ':
			quoted, _ := json.Marshal(string(rune(c))) // one character: it cannot fail
			p.out = append(p.out, quoted[1:len(quoted)-1]...)
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(p.in[p.i:])
			if r == utf8.RuneError && n == 1 {
				return false
			}
			p.out = append(p.out, p.in[p.i:p.i+n]...)
			p.i += n - 1
		default:
			p.out = append(p.out, c)
		}
	}
	return false
}

// escape copies an escaped character. An unknown escape may mean the character or the
// two characters.
func (p *parser) escape() bool {
	if p.i++; p.i >= len(p.in) {
		return false
	}
	switch c := p.in[p.i]; c {
	case '\'':
		p.out = append(p.out, c)
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't', 'u':
		p.out = append(p.out, '\\', c) // Value checks the digits of \u
	default:
		return false
	}
	return true
}
