package text

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fallback is the encoding of bytes that do not show theirs.
type Fallback struct {
	Encoding Encoding
	// Ask, if not nil, returns a better encoding, or "" if it does not know. It is called
	// only for what looks like text, and for a text's first characters that are not ASCII.
	Ask func() Encoding
}

// ask returns the encoding from Ask, or "" if it is unknown.
func (f Fallback) ask() Encoding {
	if f.Ask == nil {
		return ""
	}
	if e := f.Ask(); Check(e) == nil {
		return e
	}
	return ""
}

// First returns the format of a file after its first characters that are not ASCII: its bytes
// before, in format f, show no encoding, so that of the fallback's Ask counts. exists is false for
// a new file, which may get any encoding, with its mark.
func (f Format) First(before, after string, exists bool, fallback Fallback) Format {
	if f.Encoding != UTF8 || f.BOM || strings.ContainsFunc(before, beyondASCII) || !strings.ContainsFunc(after, beyondASCII) {
		return f
	}
	e := fallback.ask()
	switch {
	case e == "" || exists && e.Wide():
		return f
	case exists:
		if text, err := DecodeAs([]byte(before), Format{Encoding: e}); err != nil || text != before {
			return f
		}
	}
	f.Encoding, f.BOM = e, e == UTF16LE || e == UTF16BE
	return f
}

func beyondASCII(r rune) bool { return r > unicode.MaxASCII }

// boms lists the byte order marks that are detected.
var boms = []struct {
	encoding Encoding
	mark     string
}{{UTF8, "\xef\xbb\xbf"}, {UTF16LE, "\xff\xfe"}, {UTF16BE, "\xfe\xff"}, {StrayUTF8, "\xef\xbb\xbf"}}

// markOf returns the byte order mark of files in format f.
func markOf(f Format) string {
	for _, b := range boms {
		if f.BOM && b.encoding == f.Encoding {
			return b.mark
		}
	}
	return ""
}

// detect detects the encoding of a file from its head and a survey of all of it: from a byte
// order mark, else UTF-8 if the file is, or most of its other characters than ASCII are,
// else the fallback. It returns false for data that is not text.
func detect(head []byte, all func() survey, fallback Fallback) (Format, bool) {
	var f Format
	for _, b := range boms {
		if bytes.HasPrefix(head, []byte(b.mark)) {
			f = Format{Encoding: b.encoding, BOM: true}
			break
		}
	}
	switch e := fallback.Encoding; {
	case f.Encoding.Wide():
		return f, true
	case bytes.IndexByte(head, 0) >= 0:
		return Format{Encoding: e}, !f.BOM && e.Wide()
	}
	found := all()
	if found.stray == 0 {
		return Format{Encoding: UTF8, BOM: f.BOM}, true
	}
	if !fewControls(head) {
		return Format{Encoding: fallback.Encoding}, fallback.Encoding.Wide()
	}
	f.Encoding = StrayUTF8
	if !f.BOM {
		f.Encoding = found.encoding(fallback)
	}
	return f, true
}

// survey counts the signs of an encoding in bytes without a mark.
type survey struct {
	stray     int  // bytes that belong to no character of UTF-8
	sequences int  // characters of UTF-8 that take several bytes, if there are stray ones
	c1        bool // some bytes are from 0x80 to 0x9f, if there are stray ones
}

// encoding returns the encoding of bytes that are not UTF-8. The bytes of other encodings are
// rarely such that most of them form characters of UTF-8.
func (s survey) encoding(fallback Fallback) Encoding {
	e := fallback.ask()
	if e == "" {
		if e = fallback.Encoding; s.sequences >= s.stray {
			return StrayUTF8
		}
	}
	switch {
	case e == UTF8:
		return StrayUTF8
	case e == Latin1 && s.c1:
		return Windows1252
	}
	return e
}

// surveyOf surveys bytes.
func surveyOf(p []byte) (s survey) {
	if utf8.Valid(p) {
		return s
	}
	s.add(p)
	return s
}

// add counts the bytes of p.
func (s *survey) add(p []byte) {
	for i := 0; i < len(p); {
		if p[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && n == 1 {
			s.stray++
		} else {
			s.sequences++
		}
		for _, c := range p[i : i+n] {
			s.c1 = s.c1 || c < 0xa0
		}
		i += n
	}
}

// surveyFile surveys r, up to MaxSize bytes.
func surveyFile(r io.ReaderAt) (s survey, err error) {
	valid := true
	err = pieces(r, func(p []byte) bool {
		valid = utf8.Valid(p)
		return valid
	})
	if err == nil && !valid {
		err = pieces(r, func(p []byte) bool {
			s.add(p)
			return true
		})
	}
	return s, err
}

// pieces calls visit with the bytes of r, up to MaxSize, until it returns false. Only the end of the
// last piece may be a partial character.
func pieces(r io.ReaderAt, visit func([]byte) bool) error {
	file := io.NewSectionReader(r, 0, MaxSize)
	buf := make([]byte, headSize)
	for kept := 0; ; {
		n, err := io.ReadFull(file, buf[kept:])
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return err
		}
		p := buf[:kept+n]
		if !last {
			p = cutPartialRune(p)
		}
		if !visit(p) || last {
			return nil
		}
		kept = copy(buf, buf[len(p):])
	}
}

// Wide reports whether each character takes at least two bytes.
func (e Encoding) Wide() bool { return e == UTF16LE || e == UTF16BE || e == "utf-16" }

// cutPartialRune drops a partial character at the end of data.
func cutPartialRune(data []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(data); i++ {
		if c := data[len(data)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(data[len(data)-i:]) {
				return data[:len(data)-i]
			}
			break
		}
	}
	return data
}

// fewControls distinguishes text in an 8-bit encoding from binary data without NULs,
// which is full of control characters.
func fewControls(data []byte) bool {
	data = data[:min(len(data), headSize)]
	controls := 0
	for _, c := range data {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1b || c == 0x7f {
			controls++
		}
	}
	return controls*20 <= len(data)
}
