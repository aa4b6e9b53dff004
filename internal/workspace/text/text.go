// Package text decodes the bytes of a file to text and back. It guarantees that encoding
// a decoded text gives the same bytes, that a text which a file's encoding cannot store
// is refused with the character named, and that a Reader's memory does not depend on the
// file's size.
package text

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
)

// Errors that callers branch on.
var (
	// ErrNotText is returned for bytes that cannot be edited as text.
	ErrNotText = errors.New("not a text file")
	// ErrUnencodable is returned for a text that cannot be stored in an encoding.
	ErrUnencodable = errors.New("character not in the file's encoding")
)

// Encoding names how a file's text is stored.
type Encoding string

// The encodings that are detected. Others come from a setting or an editor, under the
// names of golang.org/x/text's htmlindex or ianaindex.
const (
	UTF8    Encoding = "utf-8"
	UTF16LE Encoding = "utf-16le"
	UTF16BE Encoding = "utf-16be"
	Latin1  Encoding = "iso-8859-1"
	// Windows1252 is Latin1 with printable characters for the bytes from 0x80 to 0x9f.
	Windows1252 Encoding = "windows-1252"
	// StrayUTF8 is UTF-8 with other bytes in between, each decoded to a character of its own, see
	// strayRune.
	StrayUTF8 Encoding = "utf-8 with stray bytes"
)

// Format describes how a file stores its text. Every edit keeps it.
type Format struct {
	Encoding Encoding
	BOM      bool
	// EOL is the file's line ending: "\n", "\r\n", or "\r" if there is no "\n". If a file
	// mixes the first two, it is the more frequent one; lines that an edit leaves alone
	// keep theirs.
	EOL string
}

// Check returns an error for an unknown encoding.
func Check(e Encoding) error {
	_, err := codecOf(e)
	return err
}

// codecOf returns the codec of an encoding; nil for UTF-8, which needs none.
func codecOf(e Encoding) (encoding.Encoding, error) {
	switch e {
	case UTF8:
		return nil, nil
	case UTF16LE:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), nil
	case UTF16BE:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), nil
	case Latin1:
		return charmap.ISO8859_1, nil // htmlindex maps this name to windows-1252
	case StrayUTF8:
		return strayCodec{}, nil
	}
	if page := codePages[e]; page != nil {
		return table{page}, nil
	}
	codec, err := htmlindex.Get(string(e))
	if err != nil {
		codec, err = ianaindex.IANA.Encoding(string(e)) // the code pages of DOS
	}
	if err != nil || codec == nil {
		return nil, fmt.Errorf("unknown encoding %q", e)
	}
	if t, ok := codec.(*charmap.Charmap); ok {
		return table{t}, nil
	}
	return codec, nil
}

// Decode detects the format of a file and returns its text. If encoding that text would
// not give data again, the error is ErrNotText.
func Decode(data []byte, fallback Fallback) (Format, string, error) {
	f, ok := detect(data, func() survey { return surveyOf(data) }, fallback)
	if !ok {
		return Format{}, "", ErrNotText
	}
	text, err := DecodeAs(data, f)
	if err != nil {
		return Format{}, "", err
	}
	f.EOL = LineEnding(text)
	return f, text, nil
}

// DecodeAs returns the text of a file of the given format. If encoding that text would
// not give data again, the error is ErrNotText.
func DecodeAs(data []byte, f Format) (string, error) {
	codec, err := codecOf(f.Encoding)
	if err != nil {
		return "", err
	}
	body, ok := bytes.CutPrefix(data, []byte(markOf(f)))
	if !ok {
		return "", fmt.Errorf("%w: its byte order mark is gone", ErrNotText)
	}
	if codec == nil {
		if !utf8.Valid(body) || bytes.IndexByte(body, 0) >= 0 {
			return "", fmt.Errorf("%w: it is not valid UTF-8", ErrNotText)
		}
		return string(body), nil
	}
	decoded, err := codec.NewDecoder().Bytes(body)
	if err != nil {
		return "", fmt.Errorf("%w: as %s: %w", ErrNotText, f.Encoding, err)
	}
	text := string(decoded)
	again, err := Encode(text, f)
	if err != nil || !bytes.Equal(again, data) {
		return "", loss(data, text, f)
	}
	return text, nil
}

// loss returns an error that names the first byte of data that is lost when it is read as text.
func loss(data []byte, text string, f Format) error {
	intact, _, _ := strings.Cut(text, string(utf8.RuneError))
	again, err := Encode(intact, f)
	at := 0
	for err == nil && at < len(again) && at < len(data) && again[at] == data[at] {
		at++
	}
	place := fmt.Sprintf("at offset %d", at)
	if at < len(data) {
		place = fmt.Sprintf("the byte 0x%02x at offset %d", data[at], at)
	}
	advice := ""
	if !f.BOM {
		advice = "; if it is stored in another encoding, name that in the setting \"encoding\""
	}
	return fmt.Errorf("%w: %s cannot be read as %s without loss%s", ErrNotText, place, f.Encoding, advice)
}

// Encode returns the bytes of a file with the given text, or ErrUnencodable.
func Encode(text string, f Format) ([]byte, error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	codec, err := codecOf(f.Encoding)
	if err != nil {
		return nil, err
	}
	mark := markOf(f)
	if codec == nil {
		return append([]byte(mark), text...), nil
	}
	body, err := codec.NewEncoder().String(text)
	if err != nil {
		return nil, unencodable(text, codec, f.Encoding)
	}
	return append([]byte(mark), body...), nil
}

// checkText refuses characters that no text file holds.
func checkText(text string) error {
	if i := strings.IndexByte(text, 0); i >= 0 {
		return fmt.Errorf("line %d holds a NUL character: %w", lineAt(text, i), ErrUnencodable)
	}
	if utf8.ValidString(text) {
		return nil
	}
	for i, r := range text {
		if _, n := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && n == 1 {
			return fmt.Errorf("line %d holds the byte 0x%02x, which is not UTF-8: %w", lineAt(text, i), text[i], ErrUnencodable)
		}
	}
	return nil
}

// unencodable returns an error that names the first character of text that codec cannot
// store.
func unencodable(text string, codec encoding.Encoding, name Encoding) error {
	enc := codec.NewEncoder()
	for i, r := range text {
		if _, err := enc.String(string(r)); err != nil {
			return fmt.Errorf("line %d holds %q (%U), which %s cannot store: %w", lineAt(text, i), r, r, name, ErrUnencodable)
		}
	}
	return fmt.Errorf("%s cannot store this text: %w", name, ErrUnencodable)
}

// lineAt returns the 1-based line of byte i of text.
func lineAt(text string, i int) int { return strings.Count(text[:i], "\n") + 1 }

// LineEnding returns the more frequent line ending of text, by default "\n".
func LineEnding(text string) string {
	lf, crlf := strings.Count(text, "\n"), strings.Count(text, "\r\n")
	switch {
	case lf == 0 && strings.Contains(text, "\r"):
		return "\r"
	case crlf > lf-crlf:
		return "\r\n"
	}
	return "\n"
}
