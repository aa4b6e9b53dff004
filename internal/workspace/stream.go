package workspace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/transform"
)

// headSize is how many bytes of a file its format is judged by.
const headSize = 32 << 10

// Stream reads a file by lines. It keeps one buffer, whatever the file's size.
type Stream struct {
	Info   File // without Text and Hash; Format is judged from the file's head
	Binary bool // the head is not text

	file *os.File
	text *bufio.Reader // decoded to UTF-8
}

// Line is one line of a Stream.
type Line struct {
	Text string // without line ending, cut at the limit; always valid UTF-8
	// Length is the length of the whole line in bytes of decoded text, without
	// its line ending. The line was cut if it is greater than the limit.
	Length int64
}

// Open opens a regular file of any size for reading by lines. It does not block
// on pipes and devices: they are ErrNotRegular, as folders are.
func (r *Root) Open(path string) (*Stream, error) {
	p, err := r.resolve(path)
	if err != nil {
		return nil, err
	}
	f, info, err := r.open(p)
	if err != nil {
		return nil, err
	}
	s := &Stream{file: f, Info: File{Path: p.abs, Name: p.name, Exists: true, Mode: info.Mode(), Size: info.Size()}}
	if err := s.start(r.fallback); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", p.name, err), f.Close())
	}
	return s, nil
}

// start judges the head of the file and sets up the decoding.
func (s *Stream) start(fallback Encoding) error {
	raw := bufio.NewReaderSize(s.file, headSize)
	head, err := raw.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	format, ok := detect(head, err != nil, fallback)
	s.Binary = !ok
	if _, err := raw.Discard(len(markOf(format))); err != nil {
		return err
	}
	codec, err := codecOf(format.Encoding)
	if err != nil {
		return err
	}
	s.text = raw
	if codec != nil && ok {
		s.text = bufio.NewReaderSize(transform.NewReader(raw, codec.NewDecoder()), headSize)
	}
	start, err := s.text.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	format.EOL = lineEnding(string(start))
	s.Info.Format = format
	return nil
}

// Lines yields the lines from the current position on. Text is cut after
// maxLine bytes. If the file is longer, it ends with ErrTooLarge after about
// maxBytes bytes of text.
func (s *Stream) Lines(maxLine int, maxBytes int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for {
			line, err := s.next(maxLine, &maxBytes)
			switch {
			case errors.Is(err, io.EOF):
				if line.Length > 0 {
					yield(line, nil)
				}
				return
			case err != nil:
				yield(Line{}, err)
				return
			}
			if !yield(line, nil) {
				return
			}
		}
	}
}

// next reads one line; left is what may still be read. The error is io.EOF if
// the line has no line ending.
func (s *Stream) next(maxLine int, left *int64) (Line, error) {
	var line Line
	var text []byte
	last := byte(0)
	for {
		piece, err := s.text.ReadSlice('\n')
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
			return Line{}, ErrTooLarge
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

// cutLine returns the first n bytes of text, less a character that is cut in two.
func cutLine(text []byte, n int64) string {
	if int64(len(text)) > n {
		text = text[:n]
	}
	if !utf8.Valid(text) {
		return strings.ToValidUTF8(string(cutPartialRune(text)), "\ufffd")
	}
	return string(text)
}

// Close closes the file.
func (s *Stream) Close() error { return s.file.Close() }
