package text

import (
	"errors"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/transform"
)

// strayBase makes the character for a byte, at least 0x80, without one in its encoding. The
// characters up to strayBase+0xff are for private use, and shown as \u{10fe80} to \u{10feff}.
const strayBase = 0x10fe00

func strayRune(b byte) rune { return strayBase + rune(b) }

// strayByte returns the byte of the character r, if it is one of strayRune.
func strayByte(r rune) (byte, bool) {
	return byte(r - strayBase), r >= strayBase+utf8.RuneSelf && r <= strayBase+0xff
}

// strayCodec is the codec of StrayUTF8.
type strayCodec struct{}

func (strayCodec) NewDecoder() *encoding.Decoder {
	return &encoding.Decoder{Transformer: mapper{next: utf8.DecodeRune, full: utf8.FullRune, put: func(dst, src []byte, r rune) []byte {
		if r == utf8.RuneError && len(src) == 1 {
			return utf8.AppendRune(dst, strayRune(src[0]))
		}
		return append(dst, src...)
	}}}
}

func (strayCodec) NewEncoder() *encoding.Encoder {
	return &encoding.Encoder{Transformer: mapper{next: utf8.DecodeRune, full: utf8.FullRune, put: func(dst, src []byte, r rune) []byte {
		if b, ok := strayByte(r); ok {
			return append(dst, b)
		}
		return append(dst, src...)
	}}}
}

// table is the codec of an encoding with a byte for each character. Bytes without one are stray.
type table struct{ *charmap.Charmap }

func (t table) NewDecoder() *encoding.Decoder {
	return &encoding.Decoder{Transformer: mapper{
		next: func(src []byte) (rune, int) { return t.rune(src[0]), 1 },
		full: func([]byte) bool { return true },
		put:  func(dst, _ []byte, r rune) []byte { return utf8.AppendRune(dst, r) },
	}}
}

func (t table) NewEncoder() *encoding.Encoder {
	return &encoding.Encoder{Transformer: mapper{next: utf8.DecodeRune, full: utf8.FullRune, put: func(dst, _ []byte, r rune) []byte {
		b, ok := t.EncodeRune(r)
		if !ok {
			b, ok = strayByte(r)
			ok = ok && t.rune(b) == r
		}
		if !ok {
			return nil
		}
		return append(dst, b)
	}}}
}

// rune returns the character of b.
func (t table) rune(b byte) rune {
	if r := t.DecodeByte(b); r != utf8.RuneError {
		return r
	}
	return strayRune(b)
}

// mapper is a transformer of one character after the other.
type mapper struct {
	transform.NopResetter
	next func(src []byte) (rune, int)
	full func(src []byte) bool // src begins with a whole character
	// put appends the replacement of r, whose bytes are src; nil without one.
	put func(dst, src []byte, r rune) []byte
}

var errNoByte = errors.New("no byte for the character")

func (m mapper) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		rest := src[nSrc:]
		if !atEOF && !m.full(rest) {
			return nDst, nSrc, transform.ErrShortSrc
		}
		if len(dst)-nDst < utf8.UTFMax {
			return nDst, nSrc, transform.ErrShortDst
		}
		r, n := m.next(rest)
		out := m.put(dst[nDst:nDst:len(dst)], rest[:n], r)
		if out == nil {
			return nDst, nSrc, errNoByte
		}
		nDst, nSrc = nDst+len(out), nSrc+n
	}
	return nDst, nSrc, nil
}
