package text

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"
)

// headSize is the number of bytes in which NULs and controls show that a file is not text, and
// from which its line ending is guessed. The buffer for a shorter file has at least minHead bytes.
const (
	headSize = 32 << 10
	minHead  = 4 << 10
)

// MaxSize is the size in bytes up to which a whole file is searched for its line ending, if
// its head leaves that open.
const MaxSize = 10 << 20

// Reader reads a file line by line.
type Reader struct {
	Format Format // as of Decode, up to MaxSize; the line ending is a guess from the head, unless "\r"
	Binary bool   // the head is not text

	text *bufio.Reader // decoded to UTF-8
}

// NewReader detects the format of r and decodes it. A buffer for size bytes,
// as many as r is expected to have, is enough for a small file.
func NewReader(r io.ReaderAt, size int64, fallback Fallback) (*Reader, error) {
	raw := bufio.NewReaderSize(io.NewSectionReader(r, 0, math.MaxInt64), int(min(max(size+1, minHead), headSize)))
	head, err := raw.Peek(raw.Size())
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var unread error
	format, ok := detect(head, func() (s survey) {
		if err != nil { // head is all
			return surveyOf(head)
		}
		s, unread = surveyFile(r)
		return s
	}, fallback)
	if unread != nil {
		return nil, unread
	}
	if _, err := raw.Discard(len(markOf(format))); err != nil {
		return nil, err
	}
	codec, err := codecOf(format.Encoding)
	if err != nil {
		return nil, err
	}
	text := raw
	if codec != nil && ok {
		text = bufio.NewReaderSize(transform.NewReader(raw, codec.NewDecoder()), headSize)
	}
	if format.EOL, err = endingOf(r, text, format, codec, ok); err != nil {
		return nil, err
	}
	if format.EOL == "\r" {
		text = bufio.NewReaderSize(returns{text}, text.Size())
	}
	return &Reader{Format: format, Binary: !ok, text: text}, nil
}

// endingOf returns the line ending of a file, by its head, the beginning of text; by all of it if
// that has "\r" and no "\n", and is text.
func endingOf(r io.ReaderAt, text *bufio.Reader, f Format, codec encoding.Encoding, isText bool) (string, error) {
	start, err := text.Peek(text.Size())
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	more := err == nil
	if more {
		start = bytes.TrimSuffix(start, []byte("\r")) // its "\n" may follow
	}
	if end := LineEnding(string(start)); end != "\r" || !more || !isText {
		return end, nil
	}
	return endingBelow(r, f, codec)
}

// endingBelow returns the line ending of a file of format f whose head has "\r" and no "\n": "\r"
// if that holds for all of it. In a file of more than MaxSize bytes, "\r" ends no line.
func endingBelow(r io.ReaderAt, f Format, codec encoding.Encoding) (string, error) {
	mark := int64(len(markOf(f)))
	file := io.NewSectionReader(r, mark, MaxSize+1-mark)
	text := bufio.NewReaderSize(file, headSize)
	if codec != nil {
		text = bufio.NewReaderSize(transform.NewReader(file, codec.NewDecoder()), headSize)
	}
	for {
		piece, err := text.ReadSlice('\n')
		switch {
		case err == nil:
			return LineEnding(string(piece[max(0, len(piece)-2):])), nil
		case errors.Is(err, io.EOF):
			if n, err := file.Seek(0, io.SeekCurrent); err != nil || mark+n > MaxSize {
				return "\n", err
			}
			return "\r", nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
}

// returns reads a text whose lines end in "\r".
type returns struct{ io.Reader }

// Read replaces each "\r" by "\n".
func (r returns) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	for i, c := range p[:n] {
		if c == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}

// Line is one line of a Stream.
type Line struct {
	Text string // without line ending, cut at the limit; always valid UTF-8
	// Length is the length of the whole line in bytes of decoded text, without line
	// ending. If it is greater than the limit, Text was cut.
	Length int64
}

// ErrLimit is returned by Next after the allowed number of bytes.
var ErrLimit = errors.New("the file is longer than the read limit")

// Next reads one line and cuts its text after maxLine bytes. It counts down left, the
// bytes of text that may still be read, then returns ErrLimit. The error is io.EOF if the
// line has no line ending.
func (r *Reader) Next(maxLine int, left *int64) (Line, error) {
	var line Line
	var text []byte
	last := byte(0)
	for {
		piece, err := r.text.ReadSlice('\n')
		*left -= int64(len(piece))
		line.Length += int64(len(piece))
		if room := maxLine + len("\r\n") - len(text); room > 0 {
			text = append(text, piece[:min(room, len(piece))]...)
		}
		full := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !full && !errors.Is(err, io.EOF) {
			return Line{}, err
		}
		if *left < 0 {
			return Line{}, ErrLimit
		}
		if full {
			last = piece[len(piece)-1]
			continue
		}
		if len(piece) > 1 {
			last = piece[len(piece)-2]
		}
		if err == nil {
			line.Length--
			if last == '\r' {
				line.Length--
			}
		}
		line.Text = cutLine(text, min(int64(maxLine), line.Length))
		return line, err
	}
}

// cutLine returns the first n bytes of text, without a partial character at their end.
func cutLine(text []byte, n int64) string {
	if int64(len(text)) > n {
		text = text[:n]
	}
	if !utf8.Valid(text) {
		return strings.ToValidUTF8(string(cutPartialRune(text)), "\ufffd")
	}
	return string(text)
}
