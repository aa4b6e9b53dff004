package effects

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/bb2d0cf4/agent/internal/statefile"
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
	log  *os.File
	logs *bufio.Writer
	lock *statefile.Lock
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

// The extensions of a store's other files: its log, and the lock of its process.
const (
	logExt  = ".items"
	lockExt = ".lock"
)

func newStore(home, prefix string) (*store, error) {
	dir := filepath.Join(home, "undo")
	if err := statefile.Mkdir(dir); err != nil {
		return nil, err
	}
	s := &store{path: filepath.Join(dir, prefix+rand.Text())}
	if err := s.create(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// create makes the files of a store.
func (s *store) create() (err error) {
	if s.lock, err = statefile.TryAcquire(s.path + lockExt); err != nil {
		return err
	}
	if s.file, err = os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return err
	}
	s.out = bufio.NewWriterSize(s.file, 1<<20)
	if s.log, err = os.OpenFile(s.path+logExt, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return err
	}
	s.logs = bufio.NewWriterSize(s.log, 1<<20)
	return nil
}

// note appends a record to the log.
func (s *store) note(r record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = s.logs.Write(append(data, '\n'))
	return err
}

// flush hands all to the system, which has it even if this process is killed.
func (s *store) flush() error {
	return errors.Join(s.out.Flush(), s.logs.Flush())
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
	if s.out != nil {
		if err := s.out.Flush(); err != nil {
			return nil, err
		}
	}
	data := make([]byte, size)
	_, err := s.file.ReadAt(data, at.offset)
	return data, err
}

// close removes the store. Its files are closed before: Windows removes no open file.
func (s *store) close() error {
	errs := []error{s.closeFiles()}
	for _, ext := range []string{logExt, ""} {
		errs = append(errs, statefile.Remove(s.path+ext))
	}
	if s.lock != nil { // the last: by it, Recover finds the rest
		errs = append(errs, s.lock.Remove())
	}
	return errors.Join(errs...)
}

// release closes the store, and leaves its files.
func (s *store) release() error {
	err := s.closeFiles()
	if s.lock != nil {
		err = errors.Join(err, s.lock.Release())
	}
	return err
}

func (s *store) closeFiles() error {
	var errs []error
	for _, f := range []*os.File{s.file, s.log} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}
