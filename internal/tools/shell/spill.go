package shell

import (
	"fmt"
	"os"
)

// maxSpill is the size limit of a file with output.
const maxSpill = 64 << 20

// spill is a file with an output from its beginning. The first call of open creates it if
// there is a folder.
type spill struct {
	dir  string
	keep bool // a log, kept even if nothing was left out
	path string
	file *os.File
	size int64
	full bool
	err  error
}

// open creates the file and writes the output so far. Later calls do nothing.
func (s *spill) open(before []byte) {
	if s.dir == "" || s.path != "" || s.err != nil {
		return
	}
	if s.err = os.MkdirAll(s.dir, 0o700); s.err != nil {
		return
	}
	if s.file, s.err = os.CreateTemp(s.dir, "command-*.log"); s.err == nil { // 0600
		s.path = s.file.Name()
		s.write(before)
	}
}

// write appends to the file while it has room.
func (s *spill) write(p []byte) {
	if s.file == nil || s.err != nil || len(p) == 0 {
		return
	}
	if room := maxSpill - s.size; int64(len(p)) > room {
		p, s.full = p[:room], true
	}
	n, err := s.file.Write(p)
	s.size += int64(n)
	s.err = err
}

// notes describes the gaps of the file.
func (s *spill) notes() []string {
	switch {
	case s.err != nil:
		return []string{fmt.Sprintf("the output could not be kept in a file: %v", s.err)}
	case s.full:
		return []string{fmt.Sprintf("the file with the output ends after %s", amount(maxSpill))}
	}
	return nil
}

// where describes the file for the middle of a sentence.
func (s *spill) where() string {
	switch {
	case s.path == "":
		return ""
	case s.full || s.err != nil:
		return "; its beginning is in " + s.path
	}
	return "; the whole output is in " + s.path
}

// close closes the file and returns its path, or removes the file if it is not wanted.
func (s *spill) close(wanted bool) string {
	if s.file == nil {
		return ""
	}
	if err := s.file.Close(); err != nil && s.err == nil {
		s.err = err
	}
	s.file = nil
	if !wanted && !s.keep {
		_ = os.Remove(s.path) // ours, and in our folder: a leftover is harmless
		return ""
	}
	return s.path
}

// amount formats a number of bytes with thousands separators.
func amount(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if n == 1 {
		return "1 byte"
	}
	return digits + " bytes"
}
