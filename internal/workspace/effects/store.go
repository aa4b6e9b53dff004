package effects

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Bounds of the copies, in bytes.
const (
	maxFile = workspace.MaxFileSize
	maxKept = 512 << 20
)

// store keeps copies of files, so that a command can change them without loss. It is one
// file, which the system shares with the originals if the file system can.
type store struct {
	path string
	file *os.File
	out  *bufio.Writer
	size int64 // with the bytes in out
}

// extent is the place of a copy; the zero value means no copy.
type extent struct {
	kept   bool
	offset int64
	why    string // the reason why nothing was kept
}

// block is the unit in which file systems share content.
const block = 4 << 10

// small is the size up to which files are copied through memory.
const small = 64 << 10

func newStore(home string) (*store, error) {
	path := filepath.Join(home, "undo")
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	path = filepath.Join(path, "kept-"+rand.Text())
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &store{path: path, file: f, out: bufio.NewWriterSize(f, 1<<20)}, nil
}

// add copies a file that has the stat of it.
func (s *store) add(name string, st stat) (extent, error) {
	switch {
	case st.size > maxFile:
		return extent{why: fmt.Sprintf("it is larger than %d MB, so its old content was not kept", maxFile>>20)}, nil
	case s.size+st.size > maxKept:
		return extent{why: fmt.Sprintf("the folder holds more than %d MB, so its old content was not kept", maxKept>>20)}, nil
	}
	f, err := open(name, st)
	if err != nil {
		return extent{}, err
	}
	offset, err := s.copy(f, st.size)
	if err == nil {
		err = unchanged(f, st)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return extent{}, err
	}
	return extent{kept: true, offset: offset}, nil
}

// addBytes is add for a content in memory.
func (s *store) addBytes(data []byte) (extent, error) {
	offset := s.size
	n, err := s.out.Write(data)
	s.size += int64(n)
	return extent{kept: true, offset: offset}, err
}

// copy appends size bytes of f and returns their place.
func (s *store) copy(f *os.File, size int64) (offset int64, err error) {
	if size <= small {
		offset = s.size
		n, err := io.CopyN(s.out, f, size)
		s.size += n
		return offset, short(err)
	}
	if err := s.out.Flush(); err != nil {
		return 0, err
	}
	s.size = (s.size + block - 1) / block * block
	offset = s.size
	if _, err := s.file.Seek(offset, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.CopyN(s.file, f, size)
	s.size += n
	return offset, short(err)
}

// short returns errMoved for a file that ended early.
func short(err error) error {
	if errors.Is(err, io.EOF) {
		return errMoved
	}
	return err
}

// read returns size bytes of a copy.
func (s *store) read(at extent, size int64) ([]byte, error) {
	if err := s.out.Flush(); err != nil {
		return nil, err
	}
	data := make([]byte, size)
	_, err := s.file.ReadAt(data, at.offset)
	return data, err
}

func (s *store) close() error {
	return errors.Join(s.file.Close(), os.Remove(s.path))
}
