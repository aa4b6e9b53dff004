package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/bb2d0cf4/agent/internal/workspace/text"
)

// Stream reads a file line by line with one buffer, whatever the file's size.
type Stream struct {
	Info   File // without Text and Hash; Format is a guess from the head
	Binary bool // the head is not text

	file *os.File // nil for a file that need not be on the disk
	raw  io.ReaderAt
	text *text.Reader
}

// Line is one line of a Stream.
type Line = text.Line

// Open opens a regular file of any size for reading by lines. For folders, pipes and
// devices it returns ErrNotRegular, without blocking.
func (r *Root) Open(path string) (*Stream, error) {
	p, err := r.files.resolve(path)
	if err != nil {
		return nil, err
	}
	if err := r.files.guardedPlace(p); err != nil {
		return nil, err
	}
	f, info, err := r.files.open(p)
	if err != nil {
		return nil, err
	}
	var data interface {
		io.Reader
		io.ReaderAt
	} = f
	size := info.Size()
	held, unsaved, err := r.held(p, f, info)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", p.name, err), f.Close())
	}
	if unsaved {
		data, size = strings.NewReader(held), int64(len(held))
	}
	in, err := text.NewReader(data, size, r.files.unmarked(p))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", p.name, err), f.Close())
	}
	return &Stream{
		Info:   File{Path: p.abs, Name: p.name, Exists: true, Format: in.Format, Mode: info.Mode(), Size: info.Size()},
		Binary: in.Binary, file: f, raw: data, text: in,
	}, nil
}

// StreamOf returns a stream of a file whose text need not be on the disk.
func StreamOf(f File) (*Stream, error) {
	data, err := f.content()
	if err != nil {
		return nil, err
	}
	fallback := text.Fallback{Encoding: f.Format.Encoding}
	if f.Raw != nil {
		fallback.Encoding = Latin1
	}
	in, err := text.NewReader(bytes.NewReader(data), int64(len(data)), fallback)
	if err != nil {
		return nil, err
	}
	info := File{Path: f.Path, Name: f.Name, Exists: true, Format: f.Format, Mode: f.Mode, Size: int64(len(data))}
	return &Stream{Info: info, Binary: in.Binary, raw: bytes.NewReader(data), text: in}, nil
}

// Lines yields the lines from the current position. It cuts each text after maxLine
// bytes, and ends a longer file with ErrTooLarge after about maxBytes bytes of text.
func (s *Stream) Lines(maxLine int, maxBytes int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for {
			line, err := s.text.Next(maxLine, &maxBytes)
			switch {
			case errors.Is(err, io.EOF):
				if line.Length > 0 {
					yield(line, nil)
				}
				return
			case errors.Is(err, text.ErrLimit):
				yield(Line{}, ErrTooLarge)
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

// Head returns at most the first n bytes of the file, whatever the current position.
func (s *Stream) Head(n int) ([]byte, error) {
	data := make([]byte, n)
	got, err := s.raw.ReadAt(data, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return data[:got], err
}

// Close closes the file.
func (s *Stream) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
