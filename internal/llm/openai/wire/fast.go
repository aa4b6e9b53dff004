package wire

import "unicode/utf8"

// Kind is the kind of an event that AppendText has read.
type Kind int

// The kinds of event that AppendText knows.
const (
	Nothing          Kind = iota // no part of an answer
	Text                         // a piece of the answer
	Reasoning                    // a piece of the model's reasoning
	ReasoningContent             // reasoning in the field reasoning_content
)

// AppendText reads the most common event, a piece of text, and appends the text to dst.
// For an event that it is not sure about it returns false and dst unchanged; Decode reads
// those.
func AppendText(dst, event []byte) ([]byte, Kind, bool) {
	s := scanner{b: event, dst: dst}
	if s.object(inChunk) && s.seen&sawChoices != 0 && s.atEnd() {
		return s.dst, s.kind, true
	}
	return dst, Nothing, false
}

// Flags of the keys seen so far; an event with a repeated key is left to Decode.
const (
	sawChoices = 1 << iota
	sawDelta
	sawIndex
	sawText
	sawReasoning
	sawReasoningContent
)

// scanner walks JSON in one pass. Every method returns false at something that it does
// not know.
type scanner struct {
	b    []byte
	i    int
	dst  []byte
	kind Kind
	seen int
}

func (s *scanner) once(flag int) bool {
	fresh := s.seen&flag == 0
	s.seen |= flag
	return fresh
}

func (s *scanner) chunkKey(key []byte) bool {
	switch string(key) {
	case "choices":
		return s.once(sawChoices) && s.take('[') && s.object(inChoice) && s.take(']')
	case "id", "object", "created", "model", "service_tier", "system_fingerprint", "obfuscation", "provider":
		return s.scalar()
	}
	return s.null()
}

func (s *scanner) choiceKey(key []byte) bool {
	switch string(key) {
	case "delta":
		return s.once(sawDelta) && s.object(inDelta)
	case "index":
		return s.once(sawIndex) && s.index()
	}
	return s.null()
}

func (s *scanner) deltaKey(key []byte) bool {
	if string(key) == "role" {
		return s.scalar()
	}
	kind, flag := Text, sawText
	switch string(key) {
	case "content":
	case "reasoning":
		kind, flag = Reasoning, sawReasoning
	case "reasoning_content":
		kind, flag = ReasoningContent, sawReasoningContent
	default:
		return s.null()
	}
	if !s.once(flag) {
		return false
	}
	if s.peek() == 'n' {
		return s.null()
	}
	before := len(s.dst)
	if !s.text() {
		return false
	}
	if len(s.dst) == before {
		return true
	}
	first := s.kind == Nothing
	s.kind = kind
	return first
}

// place is the object that a key is in.
type place int

const (
	inChunk place = iota
	inChoice
	inDelta
)

// member reads the value of key.
func (s *scanner) member(at place, key []byte) bool {
	switch at {
	case inChunk:
		return s.chunkKey(key)
	case inChoice:
		return s.choiceKey(key)
	default:
		return s.deltaKey(key)
	}
}

// object reads an object. It takes a place rather than a function, which would move the
// scanner to the heap.
func (s *scanner) object(at place) bool {
	if !s.take('{') {
		return false
	}
	if s.take('}') {
		return true
	}
	for {
		key, ok := s.plain()
		if !ok || !s.take(':') || !s.member(at, key) {
			return false
		}
		if s.take('}') {
			return true
		}
		if !s.take(',') {
			return false
		}
	}
}

// peek returns the next byte that is not white space, zero at the end.
func (s *scanner) peek() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return c
		}
	}
	return 0
}

func (s *scanner) atEnd() bool { return s.peek() == 0 && s.i == len(s.b) }

func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.i++
	return true
}

func (s *scanner) null() bool {
	if s.peek() != 'n' || len(s.b)-s.i < 4 || string(s.b[s.i:s.i+4]) != "null" {
		return false
	}
	s.i += 4
	return true
}

// scalar skips a string, a whole number or null.
func (s *scanner) scalar() bool {
	switch c := s.peek(); {
	case c == '"':
		_, ok := s.plain()
		return ok
	case c == 'n':
		return s.null()
	case s.digit():
		start := s.i
		for s.digit() {
			s.i++
		}
		padded := c == '0' && s.i > start+1
		return !padded && s.i < len(s.b) && (s.b[s.i] == ',' || s.b[s.i] == '}')
	}
	return false
}

// index skips a small whole number.
func (s *scanner) index() bool {
	first, start := s.peek(), s.i
	for s.digit() {
		s.i++
	}
	n := s.i - start
	return n == 1 || n == 2 && first != '0'
}

func (s *scanner) digit() bool { return s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' }

// plain reads a string of ASCII without escapes.
func (s *scanner) plain() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	for start := s.i; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			return s.b[start : s.i-1], true
		case c < ' ' || c == '\\' || c >= utf8.RuneSelf:
			return nil, false
		}
	}
	return nil, false
}

// text reads a string into dst.
func (s *scanner) text() bool {
	if !s.take('"') {
		return false
	}
	start := len(s.dst)
	for run := s.i; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; {
		case c == '"':
			s.dst = append(s.dst, s.b[run:s.i]...)
			s.i++
			return utf8.Valid(s.dst[start:])
		case c < ' ':
			return false
		case c == '\\':
			s.dst = append(s.dst, s.b[run:s.i]...)
			if !s.escape() {
				return false
			}
			run = s.i + 1
		}
	}
	return false
}

// escape reads the escape at i and leaves i at its last byte.
func (s *scanner) escape() bool {
	s.i++
	if s.i == len(s.b) {
		return false
	}
	c := s.b[s.i]
	switch c {
	case '"', '\\', '/':
	case 'n':
		c = '\n'
	case 't':
		c = '\t'
	case 'r':
		c = '\r'
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	default:
		return false
	}
	s.dst = append(s.dst, c)
	return true
}
