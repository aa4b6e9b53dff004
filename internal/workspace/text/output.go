package text

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Plain returns data, a whole file, as UTF-8 without a byte order mark, for a search. It is the
// text of Decode, or of as much of it as can be decoded. The result is false for data that is
// not text.
func Plain(data []byte, fallback Fallback) ([]byte, bool) {
	f, ok := detect(data, func() survey { return surveyOf(data) }, fallback)
	if !ok {
		return nil, false
	}
	data = data[len(markOf(f)):]
	codec, err := codecOf(f.Encoding)
	if err != nil {
		return nil, false
	}
	if codec != nil {
		if data, err = codec.NewDecoder().Bytes(data); err != nil {
			return nil, false
		}
	}
	return data, bytes.IndexByte(data, 0) < 0
}

// Output returns the output of a program, or a part of it. Each line may come from another file:
// one that is not UTF-8 is decoded from the fallback, which may be "" for none.
func Output(p []byte, fallback Encoding) string {
	if utf8.Valid(p) {
		return string(p)
	}
	var b strings.Builder
	for line := range bytes.Lines(p) {
		b.WriteString(outputLine(line, fallback))
	}
	return b.String()
}

func outputLine(line []byte, fallback Encoding) string {
	s := surveyOf(line)
	if s.stray > 0 && fallback != "" && !fallback.Wide() {
		codec, err := codecOf(s.encoding(Fallback{Encoding: fallback}))
		if _, stray := codec.(strayCodec); err == nil && !stray {
			if decoded, err := codec.NewDecoder().Bytes(line); err == nil {
				line = decoded
			}
		}
	}
	return strings.ToValidUTF8(string(line), string(utf8.RuneError))
}

// IsBinary guesses whether an output that begins with p is not text in UTF-8 or the fallback: more
// than one byte in ten is NUL or part of no character. A list separated by NULs is text.
func IsBinary(p []byte, fallback Encoding) bool {
	p = cutPartialRune(p[:min(len(p), 8<<10)])
	nul, s := bytes.Count(p, []byte{0}), survey{}
	s.add(p)
	if (nul+s.stray)*10 <= len(p) {
		return false
	}
	if fallback == "" || !fewControls(p) {
		return true
	}
	decoded := Output(p, fallback)
	return (nul+strings.Count(decoded, string(utf8.RuneError)))*10 > len(p)
}

// SingleBytes maps single bytes from 0x80 on to characters in files that are not UTF-8.
type SingleBytes struct{ table *table }

// SingleBytesOf returns nil for an encoding in which a character may take several bytes.
func SingleBytesOf(fallback Encoding) *SingleBytes {
	if fallback == UTF8 {
		return &SingleBytes{}
	}
	if fallback == Latin1 {
		fallback = Windows1252
	}
	codec, _ := codecOf(fallback)
	if t, ok := codec.(table); ok {
		return &SingleBytes{&t}
	}
	return nil
}

// Runes returns the characters that b may stand for.
func (s *SingleBytes) Runes(b byte) []rune {
	if s.table == nil {
		return []rune{strayRune(b)}
	}
	return []rune{strayRune(b), s.table.rune(b)}
}

// Declared returns a whole text whose encoding its source has named, such as a web page; it is taken
// for UTF-8 if that name is unknown.
func Declared(p []byte, name string) string {
	e := Encoding(strings.ToLower(name))
	if e == Latin1 {
		e = Windows1252
	}
	if codec, err := codecOf(e); err == nil && codec != nil {
		if decoded, err := codec.NewDecoder().Bytes(p); err == nil {
			p = decoded
		}
	}
	return strings.ToValidUTF8(string(bytes.TrimPrefix(p, []byte("\ufeff"))), string(utf8.RuneError))
}
